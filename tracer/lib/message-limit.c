// SPDX-License-Identifier: GPL-2.0-or-later
/* message-limit.c - see message-limit.h */
#include "tracer/lib/message-limit.h"
#include "tracer/lib/host-time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct message_limit *message_limit_new(void)
{
	struct message_limit *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->now_ms = host_ms;
	pthread_mutex_init(&l->lock, NULL);
	return l;
}

void message_limit_free(struct message_limit *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static struct message_place *place_find(struct message_limit *l, const char *name)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->place[i].name == name)
			return &l->place[i];
	if (l->nr == MESSAGE_PLACES)
		return &l->place[MESSAGE_PLACES - 1];
	l->place[l->nr].name = name;
	return &l->place[l->nr++];
}

static bool is_over(const struct message_place *p, int64_t now)
{
	return now - p->since_ms >= MESSAGE_PERIOD_MS;
}

bool message_limit_admit(struct message_limit *l, const char *place, const char *text)
{
	int64_t now = l->now_ms();
	struct message_place *p;
	bool may;

	pthread_mutex_lock(&l->lock);
	p = place_find(l, place);
	/* What was left out before is told by then: message_limit_rest(). */
	if (!p->left_out && (!p->said || is_over(p, now))) {
		p->since_ms = now;
		p->said = 0;
	}
	may = p->said < MESSAGE_LIMIT;
	p->said += may;
	if (!may) {
		p->left_out++;
		snprintf(p->text, sizeof(p->text), "%s", text);
		atomic_store(&l->waits, true);
	}
	pthread_mutex_unlock(&l->lock);
	return may;
}

static void rest_tell(struct message_place *p, char *line, size_t len)
{
	snprintf(line, len, "and %" PRIu64 " more like this one: %s", p->left_out, p->text);
	p->left_out = 0;
	p->said = 0;
}

bool message_limit_rest(struct message_limit *l, bool all, char *line, size_t len)
{
	bool told = false, waits = false;
	int64_t now;

	if (!atomic_load(&l->waits))
		return false;
	now = l->now_ms();
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->nr; i++) {
		struct message_place *p = &l->place[i];

		if (p->left_out && !told && (all || is_over(p, now))) {
			rest_tell(p, line, len);
			told = true;
		}
		waits |= p->left_out > 0;
	}
	atomic_store(&l->waits, waits);
	pthread_mutex_unlock(&l->lock);
	return told;
}
