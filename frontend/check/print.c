// SPDX-License-Identifier: GPL-2.0-or-later
/* print.c - the lines of `hvtrace check-host`, and what they come to. */
#include "frontend/check/check.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "frontend/lib/json.h"

static const char *const verdict_words[] = {
	[CHECK_NOTE] = "",
	[CHECK_OK] = "ok",
	[CHECK_FAILED] = "FAILED",
	[CHECK_NOT_TRIED] = "not tried",
};

void check_say(struct check_result *res, enum check_verdict verdict, const char *fmt, ...)
{
	va_list ap;

	res->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(res->text, sizeof(res->text), fmt, ap);
	va_end(ap);
}

/* Some of it may come from a guest. */
static void print_text(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == '\x7f' ? '?' : *text, out);
}

static void put_check(struct json *j, const char *name, const struct check_result *res)
{
	static const char *const words[] = {
		[CHECK_NOTE] = "note",
		[CHECK_OK] = "ok",
		[CHECK_FAILED] = "failed",
		[CHECK_NOT_TRIED] = "not tried",
	};

	json_begin_object(j, NULL);
	json_put_text(j, "name", name);
	json_put_text(j, "verdict", words[res->verdict]);
	json_put_text(j, "text", res->text);
	json_end_object(j);
}

static void put_summary(const struct check_report *r, bool good)
{
	struct json *j = r->json;

	json_end_array(j);
	json_put_bool(j, "good", good);
	json_put_bool(j, "interrupted", check_is_cancelled(r));
	json_put_number(j, "ok", r->count[CHECK_OK]);
	json_put_number(j, "failed", r->count[CHECK_FAILED]);
	json_put_number(j, "not_tried", r->count[CHECK_NOT_TRIED]);
	json_end_object(j);
}

void check_begin(struct check_report *r)
{
	if (!r->json)
		return;
	json_begin_object(r->json, NULL);
	json_begin_array(r->json, "checks");
}

void check_print(struct check_report *r, const char *name, const struct check_result *res)
{
	r->count[res->verdict]++;
	if (r->json) {
		put_check(r->json, name, res);
		return;
	}
	fprintf(r->out, "%-24s %-9s%s", name, verdict_words[res->verdict], *res->text ? "  " : "");
	print_text(r->out, res->text);
	fputc('\n', r->out);
	fflush(r->out);
}

bool check_is_cancelled(const struct check_report *r)
{
	return r->cancelled && r->cancelled(r->arg);
}

void checks_run(struct check_report *r, const struct check *rows, void *arg)
{
	for (; rows->name && !check_is_cancelled(r); rows++) {
		struct check_result res = {.verdict = CHECK_NOTE};

		rows->run(arg, &res);
		check_print(r, rows->name, &res);
	}
}

void checks_skip(struct check_report *r, const char *what, const char *why)
{
	struct check_result res;

	check_say(&res, CHECK_NOT_TRIED, "%s", why);
	check_print(r, what, &res);
}

void check_cannot(struct check_report *r, const char *what, const char *why)
{
	struct check_result res;

	check_say(&res, access("/dev/kvm", R_OK | W_OK) ? CHECK_NOT_TRIED : CHECK_FAILED, "%s",
		  why);
	check_print(r, what, &res);
}

bool check_summary(struct check_report *r)
{
	bool good = !r->count[CHECK_FAILED] && !check_is_cancelled(r);

	if (r->json)
		put_summary(r, good);
	else
		fprintf(r->out, "\n%s: %u ok, %u failed, %u not tried\n",
			check_is_cancelled(r)	    ? "interrupted"
			: !good			    ? "something does not work"
			: r->count[CHECK_NOT_TRIED] ? "what was tried works"
						    : "everything works",
			r->count[CHECK_OK], r->count[CHECK_FAILED], r->count[CHECK_NOT_TRIED]);
	return good && !fflush(r->out) && !ferror(r->out);
}
