/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-scene.h - a host's trace for tests: two threads that run vCPUs 0 and 1 of a guest. Its
 * events have ids that others have in the guest's traces of tests.
 */
#ifndef HVTRACE_TESTS_HOST_SCENE_H
#define HVTRACE_TESTS_HOST_SCENE_H

#include "tests/unit/decode-world.h"

enum { HOST_EXIT = 300, HOST_ENTRY = 301, HOST_SWITCH = 302, HOST_TID = 1000, HOST_PAGES = 2 };

#define HOST_GUEST_ID UINT64_C(0x5566778899aabbcc) /* of the guest's trace */

static const struct dat_format host_formats[] = {
	{"kvm",
	 {"name: kvm_exit\nID: 300\n" MADE_COMMON
	  "\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\nprint fmt: \"vcpu 0 reason %s rip 0x0\", __print_symbolic(REC->exit_reason, "
	  "{ 1, \"npf\" }, { 2, \"hlt\" })\n",
	  0}},
	{"kvm",
	 {"name: kvm_entry\nID: 301\n" MADE_COMMON
	  "\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\nprint fmt: \"vcpu %u\", REC->vcpu_id\n",
	  0}},
	{"sched",
	 {"name: sched_switch\nID: 302\n" MADE_COMMON
	  "\tfield:char next_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:pid_t next_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
	  "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	  "\nprint fmt: \"%d ==> %d\", REC->prev_pid, REC->next_pid\n",
	  0}},
	{NULL, {NULL, 0}},
};

struct host_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	union {
		uint32_t number;
		char comm[16];
	};
	int32_t prev, next;
	int64_t state;
};

struct host_scene {
	struct made_page page[HOST_PAGES];
	size_t nr;
	uint64_t lost[HOST_PAGES]; /* before a page */
};

static inline void host_page(struct host_scene *s, uint64_t at, uint64_t lost)
{
	assert_true(s->nr < HOST_PAGES);
	s->lost[s->nr] = lost;
	made_page_begin(&s->page[s->nr++], at);
}

static inline void host_event(struct host_scene *s, uint64_t at, const struct host_record *r)
{
	made_page_event(&s->page[s->nr - 1], at, r, sizeof(*r));
}

static inline void host_exit(struct host_scene *s, uint64_t at, int32_t tid, uint32_t reason)
{
	const struct host_record r = {.type = HOST_EXIT, .pid = tid, .number = reason};

	host_event(s, at, &r);
}

static inline void host_entry(struct host_scene *s, uint64_t at, int32_t tid)
{
	const struct host_record r = {.type = HOST_ENTRY, .pid = tid};

	host_event(s, at, &r);
}

/* state 0: it would have gone on. */
static inline void host_switch(struct host_scene *s, uint64_t at, int32_t prev, int32_t next,
			       int64_t state)
{
	const struct host_record r = {.type = HOST_SWITCH,
				      .pid = prev,
				      .comm = "thief",
				      .prev = prev,
				      .next = next,
				      .state = state};

	host_event(s, at, &r);
}

/* The trace of made-trace.h, as one of this host's guest. */
static inline struct dat *host_open_guest(void)
{
	static const uint64_t guest_id = HOST_GUEST_ID;
	static const struct made_option id[] = {{DAT_OPTION_TRACEID, &guest_id, sizeof(guest_id)},
						{0, NULL, 0}};
	struct made_dat_spec spec = {.version = 7};

	made_trace_spec(&spec);
	spec.options = id;
	return made_open(&spec);
}

static inline struct dat *host_open_scene(struct host_scene *s)
{
	static uint8_t bytes[HOST_PAGES * RING_PAGE_SIZE];
	const struct {
		char name[8];
		uint64_t id;
		uint32_t nr, row[2][2];
	} __attribute__((packed))
	guest = {"guest-1", HOST_GUEST_ID, 2, {{0, HOST_TID}, {1, HOST_TID + 1}}};
	const struct made_option options[] = {{DAT_OPTION_GUEST, &guest, sizeof(guest)},
					      {0, NULL, 0}};
	const struct made_vcpu cpu = {0, bytes, s->nr * RING_PAGE_SIZE};
	const struct made_buffer buffers[] = {{"", "x86-tsc", &cpu, 1}, {NULL, NULL, NULL, 0}};
	const struct made_dat_spec spec = {
		.version = 7,
		.formats = host_formats,
		.cmdlines = "1000 CPU 0/KVM\n1001 CPU 1/KVM\n",
		.options = options,
		.buffers = buffers,
		.cpus = 1,
	};

	for (size_t i = 0; i < s->nr; i++) {
		made_page_end(&s->page[i], s->lost[i]);
		memcpy(bytes + i * RING_PAGE_SIZE, s->page[i].bytes, RING_PAGE_SIZE);
	}
	return made_open(&spec);
}

#endif
