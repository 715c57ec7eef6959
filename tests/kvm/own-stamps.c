// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * own-stamps.c - compares the time stamps of a trace with those of the guest's own log, over a
 * whole boot, and looks for calls and for stamps that stand still.
 *
 * usage: own-stamps CONSOLE [CALL COUNT]... <TRACE
 *
 * CONSOLE is what the guest has printed, with the kernel's time stamps. The trace (on standard
 * input: it may have millions of lines) has the event printk:console and, where the entry of a
 * message is to be checked, the function vprintk_store(): else a message may be as much older than
 * its event as the host has kept the guest waiting, and half of them have to be near. The kernel
 * takes a message's time at the beginning of vprintk_store(); at its end is the event, with the
 * text (kernel/printk/printk.c of 6.1 and 6.12). Before the kernel has events, there has to be an
 * entry of that function at a message's time.
 *
 * CALL COUNT: a process "workload" has so many lines in which this occurs.
 *
 * How many lines in a row have one stamp is told, and not judged: the kernel's own clock stands now
 * and then, where a tick comes late.
 *
 * Says what it has found in comments of TAP; exit status 1 when it is not what it should be.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES  4096
#define MAX_CALLED 65536 /* calls of vprintk_store(): some messages are of several */
#define MAX_CPUS   8
#define MAX_CALLS  8
#define TEXT_MAX   160 /* what is compared of a message */

/* So many messages of a boot have to be compared when there are only events. */
#define FEW 10

/* CONFIG_HZ of Debian's kernels is 250. */
#define TICK_US 4000
/* Of the kernel's clock: how far it is from its time of day in its first seconds
 * (sched_clock_tick()). */
#define EXACT_US (TICK_US / 16 + 50)
/* Until it has a clocksource the kernel counts ticks, some of which a slow host loses. */
#define EARLY_US (10 * TICK_US)

struct message {
	int64_t us; /* its stamp */
	char text[TEXT_MAX];
	bool seen;
};

static struct message messages[MAX_LINES];
static size_t nr_messages, next_message;
static int64_t called[MAX_CALLED];
static size_t nr_called;

static struct {
	int64_t entry, tick; /* last ones; -1: there was none */
} cpus[MAX_CPUS];

static struct {
	const char *name;
	unsigned long want, have;
} calls[MAX_CALLS];
static size_t nr_calls;

/* What was found. */
static struct {
	unsigned long lines, compared, exact, near, wrong, excused, alone;
	unsigned long early_compared, early_exact; /* of these: before the clocksource */
	int64_t worst;				   /* of those that are not excused */
	struct run {
		unsigned long n;
		int64_t us;
	} early, late;	/* the longest run of one stamp, and when; before and behind the clocksource
			 */
	struct run now; /* the present one */
	int64_t counted_until;
} found;

/* "   12.345678" as microseconds; *end is behind it. -1: it is none. */
static int64_t stamp_read(const char *text, const char **end)
{
	char *point, *behind;
	long long s = strtoll(text, &point, 10), us;

	if (point == text || *point != '.')
		return -1;
	us = strtoll(point + 1, &behind, 10);
	if (behind != point + 7)
		return -1;
	*end = behind;
	return s * 1000000 + us;
}

