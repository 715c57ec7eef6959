/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uri.h - what a URI of libvirt says of the way to another host by ssh. */
#ifndef HVTRACE_FRONTEND_REMOTE_URI_H
#define HVTRACE_FRONTEND_REMOTE_URI_H

#include <stdbool.h>
#include <stddef.h>

#define REMOTE_URI_MAX 1024 /* bytes of a URI, and so of any part of it */

struct remote_uri {
	char user[REMOTE_URI_MAX], host[REMOTE_URI_MAX], port[8]; /* user, port: empty: ssh's own */
	char keyfile[REMOTE_URI_MAX];				  /* empty: ssh's own */
	char command[REMOTE_URI_MAX];				  /* the program */
	bool no_verify, no_tty;
	char far[REMOTE_URI_MAX]; /* the URI of the libvirt there */
};

/* 0; -1 with one line in err. */
int remote_uri_parse(const char *text, struct remote_uri *uri, char *err, size_t errlen);

/*
 * How ssh is called, with a NULL behind it: words of the URI's and of their own. remote: what the
 * other host's shell is given.
 */
#define REMOTE_SSH_WORDS 40
void remote_uri_ssh(const struct remote_uri *uri, const char *remote,
		    const char *argv[REMOTE_SSH_WORDS]);
/*
 * What that shell is given to start an hvtrace, which is a program there; NULL: the one in its
 * PATH. 0; -1: no shell takes such a name, or it does not fit.
 */
int remote_uri_shell(const char *program, char *to, size_t size);

#endif
