// SPDX-License-Identifier: GPL-2.0-or-later
/* test-ctf.c - the folder that is written for babeltrace2: what its metadata says, and its files.
 */
#include "tests/unit/export-world.h"
#include "tests/unit/host-scene.h"

#include <dirent.h>
#include <sys/stat.h>

struct folder {
	char in[32], out[48];
	char *metadata;
	char files[256]; /* their names and a comma behind each, but for metadata's */
};

static void path_of(const struct folder *f, const char *name, char path[128])
{
	snprintf(path, 128, "%s/%.64s", f->out, name);
}

static char *text_of(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = calloc(1, 65536);

	assert_non_null(in);
	assert_non_null(text);
	assert_in_range(fread(text, 1, 65535, in), 1, 65534);
	fclose(in);
	return text;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void list(struct folder *f)
{
	struct dirent **e;
	int n = scandir(f->out, &e, NULL, by_name);

	assert_true(n > 0);
	*f->files = '\0';
	for (int i = 0; i < n; i++) {
		if (*e[i]->d_name != '.' && strcmp(e[i]->d_name, "metadata") != 0) {
			strcat(f->files, e[i]->d_name);
			strcat(f->files, ",");
		}
		free(e[i]);
	}
	free(e);
}

/* What is in one of those that were made. */
static void look(struct folder *f, const char *in)
{
	char path[128];

	snprintf(f->out, sizeof(f->out), "%s/%s", f->in, in);
	path_of(f, "metadata", path);
	f->metadata = text_of(path);
	list(f);
}

/* It goes away. */
static void forget(struct folder *f)
{
	char path[128];

	for (char *name = strtok(f->files, ","); name; name = strtok(NULL, ",")) {
		path_of(f, name, path);
		assert_int_equal(unlink(path), 0);
	}
	path_of(f, "metadata", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(f->out), 0);
	free(f->metadata);
}

static struct export_result export_ctf(struct folder *f, struct dat *d, struct dat *host)
{
	struct decode_world w = decode_world_of(d), h = {.d = NULL};
	struct export_result result;

	if (host)
		h = decode_world_of(host);
	*f = (struct folder){.in = "/tmp/test-ctf.XXXXXX"};
	assert_non_null(mkdtemp(f->in));
	snprintf(f->out, sizeof(f->out), "%s/out", f->in);
	result = export_to_folder(&w, host ? &h : NULL, "ctf", f->out);
	decode_world_end(&w);
	if (host)
		decode_world_end(&h);
	return result;
}

static struct export_result begin(struct folder *f, struct dat *d)
{
	struct export_result result = export_ctf(f, d, NULL);

	look(f, "out");
	return result;
}

static void end(struct folder *f)
{
	forget(f);
	assert_int_equal(rmdir(f->in), 0);
}

static void test_streams(void **state)
{
	struct folder f;
	struct export_result result = begin(&f, made_trace());

	(void)state;
	assert_int_equal(result.events, 11);
	assert_int_equal(result.left_out, 0);
	/* One for each vCPU of each buffer. */
	assert_string_equal(f.files, "cpu0,cpu1,one cpu1,");
	assert_non_null(strstr(f.metadata, "name = guest;\n\tfreq = 1000000000;"));
	assert_non_null(strstr(f.metadata, "name = \"irq:irq_handler_entry\";"));
	assert_non_null(
		strstr(f.metadata, "integer { size = 32; align = 8; signed = true; } _irq;"));
	assert_non_null(strstr(f.metadata, "string { encoding = UTF8; } _name;"));
	assert_non_null(strstr(f.metadata, "integer { size = 64; align = 8; } _caller[8];"));
	assert_non_null(strstr(f.metadata, "events_discarded"));
	/* What there is no event of is not told. */
	assert_null(strstr(f.metadata, "softirq"));
	end(&f);
}

/* Once both are forgotten. */
static void end_both(struct folder *f)
{
	snprintf(f->out, sizeof(f->out), "%s/out", f->in);
	assert_int_equal(rmdir(f->out), 0);
	assert_int_equal(rmdir(f->in), 0);
}

/* One event, of one of these formats. */
static void begin_event(struct folder *f, const struct dat_format *formats, const void *record,
			size_t len)
{
	struct made_page page;
	const struct made_vcpu vcpu = {0, page.bytes, RING_PAGE_SIZE};
	const struct made_buffer buffers[] = {{"", "global", &vcpu, 1}, {NULL, NULL, NULL, 0}};
	struct made_dat_spec spec = {.version = 7, .compression = "none"};

	made_page_begin(&page, MADE_T0);
	made_page_event(&page, MADE_T0 + 5, record, len);
	made_page_end(&page, 0);
	made_trace_spec(&spec);
	spec.formats = formats;
	spec.buffers = buffers;
	spec.cpus = 1;
	assert_int_equal(begin(f, made_open(&spec)).left_out, 0);
}

/* Names that are none of CTF's, or are there twice. */
static void test_names(void **state)
{
	static const struct dat_format formats[] = {
		{"sy\"s",
		 {"name: an_event\nID: 400\n" MADE_COMMON
		  "\tfield:int event;\toffset:8;\tsize:4;\tsigned:1;\n"
		  "\tfield:int n;\toffset:12;\tsize:4;\tsigned:1;\n"
		  "\tfield:int n;\toffset:12;\tsize:4;\tsigned:1;\n"
		  "\tfield:void * p;\toffset:16;\tsize:8;\tsigned:0;\n"
		  "\nprint fmt: \"%d\", REC->n\n",
		  0}},
		{NULL, {NULL, 0}},
	};
	const struct made_record r = {.type = 400, .pid = 1};
	struct folder f;

	(void)state;
	begin_event(&f, formats, &r, 24);
	assert_non_null(strstr(f.metadata, "name = \"sy?s:an_event\";"));
	assert_non_null(strstr(f.metadata, " _event;"));
	assert_non_null(strstr(f.metadata, " _n;"));
	assert_non_null(strstr(f.metadata, " _n_2;"));
	assert_non_null(strstr(f.metadata, "base = x; } _p;"));
	end(&f);
}

/* Two traces, of one clock by its UUID. */
static void test_host(void **state)
{
	static const char clock[] = "name = host;\n\tfreq = 1000000000;",
			  uuid[] = "uuid = \"00000000-0000-0000-ccbb-aa9988776655\"";
	struct host_scene s = {.nr = 0};
	struct export_result result;
	struct folder f;

	(void)state;
	host_page(&s, MADE_T0 - 1000, 0);
	host_exit(&s, MADE_T0 - 1000, HOST_TID + 1, 1);
	host_switch(&s, MADE_T0 - 900, HOST_TID + 1, 5, 0);
	result = export_ctf(&f, host_open_guest(), host_open_scene(&s));
	assert_int_equal(result.events, 13);
	assert_int_equal(result.left_out, 0);
	look(&f, "out/guest");
	assert_string_equal(f.files, "cpu0,cpu1,one cpu1,");
	assert_non_null(strstr(f.metadata, clock));
	assert_non_null(strstr(f.metadata, uuid));
	assert_null(strstr(f.metadata, "kvm"));
	forget(&f);
	look(&f, "out/host");
	assert_string_equal(f.files, "cpu0,");
	assert_non_null(strstr(f.metadata, clock));
	assert_non_null(strstr(f.metadata, uuid));
	assert_non_null(strstr(f.metadata, "name = \"kvm:kvm_exit\";"));
	assert_null(strstr(f.metadata, "irq"));
	forget(&f);
	end_both(&f);
}

/* One that has none is a trace all the same, which is empty. */
static void test_no_events(void **state)
{
	struct host_scene s = {.nr = 0};
	struct folder f;

	(void)state;
	host_page(&s, MADE_T0, 0);
	assert_int_equal(export_ctf(&f, host_open_guest(), host_open_scene(&s)).events, 11);
	look(&f, "out/guest");
	forget(&f);
	look(&f, "out/host");
	assert_string_equal(f.files, "cpu0,");
	forget(&f);
	end_both(&f);
}

/* Bytes are numbers, and what is no UTF-8 in a text is none of CTF's. */
static void test_bytes(void **state)
{
	static const struct dat_format formats[] = {
		{"odd",
		 {"name: bytes\nID: 400\n" MADE_COMMON
		  "\tfield:__u8 insn[4];\toffset:8;\tsize:4;\tsigned:0;\n"
		  "\tfield:char text[8];\toffset:12;\tsize:8;\tsigned:0;\n"
		  "\nprint fmt: \"%s\", REC->text\n",
		  0}},
		{NULL, {NULL, 0}},
	};
	const struct {
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t pid;
		char insn[4], text[8];
	} r = {400, 0, 0, 1, {'\x90', 0, '\xff', 1}, "a\xff\xc3\xa4z\xc3"};
	char path[128], *stream;
	struct folder f;

	(void)state;
	begin_event(&f, formats, &r, sizeof(r));
	assert_non_null(strstr(f.metadata, "integer { size = 8; align = 8; } _insn[4];"));
	path_of(&f, "cpu0", path);
	stream = text_of(path);
	assert_non_null(memmem(stream, 65536, "\x90\0\xff\1a?\xc3\xa4z?", 11));
	free(stream);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams), cmocka_unit_test(test_names),
		cmocka_unit_test(test_host),	cmocka_unit_test(test_no_events),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
