// SPDX-License-Identifier: GPL-2.0-or-later
/* test-perfetto.c - what is written for Perfetto, read back by protobuf-c. */
#include "tests/unit/export-world.h"

#include "frontend/export/perfetto.pb-c.h"

enum { BEGIN = 1, END, INSTANT, COUNTER };

static Pf__Trace *unpack(const struct exported *e)
{
	Pf__Trace *t = pf__trace__unpack(NULL, e->len, (const uint8_t *)e->text);

	assert_non_null(t);
	return t;
}

static Pf__Trace *trace_of(struct dat *d)
{
	struct exported e = export_of(d, "perfetto");
	Pf__Trace *t = unpack(&e);

	free(e.text);
	return t;
}

static Pf__Trace *trace_of_scene(struct scene *s)
{
	return trace_of(scene_open(s));
}

/* --- what is in it -----------------------------------------------------------------------------
 */

static const char *name_of(const Pf__Trace *t, uint64_t iid)
{
	for (size_t i = 0; i < t->n_packet; i++) {
		const Pf__InternedData *in = t->packet[i]->interned_data;

		for (size_t n = 0; in && n < in->n_event_names; n++)
			if (in->event_names[n]->iid == iid)
				return in->event_names[n]->name;
	}
	return "-";
}

static const Pf__TrackDescriptor *track_of(const Pf__Trace *t, uint64_t uuid)
{
	for (size_t i = 0; i < t->n_packet; i++)
		if (t->packet[i]->track_descriptor && t->packet[i]->track_descriptor->uuid == uuid)
			return t->packet[i]->track_descriptor;
	fail_msg("track %llu was not told", (unsigned long long)uuid);
	return NULL;
}

/* "2000 B vfs_open" for each event of the tracks of that name, or of that thread. */
static char *slices(const Pf__Trace *t, const char *name, int64_t tid)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (size_t i = 0; i < t->n_packet; i++) {
		const Pf__TracePacket *p = t->packet[i];
		const Pf__TrackEvent *ev = p->track_event;
		const Pf__TrackDescriptor *track = ev ? track_of(t, ev->track_uuid) : NULL;

		if (!track || (name ? !track->name || strcmp(track->name, name) != 0
				    : !track->thread || track->thread->tid != tid))
			continue;
		fprintf(out, "%llu %c", (unsigned long long)(p->timestamp - MADE_T0),
			" BEiC"[ev->type]);
		if (ev->has_name_iid)
			fprintf(out, " %s", name_of(t, ev->name_iid));
		if (ev->has_counter_value)
			fprintf(out, " %lld", (long long)ev->counter_value);
		putc('\n', out);
	}
	fclose(out);
	return text;
}

static void check_slices(const Pf__Trace *t, const char *name, int64_t tid, const char *expected)
{
	char *text = slices(t, name, tid);

	assert_string_equal(text, expected);
	free(text);
}

/* The nth event of ftrace that is of this kind. */
static const Pf__FtraceEvent *ftrace_event(const Pf__Trace *t, Pf__FtraceEvent__EventCase of,
					   size_t nth)
{
	for (size_t i = 0; i < t->n_packet; i++) {
		const Pf__FtraceEventBundle *b = t->packet[i]->ftrace_events;

		for (size_t n = 0; b && n < b->n_event; n++)
			if (b->event[n]->event_case == of && !nth--)
				return b->event[n];
	}
	fail_msg("there is no event %d", of);
	return NULL;
}

/* --- tests -------------------------------------------------------------------------------------
 */

static void test_graph(void **state)
{
	Pf__Trace *t = trace_of(made_trace());

	(void)state;
	check_slices(t, NULL, 1,
		     "0 i vfs_read\n"
		     "1000 B vfs_write\n1540 E\n"
		     "2000 B vfs_open\n2100 B do_open\n152300 E\n152400 E\n");
	pf__trace__free_unpacked(t, NULL);
}

