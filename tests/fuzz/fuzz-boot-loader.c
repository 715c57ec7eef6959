// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-boot-loader.c - configurations of boot loaders, whatever is in them, and what qemu-img might
 * say.
 *
 * The first byte of an input is what there is on the disk; then come files, each ended by a 0. A
 * path has one of them, by a sum of its bytes.
 */
#include "frontend/image/boot/boot.h"
#include "frontend/image/json-find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_FILES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HAS_SYSTEMD = 1, HAS_GRUB = 2, HAS_SYSLINUX = 4, HAS_KERNELS = 8 };

static const struct boot_volume volumes[] = {
	{"/dev/sda1", "vfat", "AAAA-BBBB", "EFI", "", 1},
	{"/dev/sda2", "ext4", "1111-2222", "boot", "", 2},
	{"btrfsvol:/dev/sda3/root", "btrfs", "3333-4444", "root", "root", 3},
};

struct files {
	unsigned int has;
	const char *text[NR_FILES];
	size_t len[NR_FILES];
};

static bool is_there(const struct files *f, const char *path)
{
	if (strstr(path, "grub.cfg"))
		return f->has & HAS_GRUB;
	if (strstr(path, "linux.c"))
		return f->has & HAS_SYSLINUX;
	if (strstr(path, "/loader.conf"))
		return f->has & HAS_SYSTEMD;
	return true;
}

static unsigned int file_of(const char *path)
{
	unsigned int sum = 0;

	while (*path)
		sum += (unsigned char)*path++;
	return sum % NR_FILES;
}

static void check_path(unsigned int volume, const char *path)
{
	if (volume >= 3 || *path != '/' || strlen(path) >= BOOT_PATH_MAX || strchr(path, '\n') ||
	    strstr(path, "//") || strstr(path, "/../"))
		abort();
}

static int64_t disk_size(void *arg, unsigned int volume, const char *path)
{
	const struct files *f = arg;

	check_path(volume, path);
	return is_there(f, path) ? (int64_t)f->len[file_of(path)] : -ENOENT;
}

static int disk_read(void *arg, unsigned int volume, const char *path, size_t max, struct text *to)
{
	const struct files *f = arg;
	int64_t size = disk_size(arg, volume, path);

	if (size >= 0 && (size_t)size <= max)
		text_add(to, f->text[file_of(path)], (size_t)size);
	return size < 0 ? (int)size : 0;
}

static int disk_list(void *arg, unsigned int volume, const char *folder, struct text *to)
{
	const struct files *f = arg;

	check_path(volume, folder);
	text_puts(to, "1.conf\n2+3.conf\n");
	if (f->has & HAS_KERNELS)
		text_puts(to, "vmlinuz-1\ninitrd.img-1\n");
	text_add(to, f->text[0], f->len[0]);
	return 0;
}

static void check_line(const char *text, size_t size)
{
	if (!memchr(text, '\0', size) || strchr(text, '\n'))
		abort();
}

static void check_file(const struct boot_file *f)
{
	if (*f->path)
		check_path(f->volume, f->path);
}

static void look(struct files *f)
{
	static const struct boot_disk_ops ops = {disk_size, disk_read, disk_list};
	static struct boot_entry e;
	const struct boot_disk disk = {&ops, f, volumes, 3};
	char err[512];

	if (boot_find(&disk, &e, err, sizeof(err))) {
		if (!*err)
			abort();
		return;
	}
	check_line(e.title, sizeof(e.title));
	check_line(e.cmdline, sizeof(e.cmdline));
	check_file(&e.source);
	if (!*e.kernel.path || e.nr_initrds > BOOT_INITRDS_MAX)
		abort();
	check_file(&e.kernel);
	for (unsigned int i = 0; i < e.nr_initrds; i++)
		check_path(e.initrd[i].volume, e.initrd[i].path);
}

static void look_at_json(const char *text, size_t len)
{
	struct json_value v = {text, len};
	char to[16];
	uint64_t n;

	while (json_find(v, "a", &v)) {
		if (v.text < text || v.text + v.len > text + len)
			abort();
		if (json_get_string(v, to, sizeof(to)))
			check_line(to, sizeof(to));
		json_get_number(v, &n);
		json_is_true(v);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct files f = {0};
	const char *at = (const char *)data + 1, *end = (const char *)data + size;

	if (!size)
		return 0;
	f.has = *data;
	for (unsigned int i = 0; i < NR_FILES && at < end; i++) {
		const char *zero = memchr(at, '\0', (size_t)(end - at));

		f.text[i] = at;
		f.len[i] = (size_t)((zero ? zero : end) - at);
		at = zero ? zero + 1 : end;
	}
	look(&f);
	if (f.len[0])
		look_at_json(f.text[0], f.len[0]);
	return 0;
}
