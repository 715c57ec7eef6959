// SPDX-License-Identifier: GPL-2.0-or-later
/* daemon.c - the daemon's loop: see serve.h */
#include "frontend/serve/daemon.h"

#include "frontend/lib/cancel.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/runtime-dir.h"
#include "frontend/serve/answers.h"
#include "frontend/serve/digest.h"
#include "frontend/serve/folder.h"
#include "frontend/serve/keep.h"
#include "frontend/serve/notify.h"
#include "frontend/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEEP_MS INT64_C(30000)
#define STOP_MS INT64_C(90000) /* for collectors to let their guests go */

int64_t daemon_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

char *serve_socket(const struct serve_config *cfg)
{
	char dir[256], *path;
	int fd;

	if (cfg && cfg->serve.socket)
		return strdup(cfg->serve.socket);
	fd = runtime_dir_open(true, dir, sizeof(dir));
	if (fd >= 0)
		close(fd);
	return asprintf(&path, "%s/serve.socket", dir) < 0 ? NULL : path;
}

/* --- guests -------------------------------------------------------------------------------------
 */

static void came(void *arg, struct serve_guest *g)
{
	rules_came(arg, g);
}

static void went(void *arg, struct serve_guest *g)
{
	rules_went(arg, g);
}

static void waited(void *arg, struct serve_guest *g, unsigned int vcpu, uint64_t ns)
{
	struct daemon *d = arg;
	char number[16];
	const struct metrics_labels labels = {.guest = g->name, .uuid = g->uuid, .vcpu = number};

	snprintf(number, sizeof(number), "%u", vcpu);
	metrics_add(d->metrics, METRICS_VCPU_STEAL, &labels, (double)ns / 1e9);
}

static void take_sight(struct daemon *d)
{
	const struct guests_ops ops = {came, went, waited, d};
	const struct metrics_labels none = {0};
	struct looker_sight sight;

	if (!looker_take(d->looker, &sight))
		return;
	metrics_set(d->metrics, METRICS_LIBVIRT_CONNECTED, &none, sight.guests >= 0);
	/* Guests go on while libvirt is restarted. */
	if (sight.guests < 0 && !d->libvirt_gone)
		fprintf(stderr, "hvtrace: %s\n", sight.err);
	d->libvirt_gone = sight.guests < 0;
	if (sight.guests >= 0)
		guests_update(&d->guests, &sight, &ops);
	for (size_t i = 0; i < d->guests.nr; i++)
		guests_match(d->guests.guest[i], d->conf->c);
	looker_sight_free(&sight);
}

/* Which kernel it has now is found out by the next round. */
static void rebooted(struct daemon *d, const struct metrics_labels *labels)
{
	struct serve_guest *g = guests_find(&d->guests, labels->uuid);

	metrics_add(d->metrics, METRICS_GUEST_REBOOTS, labels, 1);
	if (g)
		*g->release = '\0';
}

static bool is_traced(const struct daemon *d, const char *uuid)
{
	const struct serve_guest *g = guests_find(&d->guests, uuid);

	return g && g->round;
}

static void take_news(struct daemon *d)
{
	struct machine_news news;
	bool any = false;

	while (d->watch && machine_watch_take(d->watch, &news)) {
		const struct metrics_labels labels = {.guest = news.name, .uuid = news.uuid};

		any = true;
		if (news.kind == MACHINE_NEWS_REBOOTED)
			rebooted(d, &labels);
		/* A collector that it has tells that, too. */
		if (news.kind == MACHINE_NEWS_PANICKED && !is_traced(d, news.uuid))
			metrics_add(d->metrics, METRICS_GUEST_PANICS, &labels, 1);
	}
	if (any)
		looker_ask(d->looker);
}

/* --- the disk -----------------------------------------------------------------------------------
 */

