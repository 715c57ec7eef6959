// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-events-image.c - the trace events of a made-up kernel that has not been booted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-image-events.h"

static struct image_events im;

static int setup(void **state)
{
	(void)state;
	image_events_init(&im);
	return 0;
}

static void poke(uint64_t va, uint64_t v, size_t len)
{
	image_poke(&im.m, va, v, len);
}

static int read_events_at(uint64_t slide, struct guestsym_event_list *list)
{
	char err[256];
	struct guestsym *gs;
	uint8_t *elf;
	size_t len;
	int ret;

	made_kallsyms(&im.m, MADE_DEBIAN);
	elf = made_elf(&im.m, &len);
	gs = guestsym_parse(elf, len, err, sizeof(err));
	free(elf);
	if (!gs)
		fail_msg("%s", err);
	ret = guestsym_events_image(gs, slide, list);
	guestsym_close(gs);
	return ret;
}

static int read_events(struct guestsym_event_list *list)
{
	return read_events_at(0, list);
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

/* All addresses, but for those that are none. */
static void test_slide(void **state)
{
	const uint64_t slide = UINT64_C(37) << 21;
	struct guestsym_event_list list, moved;
	size_t calls = 0;

	(void)state;
	assert_int_equal(read_events(&list), 0);
	assert_int_equal(read_events_at(slide, &moved), 0);
	assert_int_equal(list.n, moved.n);
	for (size_t i = 0; i < list.n; i++) {
		const struct guestsym_event *a = &list.v[i], *b = &moved.v[i];

		assert_string_equal(a->name, b->name);
		assert_int_equal(b->call, a->call + slide);
		assert_int_equal(b->tracepoint, a->tracepoint ? a->tracepoint + slide : 0);
		assert_int_equal(b->probe, a->probe ? a->probe + slide : 0);
		calls += a->call != 0;
	}
	assert_int_equal(calls, list.n);
	guestsym_events_free(&list);
	guestsym_events_free(&moved);
}

/* Until 6.1 a variable says what the first number is. */
static void test_first_id(void **state)
{
	struct guestsym_event_list list;

	(void)state;
	poke(image_room(&im.m, "next_event_type", 8), 1500, 4);
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
	assert_int_equal(ev->call, im.wakeup);
	assert_int_equal(ev->probe, IMAGE_PROBE);
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
	assert_string_equal(find(&list, "wakeup")->print_fmt, IMAGE_PRINT_FMT_AT_BOOT);
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
		{CLASS_GET_FIELDS, IMAGE_REG},
	};
	struct guestsym_event_list list;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setup(state);
		poke(im.sched + bad[i].off, bad[i].v, 8);
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
		memcpy(&fields, made_at(&im.m, im.sched + CLASS_FIELDS_ARRAY), 8);
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
		poke(im.meta_close + bad[i].off, bad[i].v, bad[i].off == META_NB_ARGS ? 4 : 8);
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
	made_init(&im.m);
	site = made_function(&im.m, "first", 0x100, image_nop, sizeof(image_nop));
	made_mcount(&im.m, &site, 1);
	expect_error(-ENODATA);
	made_init(&im.m);
	site = made_function(&im.m, "first", 0x100, image_nop, sizeof(image_nop));
	made_mcount(&im.m, &site, 1);
	made_types(&im.m, true);
	expect_error(-ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, setup),
		cmocka_unit_test_setup(test_slide, setup),
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
