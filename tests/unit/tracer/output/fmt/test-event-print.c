// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-print.c - trace events by their print fmt: every format of Linux 6.1, what the kernel
 * printed where only its text was kept, and what has another form.
 */
#include "tests/unit/event-printing.h"
#include "tests/elsewhere.h"

#include <pthread.h>

/* --- all formats ---------------------------------------------------------------------------- */

/* They call functions of their drivers which make text of what only those know. */
static bool is_beyond_us(const char *name)
{
	static const char *const beyond[] = {"prq_report", "nvme_setup_cmd", "xen_mc_entry",
					     "xen_mc_extend_args"};

	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		if (!strcmp(beyond[i], name))
			return true;
	}
	return false;
}

static void test_all_formats(void **state)
{
	struct formats *formats = formats_load("formats-all.txt.gz");
	struct event_printer *events = formats_printer(formats, &guest_names);
	size_t nr = 0;

	(void)state;
	assert_int_equal(formats->list.n, 700);
	for (size_t i = 0; i < formats->list.n; i++) {
		const struct guestsym_event *ev = &formats->event[i];
		const struct event_form *form = event_printer_form(events, ev->id);

		if (ev->source == GUESTSYM_EVENT_FTRACE)
			continue;
		assert_non_null(form);
		if (form->kind != (is_beyond_us(ev->name) ? EVENT_FIELDS : EVENT_FORMAT))
			fail_msg("%s: %s", ev->name, ev->print_fmt);
		nr++;
	}
	assert_int_equal(nr, 682);
	event_printer_free(events);
	formats_free(formats);
}

/* --- what the kernel printed ---------------------------------------------------------------- */

/*
 * Lines of samples/, blk/ and options/ of a Linux 6.1.192. Its pointers were hashed, ours are not:
 * they are what it printed.
 */
