// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pprof.c - a profile for pprof: profile.proto's message Profile, compressed by gzip. Its fields
 * are written one by one, so that only the tree is in memory.
 */
#include "frontend/export/message.h"
#include "frontend/export/pprof.pb-c.h"
#include "frontend/export/call-profile.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Fields of Profile. */
enum { FIELD_SAMPLE = 2, FIELD_LOCATION = 4, FIELD_FUNCTION = 5, FIELD_STRING = 6 };

/* Texts before those of the tree, of which number 0 follows. */
enum { TEXT_NONE, TEXT_CALLS, TEXT_COUNT, TEXT_TIME, TEXT_NS, TEXT_TASK, TEXTS };

enum { PACKED_MAX = 64 << 10, GZIP = 16 };

struct pprof {
	struct export *x;
	const struct calltree *tree;
	struct text packed; /* what was not compressed yet */
	z_stream z;
	bool *used; /* names, as functions */
};

/* --- gzip --------------------------------------------------------------------------------------
 */

static void compress_packed(struct pprof *p, int flush)
{
	uint8_t out[16384];

	p->z.next_in = (Bytef *)p->packed.buf;
	p->z.avail_in = (uInt)p->packed.len;
	do {
		p->z.next_out = out;
		p->z.avail_out = sizeof(out);
		deflate(&p->z, flush);
		fwrite(out, 1, sizeof(out) - p->z.avail_out, p->x->out);
	} while (!p->z.avail_out);
	p->x->failed |= p->packed.failed;
	p->packed.len = 0;
}

static void written(struct pprof *p)
{
	if (p->packed.len >= PACKED_MAX)
		compress_packed(p, Z_NO_FLUSH);
}

static void write_field(struct pprof *p, unsigned int field, const ProtobufCMessage *message)
{
	message_add(&p->packed, field, message);
	written(p);
}

static void write_text(struct pprof *p, const char *text)
{
	message_add_bytes(&p->packed, FIELD_STRING, text, strlen(text));
	written(p);
}

/* --- the profile -------------------------------------------------------------------------------
 */

/* The names that a tree has no use for are 0, which no location is. */
static uint64_t location_of(uint32_t name)
{
	return (uint64_t)name + 1;
}

/* Functions from the innermost on, and the task that they are below. False: it is in no tree. */
static bool walk_up(const struct pprof *p, uint32_t node, uint64_t *stack, size_t *nr,
		    uint32_t *task)
{
	const struct call_node *n = p->tree->node;

	*nr = 0;
	for (; n[node].parent != CALLTREE_ROOT; node = n[node].parent) {
		if (n[node].parent == CALLTREE_NONE || *nr == CALLTREE_DEPTH)
			return false;
		stack[(*nr)++] = location_of(n[node].name);
	}
	*task = n[node].name;
	return *nr;
}

static void write_sample(struct pprof *p, uint32_t node)
{
	const struct call_stats *st = &p->tree->node[node].st;
	int64_t value[] = {(int64_t)st->calls, (int64_t)st->self};
	uint64_t stack[CALLTREE_DEPTH];
	Pprof__Sample sample = PPROF__SAMPLE__INIT;
	Pprof__Label label = PPROF__LABEL__INIT, *labels[] = {&label};
	uint32_t task;

	if (node == CALLTREE_ROOT || (!st->calls && !st->self) ||
	    !walk_up(p, node, stack, &sample.n_location_id, &task))
		return;
	for (size_t i = 0; i < sample.n_location_id; i++)
		p->used[stack[i] - 1] = true;
	label.key = TEXT_TASK;
	label.str = TEXTS + (int64_t)task;
	sample.location_id = stack;
	sample.n_value = p->tree->has_time ? 2 : 1;
	sample.value = value;
	sample.n_label = 1;
	sample.label = labels;
	write_field(p, FIELD_SAMPLE, &sample.base);
}

static void write_function(struct pprof *p, uint32_t name)
{
	Pprof__Function function = PPROF__FUNCTION__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT;
	Pprof__Line line = PPROF__LINE__INIT, *lines[] = {&line};

	function.id = line.function_id = location.id = location_of(name);
	function.name = TEXTS + (int64_t)name;
	location.n_line = 1;
	location.line = lines;
	write_field(p, FIELD_FUNCTION, &function.base);
	write_field(p, FIELD_LOCATION, &location.base);
}

static void write_head(struct pprof *p)
{
	const struct calltree *t = p->tree;
	Pprof__Profile head = PPROF__PROFILE__INIT;
	Pprof__ValueType calls = PPROF__VALUE_TYPE__INIT, time = PPROF__VALUE_TYPE__INIT;
	Pprof__ValueType *types[] = {&calls, &time};
	uint8_t *at = (uint8_t *)text_begin(&p->packed, 128);

	if (!at)
		return;
	calls.type = TEXT_CALLS;
	calls.unit = TEXT_COUNT;
	time.type = TEXT_TIME;
	time.unit = TEXT_NS;
	head.n_sample_type = t->has_time ? 2 : 1;
	head.sample_type = types;
	head.duration_nanos = t->until > t->from ? (int64_t)(t->until - t->from) : 0;
	head.default_sample_type = t->has_time ? TEXT_TIME : TEXT_CALLS;
	text_end(&p->packed, (const char *)at + pprof__profile__pack(&head, at));
}

static void write_profile(struct pprof *p)
{
	static const char *const texts[TEXTS] = {"",	 "calls",	"count",
						 "time", "nanoseconds", "task"};

	write_head(p);
	for (uint32_t i = 0; i < p->tree->nr; i++)
		write_sample(p, i);
	for (uint32_t i = 0; i < p->tree->nr_names; i++)
		if (p->used[i])
			write_function(p, i);
	for (size_t i = 0; i < TEXTS; i++)
		write_text(p, texts[i]);
	for (uint32_t i = 0; i < p->tree->nr_names; i++)
		write_text(p, p->tree->name[i]);
	compress_packed(p, Z_FINISH);
}

static void pprof_end(void *self)
{
	struct pprof p = {.x = call_profile_export(self), .tree = call_profile_tree(self)};

	p.used = calloc(p.tree->nr_names, sizeof(*p.used));
	if (p.used && deflateInit2(&p.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, 8,
				   Z_DEFAULT_STRATEGY) == Z_OK) {
		write_profile(&p);
		deflateEnd(&p.z);
	} else {
		p.x->failed = true;
	}
	text_free(&p.packed);
	free(p.used);
}

static void *pprof_begin(struct export *x)
{
	return call_profile_new(x);
}

const struct export_format export_pprof = {
	.name = "pprof",
	.about = "for pprof: calls, and nanoseconds of function_graph, of each stack",
	.binary = true,
	.begin = pprof_begin,
	.event = call_profile_event,
	.end = pprof_end,
	.free = call_profile_free,
};
