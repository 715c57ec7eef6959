// SPDX-License-Identifier: GPL-2.0-or-later
/* new-trace.c - the trace of a session, as its options ask for it, and what the machine calls. */
#include "frontend/session/session.h"

#include <errno.h>

static void session_note(void *arg, const char *text)
{
	session_message(arg, MACHINE_MSG_INFO, text);
}

/* By default all buffers together are no larger than those of so many vCPUs. */
#define BUFFER_KB    32768
#define BUFFER_VCPUS 8

static uint64_t buffer_kb(const struct session_options *opt, unsigned int vcpus)
{
	if (opt->buffer_bytes)
		return opt->buffer_bytes >> 10;
	return vcpus > BUFFER_VCPUS ? (uint64_t)BUFFER_KB * BUFFER_VCPUS / vcpus : BUFFER_KB;
}

/* Of all clocks only the TSC's goes on in the same way in the guest and beside it. */
const char *session_clock(const struct session *s)
{
	return s->host ? SESSION_HOST_CLOCK : s->opt->clock;
}

int session_open_kernel(struct session *s, const void *image, size_t len, char *err, size_t errlen)
{
	guestsym_close(s->gs);
	s->gs = guestsym_open_bytes(s->parsers, "the guest's kernel", image, len, err, errlen);
	return s->gs ? 0 : -EINVAL;
}

int session_new_trace(struct session *s, unsigned int vcpus, bool running)
{
	struct trace_config cfg = {
		.gs = s->gs,
		.vcpus = vcpus,
		.running = running,
		.tracer = s->exec ? "nop" : session_options_tracer(s->opt),
		.clock = session_clock(s),
		/* Of a command alone they are asked for when it is there: exec-trace.c. */
		.filter = s->opt->filter.values,
		.nr_filter = s->exec ? 0 : s->opt->filter.nr,
		.notrace = s->opt->notrace.values,
		.nr_notrace = s->exec ? 0 : s->opt->notrace.nr,
		.buffer_bytes = buffer_kb(s->opt, vcpus) << 10,
		.hurry = s->hurry,
		.from = s->opt->from,
		.until = s->opt->until,
		.stand_at_until = s->stopped,
		.min_ns = s->opt->min_us * 1000,
		.max_ns = s->opt->max_us * 1000,
		.past = s->boots.past,
		.max_events = s->opt->max_events ? s->opt->max_events - s->boots.sum.hits : 0,
		.pids = s->opt->pids.values,
		.nr_pids = s->opt->pids.nr,
		.engine = session_options_engine(s->opt),
		.on_panic = session_options_on_panic(s->opt, running),
		.ignore_switches = s->opt->ignore_switches,
		.window_bytes = s->opt->window_bytes,
		.lossless = s->opt->lossless,
		.control = !s->opt->unserved,
		.message = session_note,
		.message_arg = s,
		.cancelled = session_cancelled,
		.cancelled_arg = s,
	};

	struct machine_info info;

	if (s->m && !running) {
		machine_get_info(s->m, &info);
		cfg.kernel_slide = info.kernel_slide;
		cfg.kernel_moved = info.kernel_moved;
	}
	s->boots.past = NULL;
	s->trace = trace_new(&cfg, s->err, sizeof(s->err));
	return s->trace ? 0 : -1;
}

bool session_cancelled(void *arg)
{
	const struct session *s = arg;

	return cancel_asked(&s->cancel);
}

/* Who has another way than stderr, as libhvtrace has, is not shown what is waited for. */
void session_wait(struct session *s, const char *what)
{
	if (s->message)
		return;
	meter_end(&s->wait);
	if (what)
		meter_begin(&s->wait, what, NULL);
	else
		s->wait.what = NULL;
}

bool session_waits(void *arg)
{
	struct session *s = arg;

	if (s->wait.what && !cancel_asked(&s->cancel))
		meter_wait(&s->wait);
	return session_cancelled(s);
}

void session_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct session *s = arg;

	(void)m;
	trace_trap(s->trace, hit);
}

void session_mmio(struct machine *m, const struct machine_mmio *access, void *arg)
{
	struct session *s = arg;

	(void)m;
	trace_mmio(s->trace, access);
}

void session_message(struct session *s, enum machine_msg_level level, const char *text)
{
	if (s->message)
		s->message(s, level, text);
	else
		session_print_message(NULL, level, text);
}

void session_print_message(void *arg, enum machine_msg_level level, const char *text)
{
	(void)arg;
	fprintf(stderr, "hvtrace: %s%s\n", level == MACHINE_MSG_WARN ? "warning: " : "", text);
}
