// SPDX-License-Identifier: GPL-2.0-or-later
/* boot-id.c - which boot of which host this is. */
#include "frontend/host/host.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

void host_boot_id(char id[DAT_BOOT_ID_LEN + 1])
{
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, id, DAT_BOOT_ID_LEN);

	if (fd >= 0)
		close(fd);
	id[len == DAT_BOOT_ID_LEN ? len : 0] = '\0';
}
