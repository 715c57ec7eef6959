// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-image.c - kernel, initrd and command line out of an image, with a program in place of
 * guestfish that shows folders: what is beside the image IMAGE in IMAGE.sda1 and so on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "frontend/image/image.h"
#include "frontend/lib/cancel.h"
#include "tests/unit/frontend/image/workplace.h"

#include <pthread.h>

/* Its first words are what a test has it do. */
#define GUESTFISH                                                                                  \
	"#!/bin/bash\n"                                                                            \
	"trap '' TERM\n"                                                                           \
	"image=${!#}\n"                                                                            \
	"echo \"$*\" >\"$image.args\"; env >\"$image.env\"\n"                                      \
	"failed() { echo \"libguestfs: error: $*\" >&2; }\n"                                       \
	"while read -r line; do\n"                                                                 \
	"	[ ! -e \"$image.do\" ] || . \"$image.do\"\n"                                             \
	"	eval \"set -- $line\"\n"                                                                 \
	"	file=$image.$root$2\n"                                                                   \
	"	case $1 in\n"                                                                            \
	"	echo) echo \"$2\" ;;\n"                                                                  \
	"	-list-filesystems) cat \"$image.list\" ;;\n"                                             \
	"	-blkid) printf 'TYPE: x\\nUUID: id-%s\\nLABEL: a\\n' \"${2#/dev/}\" ;;\n"                \
	"	-umount-all) root='' ;;\n"                                                               \
	"	-mount-ro) [ ! -d \"$image.${2##*/}\" ] || root=${2##*/} ;;\n"                           \
	"	-mounts) [ -z \"$root\" ] || echo \"/dev/$root\" ;;\n"                                   \
	"	-stat) stat -L --printf='dev: 1\\nmode: %f\\nsize: %s\\n' \"$file\" 2>/dev/null |\n"     \
	"		while read -r k v; do [ $k != mode: ] || v=$((16#$v)); echo $k $v; done ;;\n"           \
	"	-ls) [ ! -d \"$file\" ] || ls \"$file\" ;;\n"                                            \
	"	-download) cp \"$file\" \"$3\" || failed cannot ;;\n"                                    \
	"	esac\n"                                                                                  \
	"done\n"

static char kernel[0x300];
static struct image_boot boot;
static char err[512];

static int set_up(void **state)
{
	if (make_workplace(state))
		return -1;
	memset(kernel, 0, sizeof(kernel));
	memcpy(kernel + 0x202, "HdrS", sizeof("HdrS"));
	put_program("guestfish", GUESTFISH);
	put_text("image", "");
	put_text("image.list", "/dev/sda1: vfat\n/dev/sda2: ext4\n/dev/sda3: swap\nnonsense\n");
	put_text("image.sda2/boot/extlinux/extlinux.conf",
		 "label a\nkernel ../k\nappend root=x ro\ninitrd ../i,../j\n");
	put_bytes("image.sda2/boot/k", kernel, sizeof(kernel));
	put_text("image.sda2/boot/i", "first");
	put_text("image.sda2/boot/j", "second");
	return mkdir(in_workplace("out"), 0700);
}

static int read_image(const struct cancel *cancel)
{
	const struct image_boot_config cfg = {
		.path = in_workplace("image"),
		.format = "qcow2",
		.dir = in_workplace("out"),
		.cancel = cancel,
		.no_kvm = true,
	};

	return image_boot_read(&cfg, &boot, err, sizeof(err));
}

static bool file_has(const char *path, const void *bytes, size_t len)
{
	static char is[8192];
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(is, 1, sizeof(is), f);
	fclose(f);
	return n >= len && memmem(is, n, bytes, len);
}

