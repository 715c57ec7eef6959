// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * events-syscalls.c - events of system calls, of which the image has the names of arguments; the
 * kernel finds their numbers and makes their formats at boot (kernel/trace/trace_syscalls.c).
 */
#include "guestsym/events.h"

#include <stdio.h>
#include <stdlib.h>

#define METAS_MAX (1 << 14)
#define ARGS_MAX  6
#define LONG	  8

struct event_syscall {
	const char *name; /* "sys_read", or NULL */
	int nr;
};

/* --- numbers ----------------------------------------------------------------------------- */

/* What it is called may make no sense: then it has no number. */
static int add_meta(struct event_syscalls *sys, struct event_reader *r, uint64_t va)
{
	struct event_syscall *s = &sys->v[sys->n];
	uint64_t name;
	int err;

	if (va_map_find(&sys->by_va, va))
		return 0;
	*s = (struct event_syscall){.nr = -1};
	sys->n++;
	err = event_read_u64(r, va + r->at.meta_name.offset, &name);
	if (!err)
		err = event_read_string(r, name, WORD_MAX, &s->name);
	if (err && !event_error_is_its_own(err))
		return err;
	return va_map_add(&sys->by_va, va, s);
}

static int read_metas(struct event_syscalls *sys, struct event_reader *r)
{
	const struct events_of *k = r->kernel;
	const uint8_t *p = NULL;
	uint64_t va;
	size_t n = table_entries(k->elf, k->symbols, "__start_syscalls_metadata",
				 "__stop_syscalls_metadata", 8, &va, &p);
	int err = 0;

	if (n > METAS_MAX)
		return -EINVAL;
	sys->v = calloc(n ? n : 1, sizeof(*sys->v));
	if (!sys->v)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err && r->at.meta_size; i++)
		err = add_meta(sys, r, get_u64(p + 8 * i));
	return err;
}

/* As arch_syscall_match_sym_name() of arch/x86/include/asm/ftrace.h: what follows "sys". */
static const char *behind_sys(const char *symbol)
{
	static const char *const prefixes[] = {"__x64_sys", "__ia32_sys", "__do_sys"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(symbol, prefixes[i], strlen(prefixes[i])))
			return symbol + strlen(prefixes[i]);
	return strlen(symbol) > 3 ? symbol + 3 : "";
}

static void set_number(struct event_syscalls *sys, const char *symbol, int nr)
{
	const char *name = behind_sys(symbol);

	if (!strcmp(name, "_ni_syscall"))
		return;
	for (size_t i = 0; i < sys->n; i++) {
		struct event_syscall *s = &sys->v[i];

		if (s->name && strlen(s->name) > 3 && !strcmp(s->name + 3, name)) {
			s->nr = nr;
			return;
		}
	}
}

static void set_numbers(struct event_syscalls *sys, const struct events_of *k)
{
	uint64_t va = symbols_addr(k->symbols, "sys_call_table"), size, off;
	const uint8_t *p;

	if (!va || !symbols_find(k->symbols, va, &off, &size))
		return;
	p = elf_image_at(k->elf, va, size);
	for (uint64_t i = 0; p && i < size / 8 && i < METAS_MAX; i++) {
		const struct guestsym_symbol *s =
			symbols_find(k->symbols, get_u64(p + 8 * i), &off, NULL);

		if (s && !off)
			set_number(sys, s->name, i);
	}
}

int event_syscalls_read(struct event_syscalls *sys, struct event_reader *r)
{
	int err;

	*sys = (struct event_syscalls){0};
	err = read_metas(sys, r);
	if (!err)
		set_numbers(sys, r->kernel);
	return err;
}

void event_syscalls_exit(struct event_syscalls *sys)
{
	va_map_exit(&sys->by_va);
	free(sys->v);
	*sys = (struct event_syscalls){0};
}

int event_syscalls_nr(const struct event_syscalls *sys, uint64_t meta)
{
	const struct event_syscall *s = va_map_find(&sys->by_va, meta);

	return s ? s->nr : -1;
}

/* --- fields ------------------------------------------------------------------------------ */

static int read_argument(struct event_reader *r, const uint8_t *meta, int i,
			 struct event_raw_field *f)
{
	int err = event_read_u64(r, event_member(meta, &r->at.types) + 8 * (uint64_t)i, &f->type);

	return err ? err
		   : event_read_u64(r, event_member(meta, &r->at.args) + 8 * (uint64_t)i, &f->name);
}

int event_syscall_fields(struct event_reader *r, uint64_t meta, uint32_t end, size_t *n)
{
	uint8_t raw[EVENT_STRUCT_MAX];
	int err = pages_read(&r->pages, meta, raw, r->at.meta_size);
	int args = err ? 0 : (int)event_member(raw, &r->at.nb_args);
	struct event_raw_field f = {.offset = (end + LONG - 1) & ~(uint32_t)(LONG - 1),
				    .size = LONG};

	if (args < 0 || args > ARGS_MAX || *n > FIELDS_MAX - ARGS_MAX)
		return -EINVAL;
	for (int i = 0; i < args && !err; i++) {
		err = read_argument(r, raw, i, &f);
		if (!err)
			err = event_make_field(r, *n, &f);
		f.offset += LONG;
		++*n;
	}
	return err;
}

/* --- print fmt --------------------------------------------------------------------------- */

/* Of an entry, whose first field is the number. */
static void print_arguments(FILE *out, const struct guestsym_event *ev)
{
	fputc('"', out);
	for (size_t i = 1; i < ev->nr_fields; i++)
		fprintf(out, "%s%s: 0x%%0%dlx", i > 1 ? ", " : "", ev->fields[i].name, LONG);
	fputc('"', out);
	for (size_t i = 1; i < ev->nr_fields; i++)
		fprintf(out, ", ((unsigned long)(REC->%s))", ev->fields[i].name);
}

int event_syscall_print_fmt(struct event_reader *r, const struct guestsym_event *ev,
			    const char **print_fmt)
{
	char text[4096] = "\"0x%lx\", REC->ret";
	FILE *out = ev->syscall_exit ? NULL : fmemopen(text, sizeof(text), "w");
	char *copy;

	if (!out && !ev->syscall_exit)
		return -ENOMEM;
	if (out) {
		print_arguments(out, ev);
		fclose(out);
	}
	copy = event_alloc(r, strlen(text) + 1);
	if (!copy)
		return -ENOMEM;
	strcpy(copy, text);
	*print_fmt = copy;
	return 0;
}