/* An end without a begin, begins without ends: below their callers, and before a sibling. */
static void test_balance(void **state)
{
	static struct scene s;
	struct exported e;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	made_trace_return(scene_now(&s), 10, 7, MADE_FUNC(4), 2, 10);
	made_trace_call(scene_now(&s), 20, 7, MADE_FUNC(1), 0);
	made_trace_call(scene_now(&s), 30, 7, MADE_FUNC(2), 1);
	made_trace_call(scene_now(&s), 40, 7, MADE_FUNC(3), 1);
	made_trace_call(scene_now(&s), 50, 7, MADE_FUNC(4), 2);
	made_trace_return(scene_now(&s), 60, 7, MADE_FUNC(1), 0, 40);
	made_trace_call(scene_now(&s), 70, 7, MADE_FUNC(5), 0);
	made_trace_return(scene_now(&s), 75, 7, MADE_FUNC(1), 0, 40);
	made_trace_call(scene_now(&s), 80, 8, MADE_FUNC(5), 3);
	made_trace_call(scene_now(&s), 90, 8, MADE_FUNC(5), 5000);
	e = export_of(scene_open(&s), "perfetto");
	t = unpack(&e);
	check_slices(t, NULL, 7,
		     "20 B vfs_read\n30 B vfs_write\n40 E\n40 B vfs_open\n50 B do_open\n"
		     "60 E\n60 E\n60 E\n70 B __schedule\n75 E\n");
	check_slices(t, NULL, 8, "80 B __schedule\n90 E\n");
	assert_int_equal(e.result.unbegun, 2);
	assert_int_equal(e.result.unended, 5);
	assert_int_equal(e.result.left_out, 1);
	pf__trace__free_unpacked(t, NULL);
	free(e.text);
}

static void test_markers(void **state)
{
	static struct scene s;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_mark(&s, 10, 7, "B|5|draw|frame");
	scene_mark(&s, 20, 7, "C|5|fps|59");
	scene_mark(&s, 25, 7, "C|5|fps|-1");
	scene_mark(&s, 30, 7, "E|5");
	scene_mark(&s, 40, 7, "E|5");
	scene_mark(&s, 50, 7, "B|5|late");
	scene_mark(&s, 60, 7, "Beware");
	scene_mark(&s, 70, 7, "C|5|fps|many");
	t = trace_of_scene(&s);
	check_slices(t, "<...> 7 markers", 0, "10 B draw|frame\n30 E\n50 B late\n70 E\n");
	check_slices(t, "fps", 0, "20 C 59\n25 C -1\n");
	/* What is no marker is text. */
	assert_string_equal(ftrace_event(t, PF__FTRACE_EVENT__EVENT_PRINT, 0)->print->buf,
			    "Beware?");
	assert_string_equal(ftrace_event(t, PF__FTRACE_EVENT__EVENT_PRINT, 1)->print->buf,
			    "C|5|fps|many?");
	pf__trace__free_unpacked(t, NULL);
}

static void test_wakeups_and_windows(void **state)
{
	static struct scene s;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_about(&s, 10, SCENE_WAKING, 1, 9, 0);
	scene_about(&s, 12, SCENE_WAKING, 1, 9, 0);
	scene_about(&s, 20, SCENE_IRQ_OFF, 1, 0, 0);
	scene_switch(&s, 30, 1, 9);
	scene_about(&s, 40, SCENE_IRQ_ON, 9, 0, 0);
	scene_about(&s, 50, SCENE_IRQ_OFF, 9, 0, 0);
	t = trace_of_scene(&s);
	check_slices(t, "other 9 wakeup latency", 0, "10 B wakeup latency\n30 E\n");
	check_slices(t, "CPU 0 irqs off", 0, "20 B irqs off\n40 E\n50 B irqs off\n50 E\n");
	assert_int_equal(ftrace_event(t, PF__FTRACE_EVENT__EVENT_SCHED_WAKING, 1)->timestamp,
			 MADE_T0 + 12);
	pf__trace__free_unpacked(t, NULL);
}

