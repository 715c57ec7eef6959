// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-export.c - records of any kind and content, in all formats of hvtrace export, with those of
 * a host or without: what is written stays well formed, and in Perfetto's format slices are
 * balanced and time does not go back. The formats of the events are sound: those that are not are
 * libtraceevent's to cope with.
 */
#include "tests/unit/export-world.h"
#include "tests/unit/host-scene.h"
#include "tests/unit/read-perf.h"

#include "frontend/export/perfetto.pb-c.h"
#include "frontend/lib/json.h"

#include <dirent.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* --- records -----------------------------------------------------------------------------------
 */

struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned int take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* Its kind, task and length, and what there is for the rest: any bytes, or a call's small numbers.
 */
static size_t take_record(struct input *in, uint8_t *record)
{
	static const uint16_t kinds[] = {MADE_FUNCTION, MADE_STACK,    MADE_PRINT,   MADE_EXIT,
					 MADE_ENTRY,	MADE_SWITCH,   MADE_IRQ,     SCENE_WAKING,
					 SCENE_NEWTASK, SCENE_IRQ_OFF, SCENE_IRQ_ON, SCENE_ODD,
					 MADE_ENTRY,	MADE_EXIT,     MADE_EXIT,    999};
	unsigned int kind = take(in), task = take(in);
	struct made_record r = {.type = kinds[kind % 16], .pid = (int32_t)(task % 16)};
	size_t len = take(in) % 64 + 1;

	if (kind & 0x80 && (r.type == MADE_ENTRY || r.type == MADE_EXIT)) {
		r.graph.func = MADE_FUNC(take(in) % 8);
		r.graph.depth = (int32_t)(take(in) % 8);
		memcpy(record, &r, 40);
		return 40;
	}
	if (kind & 0x40)
		r.pid = (int32_t)(task * 0x1010101U);
	/* Of one that ends before its text libtraceevent asks for all memory that there is. */
	if (r.type == MADE_PRINT && len < 16)
		len = 16;
	memset(record, 0, 96);
	memcpy(record, &r, 8);
	for (size_t i = 0; i < len; i++)
		record[8 + i] = (uint8_t)take(in);
	return 8 + (len + 3) / 4 * 4;
}

static void take_scene(struct input *in, struct scene *s)
{
	uint8_t record[128];

	while (in->left && s->nr < SCENE_PAGES) {
		uint64_t at = take(in) << 16;

		/* Up to where they do not lie any more, a byte can tell so much. */
		scene_page(s, take(in) % 8 ? at : -at);
		for (unsigned int i = 0; i < 24 && in->left; i++) {
			struct made_page *p = scene_now(s);
			uint64_t ts = p->last + take(in);
			size_t len = take_record(in, record);

			made_page_event(p, ts, record, len);
		}
	}
}

/* Its tasks are those of vCPUs, others, and such as the guest has. */
static void take_host_record(struct input *in, struct made_page *p)
{
	static const uint16_t kinds[] = {HOST_EXIT, HOST_ENTRY, HOST_SWITCH, HOST_SWITCH, 999};
	unsigned int kind = take(in), task = take(in);
	struct host_record r = {.type = kinds[kind % 5], .pid = (int32_t)(task % 16)};
	size_t len = kind & 0x80 ? 8 + take(in) % 32 / 4 * 4 : sizeof(r);

	if (task & 0x10)
		r.pid += HOST_TID;
	for (size_t i = 0; i < sizeof(r.comm); i++)
		r.comm[i] = (char)take(in);
	r.prev = HOST_TID + (int32_t)(take(in) % 4);
	r.next = HOST_TID + (int32_t)(take(in) % 4);
	r.state = take(in);
	made_page_event(p, p->last + take(in), &r, len);
}

static void take_host(struct input *in, struct host_scene *s)
{
	do {
		uint64_t at = take(in) << 16;

		host_page(s, MADE_T0 + (take(in) % 8 ? at : -at), take(in) % 4);
		for (unsigned int i = 0; i < 24 && in->left; i++)
			take_host_record(in, &s->page[s->nr - 1]);
	} while (in->left && s->nr < HOST_PAGES);
}

/* --- what is written ---------------------------------------------------------------------------
 */

static void check_text(const struct exported *e)
{
	const uint8_t *at = (const uint8_t *)e->text;
	size_t left = e->len;

	while (left) {
		size_t n = utf8_len(at, left);

		require(n && (*at >= ' ' || *at == '\n'));
		at += n;
		left -= n;
	}
}

