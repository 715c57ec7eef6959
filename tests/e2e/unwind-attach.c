// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind-attach.c - stack traces of a guest of tests/e2e/qemu-lib.sh, worked out here, against
 * those that the guest's own function tracer takes (option func_stack_trace) at the same functions
 * in the same work: the same traces, address by address.
 *
 * usage: unwind-attach TARGET KERNEL SERIAL       /bin/dummy.ko is a module of the guest's
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/e2e/qemu-console.h"
#include "tracer/guest/guest.h"
#include "tracer/guest/site.h"
#include "tracer/tracer.h"
#include "tracer/unwind/unwind.h"

#define DEPTH  64
#define TRACES 4096
#define HITS   60000 /* a busy host makes the work longer, and its timer go more often */
#define REPEAT 5     /* of each trace, for what it takes */

/*
 * In system calls and in a module's function, where the same work gives the same traces; then in
 * interrupts, page faults and threads of the kernel, where it depends on the moment.
 */
static const char *const functions[] = {
	"do_filp_open",	     "vfs_statx",	 "ether_setup",
	"wake_up_new_task",  "handle_mm_fault",	 "update_process_times",
	"run_timer_softirq", "schedule_timeout",
};
#define NR_CERTAIN   3
#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* Makes all of them happen, in the same way each time. */
#define WORK                                                                                       \
	"workload stat 5 openat 5; busybox ip link add dummy7 type dummy; busybox ip link del dummy7; busybox sleep 0.2; echo >/dev/null"

/* Traces, each one once: addresses as NAME+0xOFFSET, innermost first. */
struct traces {
	char *text[TRACES];
	size_t nr;
};

/* What the same kernel says about itself, from its image or from its memory. */
struct source {
	struct guestsym *gs;
	struct guest_kernel g;
	struct unwind *u;
};

struct hit {
	uint64_t ips[DEPTH];
	unsigned int n;
};

struct env {
	const char *target;
	struct machine *m;
	struct source image, memory;
	struct guestsym_module *mods;
	size_t nr_mods;
	struct hit *hits;
	size_t nr_hits, by_entry, by_entry_short, other_source;
	uint64_t ns, frames;
	struct traces here, guest;
	struct console console;
};

static void traces_add(struct traces *t, const char *text)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->text[i], text))
			return;
	assert_true(t->nr < TRACES);
	t->text[t->nr] = strdup(text);
	assert_non_null(t->text[t->nr++]);
}

static bool traces_have(const struct traces *t, const char *text)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->text[i], text))
			return true;
	return false;
}

static void traces_free(struct traces *t)
{
	while (t->nr)
		free(t->text[--t->nr]);
}

/* --- the guest's own --------------------------------------------------------------------- */

static void guest_traces(struct env *e)
{
	char command[400] = "cd /tracing; echo";
	char *line, *next;

	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		strcat(command, " ");
		strcat(command, functions[i]);
	}
	console_run(
		&e->console,
		"mkdir -p /tracing; mount -t tracefs none /tracing; cd /tracing; echo 8192 > buffer_size_kb");
	strcat(command, " >set_ftrace_filter; echo function >current_tracer");
	console_run(&e->console, command);
	console_run(&e->console, "echo 1 >options/sym-offset; echo 1 >options/func_stack_trace");
	console_run(&e->console, WORK "; echo 0 >tracing_on");
	/*
	 * Its trampoline's frame is left out, an address or (6.12) a mark. Of the traces that
	 * depend on the moment, enough to find some again.
	 */
	console_run(&e->console, "busybox awk '/^ => (0x|\\[FTRACE)/{next}"
				 "/^ => /{gsub(/^ => |\\/0x[0-9a-f]+| /,\"\");s=s\" \"$0;next}"
				 "{n[s]++;s=\"\"}END{n[s]++;for(s in n){split(s,w,/[ +]/);"
				 "if(n[s]>2||c[w[2]]++<10)print\"T\"s}}' trace");
	for (line = strstr(e->console.out, "\nT "); line; line = next) {
		char *end = line + strcspn(line + 1, "\r\n") + 1;

		next = strstr(end, "\nT ");
		*end = '\0';
		traces_add(&e->guest, line + 3);
	}
	console_run(&e->console, "echo nop >current_tracer; echo >set_ftrace_filter; cd /");
	assert_true(e->guest.nr > NR_FUNCTIONS);
}

/* --- ours -------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The other ways to get the same trace. */
static void compare(struct env *e, const struct machine_regs *regs, const struct hit *h)
{
	uint64_t ips[DEPTH];
	unsigned int n = unwind_stack(e->memory.u, &e->memory.g, regs, ips, NULL, DEPTH);

	e->other_source += n != h->n || memcmp(ips, h->ips, n * sizeof(*ips)) != 0;
	n = unwind_entry(e->image.u, &e->image.g, regs->rip, regs->rsp, regs->rbp, ips, NULL,
			 DEPTH);
	e->by_entry += n <= h->n && !memcmp(ips, h->ips, n * sizeof(*ips));
	e->by_entry_short += n < h->n;
}

