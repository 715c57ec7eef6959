/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuse-words.h - what a fuzz target writes to the files of a mount, and names of new ones. */
#ifndef HVTRACE_TESTS_FUSE_WORDS_H
#define HVTRACE_TESTS_FUSE_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/input.h"

/* What is written to files, each with ";;" behind it. */
static const char words[] =
	"0;;1;;2;;nop;;function;;function_graph;;wakeup;;irqsoff;;preemptirqsoff;;blk;;"
	"hwlat;;alpha;;beta;;a*;;*;;!alpha;;:mod:*;;alpha:traceoff:2;;beta:stacktrace;;"
	"alpha:snapshot;;!alpha:traceoff;;sched:*;;*:*;;!*:*;;sched_switch;;kmem;;"
	"prev_pid == 1;;prev_comm ~ \"a*\" && next_prio > 3;;none;;global;;local;;x86-tsc;;"
	"mono;;nooverwrite;;overwrite;;noprint-parent;;sym-offset;;verbose;;stacktrace;;"
	"latency-format;;p:one alpha;;p:two beta+3 %ax;;r:three alpha $retval;;-:one;;"
	"hist:keys=prev_pid;;hist:keys=next_comm:vals=prev_prio;;!hist:keys=prev_pid;;"
	"traceoff:3 if prev_pid == 0;;enable_event:kmem:kmalloc;;"
	"e:four sched/sched_switch;;s:five u64 a; char b[16];;five u64 a; int b;;3;;f;;"
	"ffff;;-1;;16;;128;;999;;text for the trace;;a;;b;;c;;";

enum { NR_WORDS = 63 };

/* Number n of them: its length. */
static size_t word(unsigned int n, const char **text)
{
	for (*text = words; n--;)
		*text = strstr(*text, ";;") + 2;
	return (size_t)(strstr(*text, ";;") - *text);
}

/* Words, and bytes as they are, up to a byte that says which comes next. */
static size_t some_text(struct input *in, char *to, size_t room)
{
	size_t len = 0, n_word;
	const char *text;

	for (unsigned int n = input_byte(in) % 4; n <= 4; n++) {
		uint8_t kind = input_byte(in);

		if (kind < NR_WORDS && room - len > (n_word = word(kind, &text))) {
			memcpy(to + len, text, n_word);
			len += n_word;
		} else {
			for (kind &= 15; kind && len + 1 < room; kind--)
				to[len++] = (char)input_byte(in);
		}
		if (len + 1 < room && n < 4)
			to[len++] = " \n,;"[input_byte(in) % 4];
	}
	return len;
}

static void some_name(struct input *in, char *to, size_t room)
{
	uint8_t kind = input_byte(in);

	if (kind < 200) {
		snprintf(to, room, "%c", 'a' + kind % 5);
	} else {
		to[some_text(in, to, room - 1)] = '\0';
		to[strcspn(to, "/")] = '\0';
		if (!to[0])
			snprintf(to, room, "a");
	}
}

#endif
