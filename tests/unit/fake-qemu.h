/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-qemu.h - a QEMU with a gdb stub on a unix socket and one vCPU that does nothing, to attach
 * to: it answers as QEMU 7.2 does, until it is told to hang up or to fall silent.
 */
#ifndef HVTRACE_TESTS_FAKE_QEMU_H
#define HVTRACE_TESTS_FAKE_QEMU_H

#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/un.h>

#include "tests/unit/fake-stub.h"

#define FAKE_RAM     0x10000
#define FAKE_HIGH    (UINT64_C(1) << 32)
#define FAKE_TALK_MS 100

/* What fake_map() makes: page tables with one page of text in them. */
#define FAKE_TABLES 0x2000 /* for CR3 */
#define FAKE_TEXT   0x7000
#define FAKE_VA	    UINT64_C(0xffffffff81000000)

enum fake_end { FAKE_HANGS_UP, FAKE_FALLS_SILENT, FAKE_TALKS };

struct fake_qemu {
	struct stub stub;
	int listener;
	char dir[64], target[160];
	unsigned int limit; /* packets that it answers, ~0: all */
	enum fake_end end;  /* what it does then, */
	const char *talk;   /* and what it says again and again */
	bool deaf;	    /* does not stop when interrupted */
	bool elsewhere;	    /* its memory is not where it says */
	bool high;	    /* it is to be found at FAKE_HIGH as well */
	bool plugs;	    /* has room for a second vCPU, thread 2, which is there when it runs */
	_Atomic(const char *) threads; /* those that it has, as it tells them; NULL: the usual */
	/* What its monitor has to say to a command, first of all; false: the usual. */
	bool (*monitor)(struct fake_qemu *q, const char *command, char *text, size_t size);
	void *arg;
	bool kvm;      /* says that it runs under KVM, and breakpoints go by... */
	uint64_t cr3;  /* what the vCPU has there, */
	uint64_t sees; /* which is to be this */
	uint32_t cs;   /* 0x23: 32-bit code, so it takes half of a register */
	uint32_t eflags;
	bool ran;
	uint64_t rip, rsp;
	/* Where the vCPU is behind each single step, up to one that is 0: how it stops then. */
	const struct fake_step {
		uint64_t rip, rsp;
		const char *stop;
	} * steps;
	_Atomic(const char *) stop; /* what it says at once when it is to run, one time */
	bool comes;		    /* its vCPU alone comes to a breakpoint, which is where it is */
	bool halted;		    /* it says so of it */
	bool remaps;		    /* with its stop, its text lies a page behind FAKE_TEXT */
	const char *resets; /* it is reset before it hears what begins so, one time; or NULL */
	atomic_uint answered;
	atomic_bool running, ended;
	atomic_bool detached; /* it was told to run on without us */
	char heard[65536]; /* packets and interrupts, each in [ ]; for when the thread has ended */
	size_t len;
	pid_t client;	   /* who is killed, 0: nobody, */
	unsigned int come; /* when so many packets and interrupts have come, before an answer */
	unsigned int came;
	pthread_t thread;
	uint8_t ram[FAKE_RAM];
};

static inline void fake_put(struct fake_qemu *q, uint64_t pa, uint64_t value)
{
	memcpy(q->ram + pa, &value, sizeof(value));
}

static inline void fake_map_text(struct fake_qemu *q, uint64_t pa)
{
	fake_put(q, 0x6000 + 8 * (FAKE_VA >> 12 & 511), pa | 3);
}

