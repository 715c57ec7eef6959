// SPDX-License-Identifier: GPL-2.0-or-later
/* grub-command.c - the commands of a script that matter here; see grub.h. */
#include "frontend/image/boot/grub.h"

#include <errno.h>
#include <string.h>

/* A command as it is called. */
struct call {
	struct grub *g;
	const struct grub_node *node;
	unsigned int argc; /* without its name */
	const char *const *argv;
	const char *name;
};

/* "--fs-uuid" and such may also be written "--fs-uuid=VALUE": that goes to *value, else NULL. */
static bool is_option(const char *arg, const char *option, const char **value)
{
	size_t len = strlen(option);

	*value = NULL;
	if (strncmp(arg, option, len) != 0)
		return false;
	if (arg[len] == '=')
		*value = arg + len + 1;
	return !arg[len] || arg[len] == '=';
}

/* --- variables -------------------------------------------------------------------------------- */

static int cmd_set(const struct call *c)
{
	const char *is = c->argc ? strchr(c->argv[0], '=') : NULL;

	if (!is)
		return 0;
	return grub_set(c->g, c->argv[0], (size_t)(is - c->argv[0]), is + 1);
}

static int cmd_unset(const struct call *c)
{
	return c->argc ? grub_set(c->g, c->argv[0], strlen(c->argv[0]), "") : 0;
}

static bool is_wanted(const struct call *c, unsigned int from, const char *name, size_t len)
{
	for (unsigned int i = from; i < c->argc; i++)
		if (!strncmp(c->argv[i], name, len) && !c->argv[i][len])
			return true;
	return from >= c->argc;
}

/* A backslash stands before another one, and before the end of a line. */
static void unescape(char *value)
{
	char *to = value;

	for (; *value; value++) {
		if (*value == '\\' && value[1])
			value++;
		*to++ = *value;
	}
	*to = '\0';
}

static int load_env(const struct call *c, char *text, unsigned int names)
{
	int ret = 0;
	char *end, *is;

	for (; !ret && *text; text = end) {
		end = text + strcspn(text, "\n");
		if (*end)
			*end++ = '\0';
		is = strchr(text, '=');
		if (*text == '#' || !is || !is_wanted(c, names, text, (size_t)(is - text)))
			continue;
		unescape(is + 1);
		ret = grub_set(c->g, text, (size_t)(is - text), is + 1);
	}
	return ret;
}

static int cmd_load_env(const struct call *c)
{
	const char *name = "$prefix", *value;
	struct text text = {0};
	struct boot_file f;
	char path[BOOT_PATH_MAX + 64];
	unsigned int i = 0;
	int ret;

	snprintf(path, sizeof(path), "%s/grubenv", grub_get(c->g, "prefix", strlen("prefix")));
	name = path;
	for (; i < c->argc && c->argv[i][0] == '-'; i++) {
		if (!is_option(c->argv[i], "--file", &value) && strcmp(c->argv[i], "-f") != 0)
			continue;
		name = value ? value : i + 1 < c->argc ? c->argv[++i] : name;
	}
	ret = grub_path(c->g, name, &f);
	if (!ret)
		ret = boot_read(c->g->disk, &f, &text);
	if (!ret)
		ret = load_env(c, text.buf, i);
	text_free(&text);
	c->g->failed = ret == -ENOENT;
	return ret == -ENOENT ? 0 : ret;
}

/* --- what is where ---------------------------------------------------------------------------- */

struct search {
	enum { SEARCH_UUID, SEARCH_LABEL, SEARCH_FILE } by;
	const char *variable, *what;
};

/* 1: it is that volume; 0; -errno. */
static int is_sought(const struct call *c, const struct search *s, unsigned int volume)
{
	const struct boot_volume *v = &c->g->disk->volumes[volume];
	struct boot_file f;
	int64_t size;

	if (s->by == SEARCH_UUID)
		return *v->uuid && !strcasecmp(v->uuid, s->what);
	if (s->by == SEARCH_LABEL)
		return *v->label && !strcmp(v->label, s->what);
	if (boot_path(&f, volume, "/", s->what))
		return 0;
	size = boot_size(c->g->disk, &f);
	return size == -ENOENT ? 0 : size < 0 ? (int)size : 1;
}

