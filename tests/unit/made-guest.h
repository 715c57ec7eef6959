/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made-guest.h - makes up the memory of a guest whose kernel runs: the image of made-image.h where
 * it was linked, types (BTF) for the lists that are read, and a heap that the lists are in.
 */
#ifndef HVTRACE_TESTS_MADE_GUEST_H
#define HVTRACE_TESTS_MADE_GUEST_H

#include <bpf/btf.h>
#include <errno.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-image.h"

#define MADE_HEAP      UINT64_C(0xffff888000000000)
#define MADE_HEAP_SIZE 0x10000
#define MADE_PAGE      0x1000

struct made_guest {
	struct made_image m;
	uint8_t heap[MADE_HEAP_SIZE];
	size_t used;
	bool hole[MADE_SIZE / MADE_PAGE]; /* pages of the image that are not mapped */
	unsigned int reads;
};

/* --- memory ------------------------------------------------------------------------------ */

static inline uint8_t *made_page(struct made_guest *g, uint64_t va)
{
	if (va >= MADE_BASE && va - MADE_BASE < MADE_SIZE)
		return g->hole[(va - MADE_BASE) / MADE_PAGE] ? NULL : g->m.mem + (va - MADE_BASE);
	if (va >= MADE_HEAP && va - MADE_HEAP < MADE_HEAP_SIZE)
		return g->heap + (va - MADE_HEAP);
	return NULL;
}

/* struct guestsym_memory.read; arg is the struct made_guest. */
static inline int made_read(void *arg, uint64_t va, void *buf, size_t len)
{
	struct made_guest *g = arg;
	uint8_t *to = buf;

	g->reads++;
	while (len) {
		const uint8_t *from = made_page(g, va);
		size_t part = MADE_PAGE - va % MADE_PAGE;

		if (!from)
			return -EFAULT;
		part = part < len ? part : len;
		memcpy(to, from, part);
		va += part;
		to += part;
		len -= part;
	}
	return 0;
}

static inline struct guestsym_memory made_memory(struct made_guest *g)
{
	return (struct guestsym_memory){.read = made_read, .arg = g, .hint = MADE_BASE + 0x10};
}

/* Room in the heap, aligned to 8 bytes: its address. */
static inline uint64_t heap_put(struct made_guest *g, const void *bytes, size_t len)
{
	uint64_t va = MADE_HEAP + g->used;

	if (g->used + len > MADE_HEAP_SIZE)
		abort();
	if (bytes && len)
		memcpy(g->heap + g->used, bytes, len);
	g->used += (len + 7) & ~(size_t)7;
	return va;
}

/* Write a number of len bytes anywhere. */
static inline void made_poke(struct made_guest *g, uint64_t va, uint64_t v, size_t len)
{
	memcpy(made_page(g, va), &v, len);
}

/* --- types ------------------------------------------------------------------------------- */

/* Offsets of the made-up structs. */
enum {
	PAGE_NEXT = 0,
	PAGE_RECORDS = 8,
	PAGE_INDEX = 16,
	PAGE_SIZE_OF = 24,

	RECORD_IP = 0,
	RECORD_FLAGS = 8,
	RECORD_SIZE_OF = 24,

	EVENT_LIST = 8,
	EVENT_CLASS = 24,
	EVENT_NAME = 32, /* or tp */
	EVENT_TYPE = 44,
	EVENT_PRINT_FMT = 56,
	EVENT_MODULE = 64,
	EVENT_DATA = 72,
	EVENT_FLAGS = 80,
	EVENT_SIZE_OF = 88,

	CLASS_SYSTEM = 0,
	CLASS_PROBE = 8,
	CLASS_REG = 16,
	CLASS_FIELDS_ARRAY = 24,
	CLASS_GET_FIELDS = 32,
	CLASS_FIELDS = 40,
	CLASS_RAW_INIT = 56,
	CLASS_SIZE_OF = 64,

	FIELD_LINK = 0,
	FIELD_NAME = 16,
	FIELD_TYPE = 24,
	FIELD_FILTER_TYPE = 32,
	FIELD_OFFSET = 36,
	FIELD_SIZE = 40,
	FIELD_SIGNED = 44, /* its second bit */
	FIELD_LEN = 48,
	FIELD_SIZE_OF = 56,

	/* struct trace_event_fields, of which the classes in the image have arrays */
	CLASS_FIELD_SIZE_OF = 40,

	META_NAME = 0,
	META_NR = 8,
	META_NB_ARGS = 12,
	META_TYPES = 16,
	META_ARGS = 24,
	META_ENTER_FIELDS = 32,
	META_ENTER_EVENT = 48,
	META_SIZE_OF = 64,

