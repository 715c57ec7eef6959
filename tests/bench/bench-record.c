// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-record.c - five million function records a second, of two vCPUs, that go to a trace.dat for
 * $RECORD_SECONDS (default: 10): how many are lost, what the recorder takes for each beside what
 * writing it to the ring takes, and how much memory the process has beside the rings at most.
 *
 * usage: bench-record [FILE.dat], which it leaves then
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "frontend/record/record.h"
#include "frontend/tracefs/view.h"
#include "tests/bench/bench.h"
#include "tests/unit/tracefs-trace.h"
#include "tracer/core/trace.h"
#include "tracer/instance/instance.h"
#include "tracer/ring/entry.h"
#include "tracer/ring/ring.h"

enum { RATE = 5 * 1000 * 1000, STEP = 10 * 1000, PATHS = 64, PATH_LEN = 24 };
enum { BUFFER = 32 << 20 }; /* of each vCPU: the default */

struct calls {
	uint64_t ip[PATHS][PATH_LEN];
	uint64_t seed, ts;
};

static uint64_t next_random(struct calls *c)
{
	c->seed = c->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return c->seed >> 33;
}

static void calls_init(struct calls *c)
{
	*c = (struct calls){.seed = 1};
	for (unsigned int p = 0; p < PATHS; p++)
		for (unsigned int i = 0; i < PATH_LEN; i++)
			c->ip[p][i] = UINT64_C(0xffffffff81000000) + next_random(c) % 0x1000000;
}

/* One way through the kernel after another, as a guest that does the same things over and over has
 * them. */
static void write_records(struct calls *c, struct ring *r, unsigned int n)
{
	const uint64_t *path = c->ip[next_random(c) % PATHS];

	for (unsigned int i = 0; i < n; i++) {
		struct trace_function_entry *e;
		unsigned int at = i % PATH_LEN;

		if (!at)
			path = c->ip[next_random(c) % PATHS];
		c->ts += 50 + next_random(c) % 300;
		e = ring_reserve(r, sizeof(*e), c->ts);
		e->ent = (struct trace_entry){.type = TRACE_FN, .pid = 1};
		e->ip = path[at];
		e->parent_ip = at ? path[at - 1] : path[0];
		ring_commit(r);
	}
}

/* As fast as is asked for; what it takes by itself, in ns. */
static double produce(struct trace *t, unsigned int seconds, uint64_t *made)
{
	const uint64_t all = (uint64_t)RATE * seconds;
	struct instance *top = trace_top(t);
	double start = bench_now_ns(), cpu = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	static struct calls calls[TRACEFS_VCPUS];

	for (unsigned int v = 0; v < TRACEFS_VCPUS; v++)
		calls_init(&calls[v]);
	for (*made = 0; *made < all; *made += STEP) {
		unsigned int v = (unsigned int)(*made / STEP % TRACEFS_VCPUS);
		double ahead = (double)*made / RATE * 1e9 - (bench_now_ns() - start);

		if (ahead > 1e6)
			usleep((useconds_t)(ahead / 1e3));
		write_records(&calls[v], ring_now(top->ring, v), STEP);
	}
	return bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

static uint64_t lost(struct trace *t)
{
	uint64_t n = 0;

	for (unsigned int v = 0; v < TRACEFS_VCPUS; v++) {
		struct ring_stats st;

		ring_get_stats(ring_now(trace_top(t)->ring, v), &st);
		n += st.overrun + st.dropped;
	}
	return n;
}

static double process_cpu(void)
{
	return bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int record_all(struct trace *t, struct view *v, const char *path, unsigned int seconds)
{
	const struct record_config cfg = {path, 7, true, false};
	const struct record_guest guest = {.name = "bench", .release = "6.1"};
	struct record_result result;
	char err[256];
	struct record *r = record_open(&cfg, err, sizeof(err));
	uint64_t made, gone;
	double start, wall, cpu, own;
	struct rusage use;

	if (!r || record_start(r, t, v, &guest)) {
		fprintf(stderr, "bench-record: %s\n", r ? "cannot record" : err);
		return 1;
	}
	start = bench_now_ns();
	cpu = process_cpu();
	own = produce(t, seconds, &made);
	wall = (bench_now_ns() - start) / 1e9;
	cpu = process_cpu() - cpu - own;
	gone = lost(t);
	record_let_go(r);
	if (record_finish(r, NULL, NULL, &result) || result.lost) {
		fprintf(stderr, "bench-record: cannot finish %s\n", path);
		return 1;
	}
	getrusage(RUSAGE_SELF, &use);
	record_close(r);
	printf("record %.2f M records/s for %.1f s: %.4f %% lost, %.1f ns of the recorder for each (%.1f to write it), "
	       "%.1f MB of pages/s to %.1f MB/s of file\n",
	       (double)made / wall / 1e6, wall, (double)gone * 100 / (double)made,
	       cpu / (double)(made - gone), own / (double)made, (double)result.bytes / wall / 1e6,
	       (double)result.size / wall / 1e6);
	printf("record memory %.1f MB beside the rings\n",
	       (double)use.ru_maxrss / 1024 - (double)BUFFER * TRACEFS_VCPUS / (1 << 20));
	bench_figure("record.lost", (double)gone / (double)made);
	bench_figure("record.cpu", cpu / (double)(made - gone) / (own / (double)made));
	bench_figure("record.memory", (double)use.ru_maxrss / 1024 / 64 -
					      (double)BUFFER * TRACEFS_VCPUS / (64 << 20));
	return 0;
}

static void forget(const char *path)
{
	char part[RECORD_PATH_MAX];

	unlink(path);
	if (!record_part(path, part))
		unlink(part);
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("RECORD_SECONDS"), *path = argc > 1 ? argv[1] : NULL;
	char name[64], err[256] = "";
	struct trace *t;
	struct view *v;
	int status = 1;

	if (!path) {
		snprintf(name, sizeof(name), "/var/tmp/bench-record-%d.dat", (int)getpid());
		path = name;
	}
	tracefs_guest_new();
	t = tracefs_trace_new(err, sizeof(err));
	v = t ? view_new(t, "none") : NULL;
	if (v && !instance_resize(trace_top(t), ALL_VCPUS, BUFFER >> 10))
		status = record_all(t, v, path,
				    seconds ? (unsigned int)strtoul(seconds, NULL, 10) : 10);
	if (path == name)
		forget(name);
	else if (!status && record_place(path))
		status = 1;
	view_free(v);
	trace_free(t);
	tracefs_guest_free();
	return status;
}
