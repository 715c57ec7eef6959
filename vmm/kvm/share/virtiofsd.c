// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * virtiofsd.c - a virtiofsd for a folder: it sees nothing of the host's but that, in namespaces of
 * its own, and ends when the socket to it is closed, so when this process does.
 *
 * Run by root it has what it takes to make files for any of the guest's users, but no devices:
 * other users of the host might open these. Run by anybody else it is root in a user namespace
 * only, so that it may do what this user may. What is read only is so by a mount that nobody else
 * sees.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vmm/kvm/share/vhost.h"
#include "vmm/program.h"

#define END_MS 2000

struct share {
	int fd;
	uint64_t features;
	struct program_server server;
};

/* --- what is run ------------------------------------------------------------------------------
 */

/* Where distributions have it: no one has it in PATH. */
static const struct kind {
	const char *path;
	bool is_qemus; /* the one that QEMU had up to version 7.2, in C */
} kinds[] = {
	{"/usr/libexec/virtiofsd", false},
	{"/usr/lib/virtiofsd", false},
	{"/usr/lib/qemu/virtiofsd", true},
};

static const struct kind *find_kind(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!access(kinds[i].path, X_OK))
			return &kinds[i];
	return NULL;
}

struct words {
	const char *argv[PROGRAM_MAX_WORDS];
	unsigned int n;
	char *source; /* "source=" and the folder, for QEMU's */
};

static void add(struct words *w, const char *const *words)
{
	while (*words)
		w->argv[w->n++] = *words++;
}

/*
 * What leads to the program: other rights, another view of the folder. In a PID namespace it ends
 * with unshare(1), whatever it has started: there are threads here that may end one process of
 * ours, but no group of them.
 */
static void add_prefix(struct words *w, const struct machine_share *from)
{
	static const char again[] = "mount -o bind,ro -- \"$1\" \"$1\" && shift && exec \"$@\"";
	const bool is_root = !geteuid();

	add(w, (const char *const[]){"unshare", "--pid", "--kill-child", NULL});
	if (!is_root)
		add(w, (const char *const[]){"--map-root-user", "--map-auto", NULL});
	if (from->read_only)
		add(w, (const char *const[]){"--mount", "--", "sh", "-c", again, "sh", from->path,
					     NULL});
	else
		add(w, (const char *const[]){"--", NULL});
}

/* As options of libfuse's are: a comma ends one. */
static char *escape_source(const char *path)
{
	static const char key[] = "source=";
	char *text = malloc(sizeof(key) + 2 * strlen(path)), *to = text;

	if (!text)
		return NULL;
	to = stpcpy(to, key);
	for (; *path; path++) {
		if (*path == ',' || *path == '\\')
			*to++ = '\\';
		*to++ = *path;
	}
	*to = '\0';
	return text;
}

static int make_words(struct words *w, const struct kind *k, const struct machine_share *from)
{
	add_prefix(w, from);
	add(w, (const char *const[]){k->path, "--fd=3", NULL});
	if (!k->is_qemus) {
		add(w, (const char *const[]){"--shared-dir", from->path, "--sandbox=namespace",
					     "--modcaps=-mknod", "--log-level=error", NULL});
		return 0;
	}
	w->source = escape_source(from->path);
	if (!w->source)
		return -ENOMEM;
	add(w, (const char *const[]){"-o", w->source, "-o", "sandbox=namespace", "-o",
				     "modcaps=-mknod", "-o", "log_level=err", NULL});
	return 0;
}

/* --- a share ----------------------------------------------------------------------------------
 */

const char *share_why(int rc)
{
	switch (rc) {
	case -EPIPE:
		return "virtiofsd has ended";
	case -ETIMEDOUT:
		return "virtiofsd does not answer";
	case -EPROTO:
		return "virtiofsd answers what makes no sense";
	case -EIO:
		return "virtiofsd refuses what the guest wants";
	case -EOPNOTSUPP:
		return "virtiofsd is too old";
	default:
		return strerror(-rc);
	}
}

