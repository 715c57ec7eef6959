// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dat-client.c - a trace.dat as libtracecmd reads it: each record of each buffer has a format of
 * which every field is there, and comes behind the one before it.
 *
 * usage: dat-client FILE, which prints how many records there are
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trace-cmd.h>

struct reading {
	const char *buffer;
	unsigned long long last, nr;
	bool bad;
};

static int complain(struct reading *r, const char *what, const struct tep_record *rec)
{
	fprintf(stderr, "dat-client: buffer \"%s\", CPU %d, time %llu: %s\n", r->buffer, rec->cpu,
		rec->ts, what);
	r->bad = true;
	return 1;
}

/* A field of so many bytes at a place that the record tells in 32 bits: two of 16. */
static bool is_there(const struct tep_format_field *f, const struct tep_record *rec)
{
	unsigned int where;

	if (f->offset + f->size > rec->size)
		return false;
	if (!(f->flags & TEP_FIELD_IS_DYNAMIC))
		return true;
	memcpy(&where, (const char *)rec->data + f->offset, sizeof(where));
	return (where & 0xffff) + (where >> 16) <= (unsigned int)rec->size;
}

static int see(struct tracecmd_input *in, struct tep_record *rec, int cpu, void *arg)
{
	struct tep_event *event = tep_find_event_by_record(tracecmd_get_tep(in), rec);
	struct reading *r = arg;
	struct tep_format_field **fields;

	(void)cpu;
	if (!event)
		return complain(r, "a record without a format", rec);
	if (rec->ts < r->last)
		return complain(r, "a record that is earlier than the one before", rec);
	r->last = rec->ts;
	r->nr++;
	fields = tep_event_fields(event);
	for (unsigned int i = 0; fields && fields[i]; i++) {
		/* Of a stack there are as many callers as its size says. */
		if (strcmp(event->system, "ftrace") && !is_there(fields[i], rec))
			complain(r, event->name, rec);
	}
	free(fields);
	return r->bad;
}

static bool read_buffer(struct tracecmd_input *in, const char *name)
{
	struct reading r = {.buffer = name};

	if (tracecmd_iterate_events(in, NULL, 0, see, &r) < 0)
		r.bad = true;
	printf("%llu %s\n", r.nr, name);
	return !r.bad;
}

int main(int argc, char **argv)
{
	struct tracecmd_input *in = argc == 2 ? tracecmd_open(argv[1], 0) : NULL;
	bool good;

	if (!in) {
		fprintf(stderr, "dat-client: %s\n", argc == 2 ? "cannot open it" : "one file");
		return 1;
	}
	good = read_buffer(in, "");
	for (int i = 0; i < tracecmd_buffer_instances(in); i++) {
		struct tracecmd_input *buffer = tracecmd_buffer_instance_handle(in, i);

		good &= buffer && read_buffer(buffer, tracecmd_buffer_instance_name(in, i));
		tracecmd_close(buffer);
	}
	tracecmd_close(in);
	return !good;
}
