// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * graph-attach.c - graphs all functions of a guest of tests/e2e/qemu-lib.sh: each call of a known
 * number of them is a complete and balanced tree, each return belongs to its call, and the guest is
 * afterwards what it was. With "few", two functions only, for a kernel whose returns are traps.
 * With "soak", all of them for so many seconds of programs that start each other and pass bytes.
 *
 * usage: graph-attach TARGET KERNEL SERIAL [few | soak SECONDS]
 */
#include "tests/e2e/running-guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tracer/ring/entry.h"
#include "tracer/record/graph.h"
#include "tracer/instance/instance.h"
#include "tracer/ring/merge.h"
#include "tracer/instance/files.h"
#include "tracer/tracer.h"

#define STATS	200
#define COUNTED "workload stat 200"
/* QEMU's TCG translates all anew behind each stop. */
#define FEW_STATS   20
#define COUNTED_FEW "workload stat 20"
/* Tasks that come and go, sleep, wait for each other, and move between vCPUs. */
#define OTHERS                                                                                     \
	"for i in 1 2 3 4 5 6 7 8; do busybox ls / | busybox cat >/dev/null & done; wait; "        \
	"busybox sleep 0.1"
#define LOAD                                                                                       \
	"for i in 1 2 3 4 5 6 7 8; do (for k in 1 2 3 4; do busybox ls / | busybox cat | "         \
	"busybox wc >/dev/null; workload stat 10 getppid 10 >/dev/null; done) & done; wait"
#define DEPTH 64
#define TASKS 4096

/* What a kernel says when something is wrong with it. */
static const char *const complaints[] = {"BUG",	   "WARNING", "Oops",	 "lockup",
					 "stall",  "W+X",     "missing", "general protection",
					 "unwind", "stack"};

struct graph_test {
	const char *const *filter;
	size_t nr_filter;
	enum trace_engine engine;
};

static void graph_begin(struct env *e, const struct graph_test *test)
{
	struct trace_config cfg = {
		.tracer = "function_graph",
		.filter = test->filter,
		.nr_filter = test->nr_filter,
		.buffer_bytes = 64 << 20,
		.engine = test->engine,
		.lossless = true,
	};

	env_trace(e, cfg);
}

static void graph_end(struct env *e)
{
	struct pairing_counts c;
	struct trace_status st;

	assert_int_equal(trace_detach(e->trace), 0);
	trace_get_status(e->trace, &st);
	graph_get_counts(e->trace->graph, &c);
	assert_int_equal(c.calls, c.ended + c.dropped + c.open);
	print_message("# %lu functions, %lu events, %lu lost; %lu pairs, %lu unmatched, %lu late, "
		      "%lu dropped, %lu tasks\n",
		      st.traced, st.hits, st.lost, c.pairs, c.unmatched, c.late, c.dropped,
		      c.tasks);
}

/* Before the ring buffers; in them, too. */
static uint64_t lost_records(struct env *e)
{
	struct trace_status st;

	trace_get_status(e->trace, &st);
	return st.staging_lost;
}

static uint64_t lost_events(struct env *e)
{
	struct trace_status st;

	trace_get_status(e->trace, &st);
	return st.lost;
}

/* --- what it has recorded -------------------------------------------------------------------- */

struct open_call {
	uint64_t func;
	bool root;
};

struct read_task {
	int32_t key; /* pid; of idle tasks -1 - cpu */
	int nr;	     /* open calls; -1: not known yet */
	int known;   /* those below were there before the first event */
	struct open_call call[DEPTH];
};

struct reading {
	struct env *e;
	struct read_task *tasks;
	size_t nr_tasks;
	uint64_t root;	/* the function whose trees are counted */
	uint64_t since; /* what is older is left out */
	uint64_t entries, exits, roots, complete, wrong, skipped;
	int pid; /* of the trees that are counted */
};

static struct read_task *task_of(struct reading *r, int32_t pid, unsigned int cpu)
{
	int32_t key = pid ? pid : -1 - (int32_t)cpu;

	for (size_t i = 0; i < r->nr_tasks; i++)
		if (r->tasks[i].key == key)
			return &r->tasks[i];
	assert_true(r->nr_tasks < TASKS);
	r->tasks[r->nr_tasks] = (struct read_task){.key = key, .nr = -1};
	return &r->tasks[r->nr_tasks++];
}

static const char *name_of(struct reading *r, uint64_t func)
{
	const struct guestsym_symbol *sym =
		guestsym_find(r->e->gs, func - r->e->trace->guest.slide, NULL, NULL);

	return sym ? sym->name : "?";
}

