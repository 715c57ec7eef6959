// SPDX-License-Identifier: GPL-2.0-or-later
/* texts.c - strings of a configuration, by what they are for. */
#include "frontend/config/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum { TEXT_MAX = 1024, NAME_MAX_LEN = 63 };

/* What is wrong with one, for the end of a message; NULL: nothing. */
typedef const char *(*objection)(struct reading *r, const char *s);

static const char *check_text(struct reading *r, const char *s)
{
	(void)r;
	if (!*s)
		return "it is empty; leave the key out";
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return "it has a control character";
	return NULL;
}

static const char *check_name(struct reading *r, const char *s)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-");

	(void)r;
	if (!len || s[len] || len > NAME_MAX_LEN || *s == '-')
		return "a name has a-z, 0-9 and -, up to 63 of them, and no - first";
	return NULL;
}

/* As the kernel's globs, where a [ without an end is one that nobody means. */
static const char *check_glob(struct reading *r, const char *s)
{
	const char *wrong = check_text(r, s);

	for (; !wrong && *s; s++) {
		const char *end;

		if (*s == '\\' && s[1]) {
			s++;
		} else if (*s == '[') {
			/* A ] that comes first is one of its characters. */
			end = s + 1 + (s[1] == '!');
			end = *end ? strchr(end + 1, ']') : NULL;
			if (!end)
				wrong = "this glob has a [ without its ]; write \\\\[ for a [";
			else
				s = end;
		}
	}
	return wrong;
}

static const char *check_path(struct reading *r, const char *s)
{
	return *s != '/' ? "a path begins with /" : check_text(r, s);
}

static const char *check_socket(struct reading *r, const char *s)
{
	const struct sockaddr_un *any = NULL;

	return strlen(s) >= sizeof(any->sun_path) ? "the path of a socket has 107 bytes at most"
						  : check_path(r, s);
}

static bool is_port(const char *s)
{
	size_t len = strspn(s, "0123456789");

	return len && len < 6 && !s[len] && strtoul(s, NULL, 10) > 0 &&
	       strtoul(s, NULL, 10) < 65536;
}

static const char *check_listen(struct reading *r, const char *s)
{
	const char *colon = strrchr(s, ':');
	size_t host = colon ? (size_t)(colon - s) : 0;

	if (!*s)
		return NULL;
	if (*s == '/')
		return check_socket(r, s);
	/* ":PORT" is all addresses of the host. */
	if (!colon || !is_port(colon + 1) || strpbrk(s, " \t\n/") ||
	    (host && (*s == '[') != (s[host - 1] == ']')) || (*s != '[' && memchr(s, ':', host)))
		return "it takes HOST:PORT, [ADDRESS]:PORT, :PORT for all addresses, the path of "
		       "a socket, or \"\" for nowhere";
	return NULL;
}

static const char *check_setting(struct reading *r, const char *s)
{
	const char *wrong = check_text(r, s);

	return wrong || r->words->is_setting(s) ? wrong
						: "it takes FILE=VALUE, or FILE+=VALUE to add";
}

static const char *check_url(struct reading *r, const char *s)
{
	size_t scheme = !strncmp(s, "http://", 7) ? 7 : !strncmp(s, "https://", 8) ? 8 : 0;

	(void)r;
	if (!scheme || !s[scheme] || strpbrk(s, " \t\n\"@"))
		return "it takes http://HOST:PORT or https://HOST:PORT; who it is for the server "
		       "is said by user and password-file";
	return NULL;
}

static const objection objections[] = {
	[KIND_TEXT] = check_text,  [KIND_NAME] = check_name,	    [KIND_GLOB] = check_glob,
	[KIND_PATH] = check_path,  [KIND_LISTEN] = check_listen,    [KIND_TEXTS] = check_text,
	[KIND_GLOBS] = check_glob, [KIND_SETTINGS] = check_setting, [KIND_URLS] = check_url,
};

static objection objection_of(const struct config_row *row)
{
	return row->kind == KIND_PATH && !strcmp(row->key, "socket") ? check_socket
								     : objections[row->kind];
}

const char *kind_read_text(struct reading *r, const struct config_row *row,
			   const struct toml_value *v)
{
	const char *wrong;

	if (row->kind == KIND_TRACER)
		return kind_one_of(r, row, v, r->words->tracer) < 0 ? NULL : v->string;
	if (row->kind == KIND_CLOCK)
		return kind_one_of(r, row, v, r->words->clock) < 0 ? NULL : v->string;
	if (v->kind != TOML_STRING) {
		kind_refuse(r, row, v, "text in quotes");
		return NULL;
	}
	wrong = strlen(v->string) > TEXT_MAX ? "it is longer than 1024 bytes"
					     : objection_of(row)(r, v->string);
	if (!wrong)
		return v->string;
	/* There may be a password before the @, which is not to get into a log. */
	if (row->kind == KIND_URLS && strchr(v->string, '@'))
		config_complain(&r->complaints, v->line, "%s: %s", row->key, wrong);
	else
		config_complain(&r->complaints, v->line, "%s = \"%.80s\": %s", row->key, v->string,
				wrong);
	return NULL;
}
