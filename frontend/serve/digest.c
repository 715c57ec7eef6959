// SPDX-License-Identifier: GPL-2.0-or-later
/* digest.c - see digest.h */
#include "frontend/serve/digest.h"

#include "frontend/lib/file.h"
#include "frontend/serve/json-library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SIZE_MAX_JSON (32 << 20)
#define DEPTH_MAX     16
#define SECONDS_MAX   1e9

/* --- values -------------------------------------------------------------------------------------
 */

static struct json_object *member(const struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	if (!jsonc_library()->json_object_is_type(o, json_type_object) ||
	    !jsonc_library()->json_object_object_get_ex(o, key, &value))
		return NULL;
	return value;
}

/* What is no number, or negative, is 0. */
static uint64_t number(const struct json_object *o)
{
	int64_t value = o ? jsonc_library()->json_object_get_int64(o) : 0;

	return value > 0 ? (uint64_t)value : 0;
}

static void text(const struct json_object *o, const char *key, char *to, size_t size)
{
	struct json_object *value = member(o, key);

	snprintf(to, size, "%s",
		 value && jsonc_library()->json_object_is_type(value, json_type_string)
			 ? jsonc_library()->json_object_get_string(value)
			 : "");
}

const char *digest_missing(void)
{
	return jsonc_library_missing();
}

/* To be put; NULL with *rc. */
static struct json_object *read_object(const char *path, int *rc)
{
	struct json_tokener *tokener = NULL;
	struct json_object *o = NULL;
	struct file_bytes file;

	if (!digest_missing())
		tokener = jsonc_library()->json_tokener_new_ex(DEPTH_MAX);
	*rc = tokener ? file_read_upto(&file, path, SIZE_MAX_JSON) : -ENOMEM;
	if (!*rc) {
		if (file.len)
			o = jsonc_library()->json_tokener_parse_ex(tokener, file.data,
								   (int)file.len);
		if (!jsonc_library()->json_object_is_type(o, json_type_object)) {
			jsonc_library()->json_object_put(o);
			o = NULL;
			*rc = -EBADMSG;
		}
		file_free(&file);
	}
	if (tokener)
		jsonc_library()->json_tokener_free(tokener);
	return o;
}

/* --- a summary ----------------------------------------------------------------------------------
 */

static void read_trace(struct digest_summary *s, const struct json_object *o)
{
	const struct json_object *pauses = member(o, "standstill");
	const struct json_object *vcpus = member(o, "cpus");

	s->records = number(member(o, "events"));
	s->lost = number(member(o, "lost"));
	s->stood_ns = number(member(pauses, "total_ns"));
	s->longest_ns = number(member(pauses, "longest_ns"));
	if (jsonc_library()->json_object_is_type(vcpus, json_type_array))
		s->vcpus = (unsigned int)jsonc_library()->json_object_array_length(vcpus);
}

int digest_summary(struct digest_summary *s, const char *path)
{
	int rc;
	struct json_object *o = read_object(path, &rc), *seconds;

	*s = (struct digest_summary){0};
	if (!o)
		return rc;
	text(o, "end", s->end, sizeof(s->end));
	text(o, "reason", s->reason, sizeof(s->reason));
	text(o, "release", s->release, sizeof(s->release));
	seconds = member(o, "seconds");
	s->seconds = seconds ? jsonc_library()->json_object_get_double(seconds) : 0;
	/* No number, and what no recording lasts, are nothing that can be reckoned with. */
	if (!(s->seconds >= 0 && s->seconds <= SECONDS_MAX))
		s->seconds = 0;
	s->bytes = number(member(member(o, "output"), "bytes"));
	read_trace(s, o);
	jsonc_library()->json_object_put(o);
	return 0;
}

int digest_shipped(struct digest_shipped *s, const char *path)
{
	int rc;
	struct json_object *o = read_object(path, &rc);

	*s = (struct digest_shipped){0};
	if (!o)
		return rc;
	s->records = number(member(o, "records"));
	s->batches = number(member(o, "batches"));
	s->bytes = number(member(o, "packed_bytes"));
	s->missed = number(member(o, "missed"));
	s->spool_batches = number(member(o, "spool_batches"));
	s->lost = number(member(o, "lost"));
	jsonc_library()->json_object_put(o);
	return 0;
}

/* --- rows ---------------------------------------------------------------------------------------
 */

static unsigned int bucket_of(uint64_t begin)
{
	unsigned int bucket = 0;

	while (bucket + 1 < LATENCY_REPORT_BUCKETS && latency_bucket_begin(bucket + 1) <= begin)
		bucket++;
	return bucket;
}

/* [[where it begins, how many], ...] */
static void read_histogram(struct digest_row *row, const struct json_object *o)
{
	size_t nr = jsonc_library()->json_object_is_type(o, json_type_array)
			    ? jsonc_library()->json_object_array_length(o)
			    : 0;

	for (size_t i = 0; i < nr && i < LATENCY_REPORT_BUCKETS; i++) {
		struct json_object *pair = jsonc_library()->json_object_array_get_idx(o, i);

		if (!jsonc_library()->json_object_is_type(pair, json_type_array) ||
		    jsonc_library()->json_object_array_length(pair) != 2)
			continue;
		row->bucket[bucket_of(
			number(jsonc_library()->json_object_array_get_idx(pair, 0)))] +=
			number(jsonc_library()->json_object_array_get_idx(pair, 1));
	}
}

static void read_row(const struct json_object *o, digest_row_fn *tell, void *arg, bool all)
{
	struct digest_row row = {0};

	if (!jsonc_library()->json_object_is_type(o, json_type_object))
		return;
	text(o, "name", row.name, sizeof(row.name));
	row.total_ns = number(member(o, "total_ns"));
	row.max_ns = number(member(o, "max_ns"));
	row.count = number(member(o, "count"));
	row.errors = number(member(o, "errors"));
	read_histogram(&row, member(o, "histogram"));
	tell(arg, &row, all);
}

int digest_rows(const char *path, digest_row_fn *tell, void *arg)
{
	int rc;
	struct json_object *o = read_object(path, &rc), *rows, *all;
	size_t nr;

	if (!o)
		return rc;
	rows = member(o, "rows");
	all = member(o, "all");
	if (jsonc_library()->json_object_is_type(rows, json_type_array) && all) {
		nr = jsonc_library()->json_object_array_length(rows);
		for (size_t i = 0; i < nr; i++)
			read_row(jsonc_library()->json_object_array_get_idx(rows, i), tell, arg,
				 false);
		read_row(all, tell, arg, true);
	} else {
		rc = -EBADMSG;
	}
	jsonc_library()->json_object_put(o);
	return rc;
}
