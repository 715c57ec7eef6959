// SPDX-License-Identifier: GPL-2.0-or-later
/* test-info.c - what an image is, with a program in place of qemu-img and without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "frontend/image/image.h"
#include "frontend/image/json-find.h"
#include "frontend/image/reader.h"
#include "frontend/lib/cancel.h"
#include "tests/unit/frontend/image/workplace.h"

static struct image_info info;
static char err[512];

static int look(const char *name, const struct cancel *cancel)
{
	*err = '\0';
	int ret = image_info(in_workplace(name), cancel, &info, err, sizeof(err));

	/* Anything is raw to it: what is to be started is looked at. */
	return ret || strcmp(info.format, "raw")
		       ? ret
		       : image_check_raw(in_workplace(name), err, sizeof(err));
}

static void fails(const char *name, int ret, const char *why)
{
	assert_int_equal(look(name, NULL), ret);
	if (!strstr(err, why))
		fail_msg("%s", err);
	assert_null(strchr(err, '\n'));
}

static void put_image(const char *name, size_t at, const char *bytes, size_t len)
{
	static char image[40960];

	memset(image, 0, sizeof(image));
	memcpy(image + at, bytes, len);
	put_bytes(name, image, sizeof(image));
}

static void qemu_img_says(const char *text)
{
	char script[1024];

	snprintf(script, sizeof(script),
		 "#!/bin/sh\nwhile [ $# != 1 ]; do shift; done\ncat <<END\n%s\nEND\n", text);
	put_program("qemu-img", script);
}

static void test_without(void **state)
{
	(void)state;
	search_only_there();
	put_image("image", 510, "\x55\xaa", 2);
	assert_int_equal(look("image", NULL), 0);
	assert_string_equal(info.format, "raw");
	assert_int_equal(info.virtual_size, 40960);
	put_image("image", 1080, "\x53\xef", 2);
	assert_int_equal(look("image", NULL), 0);
	put_image("image", 32769, "CD001", 5);
	assert_int_equal(look("image", NULL), 0);
	put_image("image", 64, "\x7f\x10\xda\xbe", 4);
	fails("image", -EOPNOTSUPP,
	      "it is a vdi image: for others than raw ones qemu-img is needed");
	put_image("image", 0, "QFI\xfb", 4);
	fails("image", -EOPNOTSUPP, "it is a qcow2 image");
	put_text("image", "text");
	fails("image", -EINVAL, "it is no disk image");
	put_text("image", "");
	fails("image", -EINVAL, "it is no disk image");
	put_image("image", 0x202, "HdrS", 4);
	fails("image", -EINVAL, "it is a kernel, not a disk image (-k)");
	put_image("image", 56, "ARM\x64", 4);
	fails("image", -EINVAL, "a kernel of arm64");
	fails("none", -ENOENT, "No such file");
	fails(".", -EISDIR, "Is a directory");
	assert_int_equal(mkfifo(in_workplace("pipe"), 0600), 0);
	fails("pipe", -EINVAL, "it is neither a regular file nor a block device");
}

static void test_with(void **state)
{
	(void)state;
	put_text("image", "");
	qemu_img_says(
		"{\"virtual-size\": 10737418240, \"filename\": \"$1\", \"format\": \"qcow2\"}");
	assert_int_equal(look("image", NULL), 0);
	assert_string_equal(info.format, "qcow2");
	assert_int_equal(info.virtual_size, UINT64_C(10) << 30);
	assert_false(info.has_backing || info.has_data_file || info.is_encrypted);
	qemu_img_says(
		"{ \"children\": [{\"format\": \"no\"}], \"format\":\"vmdk\",\"virtual-size\" : 1 ,\n"
		"\"backing-filename\": \"b\", \"encrypted\": true,\n"
		"\"format-specific\": {\"type\": \"x\", \"data\": {\"data-file\": \"d\"}} }");
	assert_int_equal(look("image", NULL), 0);
	assert_string_equal(info.format, "vmdk");
	assert_true(info.has_backing && info.has_data_file && info.is_encrypted);
	qemu_img_says("{\"virtual-size\": 0, \"format\": \"raw\"}");
	fails("image", -EINVAL, "it is no disk image");
}

