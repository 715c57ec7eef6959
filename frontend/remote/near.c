// SPDX-License-Identifier: GPL-2.0-or-later
/* near.c - see near.h */
#include "frontend/remote/near.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/lib/cancel.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/output.h"
#include "frontend/remote/messages.h"
#include "frontend/remote/peer.h"
#include "frontend/remote/request.h"
#include "frontend/remote/ssh.h"
#include "frontend/remote/uri.h"

#define SSH_ENDS_MS 5000 /* that ssh may take once nothing comes from it any more */

enum near_state {
	NEAR_WAITS, /* for the hello */
	NEAR_RUNS,
	NEAR_ENDED,  /* with a status */
	NEAR_FAILED, /* err says why */
	NEAR_CLOSED, /* by the other end, before that */
	NEAR_LEFT,   /* by us, since a signal asks for it */
};

struct near {
	const struct near_work *work;
	const char *program; /* that is started there, or NULL */
	struct remote_uri uri;
	struct cancel cancel;
	struct ssh ssh;
	struct peer peer;
	struct outlet outlet;
	struct messages messages;
	enum near_state state;
	int status;  /* of NEAR_ENDED, and */
	int signo;   /* of NEAR_LEFT */
	bool unread; /* the other end knows that its trace goes nowhere */
	bool utf8;
	char err[1536];
};

/* --- signals -----------------------------------------------------------------------------------
 */

/*
 * A second one. ssh is ended in case that it asks for a password; since rights are given up it
 * cannot be, and finds that nobody is at its ends. So does the other host's hvtrace.
 */
static void near_leave(void *arg, int signo)
{
	struct near *n = arg;

	ssh_drop(&n->ssh);
	output_last_word("hvtrace: interrupted twice: left at once; the other host lets the guest "
			 "go by itself\n");
	_exit(CANCEL_STATUS(signo));
}

/* One byte, which there is always room for, or nobody is there. */
static void near_tell(struct near *n, enum remote_word word)
{
	const char byte = (char)word;

	ssh_send(&n->ssh, &byte, 1);
}

/* The trace ends there, and is printed, or recorded to its end. */
static void near_interrupt(void *arg)
{
	struct near *n = arg;
	int signo = cancel_take(&n->cancel);

	if (!signo)
		return;
	if (n->state == NEAR_RUNS) {
		near_tell(n, signo == SIGINT ? REMOTE_INTERRUPT : REMOTE_TERMINATE);
	} else if (n->state == NEAR_WAITS) {
		n->signo = signo;
		n->state = NEAR_LEFT;
	}
}

/* --- what comes --------------------------------------------------------------------------------
 */

static int near_fail(struct near *n, const char *why)
{
	if (why != n->err)
		snprintf(n->err, sizeof(n->err), "%s", why);
	n->state = NEAR_FAILED;
	return -ECANCELED;
}

static int near_request(struct near *n)
{
	struct request r = {.files = 0};
	struct text bytes = {0};
	int rc;

	n->work->ask(n->work->arg, n->uri.far, &r);
	if (n->utf8)
		r.flags |= REMOTE_UTF8;
	n->peer.files = r.files;
	rc = request_put(&r, &bytes);
	if (!rc)
		rc = ssh_send(&n->ssh, bytes.buf, bytes.len);
	if (!rc)
		rc = ssh_beat(&n->ssh);
	text_free(&bytes);
	text_free(&r.words);
	return rc;
}

static int near_hello(void *arg, unsigned int protocol, const char *version)
{
	struct near *n = arg;
	int rc;

	if (protocol != REMOTE_PROTOCOL || strcmp(version, HVTRACE_VERSION) != 0) {
		snprintf(n->err, sizeof(n->err),
			 "hvtrace on %s is version %s, and this is " HVTRACE_VERSION
			 ": install the same one on both",
			 n->uri.host, version);
		return near_fail(n, n->err);
	}
	rc = near_request(n);
	if (rc) {
		snprintf(n->err, sizeof(n->err), "cannot ask %s for a trace: %s", n->uri.host,
			 strerror(-rc));
		return near_fail(n, n->err);
	}
	if (outlet_confine(&n->outlet, n->err, sizeof(n->err)))
		return near_fail(n, n->err);
	n->state = NEAR_RUNS;
	return 0;
}