static void text_copy(char *to, const char *from)
{
	size_t len = strcspn(from, "\r\n");

	len = len < TEXT_MAX - 1 ? len : TEXT_MAX - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

static void console_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[4096];

	if (!f) {
		fprintf(stderr, "own-stamps: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	found.counted_until = INT64_MAX;
	while (fgets(line, sizeof(line), f) && nr_messages < MAX_LINES) {
		struct message *m = &messages[nr_messages];
		const char *text;

		if (line[0] != '[')
			continue;
		m->us = stamp_read(line + 1, &text);
		if (m->us < 0 || strncmp(text, "] ", 2))
			continue;
		text_copy(m->text, text + 2);
		if (!strncmp(m->text, "clocksource: Switched to", 24) &&
		    found.counted_until == INT64_MAX)
			found.counted_until = m->us;
		nr_messages++;
	}
	fclose(f);
}

/* The next message with this text: events come in the log's order, nearly. */
static struct message *message_find(const char *text)
{
	char want[TEXT_MAX];

	text_copy(want, text);
	for (size_t i = 0; i < nr_messages; i++) {
		struct message *m = &messages[(next_message + i) % nr_messages];

		if (!m->seen && !strcmp(m->text, want)) {
			next_message = (size_t)(m - messages) + 1;
			m->seen = true;
			return m;
		}
	}
	return NULL;
}

/*
 * The kernel's own clock is no better than this: it stands while a tick is late, and on a CPU that
 * has not had one it has never begun (kernel/sched/clock.c).
 */
static bool kernel_stands(unsigned int cpu, int64_t entry)
{
	int64_t tick = cpus[cpu].tick;

	return tick < 0 ? cpu > 0 : entry - tick > TICK_US;
}

static void exact_count(const struct message *m, bool exact)
{
	bool early = m->us < found.counted_until;

	found.compared++;
	found.exact += exact;
	found.early_compared += early;
	found.early_exact += early && exact;
}

static void message_compare(const struct message *m, unsigned int cpu, int64_t event)
{
	bool known = cpus[cpu].entry >= 0;
	int64_t entry = known ? cpus[cpu].entry : event, off = 0;

	found.near += llabs(event - m->us) <= EXACT_US;
	if (known && m->us < entry)
		off = entry - m->us;
	else if (m->us > event)
		off = m->us - event;
	exact_count(m, off <= EXACT_US);
	if (off > EXACT_US && kernel_stands(cpu, entry)) {
		found.excused++;
		return;
	}
	found.worst = off > found.worst ? off : found.worst;
	if (off <= (m->us < found.counted_until ? EARLY_US : TICK_US))
		return;
	found.wrong++;
	printf("# [%5lld.%06lld] %.60s: traced from %.6f to %.6f, CPU %u\n",
	       (long long)(m->us / 1000000), (long long)(m->us % 1000000), m->text,
	       (double)entry / 1e6, (double)event / 1e6, cpu);
}

static void run_note(int64_t us)
{
	struct run *longest = us < found.counted_until ? &found.early : &found.late;

	if (us == found.now.us)
		found.now.n++;
	else
		found.now = (struct run){.n = 1, .us = us};
	if (us && found.now.n > longest->n)
		*longest = found.now;
}

static void call_count(const char *line, const char *what)
{
	if (!strstr(line, " workload-") || strstr(line, " workload-") > what)
		return;
	for (size_t i = 0; i < nr_calls; i++)
		calls[i].have += strstr(what, calls[i].name) != NULL;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* TASK-PID [CPU] FLAGS STAMP: WHAT */
static void trace_line(const char *line)
{
	const char *at = strstr(line, " ["), *what;
	unsigned long cpu;
	char *end;
	int64_t us;

	if (line[0] == '#' || !at)
		return;
	cpu = strtoul(at + 2, &end, 10);
	if (*end != ']' || cpu >= MAX_CPUS)
		return;
	for (at = end + 1; *at == ' '; at++)
		;
	us = stamp_read(at + strcspn(at, " "), &what);
	if (us < 0 || strncmp(what, ": ", 2))
		return;
	what += 2;
	found.lines++;
	run_note(us);
	if (starts(what, "vprintk_store <-")) {
		cpus[cpu].entry = us;
		if (nr_called < MAX_CALLED)
			called[nr_called++] = us;
	} else if (starts(what, "scheduler_tick <-") || starts(what, "sched_tick <-")) {
		cpus[cpu].tick = us;
	} else if (starts(what, "console: ")) {
		struct message *m = message_find(what + 9);

		if (m)
			message_compare(m, (unsigned int)cpu, us);
	} else {
		call_count(line, what);
	}
}

static bool calls_are_right(void)
{
	bool right = true;

	for (size_t i = 0; i < nr_calls; i++) {
		printf("# %s: %lu times, of %lu\n", calls[i].name, calls[i].have, calls[i].want);
		right &= calls[i].have == calls[i].want;
	}
	return right;
}

/* Messages without an event: how far away is the nearest call? */
static void compare_the_rest(void)
{
	for (size_t i = 0; i < nr_messages; i++) {
		int64_t nearest = INT64_MAX;

		if (messages[i].seen)
			continue;
		for (size_t k = 0; k < nr_called; k++) {
			int64_t off = llabs(called[k] - messages[i].us);

			nearest = off < nearest ? off : nearest;
		}
		if (nearest <= TICK_US)
			exact_count(&messages[i], nearest <= EXACT_US);
		found.alone += nearest > TICK_US;
	}
}

/*
 * Until it has a clocksource the kernel's clock stands where ticks are lost. Between two that the
 * host has looked at it is not known when that was, and a busy host looks at fewer.
 */
static bool most_are_exact(void)
{
	unsigned long late = found.compared - found.early_compared;

	return found.early_exact >= found.early_compared / 2 &&
	       found.exact - found.early_exact + found.excused >= late / 10 * 9;
}

/* Some are printed while the kernel checks its sites, without probes, or by CPUs without a clock.
 */
static bool stamps_are_right(void)
{
	if (nr_called)
		compare_the_rest();
	printf("# %lu lines; %lu of %zu messages compared: %lu within %d us, at most %lld us off; %lu "
	       "while the kernel's clock stood\n",
	       found.lines, found.compared, nr_messages, found.exact, EXACT_US,
	       (long long)found.worst, found.excused);
	printf("# before the clocksource: %lu of %lu\n", found.early_exact, found.early_compared);
	printf("# %lu with their event within %d us; %lu without a call at their time\n",
	       found.near, EXACT_US, found.alone);
	printf("# longest run of one stamp: %lu lines at %.6f, before the clocksource %lu at %.6f\n",
	       found.late.n, (double)found.late.us / 1e6, found.early.n,
	       (double)found.early.us / 1e6);
	/*
	 * The event is registered while the kernel boots: how soon depends on the host; and so does
	 * how long it comes behind the message's time, which only the function's entry could tell.
	 */
	if (!nr_called && found.near < found.compared / 2)
		return false;
	return found.compared > (nr_called ? nr_messages / 3 : FEW) &&
	       found.alone < nr_messages / 10 && !found.wrong && most_are_exact();
}

int main(int argc, char **argv)
{
	bool right;
	char line[4096];

	if (argc < 2 || argc % 2 || argc / 2 - 1 > MAX_CALLS) {
		fprintf(stderr, "usage: own-stamps CONSOLE [CALL COUNT]... <TRACE\n");
		return 2;
	}
	console_read(argv[1]);
	for (int i = 2; i < argc; i += 2) {
		calls[nr_calls].name = argv[i];
		calls[nr_calls++].want = strtoul(argv[i + 1], NULL, 10);
	}
	for (unsigned int i = 0; i < MAX_CPUS; i++)
		cpus[i].entry = cpus[i].tick = -1;
	while (fgets(line, sizeof(line), stdin))
		trace_line(line);
	right = calls_are_right();
	right &= stamps_are_right();
	return !right;
}
