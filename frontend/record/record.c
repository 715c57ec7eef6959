// SPDX-License-Identifier: GPL-2.0-or-later
/* record.c - see record.h: the files, and the thread that fills the journal. */
#include "frontend/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "frontend/dat/dat-write.h"
#include "frontend/dat/journal.h"
#include "frontend/record/files.h"
#include "frontend/record/guest.h"
#include "frontend/record/room.h"
#include "tracer/tracer.h"
#include "vmm/thread.h"

#define WAIT_MIN_MS 5
#define WAIT_MAX_MS 80
#define FLUSH_MS    1000 /* what is in pages that are not full, and what the file says */

/* A record of the journal that is not one of pages. */
struct said {
	struct said *next;
	enum journal_kind kind;
	uint32_t a, b;
	size_t len;
	uint8_t data[];
};

struct record {
	struct record_config cfg;
	struct record_files files;   /* of a stream the journal alone, which is stdout */
	struct record_source source; /* its pages are the thread's, while there is one */
	/* What there is to say beside the pages, which takes a while: not with the other lock. */
	pthread_mutex_t meta_lock;
	bool attached; /* to what is traced: not let go yet */
	/* Said, and not written yet: whoever lets a guest go does not wait for a disk. */
	struct said *said, **said_end;
	pthread_mutex_t lock;
	struct journal *journal;
	struct room room;
	uint64_t bytes; /* of pages in it */
	pthread_cond_t wake;
	bool stop, started;
	bool begun; /* the files have something that must not be lost */
	pthread_t thread;
	atomic_int error;
};

const char *record_size(uint64_t bytes, char buf[RECORD_SIZE_LEN])
{
	if (bytes < 100000)
		snprintf(buf, RECORD_SIZE_LEN, "%.1f kB", (double)bytes / 1e3);
	else if (bytes < 10000000000)
		snprintf(buf, RECORD_SIZE_LEN, "%.1f MB", (double)bytes / 1e6);
	else
		snprintf(buf, RECORD_SIZE_LEN, "%.1f GB", (double)bytes / 1e9);
	return buf;
}

/* --- files ------------------------------------------------------------------------------------ */

int record_part(const char *path, char part[RECORD_PATH_MAX])
{
	int len = snprintf(part, RECORD_PATH_MAX, "%s.part", path);

	return len < RECORD_PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* A descriptor of our own, as of the files. */
static int open_stream(struct record *r, char *err, size_t errlen)
{
	if (isatty(STDOUT_FILENO)) {
		snprintf(
			err, errlen,
			"a recording is nothing for a terminal: name a file (-o FILE.dat), or have "
			"a program read it");
		return -1;
	}
	r->files.journal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (r->files.journal >= 0)
		return 0;
	snprintf(err, errlen, "cannot write to standard output: %s", strerror(errno));
	return -1;
}

static int open_files(struct record *r, char *err, size_t errlen)
{
	if (r->cfg.stream)
		return open_stream(r, err, errlen);
	return r->cfg.path ? record_files_open(&r->files, r->cfg.path, err, errlen)
			   : record_files_open_unnamed(&r->files, err, errlen);
}

/* Whoever sets the host's time does not make anybody wait longer. */
static void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t clock;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &clock);
	pthread_condattr_destroy(&clock);
}

struct record *record_open(const struct record_config *cfg, char *err, size_t errlen)
{
	struct record *r = calloc(1, sizeof(*r));

	if (!r) {
		snprintf(err, errlen, "no memory");
		return NULL;
	}
	r->cfg = *cfg;
	r->files.journal = r->files.part = -1;
	r->said_end = &r->said;
	pthread_mutex_init(&r->meta_lock, NULL);
	pthread_mutex_init(&r->lock, NULL);
	cond_init(&r->wake);
	if (!open_files(r, err, errlen))
		return r;
	record_close(r);
	return NULL;
}

uint64_t record_new_id(void)
{
	uint64_t id = 0;

	while (!id)
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			id = 1;
	return id;
}

int record_place(const char *path)
{
	char part[RECORD_PATH_MAX];
	int rc = record_part(path, part);

	if (!rc && rename(part, path))
		rc = -errno;
	return rc;
}

/* --- recording -------------------------------------------------------------------------------- */

int record_error(struct record *r)
{
	return atomic_load(&r->error);
}

/* The first holds; nothing is put into the journal behind it. */
static int fail(struct record *r, int rc)
{
	int none = 0;

	if (rc < 0)
		atomic_compare_exchange_strong(&r->error, &none, rc);
	return rc;
}

