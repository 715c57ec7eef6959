// SPDX-License-Identifier: GPL-2.0-or-later
/* test-html.c - what is written into a page: streams, which are found and unpacked again. */
#include "tests/unit/export-world.h"
#include "tests/unit/host-scene.h"

#include "frontend/export/html-stream.h"

#include <zlib.h>

#define ELEMENT "<script type=\"application/octet-stream\" class=\"%s\">"

struct bytes {
	uint8_t *at;
	size_t len;
};

static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	return c && at ? (int)(at - digits) : -1;
}

/* The text of one element, behind what is there. */
static void unbase64(struct bytes *b, const char *text, const char *end)
{
	assert_int_equal((end - text) % 4, 0);
	b->at = realloc(b->at, b->len + (size_t)(end - text));
	assert_non_null(b->at);
	for (; text < end; text += 4) {
		uint32_t bits = 0;

		for (int i = 0; i < 4; i++)
			bits = bits << 6 | (text[i] == '=' ? 0 : (uint32_t)digit(text[i]));
		b->at[b->len++] = (uint8_t)(bits >> 16);
		if (text[2] != '=')
			b->at[b->len++] = (uint8_t)(bits >> 8);
		if (text[3] != '=')
			b->at[b->len++] = (uint8_t)bits;
	}
}

static struct bytes unpack(const struct bytes *packed, size_t room)
{
	struct bytes b = {malloc(room), 0};
	z_stream z = {.next_in = packed->at,
		      .avail_in = (uInt)packed->len,
		      .next_out = b.at,
		      .avail_out = (uInt)room};

	assert_non_null(b.at);
	assert_int_equal(inflateInit2(&z, -MAX_WBITS), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	b.len = room - z.avail_out;
	inflateEnd(&z);
	return b;
}

/* All elements of a stream, joined and unpacked; how many they are. */
static struct bytes read_stream(const char *page, const char *name, size_t room, unsigned int *nr)
{
	struct bytes packed = {0}, b;
	char begin[96];

