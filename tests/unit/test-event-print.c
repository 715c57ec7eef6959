// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-print.c - trace events by their print fmt: every format of Linux 6.1, what the kernel
 * printed where only its text was kept, constructs one by one, and records that lie.
 */
#include "tests/unit/event-formats.h"
#include "tests/unit/output-world.h"

#include <inttypes.h>
#include <pthread.h>

/* --- a guest -------------------------------------------------------------------------------- */

#define STRING_ADDR "0xffffffff82000010"

/* The constants of an enum are found in its order, all others are 7. */
static bool guest_constant(void *arg, const char *name, uint64_t *value)
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

static uint64_t guest_variable(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "unheard_of") ? 16 : 0;
}

static bool guest_read_variable(void *arg, uint64_t addr, uint64_t *value)
{
	(void)arg;
	*value = 0x819017ef;
	return addr == 16;
}

static uint32_t guest_type_size(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "struct page") ? 64 : 0;
}

static const struct expr_names names = {.constant = guest_constant,
					.variable = guest_variable,
					.read = guest_read_variable,
					.type_size = guest_type_size,
					.hz = 250};

static const char *guest_string(void *arg, uint64_t addr)
{
	(void)arg;
	return addr == strtoull(STRING_ADDR, NULL, 16) ? "core string" : NULL;
}

static struct world *world_with_symbols(void)
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

static struct printer printer_of(struct event_printer *events)
{
	struct printer p = {.w = world_with_symbols()};

	p.cfg = world_config(p.w, OUTPUT_DEFAULT & ~OUTPUT_CONTEXT_INFO, "nop");
	p.cfg.events = events;
	p.cfg.string = guest_string;
	return p;
}

static void check_record(const struct printer *p, const void *data, size_t len, const char *want)
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
	struct event_printer *events = formats_printer(formats, &names);
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
	struct event_printer *events = formats_printer(formats, &names);
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
	struct event_printer *events = formats_printer(formats, &names);
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

/* --- constructs ----------------------------------------------------------------------------- */

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

static struct formats *made_formats(const char *fields, const char *print_fmt)
{
	char *text = malloc(1 << 20);

	assert_non_null(text);
	snprintf(text, 1 << 20, "name: t\nID: 2000\nformat:\n%s%s\nprint fmt: %s\n", common_fields,
		 fields, print_fmt);
	return formats_new(text);
}

struct construct {
	const char *print_fmt, *values, *want;
};

#define IP6(word) "b=:20010db8" word
#define SYM	  "0xffffffff81001010"

