// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * files-formats.c - events/ftrace/: what else than trace events is in the pages of trace_pipe_raw,
 * for those who decode them. The layouts are those of tracer/ring/entry.h, which are ours whatever
 * kernel the guest has, written as libtraceevent reads them.
 */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <string.h>

struct field {
	const char *type;
	unsigned int offset, size;
	bool is_signed;
};

#define FIELDS_MAX 8

struct entry_format {
	const char *name;
	unsigned int id;
	const char *print;
	struct field field[FIELDS_MAX]; /* up to one without a type */
};

#define REC_CALLERS                                                                                \
	"(void *)REC->caller[0], (void *)REC->caller[1], (void *)REC->caller[2], "                 \
	"(void *)REC->caller[3], (void *)REC->caller[4], (void *)REC->caller[5], "                 \
	"(void *)REC->caller[6], (void *)REC->caller[7]"
#define STACK_PRINT                                                                                \
	"\"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" "       \
	"\"\\t=> %ps\\n\\t=> %ps\\n\", " REC_CALLERS
#define SWITCH_PRINT(arrow)                                                                        \
	"\"%u:%u:%u  " arrow " %u:%u:%u [%03u]\", REC->prev_pid, REC->prev_prio, "                 \
	"REC->prev_state, REC->next_pid, REC->next_prio, REC->next_state, REC->next_cpu"
#define SWITCH_FIELDS                                                                              \
	{"unsigned int prev_pid", 8, 4, false}, {"unsigned int next_pid", 12, 4, false},           \
		{"unsigned int next_cpu", 16, 4, false},                                           \
		{"unsigned char prev_prio", 20, 1, false},                                         \
		{"unsigned char prev_state", 21, 1, false},                                        \
		{"unsigned char next_prio", 22, 1, false},                                         \
		{"unsigned char next_state", 23, 1, false},
#define IP_FIELD                                                                                   \
	{                                                                                          \
		"unsigned long ip", 8, 8, false                                                    \
	}

static const struct field common[] = {
	{"unsigned short common_type", 0, 2, false},
	{"unsigned char common_flags", 2, 1, false},
	{"unsigned char common_preempt_count", 3, 1, false},
	{"int common_pid", 4, 4, true},
	{NULL, 0, 0, false},
};

static const struct entry_format function_format = {
	"function",
	1,
	"\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip",
	{IP_FIELD, {"unsigned long parent_ip", 16, 8, false}},
};

static const struct entry_format context_switch_format = {
	"context_switch", 2, SWITCH_PRINT("==>"), {SWITCH_FIELDS}};

static const struct entry_format wakeup_format = {
	"wakeup", 3, SWITCH_PRINT("==+"), {SWITCH_FIELDS}};

static const struct entry_format kernel_stack_format = {
	"kernel_stack",
	4,
	STACK_PRINT,
	{{"int size", 8, 4, true}, {"unsigned long caller[8]", 16, 64, false}},
};

static const struct entry_format print_format = {
	"print",
	5,
	"\"%ps: %s\", (void *)REC->ip, REC->buf",
	{IP_FIELD, {"char buf[]", 16, 0, true}},
};

static const struct entry_format bprint_format = {
	"bprint",
	6,
	"\"%ps: %s\", (void *)REC->ip, REC->fmt",
	{IP_FIELD, {"const char * fmt", 16, 8, false}, {"u32 buf[]", 24, 0, false}},
};

static const struct entry_format funcgraph_entry_format = {
	"funcgraph_entry",
	11,
	"\"--> %ps (%d)\", (void *)REC->func, REC->depth",
	{{"unsigned long func", 8, 8, false}, {"int depth", 16, 4, true}},
};

/* The depth for the count of overruns: so does the kernel. */
static const struct entry_format funcgraph_exit_format = {
	"funcgraph_exit",
	10,
	"\"<-- %ps (%d) (start: %llx  end: %llx) over: %d\", (void *)REC->func, REC->depth, "
	"REC->calltime, REC->rettime, REC->depth",
	{{"unsigned long func", 8, 8, false},
	 {"int depth", 16, 4, true},
	 {"unsigned int overrun", 20, 4, false},
	 {"unsigned long long calltime", 24, 8, false},
	 {"unsigned long long rettime", 32, 8, false}},
};

static const struct entry_format user_stack_format = {
	"user_stack",
	12,
	STACK_PRINT,
	{{"unsigned int tgid", 8, 4, false}, {"unsigned long caller[8]", 16, 64, false}},
};

