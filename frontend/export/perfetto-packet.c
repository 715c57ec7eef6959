// SPDX-License-Identifier: GPL-2.0-or-later
/* perfetto-packet.c - packets, one behind the other. */
#include "frontend/export/message.h"
#include "frontend/export/perfetto-local.h"

#include <stdlib.h>

/* Field 1 of Trace. */
enum { FIELD_PACKET = 1 };

void packet_write(const Pf__TracePacket *packet, FILE *out)
{
	size_t len = pf__trace_packet__get_packed_size(packet);
	uint8_t small[1024], *bytes = small;
	size_t head;

	if (len > sizeof(small) - MESSAGE_HEAD_MAX)
		bytes = malloc(len + MESSAGE_HEAD_MAX);
	if (!bytes)
		return;
	head = message_head(bytes, FIELD_PACKET, len);
	pf__trace_packet__pack(packet, bytes + head);
	fwrite_unlocked(bytes, 1, head + len, out);
	if (bytes != small)
		free(bytes);
}

void packet_write_packed(unsigned int field, const struct text *packed, uint32_t machine, FILE *out)
{
	uint8_t inner[MESSAGE_HEAD_MAX], outer[MESSAGE_HEAD_MAX], behind[16];
	Pf__TracePacket rest = PF__TRACE_PACKET__INIT;
	size_t n = message_head(inner, field, packed->len), more;

	/* The order of fields is free. */
	rest.has_machine_id = machine != 0;
	rest.machine_id = machine;
	more = pf__trace_packet__pack(&rest, behind);
	fwrite_unlocked(outer, 1, message_head(outer, FIELD_PACKET, n + packed->len + more), out);
	fwrite_unlocked(inner, 1, n, out);
	fwrite_unlocked(packed->buf, 1, packed->len, out);
	fwrite_unlocked(behind, 1, more, out);
}
