// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - what a job has found, for programs. Times are nanoseconds. */
#include "frontend/jobs/jobs.h"

#include "frontend/lib/json.h"

#include <inttypes.h>
#include <stdio.h>

static void put_buckets(const struct latency_row *row, FILE *out)
{
	const char *comma = "";

	fputs(", \"histogram\": [", out);
	for (unsigned int b = 0; b < LATENCY_REPORT_BUCKETS; b++) {
		if (!row->bucket[b])
			continue;
		fprintf(out, "%s[%" PRIu64 ", %" PRIu64 "]", comma, latency_bucket_begin(b),
			row->bucket[b]);
		comma = ", ";
	}
	fputs("]}", out);
}

static void put_row(const struct job_result *r, const struct latency_row *row, FILE *out)
{
	fputs("{\"name\": ", out);
	json_text(row->from, out);
	if (*row->to) {
		fputs(", \"to\": ", out);
		json_text(row->to, out);
	}
	fprintf(out, ", \"count\": %" PRIu64, row->count);
	if (latency_words(&r->report)->errors)
		fprintf(out, ", \"errors\": %" PRIu64, row->errors);
	fprintf(out,
		", \"total_ns\": %" PRIu64 ", \"mean_ns\": %" PRIu64 ", \"p50_ns\": %" PRIu64
		", \"p99_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64,
		row->total, latency_mean(row), latency_percentile(row, 50),
		latency_percentile(row, 99), row->max);
	put_buckets(row, out);
}

static void put_run(const struct job_run *run, FILE *out)
{
	fprintf(out, "{\"pid\": %d, \"comm\": ", run->pid);
	json_text(run->comm, out);
}

static void put_wait(const struct job_wait *w, FILE *out)
{
	fprintf(out,
		"{\"from_ns\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"cpu\": %u, \"preempted\": %s, "
		"\"task\": ",
		w->from, w->ns, w->cpu, w->preempted ? "true" : "false");
	put_run(&w->task, out);
	fputs("}, \"ran\": [", out);
	for (size_t i = 0; i < JOB_WHO && w->who[i].ns; i++) {
		fputs(i ? ", " : "", out);
		put_run(&w->who[i], out);
		fprintf(out, ", \"ns\": %" PRIu64 "}", w->who[i].ns);
	}
	fputs("]}", out);
}

void job_json(const struct job_result *r, size_t rows, FILE *out)
{
	struct latency_row sum;

	fputs("{\"what\": ", out);
	json_text(r->report.tracer, out);
	fputs(", \"rows\": [", out);
	for (size_t i = 0; i < r->report.nr && i < rows; i++) {
		fputs(i ? ",\n " : "\n ", out);
		put_row(r, &r->report.row[i], out);
	}
	latency_report_sum(&r->report, &sum);
	snprintf(sum.from, sizeof(sum.from), "all");
	fputs("],\n\"all\": ", out);
	put_row(r, &sum, out);
	fputs(",\n\"worst\": [", out);
	for (size_t i = 0; i < r->nr_worst; i++) {
		fputs(i ? ",\n " : "\n ", out);
		put_wait(&r->worst[i], out);
	}
	fprintf(out,
		"],\n\"unbegun\": %" PRIu64 ", \"unended\": %" PRIu64 ", \"gaps\": %" PRIu64 "}\n",
		r->unbegun, r->unended, r->report.gaps);
}