static int do_search(const struct call *c, const struct search *s)
{
	char device[16];
	int is = 0;

	for (unsigned int v = 0; s->what && v < c->g->disk->nr_volumes; v++) {
		is = is_sought(c, s, v);
		if (is < 0)
			return is;
		if (is) {
			grub_device_name(v, device);
			return grub_set(c->g, s->variable, strlen(s->variable), device);
		}
	}
	c->g->failed = true;
	return 0;
}

static int cmd_search(const struct call *c)
{
	struct search s = {SEARCH_FILE, "root", NULL};
	const char *value;

	for (unsigned int i = 0; i < c->argc; i++) {
		const char *arg = c->argv[i];

		if (is_option(arg, "--set", &value))
			s.variable = value ? value : s.variable;
		else if (!strcmp(arg, "-s") && i + 1 < c->argc)
			s.variable = c->argv[++i];
		else if (!strcmp(arg, "--fs-uuid") || !strcmp(arg, "-u"))
			s.by = SEARCH_UUID;
		else if (!strcmp(arg, "--label") || !strcmp(arg, "-l"))
			s.by = SEARCH_LABEL;
		else if (!strcmp(arg, "--hint") && i + 1 < c->argc)
			i++;
		else if (*arg != '-')
			s.what = arg;
	}
	return do_search(c, &s);
}

/* "search.fs_uuid UUID VARIABLE HINT..." */
static int search_by(const struct call *c, struct search s)
{
	s.what = c->argc ? c->argv[0] : NULL;
	s.variable = c->argc > 1 ? c->argv[1] : "root";
	return do_search(c, &s);
}

static int cmd_search_uuid(const struct call *c)
{
	return search_by(c, (struct search){.by = SEARCH_UUID});
}

static int cmd_search_label(const struct call *c)
{
	return search_by(c, (struct search){.by = SEARCH_LABEL});
}

static int cmd_search_file(const struct call *c)
{
	return search_by(c, (struct search){.by = SEARCH_FILE});
}

static int cmd_test(const struct call *c)
{
	unsigned int n = c->argc;
	bool holds;
	int ret;

	if (!strcmp(c->name, "[") && n && !strcmp(c->argv[n - 1], "]"))
		n--;
	ret = grub_test(c->g, n, c->argv, &holds);
	c->g->failed = !holds;
	return ret;
}

static int cmd_source(const struct call *c)
{
	struct boot_file f;
	int ret = c->argc ? grub_path(c->g, c->argv[0], &f) : -ENOENT;

	if (!ret)
		ret = grub_run_file(c->g, &f);
	c->g->failed = ret == -ENOENT && !*c->g->why->err;
	return c->g->failed ? 0 : ret;
}

/* --- entries ---------------------------------------------------------------------------------- */

static int cmd_function(const struct call *c)
{
	struct grub_function *f;

	if (!c->argc || !c->node->has_body)
		return 0;
	f = grub_alloc(&c->g->memory, sizeof(*f));
	if (!f)
		return grub_too_much(c->g);
	*f = (struct grub_function){c->argv[0], c->node->body, c->g->functions};
	c->g->functions = f;
	return 0;
}

static bool takes_value(const char *option)
{
	static const char *const those[] = {"--class", "--users", "--hotkey", "--source"};

	for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++)
		if (!strcmp(those[i], option))
			return true;
	return false;
}

/* Options stand before and behind the title; whatever else is behind it are parameters. */
static int add_entry(const struct call *c, bool is_submenu)
{
	struct grub_entry e = {.id = "", .body = c->node->body, .is_submenu = is_submenu};
	const char **params = grub_alloc(&c->g->memory, (c->argc + 1) * sizeof(*params)), *value;

	if (!params)
		return grub_too_much(c->g);
	e.args.arg = params;
	for (unsigned int i = 0; i < c->argc; i++) {
		const char *arg = c->argv[i];
		bool has_next = i + 1 < c->argc;

		if (is_option(arg, "--id", &value))
			e.id = value ? value : has_next ? c->argv[++i] : "";
		else if (takes_value(arg))
			i++;
		else if (strncmp(arg, "--", 2) != 0 && !e.title)
			e.title = arg;
		else if (strncmp(arg, "--", 2) != 0)
			params[e.args.nr++] = arg;
	}
	return e.title && c->node->has_body ? grub_add_entry(c->g, &e) : 0;
}

