// SPDX-License-Identifier: GPL-2.0-or-later
/* exec.c - see exec.h */
#include "frontend/session/exec.h"
#include "frontend/lib/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* --- what the guest says: on a thread of the machine's, e->lock is held ----------------------- */

static void wake(struct exec *e)
{
	if (e->m)
		machine_wake(e->m);
}

static void on_hello(void *arg)
{
	(void)arg; /* it will say what it waits for */
}

static void on_waits(void *arg, char what)
{
	struct exec *e = arg;

	e->waits = what;
}

static void on_up(void *arg)
{
	struct exec *e = arg;

	e->news = EXEC_NEWS_UP;
	wake(e);
}

static void on_task(void *arg, uint32_t pid)
{
	struct exec *e = arg;

	e->pid = pid;
	e->news = EXEC_NEWS_TASK;
	wake(e);
}

static void on_output(void *arg, bool error, const char *bytes, size_t len)
{
	struct exec *e = arg;
	FILE *to = error || !e->out ? stderr : e->out;

	if (to == e->out && e->out_bad)
		return;
	fwrite(bytes, 1, len, to);
	if (!fflush(to) || to == stderr)
		return;
	e->out_bad = true;
	if (errno != EPIPE && errno != ECANCELED)
		fprintf(stderr, "hvtrace: cannot write what the command prints: %s\n",
			strerror(errno));
}

static void on_end(void *arg, uint32_t status)
{
	struct exec *e = arg;

	e->status = status;
	e->ended = true;
	wake(e);
}

static void on_fail(void *arg, const char *why)
{
	struct exec *e = arg;

	snprintf(e->why, sizeof(e->why), "%s", why);
	e->failed = true;
	wake(e);
}

void exec_receive(struct exec *e, const char *bytes, size_t len)
{
	pthread_mutex_lock(&e->lock);
	stream_feed(&e->stream, bytes, len);
	pthread_mutex_unlock(&e->lock);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static bool stdout_is_free(const struct session_options *opt)
{
	return strcmp(opt->output, "-") != 0 && (!opt->summary || strcmp(opt->summary, "-") != 0);
}

int exec_init(struct exec *e, struct session *s, const char *command, bool sync)
{
	static const struct stream_ops ops = {on_hello,	 on_waits, on_up,  on_task,
					      on_output, on_end,   on_fail};

	*e = (struct exec){.s = s, .command = command, .sync = sync};
	pthread_mutex_init(&e->lock, NULL);
	stream_init(&e->stream, &ops, e);
	if (stdout_is_free(s->opt))
		e->out = output_open(NULL, &s->cancel);
	if (e->out || !stdout_is_free(s->opt))
		return 0;
	snprintf(s->err, sizeof(s->err), "cannot write to standard output: %s", strerror(errno));
	return -1;
}

void exec_exit(struct exec *e)
{
	if (e->out)
		fclose(e->out);
	free(e->frame);
	pthread_mutex_destroy(&e->lock);
}

void exec_ready(struct exec *e)
{
	pthread_mutex_lock(&e->lock);
	e->m = e->s->m;
	pthread_mutex_unlock(&e->lock);
}

/* --- what is done ----------------------------------------------------------------------------- */

static const char *waited_for(char waits)
{
	switch (waits) {
	case EXEC_WAITS_ROOT:
		return "waiting for the guest's initrd to go on to its root";
	case EXEC_WAITS_SYSTEMD:
		return "waiting for the guest's systemd to have started all it starts";
	case EXEC_WAITS_OPENRC:
		return "waiting for the guest's OpenRC to have started all it starts";
	case EXEC_WAITS_INIT:
		return "waiting for the guest's init to wait for something itself";
	default:
		return "waiting for the guest to come up";
	}
}

/* A line for people who look on. */
static void show_waiting(struct exec *e, bool up, char waits)
{
	const char *what = up ? NULL : waited_for(waits);

	if (what != e->shown)
		session_wait(e->s, what);
	e->shown = what;
	if (what)
		session_waits(e->s);
}

/* The machine takes as much as it has room for. */
static void send_rest(struct exec *e)
{
	e->frame_sent += machine_channel_input(e->s->m, e->frame + e->frame_sent,
					       e->frame_len - e->frame_sent);
	if (e->frame_sent < e->frame_len)
		return;
	free(e->frame);
	e->frame = NULL;
}

static int send_frame(struct exec *e, char *frame)
{
	if (!frame) {
		snprintf(e->s->err, sizeof(e->s->err), "no memory");
		return -1;
	}
	e->frame = frame;
	e->frame_sent = 0;
	send_rest(e);
	return 0;
}

static int let_go_on(struct exec *e, uint32_t pid)
{
	if (exec_trace(e->s, pid))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &e->start);
	e->running = true;
	return send_frame(e, stream_go(&e->frame_len));
}

