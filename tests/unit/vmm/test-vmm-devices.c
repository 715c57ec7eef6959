// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vmm-devices.c - machines of our own that have devices, and those that cannot have them. */
#include "tests/unit/testguest.h"
#include "vmm/kvm/local.h"

#include <fcntl.h>
#include <sys/stat.h>

#define TABLES_SIZE 4096

static char image[] = "/tmp/test-vmm-devices-XXXXXX";

static int make_image(void **state)
{
	int fd = mkstemp(image);

	(void)state;
	if (fd < 0 || ftruncate(fd, 65536))
		return -1;
	return close(fd);
}

static int remove_image(void **state)
{
	(void)state;
	return unlink(image);
}

/* A machine with one disk; NULL: err says why. */
static struct machine *new_machine(struct guest *g, const struct machine_disk *disk, char *err,
				   size_t errlen)
{
	struct machine_config cfg = guest_config(g, 1, "end=poweroff");

	cfg.devices.disk = disk;
	cfg.devices.ndisk = disk != NULL;
	g->m = machine_new("kvm", &cfg, err, errlen);
	return g->m;
}

static bool tells_of_pci(struct machine *m)
{
	const void *tables = machine_host_ptr(m, KVM_ACPI_START, TABLES_SIZE);

	assert_non_null(tables);
	return memmem(tables, TABLES_SIZE, "PCI0", 4);
}

/* Such a guest is told of nothing that it has not asked for. */
static void test_without_devices(void **state)
{
	struct guest g;
	char err[256] = "";

	(void)state;
	guest_init(&g);
	assert_non_null(new_machine(&g, NULL, err, sizeof(err)));
	assert_false(tells_of_pci(g.m));
	guest_free(&g);
}

static void test_with_a_disk(void **state)
{
	const struct machine_disk disk = {.path = image, .format = "raw", .keep = true};
	struct machine_event ev;
	char err[256] = "";
	struct guest g, other;

	(void)state;
	guest_init(&g);
	guest_init(&other);
	assert_non_null(new_machine(&g, &disk, err, sizeof(err)));
	assert_true(tells_of_pci(g.m));
	assert_null(new_machine(&other, &disk, err, sizeof(err)));
	assert_non_null(strstr(err, "in use by another guest"));
	kvm_devices_hold((struct kvm_machine *)g.m);
	assert_int_equal(machine_start(g.m, err, sizeof(err)), 0);
	kvm_devices_release((struct kvm_machine *)g.m);
	assert_int_equal(machine_wait(g.m, &ev, GUEST_LIMIT_MS), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_POWEROFF);
	guest_free(&g);
	assert_non_null(new_machine(&other, &disk, err, sizeof(err)));
	guest_free(&other);
}

static void test_disks_that_cannot_be_had(void **state)
{
	const struct machine_disk disks[] = {{.path = "/nowhere/image", .format = "raw"},
					     {.path = "/dev/null", .format = "raw"},
					     {.path = image, .format = "nonsense"}};
	struct guest g;

	(void)state;
	guest_init(&g);
	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++) {
		char err[512] = "";

		assert_null(new_machine(&g, &disks[i], err, sizeof(err)));
		assert_non_null(strstr(err, disks[i].path));
		assert_null(strchr(err, '\n'));
	}
	guest_free(&g);
}

static bool can_share(void)
{
	return !geteuid() && (!access("/usr/lib/qemu/virtiofsd", X_OK) ||
			      !access("/usr/libexec/virtiofsd", X_OK));
}

static struct machine *new_sharing(struct guest *g, const struct machine_share *share, char *err,
				   size_t errlen)
{
	struct machine_config cfg = guest_config(g, 1, "end=poweroff");

	cfg.devices.share = share;
	cfg.devices.nshare = 1;
	g->m = machine_new("kvm", &cfg, err, errlen);
	return g->m;
}

