/* SPDX-License-Identifier: GPL-2.0-or-later */
/* send-snapshot.h - the guest, saved to who has asked for it. */
#ifndef HVTRACE_FRONTEND_CONTROL_SEND_SNAPSHOT_H
#define HVTRACE_FRONTEND_CONTROL_SEND_SNAPSHOT_H

#include "frontend/control/server.h"
#include "frontend/control/wire.h"

/*
 * All answers of WIRE_SAVE but the last, which is complete but for its version. The guest stands
 * meanwhile: who takes them too slowly, or has gone, gets no more.
 */
void send_snapshot(const struct control_saver *saver, const struct wire *wire,
		   struct wire_message *answer);

#endif
