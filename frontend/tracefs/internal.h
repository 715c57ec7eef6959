/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * internal.h - the table of files. A row says what a file is called and what it does; files of one
 * topic are a table in a source of their own, listed in tree.c.
 */
#ifndef HVTRACE_FRONTEND_TRACEFS_INTERNAL_H
#define HVTRACE_FRONTEND_TRACEFS_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frontend/tracefs/event-index.h"
#include "frontend/tracefs/view.h"
#include "tracer/tracer.h"

/* What the directory of an instance knows besides the instance. */
struct view_instance {
	uint64_t number; /* 0: the top level; others are not used again */
	struct view_instance *next;
	uint64_t pipes;	     /* bit n: trace_pipe of vCPU n is open */
	unsigned int busy;   /* open trace_pipe and trace_pipe_raw, which hold the tracer */
	unsigned int pauses; /* open trace files that keep it from being recorded */
	bool was_on;	     /* tracing_on, which does not change by that */
	char name[];
};

struct open_file {
	const struct tracefs_file *file;
	struct view *view;
	struct open_file *prev, *next; /* of the view's */
	struct trace *trace;
	struct instance *instance;
	struct view_instance *dir; /* of the instance */
	int vcpu;		   /* of per_cpu/cpuN and the like, else ALL_VCPUS */
	unsigned int number;	   /* of a row for several files: which one; event-index.h */
	int flags;		   /* as it was opened */
	_Atomic bool nonblock;	   /* O_NONBLOCK now */
	pthread_mutex_t lock;	   /* held by read() and write() below, for what follows */
	struct text text;	   /* what show() gave */
	bool shown;
	bool over;  /* its trace is gone, and nothing is left but to close it */
	void *data; /* of open() */
};

enum tracefs_file_flags {
	TRACEFS_TOP = 1 << 0,	 /* only at the top level */
	TRACEFS_STREAM = 1 << 1, /* without a position */
	TRACEFS_EVENTS = 1 << 2, /* only if the guest's kernel tells its trace events */
};

struct tracefs_file {
	/*
	 * From the root of an instance. A component "NAME%d" stands for all vCPUs, one "%s" for the
	 * names that name() gives, "%system" for the systems of the guest's trace events, and
	 * "%event" for the events of the system that it is in.
	 */
	const char *path;
	const char *what; /* for README: what it reads as, or what is to be written, in lines */
	mode_t mode;
	unsigned int flags;
	const void *arg; /* for the functions below */
	/* All that follows may be NULL; a file that cannot be read or written says EINVAL then. */

	/* Not NULL: only for guests for which it says so. */
	bool (*there)(const struct trace *t);
	/* Within "%event", not NULL: only for events for which it says so. */
	bool (*event)(const struct guestsym_event *ev);
	/* The name of number n, "" if the instance has no such file. False: past the last. */
	bool (*name)(bool top, unsigned int n, char *name, size_t len);
	int (*open)(struct open_file *f);
	void (*release)(struct open_file *f);
	/* The whole text, each time the file is read from its beginning. */
	void (*show)(struct open_file *f, struct text *out);
	/* Else: as view_read(). */
	ssize_t (*read)(struct open_file *f, char *buf, size_t len, off_t off);
	bool (*wait)(struct open_file *f, int timeout_ms); /* as view_wait(); not locked */
	bool (*poll)(struct open_file *f, int timeout_ms); /* as view_poll(); NULL: wait() */
	/* A decimal number was written. */
	int (*set)(struct open_file *f, uint64_t value);
	/* Else, anything: the bytes taken. */
	ssize_t (*write)(struct open_file *f, const char *text, size_t len, off_t off);
};

struct tracefs_table {
	const char *title;
	const struct tracefs_file *row;
	size_t nr;
};

#define TRACEFS_TABLE(title, rows)                                                                 \
	{                                                                                          \
		(title), (rows), sizeof(rows) / sizeof((rows)[0])                                  \
	}