/* What irqsoff has recorded: functions with interrupts off, and a stack; end: of which kind it is.
 */
static Pf__Trace *trace_of_window(uint8_t flags, uint8_t count, uint16_t end)
{
	struct made_record r = {
		.type = MADE_FUNCTION,
		.flags = 1,
		.preempt_count = 1,
		.pid = 7,
		.function = {MADE_FUNC(1), 0},
	};
	static struct scene s;

	s = (struct scene){0};
	scene_page(&s, 0);
	scene_event(&s, 10, &r, 24);
	r.flags = flags;
	r.preempt_count = count;
	scene_event(&s, 20, &r, 24);
	r.type = end;
	scene_event(&s, 30, &r, 32);
	return trace_of_scene(&s);
}

static void check_window(uint8_t flags, uint8_t count, uint16_t end, const char *irqs,
			 const char *preempt)
{
	Pf__Trace *t = trace_of_window(flags, count, end);

	check_slices(t, "CPU 0 irqs off", 0, irqs);
	check_slices(t, "CPU 0 preemption off", 0, preempt);
	pf__trace__free_unpacked(t, NULL);
}

static void test_snapshots(void **state)
{
	static const char irqs[] = "10 B irqs off\n30 E\n",
			  preempt[] = "10 B preemption off\n30 E\n";

	(void)state;
	check_window(1, 1, MADE_STACK, irqs, preempt);
	check_window(1, 0x10, MADE_STACK, irqs, "");
	check_window(0, 2, MADE_STACK, "", preempt);
	/* Not one window, and not of these tracers. */
	check_window(0, 0, MADE_STACK, "", "");
	check_window(1, 1, MADE_FUNCTION, "", "");
}

/* The events of the tracer wakeup itself. */
static void test_wakeup_tracer(void **state)
{
	const struct {
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t pid;
		uint32_t prev, next;
	} woken = {SCENE_WOKEN, 0, 0, 7, 7, 9}, switched = {SCENE_SWITCHED, 0, 0, 7, 7, 9};
	static struct scene s;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_event(&s, 50, &woken, sizeof(woken));
	scene_event(&s, 60, &switched, sizeof(switched));
	t = trace_of_scene(&s);
	check_slices(t, "<...> 9 wakeup latency", 0, "50 B wakeup latency\n60 E\n");
	pf__trace__free_unpacked(t, NULL);
}

static void test_ftrace_events(void **state)
{
	Pf__Trace *t = trace_of(made_trace());
	const Pf__FtraceEvent *ev = ftrace_event(t, PF__FTRACE_EVENT__EVENT_SCHED_SWITCH, 0);
	const Pf__FtraceEvent *irq = ftrace_event(t, PF__FTRACE_EVENT__EVENT_IRQ_HANDLER_ENTRY, 0);
	size_t lost = 0;

	(void)state;
	assert_int_equal(ev->pid, 2);
	assert_int_equal(ev->timestamp, MADE_T0 + 2200);
	assert_string_equal(ev->sched_switch->prev_comm, "kthreadd");
	assert_int_equal(ev->sched_switch->next_pid, 33);
	assert_false(ev->sched_switch->has_next_prio); /* the format has none */
	assert_int_equal(irq->irq_handler_entry->irq, 14);
	assert_string_equal(irq->irq_handler_entry->name, "timer");
	/* Bytes of a guest that are no text. */
	ev = ftrace_event(t, PF__FTRACE_EVENT__EVENT_PRINT, 0);
	assert_string_equal(ev->print->buf, "hello \"?\xc3\xa4??");
	for (size_t i = 0; i < t->n_packet; i++)
		lost += t->packet[i]->ftrace_events && t->packet[i]->ftrace_events->lost_events;
	assert_int_equal(lost, 2);
	pf__trace__free_unpacked(t, NULL);
}

