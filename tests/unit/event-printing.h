/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event-printing.h - a guest with constants, variables and symbols for the print fmts of events,
 * formats that are made up, and how a record's text is checked.
 */
#ifndef HVTRACE_TESTS_UNIT_EVENT_PRINTING_H
#define HVTRACE_TESTS_UNIT_EVENT_PRINTING_H

#include "tests/unit/event-formats.h"
#include "tests/unit/output-world.h"

#define STRING_ADDR "0xffffffff82000010"

/* The constants of an enum are found in its order, all others are 7. */
static inline bool guest_constant(void *arg, const char *name, uint64_t *value)
{
	static const char *const modes[] = {
		"ABS",	    "REL",	"ABS_PINNED",	   "REL_PINNED",
		"ABS_SOFT", "REL_SOFT", "ABS_PINNED_SOFT", "REL_PINNED_SOFT",
		"ABS_HARD", "REL_HARD", "ABS_PINNED_HARD", "REL_PINNED_HARD",
	};

	(void)arg;
	*value = 7;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strncmp(name, "HRTIMER_MODE_", 13) && !strcmp(name + 13, modes[i]))
			*value = i;
	}
	return strcmp(name, "unheard_of") && strcmp(name, "vmemmap_base") &&
	       strcmp(name, "jiffies");
}

static inline uint64_t guest_variable(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "unheard_of") ? 16 : 0;
}

static inline bool guest_read_variable(void *arg, uint64_t addr, uint64_t *value)
{
	(void)arg;
	*value = 0x819017ef;
	return addr == 16;
}

static inline uint32_t guest_type_size(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "struct page") ? 64 : 0;
}

static const struct expr_names guest_names = {.constant = guest_constant,
					      .variable = guest_variable,
					      .read = guest_read_variable,
					      .type_size = guest_type_size,
					      .hz = 250};

static inline const char *guest_string(void *arg, uint64_t addr)
{
	(void)arg;
	return addr == strtoull(STRING_ADDR, NULL, 16) ? "core string" : NULL;
}

static inline struct world *world_with_symbols(void)
{
	static const struct {
		uint64_t addr, size;
		const char *name, *module;
	} symbols[] = {
		{0xffffffff81001000, 0x1b0, "tick_sched_timer", ""},
		{0xffffffff81002000, 0x40, "process_timeout", ""},
		{0xffffffff81003000, 0xe0, "security_prepare_creds", ""},
		{0xffffffff81004000, 0x170, "do_sys_openat2", ""},
		{0xffffffff81005000, 0xa0, "__x64_sys_openat", ""},
		{0xffffffffc0001000, 0x80, "dummy_xmit", "dummy"},
	};
	struct world *w = world_new();

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		world_add(w, symbols[i].addr, symbols[i].size, symbols[i].name);
		strcpy(w->sym[i].module, symbols[i].module);
	}
	return w;
}

/* Prints records of events without the columns before them. */
struct printer {
	struct world *w;
	struct output_config cfg;
};

static inline struct printer printer_of(struct event_printer *events)
{
	struct printer p = {.w = world_with_symbols()};

	p.cfg = world_config(p.w, OUTPUT_DEFAULT & ~OUTPUT_CONTEXT_INFO, "nop");
	p.cfg.events = events;
	p.cfg.string = guest_string;
	return p;
}

static inline void check_record(const struct printer *p, const void *data, size_t len,
				const char *want)
{
	struct ring_event ev = {.data = data, .len = (unsigned int)len};
	struct text text = {0};
	struct output o;

	output_init(&o, &p->cfg, &text);
	output_event(&o, 0, &ev, 0);
	text_putc(&text, '\0');
	assert_false(text.failed);
	assert_text_equal(text.buf, want);
	output_exit(&o);
	text_free(&text);
}

/* One of each kind of field; what is to be printed of it is put behind. */
static const char common_fields[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

static const char own_fields[] = "\tfield:u8 b[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				 "\tfield:u32 w;\toffset:24;\tsize:4;\tsigned:0;\n"
				 "\tfield:int n;\toffset:28;\tsize:4;\tsigned:1;\n"
				 "\tfield:u64 q;\toffset:32;\tsize:8;\tsigned:0;\n"
				 "\tfield:__data_loc char[] s;\toffset:40;\tsize:4;\tsigned:1;\n"
				 "\tfield:__rel_loc char[] r;\toffset:44;\tsize:4;\tsigned:1;\n"
				 "\tfield:const char * p;\toffset:48;\tsize:8;\tsigned:0;\n"
				 "\tfield:char c[8];\toffset:56;\tsize:8;\tsigned:1;\n"
				 "\tfield:s8 t;\toffset:64;\tsize:1;\tsigned:1;\n"
				 "\tfield:u16 h;\toffset:66;\tsize:2;\tsigned:0;\n"
				 "\tfield:__data_loc u16[] a;\toffset:68;\tsize:4;\tsigned:0;\n";

static inline struct formats *made_formats(const char *fields, const char *print_fmt)
{
	char *text = malloc(1 << 20);

	assert_non_null(text);
	snprintf(text, 1 << 20, "name: t\nID: 2000\nformat:\n%s%s\nprint fmt: %s\n", common_fields,
		 fields, print_fmt);
	return formats_new(text);
}

#endif
