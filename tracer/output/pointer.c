// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pointer.c - prints pointers as %p and what stands behind it say (pointer() in
 * lib/vsprintf.c, 6.1).
 */
#include "tracer/output/internal.h"

#include <errno.h>

enum { ERRNO_MAX = 4095 };

static bool is_error(uint64_t addr)
{
	return addr >= -(uint64_t)ERRNO_MAX;
}

/* As many digits as there are, unless the format says otherwise. */
static void print_plain(struct output *o, const struct kprintf_spec *spec, uint64_t addr)
{
	struct kprintf_spec plain = *spec;

	plain.conversion = 'p';
	plain.size = sizeof(addr);
	if (plain.width < 0) {
		plain.width = 16;
		plain.flags |= KPRINTF_ZERO;
	}
	kprintf_number(o->text, &plain, addr);
}

static enum output_hash hash_of(struct output *o)
{
	if (o->hash != OUTPUT_HASH_KEY)
		o->hash = o->cfg.pointer_key ? o->cfg.pointer_key(o->cfg.arg, o->hash_key)
					     : OUTPUT_HASH_NONE;
	return o->hash;
}

static void print_hashed(struct output *o, const struct kprintf_spec *spec, uint64_t addr)
{
	static const char early[] = "(____ptrval____)";
	enum output_hash hash = hash_of(o);

	if (!addr || is_error(addr) || hash == OUTPUT_HASH_NONE)
		print_plain(o, spec, addr);
	else if (hash == OUTPUT_HASH_KEY)
		print_plain(o, spec, kprintf_hash(addr, o->hash_key) & UINT32_MAX);
	else
		kprintf_string(o->text, spec, early, sizeof(early) - 1);
}

/* "-ENOENT" */
static void print_error(struct output *o, const struct kprintf_spec *spec, uint64_t addr)
{
	const char *name = is_error(addr) ? strerrorname_np((int)-addr) : NULL;
	size_t start = o->text->len;

	if (!name) {
		print_hashed(o, spec, addr);
		return;
	}
	text_putc(o->text, '-');
	text_puts(o->text, name);
	kprintf_end_string(o->text, spec, start);
}

static void print_symbol(struct output *o, const struct kprintf_spec *spec, uint64_t addr,
			 bool offset)
{
	size_t start = o->text->len;

	if (offset)
		output_place(o, addr);
	else
		output_name(o, addr);
	kprintf_end_string(o->text, spec, start);
}

/* A form that looks at memory which cannot be seen from here. */
static void print_fault(struct output *o, const struct kprintf_spec *spec, uint64_t addr)
{
	const char *why = addr ? "(efault)" : "(null)";

	kprintf_string(o->text, spec, why, strlen(why));
}

void output_pointer(struct output *o, const struct kprintf_spec *spec, const char *kind,
		    const struct output_pointer *p)
{
	switch (*kind) {
	case 'S':
	case 's':
	case 'B':
		print_symbol(o, spec, p->addr, *kind != 's');
		break;
	case 'x':
		print_plain(o, spec, p->addr);
		break;
	case 'e':
		print_error(o, spec, p->addr);
		break;
	default:
		if (p->bytes && kprintf_bytes(o->text, spec, kind, p->bytes, p->room))
			break;
		if (*kind && *kind != 'K' && strchr("hbMmIiUaN4EdDgGtRrV", *kind))
			print_fault(o, spec, p->addr);
		else
			print_hashed(o, spec, p->addr);
	}
}
