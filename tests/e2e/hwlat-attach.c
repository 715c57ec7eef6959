// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hwlat-attach.c - the tracer hwlat on a guest of tests/e2e/qemu-lib.sh, with and without somebody
 * else on the host's processor.
 *
 * usage: hwlat-attach TARGET KERNEL SERIAL PID
 */
#include "tests/e2e/running-guest.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer/ring/entry.h"
#include "tracer/instance/instance.h"
#include "tracer/ring/merge.h"
#include "tracer/instance/files.h"
#include "tracer/record/files.h"
#include "tracer/tracers/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

#define BUSY	  "workload getppid 20000"
#define THRESH_US 1000
#define WINDOW_US 100000
#define TIMES	  200 /* of BUSY: what must happen by then */

static pid_t qemu;

static void begin(struct env *e)
{
	struct trace_config cfg = {
		.tracer = "nop",
		.control = true,
		.buffer_bytes = 1 << 20,
		.engine = TRACE_ENGINE_TRAP,
	};

	env_trace(e, cfg);
	assert_int_equal(trace_set_hwlat_us(e->trace, HWLAT_WIDTH, WINDOW_US), 0);
	assert_int_equal(trace_set_hwlat_us(e->trace, HWLAT_WINDOW, WINDOW_US), 0);
	trace_set_hwlat_mode(e->trace, HWLAT_PER_CPU);
	assert_int_equal(instance_set_tracer(trace_top(e->trace), "hwlat"), 0);
	assert_int_equal(trace_thresh(e->trace), 10000);
}

static void end(struct env *e)
{
	assert_int_equal(instance_set_tracer(trace_top(e->trace), "nop"), 0);
	assert_int_equal(trace_detach(e->trace), 0);
	env_trace_forget(e);
}

/* More than one run has. */
#define ENTRIES_MAX 65536

/*
 * What must hold of every entry; how many there are. Those of vCPUs that were told of at nearly the
 * same time need not be in the order of their numbers: each vCPU's time is its own.
 */
static unsigned int check_entries(struct env *e, uint64_t thresh_us)
{
	struct merge *m = merge_new(trace_top(e->trace)->ring, e->trace->vcpus, false);
	bool *numbers = calloc(ENTRIES_MAX + 1, sizeof(*numbers));
	struct ring_event ev;
	unsigned int cpu, n = 0;

	assert_true(m && numbers);
	while (merge_next(m, &ev, &cpu)) {
		const struct trace_hwlat_entry *h = ev.data;

		assert_int_equal(h->ent.type, TRACE_HWLAT);
		assert_true(h->duration > thresh_us);
		assert_true(h->outer_duration >= h->duration);
		assert_true(h->count >= 1);
		assert_int_equal(h->nmi_count, 0);
		assert_true(h->tv_sec > 0 && h->tv_nsec < 1000000000);
		assert_in_range(h->seqnum, 1, ENTRIES_MAX);
		assert_false(numbers[h->seqnum]);
		numbers[h->seqnum] = true;
		n++;
	}
	merge_free(m);
	/* None is left out: they are those from 1 on. */
	for (unsigned int i = 1; i <= n; i++)
		assert_true(numbers[i]);
	free(numbers);
	return n;
}

/* Each vCPU's figures go on, whether or not there is something to tell. */
static void the_host_tells(void **state)
{
	struct machine_delay before[MACHINE_MAX_VCPUS] = {{0}}, after;
	struct env *e = *state;
	uint64_t runs = 0;
	unsigned int n;

	begin(e);
	for (unsigned int v = 0; v < e->trace->vcpus; v++)
		assert_int_equal(machine_get_delay(e->m, v, &before[v]), 0);
	console_run(&e->console, BUSY);
	for (unsigned int v = 0; v < e->trace->vcpus; v++) {
		assert_int_equal(machine_get_delay(e->m, v, &after), 0);
		assert_true(after.ns >= before[v].ns);
		assert_true(after.runs >= before[v].runs);
		runs += after.runs - before[v].runs;
	}
	assert_true(runs > 0);
	assert_int_equal(machine_get_delay(e->m, e->trace->vcpus, &after), -EINVAL);
	instance_set_on(trace_top(e->trace), false);
	n = check_entries(e, 10);
	print_message("# %u waits of more than 10 us\n", n);
	end(e);
}

/* --- somebody else --------------------------------------------------------------------------- */

static int first_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

static void confine(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(tid, sizeof(set), &set), 0);
}

/* All threads of QEMU's, the vCPUs' among them. */
static void confine_guest(int cpu)
{
	const struct dirent *d;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)qemu);
	dir = opendir(path);
	assert_non_null(dir);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.')
			confine((pid_t)strtol(d->d_name, NULL, 10), cpu);
	closedir(dir);
}

static pid_t spin(int cpu)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	confine(0, cpu);
	alarm(600); /* should nobody end it */
	for (;;)
		;
}

static void contention_is_seen(void **state)
{
	struct env *e = *state;
	struct instance *top;
	int cpu = first_cpu();
	unsigned int n;
	pid_t other;

	begin(e);
	top = trace_top(e->trace);
	trace_set_thresh(e->trace, THRESH_US * 1000);
	instance_clear(top, ALL_VCPUS);
	confine_guest(cpu);
	other = spin(cpu);
	for (int i = 0; i < TIMES && !instance_has_events(top, ALL_VCPUS); i++)
		console_run(&e->console, BUSY);
	assert_int_equal(kill(other, SIGKILL), 0);
	assert_int_equal(waitpid(other, NULL, 0), other);
	instance_set_on(top, false);
	/* One of the threshold before, that was just being written, may be the first. */
	n = check_entries(e, 10);
	print_message("# %u waits of more than %d us, at most %lu us\n", n, THRESH_US,
		      instance_max_latency(top) / 1000);
	assert_true(n > 0);
	assert_true(instance_max_latency(top) > THRESH_US * 1000);
	end(e);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_host_tells),
		cmocka_unit_test(contention_is_seen),
	};

	if (argc != 5)
		return 2;
	qemu = (pid_t)strtol(argv[4], NULL, 10);
	argv[4] = NULL;
	env_arguments = argv + 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, env_setup, env_teardown);
}
