// SPDX-License-Identifier: GPL-2.0-or-later
/* host.c - see host.h: the instance, from its making to its end, and its pages. */
#include "frontend/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/host/files.h"
#include "frontend/host/local.h"

#define TURN	      16	  /* batches of one CPU, until the others have theirs */
#define BUFFERS_KB    (64u << 10) /* of all CPUs */
#define BUFFER_MIN_KB 512	  /* of one */
#define BUFFER_MAX_KB 4096
#define NAMES_TRIED   100

static const char *const always[] = {"sched:sched_switch"};

/* --- making it -------------------------------------------------------------------------------- */

/* What was to be done, for who wants to know why there are no host events. */
static int fail(int rc, const char *what, char *why, size_t len)
{
	if (rc)
		snprintf(why, len, "%s: %s", what, strerror(-rc));
	return rc;
}

/* A new one, locked before anything else is done with it. */
static int make_instance(struct host *h, int tracefs)
{
	char path[LOCAL_PATH_MAX];
	int rc = -1;

	for (int n = 0; rc && n < NAMES_TRIED; n++) {
		snprintf(h->name, sizeof(h->name), LOCAL_PREFIX "%d-%d", (int)getpid(), n);
		snprintf(path, sizeof(path), "instances/%s", h->name);
		rc = mkdirat(tracefs, path, 0700);
		if (rc && errno != EEXIST)
			return -errno;
	}
	h->folder = rc ? -1 : openat(tracefs, path, FILES_DIRECTORY);
	return h->folder < 0 || flock(h->folder, LOCK_EX | LOCK_NB) ? -errno : 0;
}

static int see_cpu(void *arg, const char *name)
{
	struct host *h = arg;
	char path[LOCAL_PATH_MAX], *end;
	unsigned long cpu;

	if (strncmp(name, "cpu", 3) != 0)
		return 0;
	cpu = strtoul(name + 3, &end, 10);
	if (end == name + 3 || *end || cpu >= LOCAL_CPUS_MAX)
		return -ERANGE;
	snprintf(path, sizeof(path), "per_cpu/%.64s/trace_pipe_raw", name);
	h->raw[cpu] = openat(h->folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (h->raw[cpu] < 0)
		return -errno;
	if (cpu >= h->cpus)
		h->cpus = (unsigned int)cpu + 1;
	return 0;
}

static int open_files(struct host *h, int tracefs)
{
	int rc = files_each(h->folder, "per_cpu", see_cpu, h);

	if (!rc && !h->cpus)
		rc = -ENOENT;
	if (rc)
		return rc;
	h->tasks = openat(tracefs, "saved_cmdlines", O_RDONLY | O_CLOEXEC);
	h->tracing_on = openat(h->folder, "tracing_on", O_WRONLY | O_CLOEXEC);
	return h->tracing_on < 0 ? -errno : 0;
}

static int set_size(const struct host *h)
{
	unsigned int kb = BUFFERS_KB / h->cpus;
	char text[16];

	kb = kb < BUFFER_MIN_KB ? BUFFER_MIN_KB : kb > BUFFER_MAX_KB ? BUFFER_MAX_KB : kb;
	snprintf(text, sizeof(text), "%u", kb);
	files_write(h->folder, "buffer_percent", "10"); /* of Linux 5.0; not needed */
	return files_write(h->folder, "buffer_size_kb", text);
}

/* Of these threads alone, and what they are switched to and from. */
static int set_threads(const struct host *h)
{
	struct text text = {0};
	int rc;

	for (size_t i = 0; i < h->cfg->nr_vcpus; i++)
		text_printf(&text, "%d ", (int)h->cfg->vcpus[i].tid);
	text_putc(&text, '\0');
	rc = text.failed ? -ENOMEM : files_write(h->folder, "set_event_pid", text.buf);
	text_free(&text);
	return rc;
}

/* Which the kernel's own list may not have, or not any more. */
static void name_threads(struct host *h)
{
	for (size_t i = 0; i < h->cfg->nr_vcpus; i++) {
		char path[64], name[64];
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/comm", (int)h->cfg->vcpus[i].tid);
		f = fopen(path, "re");
		if (f && fgets(name, sizeof(name), f))
			text_printf(&h->vcpus, "%d %s", (int)h->cfg->vcpus[i].tid, name);
		if (f)
			fclose(f);
	}
}

static int set_up(struct host *h, char *why, size_t len)
{
	const struct host_config *cfg = h->cfg;
	int rc = fail(make_instance(h, cfg->tracefs), "no instance of its tracefs", why, len);

	if (!rc)
		rc = fail(files_write(h->folder, "tracing_on", "0"), "tracing_on", why, len);
	if (!rc)
		rc = fail(files_write(h->folder, "trace_clock", LOCAL_CLOCK),
			  "its clock " LOCAL_CLOCK, why, len);
	if (!rc)
		rc = fail(open_files(h, cfg->tracefs), "its buffers", why, len);
	if (!rc)
		rc = fail(set_size(h), "buffer_size_kb", why, len);
	if (!rc)
		rc = fail(set_threads(h), "set_event_pid", why, len);
	if (!rc)
		rc = fail(events_enable(h->folder, cfg->events, cfg->nr_events), "its events", why,
			  len);
	if (!rc)
		rc = fail(events_enable(h->folder, always, 1), always[0], why, len);
	if (!rc && write(h->tracing_on, "1", 1) != 1)
		rc = fail(-errno, "tracing_on", why, len);
	return rc;
}

struct host *host_begin(const struct host_config *cfg, char *why, size_t len)
{
	struct host *h = calloc(1, sizeof(*h));
	char name[sizeof(h->name)];

	if (!h) {
		fail(-ENOMEM, "host events", why, len);
		return NULL;
	}
	h->cfg = cfg;
	h->folder = h->tracing_on = h->tasks = -1;
	for (size_t i = 0; i < LOCAL_CPUS_MAX; i++)
		h->raw[i] = -1;
	if (!set_up(h, why, len)) {
		name_threads(h);
		return h;
	}
	memcpy(name, h->name, sizeof(name));
	if (h->folder >= 0) {
		host_free(h);
		host_remove(cfg->tracefs, name);
	} else {
		host_free(h);
	}
	return NULL;
}

const char *host_name(const struct host *h)
{
	return h->name;
}

void host_stop(struct host *h)
{
	if (!h->stopped && write(h->tracing_on, "0", 1) == 1)
		h->stopped = true;
}

void host_free(struct host *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < LOCAL_CPUS_MAX; i++)
		if (h->raw[i] >= 0)
			close(h->raw[i]);
	if (h->tasks >= 0)
		close(h->tasks);
	if (h->tracing_on >= 0)
		close(h->tracing_on);
	if (h->folder >= 0)
		close(h->folder);
	text_free(&h->vcpus);
	text_free(&h->said);
	free(h);
}