static const struct entry_format bputs_format = {
	"bputs",
	14,
	"\"%ps: %s\", (void *)REC->ip, REC->str",
	{IP_FIELD, {"const char * str", 16, 8, false}},
};

static const struct entry_format hwlat_format = {
	"hwlat",
	15,
	"\"cnt:%u\\tts:%010llu.%010lu\\tinner:%llu\\touter:%llu\\tcount:%d\\tnmi-ts:%llu\\tnmi-count:%u\\n\", "
	"REC->seqnum, REC->tv_sec, REC->tv_nsec, REC->duration, REC->outer_duration, REC->count, "
	"REC->nmi_total_ts, REC->nmi_count",
	{{"u64 duration", 8, 8, false},
	 {"u64 outer_duration", 16, 8, false},
	 {"u64 nmi_total_ts", 24, 8, false},
	 {"s64 tv_sec", 32, 8, true},
	 {"long tv_nsec", 40, 8, true},
	 {"unsigned int nmi_count", 48, 4, false},
	 {"unsigned int seqnum", 52, 4, false},
	 {"unsigned int count", 56, 4, false}},
};

static const struct entry_format raw_data_format = {
	"raw_data",
	18,
	"\"id:%04x %08x\", REC->id, (int)REC->buf[0]",
	{{"unsigned int id", 8, 4, false}, {"char buf[]", 12, 0, true}},
};

static const struct entry_format func_repeats_format = {
	"func_repeats",
	19,
	"\" %ps <-%ps\\t(repeats:%u  delta: -%llu)\", (void *)REC->ip, (void *)REC->parent_ip, "
	"REC->count, (((u64)(REC)->top_delta_ts << 32) | (REC)->bottom_delta_ts)",
	{IP_FIELD,
	 {"unsigned long parent_ip", 16, 8, false},
	 {"u16 count", 24, 2, false},
	 {"u16 top_delta_ts", 26, 2, false},
	 {"u32 bottom_delta_ts", 28, 4, false}},
};

static const struct entry_format hw_branch_format = {
	"hw_branch",
	0xffff,
	"\"from: %llx to: %llx\", REC->from, REC->to",
	{{"u64 from", 8, 8, false}, {"u64 to", 16, 8, false}},
};

#define MAP_ID_FIELDS                                                                              \
	{"int map_id", 32, 4, true},                                                               \
	{                                                                                          \
		"unsigned char opcode", 36, 1, false                                               \
	}

static const struct entry_format mmiotrace_map_format = {
	"mmiotrace_map",
	8,
	"\"%lx %lx %lx %d %x\", (unsigned long)REC->phys, REC->virt, REC->len, REC->map_id, "
	"REC->opcode",
	{{"resource_size_t phys", 8, 8, false},
	 {"unsigned long virt", 16, 8, false},
	 {"unsigned long len", 24, 8, false},
	 MAP_ID_FIELDS},
};

static const struct entry_format mmiotrace_rw_format = {
	"mmiotrace_rw",
	7,
	"\"%lx %lx %lx %d %x %x\", (unsigned long)REC->phys, REC->value, REC->pc, REC->map_id, "
	"REC->opcode, REC->width",
	{{"resource_size_t phys", 8, 8, false},
	 {"unsigned long value", 16, 8, false},
	 {"unsigned long pc", 24, 8, false},
	 MAP_ID_FIELDS,
	 {"unsigned char width", 37, 1, false}},
};

static const struct entry_format *const formats[] = {
	&bprint_format,	      &bputs_format,	       &context_switch_format,
	&func_repeats_format, &funcgraph_entry_format, &funcgraph_exit_format,
	&function_format,     &hw_branch_format,       &hwlat_format,
	&kernel_stack_format, &mmiotrace_map_format,   &mmiotrace_rw_format,
	&print_format,	      &raw_data_format,	       &user_stack_format,
	&wakeup_format,
};

bool format_is_ours(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i]->name, name))
			return true;
	return false;
}

static void print_fields(const struct field *field, struct text *out)
{
	for (unsigned int i = 0; i < FIELDS_MAX && field[i].type; i++)
		text_printf(out, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", field[i].type,
			    field[i].offset, field[i].size, field[i].is_signed);
	text_putc(out, '\n');
}

static void show_format(struct open_file *f, struct text *out)
{
	const struct entry_format *format = f->file->arg;

	text_printf(out, "name: %s\nID: %u\nformat:\n", format->name, format->id);
	print_fields(common, out);
	print_fields(format->field, out);
	text_printf(out, "print fmt: %s\n", format->print);
}

