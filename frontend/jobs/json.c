// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - what a job has found, for programs. Times are nanoseconds. */
#include "frontend/jobs/jobs.h"

#include "frontend/lib/json.h"

#include <stdio.h>

static void put_buckets(const struct latency_row *row, struct json *j)
{
	json_begin_array(j, "histogram");
	for (unsigned int b = 0; b < LATENCY_REPORT_BUCKETS; b++) {
		if (!row->bucket[b])
			continue;
		json_begin_array(j, NULL);
		json_put_number(j, NULL, latency_bucket_begin(b));
		json_put_number(j, NULL, row->bucket[b]);
		json_end_array(j);
	}
	json_end_array(j);
}

static void put_row(const struct job_result *r, const char *key, const struct latency_row *row,
		    struct json *j)
{
	json_begin_object(j, key);
	json_put_text(j, "name", row->from);
	if (*row->to)
		json_put_text(j, "to", row->to);
	json_put_number(j, "count", row->count);
	if (latency_words(&r->report)->errors)
		json_put_number(j, "errors", row->errors);
	json_put_number(j, "total_ns", row->total);
	json_put_number(j, "mean_ns", latency_mean(row));
	json_put_number(j, "p50_ns", latency_percentile(row, 50));
	json_put_number(j, "p99_ns", latency_percentile(row, 99));
	json_put_number(j, "max_ns", row->max);
	put_buckets(row, j);
	json_end_object(j);
}

static void put_run(const struct job_run *run, struct json *j)
{
	json_put_signed(j, "pid", run->pid);
	json_put_text(j, "comm", run->comm);
}

static void put_wait(const struct job_wait *w, struct json *j)
{
	json_begin_object(j, NULL);
	json_put_number(j, "from_ns", w->from);
	json_put_number(j, "ns", w->ns);
	json_put_number(j, "cpu", w->cpu);
	json_put_bool(j, "preempted", w->preempted);
	json_begin_object(j, "task");
	put_run(&w->task, j);
	json_end_object(j);
	json_begin_array(j, "ran");
	for (size_t i = 0; i < JOB_WHO && w->who[i].ns; i++) {
		json_begin_object(j, NULL);
		put_run(&w->who[i], j);
		json_put_number(j, "ns", w->who[i].ns);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

void job_json(const struct job_result *r, size_t rows, FILE *out)
{
	struct json j = {.out = out};
	struct latency_row sum;

	json_begin_object(&j, NULL);
	json_put_text(&j, "what", r->report.tracer);
	json_begin_rows(&j, "rows");
	for (size_t i = 0; i < r->report.nr && i < rows; i++)
		put_row(r, NULL, &r->report.row[i], &j);
	json_end_array(&j);
	latency_report_sum(&r->report, &sum);
	snprintf(sum.from, sizeof(sum.from), "all");
	put_row(r, "all", &sum, &j);
	json_begin_rows(&j, "worst");
	for (size_t i = 0; i < r->nr_worst; i++)
		put_wait(&r->worst[i], &j);
	json_end_array(&j);
	json_put_number(&j, "unbegun", r->unbegun);
	json_put_number(&j, "unended", r->unended);
	json_put_number(&j, "gaps", r->report.gaps);
	json_end_object(&j);
}
