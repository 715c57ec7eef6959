// SPDX-License-Identifier: GPL-2.0-or-later
/* grub-path.c - devices and files, as scripts name them; see grub.h. */
#include "frontend/image/boot/grub.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void grub_device_name(unsigned int volume, char name[16])
{
	snprintf(name, 16, "vol%u", volume);
}

/* "vol1" */
static bool is_own_name(const struct grub *g, const char *name, unsigned int *volume)
{
	char *end;
	unsigned long n;

	if (strncmp(name, "vol", 3) != 0 || !name[3])
		return false;
	n = strtoul(name + 3, &end, 10);
	*volume = (unsigned int)n;
	return !*end && n < g->disk->nr_volumes;
}

/* "hd0,gpt2", "hd0,msdos1", "hd0,2", "hd0": of any disk, as there is but one. */
static bool is_partition(const struct grub *g, const char *name, unsigned int *volume)
{
	const char *number = strchr(name, ',');
	unsigned long n;

	if (strncmp(name, "hd", 2) != 0)
		return false;
	if (number)
		number += 1 + strspn(number + 1, "abcdefghijklmnopqrstuvwxyz");
	n = number ? strtoul(number, NULL, 10) : 0;
	for (*volume = 0; *volume < g->disk->nr_volumes; ++*volume)
		if (g->disk->volumes[*volume].partition == n)
			return true;
	return false;
}

/* A device that is not known, as lvmid/..., is where the script is from. */
static unsigned int volume_named(const struct grub *g, const char *name)
{
	unsigned int volume;

	if (is_own_name(g, name, &volume) || is_partition(g, name, &volume))
		return volume;
	return g->file.volume;
}

int grub_path(struct grub *g, const char *name, struct boot_file *f)
{
	char device[64];
	const char *close = strchr(name, ')');

	if (*name != '(')
		return boot_path(f, volume_named(g, grub_get(g, "root", 4)), "/", name);
	if (!close)
		return -ENOENT;
	boot_copy(device, sizeof(device), name + 1, (size_t)(close - name - 1));
	return boot_path(f, volume_named(g, device), "/", close + 1);
}
