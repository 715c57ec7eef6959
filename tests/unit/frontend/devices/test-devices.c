// SPDX-License-Identifier: GPL-2.0-or-later
/* test-devices.c - what is asked for with --disk, --net, --forward and --share. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/devices/devices.h"

static char err[512];
static struct scratch scratch;

struct asked {
	const char *image, *disk[3], *net, *forward[3], *share[3], *seed;
	bool write;
};

static void list(struct option_list *to, const char *const *values)
{
	to->values = calloc(4, sizeof(*to->values));
	assert_non_null(to->values);
	while (to->nr < 3 && values[to->nr]) {
		to->values[to->nr] = values[to->nr];
		to->nr++;
	}
}

static int make(struct devices *d, const struct asked *asked)
{
	struct devices_options opt = {
		.net = asked->net, .write = asked->write, .cloud_init = asked->seed};
	const struct devices_request req = {
		.opt = &opt, .image = asked->image, .scratch = &scratch};
	int rc;

	*d = (struct devices){0};
	err[0] = '\0';
	list(&opt.disk, asked->disk);
	list(&opt.forward, asked->forward);
	list(&opt.share, asked->share);
	rc = devices_make(d, &req, err, sizeof(err));
	devices_options_free(&opt);
	return rc;
}

static void refuse(const struct asked *asked, int rc, const char *why)
{
	struct devices d;

	assert_int_equal(make(&d, asked), rc);
	devices_free(&d);
	assert_string_equal(err, why);
}

static int setup(void **state)
{
	static char dir[] = "/tmp/test-devices-XXXXXX";
	static const char *const files[] = {"a.img", "b,c.img"};

	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	for (unsigned int i = 0; i < 2; i++) {
		int fd = open(files[i], O_CREAT | O_WRONLY, 0600);

		assert_true(fd >= 0 && !ftruncate(fd, 1 << 20));
		close(fd);
	}
	*state = dir;
	return 0;
}

static int teardown(void **state)
{
	unlink("a.img");
	unlink("b,c.img");
	return rmdir(*state);
}

static void test_nothing(void **state)
{
	struct devices d;

	(void)state;
	assert_int_equal(make(&d, &(struct asked){0}), 0);
	assert_int_equal(d.machine.ndisk, 0);
	assert_int_equal(d.machine.nshare, 0);
	assert_int_equal(d.machine.net.kind, MACHINE_NET_NONE);
	devices_free(&d);
}

/* An image stays as it is unless it is said otherwise, and has a network. */
static void test_disks(void **state)
{
	const struct asked asked = {.image = "a.img",
				    .disk = {"b,,c.img,ro", "a.img,write,format=qcow2"}};
	const struct asked writes = {.image = "a.img", .disk = {"a.img,snapshot"}, .write = true};
	struct devices d;

	assert_int_equal(make(&d, &asked), 0);
	assert_int_equal(d.machine.ndisk, 3);
	assert_non_null(strstr(d.machine.disk[0].path, *state));
	assert_false(d.machine.disk[0].keep || d.machine.disk[0].read_only);
	assert_string_equal(d.machine.disk[0].format, "raw"); /* by what is in it */
	assert_non_null(strstr(d.machine.disk[1].path, "/b,c.img"));
	assert_true(d.machine.disk[1].read_only);
	assert_true(d.machine.disk[2].keep);
	assert_string_equal(d.machine.disk[2].format, "qcow2");
	assert_int_equal(d.machine.net.kind, MACHINE_NET_USER);
	devices_free(&d);
	assert_int_equal(make(&d, &writes), 0);
	assert_true(d.machine.disk[0].keep);
	assert_false(d.machine.disk[1].keep);
	devices_free(&d);
}

static void test_bad_disks(void **state)
{
	(void)state;
	refuse(&(struct asked){.image = "none.img"}, -ENOENT,
	       "cannot open the image none.img: No such file or directory");
	refuse(&(struct asked){.image = "/tmp"}, -EINVAL,
	       "/tmp: a disk is a file or a block device");
	refuse(&(struct asked){.disk = {"b,c.img"}}, -ENOENT,
	       "cannot open the image b: No such file or directory");
	refuse(&(struct asked){.disk = {"a.img,rw"}}, -EINVAL,
	       "a disk: \"rw\" is none of ro, snapshot, write, format=NAME (a comma of a file's "
	       "name is written twice)");
	refuse(&(struct asked){.disk = {"a.img,"}}, -EINVAL,
	       "a disk: \"\" is none of ro, snapshot, write, format=NAME (a comma of a file's "
	       "name is written twice)");
}

