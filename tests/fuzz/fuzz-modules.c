// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-modules.c - modules and their events that come, go and change in a guest that is traced, as
 * an input says, the kernel's lists of them and all that these point to among it; and pages that
 * lie at many addresses. Each input is done ROUNDS times: what it costs in bytes read, time and
 * memory is bounded, and memory does not grow by doing the same again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <bpf/libbpf.h>

#define FAKE_LISTS_ARE_READ
#include "guestsym/modules.h"
#include "tests/fuzz/held.h"
#include "tests/fuzz/input.h"
#include "tests/unit/made-guest-events.h"
#include "tests/unit/trace-guest.h"
#include "tracer/core/trace.h"
#include "tracer/events/events.h"
#include "tracer/events/list.h"
#include "tracer/events/registry.h"
#include "tracer/guest/modules.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	MODULES = 6,
	EVENTS = 6,
	MOD_TEXT_SIZE = 0x100,
	FN_INIT_MODULE = 0x1500,
	FN_FREE_MODULE = 0x1600,
	ROUNDS = 4,
	SETTLED = 1,	     /* the round after which nothing grows */
	ENOUGH = 64 << 20,   /* bytes of pages read, with which an input ends */
	NAMES_PA = 0x400000, /* of a page that is all over WIDE */
	NAMES_SIZE = 0x1000,
	SLACK = 65536,
};

/* As long as a guest likes: the page of names, and the heap, again and again. */
#define WIDE	  UINT64_C(0xffffc90000000000)
#define WIDE_HEAP UINT64_C(0xffffc98000000000)
#define WIDE_SIZE (UINT64_C(4) << 20)

/*
 * A reading: guestsym/modules-copy.c's budget twice, as what was copied while the guest ran may
 * have changed by the time that it stands; and as many pages as events may be in.
 */
static struct cost reading = {"bytes of one reading", UINT64_C(528) << 20, 0};
/* What it holds of modules once they are copied: the same budget once, and what lists them. */
static struct cost copied = {"bytes of one copy of all modules", UINT64_C(258) << 20, 0};
static struct cost input_ms = {"milliseconds of an input", 4000, 0};
static struct cost grown = {"bytes that are held for doing it again", 8192, 0};
static struct cost kept = {"bytes that are held for ever", UINT64_MAX, 0};
static struct cost left = {"bytes that are held when all have gone", 0, 0};

/* A kernel with its lists in its heap, and what is known of its types. */
struct made_kernel {
	struct made_guest g;
	uint64_t modules[MODULES], events[EVENTS];
	struct elf_segment seg;
	struct elf_image elf;
	struct symbols symbols;
	struct blob flat;
	struct types *types;
};

static struct made_kernel kernels[2], *kernel; /* modules as until 6.3, and as since */

static struct {
	struct trace *t;
	struct input in;
	uint64_t bytes;	 /* read since it was set to 0 */
	uint64_t all;	 /* the same by this input, in whole pages */
	size_t sites;	 /* the most modules had at a reading */
	uint32_t linked; /* bits: modules and events that are in their lists, for all they know */
} now;

/* --- guestsym.h, as far as it reads lists of this kernel ------------------------------------- */

int guestsym_modules_copy(const struct guestsym *gs, const struct guestsym_memory *mem,
			  uint64_t slide, const struct guestsym_module *known, size_t nr_known,
			  struct guestsym_module_copies **copies)
{
	const struct modules_of k = {
		.list = made_addr(&kernel->g, "modules"),
		.types = kernel->types,
		.rule = {0, false},
	};
	size_t held = held_bytes();
	int err = modules_copy(&k, mem, known, nr_known, copies);

	(void)gs, (void)slide;
	if (held_bytes() > held)
		cost_is(&copied, held_bytes() - held);
	return err;
}

/* Done here. */
int parsers_modules(struct guestsym_parsers *p, const struct guestsym_module_copies *copies,
		    struct blob *digests)
{
	(void)p;
	return modules_digest(copies, digests);
}

int guestsym_events_read(const struct guestsym *gs, const struct guestsym_memory *mem,
			 uint64_t slide, struct guestsym_event_list *list)
{
	const struct events_of k = {&kernel->elf, &kernel->symbols, kernel->types, slide};

	(void)gs;
	return events_read(&k, mem, list);
}

static int read_memory(void *arg, uint64_t va, void *buf, size_t len)
{
	return guest_read(arg, va, buf, len);
}

