// SPDX-License-Identifier: GPL-2.0-or-later
/* choose.c - see choose.h */
#include "frontend/fleet/choose.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/patience.h"
#include "frontend/lib/process.h"
#include "vmm/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool fleet_is_asked(const struct fleet_choice *c, int nr_names)
{
	return c->all || c->labels.nr || nr_names > 1;
}

/* It becomes the name of a file, and stands in front of lines: neither folders nor lines end in it.
 */
static void name_guest(struct fleet_name *g, const char *name)
{
	snprintf(g->name, sizeof(g->name), "%s", name);
	for (char *c = g->name; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ' || *c == 0x7f)
			*c = '_';
	if (*g->name == '.')
		*g->name = '_';
}

/* "gdb:unix:/run/web.gdb" is called web.gdb, a domain as it is. False: that is nothing. */
static bool take_name(struct fleet_name *g, const char *target)
{
	const char *stub = strncmp(target, "gdb:", 4) ? NULL : target + 4;
	const char *slash = stub ? strrchr(stub, '/') : NULL;

	if (strlen(target) >= sizeof(g->target))
		return false;
	strcpy(g->target, target);
	name_guest(g, slash ? slash + 1 : stub ? stub : target);
	return *g->name;
}

static const struct fleet_name *namesake(const struct fleet_name *guests, int nr, int i)
{
	for (int k = 0; k < nr; k++)
		if (k != i && !strcmp(guests[i].name, guests[k].name))
			return &guests[k];
	return NULL;
}

static void name_by_path(struct fleet_name *g)
{
	static const char stub[] = "gdb:unix:/";
	const char *path = g->target + strlen(stub);
	size_t room = sizeof(g->name) - 1;

	if (strncmp(g->target, stub, strlen(stub)) != 0)
		return;
	name_guest(g, strlen(path) > room ? path + strlen(path) - room : path);
}

/* Stubs in several folders may be called the same: then by the end of their whole path. */
static void tell_stubs_apart(struct fleet_name *guests, int nr)
{
	char name[sizeof(guests->name)];

	for (int i = 0; i < nr; i++) {
		if (!namesake(guests, nr, i))
			continue;
		strcpy(name, guests[i].name);
		for (int k = i; k < nr; k++)
			if (!strcmp(guests[k].name, name))
				name_by_path(&guests[k]);
	}
}

/* Two of one name would record to one file. */
static bool are_distinct(const struct fleet_name *guests, int nr)
{
	for (int i = 0; i < nr; i++)
		if (namesake(guests, nr, i)) {
			fprintf(stderr,
				"hvtrace: two of the guests are called %s: name each once\n",
				guests[i].name);
			return false;
		}
	return true;
}

static int take_names(char *const *names, int nr, struct fleet_name *guests)
{
	for (int i = 0; i < nr; i++)
		if (!take_name(&guests[i], names[i])) {
			fprintf(stderr, "hvtrace: '%.40s' is no name of a guest\n", names[i]);
			return -EXIT_USAGE;
		}
	tell_stubs_apart(guests, nr);
	return are_distinct(guests, nr) ? nr : -EXIT_USAGE;
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
	return -EXIT_FAILED;
}

/* One whose name has been cut is found by its UUID. */
static void take_domain(struct fleet_name *g, const struct machine_listing *l)
{
	bool cut = strlen(l->name) == sizeof(l->name) - 1 && *l->uuid;

	snprintf(g->target, sizeof(g->target), "%s", cut ? l->uuid : l->name);
	name_guest(g, l->name);
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
			take_domain(&guests[chosen], &list[i]);
		chosen++;
	}
	if (chosen > FLEET_GUESTS_MAX) {
		fprintf(stderr, "hvtrace: %d guests are too many at once: %d at most (--label)\n",
			chosen, FLEET_GUESTS_MAX);
		return -EXIT_FAILED;
	}
	if (!chosen)
		return say_none(c, running);
	return are_distinct(guests, chosen) ? chosen : -EXIT_FAILED;
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

/* Seen by the process that asks libvirt, and by this one. */
struct listed {
	const struct fleet_choice *choice;
	int nr; /* as fleet_choose() gives it */
	struct fleet_name guests[FLEET_GUESTS_MAX];
};

static int list_apart(void *arg)
{
	struct listed *l = arg;
	struct machine_listing *list = NULL;
	struct patience patience;
	int nr;

	if (patience_begin(&patience))
		return EXIT_FAILED;
	nr = list_guests(l->choice->connect, &list, &patience);
	l->nr = nr < 0 ? -EXIT_FAILED : take_listed(l->choice, list, nr, l->guests);
	machine_list_free(list, nr);
	return patience_end(&patience, l->nr < 0 ? EXIT_FAILED : EXIT_OK);
}

/*
 * What libvirt's library has once been asked it has descriptors for, which all that are forked
 * later would share: one guest's process would take what wakes another's.
 */
static int choose_listed(const struct fleet_choice *c, struct fleet_name *guests)
{
	struct listed *l =
		mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int nr;

	if (l == MAP_FAILED) {
		fprintf(stderr, "hvtrace: no memory\n");
		return -EXIT_FAILED;
	}
	l->choice = c;
	nr = -process_run(list_apart, l);
	if (!nr) {
		nr = l->nr;
		memcpy(guests, l->guests, (size_t)nr * sizeof(*guests));
	}
	munmap(l, sizeof(*l));
	return nr;
}

int fleet_choose(const struct fleet_choice *c, char *const *names, int nr_names,
		 struct fleet_name **guests)
{
	bool listed = c->all || c->labels.nr;
	int nr;

	*guests = NULL;
	if (!labels_are_right(&c->labels))
		return -EXIT_USAGE;
	if (listed && nr_names) {
		fprintf(stderr, "hvtrace: %s is among all that --%s stands for: leave one out\n",
			names[0], c->all ? "all" : "label");
		return -EXIT_USAGE;
	}
	if (nr_names > FLEET_GUESTS_MAX) {
		fprintf(stderr, "hvtrace: %d guests at once at most\n", FLEET_GUESTS_MAX);
		return -EXIT_USAGE;
	}
	*guests = calloc(listed ? FLEET_GUESTS_MAX : (size_t)nr_names, sizeof(**guests));
	if (!*guests) {
		fprintf(stderr, "hvtrace: no memory\n");
		return -EXIT_FAILED;
	}
	nr = listed ? choose_listed(c, *guests) : take_names(names, nr_names, *guests);
	if (nr < 0) {
		free(*guests);
		*guests = NULL;
	}
	return nr;
}
