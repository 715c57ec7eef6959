// SPDX-License-Identifier: GPL-2.0-or-later
/* message.c - see message.h */
#include "frontend/export/message.h"

/* protobuf.dev/programming-guides/encoding: length-delimited */
enum { WIRE_BYTES = 2 };

/* The bytes that it takes. */
static size_t put_varint(uint8_t *at, uint64_t n)
{
	size_t len = 0;

	for (; n >= 0x80; n >>= 7)
		at[len++] = (uint8_t)(n | 0x80);
	at[len++] = (uint8_t)n;
	return len;
}

size_t message_head(uint8_t *at, unsigned int field, size_t len)
{
	size_t n = put_varint(at, field << 3 | WIRE_BYTES);

	return n + put_varint(at + n, len);
}

void message_add(struct text *to, unsigned int field, const ProtobufCMessage *message)
{
	size_t len = protobuf_c_message_get_packed_size(message);
	uint8_t *at = (uint8_t *)text_begin(to, len + MESSAGE_HEAD_MAX);

	if (!at)
		return;
	at += message_head(at, field, len);
	protobuf_c_message_pack(message, at);
	text_end(to, (const char *)at + len);
}

void message_add_bytes(struct text *to, unsigned int field, const void *bytes, size_t len)
{
	uint8_t head[MESSAGE_HEAD_MAX];

	text_add(to, head, message_head(head, field, len));
	text_add(to, bytes, len);
}