static void test_generic(void **state)
{
	const struct {
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t pid;
		char name[8];
		int32_t n[2];
		uint64_t big;
	} odd = {SCENE_ODD, 0, 0, 7, "strange", {-1, 2}, UINT64_MAX};
	static struct scene s;
	const Pf__Generic *g;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_event(&s, 10, &odd, sizeof(odd));
	t = trace_of_scene(&s);
	g = ftrace_event(t, PF__FTRACE_EVENT__EVENT_GENERIC, 0)->generic;
	assert_string_equal(g->event_name, "odd");
	assert_int_equal(g->n_field, 3);
	assert_string_equal(g->field[0]->name, "name");
	assert_string_equal(g->field[0]->str_value, "strange");
	assert_string_equal(g->field[1]->str_value, "[-1,2]");
	assert_true(g->field[2]->uint_value == UINT64_MAX);
	pf__trace__free_unpacked(t, NULL);
}

/* A thread is of the process of who has made it. */
static void test_processes(void **state)
{
	static struct scene s;
	size_t processes = 0, threads = 0;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_about(&s, 10, SCENE_NEWTASK, 1, 50, 0);
	scene_about(&s, 20, SCENE_NEWTASK, 50, 51, 0x10000);
	scene_function(&s, 30, 51, 1);
	t = trace_of_scene(&s);
	for (size_t i = 0; i < t->n_packet; i++) {
		const Pf__ProcessTree *tree = t->packet[i]->process_tree;

		if (tree && tree->n_processes && tree->processes[0]->pid == 50 &&
		    tree->processes[0]->ppid == 1) {
			assert_string_equal(tree->processes[0]->cmdline[0], "other");
			processes++;
		}
		if (tree && tree->n_processes)
			assert_int_not_equal(tree->processes[0]->pid, 51);
		if (tree && tree->n_threads) {
			assert_int_equal(tree->threads[0]->tid, 51);
			assert_int_equal(tree->threads[0]->tgid, 50);
			threads++;
		}
		if (t->packet[i]->track_descriptor)
			assert_int_equal(t->packet[i]->track_descriptor->thread->pid, 50);
	}
	assert_int_equal(processes, 1);
	assert_int_equal(threads, 1);
	pf__trace__free_unpacked(t, NULL);
}

/* By a name that the one before begins with. */
static void test_renamed(void **state)
{
	const struct scene_record shorter = {.type = SCENE_WAKING, .comm = "oth", .of = 70};
	static struct scene s;
	const Pf__ProcessTree *last = NULL;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	scene_about(&s, 10, SCENE_WAKING, 0, 70, 0);
	scene_event(&s, 20, &shorter, sizeof(shorter));
	t = trace_of_scene(&s);
	for (size_t i = 0; i < t->n_packet; i++)
		if (t->packet[i]->process_tree)
			last = t->packet[i]->process_tree;
	assert_true(last && !strcmp(last->processes[0]->cmdline[0], "oth"));
	pf__trace__free_unpacked(t, NULL);
}

/* The second page says that it was earlier than the first. */
static void test_lying_times(void **state)
{
	static struct scene s;
	struct exported e;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 1000);
	made_trace_call(scene_now(&s), 1000, 7, MADE_FUNC(1), 0);
	scene_page(&s, 0);
	made_trace_return(scene_now(&s), 10, 7, MADE_FUNC(1), 0, 10);
	e = export_of(scene_open(&s), "perfetto");
	t = unpack(&e);
	check_slices(t, NULL, 7, "1000 B vfs_read\n1000 E\n");
	assert_int_equal(e.result.late, 1);
	pf__trace__free_unpacked(t, NULL);
	free(e.text);
}

