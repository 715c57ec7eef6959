// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-events.c - trace events in the made-up memory of a guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "guestsym/guestsym.h"
#include "tests/unit/made-guest-events.h"

#define PROBE UINT64_C(0xffffffff81000100)
#define REG   UINT64_C(0xffffffff81000200)

static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static struct made_guest g;
static uint64_t sched, heap; /* classes */
/* Their struct trace_event_call, in the order of registration. */
static uint64_t function, wakeup, enter, leave, move, kprobe, kprobe_module;
static uint64_t meta;

/* --- a kernel with a few events ---------------------------------------------------------- */

/* Zeroed room in the kernel's data, for what it has from the start. */
static uint64_t room(const char *label, size_t len)
{
	static const uint8_t zero[128];

	made_align(&g.m, 8);
	if (label)
		made_label(&g.m, label, 'd');
	return made_put(&g.m, zero, len);
}

static void make_common_fields(void)
{
	static const struct made_event_field common[] = {
		{"unsigned short", "common_type", 0, 2, false, 0, 0},
		{"int", "common_pid", 4, 4, true, 0, 0},
	};

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		made_event_field(&g, made_addr(&g, "ftrace_common_fields"), &common[i]);
}

static void make_sched(void)
{
	static const struct made_event_field fields[] = {
		{"char[TASK_COMM_LEN]", "comm", 8, 16, false, 1, 16},
		{"pid_t", "pid", 24, 4, true, 0, 0},
		{"__data_loc char[]", "where", 28, 4, false, 2, 0},
		{"__rel_loc char[]", "there", 32, 4, false, 3, 0},
		{"const char *", "why", 40, 8, false, 4, 0},
		{"unsigned long", "ip", 48, 8, false, FILTER_TRACE_FN, 0},
		{"__data_loc cpumask_t", "cpus", 56, 4, false, 6, 0},
		{"u8[2]", "bytes", 60, 2, false, 0, 0},
	};

	made_event_class(&g, sched, "sched", PROBE, REG);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		made_event_field(&g, sched + CLASS_FIELDS, &fields[i]);
	made_event(&g, wakeup,
		   &(struct made_event){"sched_wakeup", "\"comm=%s\", REC->comm", sched, 0, 0,
					EVENT_TRACEPOINT, 21});
	made_event(&g, move,
		   &(struct made_event){"sched_move", "\"\"", sched, 0, 0, EVENT_TRACEPOINT, 24});
}

static void make_function(uint64_t class)
{
	made_event_class(&g, class, "ftrace", 0, 0);
	made_event(&g, function,
		   &(struct made_event){"function", "\" %ps\", REC->ip", class, 0, 0,
					EVENT_IGNORE_ENABLE, 1});
}

static void make_syscall(uint64_t enters, uint64_t leaves)
{
	made_event_class(&g, enters, "syscalls", 0, REG);
	made_event_class(&g, leaves, "syscalls", 0, REG);
	made_poke(&g, enters + CLASS_GET_FIELDS, REG, 8);
	made_list_init(&g, meta + META_ENTER_FIELDS);
	made_poke(&g, meta + META_NR, 39, 4);
	made_event_field(&g, meta + META_ENTER_FIELDS,
			 &(struct made_event_field){"unsigned int", "fd", 16, 8, false, 0, 0});
	made_event_field(&g, leaves + CLASS_FIELDS,
			 &(struct made_event_field){"long", "ret", 16, 8, true, 0, 0});
	made_event(&g, enter,
		   &(struct made_event){"sys_enter_close", "\"fd\"", enters, 0, meta, 0, 22});
	made_event(&g, leave,
		   &(struct made_event){"sys_exit_close", "\"ret\"", leaves, 0, meta, 0, 23});
}

/* Of a module, and one that somebody in the guest has made. */
static void make_late(void)
{
	uint64_t net = made_module(&g, "net", 0x100, true);

	made_event_class(&g, heap, "net", PROBE, REG);
	kprobe_module = made_event(
		&g, heap_put(&g, NULL, EVENT_SIZE_OF),
		&(struct made_event){"net_send", "\"\"", heap, net, 0, EVENT_TRACEPOINT, 25});
	kprobe = made_event(&g, heap_put(&g, NULL, EVENT_SIZE_OF),
			    &(struct made_event){"open", "\"\"", heap, 3, 0, EVENT_DYNAMIC, 26});
}

