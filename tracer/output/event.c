// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * event.c - prints records of trace events (trace_raw_output_* that
 * include/trace/stages/stage3_trace_output.h makes, kernel/trace/trace_output.c and
 * trace_syscalls.c, 6.1).
 *
 * Records are a guest's. What leads out of one is not followed: "(efault)" stands for it, or
 * nothing.
 */
#include "tracer/output/internal.h"

#include <ctype.h>
#include <inttypes.h>

#include "tracer/output/fmt/eval.h"

enum { HEX_LINE = 16 };

/* A record that is being printed. */
struct printing {
	struct output *o;
	struct expr_record rec;
};

/* --- text that calls make ------------------------------------------------------------------- */

/* What a pointer to a string in the guest makes of one that cannot be read. */
static void print_guest_string(struct output *o, uint64_t addr)
{
	const char *s = o->cfg.string && addr ? o->cfg.string(o->cfg.arg, addr) : NULL;

	if (s)
		text_puts(o->text, s);
	else
		text_printf(o->text, "(0x%016" PRIx64 ")[UNSAFE-MEMORY]", addr);
}

static void print_bytes_string(struct output *o, const struct expr_value *v)
{
	const char *s = (const char *)v->bytes;

	if (v->room)
		text_add(o->text, s, strnlen(s, v->room));
	else
		text_puts(o->text, "(efault)");
}

static void print_delimiter(struct printing *p, const struct expr *delimiter)
{
	struct expr_value v = expr_eval(delimiter, &p->rec);

	if (v.bytes)
		print_bytes_string(p->o, &v);
}

static void print_flags(struct printing *p, const struct expr *call)
{
	uint64_t flags = expr_eval(call->a, &p->rec).number;
	bool first = true;

	for (size_t i = 0; i < call->nr_rows && flags; i++) {
		const struct expr_row *row = &call->row[i];

		if ((flags & row->value) != row->value)
			continue;
		flags &= ~row->value;
		if (!first)
			print_delimiter(p, call->b);
		first = false;
		text_puts(p->o->text, row->name);
	}
	if (!flags)
		return;
	if (!first)
		print_delimiter(p, call->b);
	text_printf(p->o->text, "0x%" PRIx64, flags);
}

static void print_symbolic(struct printing *p, const struct expr *call)
{
	uint64_t value = expr_eval(call->a, &p->rec).number;
	const char *name = "";

	for (size_t i = 0; i < call->nr_rows; i++) {
		if (call->row[i].value == value) {
			name = call->row[i].name;
			break;
		}
	}
	if (*name)
		text_puts(p->o->text, name);
	else
		text_printf(p->o->text, "0x%" PRIx64, value);
}

/* How many of them there are to print: no more than the record has. */
static size_t limited(int64_t nr, size_t room)
{
	return nr < 0 ? 0 : (uint64_t)nr < room ? (size_t)nr : room;
}

/* As the kernel: nothing stands between lines of sixteen. */
static void print_hex(struct printing *p, const struct expr *call)
{
	struct expr_value v = expr_eval(call->a, &p->rec);
	size_t nr = limited((int32_t)expr_eval(call->b, &p->rec).number, v.bytes ? v.room : 0);
	char *at = text_begin(p->o->text, nr * 3);

	if (!at || !v.bytes)
		return;
	for (size_t i = 0; i < nr; i++) {
		if (i % HEX_LINE && call->op == FN_HEX)
			*at++ = ' ';
		at = text_put_hex(at, v.bytes[i], 2);
	}
	text_end(p->o->text, at);
}

static void print_elements(struct output *o, const uint8_t *at, size_t nr, size_t size)
{
	text_putc(o->text, '{');
	for (size_t i = 0; i < nr; i++, at += size) {
		uint64_t value = 0;

		memcpy(&value, at, size);
		text_printf(o->text, i ? ",0x%" PRIx64 : "0x%" PRIx64, value);
	}
	text_putc(o->text, '}');
}

static bool is_element_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void print_array(struct printing *p, const struct expr *call)
{
	struct expr_value v = expr_eval(call->a, &p->rec);
	int64_t nr = (int32_t)expr_eval(call->b, &p->rec).number;
	uint64_t size = expr_eval(call->c, &p->rec).number;

	if (!is_element_size(size))
		size = 1;
	print_elements(p->o, v.bytes, limited(nr, v.bytes ? v.room / size : 0), size);
}

static void print_dynamic_array(struct printing *p, const struct expr *call)
{
	uint64_t size = expr_eval(call->b, &p->rec).number;
	size_t len;
	struct expr_value v = expr_dynamic(call, &p->rec, &len);

	if (!is_element_size(size))
		size = 1;
	print_elements(p->o, v.bytes, len / size, size);
}

static void print_bitmask(struct printing *p, const struct expr *call)
{
	struct kprintf_spec spec = {.precision = -1};
	size_t len;
	struct expr_value v = expr_dynamic(call, &p->rec, &len);

	spec.width = (int)len * 8;
	kprintf_bytes(p->o->text, &spec, "b", v.bytes, v.room);
}

