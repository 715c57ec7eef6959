// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * locate.c - where KASLR has put a running kernel, what it is when there is no image of it, and how
 * far it has come.
 *
 * The IDT's gates hold run-time addresses of functions whose link addresses are known: their
 * difference is the slide. The vCPU's page tables then say where the image lies in memory.
 */
#include "tracer/guest/locate.h"
#include "tracer/guest/guest.h"
#include "tracer/guest/ktables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SLIDE_ALIGN (UINT64_C(2) << 20) /* CONFIG_PHYSICAL_ALIGN is at least this on x86-64 */
#define BANNER_MAX  512

/* Vectors whose handlers every x86-64 kernel has (arch/x86/kernel/idt.c). */
static const struct {
	unsigned int vector;
	const char *handler;
} known_gates[] = {
	{0, "asm_exc_divide_error"},
	{14, "asm_exc_page_fault"},
	{13, "asm_exc_general_protection"},
};

/* All gates must agree: one that does not means another kernel, or something that hooks the IDT. */
static int slide_find(const struct guestsym *gs, const struct ktables *t, uint64_t *slide)
{
	bool found = false;

	for (size_t i = 0; i < sizeof(known_gates) / sizeof(known_gates[0]); i++) {
		uint64_t link = guestsym_addr(gs, known_gates[i].handler), handler;

		if (!link || ktables_handler(t, known_gates[i].vector, &handler))
			continue;
		if (found && handler - link != *slide)
			return -ESRCH;
		*slide = handler - link;
		found = true;
	}
	return found && *slide % SLIDE_ALIGN == 0 ? 0 : -ESRCH;
}

static int banner_check(struct guest_kernel *g, const struct guestsym *gs, char *err, size_t errlen)
{
	uint64_t at = guestsym_addr(gs, "linux_banner");
	const char *want = guestsym_banner(gs);
	char runs[BANNER_MAX] = "";

	if (!at || !*want)
		return 0;
	if (guest_read(g, at + g->slide, runs, sizeof(runs) - 1)) {
		snprintf(err, errlen, "the guest's kernel cannot be read from its memory");
		return -EFAULT;
	}
	runs[strcspn(runs, "\n")] = '\0';
	if (!strcmp(runs, want))
		return 0;
	snprintf(err, errlen,
		 "the guest runs another kernel than the image: '%.160s', not '%.160s'", runs,
		 want);
	return -ESRCH;
}

static int no_kernel(int ret, char *err, size_t errlen)
{
	if (ret == -ESRCH)
		snprintf(err, errlen, "no 64-bit Linux kernel runs in the guest (yet)");
	else
		snprintf(err, errlen, "the guest's registers cannot be read: %s", strerror(-ret));
	return ret;
}

/* A kernel's memory, while it is wanted. */
struct reading {
	struct ktables *t;
	const struct machine_patience *patience;
};

static bool is_given_up(void *arg)
{
	const struct machine_patience *p = ((const struct reading *)arg)->patience;

	return p->cancelled && p->cancelled(p->arg);
}

static int kernel_read(void *arg, uint64_t va, void *buf, size_t len)
{
	const struct reading *r = arg;

	return is_given_up(arg) ? -ECANCELED : ktables_read(r->t, va, buf, len);
}

static struct guestsym *kernel_open(struct ktables *t, struct guestsym_parsers *p,
				    const struct machine_patience *patience, char *err,
				    size_t errlen)
{
	struct reading r = {t, patience};
	struct guestsym_memory mem = {.read = kernel_read, .arg = &r, .cancelled = is_given_up};
	struct guestsym *gs;

	if (ktables_handler(t, 0, &mem.hint)) {
		no_kernel(-ESRCH, err, errlen);
		return NULL;
	}
	gs = guestsym_open_memory(p, &mem, err, errlen);
	if (!gs && is_given_up(&r))
		snprintf(err, errlen, "given up while the guest's kernel was read");
	return gs;
}

