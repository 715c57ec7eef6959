// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-text.c - the text of a kernel and of its modules that may hold anything: flag sites, return
 * sites, static calls, what is moved for a detour; and the strings of printk_formats.
 *
 * An input says where the modules are and what symbols they have; then come changes to a sound
 * guest.
 */
#include "tests/fuzz/scribble.h"
#include "tracer/window/detour.h"
#include "tracer/probe/critical/find.h"
#include "tracer/probe/critical/sites.h"
#include "tracer/probe/critical/table.h"
#include "tracer/instance/instance.h"
#include "tracer/guest/preempt.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/probe/probe.h"
#include "tracer/internal.h"
#include "tracer/guest/modules.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

/* Offsets in the image. */
enum {
	FN = 0x1000, /* functions, one every FN_SIZE bytes */
	FN_SIZE = 0x100,
	NR_FN = 16,
	ETEXT = FN + NR_FN * FN_SIZE,
	STATIC_CALLS = 0x4000,
	NR_STATIC_CALLS = 8,
	FORMATS = 0x5000, /* pointers, as in both sections */
	NR_FORMATS = 8,
	FORMAT_LIST = 0x5100, /* of modules: its head, then entries of it */
	STRINGS = 0x5ff0,     /* across two pages */
	IMAGE_END = 0x10000,
	LIST_FMT = 16, /* in struct trace_bprintk_fmt */
	MOD_PA = 0x400000,
	MOD_SIZE = 0x4000,
	NR_MOD_SYMS = 8,
};

#define MOD_VA UINT64_C(0xffffffffc0000000)

/* What the functions are called, so that something is looked for in them. */
static const char *const names[NR_FN] = {
	"alpha",
	"irqentry_enter",
	"error_return",
	"syscall_exit_to_user_mode",
	"ct_idle_enter",
	"ct_idle_exit",
	"preempt_count_add",
	"preempt_count_sub",
	"__local_bh_disable_ip",
	"__x86_return_thunk",
	"beta",
	"beta.cold",
	"gamma",
	"__SCT__delta",
	"delta",
	"epsilon",
};

#define PLACE(off, size_)                                                                          \
	{                                                                                          \
		.pa = FAKE_PA + (off), .va = FAKE_VA(off), .size = (size_)                         \
	}

static struct place places[] = {
	PLACE(FN, FN_SIZE),
	PLACE(FN + 2 * FN_SIZE, 2 * FN_SIZE),
	PLACE(FN + 10 * FN_SIZE, 6 * FN_SIZE),
	PLACE(STATIC_CALLS, 8 * NR_STATIC_CALLS),
	PLACE(FORMATS, 8 * NR_FORMATS),
	PLACE(FORMAT_LIST, 0x80),
	PLACE(STRINGS, 0x40),
	{.pa = MOD_PA, .va = MOD_VA, .size = MOD_SIZE},
};

enum { NR_PLACES = sizeof(places) / sizeof(places[0]) };

static struct trace *trace;
static struct probe *probes; /* those of the kernel's functions */
static size_t nr_probes;
static struct guestsym_symbol mod_syms[2][NR_MOD_SYMS];
static struct guestsym_site mod_sites[2][NR_MOD_SYMS];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- the sound guest ------------------------------------------------------------------------- */

static void put(uint64_t off, uint64_t value, size_t len)
{
	memcpy(fake_at(FAKE_VA(off)), &value, len);
}

static void put_relative(uint64_t off, uint8_t opcode, uint64_t target)
{
	put(off, opcode, 1);
	put(off + 1, target - (off + 5), 4);
}

/* Its site, a call of each of the others, and a return. */
static void add_function(unsigned int n)
{
	uint64_t off = FN + n * FN_SIZE;

	fake_symbol(names[n], FAKE_VA(off), 't');
	fake.sites[fake.nsites++] =
		(struct guestsym_site){FAKE_VA(off), FAKE_VA(off), names[n], GUESTSYM_SITE_NOP};
	memcpy(fake_at(FAKE_VA(off)), site_nop, SITE_SIZE);
	for (unsigned int i = 1; i < NR_FN; i++)
		put_relative(off + 5 * i, INSN_CALL, FN + i * FN_SIZE);
	memcpy(fake_at(FAKE_VA(off + 5 * NR_FN)), "\xf6\x84\x24\x88\x00\x00\x00\x03", 8);
	put_relative(off + 5 * NR_FN + 8, INSN_JMP, FN + 9 * FN_SIZE);
}

