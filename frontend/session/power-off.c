// SPDX-License-Identifier: GPL-2.0-or-later
/* power-off.c - see power-off.h */
#include "frontend/session/power-off.h"
#include "frontend/session/session.h"

#include <stdio.h>

#define WAIT_S 90 /* what systemd gives each unit to stop */

bool power_off_ask(struct session *s)
{
	char why[256];

	if (machine_has_ended(s->m, NULL))
		return false;
	if (machine_power_button(s->m, why, sizeof(why))) {
		fprintf(stderr, "hvtrace: the guest is ended, not shut down: %s\n", why);
		return false;
	}
	cancel_take(&s->cancel); /* what came before is answered by that */
	fprintf(stderr, "hvtrace: the guest shuts down (Ctrl-C again ends it at once)\n");
	return true;
}

bool power_off_wait(struct session *s)
{
	struct machine_event event;
	struct timespec began, now;

	session_wait(s, "shutting the guest down");
	clock_gettime(CLOCK_MONOTONIC, &began);
	do {
		machine_wait(s->m, &event, 100);
		session_waits(s);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!machine_has_ended(s->m, NULL) && !cancel_asked(&s->cancel) &&
		 now.tv_sec - began.tv_sec < WAIT_S);
	session_wait(s, NULL);
	if (cancel_asked(&s->cancel))
		return false;
	if (!machine_has_ended(s->m, NULL))
		fprintf(stderr, "hvtrace: the guest has not shut down in %d s: it is ended\n",
			WAIT_S);
	return true;
}
