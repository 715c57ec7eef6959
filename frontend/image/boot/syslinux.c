// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * syslinux.c - extlinux, syslinux and isolinux: lines KEYWORD VALUE, the keywords in letters of any
 * size; what stands before the first LABEL is for all of them.
 */
#include "frontend/image/boot/local.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_MAX   256
#define INCLUDES_MAX 16

static const char *const places[] = {
	"/boot/extlinux/extlinux.conf",
	"/extlinux/extlinux.conf",
	"/boot/extlinux.conf",
	"/extlinux.conf",
	"/boot/syslinux/syslinux.cfg",
	"/syslinux/syslinux.cfg",
	"/boot/syslinux.cfg",
	"/syslinux.cfg",
	"/boot/isolinux/isolinux.cfg",
	"/isolinux/isolinux.cfg",
	"/isolinux.cfg",
};

struct label {
	char name[128], title[256];
	char kernel[BOOT_PATH_MAX], initrds[BOOT_CMDLINE_MAX], append[BOOT_CMDLINE_MAX];
	bool has_append;
};

struct config {
	const struct boot_disk *disk;
	const struct boot_why *why;
	struct boot_file file;
	char folder[BOOT_PATH_MAX];
	char wanted[128];	   /* DEFAULT */
	unsigned int menu_default; /* MENU DEFAULT: its number from 1 on; 0: none has it */
	unsigned int includes;
	struct label *label; /* [0]: what is for all */
	unsigned int nr;
};

static int too_long(const struct config *c, const struct boot_line *line)
{
	return boot_fail(c->why, -EFBIG, "%s: what stands behind '%.40s' is too long", c->file.path,
			 line->key);
}

static int keep(const struct config *c, const struct boot_line *line, char *to, size_t size)
{
	*to = '\0';
	return boot_add_word(to, size, line->value, strlen(line->value)) ? 0 : too_long(c, line);
}

/* --- keywords --------------------------------------------------------------------------------- */

static int key_default(struct config *c, const struct boot_line *line)
{
	return keep(c, line, c->wanted, sizeof(c->wanted));
}

static int key_label(struct config *c, const struct boot_line *line)
{
	struct label *l;

	if (c->nr + 1 == LABELS_MAX)
		return boot_fail(c->why, -EFBIG, "%s: it has too many labels", c->file.path);
	l = &c->label[++c->nr];
	*l = (struct label){.name = ""};
	return keep(c, line, l->name, sizeof(l->name));
}

static int key_kernel(struct config *c, const struct boot_line *line)
{
	struct label *l = &c->label[c->nr];

	return keep(c, line, l->kernel, sizeof(l->kernel));
}

static int key_initrd(struct config *c, const struct boot_line *line)
{
	struct label *l = &c->label[c->nr];

	return keep(c, line, l->initrds, sizeof(l->initrds));
}

static int key_append(struct config *c, const struct boot_line *line)
{
	struct label *l = &c->label[c->nr];

	l->has_append = true;
	if (!strcmp(line->value, "-")) { /* nothing, not even what is for all */
		*l->append = '\0';
		return 0;
	}
	return keep(c, line, l->append, sizeof(l->append));
}

static int parse_file(struct config *c, const struct boot_file *f);

static int key_include(struct config *c, const struct boot_line *line)
{
	struct boot_file f;
	int ret;

	if (c->includes++ == INCLUDES_MAX)
		return boot_fail(c->why, -ELOOP, "%s: it includes too many files", c->file.path);
	ret = boot_path(&f, c->file.volume, c->folder, line->value);
	if (!ret)
		ret = parse_file(c, &f);
	return ret == -ENOENT ? 0 : ret;
}

static bool is_word(const char *text, const char *word, const char **rest)
{
	size_t n = strlen(word);

	if (strncasecmp(text, word, n) != 0 || (text[n] && !isspace((unsigned char)text[n])))
		return false;
	*rest = text + n + strspn(text + n, " \t");
	return true;
}

static int key_menu(struct config *c, const struct boot_line *line)
{
	struct label *l = &c->label[c->nr];
	struct boot_line include = *line;
	const char *rest;

	if (is_word(line->value, "DEFAULT", &rest)) {
		c->menu_default = c->nr;
	} else if (is_word(line->value, "INCLUDE", &rest)) {
		include.value = rest;
		return key_include(c, &include);
	} else if (is_word(line->value, "LABEL", &rest)) {
		boot_copy(l->title, sizeof(l->title), rest, strlen(rest));
	}
	return 0;
}