/* Whoever serves it has RAM as a file, and cannot cut it off. */
static void test_with_a_folder(void **state)
{
	const struct machine_share share = {.path = "/tmp", .tag = "share", .read_only = true};
	const struct machine_share none = {.path = "/nowhere", .tag = "share"};
	char err[512] = "", byte;
	struct machine_event ev;
	struct guest g;
	int fd;

	(void)state;
	if (!can_share())
		skip();
	guest_init(&g);
	assert_null(new_sharing(&g, &none, err, sizeof(err)));
	assert_non_null(strstr(err, "cannot share /nowhere: virtiofsd says: "));
	assert_null(strchr(err, '\n'));
	assert_non_null(new_sharing(&g, &share, err, sizeof(err)));
	fd = ((struct kvm_machine *)g.m)->ram_fd;
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(pread(fd, &byte, 1, KVM_BOOT_CMDLINE), 1);
	assert_int_equal(byte, *(char *)machine_host_ptr(g.m, KVM_BOOT_CMDLINE, 1));
	assert_int_not_equal(byte, 0);
	assert_int_equal(machine_start(g.m, err, sizeof(err)), 0);
	assert_int_equal(machine_wait(g.m, &ev, GUEST_LIMIT_MS), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_POWEROFF);
	guest_free(&g);
}

/* What is typed waits there, and not at the serial port. */
static void test_with_a_console(void **state)
{
	struct guest g;
	struct machine_config cfg;
	char err[256] = "", keys[8192] = "";

	(void)state;
	guest_init(&g);
	cfg = guest_config(&g, 1, "end=poweroff");
	cfg.devices.console = true;
	g.m = machine_new("kvm", &cfg, err, sizeof(err));
	assert_non_null(g.m);
	assert_true(tells_of_pci(g.m));
	assert_int_equal(machine_console_input(g.m, keys, sizeof(keys)), 4096);
	guest_free(&g);
}

/* Saved before it runs; the copy is restored when the first one is gone. */
static void save(const char *path, const struct machine_disk *disk)
{
	struct machine_save save = {.fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600)};
	char err[256] = "";
	struct guest g;

	assert_true(save.fd >= 0);
	guest_init(&g);
	assert_non_null(new_machine(&g, disk, err, sizeof(err)));
	if (machine_save(g.m, &save, err, sizeof(err)))
		fail_msg("%s", err);
	guest_free(&g);
	close(save.fd);
}

static struct machine *restore(struct guest *g, const char *path, char *err, size_t errlen)
{
	const struct machine_config cfg = {
		.snapshot = path, .console = guest_console, .trap = guest_trap, .arg = g};

	guest_init(g);
	g->m = machine_new("kvm", &cfg, err, errlen);
	return g->m;
}

static void test_saved(void **state)
{
	const struct machine_disk disk = {.path = image, .format = "raw"},
				  ro = {.path = image, .format = "raw", .read_only = true};
	char path[64], err[512] = "";
	struct guest g;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test-vmm-devices-%d.snap", getpid());
	save(path, &ro);
	assert_non_null(restore(&g, path, err, sizeof(err)));
	guest_free(&g);
	save(path, &disk);
	if (!restore(&g, path, err, sizeof(err)))
		fail_msg("%s", err);
	guest_run(&g);
	guest_free(&g);
	assert_int_equal(utimensat(AT_FDCWD, image, NULL, 0), 0);
	assert_null(restore(&g, path, err, sizeof(err)));
	assert_non_null(strstr(err, "has changed since the snapshot"));
	guest_free(&g);
	unlink(path);
}

static void test_what_cannot_be_saved(void **state)
{
	const struct machine_disk disk = {.path = image, .format = "raw", .keep = true};
	struct machine_save save = {.fd = -1};
	char err[256] = "";
	struct guest g;

	(void)state;
	guest_init(&g);
	assert_non_null(new_machine(&g, &disk, err, sizeof(err)));
	assert_int_equal(machine_save(g.m, &save, err, sizeof(err)), -EBUSY);
	assert_non_null(strstr(err, "not written to"));
	guest_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_devices),
		cmocka_unit_test(test_with_a_disk),
		cmocka_unit_test(test_disks_that_cannot_be_had),
		cmocka_unit_test(test_with_a_folder),
		cmocka_unit_test(test_with_a_console),
		cmocka_unit_test(test_saved),
		cmocka_unit_test(test_what_cannot_be_saved),
	};

	return cmocka_run_group_tests(tests, make_image, remove_image);
}
