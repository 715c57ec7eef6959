// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-start-devices.c - what libvirt is told of a guest's devices, and what takes its writes.
 */
#include <errno.h>
#include <fcntl.h>
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

#include "vmm/qemu/start.h"
#include "vmm/qemu/text/xml.h"

static const struct machine_disk disks[] = {
	{.path = "/images/it's <one>.img", .format = "raw", .keep = true},
	{.path = "/images/two.qcow2", .format = "qcow2"},
	{.path = "/images/three.vmdk", .format = "vmdk", .keep = true, .read_only = true},
};

static char *xml_of(const struct machine_devices *dev)
{
	const struct machine_config cfg = {
		.memory = 1 << 28, .vcpus = 1, .kernel_path = "/k", .cmdline = "", .devices = *dev};
	static char overlay[] = "/var/tmp/x/1.qcow2";
	struct start_domain what = {.cfg = &cfg, .overlays.path[1] = overlay};
	char *xml = qemu_start_xml(&what, false);

	assert_non_null(xml);
	return xml;
}

static const char *element(const char *at, const char *name, const char *attribute,
			   const char *value)
{
	char found[128];
	size_t len;

	at = xml_element(at, name, &len);
	assert_non_null(at);
	assert_true(xml_attribute(at, len, attribute, found, sizeof(found)));
	assert_string_equal(found, value);
	return at;
}

static void test_none(void **state)
{
	char *xml = xml_of(&(struct machine_devices){0});

	(void)state;
	assert_null(strstr(xml, "<disk"));
	assert_null(strstr(xml, "<interface"));
	assert_null(strstr(xml, "<rng"));
	assert_null(strstr(xml, "memfd"));
	free(xml);
}

static void test_disks(void **state)
{
	char *xml = xml_of(&(struct machine_devices){.disk = disks, .ndisk = 3});
	const char *at;

	(void)state;
	at = element(xml, "disk", "type", "file");
	at = element(at, "driver", "type", "raw");
	at = element(at, "source", "file", "/images/it's <one>.img");
	at = element(at, "target", "dev", "vda");
	at = element(at, "driver", "type", "qcow2");
	at = element(at, "source", "file", "/var/tmp/x/1.qcow2");
	at = element(at, "format", "type", "qcow2");
	at = element(at, "source", "file", disks[1].path);
	at = element(at, "target", "dev", "vdb");
	assert_true(strstr(xml, "<readonly/>") > at);
	at = element(at, "driver", "error_policy", "report");
	at = element(at, "target", "dev", "vdc");
	assert_non_null(strstr(at, "<readonly/>"));
	assert_non_null(strstr(at, "<rng model='virtio'>"));
	free(xml);
}

static void test_net(void **state)
{
	struct machine_devices dev = {
		.net = {.kind = MACHINE_NET_USER, .mac = {0x52, 0x54, 0, 1, 0xab, 0xff}}};
	char *xml = xml_of(&dev);
	const char *at;

	(void)state;
	at = element(xml, "interface", "type", "user");
	at = element(at, "mac", "address", "52:54:00:01:ab:ff");
	element(at, "model", "type", "virtio");
	free(xml);
	dev.net.kind = MACHINE_NET_TAP;
	dev.net.tap = "tap7";
	xml = xml_of(&dev);
	at = element(xml, "interface", "type", "ethernet");
	at = element(at, "target", "dev", "tap7");
	element(at - 7, "target", "managed", "no");
	free(xml);
}

static void test_share(void **state)
{
	const struct machine_share share[] = {{"/srv/it's", "one", false}, {"/srv", "two", true}};
	char *xml = xml_of(&(struct machine_devices){.share = share, .nshare = 2});
	const char *at;

	(void)state;
	element(xml, "access", "mode", "shared");
	at = element(xml, "filesystem", "type", "mount");
	at = element(at, "driver", "type", "virtiofs");
	at = element(at, "source", "dir", "/srv/it's");
	at = element(at, "target", "dir", "one");
	at = element(at, "source", "dir", "/srv");
	assert_true(strstr(xml, "<readonly/>") > at);
	free(xml);
}

/* --- files that take what is written ------------------------------------------------------------
 */

