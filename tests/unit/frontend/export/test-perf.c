// SPDX-License-Identifier: GPL-2.0-or-later
/* test-perf.c - what is written for perf, as a file and for a pipe, read back record by record. */
#include "tests/unit/export-world.h"
#include "tests/unit/host-scene.h"
#include "tests/unit/read-perf.h"

#include <inttypes.h>

/* --- what is written ---------------------------------------------------------------------------
 */

static ssize_t to_memory(void *cookie, const char *buf, size_t len)
{
	return fwrite(buf, 1, len, cookie) == len ? (ssize_t)len : 0;
}

/* By a stream that has no places to go back to, as a pipe. */
static struct exported export_piped(struct dat *d)
{
	static const cookie_io_functions_t ops = {.write = to_memory};
	struct decode_world w = decode_world_of(d);
	const struct export_input in = {.dat = w.d, .formats = w.f, .records = w.r};
	struct exported e = {0};
	FILE *memory = open_memstream(&e.text, &e.len), *out = fopencookie(memory, "w", ops);

	assert_non_null(memory);
	assert_non_null(out);
	assert_int_equal(export_write(export_find("perf"), &in, out, &e.result), 0);
	fclose(out);
	fclose(memory);
	decode_world_end(&w);
	return e;
}

/* Those of a host's have an h before their id. */
static void put_sample(const struct read_perf_record *r, FILE *out)
{
	fprintf(out, "%s%d:%" PRIu64 " %d [%u] %" PRIx64 " %" PRIu64, r->id > 65536 ? "h" : "",
		(int)(r->id - 1) % 65536, r->time - MADE_T0, r->pid, r->cpu, r->ip & 0xffff,
		r->period);
	for (uint64_t i = 1; i < r->nr; i++)
		fprintf(out, "%c%" PRIx64, i > 1 ? '<' : ' ',
			read_perf_u64(r->chain + 8 * i) & 0xffff);
	putc('\n', out);
}

/* A line for each record of the kernel's. */
static char *lines_of(const struct exported *e, struct read_perf *p)
{
	struct read_perf_record r;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int rc;

	assert_non_null(out);
	assert_true(read_perf_begin(p, e->text, e->len));
	while ((rc = read_perf_next(p, &r)) == 1) {
		if (r.type == PERF_RECORD_SAMPLE)
			put_sample(&r, out);
		else if (r.type == PERF_RECORD_COMM)
			fprintf(out, "%u is %s\n", read_perf_u32(r.body + 4), r.body + 8);
		else if (r.type == PERF_RECORD_KSYMBOL)
			fprintf(out, "%" PRIx64 "+%x is %s\n", read_perf_u64(r.body) & 0xffff,
				read_perf_u32(r.body + 8), r.body + 16);
		else if (r.type == PERF_RECORD_LOST)
			fprintf(out, "lost %" PRIu64 "\n", read_perf_u64(r.body + 8));
	}
	assert_int_equal(rc, 0);
	fclose(out);
	return text;
}

static void check(struct dat *d, const char *expected, bool piped)
{
	struct exported e = piped ? export_piped(d) : export_of(d, "perf");
	struct read_perf p;
	char *text = lines_of(&e, &p);

	assert_int_equal(p.is_file, !piped);
	assert_string_equal(text, expected);
	/* The formats, the machine, and of a file the times, are told. */
	assert_int_equal(p.features & (1 << 1 | 1 << 7 | 1 << 12 | 1 << 21),
			 1 << 1 | 1 << 7 | 1 << 12 | 1 << 21);
	assert_non_null(memmem(p.tracing, p.tracing_len, "name: funcgraph_exit\nID: 10\n", 28));
	assert_null(memmem(p.tracing, p.tracing_len, "name: sched_switch\n", 19));
	free(text);
	free(e.text);
}

/* PERF_RECORD_FINISHED_ROUND */
static void check_end(struct read_perf *p)
{
	struct read_perf_record r = {0};

	assert_int_equal(read_perf_next(p, &r), 1);
	assert_int_equal(r.type, 68);
	assert_int_equal(read_perf_next(p, &r), 0);
}

/* --- tests -------------------------------------------------------------------------------------
 */