static int cmd_menuentry(const struct call *c)
{
	return add_entry(c, false);
}

static int cmd_submenu(const struct call *c)
{
	return add_entry(c, true);
}

static int cmd_blscfg(const struct call *c)
{
	return grub_add_bls(c->g);
}

/* --- what is loaded --------------------------------------------------------------------------- */

static int too_long(const struct call *c)
{
	return boot_fail(c->g->why, -EFBIG,
			 "%s: '%s': what stands behind it is too long, or no path", c->g->file.path,
			 c->name);
}

/* One with spaces is put into quotes, as GRUB does. */
static bool add_arg(char *cmdline, const char *arg)
{
	char quoted[BOOT_CMDLINE_MAX];
	size_t len = strlen(arg);

	if (!strpbrk(arg, " \t"))
		return boot_add_word(cmdline, BOOT_CMDLINE_MAX, arg, len);
	if (len + 3 > sizeof(quoted))
		return false;
	snprintf(quoted, sizeof(quoted), "\"%s\"", arg);
	return boot_add_word(cmdline, BOOT_CMDLINE_MAX, quoted, len + 2);
}

static int cmd_linux(const struct call *c)
{
	struct boot_entry *e = c->g->out;

	if (!c->argc)
		return 0;
	*e->cmdline = '\0';
	e->nr_initrds = 0;
	if (grub_path(c->g, c->argv[0], &e->kernel))
		return too_long(c);
	for (unsigned int i = 1; i < c->argc; i++)
		if (!add_arg(e->cmdline, c->argv[i]))
			return too_long(c);
	return 0;
}

static int cmd_initrd(const struct call *c)
{
	struct boot_file f;

	c->g->out->nr_initrds = 0;
	for (unsigned int i = 0; i < c->argc; i++) {
		if (!strncmp(c->argv[i], "newc:", 5))
			return boot_fail(c->g->why, -EOPNOTSUPP,
					 "%s: an initrd is made of single files (newc:)",
					 c->g->file.path);
		if (grub_path(c->g, c->argv[i], &f) || !boot_add_initrd(c->g->out, &f))
			return too_long(c);
	}
	return 0;
}

/* --- others ----------------------------------------------------------------------------------- */

static int cmd_true(const struct call *c)
{
	(void)c;
	return 0;
}

static int cmd_false(const struct call *c)
{
	c->g->failed = true;
	return 0;
}

static int cmd_return(const struct call *c)
{
	c->g->failed = c->argc && strcmp(c->argv[0], "0") != 0;
	c->g->leave = GRUB_RETURN;
	return 0;
}

static int cmd_break(const struct call *c)
{
	c->g->leave = GRUB_BREAK;
	return 0;
}

static int cmd_continue(const struct call *c)
{
	c->g->leave = GRUB_CONTINUE;
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const struct call *c);
} commands[] = {
	{"set", cmd_set},
	{"unset", cmd_unset},
	{"export", cmd_true},
	{"load_env", cmd_load_env},
	{"save_env", cmd_true},
	{"search", cmd_search},
	{"search.fs_uuid", cmd_search_uuid},
	{"search.fs_label", cmd_search_label},
	{"search.file", cmd_search_file},
	{"[", cmd_test},
	{"test", cmd_test},
	{"source", cmd_source},
	{".", cmd_source},
	{"configfile", cmd_source},
	{"function", cmd_function},
	{"menuentry", cmd_menuentry},
	{"submenu", cmd_submenu},
	{"blscfg", cmd_blscfg},
	{"linux", cmd_linux},
	{"linux16", cmd_linux},
	{"linuxefi", cmd_linux},
	{"initrd", cmd_initrd},
	{"initrd16", cmd_initrd},
	{"initrdefi", cmd_initrd},
	{"insmod", cmd_true},
	{"echo", cmd_true},
	{"true", cmd_true},
	{"false", cmd_false},
	{"return", cmd_return},
	{"break", cmd_break},
	{"continue", cmd_continue},
};

bool grub_command(struct grub *g, const struct grub_node *node, unsigned int argc,
		  const char *const *argv, int *ret)
{
	const struct call c = {g, node, argc - 1, argv + 1, argv[0]};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, argv[0]) != 0)
			continue;
		g->failed = false;
		*ret = commands[i].run(&c);
		return true;
	}
	*ret = 0;
	return false;
}
