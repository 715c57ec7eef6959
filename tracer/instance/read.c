// SPDX-License-Identifier: GPL-2.0-or-later
/* read.c - reading an instance: as trace, trace_pipe, trace_pipe_raw and snapshot do. */
#include "tracer/events/strings.h"
#include "tracer/guest/pci.h"
#include "tracer/instance/files.h"
#include "tracer/instance/max.h"
#include "tracer/output/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct instance_reader {
	struct instance *i;
	struct ring **rings; /* the instance's own, or the snapshot's */
	int vcpu;
	bool pipe, dump;
	struct reader *reader;
	struct ring *open[MACHINE_MAX_VCPUS]; /* what the reader reads */
	off_t at;
};

/* --- as text --------------------------------------------------------------------------------- */

_Static_assert(OUTPUT_FILE_MAX == USER_PATH_MAX, "the one finds what the other prints");

/* Whoever reads holds no lock: the guest may be changing what is looked at. */
static bool find_user_object(void *arg, uint32_t tgid, uint64_t ip, char file[OUTPUT_FILE_MAX],
			     uint64_t *start)
{
	struct trace *t = arg;
	struct task_layout tasks;

	return t->m && !task_layout_learn(&tasks, t->gs, &t->guest) &&
	       user_object(&t->guest, &t->user, &tasks, tgid, ip, file, start);
}

static const char *find_string(void *arg, uint64_t addr)
{
	return event_text_string(events_text(((struct trace *)arg)->trace_events), addr);
}

static enum output_hash find_key(void *arg, uint64_t key[2])
{
	return event_text_key(events_text(((struct trace *)arg)->trace_events), key);
}

/*
 * A kernel that can be told at boot how preemptible to be has it in a variable
 * (kernel/sched/core.c, 6.1), others have it in their version if they are preemptible
 * (init/Makefile). Of those that are not it cannot be told which of the two others they are: NULL.
 */
static const char *preempt_model(struct trace *t)
{
	static const char *const models[] = {"server", "desktop", "preempt"};
	uint64_t mode = guestsym_addr(t->gs, "preempt_dynamic_mode");
	uint32_t value = mode && t->m ? guest_image_u32(&t->guest, mode, UINT32_MAX) : UINT32_MAX;
	const char *banner = guestsym_banner(t->gs);

	if (value < sizeof(models) / sizeof(models[0]))
		return models[value];
	if (strstr(banner, " PREEMPT_RT "))
		return "preempt_rt";
	return strstr(banner, " PREEMPT ") ? "preempt" : NULL;
}

/* Those of function_graph are the instance's, those of latencies their tracer's. */
static uint32_t graph_options(const struct instance *i)
{
	return instance_shows_graph(i) ? i->tracer->graph : i->graph_options;
}

void instance_output_config(struct instance *i, struct output_config *cfg)
{
	struct trace *t = i->t;

	*cfg = (struct output_config){
		.options = i->options,
		.graph = instance_shows_graph(i),
		.graph_options = graph_options(i),
		.blk_options = i->blk_options,
		.tracer = i->tracer->name,
		.release = guestsym_release(t->gs),
		.preempt_model = preempt_model(t),
		.cpus = trace_vcpus_now(t),
		.ns = i->clock->ns,
		.irqentry_start = trace_runtime(t, "__irqentry_text_start"),
		.irqentry_end = trace_runtime(t, "__irqentry_text_end"),
		.time_start = i->time_start,
		.comms = t->comms,
		.symbol = trace_find_symbol,
		.user_object = find_user_object,
		.events = events_printer(t->trace_events),
		.string = find_string,
		.pointer_key = find_key,
		.arg = t,
	};
}

/* What a trace_pipe of mmiotrace begins with; NULL: nothing is known. free() it. */
static char *pci_devices(struct trace *t)
{
	struct text lines = {0};

	if (t->m)
		pci_print_devices(&t->guest, t->gs, &lines);
	text_putc(&lines, '\0');
	if (!lines.failed)
		return lines.buf;
	text_free(&lines);
	return NULL;
}

static struct reader *reader_of(struct instance_reader *r)
{
	struct output_config cfg;
	struct reader *reader;
	char *devices = NULL;

	instance_output_config(r->i, &cfg);
	if (r->rings == r->i->spare && r->i->tracer->max)
		instance_max_config(r->i, &cfg);
	if (r->dump)
		cfg.options |= OUTPUT_LATENCY_FORMAT;
	if (r->pipe && r->i->tracer->mmio)
		devices = pci_devices(r->i->t);
	cfg.pci_devices = devices;
	rings_now(r->rings, r->open);
	reader = reader_open(r->open, r->i->t->vcpus, r->vcpu, r->pipe, &cfg);
	free(devices);
	return reader;
}

static struct instance_reader *open_rings(struct instance *i, struct ring **rings, int vcpu,
					  bool pipe, bool dump)
{
	struct instance_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->i = i;
	r->rings = rings;
	r->vcpu = vcpu;
	r->pipe = pipe;
	r->dump = dump;
	r->reader = reader_of(r);
	if (r->reader)
		return r;
	free(r);
	return NULL;
}

