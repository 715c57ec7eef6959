// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-guest.c - libFuzzer target for everything that reads the memory of a running guest.
 *
 * An input is a list of changes to a sound made-up guest: its kernel's data and its heap, with
 * the lists of sites, events and modules in them.
 */
#include "guestsym/guestsym.h"
#include "tests/unit/made-guest.h"

#include <bpf/libbpf.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* --- the sound guest --------------------------------------------------------------------- */

static void make_module(struct made_guest *g, const char *name, bool core_layout)
{
	uint64_t mod = made_module(g, name, 0x100, core_layout);
	uint64_t text = made_module_text(g, mod);
	const struct made_module_symbol syms[] = {
		{text + 0x10, "open", 't', false},
		{text + 0x20, "close", 'T', false},
		{0, "printk", 'U', true},
	};

	made_module_symbols(g, mod, syms, 3);
	made_module_sites(g, mod, (uint64_t[]){text + 0x10, text + 0x28}, 2);
}

static void make_guest(struct made_guest *g, bool core_layout)
{
	static const uint8_t code[] = {0xfa, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x0f, 0x01, 0xe8};
	uint64_t event;

	made_guest_init(g, core_layout);
	made_function(&g->m, "first", 0x100, code, sizeof(code));
	made_function(&g->m, "second", 0x200, code, sizeof(code));
	made_symbol(&g->m, "__init_begin", 'D', MADE_BASE + 0x1000);
	made_symbol(&g->m, "__init_end", 'D', MADE_BASE + 0x1800);
	made_label(&g->m, "pv_ops", 'D');
	event = made_put64(&g->m, 0);
	made_put64(&g->m, 0);
	made_put64(&g->m, 0);
	made_guest_done(g);
	made_page_add(g, (uint64_t[]){MADE_BASE + 0x100, MADE_BASE + 0x133}, 2);
	made_page_add(g, (uint64_t[]){MADE_BASE + 0x200}, 1);
	made_list_add(g, "ftrace_events", event + EVENT_LIST);
	make_module(g, "net", core_layout);
	make_module(g, "disk", core_layout);
}

/* --- using what was accepted ------------------------------------------------------------- */

static void use_modules(const struct guestsym *gs, const struct guestsym_memory *mem)
{
	struct guestsym_module *mods;
	size_t n;

	if (guestsym_modules_read(gs, mem, 0, &mods, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct guestsym_module *m = &mods[i];

		for (size_t k = 0; k < m->nr_syms; k++)
			if (strlen(m->syms[k].name) > MADE_HEAP_SIZE + MADE_SIZE)
				abort();
		for (size_t k = 0; k < m->nr_sites; k++)
			if (m->sites[k].addr < m->text.start || m->sites[k].addr >= m->text.end ||
			    !m->sites[k].name[0])
				abort();
	}
	guestsym_modules_free(mods, n);
}

static void use_kernel(const struct guestsym *gs)
{
	const struct guestsym_irq_site *irqs;
	const struct guestsym_preempt_site *preempts;
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites);

	for (size_t i = 1; i < n; i++)
		if (sites[i - 1].addr >= sites[i].addr)
			abort();
	guestsym_irq_sites(gs, &irqs);
	guestsym_preempt_sites(gs, &preempts);
}

/* --- inputs ------------------------------------------------------------------------------ */

/*
 * 16-bit position and 8-bit count (1 to 8), that many bytes, and so on. Positions with the top
 * bit are in the heap, others in the kernel's data.
 */
static void change(struct made_guest *g, const uint8_t *data, size_t len)
{
	while (len > 3) {
		size_t pos = data[0] | data[1] << 8, n = data[2] % 8 + 1, room;
		uint8_t *to;

		if (pos & 0x8000) {
			to = g->heap + (pos & 0x7fff) % g->used;
			room = g->heap + MADE_HEAP_SIZE - to;
		} else {
			to = g->m.mem + MADE_TEXT + pos % (MADE_SIZE - MADE_TEXT);
			room = g->m.mem + MADE_SIZE - to;
		}
		data += 3;
		len -= 3;
		n = n < len ? n : len;
		memcpy(to, data, n < room ? n : room);
		data += n;
		len -= n;
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	libbpf_set_print(NULL);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct made_guest g;
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym *gs;
	char err[256];

	if (len < 2)
		return 0;
	make_guest(&g, data[0] & 1);
	for (int i = 2; i < MADE_SIZE / MADE_PAGE; i++)
		g.hole[i] = (data[0] & 0xf0) == 0xf0 && data[1] >> i & 1;
	change(&g, data + 2, len - 2);
	gs = guestsym_open_memory(NULL, &mem, err, sizeof(err));
	if (!gs) {
		if (!err[0] || strchr(err, '\n'))
			abort();
		return 0;
	}
	use_kernel(gs);
	use_modules(gs, &mem);
	guestsym_close(gs);
	return 0;
}