static const struct {
	const char *name;
	int (*take)(struct config *c, const struct boot_line *line);
} keywords[] = {
	{"DEFAULT", key_default}, {"ONTIMEOUT", key_default}, {"LABEL", key_label},
	{"KERNEL", key_kernel},	  {"LINUX", key_kernel},      {"INITRD", key_initrd},
	{"APPEND", key_append},	  {"INCLUDE", key_include},   {"MENU", key_menu},
};

/* --- a file ----------------------------------------------------------------------------------- */

static int parse_line(struct config *c, const struct boot_line *line)
{
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (!strcasecmp(keywords[i].name, line->key))
			return keywords[i].take(c, line);
	return 0;
}

static int parse_file(struct config *c, const struct boot_file *f)
{
	struct text text = {0};
	struct boot_line line;
	char *at;
	int ret = boot_read(c->disk, f, &text);

	at = text.buf;
	while (!ret && boot_next_line(&at, &line))
		ret = parse_line(c, &line);
	text_free(&text);
	return ret;
}

/* --- the label that is started ------------------------------------------------------------------
 */

/* What DEFAULT names may be a menu program, which begins with the label that says so, or the first.
 */
static struct label *choose(struct config *c)
{
	for (unsigned int i = 1; *c->wanted && i <= c->nr; i++)
		if (!strcmp(c->label[i].name, c->wanted))
			return &c->label[i];
	if (c->menu_default)
		return &c->label[c->menu_default];
	return &c->label[1];
}

/* initrd= of the command line names files, too, and stays there. */
static const char *initrds_of(const struct label *l)
{
	const char *at = l->append;

	if (*l->initrds)
		return l->initrds;
	while (at && strncmp(at, "initrd=", 7) != 0) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? at + 7 : "";
}

static int take_initrds(const struct config *c, struct boot_entry *e, const char *at)
{
	struct boot_file f;
	size_t n;

	for (; *at && *at != ' '; at += n + (at[n] == ',')) {
		char path[BOOT_PATH_MAX];

		n = strcspn(at, ", ");
		boot_copy(path, sizeof(path), at, n);
		if (n &&
		    (boot_path(&f, c->file.volume, c->folder, path) || !boot_add_initrd(e, &f)))
			return boot_fail(c->why, -EFBIG,
					 "%s: its initrds are too many, or their paths too long",
					 c->file.path);
	}
	return 0;
}

static int take_label(const struct config *c, struct boot_entry *e, struct label *l)
{
	const char *title = *l->title ? l->title : l->name;

	if (!l->has_append)
		boot_copy(l->append, sizeof(l->append), c->label[0].append,
			  strlen(c->label[0].append));
	e->source = c->file;
	boot_set_title(e, title);
	boot_copy(e->cmdline, sizeof(e->cmdline), l->append, strlen(l->append));
	if (*l->kernel && boot_path(&e->kernel, c->file.volume, c->folder, l->kernel))
		return boot_fail(c->why, -EFBIG, "%s: the path of its kernel is too long",
				 c->file.path);
	return take_initrds(c, e, initrds_of(l));
}

static int find_file(struct config *c)
{
	int ret = -ENOENT;

	for (unsigned int v = 0; ret == -ENOENT && v < c->disk->nr_volumes; v++) {
		for (size_t i = 0; ret == -ENOENT && i < sizeof(places) / sizeof(places[0]); i++) {
			if (boot_path(&c->file, v, "/", places[i]))
				continue;
			boot_folder_of(&c->file, c->folder);
			ret = parse_file(c, &c->file);
		}
	}
	return ret;
}

int boot_find_syslinux(const struct boot_disk *disk, struct boot_entry *e,
		       const struct boot_why *why)
{
	struct config c = {.disk = disk, .why = why};
	int ret;

	c.label = calloc(LABELS_MAX, sizeof(*c.label));
	if (!c.label)
		return -ENOMEM;
	ret = find_file(&c);
	if (!ret)
		ret = c.nr ? take_label(&c, e, choose(&c))
			   : boot_fail(why, -ENOENT, "%s: it has no label", c.file.path);
	free(c.label);
	return ret;
}
