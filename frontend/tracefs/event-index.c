// SPDX-License-Identifier: GPL-2.0-or-later
/* event-index.c - see event-index.h */
#include "frontend/tracefs/event-index.h"

#include <stdlib.h>
#include <string.h>

#define FTRACE "ftrace"

static int compare(const void *a, const void *b, void *arg)
{
	const struct guestsym_event_list *list = ((const struct event_index *)arg)->list;
	const struct guestsym_event *l = &list->v[*(const uint32_t *)a],
				    *r = &list->v[*(const uint32_t *)b];
	int systems = strcmp(l->system, r->system);

	return systems ? systems : strcmp(l->name, r->name);
}

/* The events are in order: note where each system's begin. */
static void find_systems(struct event_index *index)
{
	struct event_range *last = NULL;

	for (uint32_t n = 0; n < index->nr; n++) {
		const char *system = event_index_at(index, n)->system;

		if (!last || strcmp(last->system, system) != 0) {
			last = strcmp(system, FTRACE) ? &index->system[index->nr_systems++]
						      : &index->ftrace;
			*last = (struct event_range){
				.system = system, .first = n, .id = index->order[n]};
		}
		last->nr++;
		if (index->order[n] < last->id)
			last->id = index->order[n];
	}
}

struct event_index *event_index_new(const struct guestsym_event_list *list,
				    bool (*left_out)(const char *name))
{
	struct event_index *index = calloc(1, sizeof(*index));

	if (!index)
		return NULL;
	index->list = list;
	index->order = calloc(list->n + 1, sizeof(*index->order));
	index->system = calloc(list->n + 1, sizeof(*index->system));
	if (!index->order || !index->system) {
		event_index_free(index);
		return NULL;
	}
	for (uint32_t i = 0; i < list->n; i++)
		if (!guestsym_event_is_gone(&list->v[i]) &&
		    (strcmp(list->v[i].system, FTRACE) != 0 || !left_out(list->v[i].name)))
			index->order[index->nr++] = i;
	qsort_r(index->order, index->nr, sizeof(*index->order), compare, index);
	find_systems(index);
	return index;
}

void event_index_free(struct event_index *index)
{
	if (!index)
		return;
	free(index->order);
	free(index->system);
	free(index);
}

bool event_index_system(const struct event_index *index, const char *name, uint32_t *n)
{
	size_t low = 0, high = index->nr_systems;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = strcmp(name, index->system[mid].system);

		if (!order) {
			*n = (uint32_t)mid;
			return true;
		}
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}

const struct event_range *event_index_range(const struct event_index *index, uint32_t event)
{
	uint32_t n;

	if (event >= index->list->n)
		return NULL;
	return event_index_system(index, index->list->v[event].system, &n) ? &index->system[n]
									   : NULL;
}

bool event_index_event(const struct event_index *index, const struct event_range *range,
		       const char *name, uint32_t *n)
{
	uint32_t low = range->first, high = range->first + range->nr;

	while (low < high) {
		uint32_t mid = (low + high) / 2;
		int order = strcmp(name, event_index_at(index, mid)->name);

		if (!order) {
			*n = mid;
			return true;
		}
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}