	EVENT_IGNORE_ENABLE = 1 << 2,
	EVENT_TRACEPOINT = 1 << 3,
	EVENT_DYNAMIC = 1 << 5,

	FILTER_TRACE_FN = 5,

	MODULE_STATE = 0,
	MODULE_LIST = 8,
	MODULE_NAME = 24,
	MODULE_TEXT = 80, /* core_layout or mem[0] */
	MODULE_TEXT_BASE = 80,
	MODULE_TEXT_SIZE = 88, /* with core_layout 92 */
	MODULE_SYMTAB = 112,
	MODULE_NUM_SYMTAB = 120,
	MODULE_STRTAB = 128,
	MODULE_TYPETAB = 136,
	MODULE_NUM_SITES = 144,
	MODULE_SITES = 152,
	MODULE_SIZE_OF = 160,
};

static inline void made_field(struct btf *b, const char *name, int type, unsigned int off)
{
	if (btf__add_field(b, name, type, off * 8, 0))
		abort();
}

static inline void made_module_types(struct btf *b, bool core_layout, int u32, int ptr, int list)
{
	int chars = btf__add_int(b, "char", 1, BTF_INT_CHAR), name, text, kallsyms;

	name = btf__add_array(b, u32, chars, 56);
	if (core_layout) {
		text = btf__add_struct(b, "module_layout", 16);
		made_field(b, "base", ptr, 0);
		made_field(b, "size", u32, 8);
		made_field(b, "text_size", u32, 12);
	} else {
		int memory = btf__add_struct(b, "module_memory", 16);

		made_field(b, "base", ptr, 0);
		made_field(b, "size", u32, 8);
		text = btf__add_array(b, u32, memory, 2);
	}
	kallsyms = btf__add_struct(b, "mod_kallsyms", 32);
	made_field(b, "symtab", ptr, 0);
	made_field(b, "num_symtab", u32, 8);
	made_field(b, "strtab", ptr, 16);
	made_field(b, "typetab", ptr, 24);
	btf__add_struct(b, "module", MODULE_SIZE_OF);
	made_field(b, "state", u32, MODULE_STATE);
	made_field(b, "list", list, MODULE_LIST);
	made_field(b, "name", name, MODULE_NAME);
	made_field(b, core_layout ? "core_layout" : "mem", text, MODULE_TEXT);
	made_field(b, "core_kallsyms", kallsyms, MODULE_SYMTAB);
	made_field(b, "num_ftrace_callsites", u32, MODULE_NUM_SITES);
	made_field(b, "ftrace_callsites", ptr, MODULE_SITES);
}

static inline void made_event_enums(struct btf *b)
{
	static const struct {
		const char *name;
		int value;
	} values[] = {
		{"TRACE_EVENT_FL_IGNORE_ENABLE", EVENT_IGNORE_ENABLE},
		{"TRACE_EVENT_FL_TRACEPOINT", EVENT_TRACEPOINT},
		{"TRACE_EVENT_FL_DYNAMIC", EVENT_DYNAMIC},
		{"FILTER_OTHER", 0},
		{"FILTER_STATIC_STRING", 1},
		{"FILTER_DYN_STRING", 2},
		{"FILTER_RDYN_STRING", 3},
		{"FILTER_PTR_STRING", 4},
		{"FILTER_TRACE_FN", FILTER_TRACE_FN},
		{"FILTER_CPUMASK", 6},
		{"__TRACE_LAST_TYPE", 20},
	};

	btf__add_enum(b, NULL, 4);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (btf__add_enum_value(b, values[i].name, values[i].value))
			abort();
}

/* A member at an offset, behind those that there are in the last struct. */
static inline void made_fields(struct btf *b, int type, const char *const *names, unsigned int off,
			       unsigned int step)
{
	for (; *names; names++, off += step)
		made_field(b, *names, type, off);
}