static void look_at_disk(struct daemon *d, int64_t now_ms)
{
	const struct serve_config *c = d->conf->c;
	struct keep_limit *limits;
	struct keep_result *results;
	int rc;

	if (now_ms < d->keep_ms)
		return;
	d->keep_ms = now_ms + KEEP_MS;
	limits = calloc(c->nr_rules + 1, sizeof(*limits));
	results = calloc(c->nr_rules + 1, sizeof(*results));
	if (!limits || !results) {
		free(limits);
		free(results);
		return;
	}
	for (size_t i = 0; i < c->nr_rules; i++)
		limits[i] = (struct keep_limit){c->rules[i].name, c->rules[i].disk_bytes,
						(int64_t)(c->rules[i].age_ns / 1000000000)};
	limits[c->nr_rules] = (struct keep_limit){.bytes = c->serve.disk_bytes};
	rc = keep_within(c->serve.state, limits, c->nr_rules + 1, results);
	if (rc)
		fprintf(stderr, "hvtrace: %s: what is too much cannot be removed: %s\n",
			c->serve.state, strerror(-rc));
	tell_disk(d, results, &results[c->nr_rules]);
	tell_shipping(d);
	tell_own(d);
	free(limits);
	free(results);
}

/* What a daemon or a collector has left that was killed: made whole, one after the other. */
static void note_unfinished(void *arg, const char *path)
{
	struct daemon *d = arg;
	size_t len = strlen(path) + 1;
	char *more;

	for (size_t i = 0; i < d->unfinished_len; i += strlen(d->unfinished + i) + 1)
		if (!strcmp(d->unfinished + i, path))
			return;
	more = realloc(d->unfinished, d->unfinished_len + len);
	if (!more)
		return;
	memcpy(more + d->unfinished_len, path, len);
	d->unfinished = more;
	d->unfinished_len += len;
}

void daemon_repair(struct daemon *d, const char *recording)
{
	char part[KEEP_PATH_LEN + 8];

	snprintf(part, sizeof(part), "%s.part", recording);
	if (!access(part, F_OK))
		note_unfinished(d, recording);
}

void daemon_repair_all(struct daemon *d)
{
	keep_find_unfinished(d->conf->c->serve.state, note_unfinished, d);
}

static void drop_first_unfinished(struct daemon *d)
{
	size_t len = strlen(d->unfinished) + 1;

	memmove(d->unfinished, d->unfinished + len, d->unfinished_len - len);
	d->unfinished_len -= len;
}

static void repair(struct daemon *d)
{
	char hvtrace[] = "hvtrace", command[] = "repair", end[] = "--";
	char *const words[] = {hvtrace, command, end, d->unfinished, NULL};

	if (step_is_over(&d->repair)) {
		d->repair = (struct step){.pidfd = -1, .says.fd = -1};
		drop_first_unfinished(d);
	}
	if (d->repair.pid || !d->unfinished_len || d->stopping)
		return;
	if (step_start(&d->repair, words, -1, "repair"))
		drop_first_unfinished(d);
}

/* --- the loop -----------------------------------------------------------------------------------
 */

static void take_signals(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			reload(d);
			continue;
		}
		/* The second one does not wait for what is kept of the first. */
		for (size_t i = 0; i < d->nr_rounds; i++)
			round_cancel(d->round[i], SIGTERM);
		d->stopping = true;
		notify_stopping();
	}
}

static void hear_rounds(struct daemon *d)
{
	for (size_t i = 0; i < d->nr_rounds; i++)
		if (round_steps(d->round[i]))
			round_hear(d->round[i]);
	if (d->repair.pid)
		step_hear(&d->repair);
}

static size_t add_step(struct pollfd *fds, const struct step *s)
{
	size_t n = 0;

	if (s->says.fd >= 0)
		fds[n++] = (struct pollfd){.fd = s->says.fd, .events = POLLIN};
	if (s->pidfd >= 0)
		fds[n++] = (struct pollfd){.fd = s->pidfd, .events = POLLIN};
	return n;
}

static size_t add_round(struct pollfd *fds, const struct round *r)
{
	size_t n = add_step(fds, &r->step);

	if (r->segments && r->out >= 0)
		fds[n++] = (struct pollfd){.fd = r->out, .events = POLLIN};
	return n;
}

/* Until something is to be heard, or a tick has passed. */
static void wait_for_news(const struct daemon *d)
{
	size_t room = 3 * (d->nr_rounds + 1) + 3 + REQUESTS_PEERS + 1, n = 0;
	struct pollfd *fds = calloc(room, sizeof(*fds));

	if (!fds) {
		poll(NULL, 0, DAEMON_TICK_MS);
		return;
	}
	fds[n++] = (struct pollfd){.fd = d->signals, .events = POLLIN};
	fds[n++] = (struct pollfd){.fd = looker_fd(d->looker), .events = POLLIN};
	if (d->watch)
		fds[n++] = (struct pollfd){.fd = machine_watch_fd(d->watch), .events = POLLIN};
	for (size_t i = 0; i < d->nr_rounds; i++)
		n += add_round(fds + n, d->round[i]);
	n += add_step(fds + n, &d->repair);
	n += requests_poll(d->requests, fds + n);
	poll(fds, n, DAEMON_TICK_MS);
	free(fds);
}