static void add_ranges(void)
{
	fake_symbol("_text", FAKE_TEXT, 'T');
	fake_symbol("_stext", FAKE_TEXT, 'T');
	fake_symbol("_etext", FAKE_VA(ETEXT), 'T');
	fake_symbol("_end", FAKE_VA(IMAGE_END), 'B');
	fake_symbol("current_task", 0x100, 'A');
	fake_field("task_struct.pid", 0x20, 4);
	fake_symbol("__preempt_count", 0x108, 'A');
	fake_symbol("__start_static_call_sites", FAKE_VA(STATIC_CALLS), 'D');
	fake_symbol("__stop_static_call_sites", FAKE_VA(STATIC_CALLS + 8 * NR_STATIC_CALLS), 'D');
	fake_symbol("__start___trace_bprintk_fmt", FAKE_VA(FORMATS), 'D');
	fake_symbol("__stop___trace_bprintk_fmt", FAKE_VA(FORMATS + 8 * NR_FORMATS / 2), 'D');
	fake_symbol("__start___tracepoint_str", FAKE_VA(FORMATS + 8 * NR_FORMATS / 2), 'D');
	fake_symbol("__stop___tracepoint_str", FAKE_VA(FORMATS + 8 * NR_FORMATS), 'D');
	fake_symbol("trace_bprintk_fmt_list", FAKE_VA(FORMAT_LIST), 'D');
	fake_field("trace_bprintk_fmt.fmt", LIST_FMT, 8);
}

static void add_formats(void)
{
	for (unsigned int i = 0; i < NR_FORMATS; i++)
		put(FORMATS + 8 * i, FAKE_VA(STRINGS + 4 * i), 8);
	put(FORMAT_LIST, FAKE_VA(FORMAT_LIST + 0x20), 8);
	put(FORMAT_LIST + 0x20, FAKE_VA(FORMAT_LIST), 8);
	put(FORMAT_LIST + 0x20 + LIST_FMT, FAKE_VA(STRINGS), 8);
	memcpy(fake_at(FAKE_VA(STRINGS)), "a \"string\"\n\twith %d\n and some more", 34);
}

static struct trace *new_trace(void)
{
	static const struct trace_config cfg = {
		.vcpus = 1,
		.running = true,
		.tracer = "function_graph",
		.buffer_bytes = 16 << 10,
	};
	char err[256];
	struct trace *t = trace_new(&cfg, err, sizeof(err));

	if (!t)
		return NULL;
	t->engine = &trampoline_probe_ops;
	t->m = (struct machine *)&fake; /* there is one */
	guest_bind(&t->guest, t->m);
	fake_map(guest_image_pa(&t->guest, t->guest.pgtable_root), MOD_VA, MOD_SIZE, MOD_PA);
	return t;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	fake.ram = calloc(1, FAKE_RAM);
	if (!fake.ram)
		return -1;
	add_ranges();
	for (unsigned int n = 0; n < NR_FN; n++)
		add_function(n);
	add_formats();
	memcpy(fake.ram + MOD_PA, fake_at(FAKE_VA(FN)), NR_FN * FN_SIZE);
	trace = new_trace();
	if (!trace)
		return -1;
	nr_probes = trace->probes.nr;
	probes = malloc(nr_probes * sizeof(*probes));
	if (!probes)
		return -1;
	memcpy(probes, trace->probes.v, nr_probes * sizeof(*probes));
	places_keep(places, NR_PLACES);
	return 0;
}

/* --- modules --------------------------------------------------------------------------------- */

static int by_addr(const void *a, const void *b)
{
	const struct guestsym_symbol *p = a, *q = b;

	return p->addr < q->addr ? -1 : p->addr > q->addr;
}