struct instance_reader *instance_read_open(struct instance *i, int vcpu, bool pipe)
{
	return open_rings(i, i->tracer->max && !pipe ? i->spare : i->ring, vcpu, pipe, false);
}

struct instance_reader *instance_dump_open(struct instance *i, int vcpu)
{
	return open_rings(i, i->ring, vcpu, false, true);
}

struct instance_reader *instance_snapshot_open(struct instance *i, int vcpu)
{
	return instance_has_snapshot(i) ? open_rings(i, i->spare, vcpu, false, false) : NULL;
}

void instance_read_close(struct instance_reader *r)
{
	if (r)
		reader_close(r->reader);
	free(r);
}

/* A snapshot has been taken since: a pipe goes on with the buffers that are written now. */
static int follow_swap(struct instance_reader *r)
{
	struct ring *rings[MACHINE_MAX_VCPUS];
	int ret;

	rings_now(r->rings, rings);
	if (!r->pipe || !memcmp(r->open, rings, sizeof(rings)))
		return 0;
	ret = reader_switch(r->reader, rings);
	if (!ret)
		memcpy(r->open, rings, sizeof(rings));
	return ret;
}

static ssize_t skip_to(struct instance_reader *r, off_t off)
{
	char buf[4096];

	if (off < r->at) {
		reader_rewind(r->reader);
		r->at = 0;
	}
	while (r->at < off) {
		off_t left = off - r->at;
		size_t want = left < (off_t)sizeof(buf) ? (size_t)left : sizeof(buf);
		ssize_t n = reader_read(r->reader, buf, want);

		if (n <= 0)
			return n;
		r->at += n;
	}
	return 1;
}

uint64_t instance_horizon(const struct instance *i)
{
	return atomic_load(&i->t->collecting) ? atomic_load(&i->horizon.at) : MERGE_ALL;
}

static uint64_t horizon_of(const struct instance_reader *r)
{
	if (r->rings == r->i->spare)
		return MERGE_ALL;
	return r->vcpu == ALL_VCPUS ? instance_horizon(r->i) : MERGE_ALL;
}

ssize_t instance_read(struct instance_reader *r, void *buf, size_t len, off_t off)
{
	ssize_t n = r->pipe ? follow_swap(r) : skip_to(r, off);

	if (n < 0 || (!n && !r->pipe))
		return n;
	reader_set_horizon(r->reader, horizon_of(r));
	reader_set_options(r->reader, r->i->options, graph_options(r->i), r->i->blk_options);
	n = reader_read(r->reader, buf, len);
	if (n > 0)
		r->at += n;
	return n;
}

/* --- waiting --------------------------------------------------------------------------------- */

/* An event of this ring can be consumed now. */
static bool ring_is_ready(struct ring *ring, uint64_t horizon)
{
	struct ring_stats st;
	uint64_t ts;

	if (horizon != MERGE_ALL)
		return ring_next_time(ring, &ts) && ts <= horizon;
	ring_get_stats(ring, &st);
	return st.entries;
}

bool instance_has_events(struct instance *i, int vcpu)
{
	uint64_t horizon = vcpu == ALL_VCPUS ? instance_horizon(i) : MERGE_ALL;

	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		if (vcpu != ALL_VCPUS && (unsigned int)vcpu != v)
			continue;
		if (ring_is_ready(ring_now(i->ring, v), horizon))
			return true;
	}
	return false;
}

/* Who waits, and for which vCPU. */
struct waiter {
	struct instance *i;
	int vcpu;
};

static bool has_events(void *arg)
{
	const struct waiter *w = arg;

	return instance_has_events(w->i, w->vcpu);
}

bool instance_wait(struct instance *i, int vcpu, int timeout_ms)
{
	struct waiter w = {i, vcpu};

	return trace_wait(i->t, has_events, &w, timeout_ms);
}

/* ring_buffer_poll_wait() (6.1) says yes for an empty buffer of few pages too. */
static bool is_filled(void *arg)
{
	const struct waiter *w = arg;

	if (!has_events(arg))
		return false;
	return w->vcpu == ALL_VCPUS ||
	       ring_filled(ring_now(w->i->ring, (unsigned int)w->vcpu), w->i->percent);
}

bool instance_wait_full(struct instance *i, int vcpu, int timeout_ms)
{
	struct waiter w = {i, vcpu};

	return trace_wait(i->t, is_filled, &w, timeout_ms);
}

/* --- as pages -------------------------------------------------------------------------------- */

int instance_read_raw(struct instance *i, unsigned int vcpu, void *page, size_t len)
{
	return ring_read_page(ring_now(i->ring, vcpu), page, len, false);
}

int instance_read_full(struct instance *i, unsigned int vcpu, void *page, size_t len)
{
	return ring_read_page(ring_now(i->ring, vcpu), page, len, true);
}

int instance_snapshot_read_raw(struct instance *i, unsigned int vcpu, void *page, size_t len)
{
	struct ring *spare = ring_now(i->spare, vcpu);

	return instance_has_snapshot(i) ? ring_read_page(spare, page, len, false) : -EAGAIN;
}