/*
 * What cannot be written here has the trace end there; what is left of it is read and dropped. Of
 * text that nobody reads a signal is the end; of a recording it is not, see near_interrupt().
 */
static int near_trace(struct near *n, const uint8_t *data, size_t len)
{
	int rc = outlet_put(&n->outlet, data, len);

	if (rc == -EBADMSG)
		return rc;
	if (rc == -ECANCELED) {
		n->signo = cancel_asked(&n->cancel);
		n->state = NEAR_LEFT;
		return rc;
	}
	if (rc && !n->unread)
		near_tell(n, REMOTE_UNREAD);
	n->unread = rc;
	return 0;
}

static int near_data(void *arg, unsigned int frame, const uint8_t *data, size_t len)
{
	struct near *n = arg;

	if (frame == REMOTE_STDOUT)
		return near_trace(n, data, len);
	if (frame == REMOTE_STDERR) {
		messages_add(&n->messages, data, len);
		return 0;
	}
	return outlet_put_file(&n->outlet, frame - REMOTE_FILE, data, len);
}

static int near_status(void *arg, int status)
{
	struct near *n = arg;

	n->status = status;
	n->state = NEAR_ENDED;
	return 0;
}

static const struct peer_ops near_ops = {near_hello, near_data, near_status};

static void near_read(struct near *n)
{
	uint8_t part[32 << 10];
	ssize_t len = read(n->ssh.out, part, sizeof(part));
	int rc;

	if (len < 0 && errno == EINTR)
		return;
	if (len <= 0) {
		n->state = NEAR_CLOSED;
		return;
	}
	rc = peer_add(&n->peer, part, (size_t)len);
	if (rc && n->state < NEAR_ENDED) {
		snprintf(n->err, sizeof(n->err), "%s: %s", n->uri.host,
			 rc == -EBADMSG ? "what comes from there makes no sense" : strerror(-rc));
		n->state = NEAR_FAILED;
	}
}

static void near_run(struct near *n)
{
	while (n->state < NEAR_ENDED) {
		struct pollfd fds[] = {{.fd = n->cancel.fd, .events = POLLIN},
				       {.fd = n->ssh.out, .events = POLLIN},
				       {.fd = n->ssh.err, .events = POLLIN}};

		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[2].revents)
			ssh_hear(&n->ssh);
		if (fds[0].revents)
			near_interrupt(n);
		else if (fds[1].revents)
			near_read(n);
	}
}

/* --- the end -----------------------------------------------------------------------------------
 */

/* There was no hello. ssh: its exit status, which is that of the shell there where it has come so
 * far. */
static void explain_silence(struct near *n, int ssh)
{
	const char *host = n->uri.host, *said = n->ssh.said;
	const char *program = n->program ? n->program : "hvtrace";

	if (ssh == 255)
		snprintf(n->err, sizeof(n->err), "cannot connect to %s: %s", host,
			 *said ? said : "ssh does not say why");
	else if (ssh == 127)
		snprintf(n->err, sizeof(n->err),
			 "%s is not on %s: install it there, or name it by HVTRACE_REMOTE=/PATH",
			 program, host);
	else if (ssh == 126)
		snprintf(n->err, sizeof(n->err), "%s on %s cannot be run%s%s", program, host,
			 *said ? ": " : "", said);
	else if (ssh == EXIT_USAGE)
		snprintf(
			n->err, sizeof(n->err),
			"%s on %s is another version, which serves no other hosts: install " HVTRACE_VERSION
			" there",
			program, host);
	else
		snprintf(n->err, sizeof(n->err), "%s does not start on %s%s%s", program, host,
			 *said ? ": " : "", said);
}

/* The guest is let go there by who misses us. */
static void explain_break(struct near *n)
{
	const char *said = n->ssh.said;

	snprintf(n->err, sizeof(n->err),
		 "the connection to %s is broken%s%s; the guest is let go there", n->uri.host,
		 *said ? ": " : "", said);
}