static struct share *share_new(void)
{
	struct share *s = calloc(1, sizeof(*s));

	if (s) {
		s->fd = -1;
		s->server = (struct program_server){.pid = -1, .pidfd = -1, .says = -1};
	}
	return s;
}

static int begin(struct share *s, const struct share_memory *memory, unsigned int n)
{
	int rc = fcntl(s->fd, F_SETFL, O_NONBLOCK) ? -errno : vhost_begin(s->fd, &s->features);

	return rc ? rc : vhost_set_memory(s->fd, memory, n);
}

struct share *share_connect(int fd, const struct share_memory *memory, unsigned int n, char *err,
			    size_t errlen)
{
	struct share *s = share_new();
	int rc = -ENOMEM;

	if (s) {
		s->fd = fd;
		rc = begin(s, memory, n);
	} else {
		close(fd);
	}
	if (!rc)
		return s;
	snprintf(err, errlen, "%s", share_why(rc));
	share_close(s);
	return NULL;
}

static int start(struct share *s, const struct machine_share *from, char *err, size_t errlen)
{
	const struct kind *k = find_kind();
	struct words w = {.n = 0};
	int rc;

	if (!k) {
		snprintf(err, errlen,
			 "cannot share %s: there is no virtiofsd (in Debian 12's package "
			 "qemu-system-common, elsewhere in virtiofsd)",
			 from->path);
		return -ENOENT;
	}
	rc = make_words(&w, k, from);
	if (!rc)
		rc = program_serve_connected(&s->server, w.argv, &s->fd, 1);
	if (rc)
		snprintf(err, errlen, "cannot share %s: cannot start virtiofsd: %s", from->path,
			 strerror(-rc));
	free(w.source);
	return rc;
}

/* What it has said itself is better than what it looks like from here. */
static void complain(struct share *s, const char *path, int rc, char *err, size_t errlen)
{
	char words[256] = "";

	if (rc == -EPIPE)
		program_words(&s->server, "virtiofsd", words, sizeof(words));
	snprintf(err, errlen, "cannot share %s: %s%s", path, *words ? "virtiofsd says: " : "",
		 *words ? words : share_why(rc));
}

struct share *share_open(const struct machine_share *from, const struct share_memory *memory,
			 unsigned int n, char *err, size_t errlen)
{
	struct share *s = share_new();
	int rc;

	if (!s) {
		snprintf(err, errlen, "no memory for a shared folder");
		return NULL;
	}
	rc = start(s, from, err, errlen);
	if (!rc) {
		rc = begin(s, memory, n);
		if (!rc)
			return s;
		complain(s, from->path, rc, err, errlen);
	}
	share_close(s);
	return NULL;
}

void share_close(struct share *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	if (!program_ends(&s->server, END_MS))
		program_kill(&s->server); /* a signal to a group of processes may be refused */
	program_leave(&s->server, END_MS);
	free(s);
}

/* The other end of the socket is closed by the last that may write to the guest's memory, which a
 * virtiofsd that waits for a disk does once that call is over. */
bool share_end(struct share *s)
{
	shutdown(s->fd, SHUT_WR);
	if (vhost_left(s->fd, END_MS))
		return true;
	program_kill(&s->server);
	return vhost_left(s->fd, END_MS);
}

int share_fd(const struct share *s)
{
	return s->fd;
}

uint64_t share_features(const struct share *s)
{
	return s->features;
}

int share_set_features(struct share *s, uint64_t features)
{
	return vhost_set_features(s->fd, features);
}

int share_start_queue(struct share *s, unsigned int i, const struct share_queue *q)
{
	return vhost_start_queue(s->fd, i, q);
}

int share_stop_queue(struct share *s, unsigned int i, uint16_t *next)
{
	return vhost_stop_queue(s->fd, i, next);
}