static int setup(void **state)
{
	uint64_t site, class, enters, leaves;

	(void)state;
	made_guest_init(&g, true);
	site = made_function(&g.m, "first", 0x100, nop, sizeof(nop));
	made_page_add(&g, &site, 1);
	sched = room(NULL, CLASS_SIZE_OF);
	class = room(NULL, CLASS_SIZE_OF);
	enters = room("event_class_syscall_enter", CLASS_SIZE_OF);
	leaves = room("event_class_syscall_exit", CLASS_SIZE_OF);
	function = room(NULL, EVENT_SIZE_OF);
	wakeup = room(NULL, EVENT_SIZE_OF);
	enter = room(NULL, EVENT_SIZE_OF);
	leave = room(NULL, EVENT_SIZE_OF);
	move = room(NULL, EVENT_SIZE_OF);
	meta = room(NULL, META_SIZE_OF);
	made_guest_done(&g);
	heap = heap_put(&g, NULL, CLASS_SIZE_OF);
	make_common_fields();
	make_function(class);
	make_sched();
	make_syscall(enters, leaves);
	make_late();
	return 0;
}

static int read_events_slid(uint64_t slide, struct guestsym_event_list *list)
{
	struct guestsym_memory mem = made_memory(&g);
	char err[256];
	struct guestsym *gs = guestsym_open_memory(NULL, &mem, err, sizeof(err));
	int ret;

	if (!gs)
		fail_msg("%s", err);
	ret = guestsym_events_read(gs, &mem, slide, list);
	/* They do not depend on it. */
	guestsym_close(gs);
	return ret;
}

static int read_events(struct guestsym_event_list *list)
{
	return read_events_slid(0, list);
}

static const struct guestsym_event *find(const struct guestsym_event_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->v[i].name, name))
			return &list->v[i];
	return NULL;
}

static void expect_names(const struct guestsym_event_list *list, const char *names)
{
	char text[512] = "";

	for (size_t i = 0; i < list->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s:%s", i ? " " : "",
			 list->v[i].system, list->v[i].name);
	assert_string_equal(text, names);
}

static void expect_read(const char *names)
{
	struct guestsym_event_list list;

	assert_int_equal(read_events(&list), 0);
	expect_names(&list, names);
	guestsym_events_free(&list);
}

#define ALL                                                                                        \
	"net:open net:net_send ftrace:function sched:sched_wakeup sched:sched_move "               \
	"syscalls:sys_enter_close syscalls:sys_exit_close"

/* --- what is found ----------------------------------------------------------------------- */

static void test_order(void **state)
{
	(void)state;
	expect_read(ALL);
}

static void test_event(void **state)
{
	const struct guestsym_event *ev;
	struct guestsym_event_list list;

	(void)state;
	assert_int_equal(read_events(&list), 0);
	ev = find(&list, "sched_wakeup");
	assert_string_equal(ev->system, "sched");
	assert_null(ev->module);
	assert_int_equal(ev->id, 21);
	assert_int_equal(ev->source, GUESTSYM_EVENT_PROBE);
	assert_int_equal(ev->syscall_nr, -1);
	assert_int_equal(ev->flags, GUESTSYM_EVENT_FL_REG);
	assert_int_equal(ev->call, wakeup);
	assert_int_equal(ev->tracepoint, made_peek(&g, wakeup + EVENT_NAME));
	assert_int_equal(ev->probe, PROBE);
	assert_string_equal(ev->print_fmt, "\"comm=%s\", REC->comm");
	assert_ptr_equal(ev->fields, find(&list, "sched_move")->fields);
	assert_int_equal(list.nr_common, 2);
	assert_string_equal(list.common[0].name, "common_type");
	assert_string_equal(list.common[1].type, "int");
	guestsym_events_free(&list);
}

