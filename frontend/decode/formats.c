// SPDX-License-Identifier: GPL-2.0-or-later
/* formats.c - see formats.h */
#include "frontend/decode/formats.h"

#include "frontend/decode/names.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Larger ones, and deeper ones, have no kernel. An id has 16 bits. */
enum { TEXT_MAX = 64 << 10, DEPTH_MAX = 64, FORMATS_MAX = 65536 };

/*
 * A field is in the first 64 KiB. What it refers to is behind that: an offset and a length of 16
 * bits each.
 */
enum { FIELD_END_MAX = 65536, REACH = FIELD_END_MAX + 2 * 65536 };

struct slot {
	struct tep_record record;
	uint8_t *bytes;
	size_t used;
};

struct formats {
	struct tep_handle *tep;
	struct tep_plugin_list *plugins;
	struct slot slots[FORMATS_SLOTS];
	char *err;
	size_t errlen;
};

static int fail(struct formats *f, const struct dat_info *info, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct formats *f, const struct dat_info *info, const char *format, ...)
{
	int n = snprintf(f->err, f->errlen, "%s: ", info->name);
	va_list ap;

	va_start(ap, format);
	if (n >= 0 && (size_t)n < f->errlen)
		vsnprintf(f->err + n, f->errlen - (size_t)n, format, ap);
	va_end(ap);
	return -EINVAL;
}

/* --- plugins -----------------------------------------------------------------------------------
 */

static void add_option(const char *option)
{
	char *copy = strdup(option), *value = copy ? strchr(copy, '=') : NULL;

	if (!copy)
		return;
	if (value)
		*value++ = '\0';
	tep_plugin_add_option(copy, value);
	free(copy);
}

/* The plugin of ftrace's events has it for whoever prints times in another way. */
static void set_time_format(void)
{
	const char **format = dlsym(RTLD_DEFAULT, "tep_func_repeat_format");

	if (format)
		*format = "%6.1000d";
}

static void load_plugins(struct formats *f, const struct formats_config *cfg)
{
	for (size_t i = 0; i < cfg->nr_options; i++)
		add_option(cfg->options[i]);
	if (cfg->no_plugins)
		return;
	f->plugins = tep_load_plugins(f->tep);
	set_time_format();
}

struct formats *formats_new(const struct formats_config *cfg)
{
	struct formats *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	tep_set_loglevel(TEP_LOG_NONE);
	f->tep = tep_alloc();
	for (size_t i = 0; i < FORMATS_SLOTS; i++)
		f->slots[i].bytes = calloc(1, 2 * REACH);
	if (f->tep && f->slots[FORMATS_ONE].bytes && f->slots[FORMATS_OTHER].bytes) {
		load_plugins(f, cfg);
		return f;
	}
	formats_free(f);
	return NULL;
}

void formats_free(struct formats *f)
{
	if (!f)
		return;
	if (f->plugins)
		tep_unload_plugins(f->plugins, f->tep);
	if (f->tep)
		tep_free(f->tep);
	for (size_t i = 0; i < FORMATS_SLOTS; i++)
		free(f->slots[i].bytes);
	free(f);
}

/* --- texts -------------------------------------------------------------------------------------
 */

/* libtraceevent calls itself for what is in brackets. */
static bool is_flat(const char *text, size_t len)
{
	int depth = 0;

	for (size_t i = 0; i < len && depth <= DEPTH_MAX; i++) {
		char c = text[i];

		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if ((c == ')' || c == ']' || c == '}') && depth)
			depth--;
	}
	return depth <= DEPTH_MAX;
}

/* As far as messages have it. */
static int first_line(const struct dat_text *text)
{
	size_t len = strcspn(text->text, "\n");

	return len < 64 ? (int)len : 64;
}

static int load_header(struct formats *f, const struct dat_info *info)
{
	const struct dat_text *page = &info->header_page;

	if (!page->text || !page->len)
		return 0;
	if (page->len > TEXT_MAX)
		return fail(f, info, "its header_page is too long");
	tep_parse_header_page(f->tep, (char *)(uintptr_t)page->text, page->len, 8);
	if (tep_get_header_page_size(f->tep) != 8)
		return fail(f, info,
			    "it is of a kernel whose long has %d bytes; hvtrace reads files "
			    "of 64-bit kernels",
			    tep_get_header_page_size(f->tep));
	return 0;
}

static int load_format(struct formats *f, const struct dat_info *info, const struct dat_format *fmt)
{
	const struct dat_text *t = &fmt->text;

	if (t->len > TEXT_MAX || !is_flat(t->text, t->len))
		return fail(f, info, "a format is too long or too deep: %.*s", first_line(t),
			    t->text);
	/* One that it does not understand prints its fields. */
	tep_parse_event(f->tep, t->text, t->len, fmt->system);
	return 0;
}

/*
 * Records of the tracer blk have no format file. Their id is the one behind user_stack's
 * (enum trace_type of kernel/trace/trace.h), and they are a struct blk_io_trace with the common
 * fields in place of its first ones; libtracecmd makes the same of them.
 */