static void trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct env *e = arg;
	struct hit *h = &e->hits[e->nr_hits];
	uint64_t begin;

	(void)m;
	if (e->nr_hits == HITS)
		return;
	begin = now_ns();
	for (unsigned int i = 0; i < REPEAT; i++)
		h->n = unwind_stack(e->image.u, &e->image.g, hit->regs, h->ips, NULL, DEPTH);
	e->ns += now_ns() - begin;
	e->frames += h->n;
	e->nr_hits++;
	compare(e, hit->regs, h);
}

static void source_init(struct source *s, struct env *e)
{
	char err[256];
	int ret;

	if (guest_learn(&s->g, s->gs, err, sizeof(err)))
		fail_msg("%s", err);
	guest_bind(&s->g, e->m);
	machine_pause(e->m);
	ret = guest_locate(&s->g, s->gs, err, sizeof(err));
	machine_resume(e->m);
	if (ret)
		fail_msg("%s", err);
	s->u = unwind_new(s->gs, err, sizeof(err));
	if (!s->u)
		fail_msg("%s", err);
}

static int read_guest(void *arg, uint64_t va, void *buf, size_t len)
{
	return guest_read(arg, va, buf, len);
}

static void attach(struct env *e)
{
	struct machine_attach_config cfg = {.target = e->target, .trap = trap, .arg = e};
	struct guestsym_memory mem = {.read = read_guest, .arg = &e->image.g};
	char err[256];

	e->m = machine_attach(&cfg, err, sizeof(err));
	if (!e->m)
		fail_msg("%s", err);
	e->memory.gs = trace_read_kernel(e->m, NULL, &(struct machine_patience){NULL, NULL}, err,
					 sizeof(err));
	if (!e->memory.gs)
		fail_msg("%s", err);
	source_init(&e->image, e);
	source_init(&e->memory, e);
	/* Once in some 500 boots KASLR leaves a kernel where it was. */
	print_message("# slide %#" PRIx64 "\n", e->image.g.slide);
	machine_pause(e->m);
	assert_int_equal(
		guestsym_modules_read(e->image.gs, &mem, e->image.g.slide, &e->mods, &e->nr_mods),
		0);
	assert_int_equal(unwind_modules(e->image.u, e->image.gs, &e->image.g, e->mods, e->nr_mods),
			 0);
	assert_int_equal(
		unwind_modules(e->memory.u, e->memory.gs, &e->memory.g, e->mods, e->nr_mods), 0);
	machine_resume(e->m);
	assert_int_equal(e->nr_mods, 1);
}

static uint64_t site_of(struct env *e, const char *name)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(e->image.gs, &sites);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(sites[i].name, name))
			return sites[i].addr;
	fail_msg("no function %s", name);
	return 0;
}

static void set_traps(struct env *e)
{
	struct machine_trap traps[NR_FUNCTIONS];

	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		uint64_t site = site_of(e, functions[i]);

		traps[i] = (struct machine_trap){
			.va = site + e->image.g.slide,
			.pa = guest_image_pa(&e->image.g, site),
			.size = SITE_SIZE,
			.kind = MACHINE_TRAP_INT3,
			.action = MACHINE_TRAP_SKIP,
		};
	}
	assert_int_equal(machine_traps_set(e->m, traps, NR_FUNCTIONS), 0);
}

static const struct guestsym_symbol *module_symbol(const struct guestsym_module *mod, uint64_t ip)
{
	const struct guestsym_symbol *sym = NULL;

	if (ip < mod->text.start || ip >= mod->text.end)
		return NULL;
	for (size_t i = 0; i < mod->nr_syms && mod->syms[i].addr <= ip; i++)
		sym = &mod->syms[i];
	return sym;
}

/* As the guest prints it. */
static size_t print_address(struct env *e, uint64_t ip, char *to, size_t len)
{
	const struct guestsym_symbol *sym;
	uint64_t off;

	for (size_t i = 0; i < e->nr_mods; i++) {
		sym = module_symbol(&e->mods[i], ip);
		if (sym)
			return (size_t)snprintf(to, len, "%s+0x%" PRIx64 "[%s]", sym->name,
						ip - sym->addr, e->mods[i].name);
	}
	sym = guestsym_find(e->image.gs, ip - e->image.g.slide, &off, NULL);
	if (!sym)
		return (size_t)snprintf(to, len, "0x%" PRIx64, ip);
	return (size_t)snprintf(to, len, "%s+0x%" PRIx64, sym->name, off);
}

static void print_traces(struct env *e)
{
	for (size_t i = 0; i < e->nr_hits; i++) {
		const struct hit *h = &e->hits[i];
		char text[DEPTH * 80];
		size_t len = 0;

		for (unsigned int k = 0; k < h->n && len + 100 < sizeof(text); k++) {
			if (k)
				text[len++] = ' ';
			len += print_address(e, h->ips[k], text + len, 99);
		}
		traces_add(&e->here, text);
	}
}

