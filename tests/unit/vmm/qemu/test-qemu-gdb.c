// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-gdb.c - the gdb client and the register layout, against scripted stubs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fake-stub.h"
#include "vmm/qemu/gdb/ask.h"

static struct gdb *begin(struct stub *s, const struct stub_step *script)
{
	char err[256] = "";
	struct gdb *g;

	stub_start(s, script);
	g = gdb_open(s->client, err, sizeof(err));
	if (!g)
		print_message("%s\n", err);
	assert_non_null(g);
	return g;
}

static void end(struct stub *s, struct gdb *g)
{
	gdb_close(g);
	assert_true(stub_end(s));
}

static void open_fails(const struct stub_step *script, const char *why)
{
	struct stub s = {0};
	char err[256] = "";

	stub_start(&s, script);
	assert_null(gdb_open(s.client, err, sizeof(err)));
	if (!strstr(err, why))
		fail_msg("'%s' does not tell of '%s'", err, why);
	assert_null(strchr(err, '\n'));
	stub_end(&s);
}

/* --- connecting ----------------------------------------------------------------------------- */

static void test_open(void **state)
{
	static const struct stub_step quiet[] = {HELLO, END_OF_SCRIPT};
	static const struct stub_step was_running[] = {
		{.raw = "$T02thread:01;#04"}, HELLO, END_OF_SCRIPT};
	static const struct stub_step no_ack[] = {
		{.want = SUPPORTED, .say = "QStartNoAckMode+;qXfer:features:read+"},
		{.want = "QStartNoAckMode", .say = "OK"},
		{.want = "?", .say = "S05"},
		{.want = READ "target.xml:0,800", .say = "m<x/>"},
		{.want = READ "target.xml:4,800", .say = "l" XML},
		{.want = "D", .say = "OK"},
		END_OF_SCRIPT,
	};
	struct stub s = {.split = true};
	struct gdb *g;

	(void)state;
	g = begin(&s, quiet);
	assert_false(gdb_was_running(g));
	end(&s, g);
	g = begin(&s, was_running);
	assert_true(gdb_was_running(g));
	end(&s, g);
	g = begin(&s, no_ack);
	assert_int_equal(gdb_detach(g, true), 0);
	assert_int_equal(gdb_detach(g, true), -ECONNRESET);
	end(&s, g);
	gdb_close(NULL);
}

static void test_open_refused(void **state)
{
	static const struct stub_step hangs_up[] = {{.want = SUPPORTED}, END_OF_SCRIPT};
	static const struct stub_step no_features[] = {
		{.want = SUPPORTED, .say = "PacketSize=1000"}, END_OF_SCRIPT};
	static const struct stub_step other_arch[] = {
		{.want = SUPPORTED, .say = "qXfer:features:read+"},
		{.want = "?", .say = "S05"},
		{.want = READ "target.xml:0,800", .say = "l<reg name=\"r0\" bitsize=\"32\"/>"},
		END_OF_SCRIPT,
	};
	static const struct stub_step bad_xml[] = {
		{.want = SUPPORTED, .say = "qXfer:features:read+"},
		{.want = "?", .say = "S05"},
		{.want = READ "target.xml:0,800", .say = "l<xi:include nothing=\"\"/>"},
		END_OF_SCRIPT,
	};
	static const struct stub_step no_xml[] = {
		{.want = SUPPORTED, .say = "qXfer:features:read+"},
		{.want = "?", .say = "S05"},
		{.want = READ "target.xml:0,800", .say = "E00"},
		END_OF_SCRIPT,
	};
	static const struct stub_step endless[] = {
		{.want = SUPPORTED, .say = "qXfer:features:read+"},
		{.want = "?", .say = "S05"},
		{.want = READ "target.xml:0,800", .say = "m"},
		END_OF_SCRIPT,
	};

	(void)state;
	open_fails(hangs_up, "reset");
	open_fails(no_features, "not supported");
	open_fails(other_arch, "rax");
	open_fails(bad_xml, "rotocol");
	open_fails(no_xml, "emote I/O");
	open_fails(endless, "rotocol");
}

static bool gives_up(void *arg)
{
	unsigned int *asked = arg;

	return ++*asked == 3;
}

