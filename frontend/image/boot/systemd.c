// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * systemd.c - systemd-boot: loader/loader.conf of the EFI system partition, and the entries there
 * and in the extended boot loader partition.
 */
#include "frontend/image/boot/bls.h"

#include <errno.h>
#include <string.h>

#define ENTRIES "/loader/entries"

/* A file that is there: 1; -errno. */
static int has_file(const struct boot_disk *disk, unsigned int volume, const char *path)
{
	struct boot_file f;
	int64_t size = boot_path(&f, volume, "/", path);

	if (!size)
		size = boot_size(disk, &f);
	return size == -ENOENT ? 0 : size < 0 ? (int)size : 1;
}

/* Which volume its configuration is on: there is one; 0; -errno. */
static int find_esp(const struct boot_disk *disk, unsigned int *volume)
{
	int has = 0;

	for (unsigned int v = 0; !has && v < disk->nr_volumes; v++) {
		if (strcmp(disk->volumes[v].type, "vfat") != 0)
			continue;
		*volume = v;
		has = has_file(disk, v, "/loader/loader.conf");
		if (!has)
			has = has_file(disk, v, "/EFI/systemd/systemd-bootx64.efi");
	}
	return has;
}

static int read_entries(const struct boot_disk *disk, unsigned int esp, struct bls *bls,
			const struct boot_why *why)
{
	struct boot_file folder;
	int ret = boot_path(&folder, esp, "/", ENTRIES);

	if (!ret)
		ret = bls_add_folder(bls, disk, &folder, why);
	for (unsigned int v = 0; !ret && v < disk->nr_volumes; v++) {
		folder.volume = v;
		if (v != esp)
			ret = bls_add_folder(bls, disk, &folder, why);
	}
	return ret;
}

/* The value of default in loader.conf: "" without one. */
static int read_default(const struct boot_disk *disk, unsigned int esp, char *glob, size_t size)
{
	struct text text = {0};
	struct boot_line line;
	struct boot_file f;
	char *at;
	int ret = boot_path(&f, esp, "/", "/loader/loader.conf");

	*glob = '\0';
	if (!ret)
		ret = boot_read(disk, &f, &text);
	at = text.buf;
	while (!ret && boot_next_line(&at, &line))
		if (!strcmp(line.key, "default"))
			boot_copy(glob, size, line.value, strlen(line.value));
	text_free(&text);
	return ret == -ENOENT ? 0 : ret;
}

/* Of the names as the menu has them, with ".conf" or without. */
static const struct bls_entry *choose(const struct bls *bls, const char *glob)
{
	char name[sizeof(bls->entry->id) + sizeof(".conf")];

	for (unsigned int i = 0; *glob && i < bls->nr; i++) {
		const struct bls_entry *e = &bls->entry[i];

		snprintf(name, sizeof(name), "%s.conf", e->id);
		if (glob_pattern_match(glob, name) || glob_pattern_match(glob, e->id))
			return e;
	}
	return &bls->entry[0];
}

static int take_initrds(struct boot_entry *e, const struct bls_entry *from)
{
	struct boot_file f;
	size_t n;

	for (const char *at = from->initrds; *at; at += n + (at[n] == ' ')) {
		char path[BOOT_PATH_MAX];

		n = strcspn(at, " ");
		boot_copy(path, sizeof(path), at, n);
		if (n && (boot_path(&f, from->source.volume, "/", path) || !boot_add_initrd(e, &f)))
			return -EFBIG;
	}
	return 0;
}

static int take(struct boot_entry *e, const struct bls_entry *from, const struct boot_why *why)
{
	e->source = from->source;
	boot_set_title(e, from->title);
	boot_copy(e->cmdline, sizeof(e->cmdline), from->options, strlen(from->options));
	if (boot_path(&e->kernel, from->source.volume, "/", from->kernel) || take_initrds(e, from))
		return boot_fail(why, -EFBIG, "%s: its paths are too long or too many",
				 from->source.path);
	return 0;
}

int boot_find_systemd(const struct boot_disk *disk, struct boot_entry *e,
		      const struct boot_why *why)
{
	unsigned int esp = 0;
	struct bls bls = {0};
	char glob[128];
	int ret = find_esp(disk, &esp);

	if (ret <= 0)
		return ret ? ret : -ENOENT;
	ret = read_entries(disk, esp, &bls, why);
	if (!ret)
		ret = bls.nr ? read_default(disk, esp, glob, sizeof(glob)) : -ENOENT;
	if (!ret) {
		bls_sort_as_systemd(&bls);
		ret = take(e, choose(&bls, glob), why);
	}
	bls_free(&bls);
	return ret;
}
