/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what the files of frontend/api share. */
#ifndef HVTRACE_FRONTEND_API_LOCAL_H
#define HVTRACE_FRONTEND_API_LOCAL_H

#include "frontend/api/hvtrace.h"
#include "frontend/decode/formats.h"
#include "frontend/session/attach.h"

/* --- events: event.c ---------------------------------------------------------------------------
 */

struct api_field {
	const struct tep_format_field *field;
	char *string; /* NULL: nobody has asked for it */
};

struct hvtrace_event {
	struct formats *formats;
	struct dat *dat;
	struct decode_event now;
	char comm[64], number[16]; /* the second: in place of a name */
	/* What is made when it is asked for; it belongs to the event that is there now. */
	struct api_lazy *lazy;
};

int api_event_init(struct hvtrace_event *ev); /* 0 or -ENOMEM */
void api_event_exit(struct hvtrace_event *ev);
/* It is this one from now on, in the words of these; its task as they name it, if comm is not set.
 */
void api_event_set(struct hvtrace_event *ev, struct formats *f, struct dat *d,
		   const struct decode_event *now);

/*
 * libtraceevent 1.7 parses by variables of its own: all of a process, one at a time. As
 * formats_load().
 */
int api_formats_load(struct formats *f, const struct dat_info *info, char *err, size_t errlen);

/* --- what a trace under way means: described.c -------------------------------------------------
 */

/* Formats and names, as a file of it would have them. */
struct described {
	struct dat *dat;
	struct formats *formats;
	uint64_t events, symbols; /* when they were read: trace_events_changes() and the like */
	int64_t read_ms;
};

/* 0, or -1 with one line in err: then it is as it was. */
int described_read(struct described *d, struct session *s, const char *guest, uint64_t tsc_khz,
		   char *err, size_t errlen);
/* There may be others by now. Asking is cheap. */
bool described_is_old(const struct described *d, struct trace *t);
void described_free(struct described *d);

/* --- a guest: guest.c, read.c, files.c ----------------------------------------------------------
 */

/* What the options of a handle point to. */
struct option_texts {
	char **text;
	size_t nr;
};

struct hvtrace {
	struct attach a; /* first: the session's callbacks find it by that */
	struct attach_target target;
	struct session_options options;
	struct option_texts texts;
	void (*message)(void *arg, const char *line);
	void *message_arg;
	bool attached, over;	    /* over: the guest has been let go, or has gone */
	struct trace_status status; /* as of its end */
	char name[128];
	unsigned int vcpus;
	uint64_t tsc_khz;
	struct described described;
	struct instance_taker *taker;
	struct hvtrace_event event;
	int64_t looked_ms;	 /* for what has become of the guest */
	char err[512], why[512]; /* the second: it is over */
};

void api_options_free(struct hvtrace *h); /* options.c */

/* With why it has ended. As hvtrace_detach(). */
int guest_let_go(struct hvtrace *h, const char *why);

int64_t api_now_ms(void);

#endif