/* Names are told once, before or where they are used, and so are tracks. */
static void test_told_once(void **state)
{
	static struct scene s;
	size_t names = 0, tracks = 0;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 0);
	for (unsigned int i = 0; i < 100; i++)
		scene_function(&s, i, 7, 1 + i % 2);
	t = trace_of_scene(&s);
	assert_int_equal(t->packet[0]->sequence_flags, 1);
	for (size_t i = 0; i < t->n_packet; i++) {
		const Pf__TracePacket *p = t->packet[i];

		names += p->interned_data ? p->interned_data->n_event_names : 0;
		tracks += p->track_descriptor != NULL;
		assert_int_equal(p->trusted_packet_sequence_id, p->ftrace_events ? 0 : 1);
		if (p->track_event) {
			assert_int_equal(p->sequence_flags, 2);
			assert_string_not_equal(name_of(t, p->track_event->name_iid), "-");
		}
	}
	assert_int_equal(names, 2);
	assert_int_equal(tracks, 1);
	pf__trace__free_unpacked(t, NULL);
}

static void test_clocks(void **state)
{
	static struct scene s;
	uint64_t time[8] = {0};
	size_t nr = 0;
	Pf__Trace *t;

	(void)state;
	s = (struct scene){0};
	scene_page(&s, 5);
	scene_function(&s, 5, 7, 1);
	scene_function(&s, 50, 7, 1);
	t = trace_of_scene(&s);
	for (size_t i = 0; i < t->n_packet && nr < 8; i++) {
		const Pf__ClockSnapshot *c = t->packet[i]->clock_snapshot;

		if (!c)
			continue;
		assert_int_equal(c->primary_trace_clock, c->clocks[0]->clock_id);
		time[nr++] = c->clocks[0]->timestamp;
	}
	assert_int_equal(nr, 2);
	assert_int_equal(time[0], MADE_T0 + 5);
	assert_int_equal(time[1], MADE_T0 + 50);
	pf__trace__free_unpacked(t, NULL);
}

static const char *said_or_none(const char *word)
{
	return word ? word : "-";
}

/* What the file says of the guest's kernel: the nodename is not for others. */
static void check_system(const char *said, const char *expected)
{
	static const uint32_t cpus = 2;
	const struct made_option options[] = {{DAT_OPTION_UNAME, said, strlen(said) + 1},
					      {DAT_OPTION_CPUCOUNT, &cpus, sizeof(cpus)},
					      {0, NULL, 0}};
	struct made_dat_spec spec = {.version = 7, .compression = "none"};
	const Pf__SystemInfo none = PF__SYSTEM_INFO__INIT, *system = &none;
	char text[128] = "none";
	Pf__Trace *t;

	made_trace_spec(&spec);
	spec.options = options;
	t = trace_of(made_open(&spec));
	for (size_t i = 0; i < t->n_packet; i++)
		if (t->packet[i]->system_info)
			system = t->packet[i]->system_info;
	assert_int_equal(system->num_cpus, 2);
	if (system->utsname)
		snprintf(text, sizeof(text), "%s|%s|%s", said_or_none(system->utsname->sysname),
			 said_or_none(system->utsname->release),
			 said_or_none(system->utsname->machine));
	assert_string_equal(text, expected);
	pf__trace__free_unpacked(t, NULL);
}

static void test_system(void **state)
{
	(void)state;
	check_system("Linux node 6.1.0-13-amd64 x86_64", "Linux|6.1.0-13-amd64|x86_64");
	check_system("Linux a domain 6.1.0 x86_64", "Linux|6.1.0|x86_64");
	check_system("Linux  6.1.0 x86_64", "Linux|6.1.0|x86_64");
	check_system("Linux node", "Linux|-|-");
	check_system("", "|-|-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graph),	      cmocka_unit_test(test_balance),
		cmocka_unit_test(test_markers),	      cmocka_unit_test(test_wakeups_and_windows),
		cmocka_unit_test(test_snapshots),     cmocka_unit_test(test_wakeup_tracer),
		cmocka_unit_test(test_ftrace_events), cmocka_unit_test(test_generic),
		cmocka_unit_test(test_processes),     cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_lying_times),   cmocka_unit_test(test_told_once),
		cmocka_unit_test(test_clocks),	      cmocka_unit_test(test_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
