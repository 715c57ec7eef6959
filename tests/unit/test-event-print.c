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
static bool guest_value(void *arg, const char *name, uint64_t *value)
{
	static const char *const modes[] = {
		"ABS",	    "REL",	"ABS_PINNED",	   "REL_PINNED",
		"ABS_SOFT", "REL_SOFT", "ABS_PINNED_SOFT", "REL_PINNED_SOFT",
		"ABS_HARD", "REL_HARD", "ABS_PINNED_HARD", "REL_PINNED_HARD",
	};

	(void)arg;
	*value = strcmp(name, "vmemmap_base") ? 7 : 0x819017ef;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strncmp(name, "HRTIMER_MODE_", 13) && !strcmp(name + 13, modes[i]))
			*value = i;
	}
	return strcmp(name, "unheard_of");
}

static uint32_t guest_type_size(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "struct page") ? 64 : 0;
}

static const struct expr_names names = {
	.value = guest_value, .type_size = guest_type_size, .hz = 250};

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
	char *text = malloc(1 << 16);

	assert_non_null(text);
	snprintf(text, 1 << 16, "name: t\nID: 2000\nformat:\n%s%s\nprint fmt: %s\n", common_fields,
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_formats),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_constructs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
