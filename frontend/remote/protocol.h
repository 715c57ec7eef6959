/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protocol.h - what the two ends say to each other, over the stdin and stdout of `hvtrace remote`.
 *
 * There: one line, REMOTE_HELLO, the number of the protocol, a space, the version of hvtrace. What
 * a shell has printed before is not looked at.
 * Here, if both are its own: the request. u32 length of what follows, u32 flags, u32 how many files
 * the command writes beside stdout and stderr, u32 how many words it has, the words, each with a
 * zero behind it. The command finds these files as /dev/fd/3 and on.
 * Then, here: single bytes, enum remote_word. One comes every REMOTE_BEAT_MS at the latest, since
 * an end whose network or host has died is not told of that by anybody.
 * There: frames, each a byte that says what it is, u32 length of the data, the data; the last one
 * is REMOTE_STATUS.
 *
 * Numbers are little-endian.
 */
#ifndef HVTRACE_FRONTEND_REMOTE_PROTOCOL_H
#define HVTRACE_FRONTEND_REMOTE_PROTOCOL_H

#define REMOTE_PROTOCOL	   1
#define REMOTE_HELLO	   "hvtrace remote "
#define REMOTE_VERSION_MAX 32	      /* bytes of a version */
#define REMOTE_CHATTER_MAX (64 << 10) /* bytes before the hello */

#define REMOTE_REQUEST_MAX (1u << 20)
#define REMOTE_WORDS_MAX   16384
#define REMOTE_FILES_MAX   4

enum remote_flag {
	REMOTE_UTF8 = 1, /* so may be what it prints, whatever the locale there is */
};

enum remote_word {
	REMOTE_BEAT = '.',
	REMOTE_INTERRUPT = 'I', /* SIGINT for the command */
	REMOTE_TERMINATE = 'T', /* SIGTERM */
	REMOTE_UNREAD = 'U',	/* nobody reads its stdout any more */
};

#define REMOTE_BEAT_MS	  2000
#define REMOTE_SILENCE_MS 30000 /* then the other end is taken for dead */

enum remote_frame {
	REMOTE_STATUS, /* one byte: the exit status */
	REMOTE_STDOUT,
	REMOTE_STDERR,
	REMOTE_FILE, /* the first one; others have the next numbers */
};

#define REMOTE_FRAME_HEAD 5
#define REMOTE_FRAME_MAX  (64u << 10) /* bytes of data */

#endif