static void test_net(void **state)
{
	const struct asked mac = {.net = "user,mac=52:54:00:Ab:cd:EF"};
	static const uint8_t bytes[] = {0x52, 0x54, 0x00, 0xab, 0xcd, 0xef};
	struct devices d, again;

	(void)state;
	assert_int_equal(make(&d, &mac), 0);
	assert_memory_equal(d.machine.net.mac, bytes, 6);
	devices_free(&d);
	/* The same each time, another one for another image. */
	assert_int_equal(make(&d, &(struct asked){.image = "a.img"}), 0);
	assert_int_equal(make(&again, &(struct asked){.image = "a.img"}), 0);
	assert_memory_equal(d.machine.net.mac, again.machine.net.mac, 6);
	devices_free(&again);
	assert_int_equal(make(&again, &(struct asked){.image = "b,,c.img"}), 0);
	assert_memory_not_equal(d.machine.net.mac, again.machine.net.mac, 6);
	devices_free(&again);
	devices_free(&d);
	assert_int_equal(make(&d, &(struct asked){.net = "tap=lo"}), 0);
	assert_int_equal(d.machine.net.kind, MACHINE_NET_TAP);
	assert_string_equal(d.machine.net.tap, "lo");
	devices_free(&d);
}

static void test_bad_net(void **state)
{
	(void)state;
	refuse(&(struct asked){.net = "bridge"}, -EINVAL,
	       "--net: \"bridge\" is none of user, none, tap=NAME");
	refuse(&(struct asked){.net = "tap="}, -EINVAL, "--net: \"\" is no name of a tap");
	refuse(&(struct asked){.net = "tap=no-such0"}, -ENODEV,
	       "--net tap=no-such0: there is no such interface (ip tuntap add no-such0 mode tap)");
	refuse(&(struct asked){.net = "user,fast"}, -EINVAL, "--net: \"fast\" is not mac=ADDRESS");
	refuse(&(struct asked){.net = "user,mac=53:54:00:12:34:56"}, -EINVAL,
	       "--net: \"53:54:00:12:34:56\" is no address of a card (52:54:00:12:34:56)");
	refuse(&(struct asked){.net = "user,mac=52:54:0:12:34:56"}, -EINVAL,
	       "--net: \"52:54:0:12:34:56\" is no address of a card (52:54:00:12:34:56)");
	refuse(&(struct asked){.net = "user,mac=52:54:00:12:34:+6"}, -EINVAL,
	       "--net: \"52:54:00:12:34:+6\" is no address of a card (52:54:00:12:34:56)");
	refuse(&(struct asked){.net = "user,mac=52:54:00:12:34:56:78"}, -EINVAL,
	       "--net: \"52:54:00:12:34:56:78\" is no address of a card (52:54:00:12:34:56)");
	refuse(&(struct asked){.net = "none", .forward = {"1:2"}}, -EINVAL,
	       "--forward is for --net user");
}

static void test_forward(void **state)
{
	static const char *const bad[] = {"22",	  "0:22", "22:0",  "65536:1", "1:2:3",	  "-1:2",
					  "+1:2", "a:b",  "1 : 2", "1:2 ",    "000001:2", ""};
	struct devices d;

	(void)state;
	assert_int_equal(make(&d, &(struct asked){.forward = {"2222:22", "80:8080"}}), 0);
	assert_int_equal(d.machine.net.kind, MACHINE_NET_USER);
	assert_int_equal(d.machine.net.nforward, 2);
	assert_int_equal(d.machine.net.forward[0].host, 2222);
	assert_int_equal(d.machine.net.forward[0].guest, 22);
	assert_int_equal(d.machine.net.forward[1].guest, 8080);
	devices_free(&d);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(make(&d, &(struct asked){.forward = {bad[i]}}), -EINVAL);
		devices_free(&d);
		assert_non_null(strstr(err, "is no HOST:GUEST of two ports (2222:22)"));
	}
}

static void test_share(void **state)
{
	struct devices d;

	assert_int_equal(make(&d, &(struct asked){.share = {".", "/tmp,ro", "/,ro,tag=my root"}}),
			 0);
	assert_int_equal(d.machine.nshare, 3);
	assert_non_null(strstr(d.machine.share[0].path, *state));
	assert_string_equal(d.machine.share[0].tag, "share");
	assert_string_equal(d.machine.share[1].tag, "share2");
	assert_string_equal(d.machine.share[2].tag, "my root");
	assert_false(d.machine.share[0].read_only);
	assert_true(d.machine.share[1].read_only && d.machine.share[2].read_only);
	devices_free(&d);
	refuse(&(struct asked){.share = {"a.img"}}, -ENOTDIR,
	       "cannot share a.img: it is no folder");
	refuse(&(struct asked){.share = {"none"}}, -ENOENT,
	       "cannot share none: No such file or directory");
	refuse(&(struct asked){.share = {".,tag=a", "/,tag=a"}}, -EINVAL,
	       "--share: two folders have the tag a");
	refuse(&(struct asked){.share = {".,tag=this-is-a-name-of-thirty-six-bytes-x"}}, -EINVAL,
	       "--share: \"tag=this-is-a-name-of-thirty-six-bytes-x\" is none of ro, tag=NAME of 35 "
	       "bytes at most");
	refuse(&(struct asked){.share = {".,rw"}}, -EINVAL,
	       "--share: \"rw\" is none of ro, tag=NAME of 35 bytes at most");
}

