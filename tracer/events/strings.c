// SPDX-License-Identifier: GPL-2.0-or-later
/* strings.c - see strings.h */
#include "tracer/events/strings.h"
#include "tracer/lib/host-time.h"

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define STRING_MAX  256
#define STRINGS_MAX 65536 /* no guest makes us keep more */

struct string {
	uint64_t addr;
	char text[];
};

struct event_text {
	struct trace *t;
	pthread_mutex_t lock;
	void *strings; /* a tree of tsearch(3) */
	size_t nr;
	bool key_known;
	enum output_hash hash;
	uint64_t key[2];
};

struct event_text *event_text_new(struct trace *t)
{
	struct event_text *et = calloc(1, sizeof(*et));

	if (!et)
		return NULL;
	et->t = t;
	pthread_mutex_init(&et->lock, NULL);
	return et;
}

void event_text_free(struct event_text *et)
{
	if (!et)
		return;
	tdestroy(et->strings, free);
	pthread_mutex_destroy(&et->lock);
	free(et);
}

/* The guest may be gone; what the image has is there all the same. */
static int read_any(struct trace *t, uint64_t va, void *buf, size_t len)
{
	if (!guestsym_read(t->gs, va - t->guest.slide, buf, len))
		return 0;
	return t->m && !t->detached ? guest_read(&t->guest, va, buf, len) : -EFAULT;
}

/* --- strings --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	uint64_t x = ((const struct string *)a)->addr, y = ((const struct string *)b)->addr;

	return x < y ? -1 : x > y;
}

/* Up to its end or the page's; what is on the next page may not be there. */
static size_t string_read(struct trace *t, uint64_t addr, char buf[STRING_MAX])
{
	size_t len = 0;

	while (len < STRING_MAX - 1) {
		size_t part = 64 - (size_t)((addr + len) & 63);

		if (part > STRING_MAX - 1 - len)
			part = STRING_MAX - 1 - len;
		if (read_any(t, addr + len, buf + len, part))
			break;
		len += strnlen(buf + len, part);
		if (len < STRING_MAX - 1 && !buf[len])
			return len + 1;
	}
	buf[len] = '\0';
	return len ? len + 1 : 0;
}

static struct string *string_new(struct event_text *et, uint64_t addr)
{
	char buf[STRING_MAX] = "";
	size_t len = et->nr < STRINGS_MAX ? string_read(et->t, addr, buf) : 0;
	struct string *s = len ? malloc(sizeof(*s) + len) : NULL;

	if (!s)
		return NULL;
	s->addr = addr;
	memcpy(s->text, buf, len);
	if (tsearch(s, &et->strings, compare)) {
		et->nr++;
		return s;
	}
	free(s);
	return NULL;
}

/* INJECT_STRING in kernel/trace/trace_events_inject.c */
const char *event_string_own(uint64_t addr)
{
	return addr == EVENT_STRING_INJECTED ? "STATIC STRING CAN NOT BE INJECTED"
	       : addr == EVENT_STRING_EMPTY  ? ""
					     : NULL;
}

const char *event_text_string(struct event_text *et, uint64_t addr)
{
	const struct string wanted = {.addr = addr};
	const char *own = event_string_own(addr);
	struct string **found, *s;

	if (own)
		return own;
	pthread_mutex_lock(&et->lock);
	found = tfind(&wanted, &et->strings, compare);
	s = found ? *found : string_new(et, addr);
	pthread_mutex_unlock(&et->lock);
	return s ? s->text : NULL;
}

/* --- names ----------------------------------------------------------------------------------- */

/* The kernel replaces the enums that it is told of; others are left. */
static bool find_constant(void *arg, const char *name, uint64_t *value)
{
	struct event_text *et = arg;
	int64_t constant;

	if (guestsym_enumerator(et->t->gs, name, &constant))
		return false;
	*value = (uint64_t)constant;
	return true;
}

static uint64_t find_variable(void *arg, const char *name)
{
	struct event_text *et = arg;
	uint64_t link = guestsym_addr(et->t->gs, name);

	return link ? link + et->t->guest.slide : 0;
}

/* Not what the image has: the guest has set it since. */
static bool read_variable(void *arg, uint64_t addr, uint64_t *value)
{
	struct trace *t = ((struct event_text *)arg)->t;

	return t->m && !t->detached && !guest_read(&t->guest, addr, value, sizeof(*value));
}

static uint32_t type_size(void *arg, const char *name)
{
	static const char *const tags[] = {"struct ", "union "};
	struct event_text *et = arg;
	uint32_t size;

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (!strncmp(name, tags[i], strlen(tags[i])))
			name += strlen(tags[i]);
	return guestsym_type_size(et->t->gs, name, &size) ? 0 : size;
}

void event_text_names(struct event_text *et, struct expr_names *names)
{
	struct trace *t = et->t;
	uint64_t tick = t->m && t->guest.at.tick_nsec != GUEST_NONE
				? guest_image_u64(&t->guest, t->guest.at.tick_nsec, 0)
				: 0;

	*names = (struct expr_names){
		.arg = et,
		.constant = find_constant,
		.variable = find_variable,
		.read = read_variable,
		.type_size = type_size,
		.hz = tick && tick <= NS_PER_S ? (unsigned int)((NS_PER_S + tick / 2) / tick) : 0,
	};
}

/* --- pointers -------------------------------------------------------------------------------- */

/* lib/vsprintf.c, 6.1 */
static enum output_hash key_read(struct trace *t, uint64_t key[2])
{
	uint64_t plain = guestsym_addr(t->gs, "no_hash_pointers"),
		 filled = guestsym_addr(t->gs, "filled_random_ptr_key"),
		 at = guestsym_addr(t->gs, "ptr_key"), slide = t->guest.slide;
	bool set = false;

	if (!at || !filled || !t->m || t->detached)
		return OUTPUT_HASH_NONE;
	if (plain && !guest_read(&t->guest, plain + slide, &set, sizeof(set)) && set)
		return OUTPUT_HASH_NONE;
	if (guest_read(&t->guest, filled + slide, &set, sizeof(set)) || !set)
		return OUTPUT_HASH_EARLY;
	return guest_read(&t->guest, at + slide, key, 2 * sizeof(*key)) ? OUTPUT_HASH_NONE
									: OUTPUT_HASH_KEY;
}

enum output_hash event_text_key(struct event_text *et, uint64_t key[2])
{
	enum output_hash hash;

	pthread_mutex_lock(&et->lock);
	if (!et->key_known) {
		et->hash = key_read(et->t, et->key);
		et->key_known = et->hash == OUTPUT_HASH_KEY;
	}
	hash = et->hash;
	memcpy(key, et->key, sizeof(et->key));
	pthread_mutex_unlock(&et->lock);
	return hash;
}
