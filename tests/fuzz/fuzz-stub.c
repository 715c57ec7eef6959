// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz-stub.c - a gdb stub that may say anything, and QEMU's monitor behind it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vmm/qemu/qemu.h"

#define MAX_SAID 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_monitor(struct gdb *g)
{
	struct qemu_region regions[4];
	struct qemu_vcpu vcpus[2] = {{.thread = 1}, {.thread = 2}};
	uint64_t hva;
	uint32_t value;
	char *text;

	if (gdb_monitor(g, "anything", &text))
		return;
	qemu_monitor_regions(text, regions, 4);
	qemu_monitor_port(text, "acpi-tmr");
	qemu_monitor_hva(text, &hva);
	qemu_monitor_tables(text, vcpus, 2);
	qemu_monitor_port_value(text, &value);
	free(text);
}

static void ask(struct gdb *g)
{
	uint64_t regs[GDB_NR_REGS];
	uint32_t threads[3];
	struct gdb_stop stop;
	uint8_t bytes[100];

	gdb_threads(g, threads, 3);
	gdb_read_regs(g, 1, regs);
	gdb_write_regs(g, 1, &(struct gdb_reg_value){GDB_RIP, 0}, 1, regs);
	gdb_read_phys(g, 0, bytes, sizeof(bytes));
	ask_monitor(g);
	gdb_breakpoint_set(g, 0);
	gdb_continue(g, 1);
	gdb_wait_stop(g, &stop, 0);
	gdb_detach(g, true);
}

struct speech {
	int fd;
	size_t len;
	char text[64 << 10];
};

/* Say it all, then hear what is asked, so that the other side never waits. */
static void *speak(void *arg)
{
	struct speech *s = arg;
	char heard[4096];

	send(s->fd, s->text, s->len, MSG_NOSIGNAL);
	shutdown(s->fd, SHUT_WR);
	while (recv(s->fd, heard, sizeof(heard), 0) > 0)
		;
	return NULL;
}

static void say_bytes(struct speech *s, const void *bytes, size_t len)
{
	memcpy(s->text + s->len, bytes, len);
	s->len += len;
}

/* As a packet. */
static void say(struct speech *s, const uint8_t *text, size_t len)
{
	char sum[4];
	uint8_t n = 0;

	for (size_t i = 0; i < len; i++)
		n = (uint8_t)(n + text[i]);
	snprintf(sum, sizeof(sum), "#%02x", n);
	say_bytes(s, "$", 1);
	say_bytes(s, text, len);
	say_bytes(s, sum, 3);
}

/* What a stub says that is asked by gdb_open(), up to the registers; "l" begins those. */
static void say_hello(struct speech *s)
{
	static const char *const hello[] = {"qXfer:features:read+;multiprocess+", "S05"};
	static const char *const names[] = {
		"rax", "rbx", "rcx", "rdx", "rsi",  "rdi",     "rbp",	  "rsp",       "r8", "r9",
		"r10", "r11", "r12", "r13", "r14",  "r15",     "rip",	  "eflags",    "cs", "ss",
		"cr0", "cr2", "cr3", "cr4", "efer", "fs_base", "gs_base", "k_gs_base",
	};
	char xml[2048] = "l";
	size_t len = 1;

	for (size_t i = 0; i < sizeof(hello) / sizeof(hello[0]); i++)
		say(s, (const uint8_t *)hello[i], strlen(hello[i]));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		len += (size_t)snprintf(xml + len, sizeof(xml) - len,
					"<reg name='%s' bitsize='64'/>", names[i]);
	say(s, (const uint8_t *)xml, len);
}

/* Packets end at a NUL. */
static void say_packets(struct speech *s, const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *end = memchr(data, 0, size);
		size_t len = end ? (size_t)(end - data) : size;

		say(s, data, len);
		len += end ? 1 : 0;
		data += len;
		size -= len;
	}
}

/*
 * What the stub says it has said before it is asked: an answer is the next packet, whenever it
 * came. The first byte tells how it begins, and whether the packets are well formed.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct speech s = {.len = 0};
	pthread_t thread;
	struct gdb *g;
	char err[256];
	int fds[2];

	if (!size || size > MAX_SAID || socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return 0;
	s.fd = fds[0];
	if (data[0] & 1)
		say_hello(&s);
	if (data[0] & 2)
		say_bytes(&s, data + 1, size - 1);
	else
		say_packets(&s, data + 1, size - 1);
	if (pthread_create(&thread, NULL, speak, &s))
		abort();
	g = gdb_open(fds[1], err, sizeof(err));
	if (g)
		ask(g);
	gdb_close(g);
	pthread_join(thread, NULL);
	close(fds[0]);
	return 0;
}
