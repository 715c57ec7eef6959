/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made-dat.h - trace.dat files for tests, of either version, written into memory. */
#ifndef HVTRACE_TESTS_MADE_DAT_H
#define HVTRACE_TESTS_MADE_DAT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "frontend/dat/dat.h"
#include "tracer/ring/page.h"

struct made_dat {
	uint8_t *bytes;
	size_t len, room;
};

struct made_option {
	unsigned int id;
	const void *data;
	size_t len;
};

struct made_vcpu {
	unsigned int cpu;
	const void *pages;
	size_t len;
};

struct made_buffer {
	const char *name, *clock;
	const struct made_vcpu *vcpus;
	unsigned int nr;
};

/* Lists of options, formats and buffers end with one that has no data, text or vcpus. */
struct made_dat_spec {
	unsigned int version;
	const char *compression; /* "none" */
	size_t chunk;		 /* bytes of pages in one, 0: 8192 */
	const char *header_page, *kallsyms, *printk_formats, *cmdlines;
	const struct dat_format
		*formats; /* those of one system behind each other, ftrace's first */
	const struct made_option *options;
	const struct made_buffer *buffers;
	unsigned int cpus;
};

static const char made_header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				       "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				       "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				       "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

/* --- bytes -------------------------------------------------------------------------------------
 */

static inline size_t made_add(struct made_dat *m, const void *data, size_t len)
{
	size_t at = m->len;

	if (m->room - m->len < len) {
		m->room = m->len + len + 65536;
		m->bytes = realloc(m->bytes, m->room);
		assert_non_null(m->bytes);
	}
	if (len)
		memcpy(m->bytes + at, data, len);
	m->len += len;
	return at;
}

static inline size_t made_u16(struct made_dat *m, uint16_t n)
{
	return made_add(m, &n, sizeof(n));
}

static inline size_t made_u32(struct made_dat *m, uint32_t n)
{
	return made_add(m, &n, sizeof(n));
}

static inline size_t made_u64(struct made_dat *m, uint64_t n)
{
	return made_add(m, &n, sizeof(n));
}

static inline size_t made_string(struct made_dat *m, const char *s)
{
	return made_add(m, s, strlen(s) + 1);
}

static inline void made_set_u64(struct made_dat *m, size_t at, uint64_t n)
{
	memcpy(m->bytes + at, &n, sizeof(n));
}

static inline void made_text64(struct made_dat *m, const char *s)
{
	made_u64(m, strlen(s));
	made_add(m, s, strlen(s));
}

static inline void made_text32(struct made_dat *m, const char *s)
{
	made_u32(m, (uint32_t)strlen(s));
	made_add(m, s, strlen(s));
}

static inline const char *made_or_nothing(const char *s)
{
	return s ? s : "";
}

static inline void made_align(struct made_dat *m)
{
	static const uint8_t zeros[4096];

	made_add(m, zeros, -m->len & 4095);
}

/* --- texts -------------------------------------------------------------------------------------
 */

static inline void made_headers(struct made_dat *m, const struct made_dat_spec *s)
{
	made_string(m, "header_page");
	made_text64(m, s->header_page ? s->header_page : made_header_page);
	made_string(m, "header_event");
	made_text64(m, "# compressed entry header\n");
}

static inline size_t made_system_len(const struct dat_format *f)
{
	size_t n = 0;

	while (f[n].text.text && !strcmp(f[n].system, f->system))
		n++;
	return n;
}