/* One call within another, one on another task, and an event in the middle. */
static struct dat *calls(void)
{
	static struct scene s;

	s = (struct scene){0};
	scene_page(&s, 0);
	made_trace_call(scene_now(&s), 1000, 1, MADE_FUNC(1), 0);
	made_trace_call(scene_now(&s), 2000, 1, MADE_FUNC(2), 1);
	scene_about(&s, 2100, SCENE_WAKING, 1, 33, 0);
	made_trace_call(scene_now(&s), 2500, 33, MADE_FUNC(3), 0);
	made_trace_return(scene_now(&s), 3000, 1, MADE_FUNC(2), 1, 1000);
	made_trace_return(scene_now(&s), 4000, 1, MADE_FUNC(1), 0, 3000);
	made_trace_return(scene_now(&s), 4500, 1, MADE_FUNC(1), 0, 3000);
	return scene_open(&s);
}

static const char calls_expected[] = "1 is init\n"
				     "100+100 is vfs_read\n"
				     "11:1000 1 [0] 100 1\n"
				     "200+100 is vfs_write\n"
				     "11:2000 1 [0] 200 1\n"
				     "310:2100 1 [0] 200 1 200<100\n"
				     "33 is kworker/0:1 H\n"
				     "300+100 is vfs_open\n"
				     "11:2500 33 [0] 300 1\n"
				     "10:3000 1 [0] 200 1000 200<100\n"
				     "10:4000 1 [0] 100 2000 100\n"
				     "10:4500 1 [0] 100 3000 100\n";

static void test_file(void **state)
{
	(void)state;
	check(calls(), calls_expected, false);
}

static void test_pipe(void **state)
{
	(void)state;
	check(calls(), calls_expected, true);
}

static void test_function(void **state)
{
	static struct scene s;
	struct exported e;
	struct read_perf p;
	char *text;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_function(&s, 7, 1, 2);
	e = export_of(scene_open(&s), "perf");
	text = lines_of(&e, &p);
	assert_string_equal(text, "1 is init\n200+100 is vfs_write\n500+100000 is __schedule\n"
				  "1:7 1 [0] 200 1 200<500\n");
	/* Another event, so that perf report shows functions. */
	assert_int_equal(p.nr_attrs, 2);
	free(text);
	free(e.text);
}

/* Events alone have no stacks, and the records are what they were. */
static void test_events(void **state)
{
	static struct scene s;
	struct exported e;
	struct read_perf p;
	struct read_perf_record r = {0};

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_switch(&s, 1000, 1, 33);
	e = export_of(scene_open(&s), "perf");
	assert_true(read_perf_begin(&p, e.text, e.len));
	assert_int_equal(p.nr_attrs, 1);
	assert_int_equal(p.config[0], MADE_SWITCH);
	assert_false(p.sample_type & PERF_SAMPLE_CALLCHAIN);
	while (r.type != PERF_RECORD_SAMPLE)
		assert_int_equal(read_perf_next(&p, &r), 1);
	assert_int_equal(r.raw_len, 36);
	assert_int_equal(read_perf_u32(r.raw) & 0xffff, MADE_SWITCH);
	assert_string_equal((const char *)r.raw + 8, "prev");
	check_end(&p);
	free(e.text);
}

static void test_lost(void **state)
{
	struct exported e = export_of(made_trace(), "perf");
	struct read_perf p;
	char *text = lines_of(&e, &p);

	(void)state;
	/* How many were lost there is not known. */
	assert_non_null(strstr(text, "lost 1\n"));
	assert_non_null(strstr(text, "301:500 33 [1] "));
	assert_int_equal(e.result.events, 11);
	free(text);
	free(e.text);
}

static struct exported with_host(struct host_scene *h, struct scene *s)
{
	struct decode_world guest = decode_world_of(scene_open(s));
	struct decode_world host = decode_world_of(host_open_scene(h));
	struct exported e = export_both(&guest, &host, "perf");

	decode_world_end(&guest);
	decode_world_end(&host);
	return e;
}

/* A guest's task has the pid of the thread that runs a vCPU, and an event the id of another one. */
static struct exported a_guest_and_its_host(void)
{
	static struct scene s;
	struct host_scene h = {.nr = 0};