/* --- cloud-init -------------------------------------------------------------------------------
 */

#define VOLUME_ID (16 * 2048 + 40) /* ECMA-119, 8.4.7 */

static void put(const char *name, const char *text)
{
	FILE *out = fopen(name, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

/* The bytes of the disk that there is for it, which is the last. */
static char *seed_of(struct devices *d, size_t *len)
{
	const struct machine_disk *disk;
	char *bytes = malloc(1 << 20);
	FILE *in;

	assert_non_null(bytes);
	assert_true(d->machine.ndisk);
	disk = &d->machine.disk[d->machine.ndisk - 1];
	assert_true(disk->read_only && disk->keep);
	assert_string_equal(disk->format, "raw");
	in = fopen(disk->path, "r");
	assert_non_null(in);
	*len = fread(bytes, 1, 1 << 20, in);
	fclose(in);
	assert_true(*len > VOLUME_ID + 32);
	assert_memory_equal(bytes + VOLUME_ID, "cidata ", 7);
	return bytes;
}

static bool has(const char *bytes, size_t len, const char *text)
{
	return memmem(bytes, len, text, strlen(text));
}

static void test_seed_file(void **state)
{
	struct devices d;
	char *bytes;
	size_t len;

	(void)state;
	put("b=c\\d.yaml", "#cloud-config\npackages: [ sl ]\n");
	assert_int_equal(make(&d, &(struct asked){.image = "a.img", .seed = "b=c\\d.yaml"}), 0);
	assert_int_equal(d.machine.ndisk, 2);
	bytes = seed_of(&d, &len);
	assert_true(has(bytes, len, "packages: [ sl ]"));
	assert_true(has(bytes, len, "instance-id: hvtrace-"));
	free(bytes);
	devices_free(&d);
	scratch_remove(&scratch);
	unlink("b=c\\d.yaml");
}

/* Where temporary files are may be called anything. */
static void test_seed_comma(void **state)
{
	const char *tmpdir = getenv("TMPDIR");
	char *before = tmpdir ? strdup(tmpdir) : NULL, folder[PATH_MAX];
	struct devices d;
	size_t len;

	(void)state;
	assert_non_null(getcwd(folder, sizeof(folder) - 16));
	strcat(folder, "/a,ro,b");
	assert_int_equal(mkdir(folder, 0700), 0);
	setenv("TMPDIR", folder, 1);
	put("user-data", "#!/bin/sh\n");
	assert_int_equal(make(&d, &(struct asked){.seed = "user-data"}), 0);
	free(seed_of(&d, &len));
	assert_non_null(strstr(d.machine.disk[d.machine.ndisk - 1].path, "/a,ro,b/"));
	devices_free(&d);
	scratch_remove(&scratch);
	unlink("user-data");
	assert_int_equal(rmdir(folder), 0);
	before ? setenv("TMPDIR", before, 1) : unsetenv("TMPDIR");
	free(before);
}

static void test_seed_folder(void **state)
{
	struct devices d;
	char *bytes;
	size_t len;

	(void)state;
	assert_int_equal(mkdir("seed", 0700), 0);
	refuse(&(struct asked){.seed = "seed"}, -ENOENT,
	       "--cloud-init: seed has no file user-data");
	scratch_remove(&scratch);
	refuse(&(struct asked){.seed = "none"}, -ENOENT,
	       "--cloud-init: cannot open none: No such file or directory");
	scratch_remove(&scratch);
	put("seed/user-data", "#!/bin/sh\n");
	put("seed/meta-data", "instance-id: mine\n");
	put("seed/network-config", "version: 2\n");
	assert_int_equal(make(&d, &(struct asked){.seed = "seed"}), 0);
	bytes = seed_of(&d, &len);
	assert_true(has(bytes, len, "instance-id: mine"));
	assert_true(has(bytes, len, "version: 2"));
	assert_false(has(bytes, len, "instance-id: hvtrace-"));
	free(bytes);
	devices_free(&d);
	scratch_remove(&scratch);
	unlink("seed/user-data");
	unlink("seed/meta-data");
	unlink("seed/network-config");
	rmdir("seed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),	   cmocka_unit_test(test_disks),
		cmocka_unit_test(test_bad_disks),  cmocka_unit_test(test_net),
		cmocka_unit_test(test_bad_net),	   cmocka_unit_test(test_forward),
		cmocka_unit_test(test_share),	   cmocka_unit_test(test_seed_file),
		cmocka_unit_test(test_seed_comma), cmocka_unit_test(test_seed_folder),
	};

	return cmocka_run_group_tests_name("devices", tests, setup, teardown);
}
