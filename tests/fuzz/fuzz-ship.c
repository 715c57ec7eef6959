// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-ship.c - what hvtrace ship takes from others: batches out of a pipe with right sums and
 * whatever else in them, in pieces; what a server says that it has; URLs.
 */
#include "frontend/ship/http.h"
#include "frontend/ship/inbox.h"
#include "frontend/ship/there.h"
#include "tests/fuzz/input.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 4096 };

/* Most of them are good but for a few bytes. */
static void make_pack(struct input *in, struct pack *p, uint8_t *bytes)
{
	uint8_t *head = (uint8_t *)&p->head, changes = input_byte(in);

	p->head = (struct pack_head){
		.kind = input_byte(in) % 4,
		.size = input_u16(in),
		.rows = input_u16(in),
		.packed = input_u16(in) % BYTES_MAX,
	};
	p->bytes = bytes;
	memset(bytes, input_byte(in), p->head.packed);
	pack_seal(p);
	for (; changes > 200; changes--)
		head[input_u16(in) % sizeof(p->head)] ^= input_byte(in);
}

static void read_all(struct inbox *in)
{
	struct pack got;

	while (inbox_read(in, &got)) {
		if (pack_wrong(&got))
			abort();
		free(got.bytes);
	}
}

static void read_packs(struct input *in)
{
	uint8_t bytes[BYTES_MAX];
	struct inbox inbox;
	struct pack p;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		abort();
	inbox = (struct inbox){.fd = fds[0]};
	for (int i = 0; i < 4 && in->size && inbox.fd >= 0; i++) {
		size_t torn;

		make_pack(in, &p, bytes);
		torn = input_byte(in) == 255 ? input_u16(in) % (p.head.packed % BYTES_MAX + 1) : 0;
		if (write(fds[1], &p.head, sizeof(p.head)) < 0)
			break;
		read_all(&inbox);
		if (write(fds[1], bytes, p.head.packed % BYTES_MAX - torn) < 0)
			break;
		read_all(&inbox);
	}
	close(fds[1]);
	read_all(&inbox);
	inbox_close(&inbox);
}

static void read_there(struct input *in)
{
	struct there t = {.bits = NULL};
	uint32_t number = input_u16(in);

	there_add(&t, input_byte(in), in->data, in->size);
	there_has(&t, number);
	there_clear(&t);
}

static void read_url(struct input *in)
{
	size_t room = input_byte(in);
	char *text = strndup((const char *)in->data, in->size), *to = malloc(room ? room : 1);

	if (!text || !to)
		abort();
	http_url_good(text);
	if (room && http_escape(to, room, text) && strlen(to) >= room)
		abort();
	free(text);
	free(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	signal(SIGPIPE, SIG_IGN);
	switch (input_byte(&in) % 3) {
	case 0:
		read_packs(&in);
		break;
	case 1:
		read_there(&in);
		break;
	default:
		read_url(&in);
	}
	return 0;
}