static void print_cost(const struct env *e)
{
	assert_in_range(e->nr_hits, 1, HITS - 1);
	print_message("# %zu hits, %.1f frames, %.1f us per trace\n", e->nr_hits,
		      (double)e->frames / (double)e->nr_hits,
		      (double)e->ns / 1e3 / REPEAT / (double)e->nr_hits);
}

/* --- tests ------------------------------------------------------------------------------- */

static bool is_of(const char *trace, const char *function)
{
	size_t len = strlen(function);

	return !strncmp(trace, function, len) && trace[len] == '+';
}

/* Traces of a that begin with this function; *both: how many of them b has too. */
static size_t count(const struct traces *a, const struct traces *b, const char *function,
		    size_t *both)
{
	size_t n = 0;

	*both = 0;
	for (size_t i = 0; i < a->nr; i++) {
		if (!is_of(a->text[i], function))
			continue;
		n++;
		*both += traces_have(b, a->text[i]);
	}
	return n;
}

static void same_as_the_guest(void **state)
{
	struct env *e = *state;

	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		size_t both, here, guest = count(&e->guest, &e->here, functions[i], &both);

		here = count(&e->here, &e->guest, functions[i], &both);
		print_message("# %s: %zu traces, %zu by the guest, %zu the same\n", functions[i],
			      here, guest, both);
		/* Beside the load they have other callers each time. */
		assert_int_not_equal(both, 0);
		if (i < NR_CERTAIN)
			assert_true(here == both && guest == both);
	}
}

static const char *outermost(const char *trace)
{
	const char *last = strrchr(trace, ' ');

	return last ? last + 1 : trace;
}

/* Does a trace of the guest's end in the same function? */
static bool ends_as_another(const struct env *e, const char *trace)
{
	const char *last = outermost(trace);
	size_t len = strcspn(last, "+") + 1;

	for (size_t i = 0; i < e->guest.nr; i++)
		if (!strncmp(outermost(e->guest.text[i]), last, len))
			return true;
	return false;
}

/*
 * An entry of an interrupt is the end if user mode was interrupted, which may not have happened
 * while the guest took its traces. That the way through it is found, too, shows another trace.
 */
static bool is_of_user_mode(const struct env *e, const char *trace)
{
	const char *last = outermost(trace);
	size_t len = strlen(last);

	if (strncmp(last, "asm_", 4) != 0)
		return false;
	for (size_t i = 0; i < e->here.nr; i++) {
		const char *at = strstr(e->here.text[i], last);

		if (at && at[len] == ' ')
			return true;
	}
	return false;
}

static void are_complete(void **state)
{
	struct env *e = *state;
	size_t odd = 0;

	for (size_t i = 0; i < e->here.nr; i++) {
		if (ends_as_another(e, e->here.text[i]) || is_of_user_mode(e, e->here.text[i]))
			continue;
		print_message("# ends early: %s\n", e->here.text[i]);
		odd++;
	}
	/* Interrupted where the tables say nothing (a retpoline) the guest's would end, too. */
	assert_true(odd <= e->here.nr / 50);
}

static void same_from_memory(void **state)
{
	struct env *e = *state;

	assert_int_equal(e->other_source, 0);
}

static void same_from_entry(void **state)
{
	struct env *e = *state;

	assert_int_equal(e->by_entry, e->nr_hits);
	print_message("# %zu of %zu traces end early with no more than rbp\n", e->by_entry_short,
		      e->nr_hits);
}

/* --- the program ------------------------------------------------------------------------- */

static char **arguments; /* cmocka has no way to hand them to setup() */

static int setup(void **state)
{
	static struct env e;
	char err[256];

	*state = &e;
	e.target = arguments[1];
	e.image.gs = guestsym_open(NULL, arguments[2], 0, err, sizeof(err));
	if (!e.image.gs)
		fail_aloud("%s", err);
	e.hits = calloc(HITS, sizeof(*e.hits));
	assert_non_null(e.hits);
	e.console.fd = console_open(arguments[3]);
	assert_true(e.console.fd >= 0);
	console_wait_up(&e.console);
	console_run(&e.console, "busybox insmod /bin/dummy.ko numdummies=0");
	console_run(&e.console, WORK); /* what is done once only */
	guest_traces(&e);
	attach(&e);
	set_traps(&e);
	console_run(&e.console, WORK);
	print_traces(&e);
	print_cost(&e);
	machine_free(e.m);
	return 0;
}

static int teardown(void **state)
{
	struct env *e = *state;

	unwind_free(e->image.u);
	unwind_free(e->memory.u);
	guestsym_modules_free(e->mods, e->nr_mods);
	guestsym_close(e->image.gs);
	guestsym_close(e->memory.gs);
	traces_free(&e->here);
	traces_free(&e->guest);
	free(e->hits);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_the_guest),
		cmocka_unit_test(are_complete),
		cmocka_unit_test(same_from_memory),
		cmocka_unit_test(same_from_entry),
	};

	if (argc != 4) {
		fprintf(stderr, "usage: unwind-attach TARGET KERNEL SERIAL\n");
		return 2;
	}
	arguments = argv;
	return cmocka_run_group_tests_name("unwind", tests, setup, teardown);
}