static const struct construct constructs[] = {
	/* numbers */
	{"\"%d %u %x %#x %X %#X\", REC->n, REC->n, REC->n, REC->n, REC->w, REC->w", "n=-2 w=0xabc",
	 "-2 4294967294 fffffffe 0xfffffffe ABC 0XABC"},
	{"\"%#x %o %#o %#o\", REC->w, REC->h, REC->h, REC->w", "h=8", "0x0 10 010 0"},
	{"\"%5d|%-5d|%05d|%+d|% d|%.3d|%08.3x\", REC->n, REC->n, REC->n, REC->n, REC->n, REC->n, "
	 "REC->n",
	 "n=42", "   42|42   |00042|+42| 42|042|0000002a"},
	{"\"%5d|%-6d|%05d\", REC->n, REC->n, REC->n", "n=-42", "  -42|-42   |-0042"},
	{"\"%hhd %hhx %hd %ld %llu %zu %#llx\", REC->w, REC->w, REC->w, REC->q, REC->q, REC->q, "
	 "REC->q",
	 "w=0xffffff80 q=0xffffffffffffffff",
	 "-128 80 -128 -1 18446744073709551615 18446744073709551615 0xffffffffffffffff"},
	{"\"%d %u %lx\", REC->t, REC->h, (long)REC->t", "t=-3 h=65535",
	 "-3 65535 fffffffffffffffd"},
	{"\"%*d|%-*d|%0*llx %c%%\", (int)8 * 2 - 10, REC->n, 4, REC->n, (int)8 * 2, REC->q, REC->w",
	 "n=7 q=0x1f w=0x41", "     7|7   |000000000000001f A%"},
	/* strings */
	{"\"%s|%s|%s|%s\", REC->c, __get_str(s), __get_rel_str(r), REC->p",
	 "c='abc' s='dyn' r='rel' p=" STRING_ADDR, "abc|dyn|rel|core string"},
	{"\"[%s] [%s]\", REC->c, __get_str(s)", "s=''", "[] []"},
	{"\"%8s|%-8s|%.2s|%.*s|%8.2s\", REC->c, REC->c, REC->c, REC->n, REC->c, REC->c",
	 "c='abc' n=1", "     abc|abc     |ab|a|      ab"},
	{"\"%s\", REC->p", "p=0", "(0x0000000000000000)[UNSAFE-MEMORY]"},
	{"\"%s\", REC->p", "p=0xdead", "(0x000000000000dead)[UNSAFE-MEMORY]"},
	{"\"a\\tb\\\"\" \"c\\x41\\101\"", "", "a\tb\"cAA"},
	{"\"%s %s\", REC->n > 1 ? \"s\" : \"\", REC->w ? \"yes\" : REC->n ? \"no\" : \"none\"",
	 "n=2", "s no"},
	{"\"%d%s\", __get_str(s)[0], __get_str(s)[1] ? \"+\" : \"-\"", "s='A'", "65-"},
	/* what C makes of operators */
	{"\"%d %d %d %d\", REC->w - 1 > 0, REC->n < 0, -1 < (int)REC->w, 7 - 2 - 1", "n=-1",
	 "1 1 1 4"},
	{"\"%d %d %lu\", REC->n >> 1, REC->n / 2, (unsigned long)REC->n >> 60", "n=-8", "-4 -4 15"},
	{"\"%d %d %llx %d\", 1 + 2 * 3, (1 + 2) * 3 % 4, 1ULL << 40, 1 | 2 ^ 3 & 2", "",
	 "7 1 10000000000 1"},
	{"\"%d %d %d %d\", !REC->n, ~REC->n, -REC->n, !!REC->w && !REC->q || 0", "n=5 w=1",
	 "0 -6 -5 1"},
	{"\"%d,%d %x\", ((unsigned int) ((REC->w) >> 20)), ((unsigned int) ((REC->w) & ((1U << 20) - "
	 "1))), REC->b[2]",
	 "w=0xfe00005 b=:010203", "254,5 3"},
	{"\"%d %d %d\", REC->n / REC->w, REC->n % REC->w, REC->n / (REC->t + 1)",
	 "n=-2147483648 w=0 t=-2", "0 0 -2147483648"},
	{"\"%d %d %d\", (int)sizeof(REC->b), (int)sizeof(struct page), '\\n'", "", "16 64 10"},
	{"\"%x %x\", *(u32 *)REC->b, ((u16 *)&REC->w)[1]", "b=:78563412 w=0xabcd0000",
	 "12345678 abcd"},
	{"\"%d %llu.%09u %u\", XYZ, __print_ns_to_secs(REC->q), __print_ns_without_secs(REC->q), "
	 "jiffies_to_msecs(REC->w)",
	 "q=3000000007 w=5", "7 3.000000007 20"},
	/* flags and symbols */
	{"\"%s|%s\", __print_flags(REC->w, \"|\", { 1, \"A\" }, { 2 | 4, \"B\" }), "
	 "__print_flags(REC->n, \"\", {0x1, \"x\"}, {( unsigned long)((( gfp_t)0x2u)), \"y\"})",
	 "w=15 n=3", "A|B|0x8|xy"},
	{"\"[%s] [%s]\", __print_flags(REC->w, \"|\", { 1, \"A\" }), __print_flags(REC->n, \"|\", { 1, "
	 "\"A\" })",
	 "w=0 n=8", "[] [0x8]"},
	{"\"%s %s %s\", __print_symbolic(REC->w, { 0, \"zero\" }, { 1, \"one\" }), "
	 "__print_symbolic(REC->n, { -1, \"minus\" }), __print_symbolic(REC->t, { 1, \"one\" }, { -1, "
	 "((void *)0) })",
	 "w=1 n=-1 t=-2", "one minus 0xfffffffffffffffe"},
	{"\"%8s|%-6s|%.1s\", __print_symbolic(REC->w, { 0, \"zero\" }), __print_symbolic(REC->w, { 0, "
	 "\"zero\" }), __print_symbolic(REC->w, { 0, \"zero\" })",
	 "", "    zero|zero  |z"},
	/* arrays */
	{"\"%s|%s\", __print_hex(REC->b, 3), __print_hex_str(REC->b, 3)", "b=:010aff",
	 "01 0a ff|010aff"},
	{"\"%s\", __print_hex(__get_dynamic_array(s), __get_dynamic_array_len(s))",
	 "s=:000102030405060708090a0b0c0d0e0f1011",
	 "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f10 11"},
	{"\"{%s} %s %s\", __print_array(REC->b, 4, 1), __print_array(__get_dynamic_array(a), 2, 2), "
	 "__print_array(REC->b, 0, 1)",
	 "b=:01020304 a=:341278ab", "{{0x1,0x2,0x3,0x4}} {0x1234,0xab78} {}"},
	{"\"%s %d\", __print_dynamic_array(a, sizeof(u16)), __get_dynamic_array_len(a)",
	 "a=:341278ab", "{0x1234,0xab78} 4"},
	{"\"%s\", __get_bitmask(s)", "s=:0f00000001000000", "00000001,0000000f"},
	{"\"%s\", __get_rel_cpumask(r)", "r=:03", "03"},
	{"\"%*phD|%*ph|%*phN|%5phC\", 3, REC->b, 2, REC->b, 2, REC->b, REC->b", "b=:0102030405",
	 "01-02-03|01 02|0102|01:02:03:04:05"},
	{"\"%*pb %*pbl\", 12, REC->b, 16, REC->b", "b=:f70f", "ff7 0-2,4-11"},
	/* addresses of networks */
	{"\"%pI4 %pi4 %pI4h %pI4\", REC->b, REC->b, REC->b, &REC->w", "b=:0a000102 w=0x0100007f",
	 "10.0.1.2 010.000.001.002 2.1.0.10 127.0.0.1"},
	{"\"%pI6c\", REC->b", IP6("000000000000000000000001"), "2001:db8::1"},
	{"\"%pI6\", REC->b", IP6("000000000000000000000001"),
	 "2001:0db8:0000:0000:0000:0000:0000:0001"},
	{"\"%pi6\", REC->b", IP6("000000000000000000000001"), "20010db8000000000000000000000001"},
	{"\"%pI6c\", REC->b", "b=:00000000000000000000000000000000", "::"},
	{"\"%pI6c\", REC->b", "b=:00000000000000000000ffff0a000001", "::ffff:10.0.0.1"},
	{"\"%pI6c\", REC->b", IP6("000100000000000100000001"), "2001:db8:1::1:0:1"},
	{"\"%pI6c\", REC->b", "b=:fe8000000000000000005efe0a000001", "fe80::5efe:10.0.0.1"},
	{"\"%pISpc %pISc\", __get_sockaddr(s), __get_sockaddr(s)", "s=:020000357f000001",
	 "127.0.0.1:53 127.0.0.1"},
	{"\"%pISpfsc\", __get_sockaddr(s)",
	 "s=:0a0000500000000720010db800000000000000000000000103000000", "[2001:db8::1]:80/7%3"},
	{"\"%pISpc\", __get_sockaddr(s)", "s=:01000000", "(einval)"},
	{"\"%pM %pMF %pMR %pm\", REC->b, REC->b, REC->b, REC->b", "b=:525400123456",
	 "52:54:00:12:34:56 52-54-00-12-34-56 56:34:12:00:54:52 525400123456"},
	{"\"%pU %pUl %pUL\", REC->b, REC->b, REC->b", "b=:000102030405060708090a0b0c0d0e0f",
	 "00010203-0405-0607-0809-0a0b0c0d0e0f 03020100-0504-0706-0809-0a0b0c0d0e0f "
	 "03020100-0504-0706-0809-0A0B0C0D0E0F"},
	{"\"%p4cc %pap\", &REC->w, &REC->q", "w=0x34324752 q=0x12345",
	 "RG24 little-endian (0x34324752) 0x0000000000012345"},
	/* pointers */
	{"\"%ps %pS %pS %ps %pB\", (void *)REC->q, (void *)REC->q, (void *)0x1234, (void *)0, (void "
	 "*)REC->q",
	 "q=" SYM,
	 "tick_sched_timer tick_sched_timer+0x10/0x1b0 0x1234 0x0 tick_sched_timer+0x10/0x1b0"},
	{"\"%ps %pS|%-20ps|\", (void *)REC->q, (void *)REC->q, (void *)REC->q",
	 "q=0xffffffffc0001008",
	 "dummy_xmit [dummy] dummy_xmit+0x8/0x80 [dummy]|dummy_xmit [dummy]  |"},
	{"\"%p %px %pK %p %pe %pe\", (void *)REC->q, (void *)REC->q, (void *)REC->q, (void *)0, (void "
	 "*)(long)REC->n, (void *)REC->q",
	 "q=0xffff888000000100 n=-2",
	 "ffff888000000100 ffff888000000100 ffff888000000100 0000000000000000 -ENOENT "
	 "ffff888000000100"},
	{"\"%pI4 %pd\", (void *)REC->q, (void *)REC->q", "q=0xffff888000000100",
	 "(efault) (efault)"},
};

