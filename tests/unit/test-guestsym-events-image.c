// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-events-image.c - the trace events of a made-up kernel that has not been booted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-guest.h"

#define PROBE	 (MADE_BASE + 0x300)
#define REG	 (MADE_BASE + 0x400)
#define RAW_INIT (MADE_BASE + 0x500)

#define TEXT                                                                                       \
	"\"%s COMM \\\" COMM %d\", COMM, REC->COMM, x.COMM->COMM, COMMA, 0COMM, NOT, "             \
	"sizeof(pte_t) * 2, LOW , COMM\"COMM"
/* What follows a word directly is not looked at: not even the last quote. */
#define TEXT_AT_BOOT                                                                               \
	"\"%s COMM \\\" COMM %d\", 16, REC->COMM, x.COMM->COMM, COMMA, 0COMM, NOT, "               \
	"8 * 2, -1 , 16\"16"

static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static struct made_image m;
static uint64_t sched_name, sched, wakeup, meta_close, meta_gone;

/* --- an image ---------------------------------------------------------------------------- */

static uint64_t put_string(const char *s)
{
	return made_put(&m, s, strlen(s) + 1);
}

static void poke(uint64_t va, uint64_t v, size_t len)
{
	memcpy(made_at(&m, va), &v, len);
}

static uint64_t room(const char *label, size_t len)
{
	static const uint8_t zero[128];

	made_align(&m, 8);
	if (label)
		made_label(&m, label, 'd');
	return made_put(&m, zero, len);
}

/* A table of addresses between two symbols. */
static void put_table(const char *start, const char *stop, const uint64_t *v, size_t n)
{
	made_align(&m, 8);
	made_label(&m, start, 'D');
	made_put(&m, v, n * sizeof(*v));
	made_label(&m, stop, 'D');
	made_put64(&m, 0);
}

struct class_field {
	const char *type, *name;
	int32_t size, align, is_signed, filter_type, len;
};

/* An array of struct trace_event_fields; a type of NULL but a name is TRACE_FUNCTION_TYPE. */
static uint64_t put_fields(const struct class_field *f, size_t n)
{
	uint64_t types[8] = {0}, names[8] = {0}, va;

	for (size_t i = 0; i < n; i++) {
		types[i] = f[i].type ? put_string(f[i].type) : UINT64_MAX;
		names[i] = put_string(f[i].name);
	}
	made_align(&m, 8);
	va = MADE_BASE + m.used;
	for (size_t i = 0; i < n; i++) {
		made_put64(&m, types[i]);
		made_put64(&m, names[i]);
		made_put(&m, &f[i].size, 5 * sizeof(int32_t));
		made_put32(&m, 0);
	}
	room(NULL, CLASS_FIELD_SIZE_OF);
	return va;
}

static uint64_t put_class(const char *label, uint64_t system, uint64_t fields, uint64_t reg,
			  uint64_t raw_init)
{
	uint64_t va = room(label, CLASS_SIZE_OF);

	poke(va + CLASS_SYSTEM, system, 8);
	poke(va + CLASS_PROBE, PROBE, 8);
	poke(va + CLASS_REG, reg, 8);
	poke(va + CLASS_FIELDS_ARRAY, fields, 8);
	poke(va + CLASS_RAW_INIT, raw_init, 8);
	return va;
}

static uint64_t put_event(const char *name, uint64_t class, const char *print_fmt, uint64_t data,
			  uint32_t type)
{
	uint64_t text = put_string(name), fmt = put_string(print_fmt);
	uint64_t va = room(NULL, EVENT_SIZE_OF);

	poke(va + EVENT_CLASS, class, 8);
	poke(va + EVENT_NAME, text, 8);
	poke(va + EVENT_PRINT_FMT, fmt, 8);
	poke(va + EVENT_DATA, data, 8);
	poke(va + EVENT_TYPE, type, 4);
	if (type)
		poke(va + EVENT_FLAGS, EVENT_IGNORE_ENABLE, 4);
	return va;
}

static uint64_t put_meta(const char *name, const char *const *args, int n)
{
	uint64_t text = put_string(name), words[12], types, names, va;

	for (int i = 0; i < 2 * n; i++)
		words[i] = put_string(args[i]);
	made_align(&m, 8);
	types = MADE_BASE + m.used;
	for (int i = 0; i < n; i++)
		made_put64(&m, words[2 * i]);
	names = MADE_BASE + m.used;
	for (int i = 0; i < n; i++)
		made_put64(&m, words[2 * i + 1]);
	va = room(NULL, META_SIZE_OF);
	poke(va + META_NAME, text, 8);
	poke(va + META_NR, -1, 4);
	poke(va + META_NB_ARGS, n, 4);
	poke(va + META_TYPES, types, 8);
	poke(va + META_ARGS, names, 8);
	return va;
}

