// SPDX-License-Identifier: GPL-2.0-or-later
/* grub-run.c - what a script does, but for its commands; see grub.h. */
#include "frontend/image/boot/grub.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int grub_too_much(const struct grub *g)
{
	return boot_fail(g->why, -E2BIG, "%s: what it does takes too much time or memory",
			 g->file.path);
}

bool grub_works(struct grub *g, unsigned int n)
{
	if (n > GRUB_WORK_MAX - g->work)
		g->work = GRUB_WORK_MAX;
	else
		g->work += n;
	return g->work < GRUB_WORK_MAX;
}

static bool one_more_step(struct grub *g)
{
	return ++g->steps <= GRUB_STEPS_MAX && grub_works(g, 1);
}

/* --- commands --------------------------------------------------------------------------------- */

static bool is_assignment(const char *word)
{
	size_t len =
		strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return len && word[len] == '=';
}

static const struct grub_function *find_function(struct grub *g, const char *name)
{
	for (const struct grub_function *f = g->functions; f && grub_works(g, 1); f = f->next)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

static int run_command(struct grub *g, const struct grub_node *n)
{
	const struct grub_function *f;
	const char **argv;
	unsigned int argc;
	int ret = grub_expand(g, n->words, &argv, &argc);

	if (ret || !argc)
		return ret;
	if (argc == 1 && is_assignment(argv[0])) {
		const char *is = strchr(argv[0], '=');

		g->failed = false;
		return grub_set(g, argv[0], (size_t)(is - argv[0]), is + 1);
	}
	f = find_function(g, argv[0]);
	if (f)
		return grub_call(g, f->body, (struct grub_args){argv + 1, argc - 1});
	if (!grub_command(g, n, argc, argv, &ret))
		g->failed = true; /* what is not known may want a key, a screen or a module */
	return ret;
}

int grub_call(struct grub *g, const struct grub_node *body, struct grub_args args)
{
	struct grub_args before = g->args;
	int ret;

	if (g->depth == GRUB_DEPTH_MAX)
		return grub_too_much(g);
	g->depth++;
	g->args = args;
	ret = grub_run(g, body);
	g->args = before;
	g->depth--;
	g->leave = GRUB_STAY;
	return ret;
}

/* --- if and loops ------------------------------------------------------------------------------
 */

static int run_condition(struct grub *g, const struct grub_node *n, bool *holds)
{
	int ret;

	g->failed = false;
	ret = grub_run(g, n->condition);
	*holds = !g->failed;
	return ret;
}

static int run_if(struct grub *g, const struct grub_node *n)
{
	bool holds;
	int ret = run_condition(g, n, &holds);

	return ret || g->leave ? ret : grub_run(g, holds ? n->body : n->otherwise);
}

/* One more time. */
static bool goes_on(struct grub *g)
{
	bool on = g->leave == GRUB_STAY || g->leave == GRUB_CONTINUE;

	if (g->leave != GRUB_RETURN)
		g->leave = GRUB_STAY;
	return on;
}

static int run_while(struct grub *g, const struct grub_node *n)
{
	bool holds = true;
	int ret = 0;

	do {
		if (!one_more_step(g))
			return grub_too_much(g);
		ret = run_condition(g, n, &holds);
		if (ret || g->leave || holds != (n->kind == GRUB_WHILE))
			break;
		ret = grub_run(g, n->body);
	} while (!ret && goes_on(g));
	return ret;
}

static int run_for(struct grub *g, const struct grub_node *n)
{
	const char **value;
	unsigned int nr;
	int ret = n->words ? grub_expand(g, n->words->next, &value, &nr) : -EINVAL;

	for (unsigned int i = 0; !ret && i < nr; i++) {
		ret = grub_set(g, n->words->text, n->words->len, value[i]);
		if (!ret)
			ret = grub_run(g, n->body);
		if (!goes_on(g))
			break;
	}
	return ret;
}

static int run_node(struct grub *g, const struct grub_node *n)
{
	switch (n->kind) {
	case GRUB_IF:
		return run_if(g, n);
	case GRUB_WHILE:
	case GRUB_UNTIL:
		return run_while(g, n);
	case GRUB_FOR:
		return run_for(g, n);
	case GRUB_COMMAND:
		break;
	}
	return run_command(g, n);
}

/* No deeper than the parser lets it, within the calls that there may be. */
int grub_run(struct grub *g, const struct grub_node *first)
{
	int ret = 0;

	for (const struct grub_node *n = first; !ret && n && !g->leave; n = n->next)
		ret = one_more_step(g) ? run_node(g, n) : grub_too_much(g);
	return ret;
}

/* --- files ------------------------------------------------------------------------------------ */

static int parse_and_run(struct grub *g, const struct text *text)
{
	const char *copy = grub_string(&g->memory, text->buf, text->len);
	struct grub_node *first;
	unsigned int line = 0;
	int ret;

	if (!copy)
		return grub_too_much(g);
	ret = grub_parse(&g->memory, copy, text->len, &first, &line);
	if (ret == -ENOMEM)
		return grub_too_much(g);
	if (ret)
		return boot_fail(g->why, ret, "%s: line %u: it is no script of GRUB", g->file.path,
				 line);
	ret = grub_run(g, first);
	g->leave = GRUB_STAY;
	return ret;
}

int grub_run_file(struct grub *g, const struct boot_file *file)
{
	const struct boot_file before = g->file;
	struct text text = {0};
	int ret;

	if (g->depth == GRUB_DEPTH_MAX)
		return grub_too_much(g);
	ret = boot_read(g->disk, file, &text);
	if (!ret) {
		g->depth++;
		g->file = *file;
		ret = parse_and_run(g, &text);
		g->file = before;
		g->depth--;
	}
	text_free(&text);
	return ret;
}

/* --- its beginning -----------------------------------------------------------------------------
 */

/* It would be started so. */
static bool has_efi(const struct boot_disk *disk)
{
	for (unsigned int v = 0; v < disk->nr_volumes; v++)
		if (!strcmp(disk->volumes[v].type, "vfat"))
			return true;
	return false;
}

static int set(struct grub *g, const char *name, const char *value)
{
	return grub_set(g, name, strlen(name), value);
}

/* What GRUB sets itself, and scripts look at. */
static int set_platform(struct grub *g)
{
	static const char *const features[] = {
		"feature_200_final",
		"feature_all_video_module",
		"feature_chainloader_bpb",
		"feature_menuentry_id",
		"feature_menuentry_options",
		"feature_nativedisk_cmd",
		"feature_ntldr",
		"feature_platform_search_hint",
		"feature_timeout_style",
		"feature_default_font_path",
	};
	bool efi = has_efi(g->disk);
	int ret = set(g, "grub_platform", efi ? "efi" : "pc");

	if (!ret)
		ret = set(g, "grub_cpu", efi ? "x86_64" : "i386");
	for (size_t i = 0; !ret && i < sizeof(features) / sizeof(features[0]); i++)
		ret = set(g, features[i], "y");
	return ret;
}

int grub_init(struct grub *g, const struct boot_disk *disk, const struct boot_file *file,
	      struct boot_entry *out, const struct boot_why *why)
{
	char folder[BOOT_PATH_MAX], device[16], prefix[BOOT_PATH_MAX + 32];
	int ret;

	*g = (struct grub){.disk = disk, .why = why, .file = *file, .out = out};
	g->menu_end = &g->menu;
	boot_folder_of(file, folder);
	grub_device_name(file->volume, device);
	snprintf(prefix, sizeof(prefix), "(%s)%s", device, folder);
	ret = set(g, "root", device);
	if (!ret)
		ret = set(g, "prefix", prefix);
	if (!ret)
		ret = set(g, "config_directory", prefix);
	return ret ? ret : set_platform(g);
}

void grub_exit(struct grub *g)
{
	grub_free(&g->memory);
}
