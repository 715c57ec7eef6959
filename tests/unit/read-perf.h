/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read-perf.h - walks a perf.data, in the form of a file or of a pipe, as far as hvtrace writes
 * them: each record is where the one before ends, and what it says is within it.
 */
#ifndef HVTRACE_TESTS_READ_PERF_H
#define HVTRACE_TESTS_READ_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { READ_PERF_ATTRS = 64, READ_PERF_ATTR_SIZE = 112 };

/* A record, and of a sample what is in it. */
struct read_perf_record {
	uint32_t type;
	const uint8_t *body;
	size_t len;
	uint64_t id, ip, time, period, nr; /* the stack begins with PERF_CONTEXT_KERNEL */
	int32_t pid;
	uint32_t cpu, raw_len;
	const uint8_t *chain, *raw;
};

struct read_perf {
	bool is_file;
	uint64_t sample_type; /* of all events */
	uint64_t id[READ_PERF_ATTRS], config[READ_PERF_ATTRS];
	size_t nr_attrs;
	const uint8_t *at, *end; /* records that are left */
	uint64_t last;		 /* the time of the sample before */
	uint64_t features;
	const uint8_t *tracing; /* the formats */
	size_t tracing_len;
};

static inline uint64_t read_perf_u64(const uint8_t *at)
{
	uint64_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

static inline uint32_t read_perf_u32(const uint8_t *at)
{
	uint32_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

static inline bool read_perf_attr(struct read_perf *p, const uint8_t *at, uint64_t id)
{
	struct perf_event_attr attr = {0};

	memcpy(&attr, at, READ_PERF_ATTR_SIZE);
	if (attr.size != READ_PERF_ATTR_SIZE || !attr.sample_id_all ||
	    (p->nr_attrs && attr.sample_type != p->sample_type))
		return false;
	p->sample_type = attr.sample_type;
	if (p->nr_attrs < READ_PERF_ATTRS) {
		p->id[p->nr_attrs] = id;
		p->config[p->nr_attrs] = attr.config;
	}
	p->nr_attrs++;
	return true;
}

static inline bool read_perf_file_attrs(struct read_perf *p, const uint8_t *bytes, size_t len)
{
	uint64_t at = read_perf_u64(bytes + 24), size = read_perf_u64(bytes + 32);
	const size_t each = READ_PERF_ATTR_SIZE + 16;

	if (at > len || size > len - at || size % each)
		return false;
	for (uint64_t i = 0; i < size; i += each) {
		uint64_t ids = read_perf_u64(bytes + at + i + READ_PERF_ATTR_SIZE);

		if (ids > len - 8 || read_perf_u64(bytes + at + i + each - 8) != 8 ||
		    !read_perf_attr(p, bytes + at + i, read_perf_u64(bytes + ids)))
			return false;
	}
	return true;
}

static inline bool read_perf_file_features(struct read_perf *p, const uint8_t *bytes, size_t len)
{
	const uint8_t *at = p->end;

	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t offset, size;

		if (!(p->features >> bit & 1))
			continue;
		if ((size_t)(bytes + len - at) < 16)
			return false;
		offset = read_perf_u64(at);
		size = read_perf_u64(at + 8);
		if (offset > len || size > len - offset)
			return false;
		if (bit == 1) {
			p->tracing = bytes + offset;
			p->tracing_len = size;
		}
		at += 16;
	}
	return true;
}

/* False: it is none. */
static inline bool read_perf_begin(struct read_perf *p, const void *file, size_t len)
{
	const uint8_t *bytes = file;
	uint64_t at, size;

	*p = (struct read_perf){.at = bytes + 16, .end = bytes + len};
	if (len < 16 || memcmp(bytes, "PERFILE2", 8) != 0)
		return false;
	if (read_perf_u64(bytes + 8) == 16)
		return true;
	if (len < 104 || read_perf_u64(bytes + 8) != 104 ||
	    read_perf_u64(bytes + 16) != READ_PERF_ATTR_SIZE + 16)
		return false;
	p->is_file = true;
	at = read_perf_u64(bytes + 40);
	size = read_perf_u64(bytes + 48);
	p->features = read_perf_u64(bytes + 72);
	if (at != 104 || size > len - at)
		return false;
	p->at = bytes + at;
	p->end = p->at + size;
	return read_perf_file_attrs(p, bytes, len) && read_perf_file_features(p, bytes, len);
}

static inline bool read_perf_sample(struct read_perf *p, struct read_perf_record *r)
{
	const uint8_t *at = r->body, *end = at + r->len;
	bool known = false;

	if (r->len < 48 + 4)
		return false;
	r->id = read_perf_u64(at);
	r->ip = read_perf_u64(at + 8);
	r->pid = (int32_t)read_perf_u32(at + 16);
	r->time = read_perf_u64(at + 24);
	r->cpu = read_perf_u32(at + 32);
	r->period = read_perf_u64(at + 40);
	at += 48;
	if (p->sample_type & PERF_SAMPLE_CALLCHAIN) {
		r->nr = read_perf_u64(at);
		r->chain = at + 8;
		if (r->nr > (size_t)(end - r->chain) / 8)
			return false;
		at = r->chain + 8 * r->nr;
	}
	if (end - at < 4)
		return false;
	r->raw_len = read_perf_u32(at);
	r->raw = at + 4;
	for (size_t i = 0; i < p->nr_attrs && i < READ_PERF_ATTRS; i++)
		known |= p->id[i] == r->id;
	if (!known || r->time < p->last || r->raw_len != (size_t)(end - r->raw))
		return false;
	p->last = r->time;
	return true;
}

/* Of one that is for a pipe: what the header of a file has. False: it lies. */
static inline bool read_perf_own(struct read_perf *p, const struct read_perf_record *r)
{
	uint64_t size;

	if (r->type == 64) /* PERF_RECORD_HEADER_ATTR */
		return r->len == READ_PERF_ATTR_SIZE + 8 &&
		       read_perf_attr(p, r->body, read_perf_u64(r->body + READ_PERF_ATTR_SIZE));
	if (r->type == 80 && r->len >= 8) /* PERF_RECORD_HEADER_FEATURE */
		p->features |= UINT64_C(1) << (read_perf_u64(r->body) & 63);
	if (r->type != 66) /* PERF_RECORD_HEADER_TRACING_DATA */
		return true;
	size = read_perf_u32(r->body);
	if (size > (size_t)(p->end - p->at) || size % 8)
		return false;
	p->features |= 2;
	p->tracing = p->at;
	p->tracing_len = size;
	p->at += size;
	return true;
}

/* 1 with the next one, 0 at the end, -1: it is none. */
static inline int read_perf_next(struct read_perf *p, struct read_perf_record *r)
{
	size_t size, left = (size_t)(p->end - p->at);

	if (!left)
		return 0;
	*r = (struct read_perf_record){0};
	size = left < 8 ? 0 : read_perf_u32(p->at + 4) >> 16;
	if (size < 8 || size > left || size % 8)
		return -1;
	r->type = read_perf_u32(p->at);
	r->body = p->at + 8;
	r->len = size - 8;
	p->at += size;
	if (r->type == PERF_RECORD_SAMPLE && !read_perf_sample(p, r))
		return -1;
	return read_perf_own(p, r) ? 1 : -1;
}

#endif