static void image(char path[64])
{
	int fd;

	strcpy(path, "/tmp/test-overlay-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0 && !ftruncate(fd, 1 << 20));
	close(fd);
}

/* Over each disk that is to stay as it is; nothing is left of them. */
static void test_overlays(void **state)
{
	char path[64], made[128], err[256];
	struct machine_disk disk[2];
	struct machine_config cfg = {.devices = {.disk = disk, .ndisk = 2}, .scratch = "/tmp"};
	struct start_overlays o;
	char magic[4] = "";
	int fd;

	(void)state;
	image(path);
	disk[0] = (struct machine_disk){.path = path, .format = "raw", .keep = true};
	disk[1] = (struct machine_disk){.path = path, .format = "raw"};
	assert_int_equal(qemu_start_overlays_make(&o, &cfg, err, sizeof(err)), 0);
	assert_null(o.path[0]);
	assert_non_null(o.path[1]);
	fd = open(o.path[1], O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, magic, 4), 4);
	assert_memory_equal(magic, "QFI\xfb", 4);
	close(fd);
	snprintf(made, sizeof(made), "%s", o.path[1]);
	qemu_start_overlays_unlink(&o);
	assert_int_equal(access(made, F_OK), -1);
	/* One that cannot be made takes the others with it. */
	disk[0].keep = false;
	disk[1].format = "no-such-format";
	assert_int_not_equal(qemu_start_overlays_make(&o, &cfg, err, sizeof(err)), 0);
	assert_non_null(strstr(err, "no-such-format"));
	assert_null(strchr(err, '\n'));
	assert_null(o.path[0]);
	unlink(path);
}

/* One that lies before the initrd, in a file that those may read who may read the initrd. */
static void test_initrd(void **state)
{
	char named[64], err[256], *path, bytes[16];
	struct machine_config cfg = {.initrd = "initrd", .initrd_size = 6, .initrd_path = named};
	struct start_domain what = {.cfg = &cfg};
	struct stat st;
	char *xml;
	int fd;

	(void)state;
	image(named);
	assert_int_equal(chmod(named, 0640), 0);
	assert_int_equal(qemu_start_initrd_make(&path, &cfg, err, sizeof(err)), 0);
	assert_null(path);
	cfg.overlay = "over";
	cfg.overlay_size = 4;
	assert_int_equal(qemu_start_initrd_make(&path, &cfg, err, sizeof(err)), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 10);
	assert_memory_equal(bytes, "overinitrd", 10);
	close(fd);
	cfg.kernel_path = "/k";
	what.initrd = path;
	xml = qemu_start_xml(&what, false);
	assert_non_null(strstr(xml, path));
	assert_null(strstr(xml, named));
	free(xml);
	snprintf(err, sizeof(err), "%s", path);
	qemu_start_initrd_unlink(path);
	assert_int_equal(access(err, F_OK), -1);
	unlink(named);
}

static void hear(void *arg, const char *text, size_t len)
{
	(void)arg;
	(void)text;
	(void)len;
}

static void test_channel(void **state)
{
	struct machine_config cfg = {.kernel_path = "/k"};
	const struct start_domain what = {.cfg = &cfg};
	const char *first, *second;
	char *xml;

	(void)state;
	for (int with = 0; with < 2; with++) {
		cfg.channel = with ? hear : NULL;
		xml = qemu_start_xml(&what, false);
		first = strstr(xml, "<serial type='null'/>");
		assert_non_null(first);
		second = strstr(first + 1, "<serial type='null'/>");
		assert_int_equal(!!second, with);
		free(xml);
	}
}

static void test_no_place(void **state)
{
	const struct machine_disk disk = {.path = "/dev/null", .format = "raw"};
	const struct machine_config cfg = {.devices = {.disk = &disk, .ndisk = 1},
					   .scratch = "/no/such/folder"};
	struct start_overlays o;
	char err[256];

	(void)state;
	assert_int_equal(qemu_start_overlays_make(&o, &cfg, err, sizeof(err)), -EIO);
	assert_non_null(strstr(err, "/no/such/folder/0.qcow2"));
	assert_non_null(strstr(err, "No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_initrd),	 cmocka_unit_test(test_channel),
		cmocka_unit_test(test_none),	 cmocka_unit_test(test_disks),
		cmocka_unit_test(test_net),	 cmocka_unit_test(test_share),
		cmocka_unit_test(test_overlays), cmocka_unit_test(test_no_place),
	};

	return cmocka_run_group_tests_name("qemu-start-devices", tests, NULL, NULL);
}
