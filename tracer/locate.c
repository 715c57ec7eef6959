// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * locate.c - where KASLR has put a running kernel.
 *
 * The IDT's gates hold run-time addresses of functions whose link addresses are known: their
 * difference is the slide. The vCPU's page tables then say where the image lies in memory.
 */
#include "tracer/guest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CR4_LA57 (UINT64_C(1) << 12)
#define CR3_PTI_USER                                                                               \
	(UINT64_C(1) << 12) /* arch/x86/mm/pti.c: the user half of a pair of tables                \
			     */
#define CR3_ADDR    UINT64_C(0x000ffffffffff000)
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

/* A gate descriptor of 64-bit mode (Intel SDM vol. 3, 6.14.1). */
struct idt_gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_mid;
	uint32_t offset_high, reserved;
};

/* Page tables of one vCPU. */
struct tables {
	struct machine *m;
	uint64_t root;
	unsigned int levels;
};

static int tables_read(const struct tables *t, uint64_t va, void *buf, size_t len)
{
	uint8_t *to = buf;

	while (len) {
		uint64_t pa, left;
		int ret = machine_walk(t->m, t->root, t->levels, va, &pa, &left);
		size_t part = left < len ? left : len;

		if (!ret)
			ret = machine_read(t->m, pa, to, part);
		if (ret)
			return ret;
		va += part;
		to += part;
		len -= part;
	}
	return 0;
}

static int gate_read(const struct tables *t, const struct machine_sregs *sregs, unsigned int vector,
		     uint64_t *handler)
{
	struct idt_gate gate;
	uint64_t at = sregs->idt_base + vector * sizeof(gate);
	int ret;

	if ((vector + 1) * sizeof(gate) > sregs->idt_limit + 1u)
		return -EFAULT;
	ret = tables_read(t, at, &gate, sizeof(gate));
	if (ret)
		return ret;
	*handler = (uint64_t)gate.offset_high << 32 | (uint64_t)gate.offset_mid << 16 |
		   gate.offset_low;
	return 0;
}

/* All gates must agree: one that does not means another kernel, or something that hooks the IDT. */
static int slide_find(const struct guestsym *gs, const struct tables *t,
		      const struct machine_sregs *sregs, uint64_t *slide)
{
	bool found = false;

	for (size_t i = 0; i < sizeof(known_gates) / sizeof(known_gates[0]); i++) {
		uint64_t link = guestsym_addr(gs, known_gates[i].handler), handler;

		if (!link || gate_read(t, sregs, known_gates[i].vector, &handler))
			continue;
		if (found && handler - link != *slide)
			return -ESRCH;
		*slide = handler - link;
		found = true;
	}
	return found && *slide % SLIDE_ALIGN == 0 ? 0 : -ESRCH;
}

/* With page table isolation a vCPU in user mode has tables without the kernel; its pair has it. */
static int image_find(struct guest_kernel *g, struct tables *t, uint64_t slide)
{
	uint64_t va = g->text_va + slide;
	int ret = machine_walk(t->m, t->root, t->levels, va, &g->text_pa, NULL);

	if (!ret)
		return 0;
	t->root &= ~CR3_PTI_USER;
	return machine_walk(t->m, t->root, t->levels, va, &g->text_pa, NULL);
}

static int banner_check(struct guest_kernel *g, const struct guestsym *gs, char *err, size_t errlen)
{
	uint64_t at = guestsym_addr(gs, "linux_banner");
	const char *want = guestsym_banner(gs);
	char runs[BANNER_MAX] = "";
	uint64_t pa;

	if (!at || !*want)
		return 0;
	if (guest_translate(g, at + g->slide, &pa) ||
	    machine_read(g->m, pa, runs, sizeof(runs) - 1)) {
		snprintf(err, errlen, "the guest's memory cannot be read at %#" PRIx64, pa);
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

int guest_locate(struct guest_kernel *g, const struct guestsym *gs, char *err, size_t errlen)
{
	struct machine_sregs sregs;
	struct tables t = {.m = g->m};
	uint64_t slide = 0;
	int ret = machine_get_sregs(g->m, 0, &sregs);

	if (ret) {
		snprintf(err, errlen, "the guest's registers cannot be read: %s", strerror(-ret));
		return ret;
	}
	t.root = sregs.cr3 & CR3_ADDR;
	t.levels = sregs.cr4 & CR4_LA57 ? 5 : 4;
	ret = slide_find(gs, &t, &sregs, &slide);
	if (!ret)
		ret = image_find(g, &t, slide);
	if (ret) {
		snprintf(
			err, errlen,
			"the kernel %s is not what runs in the guest (its interrupt table says so)",
			guestsym_release(gs));
		return ret;
	}
	g->slide = slide;
	return banner_check(g, gs, err, errlen);
}