static void test_fields(void **state)
{
	static const struct guestsym_event_field expected[] = {
		{"char[16]", "comm", 8, 16, false, GUESTSYM_EVENT_STRING},
		{"pid_t", "pid", 24, 4, true, GUESTSYM_EVENT_NUMBER},
		{"__data_loc char[]", "where", 28, 4, false, GUESTSYM_EVENT_DYN_STRING},
		{"__rel_loc char[]", "there", 32, 4, false, GUESTSYM_EVENT_RDYN_STRING},
		{"const char *", "why", 40, 8, false, GUESTSYM_EVENT_PTR_STRING},
		{"unsigned long", "ip", 48, 8, false, GUESTSYM_EVENT_FUNCTION},
		{"__data_loc cpumask_t", "cpus", 56, 4, false, GUESTSYM_EVENT_CPUMASK},
		/* Without a length the kernel prints none. */
		{"u8[]", "bytes", 60, 2, false, GUESTSYM_EVENT_NUMBER},
	};
	const struct guestsym_event *ev;
	struct guestsym_event_list list;

	(void)state;
	assert_int_equal(read_events(&list), 0);
	ev = find(&list, "sched_wakeup");
	assert_int_equal(ev->nr_fields, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < ev->nr_fields; i++) {
		assert_string_equal(ev->fields[i].type, expected[i].type);
		assert_string_equal(ev->fields[i].name, expected[i].name);
		assert_int_equal(ev->fields[i].offset, expected[i].offset);
		assert_int_equal(ev->fields[i].size, expected[i].size);
		assert_int_equal(ev->fields[i].is_signed, expected[i].is_signed);
		assert_int_equal(ev->fields[i].kind, expected[i].kind);
	}
	guestsym_events_free(&list);
}

static void test_syscalls(void **state)
{
	const struct guestsym_event *ev;
	struct guestsym_event_list list;

	(void)state;
	assert_int_equal(read_events(&list), 0);
	ev = find(&list, "sys_enter_close");
	assert_int_equal(ev->source, GUESTSYM_EVENT_SYSCALL);
	assert_int_equal(ev->syscall_nr, 39);
	assert_false(ev->syscall_exit);
	assert_int_equal(ev->nr_fields, 1);
	assert_string_equal(ev->fields[0].name, "fd");
	ev = find(&list, "sys_exit_close");
	assert_int_equal(ev->source, GUESTSYM_EVENT_SYSCALL);
	assert_int_equal(ev->syscall_nr, 39);
	assert_true(ev->syscall_exit);
	assert_string_equal(ev->fields[0].name, "ret");
	guestsym_events_free(&list);
}

static void test_sources(void **state)
{
	const struct guestsym_event *ev;
	struct guestsym_event_list list;

	(void)state;
	assert_int_equal(read_events(&list), 0);
	ev = find(&list, "function");
	assert_int_equal(ev->source, GUESTSYM_EVENT_FTRACE);
	assert_int_equal(ev->flags, GUESTSYM_EVENT_FL_IGNORE_ENABLE);
	assert_int_equal(ev->nr_fields, 0);
	ev = find(&list, "net_send");
	assert_int_equal(ev->source, GUESTSYM_EVENT_PROBE);
	assert_string_equal(ev->module, "net");
	/* It counts its users where others have their module. */
	ev = find(&list, "open");
	assert_int_equal(ev->source, GUESTSYM_EVENT_OTHER);
	assert_null(ev->module);
	assert_int_equal(ev->flags, GUESTSYM_EVENT_FL_REG | GUESTSYM_EVENT_FL_DYNAMIC);
	guestsym_events_free(&list);
}

/* The lists are where KASLR has moved them. */
static void test_slide(void **state)
{
	static const char *const heads[] = {"ftrace_events", "ftrace_common_fields"};
	struct guestsym_event_list list;

	(void)state;
	for (int i = 0; i < 2; i++) {
		uint64_t head = made_addr(&g, heads[i]), to = head + 0x1000;

		memcpy(made_page(&g, to), made_page(&g, head), 16);
		made_poke(&g, made_peek(&g, to) + 8, to, 8);
		made_poke(&g, made_peek(&g, to + 8), to, 8);
	}
	assert_int_equal(read_events_slid(0x1000, &list), 0);
	assert_non_null(find(&list, "sched_wakeup"));
	assert_int_equal(list.nr_common, 2);
	guestsym_events_free(&list);
}