/* What guestsym_modules_read() lets pass: text that is no longer than that, sites within it. */
static void make_module(struct input *in, unsigned int n)
{
	struct guestsym_module *mod = &fake.mods[n];
	size_t nr = input_byte(in) % (NR_MOD_SYMS + 1);

	*mod = (struct guestsym_module){
		.name = "module", .syms = mod_syms[n], .nr_syms = nr, .sites = mod_sites[n]};
	mod->text.start = input_address(in, places, NR_PLACES);
	mod->text.end = mod->text.start + input_u16(in);
	if (mod->text.end < mod->text.start)
		mod->text.end = UINT64_MAX;
	for (size_t i = 0; i < nr; i++) {
		uint64_t off = input_u16(in);

		mod_syms[n][i] = (struct guestsym_symbol){mod->text.start + off, "function", 't'};
		if (off + 5 <= mod->text.end - mod->text.start)
			mod_sites[n][mod->nr_sites++] =
				(struct guestsym_site){mod->text.start + off, mod->text.start + off,
						       "function", GUESTSYM_SITE_NOP};
	}
	qsort(mod_syms[n], nr, sizeof(mod_syms[n][0]), by_addr);
}

static void make_modules(struct input *in)
{
	fake.nmods = input_byte(in) % 3;
	for (unsigned int n = 0; n < fake.nmods; n++)
		make_module(in, n);
	if (modules_update(trace))
		abort();
}

/* --- what comes out -------------------------------------------------------------------------- */

/* Lines of an address and a string in which no line ends. */
static void use_formats(void)
{
	struct text out = {0};

	trace_print_formats(trace, &out);
	for (size_t i = 0; i < out.len; i++)
		if ((!i || out.buf[i - 1] == '\n') && (out.len - i < 2 || out.buf[i] != '0'))
			abort();
	if (out.len && out.buf[out.len - 1] != '\n')
		abort();
	text_free(&out);
}

static void use_flags(struct input *in)
{
	uint32_t critical = input_byte(in);

	flag_sites_check(trace, critical & (CRITICAL_IRQS | CRITICAL_PREEMPT));
	for (size_t i = 0; i < trace->probes.nr; i++) {
		struct payload_record r = {.ip = (uint32_t)(trace->probes.v[i].va + i % 12)};
		uint8_t bytes[FLAG_SITE_MAX];

		if (!(trace->probes.v[i].flags & PROBE_FL_FLAG))
			continue;
		if (!flag_sites_form(trace, trace->probes.v[i].va, bytes))
			abort();
		flag_sites_shown(trace, &r);
		flag_sites_parent(trace, &r);
	}
}

static bool takes_all(const struct trace *t, uint32_t probe)
{
	(void)t;
	(void)probe;
	return true;
}

static void use_returns(void)
{
	const struct returns_wish wish = {takes_all};
	size_t listed, unknown;

	if (returns_learn(trace) || returns_update(trace, &wish))
		abort();
	for (size_t i = 0; i < trace->probes.nr; i++)
		if (trace->probes.v[i].flags & PROBE_FL_EXIT &&
		    !returns_size(trace, trace->probes.v[i].va))
			abort();
	returns_count(trace, &listed, &unknown);
}

static void use_detour(struct input *in)
{
	struct payload_detour d = {0};
	uint64_t va = input_address(in, places, NR_PLACES);

	if (!detour_learn(&trace->guest, va, &d) && (d.size < SITE_SIZE || d.size > DETOUR_INSNS))
		abort();
}

static void forget(void)
{
	modules_list_free(trace->modules);
	trace->modules = modules_list_new();
	if (!trace->modules)
		abort();
	returns_free(trace);
	trace->returns = NULL;
	flag_sites_free(trace);
	if (flag_sites_init(trace))
		abort();
	memcpy(trace->probes.v, probes, nr_probes * sizeof(*probes));
	trace->probes.nr = nr_probes;
	places_restore(places, NR_PLACES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size}, what;
	uint8_t which = input_byte(&in) % 4;

	make_modules(&in);
	what = in;
	input_address(&in, places, NR_PLACES); /* as much as any of them takes */
	scribble(places, NR_PLACES, &in);
	if (which == 0)
		use_formats();
	else if (which == 1)
		use_flags(&what);
	else if (which == 2)
		use_returns();
	else
		use_detour(&what);
	forget();
	return 0;
}