static uint64_t put_eval(uint64_t system, const char *name, int64_t value)
{
	uint64_t text = put_string(name), va = room(NULL, 24);

	poke(va, system, 8);
	poke(va + 8, text, 8);
	poke(va + 16, value, 8);
	return va;
}

static void put_evals(void)
{
	/* Another "sched" is not the same. */
	const uint64_t maps[] = {
		put_eval(put_string("sched"), "NOT", 1),
		put_eval(sched_name, "COMM", 16),
		put_eval(sched_name, "COMM", 17),
		put_eval(sched_name, "sizeof(pte_t)", 8),
		put_eval(sched_name, "LOW", -1),
		put_eval(sched_name, "COMMA", 123456), /* longer than the name */
	};

	put_table("__start_ftrace_eval_maps", "__stop_ftrace_eval_maps", maps, 6);
}

static void put_syscalls(void)
{
	static const char *const args[] = {"unsigned int", "fd", "char *", "buf"};
	const uint64_t calls[] = {MADE_BASE + 0x180, MADE_BASE + 0x190, MADE_BASE + 0x1a0};

	made_function(&m, "__x64_sys_ni_syscall", 0x180, nop, sizeof(nop));
	made_function(&m, "__ia32_sys_other", 0x190, nop, sizeof(nop));
	made_function(&m, "__x64_sys_close", 0x1a0, nop, sizeof(nop));
	meta_close = put_meta("sys_close", args, 2);
	meta_gone = put_meta("sys_gone", args, 0);
	put_table("__start_syscalls_metadata", "__stop_syscalls_metadata",
		  (const uint64_t[]){meta_gone, meta_close}, 2);
	put_table("sys_call_table", "behind_sys_call_table", calls, 3);
}

static void put_events(void)
{
	static const struct class_field fields[] = {
		{"char[TASK_COMM_LEN]", "comm", 16, 1, 1, 0, 16},
		{"u8", "flag", 1, 1, 0, 0, 0},
		{"long", "time", 8, 8, 1, 0, 0},
		{"__data_loc cpumask_t", "cpus", 4, 4, 0, 0, 0},
		{"void *", "func", 8, 8, 0, FILTER_TRACE_FN, 0},
	};
	static const struct class_field nr[] = {{"int", "__syscall_nr", 4, 4, 1, 0, 0},
						{NULL, "", 0, 0, 0, 0, 0}};
	uint64_t syscalls = put_string("syscalls"), enter, leave, ftrace, gone, v[6];

	sched = put_class(NULL, sched_name, put_fields(fields, 5), REG, RAW_INIT);
	enter = put_class("event_class_syscall_enter", syscalls, put_fields(nr, 2), REG, RAW_INIT);
	poke(enter + CLASS_GET_FIELDS, REG, 8);
	leave = put_class("event_class_syscall_exit", syscalls, put_fields(nr, 1), REG, RAW_INIT);
	ftrace = put_class(NULL, put_string("ftrace"), put_fields(fields, 0), 0, 0);
	wakeup = put_event("wakeup", sched, TEXT, 0, 0);
	gone = put_event("sys_enter_gone", enter, "", meta_gone, 0);
	v[0] = put_event("function", ftrace, "\"\"", 0, 1);
	v[1] = wakeup;
	v[2] = gone;
	v[3] = put_event("sys_enter_close", enter, "", meta_close, 0);
	v[4] = put_event("sys_exit_close", leave, "", meta_close, 0);
	v[5] = put_event("move", sched, "\"\"", 0, 0);
	put_table("__start_ftrace_events", "__stop_ftrace_events", v, 6);
}

static int setup(void **state)
{
	uint64_t site;

	(void)state;
	made_init(&m);
	site = made_function(&m, "first", 0x100, nop, sizeof(nop));
	made_mcount(&m, &site, 1);
	made_types(&m, true);
	sched_name = put_string("sched");
	put_evals();
	put_syscalls();
	put_events();
	return 0;
}