static void complain(struct reading *r, const struct read_task *t, uint64_t func, int depth,
		     const char *what)
{
	if (r->wrong++ >= 20)
		return;
	print_message("# task %d: %s of %s at depth %d, %d open", t->key, what, name_of(r, func),
		      depth, t->nr);
	for (int i = t->nr; i-- > 0 && i > t->nr - 5;)
		print_message(" %s", name_of(r, t->call[i].func));
	print_message("\n");
}

static void read_entry(struct reading *r, struct read_task *t, const struct trace_graph_entry *ent)
{
	bool root = ent->func == r->root && ent->ent.pid == r->pid;

	r->entries++;
	if (t->nr < 0)
		t->nr = t->known = ent->depth;
	if (ent->depth != t->nr)
		complain(r, t, ent->func, ent->depth, "entry");
	t->nr = ent->depth;
	assert_in_range(t->nr, 0, DEPTH - 1);
	t->call[t->nr++] = (struct open_call){ent->func, root};
	r->roots += root;
}

static void read_exit(struct reading *r, struct read_task *t, const struct trace_graph_exit *ret)
{
	r->exits++;
	assert_true(ret->rettime >= ret->calltime);
	if (t->nr < 0 || (ret->depth == t->nr - 1 && ret->depth < t->known)) {
		t->nr = t->known = ret->depth;
		r->skipped++;
		return;
	}
	if (!t->nr || ret->depth != t->nr - 1 || t->call[t->nr - 1].func != ret->func) {
		complain(r, t, ret->func, ret->depth, "return");
		t->nr = ret->depth;
		return;
	}
	t->nr--;
	r->complete += t->call[t->nr].root;
}

static void read_all(struct reading *r)
{
	struct instance *top = trace_top(r->e->trace);
	struct merge *m = merge_new(top->ring, r->e->trace->vcpus, false);
	struct ring_event ev;
	unsigned int cpu;

	assert_non_null(m);
	while (merge_next(m, &ev, &cpu)) {
		const struct trace_entry *ent = ev.data;
		struct read_task *t = task_of(r, ent->pid, cpu);

		if (ev.ts < r->since)
			continue;
		if (ent->type == TRACE_GRAPH_ENT)
			read_entry(r, t, ev.data);
		else if (ent->type == TRACE_GRAPH_RET)
			read_exit(r, t, ev.data);
	}
	merge_free(m);
}

/* --- tests ----------------------------------------------------------------------------------- */

static int workload_pid(struct env *e)
{
	const char *at = strstr(e->console.out, "workload: pid ");

	assert_non_null(at);
	return (int)strtol(at + strlen("workload: pid "), NULL, 10);
}

static uint64_t function_site(struct env *e, const char *const *names)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(e->gs, &sites);

	for (; *names; names++)
		for (size_t i = 0; i < n; i++)
			if (!strcmp(sites[i].name, *names))
				return sites[i].addr + e->trace->guest.slide;
	fail_msg("no such function");
	return 0;
}

static void text_is(struct env *e, const uint8_t *before, size_t len)
{
	size_t now_len;
	uint8_t *now;

	env_attach(e, NULL);
	now = read_text(e, &now_len);
	env_detach(e);
	assert_int_equal(now_len, len);
	assert_memory_equal(now, before, len);
	free(now);
}

static void no_complaints(struct env *e)
{
	console_run(&e->console, "busybox dmesg -c");
	for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++)
		if (strstr(e->console.out, complaints[i]))
			fail_msg("the guest's kernel says: %s", e->console.out);
}

/*
 * Of a task that has exited nothing is open but what leads to its end, from the system call on, and
 * does not return.
 */
static void nothing_is_open(struct reading *r)
{
	static const char *const ways[] = {"x64_sys_call",  "__x64_sys_exit_group",
					   "do_group_exit", "do_exit",
					   "do_task_dead",  "__do_sys_exit_group"};
	const struct read_task *t = task_of(r, r->pid, 0);

	for (int i = 0; i < t->nr; i++) {
		const char *name = name_of(r, t->call[i].func);
		size_t k = 0;

		while (k < sizeof(ways) / sizeof(ways[0]) && strcmp(name, ways[k]) != 0)
			k++;
		if (k == sizeof(ways) / sizeof(ways[0]))
			fail_msg("%s is open when its task has exited", name);
	}
}

