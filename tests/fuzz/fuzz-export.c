// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-export.c - records of any kind and content, in all formats of hvtrace export: what is
 * written stays well formed, and in Perfetto's format slices are balanced and time does not go
 * back. The formats of the events are sound: those that are not are libtraceevent's to cope with.
 */
#include "tests/unit/export-world.h"
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

/* What there is not is nothing. */
static struct exported export_folder(const struct decode_world *w, const char *format)
{
	char in[] = "/tmp/fuzz-export.XXXXXX", folder[64], name[128];
	struct exported e = {.text = NULL};
	const struct dirent *file;
	DIR *dir;

	require(mkdtemp(in) != NULL);
	snprintf(folder, sizeof(folder), "%s/out", in);
	e.result = export_to_folder(w, format, folder);
	dir = opendir(folder);
	while (dir && (file = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%.60s", folder, file->d_name);
		unlink(name);
	}
	if (dir)
		closedir(dir);
	require(!rmdir(folder) && !rmdir(in));
	return e;
}

/* Formats and names are the same each time, and take longer than all the rest. */
static struct exported export_scene(struct scene *s, const char *format)
{
	static struct formats *formats;
	struct decode_world w = {.d = scene_open(s)};
	struct exported e;

	if (!formats) {
		w = decode_world_of(w.d);
		formats = w.f;
		records_close(w.r);
	}
	w.f = formats;
	w.r = records_open(w.d, RECORDS_ALL);
	require(w.r != NULL);
	e = export_is_folder(export_find(format)) ? export_folder(&w, format)
						  : export_in(&w, format);
	records_close(w.r);
	dat_close(w.d);
	return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scene s;
	struct input in = {data, size};
	const char *format;
	unsigned int nr = 0;
	struct exported e;

	while (export_name(nr))
		nr++;
	require(nr > 0);
	format = export_name(take(&in) % nr);
	s = (struct scene){0};
	take_scene(&in, &s);
	e = export_scene(&s, format);
	if (!strcmp(format, "perfetto"))
		check_perfetto(&e);
	else if (!strcmp(format, "perf"))
		check_perf(&e);
	else if (e.text && !export_is_binary(export_find(format)))
		check_text(&e);
	free(e.text);
	return 0;
}