static inline void made_event_types(struct btf *b, int u32, int ptr, int list)
{
	int u16 = btf__add_int(b, "short unsigned int", 2, 0);
	int u8 = btf__add_int(b, "unsigned char", 1, 0);
	int s32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED), either, values, event;

	btf__add_struct(b, "trace_entry", 8);
	made_field(b, "type", u16, 0);
	made_field(b, "flags", u8, 2);
	made_field(b, "preempt_count", u8, 3);
	made_field(b, "pid", s32, 4);
	btf__add_struct(b, "tracepoint", 16);
	made_field(b, "name", ptr, 8);
	event = btf__add_struct(b, "trace_event", 16);
	made_field(b, "type", u32, 4);
	either = btf__add_union(b, NULL, 8);
	made_field(b, "name", ptr, 0);
	made_field(b, "tp", ptr, 0);
	btf__add_struct(b, "trace_event_call", EVENT_SIZE_OF);
	made_field(b, "list", list, EVENT_LIST);
	made_field(b, "class", ptr, EVENT_CLASS);
	made_field(b, NULL, either, EVENT_NAME);
	made_field(b, "event", event, EVENT_TYPE - 4);
	made_fields(b, ptr, (const char *const[]){"print_fmt", "module", "data", NULL},
		    EVENT_PRINT_FMT, 8);
	made_field(b, "flags", u32, EVENT_FLAGS);
	btf__add_struct(b, "trace_event_class", CLASS_SIZE_OF);
	made_fields(
		b, ptr,
		(const char *const[]){"system", "probe", "reg", "fields_array", "get_fields", NULL},
		CLASS_SYSTEM, 8);
	made_field(b, "fields", list, CLASS_FIELDS);
	made_field(b, "raw_init", ptr, CLASS_RAW_INIT);
	btf__add_struct(b, "ftrace_event_field", FIELD_SIZE_OF);
	made_field(b, "link", list, FIELD_LINK);
	made_fields(b, ptr, (const char *const[]){"name", "type", NULL}, FIELD_NAME, 8);
	made_fields(b, u32, (const char *const[]){"filter_type", "offset", "size", NULL},
		    FIELD_FILTER_TYPE, 4);
	if (btf__add_field(b, "is_signed", u32, 8 * FIELD_SIGNED + 1, 1))
		abort();
	made_field(b, "len", s32, FIELD_LEN);
	values = btf__add_struct(b, NULL, 32);
	made_field(b, "name", ptr, 0);
	made_fields(b, s32,
		    (const char *const[]){"size", "align", "is_signed", "filter_type", "len", NULL},
		    8, 4);
	btf__add_struct(b, "trace_event_fields", CLASS_FIELD_SIZE_OF);
	made_field(b, "type", ptr, 0);
	made_field(b, NULL, values, 8);
	btf__add_struct(b, "syscall_metadata", META_SIZE_OF);
	made_field(b, "name", ptr, META_NAME);
	made_fields(b, s32, (const char *const[]){"syscall_nr", "nb_args", NULL}, META_NR, 4);
	made_fields(b, ptr, (const char *const[]){"types", "args", NULL}, META_TYPES, 8);
	made_field(b, "enter_fields", list, META_ENTER_FIELDS);
	made_fields(b, ptr, (const char *const[]){"enter_event", "exit_event", NULL},
		    META_ENTER_EVENT, 8);
	btf__add_struct(b, "trace_eval_map", 24);
	made_fields(b, ptr, (const char *const[]){"system", "eval_string", "eval_value", NULL}, 0,
		    8);
	made_event_enums(b);
}

/* The kernel's BTF; modules as until 6.3 (core_layout) or as since 6.4. */
static inline void made_types(struct made_image *m, bool core_layout)
{
	struct btf *b = btf__new_empty();
	int u32 = btf__add_int(b, "unsigned int", 4, 0), ptr = btf__add_ptr(b, 0);
	int u64 = btf__add_int(b, "unsigned long", 8, 0), list;
	const void *raw;
	uint32_t len;

	list = btf__add_struct(b, "list_head", 16);
	made_field(b, "next", ptr, 0);
	made_field(b, "prev", ptr, 8);
	btf__add_struct(b, "ftrace_page", PAGE_SIZE_OF);
	made_field(b, "next", ptr, PAGE_NEXT);
	made_field(b, "records", ptr, PAGE_RECORDS);
	made_field(b, "index", u32, PAGE_INDEX);
	btf__add_struct(b, "dyn_ftrace", RECORD_SIZE_OF);
	made_field(b, "ip", u64, RECORD_IP);
	made_field(b, "flags", u64, RECORD_FLAGS);
	made_event_types(b, u32, ptr, list);
	made_module_types(b, core_layout, u32, ptr, list);
	raw = btf__raw_data(b, &len);
	made_align(m, 8);
	made_label(m, "__start_BTF", 'R');
	made_put(m, raw, len);
	made_label(m, "__stop_BTF", 'R');
	made_align(m, 8);
	btf__free(b);
}

/* --- kernel ------------------------------------------------------------------------------ */

/* A kernel with lists that are empty; symbols may be added until made_guest_done(). */
static inline void made_guest_init(struct made_guest *g, bool core_layout)
{
	static const char *const lists[] = {"modules", "ftrace_events", "ftrace_common_fields"};

	memset(g, 0, sizeof(*g));
	made_init(&g->m);
	made_types(&g->m, core_layout);
	made_label(&g->m, "ftrace_pages_start", 'b');
	made_put64(&g->m, 0);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		uint64_t va = MADE_BASE + g->m.used;

		made_label(&g->m, lists[i], 'D');
		made_put64(&g->m, va);
		made_put64(&g->m, va);
	}
}