static void test_read(void **state)
{
	(void)state;
	unsetenv("LIBGUESTFS_BACKEND");
	if (read_image(NULL))
		fail_msg("%s", err);
	assert_string_equal(boot.cmdline, "root=x ro");
	assert_string_equal(boot.loader, "syslinux");
	assert_string_equal(boot.source, "/boot/extlinux/extlinux.conf");
	assert_string_equal(boot.kernel, in_workplace("out/kernel"));
	assert_string_equal(boot.initrd, in_workplace("out/initrd"));
	assert_true(file_has(boot.kernel, kernel, sizeof(kernel)));
	/* The second one where the kernel looks for it. */
	assert_true(file_has(boot.initrd, "first\0\0\0second", 14));
	assert_int_equal(count_in("out"), 2);
	assert_true(file_has(in_workplace("image.args"), "--ro --format=qcow2 -a /", 22));
	assert_true(file_has(in_workplace("image.env"), "=force_tcg\n", 11));
	assert_true(file_has(in_workplace("image.env"), "LIBGUESTFS_BACKEND=direct\n", 26));
	image_boot_free(&boot);
}

/* One is there as it was, none is none; what the user has said about libguestfs is so. */
static void test_fewer(void **state)
{
	(void)state;
	setenv("LIBGUESTFS_BACKEND", "libvirt", 1);
	put_text("image.sda2/boot/extlinux/extlinux.conf", "label a\nkernel ../k\ninitrd ../i\n");
	assert_int_equal(read_image(NULL), 0);
	assert_true(file_has(boot.initrd, "first", 5));
	assert_true(file_has(in_workplace("image.env"), "LIBGUESTFS_BACKEND=libvirt\n", 27));
	image_boot_free(&boot);
	unlink(in_workplace("out/initrd"));
	put_text("image.sda2/boot/extlinux/extlinux.conf", "label a\nkernel ../k\n");
	assert_int_equal(read_image(NULL), 0);
	assert_null(boot.initrd);
	assert_int_equal(count_in("out"), 1);
	image_boot_free(&boot);
	unsetenv("LIBGUESTFS_BACKEND");
}

/* Its file system is known by its UUID, a volume of btrfs by that of its device. */
static void test_uuid(void **state)
{
	(void)state;
	unlink(in_workplace("image.sda2/boot/extlinux/extlinux.conf"));
	put_text("image.list", "/dev/sda2: ext4\nbtrfsvol:/dev/sda3/@root: btrfs\n");
	put_bytes("image.sda2/boot/vmlinuz-1", kernel, sizeof(kernel));
	put_text("image.sda2/boot/initrd.img-1", "x");
	put_text("image.sda2/etc/fstab", "");
	assert_int_equal(read_image(NULL), 0);
	assert_string_equal(boot.cmdline, "root=UUID=id-sda2 ro");
	image_boot_free(&boot);
	unlink(in_workplace("image.sda2/etc/fstab"));
	put_text("image.@root/etc/os-release", "");
	assert_int_equal(read_image(NULL), 0);
	assert_string_equal(boot.cmdline, "root=UUID=id-sda3 rootflags=subvol=@root ro");
	image_boot_free(&boot);
}

static void fails(int ret, const char *why)
{
	assert_int_equal(read_image(NULL), ret);
	if (!strstr(err, why))
		fail_msg("%s", err);
	assert_null(strchr(err, '\n'));
	assert_null(boot.kernel);
	assert_int_equal(count_in("out"), 0);
}

