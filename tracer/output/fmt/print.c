// SPDX-License-Identifier: GPL-2.0-or-later
/* print.c - the table of forms, each made when it is first needed; see print.h. */
#include "tracer/output/fmt/print.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { IDS = 1 << 16, PIECES_MAX = 256 };

struct known_event {
	struct expr_memory mem; /* of the event */
	struct guestsym_event event;
	size_t nr_all; /* fields, the common ones behind its own */
	size_t min_len;
	struct expr_memory form_mem;
	struct event_form form;
	atomic_bool ready; /* form is */
	struct known_event *next;
};

struct event_printer {
	const struct expr_names *names;
	pthread_mutex_t lock; /* adding, and making forms */
	struct known_event *all;
	size_t copied, formed; /* bytes that events and that forms have taken */
	_Atomic(struct known_event *) id[IDS];
};

/* --- copies --------------------------------------------------------------------------------- */

static const char *copy_string(struct expr_memory *mem, const char *s)
{
	size_t len = strlen(s ? s : "") + 1;
	char *copy = expr_alloc(mem, len);

	return copy && s ? memcpy(copy, s, len) : copy;
}

static void copy_fields(struct known_event *k, struct guestsym_event_field *to,
			const struct guestsym_event_field *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		to[i] = from[i];
		to[i].name = copy_string(&k->mem, from[i].name);
		to[i].type = copy_string(&k->mem, from[i].type);
		if ((size_t)from[i].offset + from[i].size > k->min_len)
			k->min_len = (size_t)from[i].offset + from[i].size;
	}
}

static void known_free(struct known_event *k)
{
	if (k) {
		expr_free(&k->mem);
		expr_free(&k->form_mem);
	}
	free(k);
}

/* 0, -ENOMEM, or -ENOSPC: of that one, or of all of them, there is too much. */
static int known_new(struct event_printer *p, const struct guestsym_event_list *list,
		     const struct guestsym_event *event, struct known_event **known)
{
	struct known_event *k = calloc(1, sizeof(*k));
	struct guestsym_event_field *fields;
	int error;

	if (!k)
		return -ENOMEM;
	k->mem.shared = &p->copied;
	k->form_mem.shared = &p->formed;
	k->event = *event;
	k->nr_all = event->nr_fields + list->nr_common;
	fields = expr_alloc(&k->mem, (k->nr_all + 1) * sizeof(*fields));
	if (fields) {
		copy_fields(k, fields, event->fields, event->nr_fields);
		copy_fields(k, fields + event->nr_fields, list->common, list->nr_common);
	}
	k->event.fields = fields;
	k->event.name = copy_string(&k->mem, event->name);
	k->event.system = copy_string(&k->mem, event->system);
	k->event.print_fmt = copy_string(&k->mem, event->print_fmt);
	k->event.module = NULL;
	k->event.place = event->place ? copy_string(&k->mem, event->place) : NULL;
	error = k->mem.error;
	if (error)
		known_free(k);
	else
		*known = k;
	return error;
}

static bool same_fields(const struct guestsym_event *a, const struct guestsym_event *b)
{
	if (a->nr_fields != b->nr_fields)
		return false;
	for (size_t i = 0; i < a->nr_fields; i++) {
		const struct guestsym_event_field *x = &a->fields[i], *y = &b->fields[i];

		if (x->offset != y->offset || x->size != y->size || x->kind != y->kind ||
		    x->is_signed != y->is_signed || strcmp(x->name, y->name) != 0 ||
		    strcmp(x->type, y->type) != 0)
			return false;
	}
	return true;
}

static bool is_same(const struct guestsym_event *a, const struct guestsym_event *b)
{
	return a->source == b->source && a->syscall_exit == b->syscall_exit &&
	       a->flags == b->flags && !strcmp(a->name, b->name) &&
	       !strcmp(a->print_fmt, b->print_fmt ? b->print_fmt : "") && same_fields(a, b);
}

/* --- pieces --------------------------------------------------------------------------------- */

/* The making of a form. */
struct maker {
	struct known_event *k;
	struct expr_parser parser;
	struct event_piece piece[PIECES_MAX];
	size_t nr;
};

static bool next_argument(struct maker *m, const struct expr **arg)
{
	*arg = expr_skip(&m->parser, ',') ? expr_parse(&m->parser) : NULL;
	return *arg;
}

static bool take_arguments(struct maker *m, struct event_piece *piece)
{
	if (piece->spec.width_arg && !next_argument(m, &piece->width))
		return false;
	if (piece->spec.precision_arg && !next_argument(m, &piece->precision))
		return false;
	return next_argument(m, &piece->arg);
}

