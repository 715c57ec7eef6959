// SPDX-License-Identifier: GPL-2.0-or-later
/* test-ctf.c - the folder that is written for babeltrace2: what its metadata says, and its files.
 */
#include "tests/unit/export-world.h"

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
	for (int i = 0; i < n; i++) {
		if (*e[i]->d_name != '.' && strcmp(e[i]->d_name, "metadata") != 0) {
			strcat(f->files, e[i]->d_name);
			strcat(f->files, ",");
		}
		free(e[i]);
	}
	free(e);
}

static struct export_result begin(struct folder *f, struct dat *d)
{
	struct decode_world w = decode_world_of(d);
	struct export_result result;
	char path[128];

	*f = (struct folder){.in = "/tmp/test-ctf.XXXXXX"};
	assert_non_null(mkdtemp(f->in));
	snprintf(f->out, sizeof(f->out), "%s/out", f->in);
	result = export_to_folder(&w, "ctf", f->out);
	decode_world_end(&w);
	path_of(f, "metadata", path);
	f->metadata = text_of(path);
	list(f);
	return result;
}

static void end(struct folder *f)
{
	char path[128];

	for (char *name = strtok(f->files, ","); name; name = strtok(NULL, ",")) {
		path_of(f, name, path);
		assert_int_equal(unlink(path), 0);
	}
	path_of(f, "metadata", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(f->out), 0);
	assert_int_equal(rmdir(f->in), 0);
	free(f->metadata);
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
	struct made_page page;
	const struct made_vcpu vcpu = {0, page.bytes, RING_PAGE_SIZE};
	const struct made_buffer buffers[] = {{"", "global", &vcpu, 1}, {NULL, NULL, NULL, 0}};
	struct made_dat_spec spec = {.version = 7, .compression = "none"};
	struct folder f;

	(void)state;
	made_page_begin(&page, MADE_T0);
	made_page_event(&page, MADE_T0 + 5, &r, 24);
	made_page_end(&page, 0);
	made_trace_spec(&spec);
	spec.formats = formats;
	spec.buffers = buffers;
	spec.cpus = 1;
	assert_int_equal(begin(&f, made_open(&spec)).left_out, 0);
	assert_non_null(strstr(f.metadata, "name = \"sy?s:an_event\";"));
	assert_non_null(strstr(f.metadata, " _event;"));
	assert_non_null(strstr(f.metadata, " _n;"));
	assert_non_null(strstr(f.metadata, " _n_2;"));
	assert_non_null(strstr(f.metadata, "base = x; } _p;"));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
