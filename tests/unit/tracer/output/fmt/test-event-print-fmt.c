// SPDX-License-Identifier: GPL-2.0-or-later
/* test-event-print-fmt.c - print fmts: constructs one by one, those without sense, records that
 * lie. */
#include "tests/unit/event-printing.h"

/* --- constructs ----------------------------------------------------------------------------- */

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
	{"\"%s\", __print_symbolic(REC->w, {0, \"a\"}, {1, \"b\"}, {2, \"c\"}, {3, \"d\"}, {4, \"e\"}, {5, "
	 "\"f\"}, {6, \"g\"}, {7, \"h\"}, {8, \"i\"}, {9, \"j\"}, {10, \"k\"}, {11, \"l\"}, {12, \"m\"}, {13, "
	 "\"n\"}, {14, \"o\"}, {15, \"p\"}, {16, \"q\"}, {17, \"r\"})",
	 "w=17", "r"},
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
		struct event_printer *events = formats_printer(formats, &guest_names);
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
	struct event_printer *events = formats_printer(formats, &guest_names);
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
	struct event_printer *events = formats_printer(formats, &guest_names);
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
	struct event_printer *events = formats_printer(formats, &guest_names);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constructs),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_bad_fmts),
		cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