static inline void made_guest_done(struct made_guest *g)
{
	made_kallsyms(&g->m, MADE_DEBIAN);
}

static inline uint64_t made_addr(const struct made_guest *g, const char *name)
{
	for (size_t i = 0; i < g->m.nr_syms; i++)
		if (!strcmp(g->m.syms[i].name, name))
			return g->m.syms[i].addr;
	abort();
}

/* Put a list_head at va behind those in the list that the symbol heads. */
static inline void made_list_add(struct made_guest *g, const char *head, uint64_t va)
{
	uint64_t at = made_addr(g, head), next;

	for (;;) {
		memcpy(&next, made_page(g, at), 8);
		if (next == made_addr(g, head))
			break;
		at = next;
	}
	made_poke(g, at, va, 8);
	made_poke(g, va, next, 8);
}

/* A struct ftrace_page with these sites, behind those that there are: its address. */
static inline uint64_t made_page_add(struct made_guest *g, const uint64_t *sites, uint32_t n)
{
	uint64_t records = heap_put(g, NULL, n * (size_t)RECORD_SIZE_OF);
	uint64_t page = heap_put(g, NULL, PAGE_SIZE_OF);
	uint64_t at = made_addr(g, "ftrace_pages_start"), next;

	for (uint32_t i = 0; i < n; i++)
		made_poke(g, records + i * RECORD_SIZE_OF + RECORD_IP, sites[i], 8);
	made_poke(g, page + PAGE_RECORDS, records, 8);
	made_poke(g, page + PAGE_INDEX, n, 4);
	for (memcpy(&next, made_page(g, at), 8); next; memcpy(&next, made_page(g, at), 8))
		at = next + PAGE_NEXT;
	made_poke(g, at, page, 8);
	return page;
}

/* --- modules ----------------------------------------------------------------------------- */

struct made_module_symbol {
	uint64_t addr;
	const char *name;
	char type;
	bool undefined;
};

/* A module's symbol table in the heap, with the empty symbol in front as all have it. */
static inline void made_module_symbols(struct made_guest *g, uint64_t mod,
				       const struct made_module_symbol *syms, uint32_t n)
{
	Elf64_Sym tab[32] = {{0}};
	char names[512] = {0}, types[32] = {0};
	size_t names_len = 1;

	for (uint32_t i = 0; i < n; i++) {
		tab[i + 1].st_name = names_len;
		tab[i + 1].st_value = syms[i].addr;
		tab[i + 1].st_shndx = syms[i].undefined ? SHN_UNDEF : 1;
		types[i + 1] = syms[i].type;
		names_len +=
			snprintf(names + names_len, sizeof(names) - names_len, "%s", syms[i].name) +
			1;
	}
	made_poke(g, mod + MODULE_SYMTAB, heap_put(g, tab, (n + 1) * sizeof(tab[0])), 8);
	made_poke(g, mod + MODULE_NUM_SYMTAB, n + 1, 4);
	made_poke(g, mod + MODULE_STRTAB, heap_put(g, names, names_len), 8);
	made_poke(g, mod + MODULE_TYPETAB, heap_put(g, types, n + 1), 8);
}

static inline void made_module_sites(struct made_guest *g, uint64_t mod, const uint64_t *sites,
				     uint32_t n)
{
	made_poke(g, mod + MODULE_SITES, heap_put(g, sites, n * sizeof(*sites)), 8);
	made_poke(g, mod + MODULE_NUM_SITES, n, 4);
}

/* A module in the list with size bytes of text, full of int3: the address of its struct. */
static inline uint64_t made_module(struct made_guest *g, const char *name, uint32_t size,
				   bool core_layout)
{
	uint64_t text = heap_put(g, NULL, size);
	uint64_t mod = heap_put(g, NULL, MODULE_SIZE_OF);

	memset(made_page(g, text), 0xcc, size);
	memcpy(made_page(g, mod + MODULE_NAME), name, strlen(name));
	made_poke(g, mod + MODULE_TEXT_BASE, text, 8);
	made_poke(g, mod + MODULE_TEXT_SIZE + (core_layout ? 4 : 0), size, 4);
	made_list_add(g, "modules", mod + MODULE_LIST);
	return mod;
}

static inline uint64_t made_module_text(struct made_guest *g, uint64_t mod)
{
	uint64_t text;

	memcpy(&text, made_page(g, mod + MODULE_TEXT_BASE), 8);
	return text;
}

#endif