/* What is read as from the image, before anything changes. */
int guestsym_events_image(const struct guestsym *gs, uint64_t slide,
			  struct guestsym_event_list *list)
{
	const struct guestsym_memory mem = {.read = read_memory, .arg = &now.t->guest};

	return guestsym_events_read(gs, &mem, slide, list);
}

/* --- the sound kernel ------------------------------------------------------------------------ */

static void make_module(struct made_kernel *k, unsigned int i)
{
	static const char *const names[MODULES] = {"net", "disk", "fs", "crypto", "sound", "usb"};
	struct made_guest *g = &k->g;
	uint64_t mod = made_module(g, names[i], MOD_TEXT_SIZE, k == kernels);
	uint64_t text = made_module_text(g, mod);
	const struct made_module_symbol syms[] = {
		{text + 0x10, "open", 't', false},
		{text + 0x20, "close", 'T', false},
		{0, "printk", 'U', true},
	};

	memcpy(made_page(g, text + 0x10), nop5, sizeof(nop5));
	memcpy(made_page(g, text + 0x20), nop5, sizeof(nop5));
	made_module_symbols(g, mod, syms, 3);
	made_module_sites(g, mod, (uint64_t[]){text + 0x10, text + 0x20}, 2);
	k->modules[i] = mod;
}

static void make_event(struct made_kernel *k, unsigned int i)
{
	static const char *const names[EVENTS] = {"boot", "rx", "tx", "mount", "play", "plug"};
	struct made_guest *g = &k->g;
	uint64_t class = made_event_class(g, heap_put(g, NULL, CLASS_SIZE_OF), names[i], 1, 1);
	const struct made_event_field f = {"int", "value", 8, 4, true, 0, 0};

	made_event_field(g, class + CLASS_FIELDS, &f);
	k->events[i] = made_event(g, heap_put(g, NULL, EVENT_SIZE_OF),
				  &(struct made_event){
					  .name = names[i],
					  .print_fmt = "\"%d\", REC->value",
					  .class = class,
					  .module = i ? k->modules[i] : 0,
					  .flags = EVENT_TRACEPOINT,
					  .type = 300 + i,
				  });
}

static void kernel_know(struct made_kernel *k)
{
	size_t names = 0, len;
	const uint8_t *raw;
	char *to;

	for (size_t i = 0; i < k->g.m.nr_syms; i++)
		names += strlen(k->g.m.syms[i].name) + 1;
	to = symbols_alloc(&k->symbols, k->g.m.nr_syms, names);
	for (size_t i = 0; i < k->g.m.nr_syms; i++) {
		const struct made_symbol *sym = &k->g.m.syms[i];

		k->symbols.v[i] = (struct guestsym_symbol){sym->addr, to, sym->type};
		to = stpcpy(to, sym->name) + 1;
	}
	k->seg = (struct elf_segment){
		.va = MADE_BASE, .filesz = MADE_SIZE, .memsz = MADE_SIZE, .exec = true};
	k->elf = (struct elf_image){
		.data = k->g.m.mem, .len = MADE_SIZE, .segs = &k->seg, .nr_segs = 1};
	if (!to || symbols_index(&k->symbols))
		abort();
	k->symbols.start = MADE_BASE;
	k->symbols.end = MADE_BASE + MADE_SIZE;
	len = types_raw(&k->elf, &k->symbols, &raw);
	if (types_flatten(raw, len, &k->flat) || types_load(k->flat.data, k->flat.len, &k->types))
		abort();
}

static void kernel_make(struct made_kernel *k)
{
	static const char *const lists[] = {"modules", "ftrace_events", "ftrace_common_fields"};

	made_init(&k->g.m);
	made_types(&k->g.m, k == kernels);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		uint64_t va = heap_put(&k->g, NULL, 16);

		made_symbol(&k->g.m, lists[i], 'D', va);
		made_list_init(&k->g, va);
	}
	for (unsigned int i = 0; i < MODULES; i++)
		make_module(k, i);
	for (unsigned int i = 0; i < EVENTS; i++)
		make_event(k, i);
	kernel_know(k);
}

/* --- what the guest does --------------------------------------------------------------------- */

static uint64_t peek(uint64_t va)
{
	uint64_t value = 0;

	if (va - MADE_HEAP <= MADE_HEAP_SIZE - sizeof(value))
		memcpy(&value, fake.ram + (va - MADE_HEAP), sizeof(value));
	return value;
}

static void poke(uint64_t va, uint64_t value, size_t len)
{
	if (va - MADE_HEAP <= MADE_HEAP_SIZE - len)
		memcpy(fake.ram + (va - MADE_HEAP), &value, len);
}