/* A stub with another client takes the connection, and nothing that is sent on it. */
static void test_silent(void **state)
{
	char err[256] = "";
	unsigned int asked = 0;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_null(gdb_open_idle(fds[0], gives_up, &asked, err, sizeof(err)));
	assert_int_equal(asked, 3);
	assert_non_null(strstr(err, "given up"));
	close(fds[1]);
}

static void test_connect_errors(void **state)
{
	static const struct {
		const char *address, *why;
	} bad[] = {
		{"unix:/nonexistent/socket", "No such file"},
		{"nothing", "no address"},
		{"host:", "no address"},
		{":1", "no address"},
		{"[::1]:", "no address"},
		{"127.0.0.1:1", "refused"},
		{"unix:", "no address"},
		{"127.0.0.1:nosuchservice", "no address"},
	};
	const struct gdb_caller nobody = {NULL, NULL, NULL};
	char err[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(gdb_dial(bad[i].address, &nobody, err, sizeof(err)) < 0);
		if (!strstr(err, bad[i].why))
			fail_msg("%s: '%s'", bad[i].address, err);
	}
}

/* --- what one asks of a stopped guest -------------------------------------------------------- */

static void test_threads(void **state)
{
	static const struct stub_step script[] = {
		HELLO,
		{.want = "qfThreadInfo", .say = "mp01.01,p01.0a"},
		{.want = "qsThreadInfo", .say = "mp01.02"},
		{.want = "qsThreadInfo", .say = "l"},
		{.want = "qfThreadInfo", .say = "mp01.01,p01.0a"},
		{.want = "qfThreadInfo", .say = "l"},
		{.want = "qfThreadInfo", .say = "mp01"},
		{.want = "qfThreadInfo", .say = "m1,"},
		{.want = "qfThreadInfo", .say = "m0"},
		{.want = "qfThreadInfo", .say = ""},
		{.want = "qfThreadInfo", .say = "m1"},
		{.want = "qsThreadInfo", .say = "E01"},
		{.want = "D;1", .say = "OK"},
		END_OF_SCRIPT,
	};
	struct stub s = {0};
	struct gdb *g = begin(&s, script);
	uint32_t threads[3];

	(void)state;
	assert_int_equal(gdb_threads(g, threads, 3), 3);
	assert_int_equal(threads[1], 10);
	assert_int_equal(threads[2], 2);
	assert_int_equal(gdb_threads(g, threads, 1), -E2BIG);
	for (int i = 0; i < 6; i++)
		assert_int_equal(gdb_threads(g, threads, 3), -EPROTO);
	assert_int_equal(gdb_detach(g, true), 0);
	end(&s, g);
}

static void test_regs(void **state)
{
	const struct gdb_reg_value both[] = {{GDB_RIP, 0xdeadbeef}, {GDB_EFLAGS, 0x246}};
	const struct gdb_reg_value none = {GDB_RIP, 0};
	char regs[2 * BYTES + 1];
	const struct stub_step script[] = {
		HELLO,
		{.want = "qfThreadInfo", .say = "mp01.01"},
		{.want = "qsThreadInfo", .say = "l"},
		{.want = "Hgp1.1", .say = "OK"},
		{.want = "g", .say = regs},
		{.want = "P10=efbeadde00000000", .say = "OK"},
		{.want = "g", .say = regs},
		{.want = "P10=efbeadde00000000", .say = "OK"},
		{.want = "P11=46020000", .say = "OK"},
		{.want = "g", .say = regs},
		{.want = "g", .say = regs + 2}, /* a byte less */
		{.want = "g", .say = "E14"},
		{.want = "Hgp1.2", .say = "E22"},
		{.want = "Hgp1.1", .say = "OK"}, /* none is known to be selected now */
		{.want = "P10=0000000000000000", .say = ""},
		{.want = "g", .say = regs},
		{.want = "g", .raw = "$#00"},
		END_OF_SCRIPT,
	};
	struct stub s = {0};
	uint64_t v[GDB_NR_REGS];
	uint32_t thread;
	struct gdb *g;

	(void)state;
	for (int i = 0; i < BYTES; i++)
		snprintf(regs + 2 * i, 3, "%02x", i);
	g = begin(&s, script);
	assert_int_equal(gdb_threads(g, &thread, 1), 1);
	assert_int_equal(gdb_read_regs(g, 1, v), 0);
	assert_int_equal(v[GDB_RAX], 0x0706050403020100);
	assert_int_equal(v[GDB_RIP], 0x8786858483828180);
	assert_int_equal(v[GDB_EFLAGS], 0x8b8a8988);
	assert_int_equal(v[GDB_SS], 0x93929190);
	assert_int_equal(v[GDB_FS_BASE], 0x9b9a999897969594);
	assert_int_equal(v[GDB_EFER] & 0xff, BYTES - 8);
	memset(v, 0, sizeof(v));
	assert_int_equal(gdb_write_regs(g, 1, both, 1, v), 0);
	assert_int_equal(v[GDB_RAX], 0x0706050403020100);
	assert_int_equal(gdb_write_regs(g, 1, both, 2, v), 0);
	assert_int_equal(gdb_read_regs(g, 1, v), -EPROTO);
	assert_int_equal(gdb_read_regs(g, 1, v), -EREMOTEIO);
	assert_int_equal(gdb_read_regs(g, 2, v), -EREMOTEIO);
	assert_int_equal(gdb_write_regs(g, 1, &none, 1, v), -EREMOTEIO);
	assert_int_equal(gdb_read_regs(g, 1, v), -EPROTO);
	end(&s, g);
}