static void test_files(void **state)
{
	(void)state;
	unlink(in_workplace("image.sda2/boot/j"));
	fails(-ENOENT, "the initrd that its boot loader (syslinux) starts, /boot/j: there is no");
	put_text("image.sda2/boot/k", "#!/bin/sh\n");
	fails(-ENOENT, "/boot/k: it is no kernel of x86");
	kernel[0x202] = 'h';
	put_bytes("image.sda2/boot/k", kernel, sizeof(kernel));
	fails(-ENOENT, "/boot/k: it is no kernel of x86");
	assert_int_equal(truncate(in_workplace("image.sda2/boot/k"), IMAGE_KERNEL_MAX + 1), 0);
	fails(-EFBIG, "/boot/k: it has 256 MB, more than");
	unlink(in_workplace("image.sda2/boot/k"));
	assert_int_equal(mkdir(in_workplace("image.sda2/boot/k"), 0700), 0);
	fails(-ENOENT, "/boot/k: there is no such file");
	put_text("image.sda2/boot/extlinux/extlinux.conf", "label a\nkernel \"; touch x\n");
	fails(-ENOENT, "there is no such file");
	unlink(in_workplace("image.sda2/boot/extlinux/extlinux.conf"));
	fails(-ENOENT, "no configuration of a boot loader");
	assert_int_equal(truncate(in_workplace("image.sda2/boot/extlinux/extlinux.conf"), 0), -1);
	put_text("image.sda2/boot/extlinux/extlinux.conf", "");
	assert_int_equal(truncate(in_workplace("image.sda2/boot/extlinux/extlinux.conf"), 2 << 20),
			 0);
	fails(-EFBIG, "cannot read its files");
	put_text("image.list", "");
	fails(-ENOENT, "no configuration of a boot loader");
}

/* What guestfish does wrong. */
static void test_guestfish(void **state)
{
	(void)state;
	put_text("image.do", "failed no machine; exit 1\n");
	fails(-EPIPE, "guestfish: no machine");
	put_text("image.do", "exit 1\n");
	fails(-EPIPE, "guestfish: ");
	put_text("image.do", "case $line in -stat*) exit 1;; esac\n");
	fails(-EPIPE, "guestfish has ended too soon");
	put_text("image.do", "case $line in -stat*) cat /dev/zero;; esac\n");
	fails(-EFBIG, "cannot read its files");
	/* As long as was said, but not so. */
	put_text("image.do",
		 "case $line in -download*boot/k*) echo x >\"$image.sda2/boot/k\";; esac\n");
	fails(-EIO, "/boot/k: ");
	put_text("image.do", "case $line in -download*boot/i*) failed no space; continue;; esac\n");
	put_bytes("image.sda2/boot/k", kernel, sizeof(kernel));
	fails(-EIO, "/boot/i: guestfish: no space");
}

static void *ask_to_end(void *cancel)
{
	wait_until(number_in("image.pid"));
	cancel_ask(cancel, SIGINT);
	return NULL;
}

static void test_cancel(void **state)
{
	static const char *const when[] = {"run", "-mount-ro", "-download"};
	struct cancel cancel;
	pthread_t thread;

	(void)state;
	for (size_t i = 0; i < sizeof(when) / sizeof(when[0]); i++) {
		char script[256];

		cancel = (struct cancel){0};
		assert_int_equal(cancel_open(&cancel), 0);
		unlink(in_workplace("image.pid"));
		snprintf(
			script, sizeof(script),
			"case $line in %s*) echo $$ >\"$image.pid\"; while read -r line; do :; done; exit;; esac\n",
			when[i]);
		put_text("image.do", script);
		assert_int_equal(pthread_create(&thread, NULL, ask_to_end, &cancel), 0);
		assert_int_equal(read_image(&cancel), -ECANCELED);
		pthread_join(thread, NULL);
		assert_string_equal(err, "guestfish was told to end");
		assert_true(is_gone(number_in("image.pid")));
		assert_int_equal(count_in("out"), 0);
		cancel_close(&cancel);
	}
}

static void test_not_installed(void **state)
{
	(void)state;
	unlink(in_workplace("guestfish"));
	search_only_there();
	fails(-EOPNOTSUPP, "no program that reads images is installed: guestfish");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, leave_workplace)
	const struct CMUnitTest tests[] = {
		TEST(test_read),      TEST(test_fewer),	 TEST(test_uuid),	   TEST(test_files),
		TEST(test_guestfish), TEST(test_cancel), TEST(test_not_installed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
