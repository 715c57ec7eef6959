// SPDX-License-Identifier: GPL-2.0-or-later
/* newest.c - no configuration: the newest kernel in /boot, and a root file system. */
#include "frontend/image/boot/local.h"

#include <errno.h>
#include <string.h>

/* /boot, or what is mounted there. */
static const char *const folders[] = {"/boot", "/"};

/* Of an initrd for the kernel vmlinuz-VERSION: what stands before and behind VERSION. */
static const struct {
	const char *before, *behind;
} initrd_names[] = {
	{"initrd.img-", ""}, {"initramfs-", ".img"}, {"initrd-", ""},
	{"initramfs-", ""},  {"initrd-", ".img"},
};

/* The newest one, NULL: there is none. Those for repairs are not what is booted. */
static const char *newest_of(const struct text *names)
{
	const char *newest = NULL;

	for (const char *name = ""; (name = boot_next(names, name));) {
		if (strncmp(name, "vmlinuz-", 8) != 0 || strstr(name, "rescue"))
			continue;
		if (!newest || boot_version_compare(name, newest) > 0)
			newest = name;
	}
	return newest;
}

static bool is_there(const struct text *names, const char *wanted)
{
	for (const char *name = ""; (name = boot_next(names, name));)
		if (!strcmp(name, wanted))
			return true;
	return false;
}

static void take_initrd(struct boot_entry *e, const struct text *names, const char *folder,
			const char *version)
{
	char name[BOOT_PATH_MAX];
	struct boot_file f;

	for (size_t i = 0; i < sizeof(initrd_names) / sizeof(initrd_names[0]); i++) {
		snprintf(name, sizeof(name), "%s%s%s", initrd_names[i].before, version,
			 initrd_names[i].behind);
		if (is_there(names, name) && !boot_path(&f, e->kernel.volume, folder, name)) {
			boot_add_initrd(e, &f);
			return;
		}
	}
}

static int find_kernel(const struct boot_disk *disk, struct boot_entry *e, unsigned int volume,
		       const char *folder)
{
	struct text names = {0};
	struct boot_file f;
	const char *name;
	int ret = boot_path(&f, volume, "/", folder);

	if (!ret)
		ret = boot_list(disk, &f, "", &names);
	name = ret ? NULL : newest_of(&names);
	if (!ret)
		ret = name ? boot_path(&e->kernel, volume, folder, name) : -ENOENT;
	if (!ret) {
		boot_set_title(e, name);
		take_initrd(e, &names, folder, name + strlen("vmlinuz-"));
	}
	text_free(&names);
	return ret;
}

/* 1: it has what a root file system has; 0; -errno. */
static int is_root(const struct boot_disk *disk, unsigned int volume)
{
	static const char *const has[] = {"/etc/fstab", "/etc/os-release", "/usr/lib/os-release",
					  "/sbin/init"};
	int64_t size = -ENOENT;

	for (size_t i = 0; size == -ENOENT && i < sizeof(has) / sizeof(has[0]); i++) {
		struct boot_file f;

		if (!boot_path(&f, volume, "/", has[i]))
			size = boot_size(disk, &f);
	}
	return size == -ENOENT ? 0 : size < 0 ? (int)size : 1;
}

/* The machine's first disk is this one, of virtio. */
static void add_device(const struct boot_volume *v, char *cmdline, size_t size)
{
	char word[64];

	snprintf(word, sizeof(word), "root=/dev/vda");
	if (v->partition)
		snprintf(word, sizeof(word), "root=/dev/vda%u", v->partition);
	boot_add_word(cmdline, size, word, strlen(word));
}

/* A kernel alone knows partitions, but no file systems by their UUIDs: that is for an initrd. */
static void make_cmdline(struct boot_entry *e, const struct boot_volume *v)
{
	char word[160];

	if (e->nr_initrds && *v->uuid) {
		snprintf(word, sizeof(word), "root=UUID=%s", v->uuid);
		boot_add_word(e->cmdline, sizeof(e->cmdline), word, strlen(word));
	} else {
		add_device(v, e->cmdline, sizeof(e->cmdline));
	}
	if (*v->subvolume) {
		snprintf(word, sizeof(word), "rootflags=subvol=%s", v->subvolume);
		boot_add_word(e->cmdline, sizeof(e->cmdline), word, strlen(word));
	}
	boot_add_word(e->cmdline, sizeof(e->cmdline), "ro", 2);
}

static int find_root(const struct boot_disk *disk, struct boot_entry *e)
{
	int is = 0;

	for (unsigned int v = 0; v < disk->nr_volumes; v++) {
		is = is_root(disk, v);
		if (is < 0)
			return is;
		if (is) {
			make_cmdline(e, &disk->volumes[v]);
			return 0;
		}
	}
	return -ENOENT;
}

int boot_find_newest(const struct boot_disk *disk, struct boot_entry *e, const struct boot_why *why)
{
	int ret = -ENOENT;

	for (unsigned int v = 0; ret == -ENOENT && v < disk->nr_volumes; v++)
		for (size_t i = 0; ret == -ENOENT && i < 2; i++)
			ret = find_kernel(disk, e, v, folders[i]);
	if (ret)
		return ret;
	ret = find_root(disk, e);
	if (ret == -ENOENT)
		return boot_fail(
			why, ret,
			"it has the kernel %s, but neither a configuration of a boot loader nor a root file system",
			e->kernel.path);
	return ret;
}