/* "disk=nvme0n1, " */
static void print_disk_name(struct printing *p, const struct expr *call)
{
	struct expr_value v = expr_eval(call->a, &p->rec);

	if (!v.bytes || !v.room || !*v.bytes)
		return;
	text_puts(p->o->text, "disk=");
	print_bytes_string(p->o, &v);
	text_puts(p->o->text, ", ");
}

/* enum hw_event_mc_err_type */
static void print_memory_error(struct printing *p, const struct expr *call)
{
	static const char *const names[] = {"Corrected", "Uncorrected", "Deferred", "Fatal"};
	uint64_t type = expr_eval(call->a, &p->rec).number;

	text_puts(p->o->text, type < sizeof(names) / sizeof(names[0]) ? names[type] : "Info");
}

static bool print_call(struct printing *p, const struct expr *call)
{
	switch (call->op) {
	case FN_FLAGS:
		print_flags(p, call);
		return true;
	case FN_SYMBOLIC:
		print_symbolic(p, call);
		return true;
	case FN_HEX:
	case FN_HEX_STR:
		print_hex(p, call);
		return true;
	case FN_ARRAY:
		print_array(p, call);
		return true;
	case FN_DYNAMIC_ARRAY:
		print_dynamic_array(p, call);
		return true;
	case FN_BITMASK:
		print_bitmask(p, call);
		return true;
	case FN_DISK_NAME:
		print_disk_name(p, call);
		return true;
	case FN_MEMORY_ERROR:
		print_memory_error(p, call);
		return true;
	default:
		return false;
	}
}

/* --- print fmts ----------------------------------------------------------------------------- */

/* What of an expression is chosen for this record, without the casts around it. */
static const struct expr *chosen(struct printing *p, const struct expr *e)
{
	for (;;) {
		if (e->kind == EXPR_CHOICE) {
			struct expr_value v = expr_eval(e->a, &p->rec);

			e = v.bytes || v.number ? e->b : e->c;
		} else if (e->kind == EXPR_CAST && e->type.is_pointer) {
			e = e->a;
		} else {
			return e;
		}
	}
}

static void print_string(struct printing *p, const struct kprintf_spec *spec, const struct expr *e)
{
	size_t start = p->o->text->len;
	struct expr_value v;

	e = chosen(p, e);
	if (e->kind != EXPR_CALL || !print_call(p, e)) {
		v = expr_eval(e, &p->rec);
		if (v.bytes)
			print_bytes_string(p->o, &v);
		else
			print_guest_string(p->o, v.number);
	}
	kprintf_end_string(p->o->text, spec, start);
}

/* A probe leaves a string that it could not read without even its end. */
static void print_quoted(struct printing *p, const struct kprintf_spec *spec, const struct expr *e)
{
	size_t len;

	expr_dynamic(e, &p->rec, &len);
	if (!len) {
		text_puts(p->o->text, "(fault)");
		return;
	}
	text_putc(p->o->text, '"');
	print_string(p, spec, e);
	text_putc(p->o->text, '"');
}

static void print_pointer(struct printing *p, const struct event_piece *piece,
			  const struct kprintf_spec *spec)
{
	bool plain = piece->is_bare && !output_option(p->o, OUTPUT_HASH_PTR);
	struct expr_value v = expr_eval(piece->arg, &p->rec);
	const struct output_pointer pointer = {.addr = v.number, .bytes = v.bytes, .room = v.room};

	output_pointer(p->o, spec, plain ? "x" : piece->kind, &pointer);
}

static void print_conversion(struct printing *p, const struct event_piece *piece)
{
	struct kprintf_spec spec = piece->spec;
	struct text *t = p->o->text;

	if (piece->width)
		kprintf_set_width(&spec, (int)expr_eval(piece->width, &p->rec).number);
	if (piece->precision)
		kprintf_set_precision(&spec, (int)expr_eval(piece->precision, &p->rec).number);
	switch (spec.conversion) {
	case 's':
		if (piece->quoted)
			print_quoted(p, &spec, piece->arg);
		else
			print_string(p, &spec, piece->arg);
		break;
	case 'p':
		print_pointer(p, piece, &spec);
		break;
	case 'c':
		kprintf_char(t, &spec, (char)expr_eval(piece->arg, &p->rec).number);
		break;
	default:
		kprintf_number(t, &spec, expr_eval(piece->arg, &p->rec).number);
	}
}

static void print_format(struct printing *p, const struct event_form *form)
{
	text_puts(p->o->text, ": ");
	for (size_t i = 0; i < form->nr_pieces; i++) {
		const struct event_piece *piece = &form->piece[i];

		text_add(p->o->text, piece->text, piece->len);
		if (piece->spec.conversion)
			print_conversion(p, piece);
	}
}

/* --- system calls --------------------------------------------------------------------------- */

