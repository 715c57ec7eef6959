// SPDX-License-Identifier: GPL-2.0-or-later
/* send-snapshot.c - see send-snapshot.h */
#include "frontend/control/send-snapshot.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "tracer/tracer.h"

/*
 * The other end gets so much time, and this much more with each MiB of the file that it has come
 * to: a disk that takes 20 MB/s is quick enough.
 */
#define PATIENCE_MS	10000
#define PATIENCE_MIB_MS 50

struct sending {
	const struct wire *wire;
	struct wire_message *m;
	int64_t begun_ms;
	uint64_t end; /* of what has been sent: where it ends in the file */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int left_ms(const struct sending *s)
{
	int64_t all = PATIENCE_MS + (int64_t)(s->end >> 20) * PATIENCE_MIB_MS;
	int64_t left = s->begun_ms + all - now_ms();

	return left < 0 ? 0 : left > PATIENCE_MS ? PATIENCE_MS : (int)left;
}

static int send_piece(struct sending *s, const char *data, size_t len, uint64_t at)
{
	struct wire_message *m = s->m;

	m->head = (struct wire_head){.len = (uint32_t)(sizeof(at) + len),
				     .version = WIRE_VERSION,
				     .op = WIRE_SAVE,
				     .value = 1};
	memcpy(m->data, &at, sizeof(at));
	memcpy(m->data + sizeof(at), data, len);
	if (at + len > s->end)
		s->end = at + len;
	return wire_is_over(s->wire) ? -ECANCELED : wire_send_within(s->wire, m, left_ms(s));
}

static int send_all(void *arg, const void *data, size_t len, uint64_t at)
{
	const char *from = data;
	int rc = 0;

	while (len && !rc) {
		size_t some = sizeof(((struct wire_piece *)0)->bytes);

		if (some > len)
			some = len;
		rc = send_piece(arg, from, some, at);
		from += some;
		at += some;
		len -= some;
	}
	return rc;
}

void send_snapshot(const struct control_saver *saver, const struct wire *wire,
		   struct wire_message *answer)
{
	struct sending s = {.wire = wire, .m = answer, .begun_ms = now_ms()};
	struct machine_save save = {.put = send_all, .arg = &s, .traced = true};
	char err[256] = "this trace gives no snapshot";
	int rc = saver->save ? saver->save(saver->arg, &save, err, sizeof(err)) : -EOPNOTSUPP;

	answer->head = (struct wire_head){.op = WIRE_SAVE, .value = rc};
	if (!rc)
		return;
	answer->head.len = (uint32_t)strlen(err);
	memcpy(answer->data, err, answer->head.len);
}
