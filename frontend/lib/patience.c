// SPDX-License-Identifier: GPL-2.0-or-later
/* patience.c - see patience.h */
#include "frontend/lib/patience.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frontend/lib/output.h"

static void leave(void *arg, int signo)
{
	(void)arg;
	output_last_word("hvtrace: interrupted twice: left at once\n");
	_exit(CANCEL_STATUS(signo));
}

int patience_begin(struct patience *p)
{
	int rc;

	*p = (struct patience){.cancel.leave = leave};
	rc = cancel_start(&p->cancel);
	if (rc) {
		fprintf(stderr, "hvtrace: cannot start a thread: %s\n", strerror(-rc));
		return -1;
	}
	output_hurry(&p->cancel);
	/* Whom it asks may go at any time. */
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

void patience_for(struct patience *p, const char *what)
{
	meter_end(&p->meter);
	if (what)
		meter_begin(&p->meter, what, NULL);
	else
		p->meter.what = NULL;
}

bool patience_is_over(void *patience)
{
	struct patience *p = patience;
	bool over = cancel_asked(&p->cancel);

	if (p->meter.what && !over)
		meter_wait(&p->meter);
	return over;
}

int patience_end(struct patience *p, int status)
{
	int signo = cancel_asked(&p->cancel);

	patience_for(p, NULL);
	output_hurry(NULL);
	cancel_stop(&p->cancel);
	return signo ? CANCEL_STATUS(signo) : status;
}
