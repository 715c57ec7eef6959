/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * broker.h - a process that keeps the rights that this one gives up, for a few deeds that are named
 * before.
 *
 * All that can be asked of it is the number of a deed, each once: nothing that this process is made
 * to say later can have it do anything else, or to anything else.
 */
#ifndef HVTRACE_FRONTEND_SANDBOX_BROKER_H
#define HVTRACE_FRONTEND_SANDBOX_BROKER_H

#include <stdbool.h>
#include <stddef.h>

struct broker;

/* Done in the broker, on a copy of the memory as it is when that starts, with no other thread and
 * nothing open. */
struct broker_deed {
	int (*run)(void *arg); /* 0 or -errno */
	void *arg;
	bool at_end; /* when this process is gone or done with it, if it was not asked for */
};

#define BROKER_DEEDS_MAX 8

/* 0 or -errno. It ends with this process at the latest, and does nothing but what is for the end.
 */
int broker_start(struct broker **broker, const struct broker_deed *deeds, size_t n);
/*
 * Have a deed done, and wait for that, 30 s at most. What it returns; -EALREADY: it was done
 * before; -ETIMEDOUT; or -EPIPE: the broker is gone. One thread at a time.
 */
int broker_ask(struct broker *broker, size_t deed);
/* Waits for its end, 2 s at most: it has none while a deed has none. NULL is allowed. */
void broker_stop(struct broker *broker);

#endif