static void test_memory(void **state)
{
	char page[2 * 1024 + 1], write[sizeof(page) + 32];
	const struct stub_step script[] = {
		HELLO,
		{.want = "Qqemu.PhyMemMode:1", .say = "OK"},
		{.want = "m1000,4", .say = "01020aff"},
		{.want = "m1000,400", .say = page},
		{.want = "m1400,1", .say = "5a"},
		{.want = "m1000,4", .say = "01020a"},
		{.want = "m1000,4", .say = "01020axx"},
		{.want = "m1000,4", .say = "E14"},
		{.want = write, .say = "OK"},
		{.want = "M1400,1:a5", .say = "OK"},
		{.want = "M10,2:0102", .say = "E14"},
		{.want = "Qqemu.PhyMemMode:0", .say = "OK"},
		END_OF_SCRIPT,
	};
	struct stub s = {0};
	uint8_t buf[1025];
	struct gdb *g;

	(void)state;
	memset(page, 'a', sizeof(page) - 1);
	page[sizeof(page) - 1] = '\0';
	snprintf(write, sizeof(write), "M1000,400:%s", page);
	g = begin(&s, script);
	assert_int_equal(gdb_read_phys(g, 0x1000, buf, 4), 0);
	assert_memory_equal(buf, "\x01\x02\x0a\xff", 4);
	assert_int_equal(gdb_read_phys(g, 0x1000, buf, 1025), 0);
	assert_int_equal(buf[1023], 0xaa);
	assert_int_equal(buf[1024], 0x5a);
	assert_int_equal(gdb_read_phys(g, 0x1000, buf, 4), -EPROTO);
	assert_int_equal(gdb_read_phys(g, 0x1000, buf, 4), -EPROTO);
	assert_int_equal(gdb_read_phys(g, 0x1000, buf, 4), -EREMOTEIO);
	memset(buf, 0xaa, 1024);
	buf[1024] = 0xa5;
	assert_int_equal(gdb_write_phys(g, 0x1000, buf, 1025), 0);
	assert_int_equal(gdb_write_phys(g, 0x10, "\x01\x02", 2), -EREMOTEIO);
	assert_int_equal(gdb_detach(g, false), 0);
	end(&s, g);
}

static void test_monitor(void **state)
{
	char *text;
	static const struct stub_step script[] = {
		HELLO,
		{.want = "qRcmd,6f6e65", .say = "O61"},
		{.say = "O620a"},
		{.say = "OK"},
		{.want = "qRcmd,6f6e65", .say = "OK"},
		{.want = "qRcmd,6f6e65", .say = "E01"},
		{.want = "qRcmd,6f6e65", .say = "O6"},
		{.want = "qRcmd,6f6e65", .say = "O"}, /* and so on without end */
		{.want = "qRcmd,6f6e65", .say = "Oxx"},
		{.want = "qRcmd,6f6e65", .say = ""},
		END_OF_SCRIPT,
	};
	static char too_long[600];
	struct stub s = {0};
	struct gdb *g = begin(&s, script);

	(void)state;
	assert_int_equal(gdb_monitor(g, "one", &text), 0);
	assert_string_equal(text, "ab\n");
	free(text);
	assert_int_equal(gdb_monitor(g, "one", &text), 0);
	assert_string_equal(text, "");
	free(text);
	for (int i = 0; i < 3; i++)
		assert_int_equal(gdb_monitor(g, "one", &text), -EREMOTEIO);
	assert_int_equal(gdb_monitor(g, "one", &text), -EPROTO);
	assert_int_equal(gdb_monitor(g, "one", &text), -EREMOTEIO);
	memset(too_long, 'x', sizeof(too_long) - 1);
	assert_int_equal(gdb_monitor(g, too_long, &text), -EMSGSIZE);
	end(&s, g);
}

