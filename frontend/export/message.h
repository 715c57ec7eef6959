/* SPDX-License-Identifier: GPL-2.0-or-later */
/* message.h - messages within messages, as protobuf's encoding has them, written piece by piece. */
#ifndef HVTRACE_FRONTEND_EXPORT_MESSAGE_H
#define HVTRACE_FRONTEND_EXPORT_MESSAGE_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/tracer.h"

/* What stands before the len bytes of a field, at most so many; its length. */
#define MESSAGE_HEAD_MAX 16
size_t message_head(uint8_t *at, unsigned int field, size_t len);
/* A message as a field of another one, of that number; bytes, or a text, likewise. */
void message_add(struct text *to, unsigned int field, const ProtobufCMessage *message);
void message_add_bytes(struct text *to, unsigned int field, const void *bytes, size_t len);

#endif
