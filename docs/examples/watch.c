// SPDX-License-Identifier: GPL-2.0-or-later
/* watch.c - print so many events of a running guest: watch gdb:unix:/run/guest.gdb
 * sched:sched_switch 10 cc watch.c $(pkg-config --cflags --libs libhvtrace) -o watch */
#include <hvtrace.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print(const struct hvtrace_event *ev)
{
	int next = hvtrace_event_find(ev, "next_comm");

	printf("%" PRIu64 " vCPU %u %s-%d %s", hvtrace_event_time(ev), hvtrace_event_vcpu(ev),
	       hvtrace_event_comm(ev), hvtrace_event_pid(ev), hvtrace_event_name(ev));
	if (next >= 0)
		printf(" next=%s", hvtrace_field_string(ev, (size_t)next));
	printf(": %s\n", hvtrace_event_text(ev));
}

int main(int argc, char **argv)
{
	const struct hvtrace_event *ev;
	struct hvtrace *h = hvtrace_new();
	int rc = h && argc == 4 ? hvtrace_set(h, "event", argv[2]) : -1;
	int left = argc == 4 ? (int)strtol(argv[3], NULL, 10) : 0;

	if (!rc)
		rc = hvtrace_attach(h, argv[1]);
	while (!rc && left > 0 && (rc = hvtrace_next(h, 10000, &ev)) == 1) {
		print(ev);
		left--;
		rc = 0;
	}
	if (!rc)
		rc = hvtrace_detach(h);
	if (rc || left)
		fprintf(stderr, "watch: %s\n", h ? hvtrace_error(h) : "no memory");
	hvtrace_free(h);
	return rc || left ? EXIT_FAILURE : EXIT_SUCCESS;
}
