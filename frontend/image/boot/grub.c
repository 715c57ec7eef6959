// SPDX-License-Identifier: GPL-2.0-or-later
/* grub.c - GRUB 2: where its script is, its menu, and which entry of it is started. */
#include "frontend/image/boot/grub.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of /boot, or of what is mounted there. */
static const char *const places[] = {"/boot/grub/grub.cfg", "/boot/grub2/grub.cfg",
				     "/grub/grub.cfg", "/grub2/grub.cfg"};

/* --- its menu --------------------------------------------------------------------------------- */

int grub_add_entry(struct grub *g, const struct grub_entry *e)
{
	struct grub_entry *more = grub_alloc(&g->memory, sizeof(*more));

	if (!more)
		return grub_too_much(g);
	*more = *e;
	more->next = NULL;
	if (!more->source) {
		struct boot_file *f = grub_alloc(&g->memory, sizeof(*f));

		if (!f)
			return grub_too_much(g);
		*f = g->file;
		more->source = f;
	}
	*g->menu_end = more;
	g->menu_end = &more->next;
	return 0;
}

/* The folder is that of $boot, else of $root. */
static int find_bls(struct grub *g, struct bls *bls)
{
	static const char *const devices[] = {"boot", "root"};
	static const char *const folders[] = {"/loader/entries", "/boot/loader/entries"};
	char path[BOOT_PATH_MAX];
	struct boot_file f;
	int ret = 0;

	for (size_t i = 0; !ret && !bls->nr && i < 4; i++) {
		const char *device = grub_get(g, devices[i / 2], 4);

		snprintf(path, sizeof(path), "(%s)%s", device, folders[i % 2]);
		if (*device && !grub_path(g, path, &f))
			ret = bls_add_folder(bls, g->disk, &f, g->why);
	}
	return ret;
}

/* GRUB makes commands of it, too: values may have variables. */
static int add_bls_entry(struct grub *g, const struct bls_entry *from)
{
	struct text script = {0};
	struct grub_entry e = {0};
	struct boot_file *source;
	struct grub_node *body;
	unsigned int line;
	const char *copy;
	int ret = -ENOMEM;

	text_printf(&script, "linux %s %s\n", from->kernel,
		    *from->options ? from->options : "$default_kernelopts");
	if (*from->initrds)
		text_printf(&script, "initrd %s\n", from->initrds);
	copy = script.failed ? NULL : grub_string(&g->memory, script.buf, script.len);
	if (copy)
		ret = grub_parse(&g->memory, copy, script.len, &body, &line);
	text_free(&script);
	if (ret == -EINVAL)
		return boot_fail(g->why, ret, "%s: a quote has no end", from->source.path);
	e.id = ret ? NULL : grub_string(&g->memory, from->id, strlen(from->id));
	e.title = ret ? NULL : grub_string(&g->memory, from->title, strlen(from->title));
	if (!e.id || !e.title)
		return grub_too_much(g);
	source = grub_alloc(&g->memory, sizeof(*source));
	if (!source)
		return grub_too_much(g);
	*source = from->source;
	e.source = source;
	e.body = body;
	return grub_add_entry(g, &e);
}

int grub_add_bls(struct grub *g)
{
	struct bls bls = {0};
	int ret = find_bls(g, &bls);

	bls_sort_as_grub(&bls);
	for (unsigned int i = 0; !ret && i < bls.nr; i++)
		ret = add_bls_entry(g, &bls.entry[i]);
	bls_free(&bls);
	return ret;
}

/* --- which entry is started ------------------------------------------------------------------- */

/* The first part of a default "1>2"; ">>" is a '>' of a title. Gives what is behind. */
static const char *first_part(const char *wanted, char *part, size_t size)
{
	size_t len = 0;

	for (; *wanted; wanted++) {
		if (*wanted == '>' && wanted[1] != '>')
			return wanted + 1;
		wanted += *wanted == '>';
		if (len < size - 1)
			part[len++] = *wanted;
		part[len] = '\0';
	}
	return wanted;
}

/* By its number, identity or title; else the first one. */
static const struct grub_entry *find_entry(const struct grub_entry *menu, const char *wanted)
{
	const struct grub_entry *e = menu;
	char *end;
	unsigned long n = strtoul(wanted, &end, 10);

	if (isdigit((unsigned char)*wanted) && !*end) {
		for (; e && n; n--)
			e = e->next;
		return e ? e : menu;
	}
	while (e && *wanted && strcmp(e->id, wanted) != 0 && strcmp(e->title, wanted) != 0)
		e = e->next;
	return e ? e : menu;
}

static int run_entry(struct grub *g, const struct grub_entry *e)
{
	boot_set_title(g->out, e->title);
	g->out->source = g->file = *e->source;
	return grub_call(g, e->body, e->args);
}

static int run_default(struct grub *g)
{
	const char *rest = grub_get(g, "default", strlen("default"));

	for (unsigned int depth = 0; depth < GRUB_DEPTH_MAX; depth++) {
		char part[256] = "";
		const struct grub_entry *e;
		int ret;

		rest = first_part(rest, part, sizeof(part));
		e = find_entry(g->menu, part);
		if (!e)
			return boot_fail(g->why, -ENOENT, "%s: its menu has no entry",
					 g->file.path);
		g->menu = NULL;
		g->menu_end = &g->menu;
		ret = run_entry(g, e);
		if (ret || !e->is_submenu)
			return ret;
	}
	return grub_too_much(g);
}

/* --- its script ------------------------------------------------------------------------------- */

static int run_script(const struct boot_disk *disk, const struct boot_file *f, struct boot_entry *e,
		      const struct boot_why *why)
{
	struct grub g;
	int ret = grub_init(&g, disk, f, e, why);

	if (!ret)
		ret = grub_run_file(&g, f);
	/* Without a menu it may have loaded something. */
	if (!ret && (g.menu || !*e->kernel.path)) {
		g.file = *f;
		ret = run_default(&g);
	}
	grub_exit(&g);
	return ret;
}

/* A short one in the EFI system partition tells where the other one is: folders of \EFI. */
static int run_stub(const struct boot_disk *disk, unsigned int volume, struct boot_entry *e,
		    const struct boot_why *why)
{
	struct text names = {0};
	struct boot_file folder;
	int ret = boot_path(&folder, volume, "/", "/EFI");

	if (!ret)
		ret = boot_list(disk, &folder, "", &names);
	if (!ret)
		ret = -ENOENT;
	for (const char *name = "";
	     ret == -ENOENT && !*why->err && (name = boot_next(&names, name));) {
		char path[BOOT_PATH_MAX];
		struct boot_file f;

		snprintf(path, sizeof(path), "%.255s/grub.cfg", name);
		if (!boot_path(&f, volume, "/EFI", path))
			ret = run_script(disk, &f, e, why);
	}
	text_free(&names);
	return ret;
}

int boot_find_grub(const struct boot_disk *disk, struct boot_entry *e, const struct boot_why *why)
{
	struct boot_file f;
	int ret = -ENOENT;

	for (unsigned int v = 0; v < disk->nr_volumes; v++)
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			if (!boot_path(&f, v, "/", places[i]))
				ret = run_script(disk, &f, e, why);
			if (ret != -ENOENT || *why->err)
				return ret;
		}
	for (unsigned int v = 0; ret == -ENOENT && !*why->err && v < disk->nr_volumes; v++)
		if (!strcmp(disk->volumes[v].type, "vfat"))
			ret = run_stub(disk, v, e, why);
	return ret;
}