/* The image is not of the kernel that runs: say which one does, if that can be told. */
static void other_kernel(const struct guest_kernel *g, struct ktables *t,
			 const struct guestsym *image, char *err, size_t errlen)
{
	const struct machine_patience patience = {g->given_up, g->given_up_arg};
	char ignored[256];
	struct guestsym *runs =
		kernel_open(t, guestsym_parsers(image), &patience, ignored, sizeof(ignored));

	if (runs)
		snprintf(err, errlen, "the guest runs Linux %s, the image given is of %s",
			 guestsym_release(runs), guestsym_release(image));
	else
		snprintf(err, errlen,
			 "the guest does not run Linux %s (its interrupt table says so)",
			 guestsym_release(image));
	guestsym_close(runs);
}

int guest_locate(struct guest_kernel *g, const struct guestsym *gs, char *err, size_t errlen)
{
	uint64_t slide = 0;
	struct ktables t;
	int ret = ktables_find(g->m, 0, &t);

	if (ret)
		return no_kernel(ret, err, errlen);
	ret = slide_find(gs, &t, &slide);
	if (!ret)
		ret = machine_walk(t.m, t.root, t.levels, g->text_va + slide, &g->text_pa, NULL);
	if (ret) {
		other_kernel(g, &t, gs, err, errlen);
		return -ESRCH;
	}
	g->slide = slide;
	return banner_check(g, gs, err, errlen);
}

int guest_system_state(struct guest_kernel *g, const struct guestsym *gs, uint32_t *state)
{
	uint64_t at = guestsym_addr(gs, "system_state");

	return at ? guest_read(g, at + g->slide, state, sizeof(*state)) : -ENOENT;
}

int guest_is_up(struct guest_kernel *g, const struct guestsym *gs, char *err, size_t errlen)
{
	uint32_t state;

	if (guest_system_state(g, gs, &state) || state != GUEST_SYSTEM_BOOTING)
		return 0;
	snprintf(err, errlen, "the guest's kernel has only begun to boot: try again in a moment");
	return -EAGAIN;
}

int guest_check(const struct guest_kernel *g, const struct guestsym *gs, unsigned int vcpu)
{
	uint64_t slide;
	struct ktables t;
	int ret = ktables_find(g->m, vcpu, &t);

	if (!ret)
		ret = slide_find(gs, &t, &slide);
	return ret ? ret : slide == g->slide ? 0 : -ESRCH;
}

/* Its page tables, for while it runs on. */
static int tables_keep(struct machine *m, struct ktables *t, char *err, size_t errlen)
{
	int ret;

	machine_pause_for(m, "reading its page tables");
	ret = ktables_find(m, 0, t);
	if (!ret)
		ret = ktables_keep(t);
	machine_resume(m);
	return ret ? no_kernel(ret, err, errlen) : 0;
}

struct guestsym *trace_read_kernel(struct machine *m, struct guestsym_parsers *p,
				   const struct machine_patience *patience, char *err,
				   size_t errlen)
{
	struct ktables t;

	return tables_keep(m, &t, err, errlen) ? NULL : kernel_open(&t, p, patience, err, errlen);
}

int trace_read_events(struct machine *m, const struct guestsym *gs,
		      struct guestsym_event_list *list, char *err, size_t errlen)
{
	struct ktables t;
	const struct machine_patience always = {NULL, NULL};
	struct reading r = {&t, &always};
	const struct guestsym_memory mem = {.read = kernel_read, .arg = &r};
	int ret = tables_keep(m, &t, err, errlen);

	if (ret)
		return ret;
	ret = guestsym_events_read(gs, &mem, 0, list);
	if (ret == -ENOENT || ret == -ENODATA)
		snprintf(err, errlen,
			 "Linux %s has no trace events (CONFIG_EVENT_TRACING), or no types that "
			 "describe them",
			 guestsym_release(gs));
	else if (ret)
		snprintf(
			err, errlen,
			"the trace events of Linux %s cannot be read (%s); try again, a module may "
			"have come or gone",
			guestsym_release(gs), strerror(-ret));
	return ret;
}