static uint64_t field_value(struct printing *p, const struct guestsym_event_field *f)
{
	uint64_t value = 0;
	size_t size = f->size < sizeof(value) ? f->size : sizeof(value);

	if ((size_t)f->offset + size <= p->rec.len)
		memcpy(&value, p->rec.data + f->offset, size);
	return value;
}

/* The first field is the number of the call. */
static void print_syscall_enter(struct printing *p, const struct event_form *form)
{
	struct text *t = p->o->text;

	text_putc(t, '(');
	for (size_t i = 1; i < form->nr_fields; i++) {
		const struct guestsym_event_field *f = &form->field[i];

		if (i > 1)
			text_puts(t, ", ");
		if (output_option(p->o, OUTPUT_VERBOSE))
			text_printf(t, "%s ", f->type);
		text_printf(t, "%s: %" PRIx64, f->name, field_value(p, f));
	}
	text_putc(t, ')');
}

static void print_syscall_exit(struct printing *p, const struct event_form *form)
{
	if (form->nr_fields > 1)
		text_printf(p->o->text, " -> 0x%" PRIx64, field_value(p, &form->field[1]));
}

/* --- fields --------------------------------------------------------------------------------- */

static void print_number_field(struct printing *p, const struct guestsym_event_field *f)
{
	uint64_t value = field_value(p, f);
	struct text *t = p->o->text;

	switch (f->size) {
	case 1:
		if (isprint((int)value))
			text_printf(t, "'%c'", (int)value);
		text_printf(t, "(%u)", (unsigned int)value);
		break;
	case 2:
		text_printf(t, "0x%x (%u)", (unsigned int)value, (unsigned int)value);
		break;
	case 4:
		text_printf(t, "0x%x (%d)", (uint32_t)value, (int32_t)value);
		break;
	case 8:
		text_printf(t, "0x%" PRIx64 " (%" PRId64 ")", value, (int64_t)value);
		break;
	default:
		text_puts(t, "<INVALID-SIZE>");
	}
}

static void print_dynamic_field(struct printing *p, const struct guestsym_event_field *f,
				bool is_string)
{
	const struct expr call = {
		.number = f->offset,
		.rel = !strncmp(f->type, "__rel_loc", 9),
	};
	size_t len;
	struct expr_value v = expr_dynamic(&call, &p->rec, &len);

	if ((field_value(p, f) >> 16) > len)
		text_puts(p->o->text, "<OVERFLOW>");
	else if (is_string)
		text_add(p->o->text, v.bytes, strnlen((const char *)v.bytes, len));
	else
		for (size_t i = 0; i < len; i++)
			text_printf(p->o->text, i ? ",%02x" : "%02x", v.bytes[i]);
}

static void print_field(struct printing *p, const struct guestsym_event_field *f)
{
	struct output *o = p->o;

	if ((size_t)f->offset + f->size > p->rec.len) {
		text_puts(o->text, "<OVERFLOW>");
		return;
	}
	switch (f->kind) {
	case GUESTSYM_EVENT_STRING:
		text_add(o->text, p->rec.data + f->offset,
			 strnlen((const char *)p->rec.data + f->offset, f->size));
		break;
	case GUESTSYM_EVENT_DYN_STRING:
	case GUESTSYM_EVENT_RDYN_STRING:
		print_dynamic_field(p, f, true);
		break;
	case GUESTSYM_EVENT_PTR_STRING:
		print_guest_string(o, field_value(p, f));
		break;
	case GUESTSYM_EVENT_FUNCTION:
		output_place(o, field_value(p, f));
		break;
	default:
		if (strstr(f->type, "_loc "))
			print_dynamic_field(p, f, false);
		else
			print_number_field(p, f);
	}
}

/* As the option "fields" of later kernels (print_event_fields in trace_output.c, 6.4). */
static void print_fields(struct printing *p, const struct event_form *form)
{
	text_putc(p->o->text, ':');
	for (size_t i = 0; i < form->nr_fields; i++) {
		text_printf(p->o->text, " %s=", form->field[i].name);
		print_field(p, &form->field[i]);
	}
}

/* -------------------------------------------------------------------------------------------- */

static void event_trace(struct output *o, const struct ring_event *ev)
{
	static void (*const print[])(struct printing * p, const struct event_form *form) = {
		[EVENT_FORMAT] = print_format,
		[EVENT_SYSCALL_ENTER] = print_syscall_enter,
		[EVENT_SYSCALL_EXIT] = print_syscall_exit,
		[EVENT_FIELDS] = print_fields,
	};
	uint16_t id = ((const struct trace_entry *)ev->data)->type;
	const struct event_form *form = event_printer_form(o->cfg.events, id);
	struct printing p = {.o = o, .rec = {.data = ev->data, .len = ev->len}};

	text_add(o->text, form->name, form->name_len);
	print[form->kind](&p, form);
	text_putc(o->text, '\n');
}

const struct entry_ops trace_event_ops = {
	.len = sizeof(struct trace_entry),
	.trace = event_trace,
};