	s = (struct scene){0};
	scene_page(&s, 0);
	scene_switch(&s, 100, 1, HOST_TID);
	scene_switch(&s, 300, HOST_TID, 1);
	scene_switch(&s, 700, HOST_TID, 1);
	host_page(&h, MADE_T0 + 200, 0);
	host_exit(&h, MADE_T0 + 200, HOST_TID, 1);
	host_switch(&h, MADE_T0 + 400, HOST_TID, 7, 0);
	host_entry(&h, MADE_T0 + 500, HOST_TID);
	host_page(&h, MADE_T0 + 600, 3);
	host_exit(&h, MADE_T0 + 600, HOST_TID + 1, 2);
	return with_host(&h, &s);
}

static void test_host(void **state)
{
	static const char expected[] = "1 is init\n300:100 1 [0] 0 1\n"
				       "1000 is CPU 0/KVM\nh300:200 1000 [0] 0 1\n"
				       "1000 is <...>\n300:300 1000 [0] 0 1\n"
				       "1000 is CPU 0/KVM\nh302:400 1000 [0] 0 1\n"
				       "h301:500 1000 [0] 0 1\n"
				       "1001 is CPU 1/KVM\nlost 3\nh300:600 1001 [0] 0 1\n"
				       "1000 is <...>\n300:700 1000 [0] 0 1\n";
	struct exported e = a_guest_and_its_host();
	struct read_perf p;
	char *text = lines_of(&e, &p);

	(void)state;
	assert_string_equal(text, expected);
	assert_int_equal(e.result.events, 7);
	assert_int_equal(e.result.left_out, 0);
	free(text);
	free(e.text);
}

/* The number that perf's table of formats has of an event. */
static unsigned int number_of(const struct read_perf *p, const char *name)
{
	const char *at = p->tracing ? memmem(p->tracing, p->tracing_len, name, strlen(name)) : NULL;
	unsigned int id;

	assert_non_null(at);
	assert_int_equal(sscanf(at + strlen(name), "ID: %u\n", &id), 1);
	return id;
}

/* Records are of the event that the number is of. */
static void check_numbers(struct read_perf *p, unsigned int guest, unsigned int host)
{
	struct read_perf_record r;

	while (read_perf_next(p, &r) == 1) {
		if (r.type == PERF_RECORD_SAMPLE && r.id == MADE_SWITCH + 1)
			assert_int_equal(read_perf_u32(r.raw) & 0xffff, guest);
		if (r.type == PERF_RECORD_SAMPLE && r.id == 65536 + HOST_EXIT + 1)
			assert_int_equal(read_perf_u32(r.raw) & 0xffff, host);
	}
}

static void test_host_formats(void **state)
{
	struct exported e = a_guest_and_its_host();
	struct read_perf p;
	unsigned int exit, entry, other;

	(void)state;
	assert_true(read_perf_begin(&p, e.text, e.len));
	exit = number_of(&p, "name: kvm_exit\n");
	entry = number_of(&p, "name: kvm_entry\n");
	other = number_of(&p, "name: sched_switch\n");
	assert_int_equal(other, MADE_SWITCH);
	assert_int_not_equal(exit, entry);
	assert_int_equal(p.nr_attrs, 4);
	for (size_t i = 0; i < p.nr_attrs; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(p.config[i], p.config[k]);
	assert_true(p.tracing && memmem(p.tracing, p.tracing_len, "host_kvm", 9));
	assert_true(p.tracing && memmem(p.tracing, p.tracing_len, "host_sched", 11));
	check_numbers(&p, other, exit);
	free(e.text);
}

/* perf is told of some event, and has some record: it refuses a file without. */
static void test_empty(void **state)
{
	static struct scene s;
	struct exported e;
	struct read_perf p;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	e = export_of(scene_open(&s), "perf");
	assert_true(read_perf_begin(&p, e.text, e.len));
	assert_int_equal(p.nr_attrs, 1);
	check_end(&p);
	free(e.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),	 cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_function), cmocka_unit_test(test_events),
		cmocka_unit_test(test_lost),	 cmocka_unit_test(test_empty),
		cmocka_unit_test(test_host),	 cmocka_unit_test(test_host_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