/* --- pages ------------------------------------------------------------------------------------ */

/* A page of the ring's: time, and how much is in it with flags; then records. */
#define PAGE_HEAD	16
#define PAGE_USED	0xfffffu
#define PAGE_LOST_COUNT (1u << 30) /* how many are lost is behind the records */

/* Behind what is in it there is what was there before. */
static void clear_rest(uint8_t *page)
{
	uint64_t commit;
	size_t used;

	memcpy(&commit, page + 8, sizeof(commit));
	used = PAGE_HEAD + (commit & PAGE_USED) + (commit & PAGE_LOST_COUNT ? 8 : 0);
	if (used < DAT_PAGE_SIZE)
		memset(page + used, 0, DAT_PAGE_SIZE - used);
}

/* How many pages; less than LOCAL_BATCH: there are no more. */
static int fill_batch(int fd, uint8_t (*batch)[DAT_PAGE_SIZE])
{
	int n = 0;

	while (n < LOCAL_BATCH) {
		ssize_t got = read(fd, batch[n], DAT_PAGE_SIZE);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			return -errno;
		if (got != DAT_PAGE_SIZE)
			break;
		clear_rest(batch[n++]);
	}
	return n;
}

/* Its buffer is full to some degree: pages that have little in them are many for few records. */
static bool is_filled(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

static int take_cpu(struct host *h, unsigned int cpu, const struct record_to *to)
{
	int n = LOCAL_BATCH, taken = 0;

	for (unsigned int turn = 0; turn < TURN && n == LOCAL_BATCH; turn++) {
		int rc = 0;

		n = fill_batch(h->raw[cpu], h->batch);
		if (n > 0)
			rc = to->put(to->arg, JOURNAL_PAGES, 0, cpu, h->batch,
				     (size_t)n * DAT_PAGE_SIZE);
		if (n < 0 || rc)
			return n < 0 ? n : rc;
		taken += n;
	}
	return taken;
}

/* Whose pages these are, before the first of them. */
static int name_buffer(struct host *h, const struct record_to *to)
{
	char names[1 + sizeof(LOCAL_CLOCK)] = ""; /* that of the top level is empty */
	int rc;

	memcpy(names + 1, LOCAL_CLOCK, sizeof(LOCAL_CLOCK));
	rc = to->put(to->arg, JOURNAL_BUFFER, 0, 0, names, sizeof(names));

	h->named = !rc;
	return rc;
}

static int take(void *arg, enum record_pages which, const struct record_to *to)
{
	struct host *h = arg;
	int taken = h->named ? 0 : name_buffer(h, to);

	if (taken)
		return taken;
	for (unsigned int cpu = 0; cpu < h->cpus && which != RECORD_PAGES_KEPT; cpu++) {
		int n = 0;

		if (h->raw[cpu] >= 0 && (which == RECORD_PAGES_ALL || is_filled(h->raw[cpu])))
			n = take_cpu(h, cpu, to);
		if (n < 0)
			return n;
		taken += n;
	}
	return taken;
}

/* --- the source ------------------------------------------------------------------------------- */

static int statistics(void *arg, const struct record_to *to)
{
	(void)arg;
	(void)to;
	return 0;
}

static int describe(void *arg, const struct record_to *to)
{
	return about_describe(arg, to);
}

static int update(void *arg, const struct record_to *to)
{
	return about_tasks(arg, to);
}

static void let_go(void *arg)
{
	host_stop(arg);
}

struct record_source host_source(struct host *h)
{
	return (struct record_source){
		.arg = h,
		.vcpus = h->cpus,
		.take = take,
		.statistics = statistics,
		.describe = describe,
		.update = update,
		.let_go = let_go,
	};
}