static const struct {
	const char *event, *values, *want;
} lines[] = {
	{"hrtimer_init", "hrtimer=0x838048d0 clockid=1 mode=9",
	 "hrtimer=00000000838048d0 clockid=CLOCK_MONOTONIC mode=REL|HARD"},
	{"hrtimer_start",
	 "hrtimer=0x94aacf5f function=0xffffffff81001000 expires=2672000000 softexpires=2672000000 "
	 "mode=10",
	 "hrtimer=0000000094aacf5f function=tick_sched_timer expires=2672000000 "
	 "softexpires=2672000000 mode=ABS|PINNED|HARD was_armed=0"},
	{"hrtimer_start",
	 "hrtimer=0x5a2a45d4 function=0xffffffff81001000 expires=2676000000 "
	 "softexpires=2676000000",
	 "hrtimer=000000005a2a45d4 function=tick_sched_timer expires=2676000000 "
	 "softexpires=2676000000 mode=ABS was_armed=0"},
	{"hrtimer_expire_entry", "hrtimer=0x5a2a45d4 function=0xffffffff81001000 now=2673432629",
	 "hrtimer=000000005a2a45d4 function=tick_sched_timer now=2673432629"},
	{"softirq_raise", "vec=9", "vec=9 [action=RCU]"},
	{"softirq_entry", "vec=7", "vec=7 [action=SCHED]"},
	{"timer_start",
	 "timer=0x35fef644 function=0xffffffff81002000 expires=4294892927 now=4294892926",
	 "timer=0000000035fef644 function=process_timeout expires=4294892927 [timeout=1] cpu=0 "
	 "idx=0 flags="},
	{"task_newtask", "pid=133 comm='init' clone_flags=0x1200000",
	 "pid=133 comm=init clone_flags=1200000 oom_score_adj=0"},
	{"task_rename", "pid=133 oldcomm='init' newcomm='gt'",
	 "pid=133 oldcomm=init newcomm=gt oom_score_adj=0"},
	{"kmalloc",
	 "call_site=0xffffffff810030c5 ptr=0x1ac9451e bytes_req=16 bytes_alloc=16 "
	 "gfp_flags=0x400dc0 node=-1",
	 "call_site=security_prepare_creds+0xc5/0xe0 ptr=000000001ac9451e bytes_req=16 "
	 "bytes_alloc=16 gfp_flags=GFP_KERNEL_ACCOUNT|__GFP_ZERO node=-1 accounted=true"},
	{"mm_page_alloc", "pfn=0x3ff08 gfp_flags=0x400dc0",
	 "page=00000000828fd9ef pfn=0x3ff08 order=0 migratetype=0 "
	 "gfp_flags=GFP_KERNEL_ACCOUNT|__GFP_ZERO"},
	{"kfree", "call_site=0xffffffff8100302f",
	 "call_site=security_prepare_creds+0x2f/0xe0 ptr=0000000000000000"},
	{"page_fault_user", "address=0x2112883c ip=0x529fac error_code=7",
	 "address=0x2112883c ip=0x529fac error_code=0x7"},
	{"block_bio_queue", "dev=0xfe00000 sector=1600 nr_sector=8 rwbs='RA' comm='dd'",
	 "254,0 RA 1600 + 8 [dd]"},
	{"block_rq_issue",
	 "dev=0xfe00000 sector=1600 nr_sector=8 bytes=4096 rwbs='RA' comm='dd' cmd=''",
	 "254,0 RA 4096 () 1600 + 8 [dd]"},
	{"block_rq_complete", "dev=0xfe00000 sector=1600 nr_sector=8 rwbs='RA' cmd=''",
	 "254,0 RA () 1600 + 8 [0]"},
	{"block_dirty_buffer", "dev=0xfe00000 sector=300 size=4096", "254,0 sector=300 size=4096"},
	{"sched_process_exec", "filename='/bin/gt' pid=117 old_pid=117",
	 "filename=/bin/gt pid=117 old_pid=117"},
	{"sched_switch",
	 "prev_comm='init' prev_pid=277 prev_prio=120 prev_state=1 next_comm='swapper/1' "
	 "next_prio=120",
	 "prev_comm=init prev_pid=277 prev_prio=120 prev_state=S ==> next_comm=swapper/1 "
	 "next_pid=0 next_prio=120"},
	{"sys_enter", "id=33 args=:0c000000000000000100000000000000f0c6a22d00000000",
	 "NR 33 (c, 1, 2da2c6f0, 0, 0, 0)"},
};

static void test_lines(void **state)
{
	struct formats *formats = formats_load("formats-all.txt.gz");
	struct event_printer *events = formats_printer(formats, &guest_names);
	struct printer p = printer_of(events);

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct guestsym_event *ev = formats_find(formats, lines[i].event);
		struct record r = record_of(ev, lines[i].values);
		char want[512];

		snprintf(want, sizeof(want), "%s: %s\n", lines[i].event, lines[i].want);
		check_record(&p, r.bytes, r.len, want);
	}
	world_free(p.w);
	event_printer_free(events);
	formats_free(formats);
}

/* In a graph of calls an event is a comment; other forms tell its type only. */
static void test_forms(void **state)
{
	struct formats *formats = formats_load("formats-used.txt");
	struct event_printer *events = formats_printer(formats, &guest_names);
	struct printer p = printer_of(events);
	const struct guestsym_event *ev = formats_find(formats, "sched_wakeup_new");
	struct record r = record_of(ev, "comm='init' pid=303 prio=120 target_cpu=1");
	char want[64];

	(void)state;
	p.cfg.options |= OUTPUT_CONTEXT_INFO;
	p.cfg.tracer = "function_graph";
	p.cfg.graph_options = OUTPUT_GRAPH_DEFAULT;
	check_record(&p, r.bytes, r.len,
		     " 0)               |  /* sched_wakeup_new: comm=init pid=303 prio=120 "
		     "target_cpu=001 */\n");
	p.cfg.tracer = "nop";
	p.cfg.options ^= OUTPUT_CONTEXT_INFO | OUTPUT_RAW;
	snprintf(want, sizeof(want), "type: %u\n", ev->id);
	check_record(&p, r.bytes, r.len, want);
	p.cfg.options ^= OUTPUT_RAW | OUTPUT_HEX;
	snprintf(want, sizeof(want), "type: %u\n\n", ev->id);
	check_record(&p, r.bytes, r.len, want);
	p.cfg.options ^= OUTPUT_HEX | OUTPUT_BIN;
	snprintf(want, sizeof(want), "type: %u\n", ev->id);
	check_record(&p, r.bytes, r.len, want);
	world_free(p.w);
	event_printer_free(events);
	formats_free(formats);
}

