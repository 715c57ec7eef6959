// SPDX-License-Identifier: GPL-2.0-or-later
/* test-record.c - a trace of a made-up guest that is recorded: what is in the file, and when. */
#include "tests/unit/tracefs-world.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/dat/dat.h"
#include "frontend/dat/journal.h"
#include "frontend/record/record.h"

static const struct record_guest guest = {
	.name = "made", .release = "6.1.0-made", .tsc_khz = 2500000};

struct recording {
	char path[64], part[80], err[256];
	struct record *r;
};

static void begin(struct recording *rec, unsigned int version, bool zstd)
{
	static int nr;
	const struct record_config cfg = {rec->path, version, zstd, false};

	snprintf(rec->path, sizeof(rec->path), "/tmp/test-record-%d-%d.dat", (int)getpid(), nr++);
	snprintf(rec->part, sizeof(rec->part), "%s.part", rec->path);
	rec->r = record_open(&cfg, rec->err, sizeof(rec->err));
	assert_non_null(rec->r);
}

static void start(struct recording *rec, struct world *w)
{
	assert_int_equal(record_start(rec->r, w->trace, w->view, &guest), 0);
}

static void mark(struct world *w, const char *text)
{
	assert_int_equal(put(w, "trace_marker", 0, text), (ssize_t)strlen(text));
}

/* The whole of a file. */
static uint8_t *load(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	uint8_t *data = malloc(8 << 20);

	assert_non_null(f);
	assert_non_null(data);
	*len = fread(data, 1, 8 << 20, f);
	fclose(f);
	return data;
}

static bool has(const char *path, const char *text)
{
	size_t len;
	uint8_t *data = load(path, &len);
	bool is = memmem(data, len, text, strlen(text));

	free(data);
	return is;
}

