// SPDX-License-Identifier: GPL-2.0-or-later
/* test-check.c - the lines of check-host, what they come to, and the images in it. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/check/boot.h"
#include "frontend/check/check.h"
#include "frontend/check/image.h"
#include "frontend/lib/json.h"

static int ran;

static void says_ok(void *arg, struct check_result *res)
{
	ran++;
	check_say(res, CHECK_OK, "%d us", *(int *)arg);
}

static void says_failed(void *arg, struct check_result *res)
{
	(void)arg;
	ran++;
	check_say(res, CHECK_FAILED, "it\nis \x1b[31mred");
}

static void says_nothing(void *arg, struct check_result *res)
{
	(void)arg;
	(void)res;
	ran++;
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static bool after_one(void *arg)
{
	(void)arg;
	return ran >= 1;
}

struct outcome {
	char *text;
	bool good;
};

static struct outcome run(const struct check *rows, const char *skip, bool (*cancelled)(void *))
{
	struct outcome out = {.text = NULL};
	struct check_report r = {.cancelled = cancelled, .cancel = -1};
	size_t len;
	int number = 7;

	r.out = open_memstream(&out.text, &len);
	ran = 0;
	checks_run(&r, rows, &number);
	if (skip)
		checks_skip(&r, "third", skip);
	out.good = check_summary(&r);
	fclose(r.out);
	return out;
}

static void lines_and_sum(void **state)
{
	const struct check rows[] = {{"first", says_ok}, {"a note", says_nothing}, {NULL, NULL}};
	struct outcome out = run(rows, NULL, never);

	(void)state;
	assert_true(out.good);
	assert_string_equal(out.text, "first                    ok         7 us\n"
				      "a note                            \n"
				      "\neverything works: 1 ok, 0 failed, 0 not tried\n");
	free(out.text);
}

static void failures_count(void **state)
{
	const struct check rows[] = {{"first", says_ok}, {"second", says_failed}, {NULL, NULL}};
	struct outcome out = run(rows, "no reason", never);

	(void)state;
	assert_false(out.good);
	/* What a guest says cannot write to the terminal, or make lines. */
	assert_string_equal(out.text, "first                    ok         7 us\n"
				      "second                   FAILED     it?is ?[31mred\n"
				      "third                    not tried  no reason\n"
				      "\nsomething does not work: 1 ok, 1 failed, 1 not tried\n");
	free(out.text);
}

static void what_is_not_tried_is_not_said_to_work(void **state)
{
	const struct check rows[] = {{"first", says_ok}, {NULL, NULL}};
	struct outcome out = run(rows, "no libvirt", never);

	(void)state;
	assert_true(out.good);
	assert_non_null(strstr(out.text, "\nwhat was tried works: 1 ok, 0 failed, 1 not tried\n"));
	free(out.text);
}

static void put_report(struct json *j, void *arg)
{
	const struct check rows[] = {{"first", says_ok},
				     {"a note", says_nothing},
				     {"second", says_failed},
				     {NULL, NULL}};
	struct check_report r = {.json = j, .cancelled = never, .cancel = -1};
	int number = 7;

	r.out = j->out;
	check_begin(&r);
	checks_run(&r, rows, &number);
	*(bool *)arg = check_summary(&r);
}

static void the_same_as_json(void **state)
{
	struct text t = {0};
	bool good;

	(void)state;
	json_to_text(put_report, &good, &t);
	text_putc(&t, '\0');
	assert_false(good);
	assert_string_equal(
		t.buf,
		"{\n"
		"  \"checks\": [{\"name\": \"first\", \"verdict\": \"ok\", \"text\": \"7 us\"}, "
		"{\"name\": \"a note\", \"verdict\": \"note\", \"text\": \"\"}, "
		"{\"name\": \"second\", \"verdict\": \"failed\", \"text\": \"it\\u000ais \\u001b[31mred\"}],\n"
		"  \"good\": false,\n"
		"  \"interrupted\": false,\n"
		"  \"ok\": 1,\n"
		"  \"failed\": 1,\n"
		"  \"not_tried\": 0\n"
		"}\n");
	text_free(&t);
}

static void interrupted_is_no_success(void **state)
{
	const struct check rows[] = {{"first", says_ok}, {"second", says_ok}, {NULL, NULL}};
	struct outcome out = run(rows, NULL, after_one);

	(void)state;
	assert_int_equal(ran, 1);
	assert_false(out.good);
	assert_non_null(strstr(out.text, "\ninterrupted: 1 ok, 0 failed, 0 not tried\n"));
	free(out.text);
}

/* --- images ----------------------------------------------------------------------------------- */

static void image_is_whole(const uint8_t *image, const uint8_t *end, uint64_t base)
{
	size_t size = (size_t)(end - image);
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	assert_true(size > sizeof(eh) + sizeof(ph));
	memcpy(&eh, image, sizeof(eh));
	assert_memory_equal(eh.e_ident, ELFMAG, SELFMAG);
	assert_int_equal(eh.e_type, ET_EXEC);
	assert_int_equal(eh.e_machine, EM_X86_64);
	assert_int_equal(eh.e_phoff, sizeof(eh));
	assert_int_equal(eh.e_ehsize, sizeof(eh));
	assert_int_equal(eh.e_phentsize, sizeof(ph));
	assert_int_equal(eh.e_phnum, 1);
	memcpy(&ph, image + eh.e_phoff, sizeof(ph));
	assert_int_equal(ph.p_type, PT_LOAD);
	assert_int_equal(ph.p_offset, 0);
	assert_int_equal(ph.p_vaddr, base);
	assert_int_equal(ph.p_paddr, base);
	assert_int_equal(ph.p_filesz, size);
	assert_true(ph.p_memsz >= size);
	assert_in_range(eh.e_entry, base + sizeof(eh) + sizeof(ph), base + size - 1);
}

static void images_are_whole(void **state)
{
	(void)state;
	image_is_whole(bare_image, bare_image_end, BARE_BASE);
	image_is_whole(init_image, init_image_end, INIT_BASE);
}

static unsigned int hex(const char *at)
{
	char digits[9] = "";

	memcpy(digits, at, 8);
	return (unsigned int)strtoul(digits, NULL, 16);
}

/* As a kernel walks it. */
static void initrd_has_init(void **state)
{
	enum { HEADER = 110, MODE = 14, SIZE = 54, NAME_SIZE = 94 };
	size_t len, at = 0, found = 0;
	char *cpio = initrd_make(&len);

	(void)state;
	assert_non_null(cpio);
	for (;;) {
		unsigned int name_size, size;
		const char *name = cpio + at + HEADER;

		assert_true(at + HEADER <= len);
		assert_memory_equal(cpio + at, "070701", 6);
		size = hex(cpio + at + SIZE);
		name_size = hex(cpio + at + NAME_SIZE);
		assert_int_equal(name[name_size - 1], 0);
		if (!strcmp(name, "TRAILER!!!"))
			break;
		at = (at + HEADER + name_size + 3) & ~(size_t)3;
		if (!strcmp(name, "init")) {
			assert_int_equal(size, init_image_end - init_image);
			assert_memory_equal(cpio + at, init_image, size);
			found++;
		}
		at = (at + size + 3) & ~(size_t)3;
	}
	assert_int_equal(found, 1);
	free(cpio);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_and_sum),
		cmocka_unit_test(failures_count),
		cmocka_unit_test(what_is_not_tried_is_not_said_to_work),
		cmocka_unit_test(the_same_as_json),
		cmocka_unit_test(interrupted_is_no_success),
		cmocka_unit_test(images_are_whole),
		cmocka_unit_test(initrd_has_init),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