static int read_events(struct guestsym_event_list *list)
{
	char err[256];
	struct guestsym *gs;
	uint8_t *elf;
	size_t len;
	int ret;

	made_kallsyms(&m, MADE_DEBIAN);
	elf = made_elf(&m, &len);
	gs = guestsym_parse(elf, len, err, sizeof(err));
	free(elf);
	if (!gs)
		fail_msg("%s", err);
	ret = guestsym_events_image(gs, list);
	guestsym_close(gs);
	return ret;
}

static const struct guestsym_event *find(const struct guestsym_event_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->v[i].name, name))
			return &list->v[i];
	return NULL;
}

static void expect_fields(const struct guestsym_event_field *v, size_t n,
			  const struct guestsym_event_field *want, size_t nr_want)
{
	assert_int_equal(n, nr_want);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(v[i].type, want[i].type);
		assert_string_equal(v[i].name, want[i].name);
		assert_int_equal(v[i].offset, want[i].offset);
		assert_int_equal(v[i].size, want[i].size);
		assert_int_equal(v[i].is_signed, want[i].is_signed);
		assert_int_equal(v[i].kind, want[i].kind);
	}
}

/* --- what is found ----------------------------------------------------------------------- */

/* A system call that the kernel lacks takes no number, nor do the tracers' events. */
static void test_order(void **state)
{
	static const struct {
		const char *name;
		int id;
	} want[] = {
		{"function", 1},	{"wakeup", 20}, {"sys_enter_close", 21},
		{"sys_exit_close", 22}, {"move", 23},
	};
	struct guestsym_event_list list;

	(void)state;
	assert_int_equal(read_events(&list), 0);
	assert_int_equal(list.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(list.v[i].name, want[i].name);
		assert_int_equal(list.v[i].id, want[i].id);
	}
	guestsym_events_free(&list);
}

/* Until 6.1 a variable says what the first number is. */
static void test_first_id(void **state)
{
	struct guestsym_event_list list;

	(void)state;
	poke(room("next_event_type", 8), 1500, 4);
	assert_int_equal(read_events(&list), 0);
	assert_int_equal(find(&list, "function")->id, 1);
	assert_int_equal(find(&list, "wakeup")->id, 1500);
	assert_int_equal(find(&list, "move")->id, 1503);
	guestsym_events_free(&list);
}

static void test_fields(void **state)
{
	static const struct guestsym_event_field want[] = {
		{"char[16]", "comm", 8, 16, true, GUESTSYM_EVENT_STRING},
		{"u8", "flag", 24, 1, false, GUESTSYM_EVENT_NUMBER},
		{"long", "time", 32, 8, true, GUESTSYM_EVENT_NUMBER},
		{"__data_loc cpumask_t", "cpus", 40, 4, false, GUESTSYM_EVENT_CPUMASK},
		{"void *", "func", 48, 8, false, GUESTSYM_EVENT_FUNCTION},
	};
	static const struct guestsym_event_field common[] = {
		{"unsigned short", "common_type", 0, 2, false, GUESTSYM_EVENT_NUMBER},
		{"unsigned char", "common_flags", 2, 1, false, GUESTSYM_EVENT_NUMBER},
		{"unsigned char", "common_preempt_count", 3, 1, false, GUESTSYM_EVENT_NUMBER},
		{"int", "common_pid", 4, 4, true, GUESTSYM_EVENT_NUMBER},
	};
	const struct guestsym_event *ev;
	struct guestsym_event_list list;

	(void)state;
	assert_int_equal(read_events(&list), 0);
	ev = find(&list, "wakeup");
	expect_fields(ev->fields, ev->nr_fields, want, 5);
	expect_fields(list.common, list.nr_common, common, 4);
	assert_int_equal(ev->call, wakeup);
	assert_int_equal(ev->probe, PROBE);
	guestsym_events_free(&list);
}