static void test_constructs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(constructs) / sizeof(constructs[0]); i++) {
		const struct construct *c = &constructs[i];
		struct formats *formats = made_formats(own_fields, c->print_fmt);
		struct event_printer *events = formats_printer(formats, &names);
		struct printer p = printer_of(events);
		struct record r = record_of(&formats->event[0], c->values);
		char want[512];

		snprintf(want, sizeof(want), "t: %s\n", c->want);
		check_record(&p, r.bytes, r.len, want);
		world_free(p.w);
		event_printer_free(events);
		formats_free(formats);
	}
}

/* --- pointers that are hashed --------------------------------------------------------------- */

/* The key and the hash of SipHash's own test vectors. */
#define HASHED_ADDR "0x0706050403020100"

static enum output_hash guest_key(void *arg, uint64_t key[2])
{
	(void)arg;
	key[0] = UINT64_C(0x0706050403020100);
	key[1] = UINT64_C(0x0f0e0d0c0b0a0908);
	return OUTPUT_HASH_KEY;
}

static enum output_hash guest_key_later(void *arg, uint64_t key[2])
{
	(void)arg;
	(void)key;
	return OUTPUT_HASH_EARLY;
}

static void test_hash(void **state)
{
	struct formats *formats = made_formats(
		own_fields, "\"%p %px %ps %p %p %20p\", (void *)REC->q, (void *)REC->q, "
			    "(void *)REC->q, (void *)0, (void *)(long)-2, (void *)REC->q");
	struct event_printer *events = formats_printer(formats, &names);
	struct printer p = printer_of(events);
	struct record r = record_of(&formats->event[0], "q=" HASHED_ADDR);

	(void)state;
	p.cfg.pointer_key = guest_key;
	check_record(&p, r.bytes, r.len,
		     "t: 000000009a932462 0706050403020100 0x706050403020100 0000000000000000 "
		     "fffffffffffffffe             9a932462\n");
	p.cfg.options &= ~(uint32_t)OUTPUT_HASH_PTR;
	check_record(&p, r.bytes, r.len,
		     "t: 0706050403020100 0706050403020100 0x706050403020100 0000000000000000 "
		     "fffffffffffffffe             9a932462\n");
	p.cfg.options |= OUTPUT_HASH_PTR;
	p.cfg.pointer_key = guest_key_later;
	check_record(&p, r.bytes, r.len,
		     "t: (____ptrval____) 0706050403020100 0x706050403020100 0000000000000000 "
		     "fffffffffffffffe     (____ptrval____)\n");
	world_free(p.w);
	event_printer_free(events);
	formats_free(formats);
}

