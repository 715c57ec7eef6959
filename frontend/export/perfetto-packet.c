// SPDX-License-Identifier: GPL-2.0-or-later
/* perfetto-packet.c - messages one behind the other, as protobuf's encoding has them. */
#include "frontend/export/perfetto-local.h"

#include <stdlib.h>

/* Field 1 of Trace. */
enum { FIELD_PACKET = 1, WIRE_BYTES = 2, HEAD_MAX = 16 };

/* A varint; the bytes that it takes. */
static size_t put_varint(uint8_t *at, uint64_t n)
{
	size_t len = 0;

	for (; n >= 0x80; n >>= 7)
		at[len++] = (uint8_t)(n | 0x80);
	at[len++] = (uint8_t)n;
	return len;
}

/* What stands before the bytes of a field. */
static size_t put_head(uint8_t *at, unsigned int field, size_t len)
{
	size_t n = put_varint(at, field << 3 | WIRE_BYTES);

	return n + put_varint(at + n, len);
}

void packet_write(const Pf__TracePacket *packet, FILE *out)
{
	size_t len = pf__trace_packet__get_packed_size(packet);
	uint8_t small[1024], *bytes = small;
	size_t head;

	if (len > sizeof(small) - HEAD_MAX)
		bytes = malloc(len + HEAD_MAX);
	if (!bytes)
		return;
	head = put_head(bytes, FIELD_PACKET, len);
	pf__trace_packet__pack(packet, bytes + head);
	fwrite_unlocked(bytes, 1, head + len, out);
	if (bytes != small)
		free(bytes);
}

void packet_add(struct text *to, unsigned int field, const ProtobufCMessage *message)
{
	size_t len = protobuf_c_message_get_packed_size(message);
	uint8_t *at = (uint8_t *)text_begin(to, len + HEAD_MAX);

	if (!at)
		return;
	at += put_head(at, field, len);
	protobuf_c_message_pack(message, at);
	text_end(to, (const char *)at + len);
}

void packet_write_packed(unsigned int field, const struct text *packed, FILE *out)
{
	uint8_t inner[HEAD_MAX], outer[HEAD_MAX];
	size_t n = put_head(inner, field, packed->len);

	fwrite_unlocked(outer, 1, put_head(outer, FIELD_PACKET, n + packed->len), out);
	fwrite_unlocked(inner, 1, n, out);
	fwrite_unlocked(packed->buf, 1, packed->len, out);
}
