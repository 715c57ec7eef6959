// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make-dat.c - trace.dat files that no guest has made, for tests of the page.
 *
 * usage: make-dat many RECORDS FILE   two vCPUs, that switch between tasks; their functions call
 * others make-dat hostile FILE        a few records, whose names are markup
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/export-world.h"

enum { VCPUS = 2, TASKS = 24, DEPTH = 8, FUNCTIONS = 400, SWITCH = 500 };

/* Room for a record in any page. */
enum { RECORD = 64 };

/* --- many --------------------------------------------------------------------------------------
 */

struct vcpu {
	unsigned int cpu;
	uint8_t *pages;
	size_t nr, room;
	struct made_page page;
	uint64_t now, seed;
	int32_t pid;
};

/* What a task is in; it goes on with that on whatever vCPU. */
struct stack {
	uint64_t func[DEPTH], began[DEPTH];
	int32_t depth;
};

static uint64_t next_random(struct vcpu *v)
{
	v->seed = v->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return v->seed >> 33;
}

static void end_page(struct vcpu *v)
{
	made_page_end(&v->page, 0);
	if (v->nr == v->room) {
		v->room = v->room ? 2 * v->room : 64;
		v->pages = realloc(v->pages, v->room * RING_PAGE_SIZE);
		assert_non_null(v->pages);
	}
	memcpy(v->pages + v->nr++ * RING_PAGE_SIZE, v->page.bytes, RING_PAGE_SIZE);
}

static void put(struct vcpu *v, const void *record, size_t len)
{
	if (v->page.len + RECORD > RING_PAGE_DATA) {
		end_page(v);
		made_page_begin(&v->page, MADE_T0 + v->now);
	}
	made_page_event(&v->page, MADE_T0 + v->now, record, len);
}

static void call(struct vcpu *v, struct stack *s)
{
	const struct made_record r = {
		.type = MADE_ENTRY,
		.pid = v->pid,
		.graph = {.func = MADE_FUNC(next_random(v) % FUNCTIONS), .depth = s->depth},
	};

	s->began[s->depth] = v->now;
	s->func[s->depth++] = r.graph.func;
	put(v, &r, 24);
}

static void back(struct vcpu *v, struct stack *s)
{
	const int32_t depth = --s->depth;
	const struct made_record r = {
		.type = MADE_EXIT,
		.pid = v->pid,
		.graph = {.func = s->func[depth],
			  .depth = depth,
			  .calltime = MADE_T0 + s->began[depth],
			  .rettime = MADE_T0 + v->now},
	};

	put(v, &r, 40);
}

/* Each vCPU has tasks of its own. */
static void to_next(struct vcpu *v)
{
	int32_t next = 100 + (int32_t)(v->cpu * TASKS + next_random(v) % TASKS);
	const struct made_record r = {
		.type = MADE_SWITCH, .pid = v->pid, .sw = {"task", v->pid, next}};

	put(v, &r, 32);
	v->pid = next;
}

static void make_vcpu(struct vcpu *v, size_t records)
{
	static struct stack stacks[100 + VCPUS * TASKS];

	made_page_begin(&v->page, MADE_T0);
	for (size_t i = 0; i < records; i++) {
		struct stack *s = &stacks[v->pid];

		v->now += 40 + next_random(v) % 500;
		if (i % SWITCH == SWITCH - 1)
			to_next(v);
		else if (s->depth < DEPTH && (!s->depth || next_random(v) % 2))
			call(v, s);
		else
			back(v, s);
	}
	end_page(v);
}

static char *function_names(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		fprintf(f, "%llx t %s_%u\n", (unsigned long long)MADE_FUNC(i),
			(const char *[]){"vfs_read", "__schedule", "tcp_sendmsg",
					 "handle_mm_fault"}[i % 4],
			i);
	fclose(f);
	return text;
}

static void write_dat(const struct made_dat_spec *spec, const char *path)
{
	struct made_dat m = made_dat(spec);
	FILE *f = fopen(path, "w");

	if (!f || fwrite(m.bytes, 1, m.len, f) != m.len || fclose(f))
		fail_msg("cannot write %s", path);
	free(m.bytes);
}

static void many(size_t records, const char *path)
{
	struct vcpu v[VCPUS] = {0};
	struct made_vcpu made[VCPUS];
	const struct made_buffer buffers[] = {{"", "global", made, VCPUS}, {NULL, NULL, NULL, 0}};
	struct made_dat_spec spec = {.version = 7, .compression = "none", .chunk = 1 << 20};
	char *names = function_names();

	for (unsigned int i = 0; i < VCPUS; i++) {
		v[i].cpu = i;
		v[i].seed = i + 1;
		v[i].pid = 100 + (int32_t)i * TASKS;
		make_vcpu(&v[i], records / VCPUS);
		made[i] = (struct made_vcpu){i, v[i].pages, v[i].nr * RING_PAGE_SIZE};
	}
	made_trace_spec(&spec);
	spec.kallsyms = names;
	spec.buffers = buffers;
	write_dat(&spec, path);
	free(names);
	for (unsigned int i = 0; i < VCPUS; i++)
		free(v[i].pages);
}

/* --- hostile -----------------------------------------------------------------------------------
 */

#define MARKUP "</script><img/src=x/onerror=alert(1)>"

static void hostile(const char *path)
{
	static struct scene s;
	static uint8_t bytes[RING_PAGE_SIZE];
	const struct made_vcpu vcpu = {0, bytes, sizeof(bytes)};
	const struct made_buffer buffers[] = {{"", "global", &vcpu, 1}, {NULL, NULL, NULL, 0}};
	struct made_dat_spec spec = {.version = 7, .compression = "none"};

	scene_page(&s, 0);
	made_trace_call(scene_now(&s), 1000, 7, MADE_FUNC(1), 0);
	scene_mark(&s, 1100, 7, MARKUP);
	scene_mark(&s, 1200, 7, "B|7|" MARKUP);
	scene_mark(&s, 1300, 7, "E|7");
	scene_mark(&s, 1400, 7, "C|7|" MARKUP "|5");
	made_trace_return(scene_now(&s), 2000, 7, MADE_FUNC(1), 0, 1000);
	made_page_end(scene_now(&s), 0);
	memcpy(bytes, scene_now(&s)->bytes, sizeof(bytes));
	made_trace_spec(&spec);
	spec.kallsyms = "ffffffff81000100 T " MARKUP "\nffffffff81000200 T @DATA@<!--<script>\n";
	spec.cmdlines = "7 </title><b>x\n";
	spec.buffers = buffers;
	write_dat(&spec, path);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "many"))
		many(strtoul(argv[2], NULL, 10), argv[3]);
	else if (argc == 3 && !strcmp(argv[1], "hostile"))
		hostile(argv[2]);
	else
		return fprintf(stderr,
			       "usage: make-dat many RECORDS FILE | make-dat hostile FILE\n"),
		       2;
	return 0;
}