/* What an image names is not even opened: qemu-img is not asked. */
static void test_outside(void **state)
{
	static const char vmdk[] = "KDMV\1\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0";
	static const char qcow2[80] = "QFI\xfb\0\0\0\3";
	static const char *const texts[] = {
		"# Disk DescriptorFile\nversion=1\nRW 2048 FLAT \"/etc/shadow\" 0\n",
		"#\r\n \t\r\n# a\n\nversion=3\n",
		"version=2\n",
	};
	char with_data[sizeof(qcow2)];

	(void)state;
	put_program("qemu-img", "#!/bin/sh\necho it was asked >&2\nexit 1\n");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		put_text("image", texts[i]);
		assert_int_equal(look("image", NULL), 0);
		assert_string_equal(info.format, "vmdk");
		assert_true(info.has_data_file);
	}
	put_image("image", 0, vmdk, sizeof(vmdk) - 1);
	assert_int_equal(look("image", NULL), 0);
	assert_true(info.has_data_file);
	memcpy(with_data, qcow2, sizeof(qcow2));
	with_data[79] = 4;
	put_image("image", 0, with_data, sizeof(with_data));
	assert_int_equal(look("image", NULL), 0);
	assert_string_equal(info.format, "qcow2");
	assert_true(info.has_data_file);
	put_image("image", 0, qcow2, sizeof(qcow2));
	fails("image", -EINVAL, "it was asked");
	put_text("image", "# a comment that does not end");
	fails("image", -EINVAL, "it was asked");
	put_text("image", "# a\nno version=1\n");
	fails("image", -EINVAL, "it was asked");
}

static void test_wrong(void **state)
{
	(void)state;
	put_text("image", "");
	qemu_img_says("");
	fails("image", -EPROTO, "qemu-img gives no format and size for it");
	qemu_img_says(
		"{\"format\": \"a-name-that-is-much-too-long-for-a-format\", \"virtual-size\": 1}");
	fails("image", -EPROTO, "qemu-img gives no format and size for it");
	qemu_img_says("{\"format\": \"x\", \"virtual-size\": 18446744073709551616}");
	fails("image", -EPROTO, "qemu-img gives no format and size for it");
	put_program("qemu-img",
		    "#!/bin/sh\necho \"qemu-img: Could not open '$5': It is bad\" >&2; exit 1\n");
	fails("image", -EINVAL, "It is bad");
	assert_int_equal(*err, 'I');
	put_program("qemu-img", "#!/bin/sh\nexit 1\n");
	fails("image", -EINVAL, "qemu-img cannot read it");
	put_program("qemu-img", "#!/bin/sh\nexec cat /dev/zero\n");
	fails("image", -EFBIG, "qemu-img: ");
}

static void test_cancel(void **state)
{
	struct cancel cancel = {0};

	(void)state;
	put_text("image", "");
	put_program("qemu-img", "#!/bin/sh\nexec sleep 600\n");
	assert_int_equal(cancel_open(&cancel), 0);
	cancel_ask(&cancel, SIGINT);
	assert_int_equal(look("image", &cancel), -ECANCELED);
	assert_string_equal(err, "qemu-img was told to end");
	cancel_close(&cancel);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static bool find(const char *text, const char *name, struct json_value *v)
{
	return json_find((struct json_value){text, strlen(text)}, name, v);
}

static void test_json(void **state)
{
	static const char *const wrong[] = {
		"",
		"{",
		"{\"a",
		"{\"a\"",
		"{\"a\":",
		"{\"a\":1",
		"{\"a\":\"",
		"{\"a\":\"\\\"}",
		"{\"a\":[1}",
		"[\"a\",1]",
		"{\"b\":{\"a\":1}}",
		"{\"b\":\"\\\"a\\\":1\"}",
		"{\"a\":}",
		"{\"ab\":1}",
		"{\"b\":1 \"a\":2}",
		"{a:1}",
	};
	struct json_value v;
	char text[8];
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (find(wrong[i], "a", &v))
			fail_msg("%s", wrong[i]);
	assert_true(find("{\"b\":[{\"x\":\"]}\"},[]], \"a\" : 12 }", "a", &v));
	assert_true(json_get_number(v, &n));
	assert_int_equal(n, 12);
	assert_false(json_get_string(v, text, sizeof(text)));
	assert_true(find("{\"a\":\"1234567\"}", "a", &v));
	assert_true(json_get_string(v, text, sizeof(text)));
	assert_string_equal(text, "1234567");
	assert_false(json_get_number(v, &n));
	assert_false(json_get_string(v, text, 7));
	assert_true(find("{\"a\":\"x\\n\"}", "a", &v));
	assert_false(json_get_string(v, text, sizeof(text)));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_workplace, leave_workplace)
	const struct CMUnitTest tests[] = {
		TEST(test_without), TEST(test_with),   TEST(test_outside),
		TEST(test_wrong),   TEST(test_cancel), TEST(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
