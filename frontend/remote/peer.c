// SPDX-License-Identifier: GPL-2.0-or-later
/* peer.c - see peer.h */
#include "frontend/remote/peer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dat/bytes.h"

/* --- the hello ---------------------------------------------------------------------------------
 */

static bool is_version(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr(".+~-", text[i]))
			return false;
	return len && len <= REMOTE_VERSION_MAX;
}

/* A line, less its end, that begins with REMOTE_HELLO. */
static int take_hello(struct peer *p, const char *line, size_t len)
{
	char version[REMOTE_VERSION_MAX + 1];
	unsigned int protocol = 0;
	size_t at = strlen(REMOTE_HELLO), digits = 0;

	for (; at < len && digits < 6 && isdigit((unsigned char)line[at]); at++, digits++)
		protocol = protocol * 10 + (unsigned int)(line[at] - '0');
	if (!digits || at == len || line[at++] != ' ' || !is_version(line + at, len - at))
		return -EBADMSG;
	memcpy(version, line + at, len - at);
	version[len - at] = '\0';
	p->greeted = true;
	return p->ops->hello(p->arg, protocol, version);
}

/* A line; how long it is is no matter where it is not of hvtrace. */
static int take_line(struct peer *p, size_t *used)
{
	const size_t hello = strlen(REMOTE_HELLO);
	const uint8_t *end = memchr(p->part, '\n', p->len);
	int rc = 0;

	*used = end ? (size_t)(end - p->part) + 1 : 0;
	if (*used > hello && !memcmp(p->part, REMOTE_HELLO, hello))
		return take_hello(p, (const char *)p->part, *used - 1);
	p->chatter += *used;
	if (p->chatter + (*used ? 0 : p->len) > REMOTE_CHATTER_MAX)
		rc = -EBADMSG;
	return rc;
}

/* --- frames ------------------------------------------------------------------------------------
 */

static int take_data(struct peer *p, unsigned int frame, const uint8_t *data, uint32_t len)
{
	if (frame == REMOTE_STATUS) {
		if (len != 1)
			return -EBADMSG;
		p->ended = true;
		return p->ops->status(p->arg, *data);
	}
	if (frame >= REMOTE_FILE + p->files)
		return -EBADMSG;
	return p->ops->data(p->arg, frame, data, len);
}

static int take_frame(struct peer *p, size_t *used)
{
	uint32_t len;

	*used = 0;
	if (p->len < REMOTE_FRAME_HEAD)
		return 0;
	len = bytes_get32(p->part + 1);
	if (p->ended || len > REMOTE_FRAME_MAX)
		return -EBADMSG;
	if (p->len - REMOTE_FRAME_HEAD < len)
		return 0;
	*used = REMOTE_FRAME_HEAD + len;
	return take_data(p, p->part[0], p->part + REMOTE_FRAME_HEAD, len);
}

/* All that is whole. */
static int take(struct peer *p)
{
	size_t used;
	int rc;

	do {
		rc = p->greeted ? take_frame(p, &used) : take_line(p, &used);
		p->len -= used;
		memmove(p->part, p->part + used, p->len);
	} while (!rc && used);
	return rc;
}

/* Of what is not whole there is always less than there is room for. */
int peer_add(struct peer *p, const uint8_t *bytes, size_t len)
{
	int rc = 0;

	while (len && !rc) {
		size_t room = sizeof(p->part) - p->len, n = len < room ? len : room;

		memcpy(p->part + p->len, bytes, n);
		p->len += n;
		bytes += n;
		len -= n;
		rc = take(p);
	}
	return rc;
}
