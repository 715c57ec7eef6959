// SPDX-License-Identifier: GPL-2.0-or-later
/* inbox.c - see inbox.h */
#include "frontend/ship/inbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void inbox_close(struct inbox *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	free(in->pack.bytes);
	in->pack.bytes = NULL;
}

static void end(struct inbox *in, const char *wrong)
{
	in->wrong = wrong;
	inbox_close(in);
}

/* Where the next byte goes, and how many up to the end of what it is in. */
static uint8_t *place(struct inbox *in, size_t *left)
{
	const size_t head = sizeof(in->pack.head);

	if (in->got < head) {
		*left = head - in->got;
		return (uint8_t *)&in->pack.head + in->got;
	}
	*left = in->pack.head.packed - (in->got - head);
	return in->pack.bytes + (in->got - head);
}

/* There is room for its bytes now. False: it is none. */
static bool take_head(struct inbox *in)
{
	const char *wrong = pack_head_wrong(&in->pack.head);

	if (!wrong && in->pack.head.packed) {
		in->pack.bytes = malloc(in->pack.head.packed);
		wrong = in->pack.bytes ? NULL : "there is no memory for it";
	}
	if (wrong)
		end(in, wrong);
	return !wrong;
}

static bool is_whole(const struct inbox *in)
{
	return in->got >= sizeof(in->pack.head) &&
	       in->got == sizeof(in->pack.head) + in->pack.head.packed;
}

/* False: there is no more for now, or at all. */
static bool read_some(struct inbox *in)
{
	size_t left;
	uint8_t *to = place(in, &left);
	ssize_t n = read(in->fd, to, left);

	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		end(in, in->got ? "it ends within a batch" : NULL);
		return false;
	}
	in->got += (size_t)n;
	return in->got != sizeof(in->pack.head) || take_head(in);
}

bool inbox_read(struct inbox *in, struct pack *p)
{
	while (in->fd >= 0 && read_some(in)) {
		if (!is_whole(in))
			continue;
		if (pack_wrong(&in->pack)) {
			end(in, pack_wrong(&in->pack));
			return false;
		}
		*p = in->pack;
		in->pack = (struct pack){.bytes = NULL};
		in->got = 0;
		return true;
	}
	return false;
}