static void fake_monitor(struct fake_qemu *q, const char *hex)
{
	static const char mtree[] = "FlatView #1\r\n AS \"memory\", root: system\r\n"
				    "  0000000000000000-000000000000ffff (prio 0, ram): pc.ram\r\n";
	static const char high[] = "  0000000100000000-000000010000ffff (prio 0, ram): pc.ram\r\n";
	char command[256] = "", text[512] = "", packet[1200] = "O", *to = packet + 1;
	unsigned int byte;

	for (size_t i = 0; i < sizeof(command) - 1 && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
		command[i] = (char)byte;
	if (q->monitor && q->monitor(q, command, text, sizeof(text)))
		;
	else if (!strncmp(command, "gpa2hva 0x", 10))
		snprintf(text, sizeof(text), "Host virtual address for 0x0 (pc.ram) is %p\r\n",
			 (void *)(q->ram + strtoul(command + 10, NULL, 16) % FAKE_HIGH +
				  (q->elsewhere ? 64 : 0)));
	else if (!strcmp(command, "info mtree -f"))
		snprintf(text, sizeof(text), "%s%s", mtree, q->high ? high : "");
	else if (!strcmp(command, "info hotpluggable-cpus") && q->plugs)
		strcpy(text, "  vcpus_count: \"1\"\r\n  vcpus_count: \"1\"\r\n");
	else if (!strcmp(command, "info version"))
		strcpy(text, "7.2.0\r\n");
	else if (!strcmp(command, "info kvm"))
		snprintf(text, sizeof(text), "kvm support: %s\r\n",
			 q->kvm ? "enabled" : "disabled");
	else if (!strcmp(command, "info registers -a"))
		strcpy(text, "\r\nCPU#0\r\nGDT= 0000000000001000 0000007f\r\n"
			     "IDT= 0000000000002000 00000fff\r\n");
	for (const char *c = text; *c; c++)
		to += sprintf(to, "%02x", (unsigned char)*c);
	if (*text)
		stub_say(&q->stub, packet);
	stub_say(&q->stub, "OK");
}

static void fake_memory(struct fake_qemu *q, const char *packet)
{
	char answer[4096] = "E14", *colon = strchr(packet, ':');
	unsigned long pa, len;

	if (sscanf(packet + 1, "%lx,%lx", &pa, &len) != 2 || (pa %= FAKE_HIGH) > FAKE_RAM ||
	    len > FAKE_RAM - pa || 2 * len >= sizeof(answer)) {
		stub_say(&q->stub, "E14");
		return;
	}
	for (unsigned long i = 0; i < len; i++) {
		unsigned int byte = 0;

		if (colon && sscanf(colon + 1 + 2 * i, "%2x", &byte) == 1)
			q->ram[pa + i] = (uint8_t)byte;
		else
			sprintf(answer + 2 * i, "%02x", q->ram[pa + i]);
	}
	stub_say(&q->stub, colon ? "OK" : answer);
}

static void fake_stop(struct fake_qemu *q)
{
	q->running = false;
	stub_say(&q->stub, "T02thread:p01.01;");
}

/* Where these have their place among the registers. */
#define FAKE_EFLAGS_AT	(17 * 8)
#define FAKE_CS_AT	(17 * 8 + 4)
#define FAKE_CR3_PACKET "P19="
#define FAKE_NR_REGS	3

/* The registers that are not always 0: their places among all, and how they are written. */
struct fake_reg {
	size_t at;
	const char *packet;
	uint64_t *value;
};

static void fake_reg_table(struct fake_qemu *q, struct fake_reg regs[FAKE_NR_REGS])
{
	regs[0] = (struct fake_reg){7 * 8, "P7=", &q->rsp};
	regs[1] = (struct fake_reg){16 * 8, "P10=", &q->rip};
	regs[2] = (struct fake_reg){17 * 8 + 3 * 4 + 5 * 8, FAKE_CR3_PACKET, &q->cr3};
}

static void fake_reg_put(char *regs, size_t at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char byte[3];

		snprintf(byte, sizeof(byte), "%02x", (unsigned int)(value >> 8 * i & 0xff));
		memcpy(regs + 2 * (at + i), byte, 2);
	}
}

static void fake_regs(struct fake_qemu *q)
{
	struct fake_reg table[FAKE_NR_REGS];
	char regs[2 * BYTES + 1];

	memset(regs, '0', sizeof(regs) - 1);
	regs[sizeof(regs) - 1] = '\0';
	fake_reg_put(regs, FAKE_EFLAGS_AT, q->eflags, sizeof(q->eflags));
	fake_reg_put(regs, FAKE_CS_AT, q->cs, sizeof(q->cs));
	fake_reg_table(q, table);
	for (size_t i = 0; i < FAKE_NR_REGS; i++)
		fake_reg_put(regs, table[i].at, *table[i].value, sizeof(uint64_t));
	stub_say(&q->stub, regs);
}