/* Behind a '%' that is not one of two. Returns what is behind the conversion, NULL: no such. */
static const char *make_conversion(struct maker *m, const char *at, struct event_piece *piece)
{
	at = kprintf_parse(at, &piece->spec);
	if (!piece->spec.conversion || !strchr("diuoxXcsp", piece->spec.conversion))
		return NULL;
	if (!take_arguments(m, piece))
		return NULL;
	if (piece->spec.conversion != 'p')
		return at;
	piece->kind = at;
	piece->is_bare = at[-2] == '%' && !isalnum((unsigned char)*at);
	while (isalnum((unsigned char)*at))
		at++;
	return at;
}

static bool make_pieces(struct maker *m, const char *at)
{
	while (*at) {
		struct event_piece *piece = &m->piece[m->nr];

		if (m->nr++ == PIECES_MAX)
			return false;
		*piece = (struct event_piece){.text = at, .len = strcspn(at, "%")};
		at += piece->len;
		if (at[0] == '%' && at[1] == '%') {
			piece->len++;
			at += 2;
		} else if (*at) {
			at = make_conversion(m, at + 1, piece);
			if (!at)
				return false;
		}
	}
	return true;
}

/* --- probes --------------------------------------------------------------------------------- */

static bool is_field(const struct maker *m, const struct event_piece *piece, const char *name)
{
	const struct expr *e = piece->arg;

	for (size_t i = 0; e && e->kind == EXPR_FIELD && i < m->parser.nr_fields; i++) {
		const struct guestsym_event_field *f = &m->parser.fields[i];

		if (f->offset == e->number)
			return !strcmp(f->name, name);
	}
	return false;
}

static void make_place(struct event_piece *piece, const char *kind)
{
	piece->spec.conversion = 'p';
	piece->kind = kind;
}

/* Probes in user space have addresses: "(0x401136)". */
static void make_address(struct event_piece *piece)
{
	piece->spec.flags = KPRINTF_SPECIAL;
}

/* "(%lx)" is where the probe is, "(%lx <- %lx)" what returns and where to: printed last first. */
static void make_probe_place(struct maker *m)
{
	bool user = m->k->event.flags & GUESTSYM_EVENT_FL_UPROBE;
	struct event_piece *to = &m->piece[0], *from = &m->piece[1];

	if (is_field(m, to, "__probe_ip")) {
		if (user)
			make_address(to);
		else
			make_place(to, "S");
	} else if (m->nr > 1 && is_field(m, to, "__probe_func")) {
		const struct expr *func = to->arg;

		to->arg = from->arg;
		from->arg = func;
		if (user) {
			make_address(to);
			make_address(from);
		} else {
			make_place(to, "S");
			make_place(from, "s");
		}
	}
}

/* A string that could not be read is not in quotes. */
static void make_probe_strings(struct maker *m)
{
	for (size_t i = 0; i + 1 < m->nr; i++) {
		struct event_piece *piece = &m->piece[i], *next = piece + 1;

		if (piece->spec.conversion != 's' || !piece->len || !next->len ||
		    piece->text[piece->len - 1] != '"' || next->text[0] != '"' ||
		    piece->arg->kind != EXPR_CALL || piece->arg->op != FN_DYNAMIC)
			continue;
		piece->quoted = true;
		piece->len--;
		next->text++;
		next->len--;
	}
}

/* --- synthetic events ----------------------------------------------------------------------- */

static const struct guestsym_event_field *field_of(const struct maker *m,
						   const struct event_piece *piece)
{
	for (size_t i = 0; i < m->parser.nr_fields; i++)
		if (piece->arg->kind == EXPR_FIELD &&
		    m->parser.fields[i].offset == piece->arg->number)
			return &m->parser.fields[i];
	return NULL;
}

/* Without the commas of the print fmt, and without the sign of numbers that are smaller than int.
 */
static void make_synthetic(struct maker *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		struct event_piece *piece = &m->piece[i];
		const struct guestsym_event_field *f;

		if (!piece->spec.conversion)
			continue;
		if (i && piece->len && *piece->text == ',') {
			piece->text++;
			piece->len--;
		}
		f = field_of(m, piece);
		if (f && f->size < sizeof(uint32_t) && piece->spec.conversion == 'd') {
			piece->spec.conversion = 'u';
			piece->spec.size = (uint8_t)f->size;
		}
	}
}

/* --- forms ---------------------------------------------------------------------------------- */

static const char *behind_place(struct maker *m, const char *place, const char *format)
{
	char *both = expr_alloc(&m->k->form_mem, strlen(place) + strlen(format) + 1);

	if (both)
		stpcpy(stpcpy(both, place), format);
	return both;
}

