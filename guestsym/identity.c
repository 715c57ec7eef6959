// SPDX-License-Identifier: GPL-2.0-or-later
/* identity.c - which kernel an image is: its banner, release and build id. */
#include "guestsym/internal.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>

static const char banner_start[] = "Linux version ";

/* It is printed: there is nothing in it that a terminal obeys, nor a second line. */
static bool is_line(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/* In size bytes at va, of which all are in the image. */
static const char *banner_within(const struct elf_image *e, uint64_t va, uint64_t size)
{
	const uint8_t *begin = elf_image_at(e, va, size), *p = begin, *end = p ? p + size : NULL;
	size_t len = strlen(banner_start);

	for (; p && (p = memmem(p, end - p, banner_start, len)) != NULL; p += len) {
		const char *text = elf_image_string(e, va + (p - begin), BANNER_MAX);

		if (text && isdigit((unsigned char)text[len]) && is_line(text, strcspn(text, "\n")))
			return text;
	}
	return NULL;
}

/* The memory of a kernel that runs has no sections. */
static const char *banner_search(const struct elf_image *e)
{
	const struct elf_section *rodata = elf_image_section(e, ".rodata");
	const char *banner = NULL;

	if (elf_section_data(e, rodata))
		return banner_within(e, rodata->addr, rodata->size);
	for (size_t i = 0; i < e->nr_segs && !banner; i++)
		banner = banner_within(e, e->segs[i].va, e->segs[i].filesz);
	return banner;
}

static void read_banner(struct identity *id, const struct elf_image *e, const struct symbols *s)
{
	const char *banner = elf_image_string(e, symbols_addr(s, "linux_banner"), BANNER_MAX);
	size_t skip = strlen(banner_start), len;

	if (!banner || strncmp(banner, banner_start, skip) != 0)
		banner = banner_search(e);
	len = banner ? strcspn(banner, "\n") : 0;
	if (!banner || !is_line(banner, len))
		return;
	snprintf(id->banner, sizeof(id->banner), "%.*s", (int)len, banner);
	snprintf(id->release, sizeof(id->release), "%.*s", (int)strcspn(banner + skip, " \n"),
		 banner + skip);
}

/* One note section: entries of name size, description size, type, each part padded to 4 bytes. */
static void read_notes(struct identity *id, const uint8_t *p, uint64_t len)
{
	while (len >= 12) {
		uint64_t name = (get_u32(p) + UINT64_C(3)) & ~UINT64_C(3);
		uint64_t size = get_u32(p + 4), padded = (size + 3) & ~UINT64_C(3);

		if (name > len - 12 || padded > len - 12 - name)
			return;
		if (get_u32(p + 8) == NT_GNU_BUILD_ID && name == 4 && !memcmp(p + 12, "GNU", 4) &&
		    size <= BUILD_ID_MAX) {
			for (uint64_t i = 0; i < size; i++)
				snprintf(id->build_id + 2 * i, 3, "%02x", p[12 + name + i]);
			return;
		}
		p += 12 + name + padded;
		len -= 12 + name + padded;
	}
}

/* Without sections the notes are between symbols. */
static void read_build_id(struct identity *id, const struct elf_image *e, const struct symbols *s)
{
	const uint8_t *notes;
	uint64_t va;
	size_t len = table_entries(e, s, "__start_notes", "__stop_notes", 1, &va, &notes);

	for (size_t i = 0; i < e->nr_secs && !id->build_id[0]; i++)
		if (e->secs[i].type == SHT_NOTE)
			read_notes(id, e->data + e->secs[i].off, e->secs[i].size);
	if (!id->build_id[0] && len)
		read_notes(id, notes, len);
}

void identity_read(struct identity *id, const struct elf_image *e, const struct symbols *s)
{
	*id = (struct identity){0};
	read_banner(id, e, s);
	read_build_id(id, e, s);
}

bool identity_is_sound(const struct identity *id)
{
	return !id->banner[BANNER_MAX] && !id->release[RELEASE_MAX] &&
	       !id->build_id[2 * BUILD_ID_MAX] && is_line(id->banner, strlen(id->banner)) &&
	       name_is_plain(id->release, RELEASE_MAX) &&
	       strspn(id->build_id, "0123456789abcdef") == strlen(id->build_id);
}
