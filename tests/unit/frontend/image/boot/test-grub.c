// SPDX-License-Identifier: GPL-2.0-or-later
/* test-grub.c - scripts of GRUB: what their language is, and those that are made to do harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "frontend/image/boot/boot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SCRIPT "/boot/grub/grub.cfg"

static const struct boot_volume volumes[] = {
	{"/dev/sda1", "vfat", "AAAA-BBBB", "EFI", "", 1},
	{"/dev/sda2", "ext4", "1111-2222", "boot", "", 2},
	{"/dev/sda3", "ext4", "3333-4444", "root", "", 3},
};

/* What there is on the second volume, beside the script. */
static const char *script;
static size_t script_len;
static struct boot_entry e;
static char err[512];

static int64_t disk_size(void *arg, unsigned int volume, const char *path)
{
	(void)arg;
	if (volume == 1 && !strcmp(path, SCRIPT))
		return (int64_t)script_len;
	if (volume == 1 && !strcmp(path, "/boot/grub/empty"))
		return 0;
	return volume == 2 && !strcmp(path, "/marker") ? 1 : -ENOENT;
}

static int disk_read(void *arg, unsigned int volume, const char *path, size_t max, struct text *to)
{
	int64_t size = disk_size(arg, volume, path);

	if (size < 0)
		return (int)size;
	if ((size_t)size > max)
		return -EFBIG;
	if (size)
		text_add(to, volume == 2 ? "x" : script, (size_t)size);
	return 0;
}

static int disk_list(void *arg, unsigned int volume, const char *folder, struct text *to)
{
	(void)arg;
	if (volume == 1 && !strcmp(folder, "/boot/grub"))
		text_puts(to, "grub.cfg\nempty\n");
	return 0;
}

static int find_in(const char *text, size_t len)
{
	static const struct boot_disk_ops ops = {disk_size, disk_read, disk_list};
	const struct boot_disk disk = {&ops, NULL, volumes, 3};

	script = text;
	script_len = len;
	return boot_find(&disk, &e, err, sizeof(err));
}

static int find(const char *text)
{
	return find_in(text, strlen(text));
}

/* The command line of a script's default entry. */
static void check(const char *text, const char *cmdline)
{
	if (find(text))
		fail_msg("%s: %s", text, err);
	if (strcmp(e.cmdline, cmdline) != 0)
		fail_msg("%s: '%s'", text, e.cmdline);
}

/* --- words ------------------------------------------------------------------------------------ */

static void test_words(void **state)
{
	(void)state;
	check("menuentry a { linux /k a'b c'd \"e f\" g\\ h }", "\"ab cd\" \"e f\" \"g h\"");
	check("set v='x  y'; menuentry a { linux /k $v \"$v\" '$v' ${v}z }",
	      "x y \"x  y\" $v x yz");
	check("menuentry a { linux /k $none \"\" ${none} x }", "x");
	check("menuentry a { linux /k a \\\n b # not this\n }", "a b");
	check("menuentry a { linux /k a#b \"\\$v\\x\" $ }", "a#b $v\\x $");
	check("v=1 ; menuentry a {\r\n linux /k v=$v\r\n}", "v=1");
	check("menuentry 'a' b c { linux /k $2 $1 $3 $@ }", "c b b c");
}

/* --- commands --------------------------------------------------------------------------------- */

static void test_conditions(void **state)
{
	static const struct {
		const char *expression;
		bool holds;
	} tests[] = {
		{"[ a = a ]", true},
		{"[ a = b ]", false},
		{"[ a != b ]", true},
		{"[ \"\" ]", false},
		{"[ -n x -a -z \"\" ]", true},
		{"[ -n \"\" -o 3 -gt 2 ]", true},
		{"[ ! -n x ]", false},
		{"test 10 -le 9", false},
		{"[ ( a = b -o c = c ) -a x ]", true},
		{"[ -f $prefix/grub.cfg ]", true},
		{"[ -s $prefix/grub.cfg ]", true},
		{"[ -s $prefix/empty ]", false},
		{"[ -e $prefix/empty ]", true},
		{"[ -d $prefix ]", true},
		{"[ -d $prefix/grub.cfg ]", false},
		{"[ -f ($root)/boot/grub/none ]", false},
		{"[ -f (hd0,gpt3)/marker ]", true},
		{"[ \"$grub_platform\" = efi ]", true},
		{"true", true},
		{"false", false},
		{"keystatus --shift", false},
		{"search --file --set=r /marker", true},
		{"search --label --set=r nowhere", false},
		{"load_env -f $prefix/none", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			 "if %s; then w=yes; else w=no; fi\nmenuentry a { linux /k $w }",
			 tests[i].expression);
		check(text, tests[i].holds ? "yes" : "no");
	}
}

