// SPDX-License-Identifier: GPL-2.0-or-later
/* hold.c - a histogram stays as long as somebody refers to it. */
#include "tracer/events/hist/internal.h"

void event_hist_get(struct event_hist *hist)
{
	hist->refs++;
}

void event_hist_put(struct event_hist *hist)
{
	if (--hist->refs)
		return;
	hist_map_free(hist->map);
	hist_spec_free(hist->spec);
	free(hist);
}
