/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choose.h - which guests are meant by what a command was given: names, --all, --label. */
#ifndef HVTRACE_FRONTEND_FLEET_CHOOSE_H
#define HVTRACE_FRONTEND_FLEET_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "frontend/lib/options.h"

#define FLEET_GUESTS_MAX 1024

struct fleet_choice {
	struct option_list labels; /* KEY=VALUE; a guest has all of them */
	bool all;		   /* that run */
	const char *connect;	   /* URI of libvirt; NULL: the default */
};

#define FLEET_OPTION_ROWS(choice)                                                                  \
	OPT_FLAG(0, "all", &(choice)->all, "all guests of libvirt that run"),                      \
		OPT_LIST(0, "label", &(choice)->labels, "KEY=VALUE",                               \
			 "all that run and have this in their libvirt metadata; may be repeated")

struct fleet_name {
	char target[256]; /* as hvtrace attach takes it */
	char name[128];	  /* of files, and before what is printed of it: in one line, no '/' */
};

/* More than one guest may be meant. */
bool fleet_is_asked(const struct fleet_choice *c, int nr_names);
/*
 * Those that were named, or that libvirt has now: *guests, to be freed by free(), and their number.
 * Else an exit status, negative, and one line on stderr says why there is none. It has no threads
 * before, nor afterwards.
 */
int fleet_choose(const struct fleet_choice *c, char *const *names, int nr_names,
		 struct fleet_name **guests);

#endif