static void test_flow(void **state)
{
	(void)state;
	check("if false; then w=1; elif true; then w=2; else w=3; fi; menuentry a { linux /k $w }",
	      "2");
	check("if false; then w=1; elif false; then w=2; else w=3; fi; menuentry a { linux /k $w }",
	      "3");
	check("for i in a b c; do w=$w$i; done; menuentry a { linux /k $w }", "abc");
	check("for i in a b c; do if [ $i = b ]; then continue; fi; w=$w$i; done; menuentry a { linux /k $w }",
	      "ac");
	check("while [ x$w != xaaa ]; do w=a$w; done; menuentry a { linux /k $w }", "aaa");
	check("until [ x$w = xaa ]; do w=a$w; done; menuentry a { linux /k $w }", "aa");
	check("while true; do w=x; break; done; menuentry a { linux /k $w }", "x");
	check("function f { w=$1; return; w=no; }\nf yes\nmenuentry a { linux /k $w }", "yes");
}

static void test_places(void **state)
{
	static const struct {
		const char *commands;
		unsigned int volume;
	} tests[] = {
		{"linux /k", 1},
		{"search --fs-uuid --set=root 3333-4444; linux /k", 2},
		{"search -u aaaa-bbbb -s other --hint hd0; linux ($other)/k", 0},
		{"search --no-floppy --label root; linux /k", 2},
		{"search.fs_uuid 3333-4444 root; linux /k", 2},
		{"search.fs_label EFI root; linux /k", 0},
		{"search.file /marker root; linux /k", 2},
		{"set root='hd0,msdos3'; linux /k", 2},
		{"set root='hd0,1'; linux /k", 0},
		{"linux (hd0,gpt3)/k", 2},
		{"set root=lvmid/x; linux /k", 1},
		{"search --fs-uuid --set=root none; linux /k", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), "menuentry a { %s; initrd /i /j }", tests[i].commands);
		check(text, "");
		assert_int_equal(e.kernel.volume, tests[i].volume);
		assert_string_equal(e.kernel.path, "/k");
		assert_int_equal(e.nr_initrds, 2);
		assert_string_equal(e.initrd[1].path, "/j");
	}
}

static void test_default(void **state)
{
	static const char menu[] =
		"menuentry A --id a { linux /k 0 }\n"
		"submenu B --id=b { menuentry C { linux /k 1.0 }\n menuentry D --id d { linux /k 1.1 } }\n"
		"menuentry 'E > F' { linux /k 2 }\n";
	static const struct {
		const char *is, *cmdline;
	} tests[] = {
		{"", "0"},	   {"0", "0"},	  {"2", "2"},	   {"7", "0"},	   {"A", "0"},
		{"a", "0"},	   {"b", "1.0"},  {"1>1", "1.1"},  {"b>d", "1.1"}, {"B>D", "1.1"},
		{"b>none", "1.0"}, {"none", "0"}, {"E >> F", "2"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), "set default=\"%s\"\n%s", tests[i].is, menu);
		check(text, tests[i].cmdline);
	}
	assert_string_equal(e.title, "E > F");
}

/* --- what cannot be started --------------------------------------------------------------------
 */

static void fails(const char *text, int ret, const char *why)
{
	if (find(text) != ret || !strstr(err, why))
		fail_msg("%.200s: %s", text, err);
}

static void test_refused(void **state)
{
	(void)state;
	fails("", -ENOENT, "its menu has no entry");
	fails("menuentry Windows { chainloader +1 }", -ENOENT, "'Windows', has no Linux kernel");
	fails("menuentry a { linux /k; initrd newc:/a:/b }", -EOPNOTSUPP, "newc:");
	fails("menuentry a {\n linux /k\n", -EINVAL, SCRIPT ": line 3");
	fails("echo 'a", -EINVAL, "line 1");
	fails("if true; then\n", -EINVAL, "line 2");
	fails("}", -EINVAL, "line 1");
	fails("for do", -EINVAL, "line 1");
}

/* --- what is made to do harm -------------------------------------------------------------------
 */