/* --- what is not printed by a print fmt ------------------------------------------------------- */

static void test_syscalls(void **state)
{
	struct formats *formats = formats_load("formats-used.txt");
	struct event_printer *events = formats_printer(formats, &names);
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
		events = formats_printer(formats, &names);
		p = printer_of(events);
		r = record_of(&formats->event[0], probes[i].values);
		snprintf(want, sizeof(want), "t: %s\n", probes[i].want);
		check_record(&p, r.bytes, r.len, want);
		world_free(p.w);
		event_printer_free(events);
		formats_free(formats);
	}
}

/* --- print fmts that make no sense ------------------------------------------------------------ */

static const char values_of_all[] = "w=5 n=-2 q=16 s='dyn' p=" STRING_ADDR " c='abc' t=65 h=7";
static const char fields_of_all[] =
	"t: b=<INVALID-SIZE> w=0x5 (5) n=0xfffffffe (-2) q=0x10 (16) s=dyn r= p=core string c=abc "
	"t='A'(65) h=0x7 (7) a=\n";

static const char *const bad_fmts[] = {
	"",
	"REC->n",
	"\"%d\"",
	"\"%d\", ",
	"\"%d\", REC->unheard",
	"\"%d\", unheard_of",
	"\"%d\", unheard(REC->n)",
	"\"%s\", __get_str(unheard)",
	"\"%s\", __get_str(n",
	"\"%s\", __print_flags(REC->n)",
	"\"%s\", __print_flags(REC->n, \"|\", { REC->n, \"A\" })",
	"\"%s\", __print_symbolic(REC->n, { 1 })",
	"\"%s\", __print_hex(REC->b)",
	"\"%d\", (REC->n",
	"\"%d\", ({ REC->n; })",
	"\"%d\", REC->n +",
	"\"%d\", REC",
	"\"%d\", REC + 1",
	"\"%n\", REC->n",
	"\"%d",
	"\"%d\", *REC->q",
	"\"%p\", (struct unheard *)REC->q + 1",
	"\"%d\", 12ab",
	"\"%d\", 'ab'",
};