static void graph(struct env *e, const struct graph_test *test, const char *const *root)
{
	static struct read_task tasks[TASKS];
	const bool trap = test->engine == TRACE_ENGINE_TRAP;
	const uint64_t stats = trap ? FEW_STATS : STATS;
	struct reading r = {.e = e, .tasks = tasks};
	uint8_t *before;
	size_t len;

	env_attach(e, NULL);
	before = read_text(e, &len);
	env_detach(e);
	console_run(&e->console, "busybox dmesg -c >/dev/null");
	graph_begin(e, test);
	console_run(&e->console, trap ? COUNTED_FEW : COUNTED);
	r.pid = workload_pid(e);
	console_run(&e->console, trap ? "busybox ls / >/dev/null" : OTHERS);
	graph_end(e);
	r.root = function_site(e, root);
	read_all(&r);
	print_message("# %lu entries, %lu exits, %lu roots, %lu complete, %lu wrong, %lu before\n",
		      r.entries, r.exits, r.roots, r.complete, r.wrong, r.skipped);
	assert_int_equal(lost_events(e), 0);
	assert_int_equal(r.roots, stats);
	assert_int_equal(r.complete, stats);
	assert_int_equal(r.wrong, 0);
	nothing_is_open(&r);
	env_trace_forget(e);
	text_is(e, before, len);
	free(before);
	no_complaints(e);
}

static void everything(void **state)
{
	static const char *const root[] = {"__do_sys_newfstatat", "__x64_sys_newfstatat", NULL};
	const struct graph_test test = {.engine = TRACE_ENGINE_TRAMPOLINE};

	graph(*state, &test, root);
}

/* What vfs_getattr() ends by jumping to is found at run time, and not traced. */
static const char *const some[] = {"vfs_statx", "filename_lookup", "vfs_getattr*", "dput"};

static void some_functions(void **state)
{
	static const char *const root[] = {"vfs_statx", NULL};
	const struct graph_test test = {
		.filter = some,
		.nr_filter = sizeof(some) / sizeof(some[0]),
		.engine = TRACE_ENGINE_TRAMPOLINE,
	};

	graph(*state, &test, root);
}

static void two_functions(void **state)
{
	static const char *const root[] = {"vfs_statx", NULL};
	const struct graph_test test = {
		.filter = some, .nr_filter = 2, .engine = TRACE_ENGINE_TRAMPOLINE};

	graph(*state, &test, root);
}

static void traps(void **state)
{
	static const char *const root[] = {"vfs_statx", NULL};
	const struct graph_test test = {
		.filter = some, .nr_filter = 2, .engine = TRACE_ENGINE_TRAP};

	graph(*state, &test, root);
}

/* --- for long -------------------------------------------------------------------------------- */

/* Each vCPU's buffer begins somewhere else: the time since when all of them are there. */
static uint64_t all_since(struct env *e)
{
	struct merge *m = merge_new(trace_top(e->trace)->ring, e->trace->vcpus, false);
	uint64_t since = 0, known = 0;
	struct ring_event ev;
	unsigned int cpu;

	assert_non_null(m);
	while (merge_next(m, &ev, &cpu)) {
		if (!(known >> cpu & 1))
			since = ev.ts;
		known |= UINT64_C(1) << cpu;
	}
	merge_free(m);
	return since;
}

static bool has_call(struct reading *r, const struct read_task *t, const char *name)
{
	for (int i = 0; i < t->nr; i++)
		if (!strcmp(name_of(r, t->call[i].func), name))
			return true;
	return false;
}

/* Those that are no more have left every function but those that do not return. */
static void none_is_open(struct reading *r)
{
	struct env *e = r->e;
	unsigned int open = 0, ended = 0;
	char path[32];

	console_run(&e->console, "echo /proc/[0-9]* .");
	for (size_t i = 0; i < r->nr_tasks; i++) {
		const struct read_task *t = &r->tasks[i];

		snprintf(path, sizeof(path), "/proc/%d ", t->key);
		if (t->key <= 0 || strstr(e->console.out, path))
			continue;
		ended++;
		/* What do_exit() ends in: where that was called may be too long ago. */
		if (t->nr <= 0 || has_call(r, t, "do_exit") || has_call(r, t, "do_task_dead"))
			continue;
		complain(r, t, t->call[t->nr - 1].func, t->nr - 1, "still open");
		open++;
	}
	print_message("# %u tasks have ended\n", ended);
	assert_true(ended);
	assert_int_equal(open, 0);
}

static unsigned int soak_seconds;

