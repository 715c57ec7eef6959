// SPDX-License-Identifier: GPL-2.0-or-later
/* several.c - see several.h */
#include "frontend/decode/several.h"

#include <string.h>

#include "frontend/decode/guests.h"

enum { LABEL_LEN = 512 };

struct several_file *several_next(struct several_file *files, size_t nr)
{
	struct several_file *first = NULL;

	for (size_t i = 0; i < nr; i++) {
		struct several_file *f = &files[i];

		if (!f->ahead)
			f->next = records_next(f->records);
		f->ahead = true;
		if (f->next && (!first || f->next->time < first->next->time))
			first = f;
	}
	/* What is handed out is valid until the next one is read. */
	if (first)
		first->ahead = false;
	return first;
}

/* Without its folders, or the guest's. */
static const char *name_of(const struct several_file *f)
{
	const char *name = dat_title(f->dat), *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* A guest of a file that has several, and its instance, have the name that they have there. */
static const char *label_of(const struct several_file *f, const char *buffer, char *buf)
{
	if (!*buffer)
		return name_of(f);
	if (!dat_info(f->dat)->part)
		return buffer;
	snprintf(buf, LABEL_LEN, "%s%c%s", name_of(f), DAT_PART_COLON, buffer);
	return buf;
}

static size_t longer(size_t longest, const char *name)
{
	size_t len = strlen(name);

	return len > longest ? len : longest;
}

/* Of files and their buffers. */
static int longest_name(const struct several_file *files, size_t nr)
{
	char buf[LABEL_LEN];
	size_t longest = 0;

	for (size_t i = 0; i < nr; i++) {
		longest = longer(longest, name_of(&files[i]));
		for (size_t b = 0; b < dat_nr_buffers(files[i].dat); b++)
			longest = longer(longest, label_of(&files[i],
							   dat_buffer(files[i].dat, b)->name, buf));
	}
	return (int)longest;
}

static void print_heads(const struct several_file *files, size_t nr, int width, FILE *out)
{
	for (size_t i = 0; i < nr; i++) {
		if (width)
			fprintf(out, "%*s: ", width, name_of(&files[i]));
		fprintf(out, "cpus=%u\n", dat_buffer(files[i].dat, 0)->cpus);
	}
}

void several_print(struct several_file *files, size_t nr, FILE *out)
{
	const int width = nr > 1 ? longest_name(files, nr) : 0;
	const struct several_file *f;
	struct guests guests;
	char buf[LABEL_LEN];

	print_heads(files, nr, width, out);
	guests_begin(&guests, files, nr);
	while (!ferror(out) && (f = several_next(files, nr))) {
		const char *buffer = dat_buffer(f->dat, f->next->buffer)->name;

		if (width)
			fprintf(out, "%*s: ", width, label_of(f, buffer, buf));
		print_text(f->print, f->next, out);
	}
	guests_end();
}