static inline const struct dat_format *made_formats(struct made_dat *m, const struct dat_format *f)
{
	size_t n = made_system_len(f);

	made_u32(m, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		made_text64(m, f[i].text.text);
	return f + n;
}

static const struct dat_format made_no_formats[] = {{"", {NULL, 0}}};

static inline const struct dat_format *made_all_formats(const struct made_dat_spec *s)
{
	return s->formats ? s->formats : made_no_formats;
}

static inline bool made_has_ftrace(const struct dat_format *f)
{
	return f->text.text && !strcmp(f->system, "ftrace");
}

static inline void made_ftrace(struct made_dat *m, const struct made_dat_spec *s)
{
	const struct dat_format *f = made_all_formats(s);

	if (made_has_ftrace(f))
		made_formats(m, f);
	else
		made_u32(m, 0);
}

static inline void made_events(struct made_dat *m, const struct made_dat_spec *s)
{
	const struct dat_format *f = made_all_formats(s), *at;
	uint32_t systems = 0;

	if (made_has_ftrace(f))
		f += made_system_len(f);
	for (at = f; at->text.text; at += made_system_len(at))
		systems++;
	made_u32(m, systems);
	while (f->text.text) {
		made_string(m, f->system);
		f = made_formats(m, f);
	}
}

static inline void made_kallsyms(struct made_dat *m, const struct made_dat_spec *s)
{
	made_text32(m, made_or_nothing(s->kallsyms));
}

static inline void made_printk(struct made_dat *m, const struct made_dat_spec *s)
{
	made_text32(m, made_or_nothing(s->printk_formats));
}

static inline void made_cmdlines(struct made_dat *m, const struct made_dat_spec *s)
{
	made_text64(m, made_or_nothing(s->cmdlines));
}

static inline void made_option(struct made_dat *m, unsigned int id, const void *data, size_t len)
{
	made_u16(m, (uint16_t)id);
	made_u32(m, (uint32_t)len);
	made_add(m, data, len);
}

static inline void made_options(struct made_dat *m, const struct made_dat_spec *s)
{
	for (const struct made_option *o = s->options; o && o->data; o++)
		made_option(m, o->id, o->data, o->len);
}

static const char made_clock[] = "local [global] counter\n";

static inline void made_head(struct made_dat *m, const struct made_dat_spec *s)
{
	static const uint8_t endian_long[] = {0, 8};
	char version[16];

	snprintf(version, sizeof(version), "%u", s->version);
	made_add(m, "\x17\x08\x44tracing", 10);
	made_string(m, version);
	made_add(m, endian_long, sizeof(endian_long));
	made_u32(m, 4096);
}

/* --- version 6 ---------------------------------------------------------------------------------
 */

static inline void made_v6_vcpus(struct made_dat *m, const struct made_buffer *b)
{
	size_t table;

	made_string(m, "flyrecord");
	table = m->len;
	for (unsigned int i = 0; i < b->nr; i++) {
		made_u64(m, 0);
		made_u64(m, b->vcpus[i].len);
	}
	made_text64(m, made_clock);
	for (unsigned int i = 0; i < b->nr; i++) {
		made_align(m);
		made_set_u64(m, table + (size_t)i * 16, m->len);
		made_add(m, b->vcpus[i].pages, b->vcpus[i].len);
	}
}

/* Where its place is to be written; the name follows. */
static inline size_t made_v6_instance(struct made_dat *m, const char *name)
{
	size_t at;

	made_u16(m, DAT_OPTION_BUFFER);
	made_u32(m, (uint32_t)(8 + strlen(name) + 1));
	at = made_u64(m, 0);
	made_string(m, name);
	return at;
}

static inline void made_v6(struct made_dat *m, const struct made_dat_spec *s)
{
	size_t instances[4], nr = 0;

	made_headers(m, s);
	made_ftrace(m, s);
	made_events(m, s);
	made_kallsyms(m, s);
	made_printk(m, s);
	made_cmdlines(m, s);
	made_u32(m, s->cpus);
	made_add(m, "options  ", 10);
	made_option(m, DAT_OPTION_TRACECLOCK, "", 0);
	made_options(m, s);
	for (const struct made_buffer *b = s->buffers + 1; b->vcpus; b++)
		instances[nr++] = made_v6_instance(m, b->name);
	made_u16(m, DAT_OPTION_DONE);
	made_v6_vcpus(m, s->buffers);
	for (size_t i = 0; i < nr; i++) {
		made_set_u64(m, instances[i], m->len);
		made_v6_vcpus(m, &s->buffers[i + 1]);
	}
}

/* --- version 7 ---------------------------------------------------------------------------------
 */

/* Adds two sizes and what is compressed; nothing where nothing is. */
static inline void made_packed(struct made_dat *m, const char *compression, const void *data,
			       size_t len)
{
	size_t room = compressBound(len) + ZSTD_compressBound(len), got;
	uint8_t *packed = malloc(room);

	assert_non_null(packed);
	if (!strcmp(compression, "zstd")) {
		got = ZSTD_compress(packed, room, data, len, 3);
	} else {
		uLongf n = room;

		assert_int_equal(compress(packed, &n, data, len), Z_OK);
		got = n;
	}
	made_u32(m, (uint32_t)got);
	made_u32(m, (uint32_t)len);
	made_add(m, packed, got);
	free(packed);
}

static inline bool made_packs(const struct made_dat_spec *s)
{
	return s->compression && strcmp(s->compression, "none") != 0;
}

static inline size_t made_section_begin(struct made_dat *m, unsigned int id, bool packed)
{
	size_t at = made_u16(m, (uint16_t)id);

	made_u16(m, packed);
	made_u32(m, 0);
	made_u64(m, 0);
	return at;
}

static inline void made_section_end(struct made_dat *m, size_t at)
{
	made_set_u64(m, at + 8, m->len - at - 16);
}

static inline size_t made_section(struct made_dat *m, const struct made_dat_spec *s,
				  unsigned int id,
				  void (*write)(struct made_dat *, const struct made_dat_spec *))
{
	size_t at = made_section_begin(m, id, made_packs(s));
	struct made_dat in = {0};

	write(&in, s);
	if (made_packs(s))
		made_packed(m, s->compression, in.bytes, in.len);
	else
		made_add(m, in.bytes, in.len);
	free(in.bytes);
	made_section_end(m, at);
	return at;
}

static inline void made_v7_vcpu(struct made_dat *m, const struct made_dat_spec *s,
				const struct made_vcpu *v)
{
	size_t chunk = s->chunk ? s->chunk : 8192;

	if (!made_packs(s)) {
		made_align(m);
		made_add(m, v->pages, v->len);
		return;
	}
	made_u32(m, (uint32_t)((v->len + chunk - 1) / chunk));
	for (size_t at = 0; at < v->len; at += chunk)
		made_packed(m, s->compression, (const uint8_t *)v->pages + at,
			    v->len - at < chunk ? v->len - at : chunk);
}

/* The section of a buffer, and its option into options; as trace-cmd 3.1 counts bytes of chunks. */
static inline void made_v7_buffer(struct made_dat *m, const struct made_dat_spec *s,
				  const struct made_buffer *b, struct made_dat *options)
{
	size_t at = made_section_begin(m, DAT_OPTION_BUFFER, made_packs(s));
	struct made_dat o = {0};

	made_u64(&o, at);
	made_string(&o, b->name);
	made_string(&o, made_or_nothing(b->clock));
	made_u32(&o, 4096);
	made_u32(&o, b->nr);
	for (unsigned int i = 0; i < b->nr; i++) {
		size_t from;

		if (!made_packs(s))
			made_align(m);
		from = m->len;
		made_v7_vcpu(m, s, &b->vcpus[i]);
		made_u32(&o, b->vcpus[i].cpu);
		made_u64(&o, from);
		made_u64(&o, m->len - from - (made_packs(s) ? 4 : 0));
	}
	made_section_end(m, at);
	made_option(options, DAT_OPTION_BUFFER, o.bytes, o.len);
	free(o.bytes);
}

static inline void made_v7_options(struct made_dat *m, size_t first, const struct made_dat *options)
{
	size_t at = made_section_begin(m, DAT_OPTION_DONE, false);

	made_set_u64(m, first, at);
	made_add(m, options->bytes, options->len);
	made_u16(m, DAT_OPTION_DONE);
	made_u32(m, 8);
	made_u64(m, 0);
	made_section_end(m, at);
}

static inline void made_v7(struct made_dat *m, const struct made_dat_spec *s)
{
	static const struct {
		unsigned int id;
		void (*write)(struct made_dat *, const struct made_dat_spec *);
	} sections[] = {
		{DAT_OPTION_HEADER_INFO, made_headers},	 {DAT_OPTION_FTRACE_EVENTS, made_ftrace},
		{DAT_OPTION_EVENT_FORMATS, made_events}, {DAT_OPTION_KALLSYMS, made_kallsyms},
		{DAT_OPTION_PRINTK, made_printk},	 {DAT_OPTION_CMDLINES, made_cmdlines},
	};
	struct made_dat options = {0};
	size_t first;

	made_string(m, s->compression ? s->compression : "none");
	made_string(m, "");
	first = made_u64(m, 0);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		uint64_t at = made_section(m, s, sections[i].id, sections[i].write);

		made_option(&options, sections[i].id, &at, sizeof(at));
	}
	made_option(&options, DAT_OPTION_TRACECLOCK, made_clock, sizeof(made_clock));
	made_options(&options, s);
	for (const struct made_buffer *b = s->buffers; b->vcpus; b++)
		made_v7_buffer(m, s, b, &options);
	made_v7_options(m, first, &options);
	free(options.bytes);
}