static void check_fmt(const char *print_fmt, const char *want)
{
	struct formats *formats = made_formats(own_fields, print_fmt);
	struct event_printer *events = formats_printer(formats, &names);
	struct printer p = printer_of(events);
	struct record r = record_of(&formats->event[0], values_of_all);

	check_record(&p, r.bytes, r.len, want);
	world_free(p.w);
	event_printer_free(events);
	formats_free(formats);
}

/* n of them around or behind a number */
static void check_many(const char *before, const char *after, size_t n, const char *want)
{
	struct text fmt = {0};

	text_puts(&fmt, "\"%d\", ");
	for (size_t i = 0; i < n; i++)
		text_puts(&fmt, before);
	text_puts(&fmt, "REC->w");
	for (size_t i = 0; i < n; i++)
		text_puts(&fmt, after);
	text_putc(&fmt, '\0');
	check_fmt(fmt.buf, want);
	text_free(&fmt);
}

static void test_bad_fmts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_fmts) / sizeof(bad_fmts[0]); i++)
		check_fmt(bad_fmts[i], fields_of_all);
	check_many("(", ")", 40, "t: 5\n");
	check_many("(", ")", 10000, fields_of_all);
	check_many("!!", "", 20, "t: 1\n");
	check_many("!", "", 20000, fields_of_all);
	check_many("", " + 1", 200, "t: 205\n");
	check_many("", " + 1", 10000, fields_of_all);
}