/* How many slices are open on each track, and when it had its last event. */
struct level {
	uint64_t uuid, last;
	long open;
};

static void check_event(const Pf__TracePacket *p, struct level *levels, size_t *nr)
{
	const Pf__TrackEvent *ev = p->track_event;
	size_t i = 0;

	while (i < *nr && levels[i].uuid != ev->track_uuid)
		i++;
	if (i == *nr)
		levels[(*nr)++] = (struct level){.uuid = ev->track_uuid};
	require(*nr < 4096 && p->timestamp >= levels[i].last);
	levels[i].last = p->timestamp;
	levels[i].open += (ev->type == PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN) -
			  (ev->type == PF__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	require(levels[i].open >= 0);
}

static void check_perfetto(const struct exported *e)
{
	static struct level levels[4096];
	Pf__Trace *t = pf__trace__unpack(NULL, e->len, (const uint8_t *)e->text);
	size_t nr = 0;

	require(t != NULL);
	for (size_t i = 0; i < t->n_packet; i++)
		if (t->packet[i]->track_event)
			check_event(t->packet[i], levels, &nr);
	for (size_t i = 0; i < nr; i++)
		require(!levels[i].open);
	pf__trace__free_unpacked(t, NULL);
}

static void check_perf(const struct exported *e)
{
	struct read_perf p;
	struct read_perf_record r;
	int rc;

	require(read_perf_begin(&p, e->text, e->len));
	while ((rc = read_perf_next(&p, &r)) == 1)
		;
	require(!rc && p.nr_attrs);
}

/* --- a folder ----------------------------------------------------------------------------------
 */

/* All files, and those in folders of it. */
static void empty(const char *folder)
{
	const struct dirent *file;
	DIR *dir = opendir(folder);
	char name[320];

	while (dir && (file = readdir(dir))) {
		if (*file->d_name == '.')
			continue;
		snprintf(name, sizeof(name), "%.160s/%.150s", folder, file->d_name);
		if (unlink(name))
			empty(name);
	}
	if (dir)
		closedir(dir);
	rmdir(folder);
}

/* What there is not is nothing. */
static struct exported export_folder(const struct decode_world *w, const struct decode_world *host,
				     const char *format)
{
	char in[] = "/tmp/fuzz-export.XXXXXX", folder[64];
	struct exported e = {.text = NULL};

	require(mkdtemp(in) != NULL);
	snprintf(folder, sizeof(folder), "%s/out", in);
	e.result = export_to_folder(w, host, format, folder);
	empty(folder);
	require(!rmdir(in));
	return e;
}

/* Formats and names are the same each time, and take longer than all the rest. */
static struct decode_world open_world(struct dat *d, struct formats **formats)
{
	struct decode_world w = {.d = d};

	if (!*formats) {
		w = decode_world_of(d);
		*formats = w.f;
		records_close(w.r);
	}
	w.f = *formats;
	w.r = records_open(d, RECORDS_ALL);
	require(w.r != NULL);
	return w;
}

static void close_world(const struct decode_world *w)
{
	records_close(w->r);
	dat_close(w->d);
}

static struct exported export_scene(struct scene *s, struct host_scene *h, const char *format)
{
	static struct formats *formats, *host_formats;
	struct decode_world w = open_world(scene_open(s), &formats), host;
	const struct decode_world *with = NULL;
	struct exported e;

	if (h->nr) {
		host = open_world(host_open_scene(h), &host_formats);
		with = &host;
	}
	e = export_is_folder(export_find(format)) ? export_folder(&w, with, format)
						  : export_both(&w, with, format);
	if (with)
		close_world(with);
	close_world(&w);
	return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scene s;
	static struct host_scene h;
	struct input in = {data, size};
	unsigned int nr = 0, choice;
	const char *format;
	struct exported e;

	while (export_name(nr))
		nr++;
	require(nr > 0);
	choice = take(&in);
	format = export_name(choice % nr);
	s = (struct scene){0};
	h = (struct host_scene){.nr = 0};
	if (choice >= 0x80)
		take_host(&in, &h);
	take_scene(&in, &s);
	e = export_scene(&s, &h, format);
	if (!strcmp(format, "perfetto"))
		check_perfetto(&e);
	else if (!strcmp(format, "perf"))
		check_perf(&e);
	else if (e.text && !export_is_binary(export_find(format)))
		check_text(&e);
	free(e.text);
	return 0;
}