/* What the stub gets, had we sent it. */
static void test_packets_of_registers(void **state)
{
	static const struct stub_step script[] = {
		HELLO,
		{.want = "qfThreadInfo", .say = "mp01.02"},
		{.want = "qsThreadInfo", .say = "l"},
		END_OF_SCRIPT,
	};
	static const struct gdb_reg_value regs[] = {{GDB_RAX, 0x1234}, {GDB_EFLAGS, 0x202}};
	static const char whole[] = "$Hgp1.2#b0$g#67$P0=3412000000000000#c7$P11=02020000#73";
	struct stub s = {0};
	struct gdb *g = begin(&s, script);
	char packets[128];
	uint32_t thread;

	(void)state;
	assert_int_equal(gdb_threads(g, &thread, 1), 1);
	assert_int_equal(gdb_regs_packets(g, thread, regs, 2, packets, sizeof(packets)), 0);
	assert_string_equal(packets, whole);
	for (size_t size = 1; size < sizeof(whole); size++)
		assert_int_equal(gdb_regs_packets(g, thread, regs, 2, packets, size), -EMSGSIZE);
	assert_int_equal(gdb_regs_packets(g, thread, regs, 2, packets, sizeof(whole)), 0);
	assert_int_equal(gdb_detach_packet(g, packets, 8), 0);
	assert_string_equal(packets, "$D;1#b0");
	assert_int_equal(gdb_detach_packet(g, packets, 7), -EMSGSIZE);
	end(&s, g);
}

/* --- running -------------------------------------------------------------------------------- */

/* What comes behind one that fails is on its way already: of each it is told what has become of it.
 */
static void test_breakpoints(void **state)
{
	static const struct stub_step script[] = {
		HELLO,
		{.want = "Z0,1000,1", .say = "OK"},
		{.want = "Z0,2000,1", .say = "E22"},
		{.want = "Z0,3000,1", .say = "OK"},
		{.want = "z0,1000,1", .say = "OK"},
		{.want = "z0,3000,1", .say = "OK"},
		{.want = "z0,1000,1", .say = "E02"},
		END_OF_SCRIPT,
	};
	const uint64_t set[] = {0x1000, 0x2000, 0x3000}, clear[] = {0x1000, 0x3000};
	struct stub s = {0};
	struct gdb *g = begin(&s, script);
	bool ok[3];

	(void)state;
	assert_int_equal(gdb_breakpoints(g, true, set, ok, 3), -EREMOTEIO);
	assert_true(ok[0] && !ok[1] && ok[2]);
	assert_int_equal(gdb_breakpoints(g, false, clear, ok, 2), 0);
	assert_true(ok[0] && ok[1]);
	assert_int_equal(gdb_breakpoints(g, false, clear, ok, 1), -EREMOTEIO);
	assert_false(ok[0]);
	end(&s, g);
}

/* Many more than are on their way at a time, with a stub that goes away. */
static void test_many_breakpoints(void **state)
{
	static const struct stub_step begin_of[] = {HELLO};
	enum { HELLOS = sizeof(begin_of) / sizeof(begin_of[0]), MANY = 100, ANSWERED = 60 };
	static struct stub_step script[HELLOS + ANSWERED + 1];
	static char want[ANSWERED][32];
	unsigned int done = 0;
	uint64_t vas[MANY];
	struct stub s = {0};
	struct gdb *g;
	bool ok[MANY];

	(void)state;
	memcpy(script, begin_of, sizeof(begin_of));
	for (unsigned int i = 0; i < MANY; i++)
		vas[i] = 0x1000 * (i + 1);
	for (unsigned int i = 0; i < ANSWERED; i++) {
		snprintf(want[i], sizeof(want[i]), "z0,%x,1", 0x1000 * (i + 1));
		script[HELLOS + i] = (struct stub_step){.want = want[i], .say = "OK"};
	}
	g = begin(&s, script);
	assert_true(gdb_breakpoints(g, false, vas, ok, MANY) < 0);
	/* It may have been told of the end before it has read the last answers. */
	while (ok[done])
		done++;
	assert_in_range(done, ANSWERED - GDB_AHEAD_MAX, ANSWERED);
	for (unsigned int i = done; i < MANY; i++)
		assert_false(ok[i]);
	gdb_close(g);
	pthread_join(s.thread, NULL);
}