/* --- what is not printed by a print fmt ------------------------------------------------------- */

static void test_syscalls(void **state)
{
	struct formats *formats = formats_load("formats-used.txt");
	struct event_printer *events = formats_printer(formats, &guest_names);
	struct printer p = printer_of(events);
	struct record r =
		record_of(formats_find(formats, "sys_enter_openat"),
			  "__syscall_nr=257 dfd=0xffffff9c filename=0x7ffd0 flags=0x8000");

	(void)state;
	check_record(&p, r.bytes, r.len,
		     "sys_openat(dfd: ffffff9c, filename: 7ffd0, flags: 8000, mode: 0)\n");
	p.cfg.options |= OUTPUT_VERBOSE;
	check_record(&p, r.bytes, r.len,
		     "sys_openat(int dfd: ffffff9c, const char * filename: 7ffd0, int flags: 8000, "
		     "umode_t mode: 0)\n");
	r = record_of(formats_find(formats, "sys_exit_openat"), "ret=-2");
	check_record(&p, r.bytes, r.len, "sys_openat -> 0xfffffffffffffffe\n");
	world_free(p.w);
	event_printer_free(events);
	formats_free(formats);
}

enum { FL_KPROBE = GUESTSYM_EVENT_FL_KPROBE, FL_UPROBE = GUESTSYM_EVENT_FL_UPROBE };

#define DYN_STRING "\tfield:__data_loc char[] s;\toffset:24;\tsize:4;\tsigned:1;\n"
#define PROBE	   "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n" DYN_STRING
#define RETURN                                                                                     \
	"\tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;\n"                     \
	"\tfield:unsigned long __probe_ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n" DYN_STRING

/* Lines of control/kprobe-uprobe-eprobe.txt, and a string that could not be read. */
static const struct {
	const char *fields, *print_fmt;
	uint32_t flags;
	const char *values, *want;
} probes[] = {
	{PROBE, "\"(%lx) filename=\\\"%s\\\" flags=0x%x\", REC->__probe_ip, __get_str(s), 0x8000",
	 FL_KPROBE, "__probe_ip=0xffffffff81004000 s='/proc/self/stat'",
	 "(do_sys_openat2+0x0/0x170) filename=\"/proc/self/stat\" flags=0x8000"},
	{PROBE, "\"(%lx) filename=\\\"%s\\\"\", REC->__probe_ip, __get_str(s)", FL_KPROBE,
	 "__probe_ip=0xffffffff81004000", "(do_sys_openat2+0x0/0x170) filename=(fault)"},
	{RETURN, "\"(%lx <- %lx) ret=%d\", REC->__probe_func, REC->__probe_ret_ip, 3", FL_KPROBE,
	 "__probe_func=0xffffffff81004000 __probe_ret_ip=0xffffffff8100506a",
	 "(__x64_sys_openat+0x6a/0xa0 <- do_sys_openat2) ret=3"},
	{PROBE, "\"(%lx) a=%d s=\\\"%s\\\"\", REC->__probe_ip, 0, __get_str(s)", FL_UPROBE,
	 "__probe_ip=0x40183e s='hello'", "(0x40183e) a=0 s=\"hello\""},
	{RETURN, "\"(%lx <- %lx) ret=%d\", REC->__probe_func, REC->__probe_ret_ip, 0", FL_UPROBE,
	 "__probe_func=0x40183e __probe_ret_ip=0x4018a1", "(0x4018a1 <- 0x40183e) ret=0"},
};