static bool make_format(struct maker *m)
{
	const struct guestsym_event *ev = &m->k->event;
	struct event_piece *pieces;
	const char *format;

	m->parser.at = ev->print_fmt;
	format = expr_parse_string(&m->parser);
	if (format && ev->place)
		format = behind_place(m, ev->place, format);
	if (!format || !make_pieces(m, format))
		return false;
	if (m->nr && ev->flags & (GUESTSYM_EVENT_FL_KPROBE | GUESTSYM_EVENT_FL_UPROBE))
		make_probe_place(m);
	if (m->nr && ev->flags & (GUESTSYM_EVENT_FL_KPROBE | GUESTSYM_EVENT_FL_UPROBE |
				  GUESTSYM_EVENT_FL_EPROBE))
		make_probe_strings(m);
	pieces = expr_alloc(&m->k->form_mem, m->nr * sizeof(*pieces) + 1);
	if (!pieces)
		return false;
	if (ev->flags & GUESTSYM_EVENT_FL_SYNTH)
		make_synthetic(m);
	memcpy(pieces, m->piece, m->nr * sizeof(*pieces));
	m->k->form.piece = pieces;
	m->k->form.nr_pieces = m->nr;
	return true;
}

/* "sys_enter_openat" is of "sys_openat". */
static const char *syscall_name(struct known_event *k)
{
	const char *prefix = k->event.syscall_exit ? "sys_exit_" : "sys_enter_";
	size_t len = strlen(prefix);
	char *name;

	if (strncmp(k->event.name, prefix, len) != 0)
		return k->event.name;
	name = expr_alloc(&k->mem, strlen(k->event.name));
	if (name)
		stpcpy(stpcpy(name, "sys_"), k->event.name + len);
	return name ? name : k->event.name;
}

static void make_form(struct event_printer *p, struct known_event *k)
{
	struct event_form *form = &k->form;
	struct maker *m;

	form->name = k->event.name;
	form->field = k->event.fields;
	form->nr_fields = k->event.nr_fields;
	form->kind = EVENT_FIELDS;
	m = malloc(sizeof(*m));
	if (k->event.source == GUESTSYM_EVENT_SYSCALL) {
		form->kind = k->event.syscall_exit ? EVENT_SYSCALL_EXIT : EVENT_SYSCALL_ENTER;
		form->name = syscall_name(k);
	} else if (m) {
		m->k = k;
		m->nr = 0;
		m->parser = (struct expr_parser){
			.fields = k->event.fields,
			.nr_fields = k->nr_all,
			.names = p->names,
			.mem = &k->form_mem,
		};
		if (make_format(m))
			form->kind = EVENT_FORMAT;
		else
			expr_free(&k->form_mem);
	}
	free(m);
	form->name_len = strlen(form->name);
}

/* --- the table ------------------------------------------------------------------------------ */

struct event_printer *event_printer_new(const struct expr_names *names)
{
	struct event_printer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->names = names;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void event_printer_free(struct event_printer *p)
{
	if (!p)
		return;
	for (struct known_event *k = p->all, *next; k; k = next) {
		next = k->next;
		known_free(k);
	}
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* One that was known by another id: modules get new ones each time that they are loaded. */
static struct known_event *known_as(const struct event_printer *p,
				    const struct guestsym_event *event)
{
	struct known_event *k = p->all;

	while (k && !(is_same(&k->event, event) && !strcmp(k->event.system, event->system)))
		k = k->next;
	return k;
}

/* Called with the lock held. Who prints may still look at the one that was there: it stays. */
static int add_event(struct event_printer *p, const struct guestsym_event_list *list,
		     const struct guestsym_event *event)
{
	struct known_event *k = atomic_load(&p->id[event->id]);

	if (event->source == GUESTSYM_EVENT_FTRACE || (k && is_same(&k->event, event)))
		return 0;
	k = event->module ? known_as(p, event) : NULL;
	if (!k) {
		int ret = known_new(p, list, event, &k);

		if (ret == -ENOMEM)
			return ret;
		if (!ret) {
			k->next = p->all;
			p->all = k;
		}
	}
	atomic_store(&p->id[event->id], k);
	return 0;
}

int event_printer_add(struct event_printer *p, const struct guestsym_event_list *list)
{
	int ret = 0;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; !ret && i < list->n; i++)
		ret = add_event(p, list, &list->v[i]);
	pthread_mutex_unlock(&p->lock);
	return ret;
}

static struct known_event *find(struct event_printer *p, uint16_t id)
{
	return p ? atomic_load_explicit(&p->id[id], memory_order_acquire) : NULL;
}

bool event_printer_knows(struct event_printer *p, uint16_t id, size_t len)
{
	const struct known_event *k = find(p, id);

	return k && len >= k->min_len;
}

const struct event_form *event_printer_form(struct event_printer *p, uint16_t id)
{
	struct known_event *k = find(p, id);

	if (!k)
		return NULL;
	if (atomic_load_explicit(&k->ready, memory_order_acquire))
		return &k->form;
	pthread_mutex_lock(&p->lock);
	if (!atomic_load(&k->ready)) {
		make_form(p, k);
		atomic_store_explicit(&k->ready, true, memory_order_release);
	}
	pthread_mutex_unlock(&p->lock);
	return &k->form;
}