static void test_syscalls(void **state)
{
	static const struct guestsym_event_field enter[] = {
		{"int", "__syscall_nr", 8, 4, true, GUESTSYM_EVENT_NUMBER},
		{"unsigned int", "fd", 16, 8, false, GUESTSYM_EVENT_NUMBER},
		{"char *", "buf", 24, 8, false, GUESTSYM_EVENT_PTR_STRING},
	};
	const struct guestsym_event *ev;
	struct guestsym_event_list list;

	(void)state;
	assert_int_equal(read_events(&list), 0);
	ev = find(&list, "sys_enter_close");
	assert_int_equal(ev->syscall_nr, 2);
	assert_int_equal(ev->source, GUESTSYM_EVENT_SYSCALL);
	expect_fields(ev->fields, ev->nr_fields, enter, 3);
	assert_string_equal(ev->print_fmt,
			    "\"fd: 0x%08lx, buf: 0x%08lx\", ((unsigned long)(REC->fd)), "
			    "((unsigned long)(REC->buf))");
	ev = find(&list, "sys_exit_close");
	assert_int_equal(ev->syscall_nr, 2);
	assert_true(ev->syscall_exit);
	expect_fields(ev->fields, ev->nr_fields, enter, 1);
	assert_string_equal(ev->print_fmt, "\"0x%lx\", REC->ret");
	guestsym_events_free(&list);
}

static void test_print_fmt(void **state)
{
	struct guestsym_event_list list;

	(void)state;
	assert_int_equal(read_events(&list), 0);
	assert_string_equal(find(&list, "wakeup")->print_fmt, TEXT_AT_BOOT);
	guestsym_events_free(&list);
}

/* --- what makes no sense ----------------------------------------------------------------- */

/* What leaves an event out, but not the number that it takes. */
static void test_bad_class(void **state)
{
	static const struct {
		unsigned int off;
		uint64_t v;
	} bad[] = {
		{CLASS_FIELDS_ARRAY, 0},
		{CLASS_FIELDS_ARRAY, UINT64_MAX - 8},
		{CLASS_GET_FIELDS, REG},
	};
	struct guestsym_event_list list;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setup(state);
		poke(sched + bad[i].off, bad[i].v, 8);
		assert_int_equal(read_events(&list), 0);
		assert_int_equal(list.n, 3);
		assert_null(find(&list, "wakeup"));
		assert_int_equal(find(&list, "sys_enter_close")->id, 21);
		guestsym_events_free(&list);
	}
}

/* Alignment and size decide where the next field is. */
static void test_bad_fields(void **state)
{
	static const struct {
		unsigned int off;
		uint32_t v;
	} bad[] = {
		{20, 0}, {20, 3}, {20, 1u << 31}, {16, UINT32_MAX}, {0, 1},
	};
	struct guestsym_event_list list;
	uint64_t fields;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setup(state);
		memcpy(&fields, made_at(&m, sched + CLASS_FIELDS_ARRAY), 8);
		poke(fields + bad[i].off, bad[i].v, 4);
		assert_int_equal(read_events(&list), 0);
		assert_null(find(&list, "wakeup"));
		guestsym_events_free(&list);
	}
}

static void test_bad_syscall(void **state)
{
	static const struct {
		unsigned int off;
		uint64_t v;
	} bad[] = {
		{META_NB_ARGS, 7},
		{META_NB_ARGS, UINT32_MAX},
		{META_ARGS, 0x1000},
		{META_TYPES, 0},
	};
	struct guestsym_event_list list;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setup(state);
		poke(meta_close + bad[i].off, bad[i].v, bad[i].off == META_NB_ARGS ? 4 : 8);
		assert_int_equal(read_events(&list), 0);
		assert_null(find(&list, "sys_enter_close"));
		assert_non_null(find(&list, "sys_exit_close"));
		guestsym_events_free(&list);
	}
}

static void expect_error(int err)
{
	struct guestsym_event_list list;

	assert_int_equal(read_events(&list), err);
	assert_null(list.v);
	assert_null(list.memory);
	guestsym_events_free(&list);
}

static void test_nothing(void **state)
{
	uint64_t site;

	(void)state;
	made_init(&m);
	site = made_function(&m, "first", 0x100, nop, sizeof(nop));
	made_mcount(&m, &site, 1);
	expect_error(-ENODATA);
	made_init(&m);
	site = made_function(&m, "first", 0x100, nop, sizeof(nop));
	made_mcount(&m, &site, 1);
	made_types(&m, true);
	expect_error(-ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, setup),
		cmocka_unit_test_setup(test_first_id, setup),
		cmocka_unit_test_setup(test_fields, setup),
		cmocka_unit_test_setup(test_syscalls, setup),
		cmocka_unit_test_setup(test_print_fmt, setup),
		cmocka_unit_test(test_bad_class),
		cmocka_unit_test(test_bad_fields),
		cmocka_unit_test(test_bad_syscall),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("guestsym-events-image", tests, NULL, NULL);
}
