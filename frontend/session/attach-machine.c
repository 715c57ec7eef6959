// SPDX-License-Identifier: GPL-2.0-or-later
/* attach-machine.c - attaches for a command: it has a terminal, and a process of its own. */
#include <signal.h>
#include <string.h>

#include "frontend/lib/output.h"
#include "frontend/session/attach.h"
#include "frontend/session/connect.h"

#define ERRORS_MS 1000 /* that what is said on stderr may wait for room */

/*
 * Ctrl-Z, and a terminal that does not let a job in the background write: who is stopped lets no
 * guest go when its time is over.
 */
static void ignore_job_control(void)
{
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
}

/* That one may be about to end; otherwise it takes long until it is known that it does not. */
static void tell_other(const struct attach *a)
{
	char text[256];

	if (connect_waits(a->target->name, text, sizeof(text)))
		fprintf(stderr, "hvtrace: %s\n", text);
}

int attach_machine(struct attach *a)
{
	int rc;

	/* It is somebody's guest: a terminal that takes nothing (Ctrl-S) is not to keep it traced.
	 */
	output_patience(ERRORS_MS);
	ignore_job_control();
	tell_other(a);
	session_wait(&a->s, "attaching to the guest");
	rc = attach_connect(a, session_stuck);
	session_wait(&a->s, NULL);
	if (rc && !session_cancelled(&a->s))
		connect_explain(a->target->name, a->s.err, sizeof(a->s.err));
	return rc;
}