static void loop(struct daemon *d)
{
	int64_t now, stop_ms = 0;

	while (!d->stopping || d->nr_rounds) {
		wait_for_news(d);
		now = daemon_now_ms();
		take_signals(d);
		take_news(d);
		take_sight(d);
		hear_rounds(d);
		rules_tick(d, now);
		requests_tick(d->requests, now);
		repair(d);
		look_at_disk(d, now);
		tell_attached(d);
		tell_systemd(d, now);
		if (d->stopping && !stop_ms)
			stop_ms = now + STOP_MS;
		if (d->stopping && now > stop_ms)
			break;
	}
}

/* --- beginning and end --------------------------------------------------------------------------
 */

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* One line has said why not, as it has of what follows. */
static bool open_state(struct daemon *d)
{
	const char *state = d->conf->c->serve.state;

	if (mkdir(state, 0750) && errno != EEXIST) {
		fprintf(stderr, "hvtrace: no directory %s for recordings: %s\n", state,
			strerror(errno));
		return false;
	}
	d->state = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->state < 0 || flock(d->state, LOCK_EX | LOCK_NB)) {
		fprintf(stderr, "hvtrace: %s: %s\n", state,
			errno == EWOULDBLOCK
				? "another hvtrace serve has it (hvtrace serve --status)"
				: strerror(errno));
		return false;
	}
	return true;
}

static bool open_socket(struct daemon *d)
{
	char *path = serve_socket(d->conf->c);
	char err[512] = "no memory";

	if (path)
		d->requests = requests_new(path, answers, d, err, sizeof(err));
	free(path);
	if (!d->requests)
		fprintf(stderr, "hvtrace: %s\n", err);
	return d->requests;
}

static void tell_line(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "hvtrace: %s\n", line);
}

static bool begin(struct daemon *d)
{
	const struct config_ear ear = {tell_line, NULL};
	const struct metrics_labels none = {0};
	struct serve_config *c = config_read(d->config, d->words, &ear);

	d->signals = open_signals();
	d->conf = c ? conf_new(c) : NULL;
	d->metrics = d->conf ? metrics_new() : NULL;
	if (c && !d->metrics)
		fprintf(stderr, "hvtrace: no memory\n");
	if (digest_missing()) {
		fprintf(stderr, "hvtrace: %s\n", digest_missing());
		return false;
	}
	if (!d->metrics || !open_state(d) || !open_socket(d) || reload_parts(d))
		return false;
	metrics_set(d->metrics, METRICS_CONFIG_RELOAD_SUCCESS, &none, 1);
	metrics_set(d->metrics, METRICS_CONFIG_RELOAD_TIME, &none, (double)time(NULL));
	metrics_set(d->metrics, METRICS_START_TIME, &none, (double)time(NULL));
	folder_sweep(d->conf->c->serve.state);
	daemon_repair_all(d);
	return true;
}

static void end(struct daemon *d)
{
	for (size_t i = 0; i < d->nr_rounds; i++) {
		round_cancel(d->round[i], SIGKILL);
		round_free(d->round[i]);
	}
	free(d->round);
	requests_free(d->requests);
	metrics_stop(d->server);
	machine_watch_free(d->watch);
	looker_free(d->looker);
	guests_free(&d->guests);
	metrics_free(d->metrics);
	conf_put(d->conf);
	free(d->unfinished);
	close(d->signals);
	if (d->state >= 0)
		close(d->state);
}

int serve_run(const char *config, const struct config_words *words)
{
	struct daemon d = {
		.config = config, .words = words, .state = -1, .random = (unsigned int)getpid()};
	int status = EXIT_FAILED;

	d.repair.pidfd = d.repair.says.fd = -1;
	d.alive_ms = notify_begin();
	if (begin(&d)) {
		fprintf(stderr, "hvtrace: %zu rules of %s\n", d.conf->c->nr_rules, config);
		notify_ready();
		loop(&d);
		status = EXIT_OK;
	}
	end(&d);
	return status;
}