/* --- records that lie ------------------------------------------------------------------------- */

static void test_lies(void **state)
{
	struct formats *formats = made_formats(
		own_fields,
		"\"%s|%s|%s|%s|%d|%s|%*ph|%pISpc|%s|%d\", __get_str(s), __get_rel_str(r), "
		"__print_hex(__get_dynamic_array(a), 4), __print_dynamic_array(a, 2), "
		"__get_dynamic_array_len(a), __get_bitmask(s), REC->n, REC->c, __get_sockaddr(s), REC->c, "
		"REC->b[REC->n * 9]");
	struct event_printer *events = formats_printer(formats, &names);
	struct printer p = printer_of(events);
	struct record r = record_of(&formats->event[0], "n=20 c=:4141414141414141 t=65 h=0x4141");
	uint8_t *exact;

	(void)state;
	/* Out of it by far, and just so far that one byte is left. */
	memcpy(r.bytes + 40, &(uint32_t){0x0010fff0}, 4);
	memcpy(r.bytes + 44, &(uint32_t){0xffffffff}, 4);
	memcpy(r.bytes + 68, &(uint32_t){0xffff0000 | 71}, 4);
	exact = malloc(r.len); /* so that a sanitizer sees what is read behind it */
	assert_non_null(exact);
	memcpy(exact, r.bytes, r.len);
	check_record(
		&p, exact, r.len,
		"t: (efault)|(efault)|ff|{}|65535||            (efault)|(efault)|AAAAAAAAA|0\n");
	/* Too short for its fields. */
	check_record(&p, exact, r.len - 1, "Unknown type 2000\n");
	free(exact);
	world_free(p.w);
	event_printer_free(events);
	formats_free(formats);
}

/* --- several readers, and events that come ---------------------------------------------------- */

struct reading {
	struct printer p;
	const struct formats *formats;
};

static void *read_events(void *arg)
{
	const struct reading *r = arg;

	for (int i = 0; i < 200; i++) {
		const struct guestsym_event *ev = &r->formats->event[i % r->formats->list.n];
		struct record rec = record_of(ev, "");
		struct ring_event e = {.data = rec.bytes, .len = (unsigned int)rec.len};
		struct text text = {0};
		struct output o;

		output_init(&o, &r->p.cfg, &text);
		output_event(&o, 0, &e, 0);
		assert_true(text.len > 0);
		output_exit(&o);
		text_free(&text);
	}
	return NULL;
}

/* Each reading prints all of them, while they are added again in other forms. */
static void test_threads(void **state)
{
	struct formats *formats = formats_load("formats-used.txt");
	struct event_printer *events = formats_printer(formats, &names);
	struct reading r = {.p = printer_of(events), .formats = formats};
	pthread_t threads[3];

	(void)state;
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
	world_free(r.p.w);
	event_printer_free(events);
	formats_free(formats);
}

/* An event that goes stays known: there may be records of it; its id may come to be another's. */
static void test_reuse(void **state)
{
	struct formats *first = made_formats(own_fields, "\"first %d\", REC->n");
	struct formats *second = made_formats(own_fields, "\"second %d\", REC->n");
	struct event_printer *events = formats_printer(first, &names);
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
		cmocka_unit_test(test_forms),	    cmocka_unit_test(test_constructs),
		cmocka_unit_test(test_hash),	    cmocka_unit_test(test_syscalls),
		cmocka_unit_test(test_probes),	    cmocka_unit_test(test_bad_fmts),
		cmocka_unit_test(test_lies),	    cmocka_unit_test(test_threads),
		cmocka_unit_test(test_reuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
