// SPDX-License-Identifier: GPL-2.0-or-later
/* room.c - see room.h */
#include "frontend/record/room.h"

#include <errno.h>
#include <fcntl.h>

#include "frontend/dat/dat-write.h"

#define STEP (UINT64_C(16) << 20)

void room_init(struct room *room, int fd)
{
	*room = (struct room){.fd = fd};
}

int room_keep(struct room *room, uint64_t journal)
{
	uint64_t want = journal + DAT_WRITE_MORE;

	if (room->cannot || want <= room->bytes)
		return 0;
	want = (want + STEP - 1) / STEP * STEP;
	while (fallocate(room->fd, 0, (off_t)room->bytes, (off_t)(want - room->bytes))) {
		if (errno == EINTR)
			continue;
		if (errno != EOPNOTSUPP && errno != ENOSYS)
			return -errno;
		room->cannot = true;
		return 0;
	}
	room->bytes = want;
	return 0;
}