static bool fake_set_reg(struct fake_qemu *q, const char *packet)
{
	struct fake_reg table[FAKE_NR_REGS], *r = table;
	unsigned int byte;
	const char *hex;

	fake_reg_table(q, table);
	while (r < table + FAKE_NR_REGS && strncmp(packet, r->packet, strlen(r->packet)))
		r++;
	if (r == table + FAKE_NR_REGS)
		return false;
	hex = packet + strlen(r->packet);
	*r->value = 0;
	for (size_t i = 0; i < (q->cs == 0x23 ? 4 : 8) && sscanf(hex + 2 * i, "%2x", &byte) == 1;
	     i++)
		*r->value |= (uint64_t)byte << 8 * i;
	stub_say(&q->stub, "OK");
	return true;
}

static void fake_run(struct fake_qemu *q)
{
	const char *stop = atomic_exchange(&q->stop, NULL);

	q->running = !stop;
	q->ran = true;
	if (stop && q->remaps)
		fake_map_text(q, FAKE_TEXT + 0x1000);
	if (stop)
		stub_say(&q->stub, stop);
}

static void fake_run_alone(struct fake_qemu *q)
{
	q->running = !q->comes;
	if (q->comes)
		stub_say(&q->stub, "T05thread:p01.01;");
}

/* Nothing where nobody is to step. */
static void fake_step(struct fake_qemu *q)
{
	const struct fake_step *s = q->steps;

	if (!s) {
		stub_say(&q->stub, "");
	} else if (s->rip) {
		q->rip = s->rip;
		q->rsp = s->rsp;
		q->steps++;
		stub_say(&q->stub, "T05thread:p01.01;");
	} else {
		stub_say(&q->stub, s->stop);
	}
}

#define FAKE_RESET_RIP 0xfff0

static void fake_reset(struct fake_qemu *q)
{
	q->resets = NULL;
	q->cr3 = q->rsp = 0;
	q->rip = FAKE_RESET_RIP;
	q->eflags = 2;
	q->cs = 0xf000;
}

static void fake_answer(struct fake_qemu *q, const char *p)
{
	static const char *const fixed[][2] = {
		{"qSupported", "PacketSize=1000;qXfer:features:read+;multiprocess+"},
		{"?", "T05thread:p01.01;"},
		{"qXfer:features:read:target.xml", "l" TARGET},
		{"qXfer:features:read:64.xml", "l" XML},
		{"qfThreadInfo", "mp01.01"},
		{"qsThreadInfo", "l"},
		{"Hg", "OK"},
		{"Hc", "OK"},
		{"Qqemu.PhyMemMode", "OK"},
		{"Z0", "OK"},
		{"z0", "OK"},
		{"D", "OK"},
		{"P", "OK"},
	};

	if (q->kvm && (!strncmp(p, "Z0", 2) || !strncmp(p, "z0", 2)) && q->cr3 != q->sees) {
		stub_say(&q->stub, "E22");
		return;
	}
	/* The second vCPU has none: the first is rid of it, and then that is what is said. */
	if (q->plugs && q->ran && !strncmp(p, "z0", 2)) {
		stub_say(&q->stub, "E22");
		return;
	}
	if (q->resets && !strncmp(p, q->resets, strlen(q->resets)))
		fake_reset(q);
	if (fake_set_reg(q, p))
		return;
	if (*p == 'D')
		q->detached = true;
	if (!strcmp(p, "qfThreadInfo") && (q->threads || (q->plugs && q->ran))) {
		stub_say(&q->stub, q->threads ? q->threads : "mp01.01,p01.02");
		return;
	}
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (!strncmp(p, fixed[i][0], strlen(fixed[i][0]))) {
			stub_say(&q->stub, fixed[i][1]);
			return;
		}
	}
	if (!strncmp(p, "qRcmd,", 6))
		fake_monitor(q, p + 6);
	else if (*p == 'm' || *p == 'M')
		fake_memory(q, p);
	else if (!strcmp(p, "vCont;c"))
		fake_run(q);
	else if (!strncmp(p, "vCont;c:", 8))
		fake_run_alone(q);
	else if (!strncmp(p, "qThreadExtraInfo,", 17)) /* CPU#0 [...] */
		stub_say(&q->stub, q->halted ? "4350552330205b68616c746564205d"
					     : "4350552330205b72756e6e696e675d");
	else if (!strncmp(p, "vCont;s:", 8))
		fake_step(q);
	else if (*p == 3 && q->running)
		fake_stop(q);
	else if (*p == 'g')
		fake_regs(q);
	else if (*p != 3)
		stub_say(&q->stub, "");
}