/* --- the file, and what opens it ---------------------------------------------------------------
 */

/* free(bytes) it. */
static inline struct made_dat made_dat(const struct made_dat_spec *s)
{
	struct made_dat m = {0};

	made_head(&m, s);
	if (s->version == 7)
		made_v7(&m, s);
	else
		made_v6(&m, s);
	return m;
}

/* A file without a name, of the first len bytes. */
static inline int made_file(const struct made_dat *m, size_t len)
{
	int fd = memfd_create("made", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, m->bytes, len), len);
	return fd;
}

static inline struct dat *made_open(const struct made_dat_spec *s)
{
	struct made_dat m = made_dat(s);
	char err[256] = "";
	struct dat *d = dat_open_fd(made_file(&m, m.len), "made", err, sizeof(err));

	free(m.bytes);
	if (!d)
		fail_msg("%s", err);
	return d;
}

/* --- pages -------------------------------------------------------------------------------------
 */

struct made_page {
	uint8_t bytes[RING_PAGE_SIZE];
	uint64_t ts, last;
	uint32_t len;
};

static inline void made_page_begin(struct made_page *p, uint64_t ts)
{
	*p = (struct made_page){.ts = ts, .last = ts};
}

static inline void made_page_event(struct made_page *p, uint64_t ts, const void *data, size_t len)
{
	uint32_t size = ring_event_size(len);
	uint8_t *at = p->bytes + RING_PAGE_HDR + p->len;

	assert_true(p->len + size <= RING_PAGE_DATA);
	memcpy(ring_put_event(at, size, (uint32_t)(ts - p->last)), data, len);
	p->len += size;
	p->last = ts;
}

static inline void made_page_end(struct made_page *p, uint64_t lost)
{
	ring_finish_page(p->bytes, p->ts, p->len, lost);
}

#endif
