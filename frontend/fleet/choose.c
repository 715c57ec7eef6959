// SPDX-License-Identifier: GPL-2.0-or-later
/* choose.c - see choose.h */
#include "frontend/fleet/choose.h"
#include "frontend/lib/patience.h"
#include "vmm/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fleet_is_asked(const struct fleet_choice *c, int nr_names)
{
	return c->all || c->labels.nr || nr_names > 1;
}

/* "gdb:unix:/run/web.gdb" is called web.gdb, a domain as it is. */
static void name_guest(struct fleet_name *g, const char *target)
{
	const char *last = strncmp(target, "gdb:", 4) ? target : strrchr(target, '/');

	snprintf(g->target, sizeof(g->target), "%s", target);
	snprintf(g->name, sizeof(g->name), "%s",
		 !last ? target + 4 : last + (*last == '/' && last != target));
	for (char *c = g->name; *c; c++)
		if (*c == '/')
			*c = '_';
	if (*g->name == '.')
		*g->name = '_';
}

/* Two of one name would record to one file. */
static bool are_distinct(const struct fleet_name *guests, int nr)
{
	for (int i = 0; i < nr; i++)
		for (int k = 0; k < i; k++)
			if (!strcmp(guests[i].name, guests[k].name)) {
				fprintf(stderr,
					"hvtrace: two of the guests are called %s: name each once\n",
					guests[i].name);
				return false;
			}
	return true;
}

static int take_names(char *const *names, int nr, struct fleet_name *guests)
{
	for (int i = 0; i < nr; i++) {
		if (!*names[i] || strlen(names[i]) >= sizeof(guests->target)) {
			fprintf(stderr, "hvtrace: '%.40s' is no name of a guest\n", names[i]);
			return FLEET_USAGE;
		}
		name_guest(&guests[i], names[i]);
	}
	return are_distinct(guests, nr) ? nr : FLEET_USAGE;
}

/* --- those of libvirt ------------------------------------------------------------------------ */

static bool has_labels(const struct machine_listing *l, const struct option_list *labels)
{
	for (size_t i = 0; i < labels->nr; i++) {
		const char *equals = strchr(labels->values[i], '=');
		char key[128];

		snprintf(key, sizeof(key), "%.*s", (int)(equals - labels->values[i]),
			 labels->values[i]);
		if (!machine_has_label(l, key, equals + 1))
			return false;
	}
	return true;
}

static bool labels_are_right(const struct option_list *labels)
{
	for (size_t i = 0; i < labels->nr; i++) {
		const char *label = labels->values[i];

		if (strcspn(label, "=") < 128 && strchr(label, '=') && *label != '=')
			continue;
		fprintf(stderr, "hvtrace: --label %s: a label is KEY=VALUE, such as tier=prod\n",
			label);
		return false;
	}
	return true;
}

static int say_none(const struct fleet_choice *c, int running)
{
	if (!running)
		fprintf(stderr, "hvtrace: no guest of %s runs: hvtrace list shows what there is\n",
			c->connect ? c->connect : "qemu:///system");
	else
		fprintf(stderr,
			"hvtrace: none of the %d guests that run has this label in its metadata "
			"(virsh dumpxml shows them)\n",
			running);
	return -1;
}

static int take_listed(const struct fleet_choice *c, const struct machine_listing *list, int nr,
		       struct fleet_name *guests)
{
	int chosen = 0, running = 0;

	for (int i = 0; i < nr; i++) {
		if (strcmp(list[i].state, "running") != 0)
			continue;
		running++;
		if (!has_labels(&list[i], &c->labels))
			continue;
		if (chosen < FLEET_GUESTS_MAX)
			name_guest(&guests[chosen], list[i].name);
		chosen++;
	}
	if (chosen > FLEET_GUESTS_MAX) {
		fprintf(stderr, "hvtrace: %d guests are too many at once: %d at most (--label)\n",
			chosen, FLEET_GUESTS_MAX);
		return -1;
	}
	if (!chosen)
		return say_none(c, running);
	return are_distinct(guests, chosen) ? chosen : -1;
}

static int list_guests(const char *uri, struct machine_listing **list, struct patience *p)
{
	const struct machine_patience patience = {patience_is_over, p};
	char err[512];
	int nr;

	patience_for(p, "waiting for libvirt");
	nr = machine_list(uri, &patience, list, err, sizeof(err));
	patience_for(p, NULL);
	if (nr < 0)
		fprintf(stderr, "hvtrace: %s\n", err);
	return nr;
}

static int choose_listed(const struct fleet_choice *c, struct fleet_name *guests)
{
	struct machine_listing *list = NULL;
	struct patience patience;
	int nr, chosen;

	if (patience_begin(&patience))
		return -1;
	nr = list_guests(c->connect, &list, &patience);
	chosen = nr < 0 ? -1 : take_listed(c, list, nr, guests);
	machine_list_free(list, nr);
	patience_end(&patience, 0);
	return chosen;
}

int fleet_choose(const struct fleet_choice *c, char *const *names, int nr_names,
		 struct fleet_name **guests)
{
	bool listed = c->all || c->labels.nr;
	int nr;

	*guests = NULL;
	if (!labels_are_right(&c->labels))
		return FLEET_USAGE;
	if (listed && nr_names) {
		fprintf(stderr, "hvtrace: %s is among all that --%s stands for: leave one out\n",
			names[0], c->all ? "all" : "label");
		return FLEET_USAGE;
	}
	if (nr_names > FLEET_GUESTS_MAX) {
		fprintf(stderr, "hvtrace: %d guests at once at most\n", FLEET_GUESTS_MAX);
		return FLEET_USAGE;
	}
	*guests = calloc(listed ? FLEET_GUESTS_MAX : (size_t)nr_names, sizeof(**guests));
	if (!*guests) {
		fprintf(stderr, "hvtrace: no memory\n");
		return -1;
	}
	nr = listed ? choose_listed(c, *guests) : take_names(names, nr_names, *guests);
	if (nr < 0) {
		free(*guests);
		*guests = NULL;
	}
	return nr;
}
