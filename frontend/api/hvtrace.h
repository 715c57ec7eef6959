/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvtrace.h - libhvtrace: trace the kernel of a running guest, or read a trace.dat file, event by
 * event. The manual is libhvtrace(3).
 *
 * Functions that return int give 0, or what their comment says, or a negative errno; then
 * hvtrace_error() has one line of text. Nothing here ends the process, prints, or takes a signal;
 * a process may have many handles.
 *
 * Threads: a handle and its events are used by one thread at a time, different handles by different
 * threads at once. Only hvtrace_cancel() may be called by any thread, and by signal handlers. While
 * a guest is traced threads of the library run, with all signals blocked, and two processes, which
 * are forked by hvtrace_attach() and end with it: one reads what a hostile kernel image might say,
 * one lets the guest run on should this process be killed. That one also kills this process if it
 * is stopped (SIGSTOP) while the guest waits for it.
 *
 * What is read of guests and files is checked as docs/security.md says, but by the process that
 * asks for it, with all of its rights: see hvtrace_confine().
 */
#ifndef HVTRACE_H
#define HVTRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HVTRACE_API __attribute__((visibility("default")))

/* Of the library that is loaded: "0.1.0". */
HVTRACE_API const char *hvtrace_version(void);

struct hvtrace;	      /* a guest that is traced, or is to be */
struct hvtrace_file;  /* a trace.dat file */
struct hvtrace_event; /* one event of either */

/* --- a guest ------------------------------------------------------------------------------- */

/* NULL: no memory. */
HVTRACE_API struct hvtrace *hvtrace_new(void);
/* Lets the guest go, if that is still to be done, and frees all. NULL is allowed. */
HVTRACE_API void hvtrace_free(struct hvtrace *h);
/* What went wrong last, or why the trace has ended; "" at first. Valid until the next call. */
HVTRACE_API const char *hvtrace_error(const struct hvtrace *h);

/*
 * Before hvtrace_attach(): how to trace. Names and values are those of the long options of
 * hvtrace-attach(1), in units that the name says: kernel, connect, tracer, filter, notrace, event,
 * pid, clock, engine, lossless ("1"), buffer-kb, window-mb, max-standstill-ms, from, until,
 * max-events, min-us, max-us, on-panic, set. filter, notrace, event, pid and set may be given
 * several times. -ENOENT: there is no such option; -EINVAL: no such value; -EBUSY: it is attached.
 */
HVTRACE_API int hvtrace_set(struct hvtrace *h, const char *option, const char *value);

/* Lines about how the trace is done, without line end; any thread may call. NULL: nobody (at
 * first). */
HVTRACE_API void hvtrace_on_message(struct hvtrace *h, void (*message)(void *arg, const char *line),
				    void *arg);

/*
 * Attach to a guest and begin to trace it: a domain of libvirt (name, id, UUID), or the gdb stub of
 * a QEMU (gdb:unix:PATH, gdb:HOST:PORT). On error the guest is as it was, and it may be tried
 * again.
 */
HVTRACE_API int hvtrace_attach(struct hvtrace *h, const char *target);
/*
 * Let the guest go, as it was found; what has been recorded can still be read. Nothing if that is
 * done already. An error: something could not be put back.
 */
HVTRACE_API int hvtrace_detach(struct hvtrace *h);
/* Ask whoever attaches or waits for an event to give up, once: that call returns -ECANCELED. */
HVTRACE_API void hvtrace_cancel(struct hvtrace *h);

/*
 * The next event, for as long as timeout_ms (-1: for ever): 1 with it in *ev, which is valid until
 * the next call with this handle; 0: the time is over. They are those of the trace itself: of its
 * instances, and of what a tracer of latencies keeps, files tell. -ENODATA: the trace has ended,
 * and all has been read; hvtrace_error() says why. Events come in the order of their times, a
 * moment after they happened. To be called several times a second while a guest is traced: it is
 * what sees that the guest has been reset or powered off.
 */
HVTRACE_API int hvtrace_next(struct hvtrace *h, int timeout_ms, const struct hvtrace_event **ev);

/* Record or do not, as tracing_on does. It is on at first. */
HVTRACE_API int hvtrace_start(struct hvtrace *h);
HVTRACE_API int hvtrace_stop(struct hvtrace *h);

/*
 * Files of the trace, as docs/tracefs.md has them: "set_ftrace_filter", "events/sched/enable".
 * Writing does what echo(1) does, adding what >> does. Read: *text is to be freed by free(3).
 */
HVTRACE_API int hvtrace_write(struct hvtrace *h, const char *file, const char *text);
HVTRACE_API int hvtrace_append(struct hvtrace *h, const char *file, const char *text);
HVTRACE_API int hvtrace_read(struct hvtrace *h, const char *file, char **text);

/* Counts, from hvtrace_attach() on. */
enum hvtrace_count {
	HVTRACE_RECORDED,    /* events */
	HVTRACE_LOST,	     /* events that were lost on the way to the buffers */
	HVTRACE_OVERWRITTEN, /* events that were overwritten by newer ones before they were read */
	HVTRACE_FUNCTIONS,   /* functions that are traced */
	HVTRACE_VCPUS,	     /* of the guest */
};
HVTRACE_API uint64_t hvtrace_count(struct hvtrace *h, enum hvtrace_count which);
/* What the guest is called, and its kernel's version ("6.1.0-13-amd64"); "": not known. */
HVTRACE_API const char *hvtrace_guest(const struct hvtrace *h);
HVTRACE_API const char *hvtrace_release(const struct hvtrace *h);

