// SPDX-License-Identifier: GPL-2.0-or-later
/* worst.c - see worst.h */
#include "frontend/jobs/worst.h"

#include "frontend/report/duration.h"
#include "frontend/report/render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As far back as a vCPU is remembered. */
enum { RUNS = 64 };

struct run {
	int32_t pid;
	char comm[JOB_COMM];
	uint64_t from, to;
};

/* Of a vCPU: who ran, run[nr % RUNS] being the one that runs. */
struct cpu {
	struct run run[RUNS];
	uint64_t nr;
	bool known;
};

struct worst {
	struct cpu *cpu[DAT_CPUS_MAX];
	struct job_wait *wait; /* a heap: no child is shorter than the first */
	size_t nr, room;
};

struct worst *worst_new(size_t nr)
{
	struct worst *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->room = nr;
	x->wait = calloc(nr ? nr : 1, sizeof(*x->wait));
	if (x->wait)
		return x;
	free(x);
	return NULL;
}

void worst_free(struct worst *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < DAT_CPUS_MAX; i++)
		free(x->cpu[i]);
	free(x->wait);
	free(x);
}

/* --- who runs -----------------------------------------------------------------------------------
 */

void worst_switch(struct worst *x, unsigned int cpu, uint64_t now, int32_t next, const char *comm)
{
	struct cpu *c = x->cpu[cpu];

	if (!x->room || (!c && !(c = x->cpu[cpu] = calloc(1, sizeof(*c)))))
		return;
	if (c->known)
		c->run[c->nr++ % RUNS].to = now;
	c->known = true;
	c->run[c->nr % RUNS] = (struct run){.pid = next, .from = now, .to = now};
	memcpy(c->run[c->nr % RUNS].comm, comm, JOB_COMM);
}

void worst_lost(struct worst *x, unsigned int cpu)
{
	if (x->cpu[cpu])
		*x->cpu[cpu] = (struct cpu){.known = false};
}

/* --- waits --------------------------------------------------------------------------------------
 */

struct share {
	struct job_run run[RUNS];
	size_t nr;
};

static void add_run(struct share *s, const struct run *run, uint64_t ns)
{
	size_t i = 0;

	while (i < s->nr && s->run[i].pid != run->pid)
		i++;
	if (i == s->nr) {
		s->run[s->nr++] = (struct job_run){.pid = run->pid};
		memcpy(s->run[i].comm, run->comm, JOB_COMM);
	}
	s->run[i].ns += ns;
}

static int longer_run(const void *a, const void *b)
{
	const struct job_run *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void find_who(const struct cpu *c, struct job_wait *wait, uint64_t now)
{
	uint64_t nr = c->nr < RUNS - 1 ? c->nr : RUNS - 1;
	struct share s = {.nr = 0};

	for (uint64_t i = 0; i <= nr; i++) {
		const struct run *run = &c->run[(c->nr - i) % RUNS];
		uint64_t from = run->from > wait->from ? run->from : wait->from;
		uint64_t to = i ? run->to : now;

		if (to <= wait->from)
			break;
		if (run->pid != wait->task.pid)
			add_run(&s, run, to - from);
	}
	qsort(s.run, s.nr, sizeof(*s.run), longer_run);
	memcpy(wait->who, s.run, (s.nr < JOB_WHO ? s.nr : JOB_WHO) * sizeof(*s.run));
}

static void swap(struct job_wait *a, struct job_wait *b)
{
	struct job_wait c = *a;

	*a = *b;
	*b = c;
}

static void put_wait(struct worst *x, const struct job_wait *wait)
{
	size_t i, child;

	if (x->nr < x->room) {
		x->wait[x->nr] = *wait;
		for (i = x->nr++; i && x->wait[i].ns < x->wait[(i - 1) / 2].ns; i = (i - 1) / 2)
			swap(&x->wait[i], &x->wait[(i - 1) / 2]);
		return;
	}
	x->wait[0] = *wait;
	for (i = 0; (child = 2 * i + 1) < x->nr; i = child) {
		if (child + 1 < x->nr && x->wait[child + 1].ns < x->wait[child].ns)
			child++;
		if (x->wait[i].ns <= x->wait[child].ns)
			break;
		swap(&x->wait[i], &x->wait[child]);
	}
}

void worst_wait(struct worst *x, const struct job_task *t, unsigned int cpu, uint64_t now)
{
	struct job_wait wait = {.from = t->from, .ns = now - t->from, .cpu = cpu};

	if (!x->room || (x->nr == x->room && wait.ns <= x->wait[0].ns))
		return;
	wait.preempted = t->what;
	wait.task.pid = t->pid;
	memcpy(wait.task.comm, t->comm, JOB_COMM);
	if (x->cpu[cpu] && x->cpu[cpu]->known)
		find_who(x->cpu[cpu], &wait, now);
	put_wait(x, &wait);
}

static int longer_wait(const void *a, const void *b)
{
	const struct job_wait *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->from < y->from ? -1 : x->from > y->from;
}

void worst_end(struct worst *x, struct job_result *r)
{
	qsort(x->wait, x->nr, sizeof(*x->wait), longer_wait);
	r->worst = x->wait;
	r->nr_worst = x->nr;
	x->wait = NULL;
	x->nr = 0;
}

/* --- text ---------------------------------------------------------------------------------------
 */

static void put_task(const struct job_run *run, struct text *out)
{
	render_name(run->comm, out);
	text_printf(out, "-%d", run->pid);
}

static void put_who(const struct job_run *run, bool first, struct text *out)
{
	char ns[DURATION_LEN];

	text_puts(out, first ? "" : ", ");
	if (run->pid)
		put_task(run, out);
	else
		text_puts(out, "idle");
	text_printf(out, " %s", duration_text(run->ns, ns));
}

void job_render_worst(const struct job_result *r, struct text *out)
{
	char ns[DURATION_LEN];

	if (!r->nr_worst)
		return;
	text_printf(out, "\n%10s %16s %4s  %-24s %s\n", "WAITED", "FROM", "CPU", "TASK",
		    "WHO RAN THERE MEANWHILE");
	for (size_t i = 0; i < r->nr_worst; i++) {
		const struct job_wait *w = &r->worst[i];
		size_t at;

		text_printf(out, "%10s %9" PRIu64 ".%06" PRIu64 " %4u  ", duration_text(w->ns, ns),
			    w->from / 1000000000, w->from / 1000 % 1000000, w->cpu);
		at = out->len;
		put_task(&w->task, out);
		text_printf(out, "%*s", out->len - at < 24 ? (int)(24 - (out->len - at)) : 0, "");
		text_puts(out, w->preempted ? " preempted: " : " ");
		for (size_t j = 0; j < JOB_WHO && w->who[j].ns; j++)
			put_who(&w->who[j], !j, out);
		text_putc(out, '\n');
	}
}
