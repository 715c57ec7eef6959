// SPDX-License-Identifier: GPL-2.0-or-later
/* likely.c - see likely.h */
#include "tracer/guest/likely.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST  "__start_annotated_branch_profile"
#define BEHIND "__stop_annotated_branch_profile"

#define TABLE_MAX 200000 /* kernels have some ten thousand */
#define ENTRY_MAX 128	 /* of one */
#define PIECE	  64	 /* what is read of a name at a time: it crosses no page */

/* --- layout ----------------------------------------------------------------------------------- */

static bool member(const struct guestsym *gs, const char *path, uint32_t size, uint32_t *offset)
{
	struct guestsym_field f;

	if (guestsym_field(gs, path, &f) || f.size != size || f.offset > ENTRY_MAX - size)
		return false;
	*offset = f.offset;
	return true;
}

bool likely_layout_learn(const struct guestsym *gs, struct likely_layout *at)
{
	return guestsym_addr(gs, FIRST) && guestsym_addr(gs, BEHIND) &&
	       !guestsym_type_size(gs, "ftrace_likely_data", &at->size) && at->size &&
	       at->size <= ENTRY_MAX && member(gs, "ftrace_likely_data.data.func", 8, &at->func) &&
	       member(gs, "ftrace_likely_data.data.file", 8, &at->file) &&
	       member(gs, "ftrace_likely_data.data.line", 4, &at->line) &&
	       member(gs, "ftrace_likely_data.data.correct", 8, &at->correct) &&
	       member(gs, "ftrace_likely_data.data.incorrect", 8, &at->incorrect) &&
	       member(gs, "ftrace_likely_data.constant", 8, &at->constant);
}

size_t likely_table(const struct guest_kernel *g, const struct guestsym *gs,
		    const struct likely_layout *at, uint64_t *first)
{
	uint64_t from = guestsym_addr(gs, FIRST), behind = guestsym_addr(gs, BEHIND), n = 0;

	if (from && behind > from)
		n = (behind - from) / at->size;
	*first = from + g->slide;
	return n < TABLE_MAX ? n : TABLE_MAX;
}

/* --- reading ---------------------------------------------------------------------------------- */

static uint64_t word(const uint8_t *entry, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, entry + offset, sizeof(value));
	return value;
}

static struct likely likely_at(const struct likely_layout *at, const uint8_t *entry)
{
	struct likely l = {
		.func = word(entry, at->func),
		.file = word(entry, at->file),
		.correct = word(entry, at->correct),
		.incorrect = word(entry, at->incorrect),
		.constant = word(entry, at->constant),
	};

	memcpy(&l.line, entry + at->line, sizeof(l.line));
	return l;
}

int likely_read(struct guest_kernel *g, const struct likely_layout *at, uint64_t va,
		struct likely *to, size_t n)
{
	uint8_t one[ENTRY_MAX], *many = n == 1 ? one : malloc(n * at->size + 1);
	int ret = many ? guest_read(g, va, many, n * at->size) : -ENOMEM;

	for (size_t i = 0; !ret && i < n; i++)
		to[i] = likely_at(at, many + i * at->size);
	if (many != one)
		free(many);
	return ret;
}

static void read_name(struct guest_kernel *g, uint64_t addr, char name[LIKELY_NAME_MAX])
{
	size_t len = 0;

	while (addr && len < LIKELY_NAME_MAX - 1) {
		size_t n = PIECE - (addr + len) % PIECE;

		n = n < LIKELY_NAME_MAX - 1 - len ? n : LIKELY_NAME_MAX - 1 - len;
		if (guest_read(g, addr + len, name + len, n))
			break;
		if (memchr(name + len, '\0', n))
			return;
		len += n;
	}
	name[len] = '\0';
}

void likely_func_name(struct guest_kernel *g, const struct likely *l, char name[LIKELY_NAME_MAX])
{
	read_name(g, l->func, name);
}

void likely_file_name(struct guest_kernel *g, const struct likely *l, char name[LIKELY_NAME_MAX])
{
	const char *slash;

	read_name(g, l->file, name);
	slash = strrchr(name, '/');
	if (slash)
		memmove(name, slash + 1, strlen(slash + 1) + 1);
}