/* Nothing is read twice: lists of thousands of fields are read from a running guest. */
static void test_reads(void **state)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym *gs = guestsym_open_memory(NULL, &mem, NULL, 0);
	struct guestsym_event_list list;

	(void)state;
	assert_non_null(gs);
	g.reads = 0;
	assert_int_equal(guestsym_events_read(gs, &mem, 0, &list), 0);
	assert_in_range(g.reads, 1, (MADE_SIZE + MADE_HEAP_SIZE) / MADE_PAGE);
	guestsym_events_free(&list);
	guestsym_close(gs);
}

/* --- what makes no sense ----------------------------------------------------------------- */

/* It is left out; the others are there. */
static void test_bad_event(void **state)
{
	const struct {
		uint64_t *event;
		unsigned int off;
		uint64_t v;
		const char *rest;
	} bad[] = {
		{&wakeup, EVENT_CLASS, 0x1000,
		 "net:open net:net_send ftrace:function sched:sched_move "
		 "syscalls:sys_enter_close syscalls:sys_exit_close"},
		{&wakeup, EVENT_PRINT_FMT, 0,
		 "net:open net:net_send ftrace:function sched:sched_move "
		 "syscalls:sys_enter_close syscalls:sys_exit_close"},
		{&move, EVENT_NAME, 0x1000,
		 "net:open net:net_send ftrace:function sched:sched_wakeup "
		 "syscalls:sys_enter_close syscalls:sys_exit_close"},
		{&kprobe_module, EVENT_MODULE, 0x1000,
		 "net:open ftrace:function sched:sched_wakeup sched:sched_move "
		 "syscalls:sys_enter_close syscalls:sys_exit_close"},
		{&enter, EVENT_DATA, 0,
		 "net:open net:net_send ftrace:function sched:sched_wakeup sched:sched_move "
		 "syscalls:sys_exit_close"},
		{&heap, CLASS_SYSTEM, 0,
		 "ftrace:function sched:sched_wakeup sched:sched_move "
		 "syscalls:sys_enter_close syscalls:sys_exit_close"},
		{&heap, CLASS_GET_FIELDS, REG,
		 "ftrace:function sched:sched_wakeup sched:sched_move "
		 "syscalls:sys_enter_close syscalls:sys_exit_close"},
		{&heap, CLASS_FIELDS + 8, 0x1000,
		 "ftrace:function sched:sched_wakeup sched:sched_move "
		 "syscalls:sys_enter_close syscalls:sys_exit_close"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setup(state);
		made_poke(&g, *bad[i].event + bad[i].off, bad[i].v, 8);
		expect_read(bad[i].rest);
	}
}

/* They become names of files. */
static void test_bad_names(void **state)
{
	static const char *const names[] = {"", ".", "..", "a/b", "a b", "a:b", "a\n", "\xff"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		setup(state);
		made_poke(&g, kprobe + EVENT_NAME, heap_string(&g, names[i]), 8);
		expect_read("net:net_send ftrace:function sched:sched_wakeup sched:sched_move "
			    "syscalls:sys_enter_close syscalls:sys_exit_close");
	}
}

/* A list of fields that has no end. */
static void test_endless_fields(void **state)
{
	uint64_t first = made_peek(&g, sched + CLASS_FIELDS);

	(void)state;
	made_poke(&g, first + 8, first, 8);
	expect_read("net:open net:net_send ftrace:function "
		    "syscalls:sys_enter_close syscalls:sys_exit_close");
}

static void expect_error(int err)
{
	struct guestsym_event_list list;

	assert_int_equal(read_events(&list), err);
	assert_null(list.v);
	assert_null(list.memory);
	assert_int_equal(list.n, 0);
	guestsym_events_free(&list);
}

static void test_bad_list(void **state)
{
	uint64_t head = made_addr(&g, "ftrace_events");

	(void)state;
	made_poke(&g, wakeup + EVENT_LIST + 8, function + EVENT_LIST, 8);
	made_poke(&g, function + EVENT_LIST + 8, wakeup + EVENT_LIST, 8);
	expect_error(-ELOOP);
	made_poke(&g, function + EVENT_LIST + 8, 0x1000, 8);
	expect_error(-EFAULT);
	made_list_init(&g, head);
	expect_error(-ENOENT);
}

/* An event that goes while the list is walked breaks it; the next time it is whole. */
static int read_broken_once(void *arg, uint64_t va, void *buf, size_t len)
{
	int err = made_read(arg, va, buf, len);

	if (kprobe >= va && kprobe < va + len)
		made_poke(&g, kprobe + EVENT_LIST + 8, made_addr(&g, "ftrace_events"), 8);
	return err;
}

static void test_retry(void **state)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym *gs = guestsym_open_memory(NULL, &mem, NULL, 0);
	struct guestsym_event_list list;

	(void)state;
	assert_non_null(gs);
	made_poke(&g, kprobe + EVENT_LIST + 8, UINT64_C(0xdead000000000122), 8);
	assert_int_equal(guestsym_events_read(gs, &mem, 0, &list), -EFAULT);
	mem.read = read_broken_once;
	assert_int_equal(guestsym_events_read(gs, &mem, 0, &list), 0);
	expect_names(&list, ALL);
	guestsym_events_free(&list);
	guestsym_close(gs);
}

