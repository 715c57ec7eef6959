// SPDX-License-Identifier: GPL-2.0-or-later
/* text.c - paths, strings and lines; see local.h. */
#include "frontend/image/boot/local.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

void boot_copy(char *to, size_t size, const char *from, size_t len)
{
	if (len > size - 1)
		len = size - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

void boot_set_title(struct boot_entry *e, const char *title)
{
	boot_copy(e->title, sizeof(e->title), title, strlen(title));
	for (char *c = e->title; *c; c++)
		if (is_control(*c))
			*c = ' ';
}

/* --- paths ----------------------------------------------------------------------------------- */

/* path[0..*len) ends without a slash; one more component. False: there is no room. */
static bool add_component(char *path, size_t *len, const char *name, size_t n)
{
	if (n == 2 && !memcmp(name, "..", 2)) {
		while (*len && path[*len - 1] != '/')
			--*len;
		*len -= *len > 0;
	} else if (n && !(n == 1 && *name == '.')) {
		if (n + 2 > BOOT_PATH_MAX - *len)
			return false;
		path[(*len)++] = '/';
		memcpy(path + *len, name, n);
		*len += n;
	}
	return true;
}

static bool add_path(char *path, size_t *len, const char *more)
{
	size_t n;

	for (const char *c = more; *c; c++)
		if (is_control(*c))
			return false;
	for (; *more; more += n + (more[n] == '/')) {
		n = strcspn(more, "/");
		if (!add_component(path, len, more, n))
			return false;
	}
	return true;
}

int boot_path(struct boot_file *f, unsigned int volume, const char *folder, const char *path)
{
	char made[BOOT_PATH_MAX];
	size_t len = 0;

	if ((*path != '/' && !add_path(made, &len, folder)) || !add_path(made, &len, path))
		return -ENOENT;
	if (!len)
		made[len++] = '/';
	boot_copy(f->path, sizeof(f->path), made, len);
	f->volume = volume;
	return 0;
}

void boot_folder_of(const struct boot_file *f, char folder[BOOT_PATH_MAX])
{
	const char *end = strrchr(f->path, '/');
	size_t len = end ? (size_t)(end - f->path) : 0;

	boot_copy(folder, BOOT_PATH_MAX, len ? f->path : "/", len ? len : 1);
}

/* --- entries --------------------------------------------------------------------------------- */

bool boot_add_word(char *cmdline, size_t size, const char *word, size_t len)
{
	size_t has = strlen(cmdline);

	if (!len)
		return true;
	if (len + 2 > size - has)
		return false;
	if (has)
		cmdline[has++] = ' ';
	boot_copy(cmdline + has, size - has, word, len);
	for (cmdline += has; *cmdline; cmdline++)
		if (is_control(*cmdline))
			*cmdline = ' ';
	return true;
}

bool boot_add_initrd(struct boot_entry *e, const struct boot_file *f)
{
	if (e->nr_initrds == BOOT_INITRDS_MAX)
		return false;
	e->initrd[e->nr_initrds++] = *f;
	return true;
}

/* --- versions -------------------------------------------------------------------------------- */

static bool is_of_version(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("~-^.", c));
}

static int compare_numbers(const char **a, const char **b)
{
	size_t la, lb;
	int order;

	*a += strspn(*a, "0");
	*b += strspn(*b, "0");
	la = strspn(*a, "0123456789");
	lb = strspn(*b, "0123456789");
	order = la != lb ? (la > lb ? 1 : -1) : memcmp(*a, *b, la);
	*a += la;
	*b += lb;
	return order;
}

/* Capital letters are less than small ones, as in ASCII. */
static int compare_letters(const char **a, const char **b)
{
	while (isalpha((unsigned char)**a) && **a == **b)
		++*a, ++*b;
	if (!isalpha((unsigned char)**a) && !isalpha((unsigned char)**b))
		return 0;
	if (!isalpha((unsigned char)**a) || !isalpha((unsigned char)**b))
		return isalpha((unsigned char)**a) ? 1 : -1;
	return (unsigned char)**a > (unsigned char)**b ? 1 : -1;
}

/* What separates parts, and which is why one version may be less than a part of it: 0 if both have
 * the same here, which is behind them then. */
static int compare_separators(const char **a, const char **b)
{
	static const char in_order[] = "~-^.";

	for (const char *c = in_order; *c; c++) {
		if (**a == *c && **b == *c) {
			++*a, ++*b;
			return 0;
		}
		/* Before the end of a version comes '~' only. */
		if (*c == '~' && (**a == '~' || **b == '~'))
			return **a == '~' ? -1 : 1;
		if (*c == '~' && (!**a || !**b))
			return **a ? 1 : **b ? -1 : 0;
		if (**a == *c || **b == *c)
			return **a == *c ? -1 : 1;
	}
	return 0;
}

int boot_version_compare(const char *a, const char *b)
{
	int order = 0;

	while (!order && (*a || *b)) {
		while (*a && !is_of_version(*a))
			a++;
		while (*b && !is_of_version(*b))
			b++;
		order = compare_separators(&a, &b);
		if (order || (!*a && !*b))
			break;
		if (isdigit((unsigned char)*a) || isdigit((unsigned char)*b))
			order = compare_numbers(&a, &b);
		else
			order = compare_letters(&a, &b);
	}
	return order;
}

/* --- lines ----------------------------------------------------------------------------------- */

bool boot_next_line(char **at, struct boot_line *line)
{
	while (**at) {
		char *begin = *at + strspn(*at, " \t\r"), *end = begin + strcspn(begin, "\n"),
		     *value;

		*at = *end ? end + 1 : end;
		while (end > begin && strchr(" \t\r", end[-1]))
			end--;
		if (end == begin || *begin == '#')
			continue;
		*end = '\0';
		value = begin + strcspn(begin, " \t");
		line->key = begin;
		if (*value)
			*value++ = '\0';
		line->value = value + strspn(value, " \t");
		return true;
	}
	return false;
}