static void test_probes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		struct formats *formats = made_formats(probes[i].fields, probes[i].print_fmt);
		struct event_printer *events;
		struct printer p;
		struct record r;
		char want[256];

		formats->event[0].flags = probes[i].flags;
		events = formats_printer(formats, &guest_names);
		p = printer_of(events);
		r = record_of(&formats->event[0], probes[i].values);
		snprintf(want, sizeof(want), "t: %s\n", probes[i].want);
		check_record(&p, r.bytes, r.len, want);
		world_free(p.w);
		event_printer_free(events);
		formats_free(formats);
	}
}

/* --- several readers, and events that come ---------------------------------------------------- */

struct reading {
	struct printer p;
	struct record *records; /* one of each event */
	size_t n;
};

static void *read_events(void *arg)
{
	const struct reading *r = arg;

	for (int i = 0; i < 200; i++) {
		const struct record *rec = &r->records[(size_t)i % r->n];
		struct ring_event e = {.data = rec->bytes, .len = (unsigned int)rec->len};
		struct text text = {0};
		struct output o;

		output_init(&o, &r->p.cfg, &text);
		output_event(&o, 0, &e, 0);
		holds(text.len > 0);
		output_exit(&o);
		text_free(&text);
	}
	return NULL;
}

/* Each reading prints all of them, while they are added again in other forms. */
static void test_threads(void **state)
{
	struct formats *formats = formats_load("formats-used.txt");
	struct event_printer *events = formats_printer(formats, &guest_names);
	struct reading r = {.p = printer_of(events), .n = formats->list.n};
	pthread_t threads[3];

	(void)state;
	r.records = calloc(r.n, sizeof(*r.records));
	assert_non_null(r.records);
	for (size_t i = 0; i < r.n; i++)
		r.records[i] = record_of(&formats->event[i], "");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_events, &r), 0);
	for (size_t i = 0; i < formats->list.n; i++) {
		struct guestsym_event changed = formats->event[i];
		struct guestsym_event_list list = formats->list;

		changed.print_fmt = "\"changed\"";
		list.v = &changed;
		list.n = 1;
		assert_int_equal(event_printer_add(events, &list), 0);
	}
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	elsewhere_check();
	free(r.records);
	world_free(r.p.w);
	event_printer_free(events);
	formats_free(formats);
}

/* An event that goes stays known: there may be records of it; its id may come to be another's. */
static void test_reuse(void **state)
{
	struct formats *first = made_formats(own_fields, "\"first %d\", REC->n");
	struct formats *second = made_formats(own_fields, "\"second %d\", REC->n");
	struct event_printer *events = formats_printer(first, &guest_names);
	struct printer p = printer_of(events);
	struct record r = record_of(&first->event[0], "n=3");
	const struct event_form *form = event_printer_form(events, 2000);

	(void)state;
	check_record(&p, r.bytes, r.len, "t: first 3\n");
	assert_int_equal(event_printer_add(events, &first->list), 0);
	assert_ptr_equal(event_printer_form(events, 2000), form);
	assert_int_equal(event_printer_add(events, &second->list), 0);
	check_record(&p, r.bytes, r.len, "t: second 3\n");
	assert_false(event_printer_knows(events, 2001, 1024));
	assert_false(event_printer_knows(NULL, 2000, 1024));
	world_free(p.w);
	event_printer_free(events);
	formats_free(first);
	formats_free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_formats), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_forms),	    cmocka_unit_test(test_syscalls),
		cmocka_unit_test(test_probes),	    cmocka_unit_test(test_threads),
		cmocka_unit_test(test_reuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
