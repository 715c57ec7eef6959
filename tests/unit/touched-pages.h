/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * touched-pages.h - memory of which only a few pages can be read at a time, and a count of how
 * often another one was turned to: the cost of a walk in steps, whatever the time it takes.
 */
#ifndef HVTRACE_TESTS_TOUCHED_PAGES_H
#define HVTRACE_TESTS_TOUCHED_PAGES_H

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TOUCHED_PAGE   4096
#define TOUCHED_WINDOW 4

static struct {
	uint8_t *map, *window[TOUCHED_WINDOW];
	size_t len, turns;
	size_t limit; /* of turns, behind which the walk is given up */
} touched;

static inline void touched_segv(int sig, siginfo_t *info, void *context)
{
	static const char endless[] = "a walk has no end\n";
	uint8_t *at = info->si_addr, **slot = &touched.window[touched.turns % TOUCHED_WINDOW];

	(void)context;
	if (at < touched.map || at >= touched.map + touched.len) {
		signal(sig, SIG_DFL);
		return;
	}
	if (touched.turns++ == touched.limit) {
		if (write(STDERR_FILENO, endless, sizeof(endless) - 1) < 0)
			abort();
		_exit(1);
	}
	if (*slot)
		mprotect(*slot, TOUCHED_PAGE, PROT_NONE);
	*slot = touched.map + (at - touched.map) / TOUCHED_PAGE * TOUCHED_PAGE;
	mprotect(*slot, TOUCHED_PAGE, PROT_READ);
}

/* A copy of these bytes; the program ends after more than limit turns. */
static inline void *touched_begin(const void *bytes, size_t len, size_t limit)
{
	const struct sigaction act = {.sa_sigaction = touched_segv, .sa_flags = SA_SIGINFO};

	memset(&touched, 0, sizeof(touched));
	touched.limit = limit;
	touched.len = (len + TOUCHED_PAGE - 1) / TOUCHED_PAGE * TOUCHED_PAGE;
	touched.map =
		mmap(NULL, touched.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (touched.map == MAP_FAILED || sigaction(SIGSEGV, &act, NULL))
		abort();
	memcpy(touched.map, bytes, len);
	mprotect(touched.map, touched.len, PROT_NONE);
	return touched.map;
}

/* How many turns it took. */
static inline size_t touched_end(void)
{
	signal(SIGSEGV, SIG_DFL);
	munmap(touched.map, touched.len);
	return touched.turns;
}

#endif
