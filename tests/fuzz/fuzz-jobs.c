// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-jobs.c - events of any content, in any order, for all jobs: rows add up, and what is shown
 * of them is text.
 */
#include "tests/fuzz/input.h"
#include "tests/unit/jobs-world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Its kind and task, and any bytes, or small numbers where a pid or a function would be. */
static void take_record(struct input *in, struct story_record *r)
{
	static const uint16_t kinds[] = {
		STORY_SWITCH,  STORY_WAKING, STORY_WAKEUP,	STORY_ENTER,   STORY_EXIT,
		STORY_OPENAT,  MADE_STACK,   STORY_OPENAT_DONE, STORY_IRQS_ON, STORY_IRQS_OFF,
		MADE_FUNCTION, STORY_LEVEL,  STORY_START,	STORY_FINISH,  STORY_EXEC,
		MADE_ENTRY,    MADE_EXIT,    STORY_SWITCH};
	unsigned int kind = input_byte(in), task = input_byte(in) % 8;

	*r = (struct story_record){.type = kinds[kind % (sizeof(kinds) / sizeof(*kinds))],
				   .flags = kind >> 7,
				   .pid = (int32_t)task};
	if (r->type == STORY_SWITCH && kind & 0x40) {
		r->sw.prev_pid = (int32_t)task;
		r->sw.prev_state = 1L << input_byte(in) % 16;
		r->sw.next_pid = (int32_t)(input_byte(in) % 8);
	} else if (r->type == STORY_START || r->type == STORY_FINISH || r->type == MADE_ENTRY ||
		   r->type == MADE_EXIT) {
		r->init.func = MADE_FUNC(input_byte(in) % 8);
		r->init.ret = (int32_t)input_byte(in);
	} else if (kind & 0x40 && (r->type == STORY_ENTER || r->type == STORY_EXIT)) {
		r->call.id = input_byte(in);
		r->call.ret = input_byte(in) - 128;
	} else {
		for (size_t i = 8; i < sizeof(*r) && in->size && i < 40; i++)
			((uint8_t *)r)[i] = input_byte(in);
	}
}

static void take_story(struct input *in, struct story *s)
{
	struct story_record r;

	while (in->size) {
		unsigned int cpu = input_byte(in) % STORY_CPUS;
		uint64_t at = (uint64_t)input_byte(in) << 12;

		if (s->nr[cpu] == STORY_PAGES)
			return;
		story_page(s, cpu, input_byte(in) % 8 ? at : -at, input_byte(in) % 4 ? 0 : 1);
		for (unsigned int i = 0; i < 24 && in->size; i++) {
			struct made_page *p = &s->page[cpu][s->nr[cpu] - 1];
			uint64_t ts = p->last + input_byte(in);

			take_record(in, &r);
			made_page_event(p, ts, &r, sizeof(r));
		}
	}
}

/* --- what is found ------------------------------------------------------------------------------
 */

static void check_row(const struct latency_row *row)
{
	uint64_t sum = 0;

	for (unsigned int b = 0; b < LATENCY_REPORT_BUCKETS; b++)
		sum += row->bucket[b];
	require(sum == row->count && row->errors <= row->count && *row->from);
	require(row->count ? row->total >= row->max : !row->total);
}

static void check_worst(const struct job_result *r)
{
	for (size_t i = 1; i < r->nr_worst; i++)
		require(r->worst[i].ns <= r->worst[i - 1].ns);
	for (size_t i = 0; i < r->nr_worst; i++) {
		uint64_t ran = 0;

		for (size_t j = 0; j < JOB_WHO; j++)
			ran += r->worst[i].who[j].ns;
		require(ran <= r->worst[i].ns);
	}
}

static void check_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		require(text[i] == '\n' || text[i] == '\t' || (text[i] >= ' ' && text[i] != 0x7f) ||
			text[i] & 0x80);
}

static void check_boot(const struct boot *b)
{
	const struct boot_view view = {.rows = 5, .title = "boot"};
	struct text text = {0};

	for (size_t i = 0; i < b->nr_calls; i++)
		require(b->call[i].to >= b->call[i].from && b->call[i].level < b->nr_levels);
	boot_render_text(b, &view, &text);
	boot_render_svg(b, &view, &text);
	check_text(text.buf, text.len);
	text_free(&text);
}

static void check(struct job_result *r)
{
	const struct latency_view view = {.rows = 10, .stacks = true};
	struct text text = {0};
	char *json;
	size_t len;
	FILE *out = open_memstream(&json, &len);

	for (size_t i = 0; i < r->report.nr; i++)
		check_row(&r->report.row[i]);
	check_worst(r);
	latency_report_sort(&r->report, LATENCY_P99);
	if (r->report.nr)
		render_latency(&r->report, &view, &text);
	job_render_worst(r, &text);
	check_text(text.buf, text.len);
	text_free(&text);
	job_json(r, 10, out);
	fclose(out);
	check_text(json, len);
	free(json);
	if (r->boot)
		check_boot(r->boot);
}

/* Formats and names are the same each time, and take longer than all the rest. */
static struct job_result read_story(struct story *s, const struct job *job,
				    const struct job_config *cfg)
{
	static struct formats *formats;
	struct decode_world w = {.d = story_open(s)};
	struct job_input in;
	struct job_result r;

	if (!formats) {
		w = decode_world_of(w.d);
		formats = w.f;
		records_close(w.r);
	}
	in = (struct job_input){w.d, formats, records_open(w.d, RECORDS_ALL)};
	require(in.records != NULL);
	require(!job_read(job, &in, cfg, &r));
	records_close(in.records);
	dat_close(w.d);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct job *const jobs[] = {&job_boot, &job_offcpu, &job_syscalls,
						 &job_wakeups, &job_windows};
	static struct story s;
	struct input in = {data, size};
	const struct job *job = jobs[input_byte(&in) % 5];
	unsigned int by = input_byte(&in) % 8;
	const struct job_config cfg = {.worst = input_byte(&in) % 8,
				       .by = by < 4 ? job_by_name(job, by) : NULL};
	struct job_result r;

	s = (struct story){0};
	take_story(&in, &s);
	r = read_story(&s, job, &cfg);
	check(&r);
	job_result_free(&r);
	return 0;
}