static void add_blktrace(struct formats *f)
{
	static const char fields[] = "\tfield:u64 sector;\toffset:16;\tsize:8;\n"
				     "\tfield:int bytes;\toffset:24;\tsize:4;\n"
				     "\tfield:int action;\toffset:28;\tsize:4;\n"
				     "\tfield:int pid;\toffset:32;\tsize:4;\n"
				     "\tfield:int device;\toffset:36;\tsize:4;\n"
				     "\tfield:int cpu;\toffset:40;\tsize:4;\n"
				     "\tfield:short error;\toffset:44;\tsize:2;\n"
				     "\tfield:short pdu_len;\toffset:46;\tsize:2;\n"
				     "\tfield:void data;\toffset:48;\tsize:0;\n"
				     "\nprint fmt: \"%d\", REC->pid\n";
	const struct tep_event *before = tep_find_event_by_name(f->tep, "ftrace", "user_stack");
	char text[1024];
	int len;

	if (!before || tep_find_event(f->tep, before->id + 1))
		return;
	len = snprintf(text, sizeof(text),
		       "name: blktrace\nID: %d\nformat:\n"
		       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\n"
		       "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\n"
		       "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\n"
		       "\tfield:int common_pid;\toffset:4;\tsize:4;\n\n%s",
		       before->id + 1, fields);
	tep_parse_event(f->tep, text, (unsigned long)len, "ftrace");
}

static int check_fields(struct formats *f, const struct dat_info *info,
			const struct tep_event *event, const struct tep_format_field *field)
{
	for (; field; field = field->next) {
		if (field->offset >= 0 && field->size >= 0 && field->offset <= FIELD_END_MAX &&
		    field->size <= FIELD_END_MAX - field->offset &&
		    field->elementsize <= FIELD_END_MAX && field->arraylen <= FIELD_END_MAX)
			continue;
		return fail(f, info, "it lies: the format of %.64s has a field at %d, of %d bytes",
			    event->name, field->offset, field->size);
	}
	return 0;
}

static int check_formats(struct formats *f, const struct dat_info *info)
{
	struct tep_event *event;
	int rc = 0;

	for (int i = 0; !rc && (event = tep_get_event(f->tep, i)); i++) {
		rc = check_fields(f, info, event, event->format.common_fields);
		if (!rc)
			rc = check_fields(f, info, event, event->format.fields);
	}
	return rc;
}

static int load_names(struct formats *f, const struct dat_info *info)
{
	if (names_functions(f->tep, &info->kallsyms) &&
	    names_printk(f->tep, &info->printk_formats) && names_tasks(f->tep, &info->cmdlines))
		return 0;
	return fail(f, info, "there is no memory for the names in it");
}

int formats_load(struct formats *f, const struct dat_info *info, char *err, size_t errlen)
{
	int rc;

	f->err = err;
	f->errlen = errlen;
	tep_set_file_bigendian(f->tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(f->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(f->tep, 8);
	tep_set_page_size(f->tep, (int)info->page_size);
	tep_set_cpus(f->tep, (int)info->cpus);
	rc = load_header(f, info);
	if (!rc && info->nr_formats > FORMATS_MAX)
		rc = fail(f, info, "it has %zu formats of events", info->nr_formats);
	for (size_t i = 0; !rc && i < info->nr_formats; i++)
		rc = load_format(f, info, &info->formats[i]);
	if (!rc)
		add_blktrace(f);
	if (!rc)
		rc = check_formats(f, info);
	return rc ? rc : load_names(f, info);
}

/* --- records -----------------------------------------------------------------------------------
 */

struct tep_handle *formats_tep(const struct formats *f)
{
	return f->tep;
}

struct tep_event *formats_event(const struct formats *f, int id)
{
	return tep_find_event(f->tep, id);
}

static long long missed(uint64_t lost)
{
	return lost > INT64_MAX ? -1 : (long long)lost;
}

/*
 * What takes the rest of a record is not there in one that ends before it: libtraceevent would take
 * less than nothing for billions of bytes. It finds the event by itself, also of a record that is
 * too short to be of one.
 */
static void leave_room(const struct formats *f, struct tep_record *r)
{
	const struct tep_event *event = tep_find_event(f->tep, tep_data_type(f->tep, r));

	for (const struct tep_format_field *i = event ? event->format.fields : NULL; i; i = i->next)
		if (!i->size && i->offset > r->size)
			r->size = r->record_size = i->offset;
}

struct tep_record *formats_record(struct formats *f, enum formats_slot slot,
				  const struct decode_event *ev)
{
	struct slot *s = &f->slots[slot];
	size_t len = ev->len < FIELD_END_MAX ? ev->len : FIELD_END_MAX;

	memcpy(s->bytes, ev->data, len);
	if (s->used > len)
		memset(s->bytes + len, 0, s->used - len);
	s->used = len;
	s->record = (struct tep_record){
		.ts = ev->time,
		.missed_events = missed(ev->lost),
		.record_size = (int)len,
		.size = (int)len,
		.data = s->bytes,
		.cpu = (int)ev->cpu,
		.ref_count = 1,
	};
	leave_room(f, &s->record);
	return &s->record;
}

bool formats_number(const struct tep_format_field *field, const struct decode_event *ev,
		    uint64_t *n)
{
	*n = 0;
	if (!field || (size_t)field->offset + (size_t)field->size > ev->len ||
	    (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8))
		return false;
	memcpy(n, (const uint8_t *)ev->data + field->offset, (size_t)field->size);
	return true;
}