static void say_what_is_left(const struct near *n)
{
	if (outlet_has_journal(&n->outlet))
		fprintf(stderr,
			"hvtrace: %s is not finished; what is recorded is there: hvtrace repair %s\n",
			n->work->out.output, n->work->out.output);
}

static int near_give_up(struct near *n)
{
	int status = n->state == NEAR_LEFT ? CANCEL_STATUS(n->signo) : EXIT_FAILED;

	if (n->state == NEAR_LEFT)
		snprintf(n->err, sizeof(n->err), "%s",
			 n->peer.greeted ? "interrupted: the trace is not printed to its end"
					 : "interrupted");
	fprintf(stderr, "hvtrace: %s\n", n->err);
	say_what_is_left(n);
	outlet_give_up(&n->outlet, status, n->state == NEAR_LEFT ? "signal" : "error", n->err);
	return status;
}

static int near_finish(struct near *n)
{
	const bool whole = n->state == NEAR_ENDED || n->state == NEAR_CLOSED;
	int ssh = ssh_end(&n->ssh, whole ? SSH_ENDS_MS : 0);

	messages_end(&n->messages);
	if (n->state == NEAR_ENDED)
		return outlet_finish(&n->outlet, n->status);
	if (n->state == NEAR_CLOSED && !n->peer.greeted)
		explain_silence(n, ssh);
	else if (n->state == NEAR_CLOSED)
		explain_break(n);
	return near_give_up(n);
}

/* --- the beginning -----------------------------------------------------------------------------
 */

/* As whoever attaches to a guest of this host: who is stopped sends no beats. */
static void near_ignore_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
}

static int near_connect(struct near *n)
{
	const char *argv[REMOTE_SSH_WORDS];
	char shell[2 * REMOTE_URI_MAX];
	int rc;

	n->program = getenv("HVTRACE_REMOTE");
	if (n->program && !*n->program)
		n->program = NULL;
	if (remote_uri_shell(n->program, shell, sizeof(shell))) {
		snprintf(n->err, sizeof(n->err), "HVTRACE_REMOTE is no name of a program");
		return -1;
	}
	remote_uri_ssh(&n->uri, shell, argv);
	rc = ssh_start(&n->ssh, argv);
	if (!rc)
		return 0;
	snprintf(n->err, sizeof(n->err), "cannot start %s: %s", argv[0], strerror(-rc));
	return -1;
}

static int near_begin(struct near *n)
{
	const struct outlet_signals signals = {&n->cancel, near_interrupt, n};
	int rc;

	n->cancel.leave = near_leave;
	n->cancel.arg = n;
	rc = cancel_start(&n->cancel);
	if (rc) {
		snprintf(n->err, sizeof(n->err), "cannot start a thread: %s", strerror(-rc));
		return -1;
	}
	near_ignore_signals();
	output_hurry(&n->cancel);
	return outlet_open(&n->outlet, &n->work->out, &signals, n->err, sizeof(n->err)) ||
			       near_connect(n)
		       ? -1
		       : 0;
}

static int near_work_there(struct near *n)
{
	int status;

	n->messages.host = n->uri.host;
	if (near_begin(n)) {
		n->state = cancel_asked(&n->cancel) ? NEAR_LEFT : NEAR_FAILED;
		n->signo = cancel_asked(&n->cancel);
		status = near_give_up(n);
	} else {
		near_run(n);
		status = near_finish(n);
	}
	outlet_close(&n->outlet);
	output_hurry(NULL);
	cancel_stop(&n->cancel);
	return status;
}

int near_do(const struct near_work *work)
{
	struct near *n = calloc(1, sizeof(*n));
	int status = EXIT_USAGE;

	if (!n) {
		fprintf(stderr, "hvtrace: no memory\n");
		return EXIT_FAILED;
	}
	n->work = work;
	n->peer.ops = &near_ops;
	n->peer.arg = n;
	n->utf8 = output_is_utf8();
	if (remote_uri_parse(work->connect, &n->uri, n->err, sizeof(n->err)))
		fprintf(stderr, "hvtrace: %s\n", n->err);
	else
		status = near_work_there(n);
	free(n);
	return status;
}
