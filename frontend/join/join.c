// SPDX-License-Identifier: GPL-2.0-or-later
/* join.c - see join.h: the way of all files through a journal into one. */
#include "frontend/join/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dat/bytes.h"
#include "frontend/dat/dat-write.h"

int join_fail(struct join *j, const char *path, const char *format, ...)
{
	int n = snprintf(j->err, j->errlen, "%s: ", path);
	va_list ap;

	va_start(ap, format);
	if (n >= 0 && (size_t)n < j->errlen)
		vsnprintf(j->err + n, j->errlen - (size_t)n, format, ap);
	va_end(ap);
	return -EINVAL;
}

struct dat *join_open(struct join *j, const struct join_source *s)
{
	int copy = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);

	if (copy >= 0)
		return dat_open_fd(copy, s->path, j->err, j->errlen);
	join_fail(j, s->path, "%s", strerror(errno));
	return NULL;
}

int join_check(const struct join_options *opt, char *err, size_t errlen)
{
	if (opt->nr && opt->nr <= JOIN_FILES_MAX)
		return 0;
	snprintf(err, errlen, "%s: %zu files cannot be joined: it takes one, and %d at most",
		 opt->out, opt->nr, JOIN_FILES_MAX);
	return -EINVAL;
}

/* --- of open files -----------------------------------------------------------------------------
 */

static int join_new(struct join **j, const struct join_options *opt, char *err, size_t errlen)
{
	*j = calloc(1, sizeof(**j));
	if (!*j)
		return -ENOMEM;
	(*j)->opt = opt;
	(*j)->err = err;
	(*j)->errlen = errlen;
	(*j)->source = calloc(opt->nr, sizeof(*(*j)->source));
	(*j)->part = calloc(opt->nr, sizeof(*(*j)->part));
	if (!(*j)->source || !(*j)->part)
		return -ENOMEM;
	return join_tasks_init(&(*j)->tasks);
}

static void join_free(struct join *j)
{
	for (size_t i = 0; j && j->part && i < j->opt->nr; i++)
		ids_list_free(&j->part[i].formats);
	if (!j)
		return;
	journal_free(j->journal);
	ids_exit(&j->ids);
	places_exit(&j->places);
	join_tasks_exit(&j->tasks);
	text_free(&j->header_event);
	free(j->source);
	free(j->part);
	free(j);
}

/* No guest is the top level: it is there, and has nothing. */
static int begin(struct join *j, int fd)
{
	const struct journal_shape shape = {.version = 7, .zstd = true, .vcpus = j->vcpus};
	char names[64] = "";
	int rc;

	j->journal = journal_new(fd, &shape);
	if (!j->journal)
		return -ENOMEM;
	rc = journal_begin(j->journal);
	if (rc)
		return rc;
	snprintf(names + 1, sizeof(names) - 1, "%s", j->clock);
	return journal_put(j->journal, JOURNAL_BUFFER, j->nr_buffers++, 0, names,
			   strlen(j->clock) + 2);
}

static void tell_written(void *arg, unsigned int percent)
{
	const struct join *j = arg;

	if (j->opt->done)
		j->opt->done(j->opt->arg, 80 + percent / 5);
}

/* The trace.dat, and behind it what makes it one of several guests. */
static int write_out(struct join *j, int journal, int out)
{
	struct dat_written written;
	struct text parts = {0};
	int rc = dat_write(journal, false, out, tell_written, j, &written);

	if (!rc) {
		join_describe_parts(j, &parts);
		rc = parts.failed ? -ENOMEM : bytes_write(out, written.size, parts.buf, parts.len);
		j->result.size = written.size + parts.len;
	}
	text_free(&parts);
	return rc;
}

static int go_through(struct join *j, const struct join_fds *fds)
{
	int rc = join_look(j, fds->in);

	if (!rc)
		rc = begin(j, fds->journal);
	for (size_t i = 0; i < j->opt->nr && !rc; i++)
		rc = join_guest(j, i);
	if (!rc)
		rc = join_describe(j);
	return rc ? rc : write_out(j, fds->journal, fds->out);
}

int join_opened(const struct join_options *opt, const struct join_fds *fds, char *err,
		size_t errlen)
{
	struct join *j;
	int rc;

	*err = '\0';
	rc = join_check(opt, err, errlen);
	if (rc)
		return rc;
	rc = join_new(&j, opt, err, errlen);
	if (!rc)
		rc = go_through(j, fds);
	if (rc && !*err)
		snprintf(err, errlen, "%s: %s", opt->out, strerror(-rc));
	if (!rc && opt->result)
		*opt->result = j->result;
	join_free(j);
	return rc;
}
