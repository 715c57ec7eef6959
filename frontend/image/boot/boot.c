// SPDX-License-Identifier: GPL-2.0-or-later
/* boot.c - see boot.h: the kinds of configuration, in the order in which a boot comes to them. */
#include "frontend/image/boot/local.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* systemd-boot's entries may lie beside those that GRUB reads, and its own come with it only. */
static const struct boot_kind kinds[] = {
	{"systemd-boot", boot_find_systemd},
	{"GRUB", boot_find_grub},
	{"syslinux", boot_find_syslinux},
	{"no boot loader", boot_find_newest},
};

int boot_fail(const struct boot_why *why, int ret, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why->err, why->len, format, ap);
	va_end(ap);
	return ret;
}

static int check_entry(const struct boot_entry *e, const struct boot_why *why)
{
	if (*e->kernel.path)
		return 0;
	return boot_fail(why, -ENOENT,
			 "the default entry of its boot loader (%s), '%s', has no Linux kernel",
			 e->loader, e->title);
}

int boot_find(const struct boot_disk *disk, struct boot_entry *e, char *err, size_t errlen)
{
	const struct boot_why why = {err, errlen};

	*err = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int ret;

		memset(e, 0, sizeof(*e));
		e->loader = kinds[i].loader;
		ret = kinds[i].find(disk, e, &why);
		if (!ret)
			return check_entry(e, &why);
		if (*err)
			return ret;
		if (ret != -ENOENT)
			return boot_fail(&why, ret, "cannot read its files: %s", strerror(-ret));
	}
	return boot_fail(
		&why, -ENOENT,
		"it has no configuration of a boot loader that is known, and no kernel in /boot");
}
