// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbol.c - prints addresses (seq_print_ip_sym in kernel/trace/trace_output.c, 6.1), and
 * remembers what it has printed: the same few thousand functions come again and again.
 */
#include "tracer/output/internal.h"
#include "tracer/output/output.h"

#include <inttypes.h>
#include <sys/mman.h>

enum { CACHE_BITS = 14, CACHE_TEXT = 54 };

/* How an address is printed. */
enum form { FORM_OPTIONS, FORM_NAME, FORM_PLACE };

/* What was printed for an address. */
struct cached {
	uint64_t addr; /* 0: nothing is here */
	uint8_t form, len;
	char text[CACHE_TEXT];
};

struct symbol_cache {
	struct cached slot[1 << CACHE_BITS];
};

/*
 * Zero-filled memory that costs nothing where it is not used, slots on cache lines of their own.
 * It is only slower without.
 */
struct symbol_cache *output_symbols_new(void)
{
	void *mem = mmap(NULL, sizeof(struct symbol_cache), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

void output_symbols_free(struct symbol_cache *cache)
{
	if (cache)
		munmap(cache, sizeof(*cache));
}

void output_forget_symbols(struct output *o)
{
	output_symbols_free(o->symbols);
	o->symbols = output_symbols_new();
}

void output_check_symbols(struct output *o)
{
	uint64_t version;

	if (!o->cfg.symbols_version)
		return;
	version = o->cfg.symbols_version(o->cfg.arg);
	if (version == o->symbols_version)
		return;
	o->symbols_version = version;
	output_forget_symbols(o);
}

static void print_symbol(struct output *o, uint64_t addr)
{
	bool offset = output_option(o, OUTPUT_SYM_OFFSET);
	struct output_symbol sym = {0};

	if (addr == o->cfg.kretprobe) {
		text_puts(o->text, "[unknown/kretprobe'd]");
		return;
	}
	if (!o->cfg.symbol(o->cfg.arg, addr, &sym)) {
		text_printf(o->text, offset ? "0x%" PRIx64 : "0x%08" PRIx64, addr);
		return;
	}
	text_puts(o->text, sym.name);
	if (!offset)
		return;
	text_printf(o->text, "+0x%" PRIx64 "/0x%" PRIx64, sym.off, sym.size);
	if (sym.module)
		text_printf(o->text, " [%s]", sym.module);
}

/* As %ps and %pS: whatever the options say. */
static void print_name(struct output *o, uint64_t addr, enum form form)
{
	struct output_symbol sym = {0};

	if (!o->cfg.symbol(o->cfg.arg, addr, &sym)) {
		text_printf(o->text, "0x%" PRIx64, addr);
		return;
	}
	text_puts(o->text, sym.name);
	if (form == FORM_PLACE)
		text_printf(o->text, "+0x%" PRIx64 "/0x%" PRIx64, sym.off, sym.size);
	if (sym.module)
		text_printf(o->text, " [%s]", sym.module);
}

static void print_address(struct output *o, uint64_t addr, enum form form)
{
	if (form != FORM_OPTIONS) {
		print_name(o, addr, form);
		return;
	}
	print_symbol(o, addr);
	if (output_option(o, OUTPUT_SYM_ADDR))
		text_printf(o->text, " <%016" PRIx64 ">", addr);
}

static bool is_cached(const struct cached *c, uint64_t addr, enum form form)
{
	return c->addr == addr && c->form == form;
}

/* Where addr is, or where it is to be put: one of two places. */
static struct cached *slot_of(struct symbol_cache *cache, uint64_t addr, enum form form)
{
	size_t i = addr * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CACHE_BITS);
	struct cached *first = &cache->slot[i], *second = &cache->slot[i ^ 1];

	if (is_cached(first, addr, form) || !first->addr)
		return first;
	if (is_cached(second, addr, form))
		return second;
	*second = *first;
	return first;
}

static void cache_add(struct output *o, struct cached *c, uint64_t addr, enum form form,
		      size_t start)
{
	size_t len = o->text->len - start;

	c->addr = 0;
	if (!len || len > CACHE_TEXT)
		return;
	c->addr = addr;
	c->form = (uint8_t)form;
	c->len = (uint8_t)len;
	memcpy(c->text, o->text->buf + start, len);
}

static void print_cached(struct output *o, uint64_t addr, enum form form)
{
	size_t start = o->text->len;
	struct cached *c;
	char *at;

	if (!o->symbols) {
		print_address(o, addr, form);
		return;
	}
	c = slot_of(o->symbols, addr, form);
	if (!is_cached(c, addr, form)) {
		print_address(o, addr, form);
		cache_add(o, c, addr, form, start);
		return;
	}
	at = text_begin(o->text, CACHE_TEXT);
	if (!at)
		return;
	memcpy(at, c->text, CACHE_TEXT); /* a fixed length is a few moves */
	text_end(o->text, at + c->len);
}

void output_address(struct output *o, uint64_t addr)
{
	if (addr)
		print_cached(o, addr, FORM_OPTIONS);
	else
		text_putc(o->text, '0');
}

void output_name(struct output *o, uint64_t addr)
{
	if (addr)
		print_cached(o, addr, FORM_NAME);
	else
		print_name(o, addr, FORM_NAME);
}

void output_place(struct output *o, uint64_t addr)
{
	if (addr)
		print_cached(o, addr, FORM_PLACE);
	else
		print_name(o, addr, FORM_PLACE);
}