/* At a stop QEMU selects a thread by itself: what was selected before does not count. */
static void test_selected_anew(void **state)
{
	char zeros[2 * BYTES + 1];
	const struct stub_step script[] = {
		HELLO,
		{.want = "qfThreadInfo", .say = "mp01.01"},
		{.want = "qsThreadInfo", .say = "l"},
		{.want = "Hgp1.1", .say = "OK"},
		{.want = "g", .say = zeros},
		{.want = "g", .say = zeros},
		{.want = "vCont;c", .say = "T05thread:p01.02;"},
		{.want = "Hgp1.1", .say = "OK"},
		{.want = "g", .say = zeros},
		END_OF_SCRIPT,
	};
	struct stub s = {0};
	struct gdb *g;
	uint64_t regs[GDB_NR_REGS];
	struct gdb_stop stop;
	uint32_t thread;

	(void)state;
	memset(zeros, '0', sizeof(zeros) - 1);
	zeros[sizeof(zeros) - 1] = '\0';
	g = begin(&s, script);
	assert_int_equal(gdb_threads(g, &thread, 1), 1);
	assert_int_equal(gdb_read_regs(g, 1, regs), 0);
	assert_int_equal(gdb_read_regs(g, 1, regs), 0);
	assert_int_equal(gdb_continue(g, 1), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(gdb_read_regs(g, 1, regs), 0);
	end(&s, g);
}

static void test_run(void **state)
{
	static const struct stub_step script[] = {
		HELLO,
		{.want = "qfThreadInfo", .say = "mp01.01"},
		{.want = "qsThreadInfo", .say = "l"},
		{.want = "Z0,ffffffff81000010,1", .say = "OK"},
		{.want = "z0,ffffffff81000010,1", .say = "E22"},
		{.want = "vCont;c"},
		{.want = "\3", .say = "T02thread:p01.02;"},
		{.want = "vCont;c:p1.1", .say = "T05swbreak:;thread:p01.01;"},
		{.want = "vCont;c", .say = "S05"},
		{.want = "vCont;c", .say = "T0"},
		{.want = "vCont;c", .say = "T05thread:;"},
		{.want = "vCont;c", .say = "O61"},
		{.say = "W00"},
		END_OF_SCRIPT,
	};
	struct stub s = {0};
	struct gdb *g = begin(&s, script);
	struct gdb_stop stop;
	uint32_t thread;

	(void)state;
	assert_int_equal(gdb_threads(g, &thread, 1), 1);
	assert_int_equal(gdb_breakpoint_set(g, 0xffffffff81000010), 0);
	assert_int_equal(gdb_breakpoint_clear(g, 0xffffffff81000010), -EREMOTEIO);
	assert_int_equal(gdb_continue(g, 1), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, 0), -ETIMEDOUT);
	assert_int_equal(gdb_interrupt(g), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(stop.kind, GDB_STOP_SIGNAL);
	assert_int_equal(stop.signal, GDB_SIGNAL_INT);
	assert_int_equal(stop.thread, 2);
	assert_int_equal(gdb_continue_one(g, 1), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(stop.signal, GDB_SIGNAL_TRAP);
	assert_int_equal(stop.thread, 1);
	assert_int_equal(gdb_continue(g, 1), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(stop.thread, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(gdb_continue(g, 1), 0);
		assert_int_equal(gdb_wait_stop(g, &stop, -1), -EPROTO);
	}
	assert_int_equal(gdb_continue(g, 1), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(stop.kind, GDB_STOP_EXITED);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), -ECONNRESET);
	end(&s, g);
}

/*
 * QEMU tells a stop for the thread of the last one, or that of Hc, though it may have been
 * unplugged since: so it has another one to tell it for whenever the guest runs.
 */
static void test_stops_as_one_that_stays(void **state)
{
	static const struct stub_step script[] = {
		HELLO,
		{.want = "qfThreadInfo", .say = "mp01.01"},
		{.want = "qsThreadInfo", .say = "l"},
		{.want = "vCont;c", .say = "T05thread:p01.02;"},
		{.want = "Hcp1.1", .say = "OK"},
		{.want = "vCont;c"},
		{.want = "\3", .say = "T02thread:p01.01;"},
		{.want = "vCont;c", .say = "T02thread:p01.01;"},
		{.want = "Hcp1.3", .say = "OK"},
		{.want = "Hcp1.1", .say = "E22"},
		{.want = "vCont;c", .say = "T02thread:p01.03;"},
		{.want = "vCont;c", .say = "T02thread:p01.03;"},
		{.want = "vCont;s:p1.2", .say = "T05thread:p01.02;"},
		{.want = "Hcp1.1", .say = "OK"},
		{.want = "vCont;c", .say = "S05"},
		{.want = "vCont;c", .say = "S05"},
		{.want = "D;1", .say = "OK"},
		END_OF_SCRIPT,
	};
	struct stub s = {0};
	struct gdb *g = begin(&s, script);
	struct gdb_stop stop;
	uint32_t thread;

	(void)state;
	assert_int_equal(gdb_threads(g, &thread, 1), 1);
	assert_int_equal(gdb_continue(g, 1), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(stop.thread, 2);
	assert_int_equal(gdb_continue(g, 1), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, 0), -ETIMEDOUT);
	assert_int_equal(gdb_interrupt(g), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(gdb_continue(g, 1), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(gdb_select_breakpoints(g, 3), 0);
	assert_int_equal(gdb_continue(g, 1), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(gdb_continue(g, 0), 0); /* whoever asks knows that none is unplugged */
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	assert_int_equal(gdb_step_one(g, 2), 0);
	assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(gdb_continue(g, 1), 0);
		assert_int_equal(gdb_wait_stop(g, &stop, -1), 0);
		assert_int_equal(stop.thread, 0);
	}
	assert_int_equal(gdb_detach(g, true), 0);
	end(&s, g);
}

/* --- the layout ----------------------------------------------------------------------------- */

static void test_layout(void **state)
{
	static const char *const wrong[] = {
		"<reg name=\"rax\"/>",
		"<reg name=\"rax\" bitsize=\"\"/>",
		"<reg name=\"rax\" bitsize=\"7\"/>",
		"<reg name=\"rax\" bitsize=\"0\"/>",
		"<reg name=\"rax\" bitsize=\"-8\"/>",
		"<reg name=\"rax\" bitsize=\"99999999999999999999\"/>",
		"<reg name=\"rax\" bitsize=\"4096\"/>",
		"<reg name=\"rax\" bitsize=\"64\" regnum=\"3\"/>",
		"<reg name=\"rax\" bitsize=\"64/>",
	};
	struct gdb_layout layout = {0};
	const char *name;
	char href[8];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(gdb_layout_add(&layout, wrong[i]), -EPROTO);
	assert_int_equal(layout.next, 0);
	assert_int_equal(gdb_layout_add(&layout, "<reg <!-- <"), 0);
	assert_int_equal(gdb_layout_add(&layout, "<region/><regs>"), 0);
	for (int i = 0; i < 1024; i++)
		assert_int_equal(gdb_layout_add(&layout, R32("cs")), 0);
	assert_int_equal(gdb_layout_add(&layout, R32("cs")), -EPROTO);
	assert_int_equal(gdb_layout_check(&layout, &name), -EPROTO);
	assert_string_equal(name, "rax");
	assert_int_equal(gdb_layout_include("<xi:include href=\"a.xml\"/>", 1, href, 8), 0);
	assert_int_equal(gdb_layout_include("<xi:include href=\"a.xml\"/>", 0, href, 8), 1);
	assert_string_equal(href, "a.xml");
	assert_int_equal(gdb_layout_include("<xi:include href=\"abcd.xml\"/>", 0, href, 8),
			 -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_open_refused),
		cmocka_unit_test(test_connect_errors),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_regs),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_monitor),
		cmocka_unit_test(test_packets_of_registers),
		cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_many_breakpoints),
		cmocka_unit_test(test_selected_anew),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_stops_as_one_that_stays),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests_name("qemu gdb client", tests, NULL, NULL);
}