/* Pages, and what was said: what comes next. */
static int put(void *arg, enum journal_kind kind, uint32_t a, uint32_t b, const void *data,
	       size_t len)
{
	struct record *r = arg;
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	if (!r->cfg.stream)
		rc = room_keep(&r->room, journal_size(r->journal) + len);
	if (!rc)
		rc = journal_put(r->journal, kind, a, b, data, len);
	if (!rc && kind == JOURNAL_PAGES)
		r->bytes += len;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

/* For what there is to say, with meta_lock: written by say_all(). */
static int say(void *arg, enum journal_kind kind, uint32_t a, uint32_t b, const void *data,
	       size_t len)
{
	struct record *r = arg;
	struct said *said = malloc(sizeof(*said) + len);

	if (!said)
		return -ENOMEM;
	*said = (struct said){.kind = kind, .a = a, .b = b, .len = len};
	if (len)
		memcpy(said->data, data, len);
	*r->said_end = said;
	r->said_end = &said->next;
	return 0;
}

/* With meta_lock. */
static int update(struct record *r)
{
	const struct record_to to = {say, r};

	return r->source.update(r->source.arg, &to);
}

static int take(struct record *r, enum record_pages which)
{
	const struct record_to to = {put, r};

	return r->source.take(r->source.arg, which, &to);
}

static struct said *take_said(struct record *r)
{
	struct said *said;

	pthread_mutex_lock(&r->meta_lock);
	said = r->said;
	r->said = NULL;
	r->said_end = &r->said;
	pthread_mutex_unlock(&r->meta_lock);
	return said;
}

/* Write what was said, without the lock; with an error before, it is but forgotten. */
static void say_all(struct record *r)
{
	for (struct said *said = take_said(r), *next; said; said = next) {
		next = said->next;
		if (!record_error(r))
			fail(r, put(r, said->kind, said->a, said->b, said->data, said->len));
		free(said);
	}
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* False: it is to stop. */
static bool wait_ms(struct record *r, int ms)
{
	struct timespec at;
	bool stop;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += (long)ms * 1000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	pthread_mutex_lock(&r->lock);
	if (!r->stop)
		pthread_cond_timedwait(&r->wake, &r->lock, &at);
	stop = r->stop;
	pthread_mutex_unlock(&r->lock);
	return !stop;
}

/* Somebody else may be about it. */
static void update_now(struct record *r)
{
	if (pthread_mutex_trylock(&r->meta_lock))
		return;
	fail(r, update(r));
	pthread_mutex_unlock(&r->meta_lock);
}

static void *recorder(void *arg)
{
	struct record *r = arg;
	int64_t flush = now_ms() + FLUSH_MS;
	int wait = WAIT_MIN_MS, n;

	setpriority(PRIO_PROCESS, 0, TRACE_NICE);
	do {
		bool all = now_ms() >= flush;

		n = fail(r, take(r, all ? RECORD_PAGES_ALL : RECORD_PAGES_FULL));
		if (all) {
			update_now(r);
			flush = now_ms() + FLUSH_MS;
		}
		say_all(r);
		wait = n > 0 ? WAIT_MIN_MS : wait < WAIT_MAX_MS ? wait * 2 : WAIT_MAX_MS;
	} while (!record_error(r) && wait_ms(r, wait));
	return NULL;
}

static int begin(struct record *r)
{
	const struct journal_shape shape = {r->cfg.version, r->cfg.zstd, r->source.vcpus};

	room_init(&r->room, r->files.part);
	r->journal = r->cfg.stream ? journal_new_stream(r->files.journal, &shape)
				   : journal_new(r->files.journal, &shape);
	if (!r->journal)
		return -ENOMEM;
	if (!r->cfg.stream && (ftruncate(r->files.journal, 0) || ftruncate(r->files.part, 0)))
		return -errno;
	return journal_begin(r->journal);
}

/* The thread is there by then: what the guest records meanwhile may be more than a ring holds. */
static int describe(struct record *r)
{
	const struct record_to to = {say, r};
	int rc;

	pthread_mutex_lock(&r->meta_lock);
	rc = r->source.describe(r->source.arg, &to);
	if (!rc)
		rc = update(r);
	pthread_mutex_unlock(&r->meta_lock);
	return rc;
}

int record_start_source(struct record *r, const struct record_source *source)
{
	int rc;

	r->source = *source;
	r->attached = true;
	rc = begin(r);
	if (!rc)
		rc = thread_start(&r->thread, "recorder", NULL, recorder, r);
	r->started = !rc;
	if (!rc)
		rc = describe(r);
	r->begun = !rc;
	return rc;
}

int record_start(struct record *r, struct trace *t, struct view *v,
		 const struct record_guest *guest)
{
	struct record_source source;
	int rc = guest_source(&source, t, v, guest);

	return rc ? rc : record_start_source(r, &source);
}

static void let_go(struct record *r)
{
	if (r->attached)
		r->source.let_go(r->source.arg);
	r->attached = false;
}

void record_let_go(struct record *r)
{
	pthread_mutex_lock(&r->meta_lock);
	if (r->attached && !record_error(r))
		fail(r, update(r));
	let_go(r);
	pthread_mutex_unlock(&r->meta_lock);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void stop(struct record *r)
{
	if (!r->started)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	r->started = false;
}

/* What is in the rings now, and what there is to say of it. */
static void take_rest(struct record *r)
{
	const struct record_to to = {put, r};
	int n;

	do
		n = take(r, RECORD_PAGES_ALL);
	while (n > 0);
	if (!n)
		n = take(r, RECORD_PAGES_KEPT);
	if (n >= 0)
		n = update(r);
	fail(r, n);
	say_all(r);
	if (!record_error(r))
		fail(r, r->source.statistics(r->source.arg, &to));
}

int record_finish(struct record *r, void (*done)(void *arg, unsigned int percent), void *arg,
		  struct record_result *result)
{
	struct dat_written written;
	int rc;

	stop(r);
	let_go(r);
	if (!record_error(r))
		take_rest(r);
	*result = (struct record_result){journal_size(r->journal), r->bytes, record_error(r)};
	if (r->cfg.stream)
		return 0;
	rc = dat_write(r->files.journal, false, r->files.part, done, arg, &written);
	*result = (struct record_result){written.size, written.bytes, record_error(r)};
	return rc;
}

int record_reopen(const struct record *r)
{
	int fd = dup(r->files.part);

	return fd < 0 ? -errno : fd;
}

void record_close(struct record *r)
{
	if (!r)
		return;
	stop(r);
	fail(r, -ECANCELED);
	say_all(r);
	if (r->begun)
		r->files.journal_is_new = r->files.part_is_new = false;
	record_files_close(&r->files, r->cfg.path);
	if (r->source.free)
		r->source.free(r->source.arg);
	journal_free(r->journal);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->meta_lock);
	free(r);
}