static void soak(void **state)
{
	const struct graph_test test = {.engine = TRACE_ENGINE_TRAMPOLINE};
	static struct read_task tasks[TASKS];
	struct env *e = *state;
	struct reading r = {.e = e, .tasks = tasks, .pid = -1};
	time_t end = time(NULL) + soak_seconds;
	unsigned int rounds = 0;
	uint64_t lost;

	console_run(&e->console, "busybox dmesg -c >/dev/null");
	graph_begin(e, &test);
	for (; time(NULL) < end; rounds++)
		console_run(&e->console, LOAD);
	console_run(&e->console, COUNTED);
	graph_end(e);
	r.since = all_since(e);
	read_all(&r);
	print_message("# %u rounds, %lu records lost; at the end %lu entries, %lu exits, %lu "
		      "wrong, %lu before\n",
		      rounds, lost_records(e), r.entries, r.exits, r.wrong, r.skipped);
	assert_true(r.entries && r.exits);
	lost = lost_records(e);
	if (!lost)
		none_is_open(&r);
	env_trace_forget(e);
	no_complaints(e);
	/* What was lost may be on either side of a call: then nothing can be said of them. */
	if (lost)
		skip();
	assert_int_equal(r.wrong, 0);
}

/* --- backtraces ------------------------------------------------------------------------------ */

/* What the kernel says of the stack of the CPU that asks: without what it does not rely on. */
static void backtrace(struct env *e, char *to, size_t len)
{
	char *line, *save;
	size_t at = 0;

	console_run(&e->console, "busybox dmesg -c >/dev/null; echo l >/proc/sysrq-trigger");
	console_run(&e->console, "busybox dmesg");
	line = strstr(e->console.out, "Call Trace:");
	assert_non_null(line);
	for (line = strtok_r(line, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		const char *word = strrchr(line, ' ');

		if (strstr(line, "entry_SYSCALL_64"))
			break;
		if (!word || strchr(line, '?'))
			continue;
		at += (size_t)snprintf(to + at, len - at, "%s\n", word + 1);
		assert_true(at < len);
	}
	assert_non_null(line);
	console_run(&e->console, "busybox dmesg -c >/dev/null");
}

/* Where the init waits for the one that asks, which may be there before it waits. */
static void sleeping_stack(struct env *e, char *to, size_t len)
{
	const char *stack;

	console_run(&e->console, "sh -c 'until busybox grep -q do_wait /proc/1/stack; do :; done; "
				 "busybox cat /proc/1/stack'");
	stack = strstr(e->console.out, "[<0>]");
	assert_non_null(stack);
	snprintf(to, len, "%.*s", (int)(strstr(stack, "\ndone-") - stack), stack);
}

static void backtraces_are_the_same(void **state)
{
	const struct graph_test test = {.engine = TRACE_ENGINE_TRAMPOLINE};
	struct env *e = *state;
	char before[4096], during[4096], asleep_before[4096], asleep_during[4096];

	console_run(&e->console, "echo 1 >/proc/sys/kernel/sysrq");
	backtrace(e, before, sizeof(before));
	assert_non_null(strstr(before, "write_sysrq_trigger+"));
	assert_non_null(strstr(before, "vfs_write+"));
	sleeping_stack(e, asleep_before, sizeof(asleep_before));
	assert_non_null(strstr(asleep_before, "do_wait+"));
	graph_begin(e, &test);
	backtrace(e, during, sizeof(during));
	sleeping_stack(e, asleep_during, sizeof(asleep_during));
	graph_end(e);
	env_trace_forget(e);
	assert_string_equal(before, during);
	assert_string_equal(asleep_before, asleep_during);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),
		cmocka_unit_test(some_functions),
		cmocka_unit_test(traps),
		cmocka_unit_test(backtraces_are_the_same),
	};

	const struct CMUnitTest few[] = {
		cmocka_unit_test(two_functions),
		cmocka_unit_test(traps),
	};
	const struct CMUnitTest soaking[] = {
		cmocka_unit_test(soak),
	};
	bool only_few = argc == 5 && !strcmp(argv[4], "few");
	bool only_soak = argc == 6 && !strcmp(argv[4], "soak");

	if (argc != 4 && !only_few && !only_soak) {
		fprintf(stderr, "usage: graph-attach TARGET KERNEL SERIAL [few | soak SECONDS]\n");
		return 2;
	}
	if (only_soak)
		soak_seconds = (unsigned int)strtoul(argv[5], NULL, 10);
	argv[4] = NULL;
	env_arguments = argv + 1;
	if (only_few)
		return cmocka_run_group_tests_name("graph", few, env_setup, env_teardown);
	if (only_soak)
		return cmocka_run_group_tests_name("graph", soaking, env_setup, env_teardown);
	return cmocka_run_group_tests_name("graph", tests, env_setup, env_teardown);
}
