// SPDX-License-Identifier: GPL-2.0-or-later
/* test-pprof.c - what is written for pprof, uncompressed by zlib and read back by protobuf-c. */
#include "tests/unit/export-world.h"

#include "frontend/export/pprof.pb-c.h"

static Pprof__Profile *profile_of(struct dat *d)
{
	static uint8_t bytes[65536];
	struct exported e = export_of(d, "pprof");
	z_stream z = {.next_in = (Bytef *)e.text,
		      .avail_in = (uInt)e.len,
		      .next_out = bytes,
		      .avail_out = sizeof(bytes)};
	Pprof__Profile *p;

	assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	p = pprof__profile__unpack(NULL, z.total_out, bytes);
	assert_non_null(p);
	inflateEnd(&z);
	free(e.text);
	return p;
}

static const char *text_of(const Pprof__Profile *p, int64_t i)
{
	assert_true(i >= 0 && (size_t)i < p->n_string_table);
	return p->string_table[i];
}

static const char *function_of(const Pprof__Profile *p, uint64_t location)
{
	uint64_t function = 0;

	for (size_t i = 0; i < p->n_location; i++)
		if (p->location[i]->id == location)
			function = p->location[i]->line[0]->function_id;
	for (size_t i = 0; i < p->n_function; i++)
		if (p->function[i]->id == function)
			return text_of(p, p->function[i]->name);
	fail_msg("there is no location %llu", (unsigned long long)location);
	return NULL;
}

/* "task: innermost outer = value value" for each sample. */
static void check(const Pprof__Profile *p, const char *expected)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (size_t i = 0; i < p->n_sample; i++) {
		const Pprof__Sample *s = p->sample[i];

		assert_int_equal(s->n_value, p->n_sample_type);
		assert_string_equal(text_of(p, s->label[0]->key), "task");
		fprintf(out, "%s:", text_of(p, s->label[0]->str));
		for (size_t l = 0; l < s->n_location_id; l++)
			fprintf(out, " %s", function_of(p, s->location_id[l]));
		fputs(" =", out);
		for (size_t v = 0; v < s->n_value; v++)
			fprintf(out, " %lld", (long long)s->value[v]);
		putc('\n', out);
	}
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_graph(void **state)
{
	static struct scene s;
	Pprof__Profile *p;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	made_trace_call(scene_now(&s), 1000, 1, MADE_FUNC(1), 0);
	made_trace_call(scene_now(&s), 2000, 1, MADE_FUNC(2), 1);
	made_trace_return(scene_now(&s), 2500, 1, MADE_FUNC(2), 1, 500);
	made_trace_return(scene_now(&s), 4000, 1, MADE_FUNC(1), 0, 3000);
	p = profile_of(scene_open(&s));
	assert_int_equal(p->n_sample_type, 2);
	assert_string_equal(text_of(p, p->sample_type[1]->unit), "nanoseconds");
	assert_string_equal(text_of(p, p->default_sample_type), "time");
	assert_string_equal(text_of(p, 0), "");
	assert_int_equal(p->duration_nanos, 3000);
	check(p, "init-1: vfs_read = 1 2500\ninit-1: vfs_write vfs_read = 1 500\n");
	pprof__profile__free_unpacked(p, NULL);
}

static void test_function(void **state)
{
	static struct scene s;
	Pprof__Profile *p;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_function(&s, 0, 33, 2);
	scene_function(&s, 1, 33, 2);
	p = profile_of(scene_open(&s));
	assert_int_equal(p->n_sample_type, 1);
	assert_string_equal(text_of(p, p->sample_type[0]->type), "calls");
	check(p, "kworker/0:1 H-33: vfs_write __schedule = 2\n");
	pprof__profile__free_unpacked(p, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