/* A packet, or an interrupt as ^C. */
static void fake_hear(struct fake_qemu *q)
{
	const char *text = q->stub.got[0] == 3 ? "^C" : q->stub.got;
	int n = snprintf(q->heard + q->len, sizeof(q->heard) - q->len, "[%s]", text);

	if ((size_t)n < sizeof(q->heard) - q->len)
		q->len += (size_t)n;
}

static void fake_kill(const struct fake_qemu *q)
{
	if (q->client && q->came == q->come)
		kill(q->client, SIGKILL);
}

/* Faster than anybody loses patience, until it is told something. */
static void fake_talk(struct fake_qemu *q)
{
	struct pollfd fd = {.fd = q->stub.fd, .events = POLLIN};

	do
		stub_say(&q->stub, q->talk);
	while (!poll(&fd, 1, FAKE_TALK_MS));
}

static void *fake_thread(void *arg)
{
	struct fake_qemu *q = arg;

	q->stub.fd = accept(q->listener, NULL, NULL);
	fake_kill(q);
	if (q->limit)
		stub_send(&q->stub, "$T02thread:01;#04", 17); /* it ran until now */
	while (stub_receive(&q->stub)) {
		bool talks = q->answered < q->limit;

		fake_hear(q);
		q->came++;
		fake_kill(q);
		if (!talks && q->end == FAKE_HANGS_UP)
			break;
		if (!talks && q->end == FAKE_TALKS)
			fake_talk(q);
		if (!talks || (q->deaf && q->stub.got[0] == 3))
			continue;
		if (q->stub.got[0] != 3)
			stub_send(&q->stub, "+", 1);
		q->answered++; /* before whoever gets the answer may look */
		fake_answer(q, q->stub.got);
	}
	close(q->stub.fd);
	q->ended = true;
	return NULL;
}

static void fake_listen(struct fake_qemu *q)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	strcpy(q->dir, "/tmp/hvq.XXXXXX");
	if (!mkdtemp(q->dir))
		abort();
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/gdb", q->dir);
	snprintf(q->target, sizeof(q->target), "gdb:unix:%s", addr.sun_path);
	q->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (q->listener < 0 || bind(q->listener, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(q->listener, 1))
		abort();
}

static void fake_serve(struct fake_qemu *q)
{
	if (pthread_create(&q->thread, NULL, fake_thread, q))
		abort();
}

static inline void fake_start(struct fake_qemu *q)
{
	fake_listen(q);
	fake_serve(q);
}

static inline void fake_wait_running(const struct fake_qemu *q)
{
	while (!q->running) {
		if (q->ended)
			fail_msg("it ended before it ran: %s", q->heard);
		sched_yield();
	}
}

static inline void fake_map(struct fake_qemu *q)
{
	fake_put(q, FAKE_TABLES + 8 * (FAKE_VA >> 39 & 511), 0x4003);
	fake_put(q, 0x4000 + 8 * (FAKE_VA >> 30 & 511), 0x5003);
	fake_put(q, 0x5000 + 8 * (FAKE_VA >> 21 & 511), 0x6003);
	fake_map_text(q, FAKE_TEXT);
}

/* When everyone has let go of it. */
static inline void fake_end(struct fake_qemu *q)
{
	pthread_join(q->thread, NULL);
	close(q->listener);
	unlink(q->target + strlen("gdb:unix:"));
	rmdir(q->dir);
}

#endif