static int answer(struct exec *e, enum exec_news news, uint32_t pid)
{
	if (news == EXEC_NEWS_TASK)
		return let_go_on(e, pid);
	return send_frame(e,
			  stream_command(e->command, e->sync ? EXEC_FLAG_SYNC : 0, &e->frame_len));
}

/* What is to be answered now; of a guest that is up once its kernel has what tracing takes. */
static enum exec_news take_news(struct exec *e, uint32_t *pid, char *waits, bool *over)
{
	enum exec_news news = EXEC_NEWS_NONE;

	pthread_mutex_lock(&e->lock);
	*over = e->ended || e->failed;
	*waits = e->waits;
	*pid = e->pid;
	if (!e->frame && !*over && (e->news != EXEC_NEWS_UP || trace_is_ready(e->s->trace))) {
		news = e->news;
		e->news = EXEC_NEWS_NONE;
	}
	pthread_mutex_unlock(&e->lock);
	return news;
}

static void fail(struct exec *e)
{
	pthread_mutex_lock(&e->lock);
	e->failed = true;
	snprintf(e->why, sizeof(e->why), "%.*s", STREAM_TEXT_MAX, e->s->err);
	pthread_mutex_unlock(&e->lock);
}

bool exec_step(struct exec *e)
{
	enum exec_news news;
	uint32_t pid;
	char waits;
	bool over;

	if (e->frame)
		send_rest(e);
	news = take_news(e, &pid, &waits, &over);
	e->answered = e->answered || news;
	show_waiting(e, e->answered || over, waits);
	if (news && answer(e, news, pid)) {
		fail(e);
		over = true;
	}
	return over;
}

/* --- what came of it ---------------------------------------------------------------------------
 */

double exec_seconds(const struct exec *e)
{
	struct timespec now;

	if (!e->running)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - e->start.tv_sec) +
	       (double)(now.tv_nsec - e->start.tv_nsec) / 1e9;
}

bool exec_has_ended(struct exec *e)
{
	bool ended;

	pthread_mutex_lock(&e->lock);
	ended = e->ended;
	pthread_mutex_unlock(&e->lock);
	return ended;
}

int exec_status(struct exec *e)
{
	int status = (int)e->status; /* once it has ended nobody changes it */

	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void exec_end_text(struct exec *e, char *text, size_t len)
{
	int status = (int)e->status;

	if (!e->ended)
		snprintf(text, len, "the command cannot be run");
	else if (WIFSIGNALED(status))
		snprintf(text, len, "the command has ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, len, "the command has ended with status %d", WEXITSTATUS(status));
}

void exec_say_unfinished(struct exec *e)
{
	pthread_mutex_lock(&e->lock);
	if (e->failed)
		fprintf(stderr, "hvtrace: the command %s: %s\n",
			e->running ? "has not ended" : "was not run", e->why);
	else if (e->running)
		fprintf(stderr, "hvtrace: the command has not ended\n");
	else if (e->stream.state == STREAM_NOISE)
		fprintf(stderr,
			"hvtrace: the command was not run: the guest has not come to where it could "
			"be (its kernel needs an initrd and serial ports: CONFIG_BLK_DEV_INITRD, "
			"CONFIG_SERIAL_8250)\n");
	else
		fprintf(stderr, "hvtrace: the command was not run: still %s\n",
			waited_for(e->waits));
	pthread_mutex_unlock(&e->lock);
}