/* list_add() or list_del(), of lists that may be broken; bit: what is in one. */
static void link_entry(const char *list, uint64_t entry, unsigned int bit)
{
	uint64_t head = made_addr(&kernel->g, list);
	uint64_t next = peek(now.linked >> bit & 1 ? entry : head), prev = peek(entry + 8);

	now.linked ^= UINT32_C(1) << bit;
	if (now.linked >> bit & 1) {
		poke(entry, next, 8);
		poke(entry + 8, head, 8);
		poke(next + 8, entry, 8);
		poke(head, entry, 8);
	} else {
		poke(prev, next, 8);
		poke(next + 8, prev, 8);
	}
}

static void empty(const char *list)
{
	uint64_t head = made_addr(&kernel->g, list);

	poke(head, head, 8);
	poke(head + 8, head, 8);
}

/* Anywhere in the heap, in what is as long as the guest likes, or an address of the input's. */
static uint64_t some_address(void)
{
	uint8_t where = input_byte(&now.in) % 4;
	uint64_t off = input_u16(&now.in);

	if (where < 2)
		return MADE_HEAP + off % kernel->g.used;
	if (where == 2)
		return WIDE + off;
	return WIDE_HEAP + (off & ~UINT64_C(7));
}

/* How many of something; mostly few. */
static uint32_t some_number(void)
{
	uint32_t n = input_u16(&now.in);

	return n >> 12 < 12 ? n & 0xff : n << (n >> 12 & 3) * 5;
}

/* One member of a module points elsewhere, and has another length. */
static void change_module(uint64_t mod)
{
	static const struct {
		uint32_t pointer, number;
	} members[] = {
		{MODULE_TEXT_BASE, MODULE_TEXT_SIZE}, {MODULE_SYMTAB, MODULE_NUM_SYMTAB},
		{MODULE_STRTAB, MODULE_STATE},	      {MODULE_TYPETAB, MODULE_NUM_SYMTAB},
		{MODULE_SITES, MODULE_NUM_SITES},     {MODULE_LIST, MODULE_TEXT_SIZE + 4},
	};
	uint8_t which = input_byte(&now.in) % (sizeof(members) / sizeof(members[0]));

	poke(mod + members[which].pointer, some_address(), 8);
	poke(mod + members[which].number, some_number(), 4);
}

static void change_bytes(void)
{
	uint32_t off = input_u16(&now.in) * 4u;
	uint8_t n = input_byte(&now.in);
	uint8_t *to = off < kernel->g.used ? fake.ram + off
					   : fake.ram + NAMES_PA + off % (NAMES_SIZE - 256);

	if (n >= 16)
		memset(to, input_byte(&now.in), off < kernel->g.used ? 16 : n);
	else
		for (uint8_t i = 0; i <= n; i++)
			to[i] = input_byte(&now.in);
}

static void hit_at(uint32_t function, uint64_t rdi)
{
	struct machine_regs regs = {.rsp = FAKE_VA(STACK), .rdi = rdi, .rflags = 0x202};
	struct machine_hit hit = {.va = FAKE_VA(function), .regs = &regs};
	const struct machine_trap *trap = fake_trap(hit.va);
	const struct guestsym_module *mods;
	size_t nr, sites = 0;

	if (!trap)
		return;
	hit.cookie = trap->cookie;
	now.bytes = 0;
	trace_trap(now.t, &hit);
	cost_is(&reading, now.bytes);
	nr = modules_all(now.t->modules, &mods);
	for (size_t i = 0; i < nr; i++)
		sites += mods[i].nr_sites;
	now.sites = sites > now.sites ? sites : now.sites;
}

static void look_at_events(void)
{
	now.bytes = 0;
	events_changed(now.t->trace_events);
	events_load(now.t->trace_events);
	cost_is(&reading, now.bytes);
}

static void look_up(uint64_t addr)
{
	static struct module_symbol sym;

	if (modules_symbol(now.t->modules, addr, &sym) &&
	    (!memchr(sym.name, 0, sizeof(sym.name)) || !memchr(sym.module, 0, sizeof(sym.module))))
		abort();
}