static void show_id(struct open_file *f, struct text *out)
{
	text_printf(out, "%u\n", ((const struct entry_format *)f->file->arg)->id);
}

static int open_mark_trigger(struct open_file *f)
{
	if (opened_to_truncate(f))
		instance_truncate_mark_triggers(f->instance);
	return 0;
}

static void show_mark_trigger(struct open_file *f, struct text *out)
{
	instance_print_mark_triggers(f->instance, out);
}

static ssize_t write_mark_trigger(struct open_file *f, const char *text, size_t len, off_t off)
{
	(void)off;
	if (len >= TRIGGER_MAX)
		return -EINVAL;
	return instance_write_mark_trigger(f->instance, text, len);
}

static void show_mark_hist(struct open_file *f, struct text *out)
{
	instance_print_mark_hist(f->instance, out);
}

static void show_mark_hist_debug(struct open_file *f, struct text *out)
{
	instance_print_mark_hist_debug(f->instance, out);
}

/* The kernel has the file of those that can have no trigger as well. */
static void show_no_hist(struct open_file *f, struct text *out)
{
	(void)f, (void)out;
}

/* tracer/ring/page.h */
static void show_header_page(struct open_file *f, struct text *out)
{
	(void)f;
	text_puts(out, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		       "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		       "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		       "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n");
}

static void show_header_event(struct open_file *f, struct text *out)
{
	(void)f;
	text_puts(out, "# compressed entry header\n"
		       "\ttype_len    :    5 bits\n"
		       "\ttime_delta  :   27 bits\n"
		       "\tarray       :   32 bits\n"
		       "\n"
		       "\tpadding     : type == 29\n"
		       "\ttime_extend : type == 30\n"
		       "\ttime_stamp : type == 31\n"
		       "\tdata max type_len  == 28\n");
}

#define FORMAT(of)                                                                                 \
	{                                                                                          \
		.path = "events/ftrace/" #of "/format", .mode = 0440, .arg = &of##_format,         \
		.show = show_format                                                                \
	}
#define ID(of)                                                                                     \
	{                                                                                          \
		.path = "events/ftrace/" #of "/id", .mode = 0440, .arg = &of##_format,             \
		.show = show_id                                                                    \
	}

#define HIST(of)                                                                                   \
	{.path = "events/ftrace/" #of "/hist", .mode = 0440, .show = show_no_hist},                \
	{                                                                                          \
		.path = "events/ftrace/" #of "/hist_debug", .mode = 0440, .show = show_no_hist     \
	}

static const struct tracefs_file files[] = {
	{.path = "events/header_event",
	 .what = "how raw pages are made: trace_pipe_raw",
	 .mode = 0440,
	 .show = show_header_event},
	{.path = "events/header_page", .what = "likewise", .mode = 0440, .show = show_header_page},
	FORMAT(bprint),
	HIST(bprint),
	FORMAT(bputs),
	HIST(bputs),
	FORMAT(context_switch),
	HIST(context_switch),
	FORMAT(func_repeats),
	HIST(func_repeats),
	FORMAT(funcgraph_entry),
	HIST(funcgraph_entry),
	FORMAT(funcgraph_exit),
	HIST(funcgraph_exit),
	FORMAT(function),
	HIST(function),
	/* Only those that tools look for by number have one in the kernel too. */
	ID(function),
	FORMAT(hw_branch),
	HIST(hw_branch),
	FORMAT(hwlat),
	HIST(hwlat),
	FORMAT(kernel_stack),
	HIST(kernel_stack),
	FORMAT(mmiotrace_map),
	HIST(mmiotrace_map),
	FORMAT(mmiotrace_rw),
	HIST(mmiotrace_rw),
	FORMAT(print),
	{.path = "events/ftrace/print/hist", .mode = 0440, .show = show_mark_hist},
	{.path = "events/ftrace/print/hist_debug", .mode = 0440, .show = show_mark_hist_debug},
	ID(print),
	{.path = "events/ftrace/print/trigger",
	 .what = "what each write to trace_marker sets off",
	 .mode = 0640,
	 .open = open_mark_trigger,
	 .show = show_mark_trigger,
	 .write = write_mark_trigger},
	FORMAT(raw_data),
	HIST(raw_data),
	FORMAT(user_stack),
	HIST(user_stack),
	FORMAT(wakeup),
	HIST(wakeup),
};

const struct tracefs_table tracefs_format_files = TRACEFS_TABLE("The formats of records", files);
