// SPDX-License-Identifier: GPL-2.0-or-later
/* tracefs-client-pipe.c - trace_pipe reads as the trace does, and readers that wait. */
#include "tests/e2e/tracefs-client.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines of a text that tell events, one after the other in `to`. */
static size_t keep_events(char *text, char *to, size_t room)
{
	char *save = NULL;
	size_t len = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (*line != '#' && strncmp(line, "CPU:", 4))
			len += (size_t)snprintf(to + len, room - len, "%s\n", line);
		if (len >= room)
			return 0;
	}
	return len;
}

/* All that is in trace_pipe now; -1 with errno at the end, which is not waited for. */
static ssize_t read_all(int fd, char *to, size_t room)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, to + len, room - len)) > 0)
		len += (size_t)n;
	return n < 0 && errno == EAGAIN ? (ssize_t)len : -1;
}

bool can_splice(struct client *c)
{
	int fd = tracefs_instance_file_open(c->instance, "trace_clock", O_RDONLY), ends[2];
	ssize_t n;

	if (!check(fd >= 0) || !check(!pipe(ends)))
		return true;
	n = splice(fd, NULL, ends[1], NULL, PAGE_BYTES, SPLICE_F_NONBLOCK);
	close(ends[0]);
	close(ends[1]);
	close(fd);
	if (n <= 0)
		c->skipped = "this host cannot splice FUSE files";
	return n > 0;
}

static ssize_t read_pipe(struct client *c, char *to, size_t room)
{
	int fd = tracefs_instance_file_open(c->instance, "trace_pipe", O_RDONLY | O_NONBLOCK);
	ssize_t n = check(fd >= 0) ? read_all(fd, to, room) : -1;

	if (fd >= 0)
		close(fd);
	return n;
}

static ssize_t stream_pipe(struct client *c, char *to, size_t room)
{
	FILE *f = tmpfile();
	ssize_t n = -1;

	if (check(f) && check(tracefs_trace_pipe_stream(fileno(f), c->instance, O_NONBLOCK) >= 0) &&
	    check(!fseek(f, 0, SEEK_SET)))
		n = (ssize_t)fread(to, 1, room, f);
	if (f)
		fclose(f);
	return n;
}

/* trace_pipe gives what trace has shown before. */
static bool compare_pipe(struct client *c, ssize_t (*fetch)(struct client *, char *, size_t))
{
	char *text = NULL, *want = NULL, *got = NULL;
	int size = 0;
	bool ok = record_some(c);

	text = ok ? tracefs_instance_file_read(c->instance, "trace", &size) : NULL;
	want = calloc(1, (size_t)size + 2);
	got = calloc(1, (size_t)size + 2);
	ok = ok && check(text) && check(want) && check(got);
	if (ok && text && want && got) {
		size_t len = keep_events(text, want, (size_t)size + 2);

		ok = check(len) && check(fetch(c, got, (size_t)size + 2) == (ssize_t)len) &&
		     check(!memcmp(got, want, len));
	}
	free(got);
	free(want);
	free(text);
	return ok;
}

bool test_pipe(struct client *c)
{
	return compare_pipe(c, read_pipe);
}

bool test_pipe_stream(struct client *c)
{
	return !can_splice(c) || compare_pipe(c, stream_pipe);
}

struct waiting {
	struct tracefs_cpu *cpu;
	char page[PAGE_BYTES];
	int n;
};

static void *wait_for_page(void *arg)
{
	struct waiting *w = arg;

	w->n = tracefs_cpu_read(w->cpu, w->page, false);
	return NULL;
}

/* A reader that waits gets the page that comes; one that waits in vain is stopped. */
bool test_cpu_waits(struct client *c)
{
	struct waiting w = {0};
	pthread_t thread;
	bool ok;

	if (!check(!tracefs_trace_off(c->instance)) || !check(!tracefs_tracer_clear(c->instance)) ||
	    !check(tracefs_instance_file_write(c->instance, "buffer_percent", "0") == 1))
		return false;
	w.cpu = tracefs_cpu_open(c->instance, 0, false);
	if (!check(w.cpu))
		return false;
	ok = check(!pthread_create(&thread, NULL, wait_for_page, &w)) &&
	     check(!tracefs_tracer_set(c->instance, TRACEFS_TRACER_FUNCTION) || errno == EBUSY);
	/* Written, for an open page file holds the tracer: on whichever vCPU that is shown. */
	ok = ok && check(!tracefs_trace_on(c->instance)) &&
	     check(!tracefs_printf(c->instance, "for the page"));
	if (ok)
		pthread_join(thread, NULL);
	ok = ok && check(w.n == PAGE_BYTES) &&
	     check(memmem(w.page, PAGE_BYTES, "for the page", 12));
	ok = ok && check(!pthread_create(&thread, NULL, wait_for_page, &w));
	tracefs_cpu_stop(w.cpu);
	if (ok)
		pthread_join(thread, NULL);
	ok = ok && check(w.n <= 0);
	tracefs_print_close(c->instance);
	tracefs_cpu_close(w.cpu);
	return ok;
}