	snprintf(begin, sizeof(begin), ELEMENT, name);
	*nr = 0;
	for (const char *at = page; (at = strstr(at, begin)); (*nr)++) {
		at += strlen(begin);
		unbase64(&packed, at, strstr(at, "</script>"));
	}
	b = unpack(&packed, room);
	free(packed.at);
	return b;
}

static void test_stream(void **state)
{
	enum { LEN = 1 << 20 };
	char *page = NULL, *other = malloc(LEN);
	size_t len;
	FILE *out = open_memstream(&page, &len);
	struct html_stream *s = html_stream_new("one", out), *t = html_stream_new("two", out);
	uint32_t seed = 1;
	struct bytes b;
	unsigned int nr;

	(void)state;
	for (size_t i = 0; i < LEN; i++)
		other[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
	html_stream_number(t, 0);
	html_stream_number(t, 127);
	html_stream_number(t, 300);
	html_stream_put(s, other, LEN);
	html_stream_number(t, UINT64_MAX);
	html_stream_text(t, "abc", 3);
	html_stream_end(s);
	html_stream_end(t);
	html_stream_free(s);
	html_stream_free(t);
	fclose(out);
	b = read_stream(page, "one", 2 * LEN, &nr);
	assert_true(nr > 4);
	assert_int_equal(b.len, LEN);
	assert_memory_equal(b.at, other, LEN);
	free(b.at);
	b = read_stream(page, "two", 2 * LEN, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(b.len, 1 + 1 + 2 + 10 + 4);
	assert_memory_equal(b.at,
			    "\x00\x7f\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x03"
			    "abc",
			    b.len);
	free(b.at);
	free(other);
	free(page);
}

/* What the whole page has outside of its elements is ours, whatever the names are. */
static void test_page(void **state)
{
	struct scene s = {0};
	struct exported e;
	struct bytes b;
	unsigned int nr;

	(void)state;
	scene_page(&s, 0);
	made_trace_call(scene_now(&s), 1000, 7, MADE_FUNC(1), 0);
	scene_mark(&s, 1100, 7, "<i>odd");
	scene_mark(&s, 1200, 7, "B|7|<b>marker");
	made_trace_return(scene_now(&s), 2000, 7, MADE_FUNC(1), 0, 1000);
	e = export_of(scene_open(&s), "html");
	assert_int_equal(e.result.events, 4);
	assert_null(strstr(e.text, "<b>marker"));
	assert_null(strstr(e.text, "<i>odd"));
	b = read_stream(e.text, "about", 1 << 16, &nr);
	b.at[b.len] = '\0';
	assert_non_null(strstr((char *)b.at, "\"base\":\"1000001000\",\"ns\":true,\"records\":4"));
	assert_non_null(strstr((char *)b.at, "\"<b>marker\""));
	assert_non_null(strstr((char *)b.at, "\"vfs_read\""));
	assert_non_null(strstr((char *)b.at, "[\"ftrace\",\"print\"]"));
	free(b.at);
	b = read_stream(e.text, "texts", 1 << 16, &nr);
	b.at[b.len] = '\0';
	assert_non_null(strstr((char *)b.at, "<i>odd"));
	free(b.at);
	b = read_stream(e.text, "records", 1 << 16, &nr);
	/* The task is told, with the name that the file has of it, then who runs on vCPU 0. */
	assert_memory_equal(b.at, "\x07\x00\x0e\x07\x07\x05<...>\x04\x00\x0e", 14);
	free(b.at);
	free(e.text);
}

/* A task that was elsewhere runs where it was before once more, though nobody saw it leave. */
static void test_running(void **state)
{
	static struct made_page pages[2];
	const struct made_record r = {
		.type = MADE_FUNCTION, .pid = 1, .function = {MADE_FUNC(1), MADE_FUNC(2)}};
	const struct made_vcpu vcpus[] = {{0, pages[0].bytes, RING_PAGE_SIZE},
					  {1, pages[1].bytes, RING_PAGE_SIZE}};
	const struct made_buffer buffers[] = {{"", "global", vcpus, 2}, {NULL, NULL, NULL, 0}};
	static const uint8_t want[] = {
		0x07, 0, 2, 1,	  1, 4, 'i', 'n', 'i', 't', /* TELL a task */
		0x04, 0, 2, 0x02, 0, 4, 5, /* RUN it on vCPU 0, HIT a function there */
		0x0c, 5, 2, 0x0a, 0, 4, 5, /* on vCPU 1 */
		0x04, 5, 2, 0x02, 0, 4, 5, /* and on vCPU 0 */
		0x17, 0,		   /* TELL that it is over */
	};
	struct made_dat_spec spec = {.version = 7, .compression = "none"};
	struct exported e;
	struct bytes b;
	unsigned int nr;

	(void)state;
	made_page_begin(&pages[0], MADE_T0);
	made_page_begin(&pages[1], MADE_T0);
	made_page_event(&pages[0], MADE_T0, &r, 24);
	made_page_event(&pages[1], MADE_T0 + 5, &r, 24);
	made_page_event(&pages[0], MADE_T0 + 10, &r, 24);
	made_page_end(&pages[0], 0);
	made_page_end(&pages[1], 0);
	made_trace_spec(&spec);
	spec.buffers = buffers;
	e = export_of(made_open(&spec), "html");
	b = read_stream(e.text, "records", 1 << 16, &nr);
	assert_int_equal(b.len, sizeof(want));
	assert_memory_equal(b.at, want, sizeof(want));
	free(b.at);
	free(e.text);
}

/* A track of the host's for vCPU 1, with an exit, and in that a time without a processor. */
static void test_host(void **state)
{
	static const uint8_t want[] = {
		0x0f, 0,   7,	 1,
		0,    0, /* TELL a track: its kind, vCPU, buffer and name */
		0x00, 0,   4,	 0x00,
		100,  5,	      /* BEGIN what they are called, the second 100 ns later */
		0x01, 100, 0x01, 100, /* END both */
	};
	struct host_scene s = {.nr = 0};
	struct decode_world guest, host;
	struct exported e;
	struct bytes b;
	unsigned int nr;

	(void)state;
	host_page(&s, MADE_T0 - 1000, 0);
	host_exit(&s, MADE_T0 - 1000, HOST_TID + 1, 1);
	host_switch(&s, MADE_T0 - 900, HOST_TID + 1, 5, 0);
	host_switch(&s, MADE_T0 - 800, 5, HOST_TID + 1, 1);
	host_entry(&s, MADE_T0 - 700, HOST_TID + 1);
	guest = decode_world_of(host_open_guest());
	host = decode_world_of(host_open_scene(&s));
	e = export_both(&guest, &host, "html");
	b = read_stream(e.text, "records", 1 << 16, &nr);
	assert_memory_equal(b.at, want, sizeof(want));
	free(b.at);
	b = read_stream(e.text, "about", 1 << 16, &nr);
	b.at[b.len] = '\0';
	assert_non_null(strstr((char *)b.at, ",\"npf\",\"taken by thief\""));
	free(b.at);
	free(e.text);
	decode_world_end(&guest);
	decode_world_end(&host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