extern const struct tracefs_table tracefs_blk_files, tracefs_buffer_files, tracefs_event_files,
	tracefs_format_files, tracefs_function_files, tracefs_info_files, tracefs_marker_files,
	tracefs_option_files, tracefs_pid_files, tracefs_profile_files, tracefs_recording_files,
	tracefs_report_files, tracefs_trace_files;

/* The tables in the order of README; NULL past the last. */
const struct tracefs_table *tracefs_table(unsigned int i);
/* readme.c: what there is in a mount, and the languages that its files take. */
void tracefs_readme(struct open_file *f, struct text *out);

/* --- open-file.c -------------------------------------------------------------------------------
 */

/* Opened so as to start anew: what `>` of a shell does. */
bool opened_to_truncate(const struct open_file *f);
bool opened_to_read(const struct open_file *f);
bool opened_to_write(const struct open_file *f);

/* What is left of a text from an offset on. */
ssize_t text_read(const struct text *text, char *buf, size_t len, off_t off);

/* --- files-recording.c, files-formats.c --------------------------------------------------------
 */

/* tracing_on, and what the option pause-on-trace does to recording while a trace is open. */
bool recording_is_on(struct open_file *f);
void recording_pause(struct open_file *f);
void recording_resume(struct open_file *f);

/* An event of the system ftrace that is described here, as our own records have it. */
bool format_is_ours(const char *name);
/* Of what is written to a trigger: a page of the kernel's, with the end of the text. */
#define TRIGGER_MAX 4096

/* --- view-lock.c -------------------------------------------------------------------------------
 */

/*
 * The trace events of the guest by their names, as they are now: until view_events_put(). NULL: it
 * does not tell (yet). What the index says of each, and its name, stays.
 */
struct event_index *view_events(struct view *v);
void view_events_put(struct view *v, struct event_index *index); /* NULL is allowed */
/* The one at this place of the list; it stays. NULL: there is none, or the guest does not tell. */
const struct guestsym_event *view_event(struct view *v, uint32_t event);
/* What the guest's machine is; may be NULL. */
const char *view_machine(const struct view *v);
/* Held for what is in struct view_instance. */
void view_lock(struct view *v);
void view_unlock(struct view *v);

/* --- tree.c: the names of the table as a tree --------------------------------------------------
 */

struct tree;

#define TREE_ROOT 1

/* One of the rows' components: a directory if it has no file. */
struct tree_node {
	const char *name;
	size_t len;
	unsigned int parent;
	const struct tracefs_file *file; /* NULL: a directory */
	bool top;			 /* all that is in it is for the top level only */
	bool instances;			 /* the directory of those */
	enum { TREE_PLAIN, TREE_VCPU, TREE_NAMED, TREE_SYSTEM, TREE_EVENT } kind;
	bool (*names)(bool top, unsigned int n, char *name, size_t len);
};

struct tree *tree_new(void); /* NULL: no memory */
void tree_free(struct tree *tree);
/* NULL: no such node. They are numbered from TREE_ROOT on, parents before what is in them. */
const struct tree_node *tree_node(const struct tree *tree, unsigned int n);
/*
 * The name of number n of what a node stands for, "" if there is none. False: past the last. Not of
 * systems and events, which the tree does not know.
 */
bool tree_name(const struct tree_node *node, bool top, unsigned int vcpus, unsigned int n,
	       char *name, size_t len);

/* --- numbers.c: what is written, as the kernel reads it ----------------------------------------
 */

/* kstrtoul_from_user() with base 10: 0, -EINVAL or -ERANGE. */
int parse_number(const char *text, size_t len, uint64_t *value);
/* As isspace() of the kernel, which is of Latin-1. */
static inline bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0';
}

/* cpumask_parse_user(): 0, -EINVAL or -EOVERFLOW. */
int parse_mask(const char *text, size_t len, unsigned int bits, uint64_t *mask);
/* As %*pb, without a line end. */
void print_mask(uint64_t mask, unsigned int bits, struct text *out);
/* Without white space around it, cut to what fits. */
void copy_stripped(char *to, size_t room, const char *text, size_t len);

#endif