static void copy_file(const char *from, const char *to)
{
	size_t len;
	uint8_t *data = load(from, &len);
	FILE *f = fopen(to, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	free(data);
}

static void finish(struct recording *rec, struct record_result *result)
{
	record_let_go(rec->r);
	assert_int_equal(record_finish(rec->r, NULL, NULL, result), 0);
	assert_int_equal(result->lost, 0);
	assert_int_equal(record_place(rec->path), 0);
	record_close(rec->r);
	assert_int_equal(access(rec->part, F_OK), -1);
}

/* Each mark is in the pages of some vCPU once, as whoever reads files finds them. */
static unsigned int count_marks(struct dat *d, const char *text)
{
	const struct dat_buffer *b = dat_buffer(d, 0);
	unsigned int n = 0;

	for (unsigned int v = 0; v < b->nr_vcpus; v++) {
		struct dat_pages *p = dat_pages_open(d, b, &b->vcpus[v]);
		const void *page;
		size_t size;

		assert_non_null(p);
		while (dat_pages_next(p, &page, &size) == 1)
			n += memmem(page, size, text, strlen(text)) != NULL;
		assert_string_equal(dat_pages_error(p), "");
		dat_pages_close(p);
	}
	return n;
}

static void recorded(void **state)
{
	struct record_result result;
	struct recording rec;
	struct world *w = *state;
	char buf[4096];

	begin(&rec, 6, false);
	mark(w, "before it starts\n");
	start(&rec, w);
	mark(w, "while it is under way\n");
	finish(&rec, &result);
	assert_true(has(rec.path, "before it starts\n"));
	assert_true(has(rec.path, "while it is under way\n"));
	assert_true(has(rec.path, "name: funcgraph_entry\n"));
	assert_true(has(rec.path, " t tracing_mark_write\n"));
	assert_true(has(rec.path, "Linux made 6.1.0-made x86_64"));
	assert_true(has(rec.path, "[global]"));
	assert_true(has(rec.path, "CPU: 1\nentries: 0\n"));
	assert_true(result.bytes >= 4096);
	/* It has taken them. */
	assert_null(strstr(get(w, "trace", buf, sizeof(buf)), "while"));
	unlink(rec.path);
}

static void sizes(void **state)
{
	char buf[RECORD_SIZE_LEN];

	(void)state;
	assert_string_equal(record_size(0, buf), "0.0 kB");
	assert_string_equal(record_size(42345, buf), "42.3 kB");
	assert_string_equal(record_size(1426655, buf), "1.4 MB");
	assert_string_equal(record_size(9999000000, buf), "9999.0 MB");
	assert_string_equal(record_size(123400000000, buf), "123.4 GB");
}

static void read_back(unsigned int version, bool zstd, struct world *w)
{
	struct record_result result;
	struct recording rec;
	const struct dat_info *info;
	struct dat *d;

	begin(&rec, version, zstd);
	start(&rec, w);
	mark(w, "one and only\n");
	finish(&rec, &result);
	d = dat_open(rec.path, rec.err, sizeof(rec.err));
	if (!d)
		fail_msg("%s", rec.err);
	info = dat_info(d);
	assert_int_equal(info->version, version);
	assert_string_equal(info->compression, zstd ? "zstd" : "none");
	assert_int_equal(info->cpus, TRACEFS_VCPUS);
	assert_string_equal(info->clock, "global");
	assert_string_equal(info->program, "hvtrace " HVTRACE_VERSION);
	assert_true(info->has_trace_id);
	assert_non_null(strstr(info->kallsyms.text, " t tracing_mark_write\n"));
	assert_non_null(strstr(info->header_page.text, "commit"));
	assert_int_equal(dat_nr_buffers(d), 1);
	assert_int_equal(count_marks(d, "one and only\n"), 1);
	dat_close(d);
	unlink(rec.path);
}

static void read_back_all(void **state)
{
	read_back(6, false, *state);
	read_back(7, false, *state);
	read_back(7, true, *state);
}

/* A clock of ticks says how these become nanoseconds, as long as it is the clock. */
static void ticks(void **state)
{
	struct record_result result;
	struct recording rec;
	struct world *w = *state;
	struct dat *d;

	for (int back = 0; back < 2; back++) {
		begin(&rec, 7, true);
		assert_int_equal(put(w, "trace_clock", 0, "x86-tsc"), 7);
		start(&rec, w);
		if (back)
			assert_int_equal(put(w, "trace_clock", 0, "local"), 5);
		finish(&rec, &result);
		d = dat_open(rec.path, rec.err, sizeof(rec.err));
		assert_non_null(d);
		assert_string_equal(dat_info(d)->clock, back ? "local" : "x86-tsc");
		if (back)
			assert_int_equal(dat_info(d)->tsc2nsec.mult, 0);
		else
			assert_in_range(dat_time(dat_info(d), 0, UINT64_C(2500000000)), 999999999,
					1000000000);
		dat_close(d);
		unlink(rec.path);
	}
}

/* 100 s: what has been seen of the TSC by then, with an offset or scaled, in the host's time. */
static void host_times(void **state)
{
	struct record_shift shift = {
		.peer_id = 0x1122334455667788,
		.ticks = {1 << 30, 31, 0}, /* 2 GHz */
		.vcpu = {{1, 0, (uint64_t)-1000000},
			 {UINT64_C(3) << 31, 32, 5000}}, /* half as much again */
	};
	const struct record_guest same = {
		.name = "made", .release = "", .tsc_khz = 1, .trace_id = 77, .shift = &shift};
	const uint64_t tsc = 200000000000;
	struct record_result result;
	struct recording rec;
	struct world *w = *state;
	struct dat_text option;
	uint64_t peer;
	struct dat *d;

	begin(&rec, 7, false);
	assert_int_equal(put(w, "trace_clock", 0, "x86-tsc"), 7);
	assert_int_equal(record_start(rec.r, w->trace, w->view, &same), 0);
	finish(&rec, &result);
	d = dat_open(rec.path, rec.err, sizeof(rec.err));
	assert_non_null(d);
	assert_int_equal(dat_info(d)->trace_id, 77);
	assert_true(dat_option(d, DAT_OPTION_TIME_SHIFT, 0, &option));
	memcpy(&peer, option.text, sizeof(peer));
	assert_int_equal(peer, shift.peer_id);
	assert_int_equal(dat_time(dat_info(d), 0, tsc - 1000000), UINT64_C(100000000000));
	assert_in_range(dat_time(dat_info(d), 1, tsc / 2 * 3 + 5000), UINT64_C(99999999990),
			UINT64_C(100000000010));
	dat_close(d);
	unlink(rec.path);
}

static void instances(void **state)
{
	struct record_result result;
	struct recording rec;
	struct world *w = *state;
	view_id dir, id;

	begin(&rec, 6, false);
	start(&rec, w);
	assert_int_equal(view_find(w->view, "instances", &dir), 0);
	assert_int_equal(view_mkdir(w->view, dir, "apart", &id), 0);
	assert_int_equal(put(w, "instances/apart/trace_marker", 0, "of the instance\n"), 16);
	finish(&rec, &result);
	assert_true(has(rec.path, "of the instance\n"));
	assert_true(has(rec.path, "Buffer: apart\n"));
	assert_int_equal(view_rmdir(w->view, dir, "apart"), 0);
	unlink(rec.path);
}

static bool is_there(const char *path, const char *text)
{
	for (int i = 0; i < 6000; i++) {
		if (has(path, text))
			return true;
		usleep(10000);
	}
	return false;
}

/* It does not end: what there was before a while is in the journal, though its page is not full. */
static void killed(void **state)
{
	struct record_repaired repaired;
	struct recording rec;
	struct world *w = *state;
	struct dat *d;
	char copy[80];

	begin(&rec, 7, false);
	snprintf(copy, sizeof(copy), "%s.copy", rec.path);
	start(&rec, w);
	mark(w, "the last words\n");
	assert_true(is_there(rec.path, "the last words\n"));
	assert_true(has(rec.path, JOURNAL_MAGIC));
	/* It can be read as it is. */
	d = dat_open(rec.path, rec.err, sizeof(rec.err));
	if (!d)
		fail_msg("%s", rec.err);
	assert_int_equal(count_marks(d, "the last words\n"), 1);
	assert_string_equal(dat_info(d)->clock, "global");
	assert_non_null(strstr(dat_info(d)->kallsyms.text, " t tracing_mark_write\n"));
	dat_close(d);
	/* As it is now; the recorder has the file itself. */
	copy_file(rec.path, copy);
	assert_int_equal(record_repair(rec.path, NULL, &(struct record_watch){0}, &repaired,
				       rec.err, sizeof(rec.err)),
			 -1);
	assert_non_null(strstr(rec.err, "another hvtrace is at it"));
	assert_int_equal(record_repair(copy, NULL, &(struct record_watch){0}, &repaired, rec.err,
				       sizeof(rec.err)),
			 0);
	assert_true(has(copy, "the last words\n"));
	assert_false(has(copy, JOURNAL_MAGIC));
	assert_int_equal(record_repair(copy, NULL, &(struct record_watch){0}, &repaired, rec.err,
				       sizeof(rec.err)),
			 1);
	record_close(rec.r);
	/* What was recorded is not taken away. */
	assert_int_equal(access(rec.path, F_OK), 0);
	unlink(copy);
	unlink(rec.path);
	unlink(rec.part);
}

static void repair_into_itself(void **state)
{
	struct record_repaired repaired;
	struct recording rec;
	struct world *w = *state;
	struct stat before, after;

	begin(&rec, 7, true);
	start(&rec, w);
	record_close(rec.r);
	assert_int_equal(stat(rec.path, &before), 0);
	assert_int_equal(record_repair(rec.path, rec.path, &(struct record_watch){0}, &repaired,
				       rec.err, sizeof(rec.err)),
			 -1);
	assert_int_equal(stat(rec.path, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(record_repair("/dev/null", NULL, &(struct record_watch){0}, &repaired,
				       rec.err, sizeof(rec.err)),
			 -1);
	unlink(rec.path);
	unlink(rec.part);
}

/* Files that nobody has to take away. */
static void unnamed(void **state)
{
	const struct record_config cfg = {NULL, 7, false, false};
	char err[256];
	struct record *r = record_open(&cfg, err, sizeof(err));
	int fd;

	(void)state;
	if (!r)
		fail_msg("%s", err);
	fd = record_reopen(r);
	assert_true(fd >= 0);
	record_close(r);
	assert_int_equal(close(fd), 0);
}

static void not_begun(void **state)
{
	const struct record_config again = {"/tmp", 7, true, false};
	struct recording rec;
	struct record_config cfg;

	(void)state;
	begin(&rec, 7, true);
	cfg = (struct record_config){rec.path, 7, true, false};
	assert_null(record_open(&cfg, rec.err, sizeof(rec.err)));
	assert_non_null(strstr(rec.err, "another hvtrace"));
	assert_int_equal(access(rec.path, F_OK), 0);
	record_close(rec.r);
	assert_int_equal(access(rec.path, F_OK), -1);
	assert_int_equal(access(rec.part, F_OK), -1);
	assert_null(record_open(&again, rec.err, sizeof(rec.err)));
	assert_int_equal(mkfifo(rec.path, 0600), 0);
	assert_null(record_open(&cfg, rec.err, sizeof(rec.err)));
	assert_int_equal(access(rec.path, F_OK), 0);
	unlink(rec.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test_setup_teardown(recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(read_back_all, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ticks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(host_times, set_up, tear_down),
		cmocka_unit_test(unnamed),
		cmocka_unit_test_setup_teardown(instances, set_up, tear_down),
		cmocka_unit_test_setup_teardown(killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(repair_into_itself, set_up, tear_down),
		cmocka_unit_test(not_begun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
