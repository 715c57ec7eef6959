// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-calls.c - a guest program that makes system calls and says what each of them has taken by
 * the guest's clock.
 *
 * usage: bench-calls [--cpu N] [--for SECONDS] CALL COUNT...
 *
 * Each CALL is made COUNT / 10 + 1 times first (an emulating host has new code to translate after
 * every change of the guest's text), then COUNT times, and
 *
 *   begin CALL
 *   end CALL COUNT NANOSECONDS WORK
 *
 * stand around that, for a host that wants to use its own clock. WORK is what a call takes in terms
 * of a piece of work that this program does by itself, which nothing traces: the calls are made in
 * parts, with a piece of work behind each, and the fastest part counts, and the fastest piece. So a
 * host that is faster at one time than at another, or busy for a while, does not change it. With
 * --for it goes through all pairs again until the time is over and prints only "made CALL COUNT"
 * for each in the end. Without arguments it does nothing: that is what forkexec executes.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAIRS 16
/* Of the calls of a pair, at most: so many that most of them fit into a time slice of a busy host.
 */
#define PARTS 200

/* The two ends of a conversation with a child: what is written to the one comes back on the other.
 */
struct peer {
	int to, from;
	pid_t pid;
};

/* What is not the call itself (starting this program, printing) can be told from it. */
static bool call_nothing(const struct peer *p)
{
	(void)p;
	return true;
}

/* syscall(2) where the C library's function may make another call instead. */

static bool call_stat(const struct peer *p)
{
	struct stat st;

	(void)p;
	return !syscall(SYS_newfstatat, AT_FDCWD, "/proc/uptime", &st, 0);
}

static bool call_getppid(const struct peer *p)
{
	(void)p;
	return syscall(SYS_getppid) >= 0;
}

static bool call_openread(const struct peer *p)
{
	int fd = open("/init", O_RDONLY);
	char buf[64];
	bool ok = fd >= 0 && read(fd, buf, sizeof(buf)) == sizeof(buf);

	(void)p;
	return fd >= 0 && !close(fd) && ok;
}

static bool call_forkexec(const struct peer *p)
{
	pid_t pid = fork();
	int status;

	(void)p;
	if (!pid) {
		execl("/proc/self/exe", "bench-calls", NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static bool call_pingpong(const struct peer *p)
{
	char c = 'x';

	return write(p->to, &c, 1) == 1 && read(p->from, &c, 1) == 1;
}

static const struct call {
	const char *name;
	bool (*fn)(const struct peer *p);
} calls[] = {
	{"nothing", call_nothing},   {"stat", call_stat},	  {"getppid", call_getppid},
	{"openread", call_openread}, {"forkexec", call_forkexec}, {"pingpong", call_pingpong},
};

struct pair {
	const struct call *call;
	unsigned long count, made;
};

struct bench {
	struct pair pairs[MAX_PAIRS];
	size_t nr_pairs;
	long seconds; /* --for, or 0 */
	struct peer peer;
};

/* --- the child that answers ---------------------------------------------------------------- */

static void peer_echo(int from, int to)
{
	char c;

	while (read(from, &c, 1) == 1)
		if (write(to, &c, 1) != 1)
			break;
	_exit(0);
}

static bool peer_start(struct peer *p)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		return false;
	p->pid = fork();
	if (!p->pid) {
		close(to[1]);
		close(from[0]);
		peer_echo(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	p->to = to[1];
	p->from = from[0];
	return p->pid > 0;
}

static void peer_stop(const struct peer *p)
{
	close(p->to);
	close(p->from);
	waitpid(p->pid, NULL, 0);
}

/* --- measuring ----------------------------------------------------------------------------- */

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static bool make_calls(struct bench *b, struct pair *p, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		if (!p->call->fn(&b->peer)) {
			fprintf(stderr, "bench-calls: %s failed\n", p->call->name);
			return false;
		}
	}
	p->made += count;
	return true;
}

/* Some 25 us under QEMU's TCG, of loads, stores and arithmetic. */
static void work(void)
{
	static volatile unsigned int words[512];
	unsigned int x = 1;

	for (unsigned int i = 0; i < 4096; i++) {
		x = x * 1664525 + 1013904223;
		words[x >> 23] += x;
	}
}

static double least(double best, double ns)
{
	return best && best < ns ? best : ns;
}

/* The time of all parts in *ns, and what a call takes in the fastest, in pieces of work. */
static bool measure_parts(struct bench *b, struct pair *p, long long *ns, double *in_work)
{
	unsigned long left = p->count, most = (left + PARTS - 1) / PARTS;
	double part = 0, piece = 0;

	*ns = 0;
	do {
		unsigned long count = left < most ? left : most;
		long long start = now_ns(), called, worked;

		if (!make_calls(b, p, count))
			return false;
		called = now_ns();
		work();
		worked = now_ns();
		*ns += called - start;
		part = least(part, (double)(called - start) / (double)count);
		piece = least(piece, (double)(worked - called));
		left -= count;
	} while (left);
	*in_work = part / piece;
	return true;
}

static bool measure(struct bench *b, struct pair *p)
{
	long long ns;
	double in_work;

	if (!make_calls(b, p, p->count / 10 + 1))
		return false;
	work();
	printf("begin %s\n", p->call->name);
	fflush(stdout);
	if (!measure_parts(b, p, &ns, &in_work))
		return false;
	printf("end %s %lu %lld %.8f\n", p->call->name, p->count, ns, in_work);
	fflush(stdout);
	return true;
}

static bool measure_all(struct bench *b)
{
	for (size_t i = 0; i < b->nr_pairs; i++)
		if (!measure(b, &b->pairs[i]))
			return false;
	return true;
}

static bool hammer(struct bench *b)
{
	long long end = now_ns() + b->seconds * 1000000000LL;

	while (now_ns() < end)
		for (size_t i = 0; i < b->nr_pairs; i++)
			if (!make_calls(b, &b->pairs[i], b->pairs[i].count))
				return false;
	for (size_t i = 0; i < b->nr_pairs; i++)
		printf("made %s %lu\n", b->pairs[i].call->name, b->pairs[i].made);
	return true;
}

/* --- the command line ---------------------------------------------------------------------- */

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	return NULL;
}

static bool pin_to(unsigned long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set))
		return true;
	perror("bench-calls: sched_setaffinity");
	return false;
}

static bool parse(struct bench *b, char **arg)
{
	for (; arg[0] && arg[1]; arg += 2) {
		struct pair *p = &b->pairs[b->nr_pairs];

		if (!strcmp(arg[0], "--cpu")) {
			if (!pin_to(strtoul(arg[1], NULL, 10)))
				return false;
			continue;
		}
		if (!strcmp(arg[0], "--for")) {
			b->seconds = strtol(arg[1], NULL, 10);
			continue;
		}
		p->call = find_call(arg[0]);
		p->count = strtoul(arg[1], NULL, 10);
		if (!p->call || !p->count || ++b->nr_pairs == MAX_PAIRS)
			break;
	}
	if (!arg[0] && b->nr_pairs)
		return true;
	fprintf(stderr, "usage: bench-calls [--cpu N] [--for SECONDS] CALL COUNT...\n");
	return false;
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	bool ok;

	if (argc == 1)
		return 0;
	if (!parse(&b, argv + 1))
		return 2;
	if (!peer_start(&b.peer)) {
		perror("bench-calls: cannot start the other process");
		return 1;
	}
	ok = b.seconds ? hammer(&b) : measure_all(&b);
	peer_stop(&b.peer);
	return ok ? 0 : 1;
}