/* --- more events of a module than anybody has --------------------------------------------------
 */

#define MANY	  UINT64_C(0xffffc90000000000) /* where they lie, one every MANY_STEP bytes */
#define MANY_STEP 128
#define NR_MANY	  (GUESTSYM_MODULE_EVENTS_MAX + 10)

static struct {
	uint8_t event[EVENT_SIZE_OF]; /* all of them, but for the list */
	uint64_t last;		      /* the next in the list behind them */
} many;

static int read_many(void *arg, uint64_t va, void *buf, size_t len)
{
	if (va < MANY || va - MANY >= NR_MANY * MANY_STEP)
		return made_read(arg, va, buf, len);
	for (size_t i = 0; i + MANY_STEP <= len; i += MANY_STEP) {
		uint64_t nr = (va - MANY + i) / MANY_STEP;
		uint64_t next =
			nr + 1 < NR_MANY ? MANY + (nr + 1) * MANY_STEP + EVENT_LIST : many.last;

		memset((uint8_t *)buf + i, 0, MANY_STEP);
		memcpy((uint8_t *)buf + i, many.event, EVENT_SIZE_OF);
		memcpy((uint8_t *)buf + i + EVENT_LIST + 8, &next, 8);
	}
	return 0;
}

static void test_many_of_modules(void **state)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym *gs = guestsym_open_memory(NULL, &mem, NULL, 0);
	uint64_t head = made_addr(&g, "ftrace_events");
	struct guestsym_event_list list;
	size_t of_modules = 0;

	(void)state;
	assert_non_null(gs);
	memcpy(many.event, made_page(&g, kprobe_module), EVENT_SIZE_OF);
	many.last = made_peek(&g, head + 8);
	made_poke(&g, head + 8, MANY + EVENT_LIST, 8);
	mem.read = read_many;
	assert_int_equal(guestsym_events_read(gs, &mem, 0, &list), 0);
	for (size_t i = 0; i < list.n; i++)
		of_modules += list.v[i].module != NULL;
	assert_int_equal(of_modules, GUESTSYM_MODULE_EVENTS_MAX);
	assert_int_equal(list.left_out, NR_MANY + 1 - GUESTSYM_MODULE_EVENTS_MAX);
	/* The kernel's own come last, and are there. */
	assert_int_equal(list.n, GUESTSYM_MODULE_EVENTS_MAX + 6);
	assert_non_null(find(&list, "sys_exit_close"));
	guestsym_events_free(&list);
	guestsym_close(gs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, setup),
		cmocka_unit_test_setup(test_event, setup),
		cmocka_unit_test_setup(test_fields, setup),
		cmocka_unit_test_setup(test_syscalls, setup),
		cmocka_unit_test_setup(test_sources, setup),
		cmocka_unit_test_setup(test_slide, setup),
		cmocka_unit_test_setup(test_reads, setup),
		cmocka_unit_test(test_bad_event),
		cmocka_unit_test(test_bad_names),
		cmocka_unit_test_setup(test_endless_fields, setup),
		cmocka_unit_test_setup(test_bad_list, setup),
		cmocka_unit_test_setup(test_retry, setup),
		cmocka_unit_test_setup(test_many_of_modules, setup),
	};

	return cmocka_run_group_tests_name("guestsym-events", tests, NULL, NULL);
}
