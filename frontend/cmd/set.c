// SPDX-License-Identifier: GPL-2.0-or-later
/* set.c - `hvtrace set`: write to a file of a trace that is under way. */
#include "frontend/cmd/command.h"
#include "frontend/control/client.h"
#include "frontend/lib/options.h"
#include "frontend/session/connect.h"
#include "frontend/session/suggest.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct set_options {
	const char *guest;
	bool append, make, remove;
	const char *file;
	char **words; /* what to write; none: standard input */
	int nr_words;
};

static const struct option_usage set_usage = {
	"hvtrace set [OPTION]... FILE [VALUE]...\n"
	"       hvtrace set [OPTION]... --make | --remove instances/NAME",
	"Writes to a file of a trace that hvtrace run or hvtrace attach has under way; it needs no\n"
	"mount. FILE is called as on the mount. As with `echo VALUE > FILE`, what was in it goes and a\n"
	"line end is added; without a VALUE what to write is read from standard input. Put -- before a\n"
	"VALUE that begins with a dash.",
	"hvtrace set set_ftrace_filter 'vfs_*'\n"
	"hvtrace set -a set_event sched:sched_switch\n"
	"hvtrace set --make instances/mine",
};

/* --- writing ------------------------------------------------------------------------------ */

static int write_all(struct control_client *c, const char *data, size_t len)
{
	while (len) {
		ssize_t n = control_write(c, data, len);

		if (n <= 0)
			return n ? (int)n : -EIO;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* All words at once, as echo does: what one write says is taken or refused as a whole. */
static int write_words(struct control_client *c, const struct set_options *o)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int rc = -ENOMEM;

	if (!f)
		return rc;
	for (int i = 0; i < o->nr_words; i++)
		fprintf(f, "%s%c", o->words[i], i + 1 < o->nr_words ? ' ' : '\n');
	if (!fclose(f))
		rc = write_all(c, text, len);
	free(text);
	return rc;
}

static int write_input(struct control_client *c)
{
	char buf[65536];

	for (;;) {
		ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));
		int rc = n > 0 ? write_all(c, buf, (size_t)n) : 0;

		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n || rc)
			return rc;
	}
}

/* writing: it was opened. */
static int write_file(struct control_client *c, const struct set_options *o, bool *writing)
{
	int rc = control_open(c, o->file, O_WRONLY | (o->append ? O_APPEND : O_TRUNC)), closed;

	if (rc < 0)
		return rc;
	*writing = true;
	rc = o->nr_words ? write_words(c, o) : write_input(c);
	/* Filters take effect now. */
	closed = control_close(c);
	return rc ? rc : closed;
}

/* --- what was wrong ----------------------------------------------------------------------- */

static void say_open(struct control_client *c, const struct set_options *o, int rc)
{
	const struct trace_reader reader = connect_reader(c);
	char hint[512] = "";

	if (rc == -ENOENT && !o->make)
		suggest_file(&reader, o->file, hint, sizeof(hint));
	if (o->make && rc == -EPERM)
		snprintf(hint, sizeof(hint), "; only instances/NAME can be made");
	fprintf(stderr, "hvtrace: cannot %s %s: %s%s\n",
		o->make	    ? "make"
		: o->remove ? "remove"
			    : "open",
		o->file, control_strerror(rc), hint);
}

static void say_write(struct control_client *c, const struct set_options *o, int rc)
{
	const struct trace_reader reader = connect_reader(c);
	struct text why = {0};
	bool noted;

	suggest_words(&reader, rc, o->file, (const char *const *)o->words, o->nr_words, &why);
	text_putc(&why, '\0');
	noted = !why.failed && strchr(why.buf, '\n');
	fprintf(stderr, "hvtrace: cannot write %s: %s\n", o->file,
		why.failed || noted || !*why.buf ? control_strerror(rc) : why.buf);
	if (noted)
		fputs(why.buf, stderr);
	text_free(&why);
}

/* --- the command -------------------------------------------------------------------------- */

static int set(const struct set_options *o)
{
	struct control_client *c = connect_to_trace(o->guest, -1);
	bool writing = false;
	int rc;

	if (!c)
		return EXIT_FAILED;
	if (o->make)
		rc = control_mkdir(c, o->file);
	else if (o->remove)
		rc = control_rmdir(c, o->file);
	else
		rc = write_file(c, o, &writing);
	if (rc)
		(writing ? say_write : say_open)(c, o, rc);
	control_client_free(c);
	return rc ? EXIT_FAILED : EXIT_OK;
}

static bool makes_sense(const struct set_options *o)
{
	if (!o->file)
		fprintf(stderr, "hvtrace: set takes a file (hvtrace set --help)\n");
	else if ((o->make || o->remove) && (o->nr_words || o->append || (o->make && o->remove)))
		fprintf(stderr, "hvtrace: --make and --remove take one directory, and nothing else "
				"(hvtrace set --help)\n");
	else
		return true;
	return false;
}

int cmd_set(int argc, char **argv)
{
	struct set_options opt = {.guest = NULL};
	const struct option_row rows[] = {
		CONNECT_OPTION_ROW(&opt.guest),
		OPT_FLAG('a', "append", &opt.append, "add to what is in the file, as >> does"),
		OPT_FLAG(0, "make", &opt.make, "make an instance, as mkdir does"),
		OPT_FLAG(0, "remove", &opt.remove, "remove an instance, as rmdir does"),
		OPT_OPERANDS("trace-setting"),
	};
	int first = options_parse(argc, argv, rows, &set_usage);

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	if (first < argc) {
		opt.file = argv[first];
		opt.words = argv + first + 1;
		opt.nr_words = argc - first - 1;
	}
	return makes_sense(&opt) ? set(&opt) : EXIT_USAGE;
}
