// SPDX-License-Identifier: GPL-2.0-or-later
/* bls.c - see bls.h */
#include "frontend/image/boot/bls.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Whose values are kept, and where; what may be there several times is joined by spaces. */
static const struct bls_key {
	const char *name;
	size_t at, size;
	bool joined;
} keys[] = {
#define KEY(name, field, joined)                                                                   \
	{                                                                                          \
		name, offsetof(struct bls_entry, field),                                           \
			sizeof(((struct bls_entry *)NULL)->field), joined                          \
	}
	KEY("title", title, false),	      KEY("version", version, false),
	KEY("machine-id", machine_id, false), KEY("sort-key", sort_key, false),
	KEY("linux", kernel, false),	      KEY("initrd", initrds, true),
	KEY("options", options, true),
#undef KEY
};

static const struct bls_key *find_key(const char *name)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

/* False: it is too long. */
static bool keep_value(struct bls_entry *e, const struct bls_key *key, const char *value)
{
	char *to = (char *)e + key->at;

	if (!key->joined)
		*to = '\0';
	return boot_add_word(to, key->size, value, strlen(value));
}

/* As the specification spells that of this processor. */
static bool is_for_other_processor(const struct boot_line *line)
{
	return !strcmp(line->key, "architecture") && strcasecmp(line->value, "x64") != 0;
}

/* "name+3-1": three tries left, one done. */
static void take_counters_off(struct bls_entry *e)
{
	char *plus = strrchr(e->id, '+');
	size_t left;

	if (!plus)
		return;
	left = strspn(plus + 1, "0123456789");
	if (!left || plus[1 + left + strspn(plus + 1 + left, "-0123456789")])
		return;
	e->gave_up = strspn(plus + 1, "0") == left;
	*plus = '\0';
}

/* 1: it is one; 0: it is not for here; -errno with a line. */
static int parse_entry(struct bls_entry *e, char *text, const struct boot_why *why)
{
	const struct bls_key *key;
	struct boot_line line;

	while (boot_next_line(&text, &line)) {
		if (is_for_other_processor(&line))
			return 0;
		key = find_key(line.key);
		if (key && !keep_value(e, key, line.value))
			return boot_fail(why, -EFBIG, "%s: what stands behind '%s' is too long",
					 e->source.path, key->name);
	}
	if (!*e->title)
		boot_copy(e->title, sizeof(e->title), e->id, strlen(e->id));
	return *e->kernel != '\0';
}

static int add_file(struct bls *bls, const struct boot_disk *disk, const struct boot_file *folder,
		    const char *name, const struct boot_why *why)
{
	struct bls_entry *e = &bls->entry[bls->nr];
	struct text text = {0};
	int ret;

	memset(e, 0, sizeof(*e));
	boot_copy(e->id, sizeof(e->id), name, strlen(name) - strlen(".conf"));
	take_counters_off(e);
	ret = boot_path(&e->source, folder->volume, folder->path, name);
	if (!ret)
		ret = boot_read(disk, &e->source, &text);
	if (!ret)
		ret = parse_entry(e, text.buf, why);
	text_free(&text);
	if (ret > 0)
		bls->nr++;
	/* A link to nowhere, and what is no file. */
	return ret > 0 || ret == -ENOENT ? 0 : ret;
}

int bls_add_folder(struct bls *bls, const struct boot_disk *disk, const struct boot_file *folder,
		   const struct boot_why *why)
{
	struct text names = {0};
	int ret = boot_list(disk, folder, ".conf", &names);

	if (!ret && names.len && !bls->entry) {
		bls->entry = calloc(BLS_MAX, sizeof(*bls->entry));
		ret = bls->entry ? 0 : -ENOMEM;
	}
	for (const char *name = ""; !ret && bls->nr < BLS_MAX && (name = boot_next(&names, name));)
		ret = add_file(bls, disk, folder, name, why);
	text_free(&names);
	return ret;
}

/* --- their order ------------------------------------------------------------------------------ */

static int by_grub(const void *pa, const void *pb)
{
	const struct bls_entry *a = pa, *b = pb;

	return -boot_version_compare(a->id, b->id);
}

static int by_sort_key(const struct bls_entry *a, const struct bls_entry *b)
{
	int order;

	if (!*a->sort_key != !*b->sort_key)
		return *a->sort_key ? -1 : 1;
	if (!*a->sort_key)
		return 0;
	order = strcmp(a->sort_key, b->sort_key);
	if (!order)
		order = strcmp(a->machine_id, b->machine_id);
	return order ? order : -boot_version_compare(a->version, b->version);
}

static int by_systemd(const void *pa, const void *pb)
{
	const struct bls_entry *a = pa, *b = pb;
	int order;

	if (a->gave_up != b->gave_up)
		return a->gave_up ? 1 : -1;
	order = by_sort_key(a, b);
	return order ? order : by_grub(a, b);
}

void bls_sort_as_systemd(struct bls *bls)
{
	if (bls->nr)
		qsort(bls->entry, bls->nr, sizeof(*bls->entry), by_systemd);
}

void bls_sort_as_grub(struct bls *bls)
{
	if (bls->nr)
		qsort(bls->entry, bls->nr, sizeof(*bls->entry), by_grub);
}

void bls_free(struct bls *bls)
{
	free(bls->entry);
	*bls = (struct bls){NULL, 0};
}