/*
 * For a process that is there for nothing else: give up, for all threads and for good, every right
 * that tracing this guest does not need. No file can be opened any more, no program started, nobody
 * connected to, and memory is limited. It comes behind hvtrace_attach().
 */
HVTRACE_API int hvtrace_confine(struct hvtrace *h);

/* --- a file -------------------------------------------------------------------------------- */

/* A trace.dat of version 6 or 7. NULL, with one line in err, which has room for size bytes. */
HVTRACE_API struct hvtrace_file *hvtrace_file_open(const char *path, char *err, size_t size);
HVTRACE_API void hvtrace_file_close(struct hvtrace_file *f); /* NULL is allowed */
/*
 * The next event, in the order of their times: 1 with it in *ev, valid until the next call; 0:
 * there is none any more; -EIO: the file cannot be read to its end.
 */
HVTRACE_API int hvtrace_file_next(struct hvtrace_file *f, const struct hvtrace_event **ev);
HVTRACE_API const char *hvtrace_file_error(const struct hvtrace_file *f);
HVTRACE_API unsigned int hvtrace_file_vcpus(const struct hvtrace_file *f);
/* uname of what was traced, its clock; "": not told. */
HVTRACE_API const char *hvtrace_file_uname(const struct hvtrace_file *f);
HVTRACE_API const char *hvtrace_file_clock(const struct hvtrace_file *f);

/* --- an event ------------------------------------------------------------------------------ */

/* Texts that these return are valid as long as the event. */

/* In nanoseconds, of clocks that do not count these (counter, x86-tsc of a file) in what they do.
 */
HVTRACE_API uint64_t hvtrace_event_time(const struct hvtrace_event *ev);
HVTRACE_API unsigned int hvtrace_event_vcpu(const struct hvtrace_event *ev);
HVTRACE_API int hvtrace_event_pid(const struct hvtrace_event *ev);
HVTRACE_API const char *hvtrace_event_comm(const struct hvtrace_event *ev);
/* "sched", "sched_switch"; "" and the number of an event whose format is not known. */
HVTRACE_API const char *hvtrace_event_system(const struct hvtrace_event *ev);
HVTRACE_API const char *hvtrace_event_name(const struct hvtrace_event *ev);
/* The instance that has recorded it, "" at the top. */
HVTRACE_API const char *hvtrace_event_instance(const struct hvtrace_event *ev);
/* Events of its vCPU that were lost just before it. */
#define HVTRACE_LOST_SOME UINT64_MAX /* it is not known how many */
HVTRACE_API uint64_t hvtrace_event_lost(const struct hvtrace_event *ev);
/* What it says, as its format prints it. */
HVTRACE_API const char *hvtrace_event_text(const struct hvtrace_event *ev);
/* The record as it is. */
HVTRACE_API const void *hvtrace_event_raw(const struct hvtrace_event *ev, size_t *len);

enum hvtrace_type {
	HVTRACE_NONE,	  /* there is no such field */
	HVTRACE_SIGNED,	  /* hvtrace_field_number(), as an int64_t */
	HVTRACE_UNSIGNED, /* hvtrace_field_number() */
	HVTRACE_ADDRESS,  /* the same; hvtrace_event_symbol() may know it */
	HVTRACE_STRING,	  /* hvtrace_field_string() */
	HVTRACE_BYTES,	  /* hvtrace_field_bytes(): an array of numbers, or anything else */
};

/* Its fields have numbers from 0 on, in the order of its format; common ones are not among them. */
HVTRACE_API size_t hvtrace_event_fields(const struct hvtrace_event *ev);
/* The number of a field; -1: it has none of this name. */
HVTRACE_API int hvtrace_event_find(const struct hvtrace_event *ev, const char *name);
/* Of a number that none has: "", HVTRACE_NONE, 0, NULL. */
HVTRACE_API const char *hvtrace_field_name(const struct hvtrace_event *ev, size_t field);
HVTRACE_API enum hvtrace_type hvtrace_field_type(const struct hvtrace_event *ev, size_t field);
HVTRACE_API uint64_t hvtrace_field_number(const struct hvtrace_event *ev, size_t field);
/* Up to its end, or its first 0, as the guest has it: any bytes. */
HVTRACE_API const char *hvtrace_field_string(const struct hvtrace_event *ev, size_t field);
HVTRACE_API const void *hvtrace_field_bytes(const struct hvtrace_event *ev, size_t field,
					    size_t *len);
/* How many bytes each number of an array has: 1, 2, 4 or 8. */
HVTRACE_API size_t hvtrace_field_element(const struct hvtrace_event *ev, size_t field);
/* The function that is at this address of the guest; NULL: none is known. */
HVTRACE_API const char *hvtrace_event_symbol(const struct hvtrace_event *ev, uint64_t address);

#ifdef __cplusplus
}
#endif

#endif