static void test_bombs(void **state)
{
	static const char *const texts[] = {
		"while true; do x=1; done",
		"while true; do true; done",
		"while ; do break_not; done",
		"function f { f; }\nf",
		"function f { f; f; }\nf",
		"source $prefix/grub.cfg",
		"x=aaaaaaaaaaaaaaaa\nwhile true; do x=$x$x; done",
		"x=aaaa\nwhile true; do x=\"$x $x\"; set y$x; done",
		"while true; do menuentry a { linux /k }; done",
		"submenu a { source $prefix/grub.cfg }",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		fails(texts[i], -E2BIG, "too much");
}

static void repeat(char *to, size_t size, const char *what)
{
	size_t len = strlen(what);

	for (size_t at = 0; at + len < size; at += len)
		memcpy(to + at, what, len + 1);
}

static void test_deep(void **state)
{
	static const char *const whats[] = {"if ",
					    "{ ",
					    "a { ",
					    "if a; then ",
					    "while ",
					    "for a in b; do ",
					    "if a; then b; elif "};
	size_t size = 1 << 20;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		repeat(text, size, whats[i]);
		fails(text, -EINVAL, "no script of GRUB");
	}
	repeat(text, size, "a b c d e f g h ");
	assert_int_equal(find(text), -E2BIG);
	repeat(text, size, "[ ( ( ( ( ( ( ( (\n");
	assert_int_equal(find(text), -E2BIG);
	free(text);
}

/* Little is written, and much would be done for it: variables that are looked for, again and again.
 */
static void test_searches(void **state)
{
	size_t size = 1 << 20, len;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	len = 0;
	for (unsigned int i = 0; i < 10000; i++)
		len += (size_t)sprintf(text + len, "set v%u=1\n", i);
	len += (size_t)sprintf(text + len, "while true; do ");
	repeat(text + len, size - len - 16, "$a");
	strcat(text, "; done");
	fails(text, -E2BIG, "too much");
	free(text);
}

/* A name goes on behind a NUL, and no variable's is as long. */
static void test_nul(void **state)
{
	static const char begin[] = "menuentry a { linux /k a=${root\0", end[] = "}b }";
	const size_t names = 100000, size = sizeof(begin) - 1 + names + sizeof(end) - 1;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	memcpy(text, begin, sizeof(begin) - 1);
	memset(text + sizeof(begin) - 1, 'A', names);
	memcpy(text + sizeof(begin) - 1 + names, end, sizeof(end) - 1);
	if (find_in(text, size))
		fail_msg("%s", err);
	assert_string_equal(e.cmdline, "a=b");
	free(text);
}

/* What is too long for the kernel is not cut. */
static void test_long(void **state)
{
	size_t size = 7000;
	char *text = malloc(2 * size);

	(void)state;
	assert_non_null(text);
	strcpy(text, "menuentry a { linux /k ");
	repeat(text + strlen(text), size, "a=long-long-long-word ");
	strcat(text, " }");
	fails(text, -EFBIG, "'linux': what stands behind it is too long");
	strcpy(text, "menuentry a { linux /");
	repeat(text + strlen(text), size, "k");
	strcat(text, " }");
	fails(text, -EFBIG, "'linux': what stands behind it is too long");
	strcpy(text, "menuentry a { linux /k; initrd ");
	repeat(text + strlen(text), 200, "/i ");
	strcat(text, " }");
	fails(text, -EFBIG, "'initrd': what stands behind it is too long");
	free(text);
}

/* Nor is there more than a line, wherever that is printed. */
static void test_control(void **state)
{
	static const char text[] = "menuentry a { linux /k a\0b c }";

	(void)state;
	check("menuentry 'a\nb\x1b' { linux /k 'a\nb' c }", "a b c");
	assert_string_equal(e.title, "a b ");
	fails("menuentry a { linux '/a\nb' }", -EFBIG, "'linux'");
	fails("menuentry 'a\nb' { true }", -ENOENT, "'a b'");
	assert_int_equal(find_in(text, sizeof(text) - 1), 0);
	assert_string_equal(e.cmdline, "a c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),	 cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_flow),	 cmocka_unit_test(test_places),
		cmocka_unit_test(test_default),	 cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bombs),	 cmocka_unit_test(test_deep),
		cmocka_unit_test(test_searches), cmocka_unit_test(test_nul),
		cmocka_unit_test(test_long),	 cmocka_unit_test(test_control),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