static void act(void)
{
	uint8_t op = input_byte(&now.in), which = op >> 4;
	uint64_t mod = kernel->modules[which % MODULES];
	uint64_t event = kernel->events[1 + which % (EVENTS - 1)];

	switch (op & 15) {
	case 0:
	case 1:
		link_entry("modules", mod + MODULE_LIST, which % MODULES);
		break;
	case 2:
	case 3:
		link_entry("ftrace_events", event + EVENT_LIST, 16 + which % (EVENTS - 1));
		break;
	case 4:
	case 5:
		hit_at(FN_INIT_MODULE, mod);
		break;
	case 6:
		hit_at(FN_FREE_MODULE, mod);
		break;
	case 7:
		look_at_events();
		break;
	case 8:
		look_up(some_address());
		break;
	case 9:
		poke(mod + MODULE_STATE, input_byte(&now.in) & 3, 4);
		break;
	case 10:
	case 11:
		change_module(mod);
		break;
	case 12:
		poke(event + input_byte(&now.in) % EVENT_SIZE_OF, some_address(), 8);
		break;
	default:
		change_bytes();
	}
}

/* --- inputs ---------------------------------------------------------------------------------- */

static void count_read(uint64_t pa, size_t len)
{
	(void)pa;
	now.bytes += len;
	now.all += len < MADE_PAGE ? MADE_PAGE : len;
}

static void start(void)
{
	guest_set_up(NULL);
	memcpy(fake.ram, kernel->g.heap, kernel->g.used);
	memset(fake.ram + NAMES_PA, 'n', NAMES_SIZE);
	fake_map(FAKE_PA + TOP_PGT, WIDE, WIDE_SIZE, NAMES_PA);
	fake.maps[0].again = NAMES_SIZE;
	fake_map(FAKE_PA + TOP_PGT, WIDE_HEAP, WIDE_SIZE, 0);
	fake.maps[1].again = MADE_HEAP_SIZE;
	add_function("do_init_module", FN_INIT_MODULE, 0);
	add_function("free_module", FN_FREE_MODULE, 0);
	fake.before_read = count_read;
	now.sites = 0;
	now.all = 0;
	now.linked = UINT32_C(0x1f003f);
}

static struct trace *attach(void)
{
	char err[256] = "";

	now.t = trace_with((struct trace_config){0}, err, sizeof(err));
	if (!now.t || trace_attach(now.t, (struct machine *)&fake, err, sizeof(err)) ||
	    events_load(now.t->trace_events))
		abort();
	now.t->trace_events->ready = true; /* it has booted */
	return now.t;
}

/* So many times, until it has cost enough. */
static void rounds(const uint8_t *data, size_t size)
{
	size_t settled = 0;

	for (unsigned int i = 0; i < ROUNDS && now.all < ENOUGH; i++) {
		now.in = (struct input){data, size};
		while (now.in.size && now.all < ENOUGH)
			act();
		empty("modules");
		empty("ftrace_events");
		now.linked = 0;
		hit_at(FN_INIT_MODULE, 0);
		if (i == SETTLED)
			settled = held_bytes();
	}
	if (settled && held_bytes() > settled)
		cost_is(&grown, held_bytes() - settled);
}

/*
 * With no module in the guest: probes have had their places; names are kept, and events, whose
 * texts are as long as the page of names lets them be.
 */
static uint64_t may_be_left(void)
{
	return SLACK + MODULES_GONE_BYTES + 2 * sizeof(struct probe) * (now.sites + FAKE_MAX) +
	       (UINT64_C(4) << 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t before, attached;
	int64_t ms = held_cpu_ms();

	if (size < 2)
		return 0;
	before = held_bytes();
	kernel = &kernels[data[0] & 1];
	start();
	attach();
	attached = held_bytes();
	rounds(data + 1, size - 1);
	left.limit = may_be_left();
	if (held_bytes() > attached)
		cost_is(&left, held_bytes() - attached);
	trace_detach(now.t); /* or it ends with what a list that made no sense gave */
	if (fake.ntraps)
		abort();
	trace_free(now.t);
	guest_tear_down(NULL);
	if (held_bytes() > before)
		cost_is(&kept, held_bytes() - before);
	cost_is(&input_ms, (uint64_t)(held_cpu_ms() - ms));
	return 0;
}

/* What is made at first use is made here. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const uint8_t inputs[2][4] = {{0, 0x04, 0x16, 7}, {1, 0x04, 0x16, 7}};

	(void)argc;
	(void)argv;
	libbpf_set_print(NULL);
	for (unsigned int i = 0; i < 2; i++) {
		kernel_make(&kernels[i]);
		LLVMFuzzerTestOneInput(inputs[i], sizeof(inputs[i]));
	}
	kept.limit = 0;
	return 0;
}
