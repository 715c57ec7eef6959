// SPDX-License-Identifier: GPL-2.0-or-later
/* test-kvm-devices.c - the devices' register logic; needs no KVM. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/kvm/chip/i8254.h"
#include "vmm/kvm/chip/mc146818.h"
#include "vmm/kvm/chip/uart.h"

/* --- serial port --------------------------------------------------------------------------- */

struct port {
	struct uart uart;
	char out[64];
	size_t len;
	bool irq;
	unsigned int rises;
};

static void port_irq(void *arg, bool level)
{
	struct port *p = arg;

	p->rises += level && !p->irq;
	p->irq = level;
}

static void port_output(void *arg, const char *text, size_t len)
{
	struct port *p = arg;

	assert_true(len <= sizeof(p->out) - p->len);
	memcpy(p->out + p->len, text, len);
	p->len += len;
}

static const struct uart_ops port_ops = {.irq = port_irq, .output = port_output};

static int port_setup(void **state)
{
	struct port *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	uart_init(&p->uart, &port_ops, p);
	*state = p;
	return 0;
}

static int port_teardown(void **state)
{
	struct port *p = *state;

	uart_exit(&p->uart);
	free(p);
	return 0;
}

/* The steps of autoconfig() in drivers/tty/serial/8250/8250_port.c (6.1). */
static void test_uart_probe(void **state)
{
	struct uart *u = &((struct port *)*state)->uart;

	uart_write(u, 1, 0);
	assert_int_equal(uart_read(u, 1) & 0x0f, 0);
	uart_write(u, 1, 0x0f);
	assert_int_equal(uart_read(u, 1) & 0x0f, 0x0f);
	uart_write(u, 1, 0);

	uart_write(u, 4, 0x10 | 0x0a); /* loop, OUT2 and RTS come back as DCD and CTS */
	assert_int_equal(uart_read(u, 6) & 0xf0, 0x90);
	uart_write(u, 4, 0);

	uart_write(u, 3, 0xbf);
	uart_write(u, 2, 0);
	uart_write(u, 3, 0);
	uart_write(u, 2, 1);
	assert_int_equal(uart_read(u, 2) >> 6, 3); /* 16550A */
	uart_write(u, 3, 0x80);
	assert_int_not_equal(uart_read(u, 2), 0); /* no EFR: not a 16650 */
	uart_write(u, 3, 0);
	assert_int_equal(uart_read(u, 1) & 0x40, 0); /* no UUE bit: not an XScale */
}

/* size_fifo() of the same file. */
static void test_uart_fifo_size(void **state)
{
	struct port *p = *state;
	struct uart *u = &p->uart;
	int count;

	uart_write(u, 2, 7);
	uart_write(u, 4, 0x10);
	for (int i = 0; i < 256; i++)
		uart_write(u, 0, (uint8_t)i);
	assert_int_equal(uart_read(u, 5) & 2, 2); /* overrun, told once */
	assert_int_equal(uart_read(u, 5) & 2, 0);
	for (count = 0; uart_read(u, 5) & 1; count++)
		assert_int_equal(uart_read(u, 0), count);
	assert_int_equal(count, 16);
	assert_int_equal(p->len, 0); /* nothing has left the port */
}

static void test_uart_divisor(void **state)
{
	struct port *p = *state;
	struct uart *u = &p->uart;

	uart_write(u, 3, 0x83);
	uart_write(u, 0, 0x34);
	uart_write(u, 1, 0x12);
	assert_int_equal(uart_read(u, 0), 0x34);
	assert_int_equal(uart_read(u, 1), 0x12);
	uart_write(u, 3, 3);
	assert_int_equal(uart_read(u, 3), 3);
	assert_int_equal(uart_read(u, 1), 0);
	assert_int_equal(p->len, 0);
	uart_write(u, 7, 0x5a);
	assert_int_equal(uart_read(u, 7), 0x5a);
}

/* serial8250_do_startup(): the transmitter's interrupt must come back when it is enabled anew. */
static void test_uart_transmit_interrupt(void **state)
{
	struct port *p = *state;
	struct uart *u = &p->uart;

	uart_write(u, 1, 2);
	assert_int_equal(uart_read(u, 2) & 0x0f, 2);
	assert_int_equal(uart_read(u, 2) & 0x0f, 1); /* reading it took it back */
	assert_false(p->irq);			     /* OUT2 is off */
	uart_write(u, 1, 0);
	uart_write(u, 1, 2);
	assert_int_equal(uart_read(u, 2) & 0x0f, 2);

	uart_write(u, 4, 8);
	uart_write(u, 0, 'x');
	assert_true(p->irq);
	assert_int_equal(uart_read(u, 2) & 0x0f, 2);
	assert_false(p->irq);
	uart_write(u, 0, 'y');
	assert_true(p->irq);
	assert_int_equal(p->rises, 2);
	assert_memory_equal(p->out, "xy", 2);
	assert_int_equal(uart_read(u, 5) & 0x60, 0x60);
}

static void test_uart_input(void **state)
{
	struct port *p = *state;
	struct uart *u = &p->uart;
	const char text[] = "twenty-four bytes of it.";
	char got[sizeof(text)] = "";

	assert_int_equal(uart_input(u, text, 24), 24);
	assert_int_equal(uart_read(u, 5) & 1, 0); /* waits until the guest listens */
	uart_write(u, 2, 7);
	uart_write(u, 4, 8);
	uart_write(u, 1, 1);
	assert_true(p->irq);
	assert_int_equal(uart_read(u, 2) & 0x0f, 4);
	for (int i = 0; uart_read(u, 5) & 1; i++)
		got[i] = (char)uart_read(u, 0);
	assert_string_equal(got, text);
	assert_false(p->irq);
	assert_int_equal(uart_read(u, 0), 0);
}

static void test_uart_input_full(void **state)
{
	struct uart *u = &((struct port *)*state)->uart;
	char much[UART_BACKLOG + 100];

	memset(much, 'm', sizeof(much));
	assert_int_equal(uart_input(u, much, sizeof(much)), UART_BACKLOG);
	assert_int_equal(uart_input(u, much, 1), 0);
	uart_write(u, 2, 1);
	uart_write(u, 1, 1); /* 16 bytes move on into the FIFO */
	assert_int_equal(uart_input(u, much, sizeof(much)), 16);
}

/* --- timer --------------------------------------------------------------------------------- */

#define MS 1000000ull
#define S  1000000000ull

static void timer_program(struct i8254 *t, unsigned int counter, unsigned int mode, uint16_t count,
			  uint64_t now)
{
	i8254_write(t, 3, (uint8_t)(counter << 6 | 0x30 | mode << 1), now);
	i8254_write(t, counter, (uint8_t)count, now);
	i8254_write(t, counter, (uint8_t)(count >> 8), now);
}

static uint16_t timer_latched(struct i8254 *t, unsigned int counter, uint64_t now)
{
	uint16_t low;

	i8254_write(t, 3, (uint8_t)(counter << 6), now);
	low = i8254_read(t, counter, now + S); /* latched: later makes no difference */
	return (uint16_t)(low | i8254_read(t, counter, now + S) << 8);
}

static void test_timer_counts_down(void **state)
{
	struct i8254 t;

	(void)state;
	i8254_init(&t, 1);
	timer_program(&t, 0, 2, 11932, 5 * S); /* 10 ms */
	assert_int_equal(timer_latched(&t, 0, 5 * S), 11932);
	assert_in_range(timer_latched(&t, 0, 5 * S + 5 * MS), 11932 - 5966 - 1, 11932 - 5965 + 1);
	assert_in_range(timer_latched(&t, 0, 5 * S + 15 * MS), 11932 - 5966 - 2, 11932 - 5965 + 2);
}

static void test_timer_periodic_rises(void **state)
{
	uint64_t at = 5 * S, end = at + S;
	unsigned int rises = 0;
	struct i8254 t;

	(void)state;
	i8254_init(&t, 1);
	timer_program(&t, 0, 2, 4773, at); /* Linux at HZ=250 */
	while ((at = i8254_next_rise(&t, 0, at)) < end)
		rises++;
	assert_int_equal(rises, 249); /* 1193182 / 4773 = 249.99 */
}

static void test_timer_stretch(void **state)
{
	struct i8254 t;
	uint64_t first;

	(void)state;
	i8254_init(&t, 40);
	timer_program(&t, 0, 2, 4773, 0);
	first = i8254_next_rise(&t, 0, 0);
	assert_in_range(first, 160 * MS, 160 * MS + MS / 10);
	assert_in_range(i8254_next_rise(&t, 0, first) - first, 160 * MS, 160 * MS + MS / 10);
	/* A late look loses periods, it does not queue them. */
	assert_in_range(i8254_next_rise(&t, 0, 10 * first + MS), 11 * first - 10, 11 * first + 10);
	/* What guests measure time with is not stretched. */
	timer_program(&t, 2, 0, 11932, 0);
	i8254_set_gate(&t, 2, true, 0);
	assert_false(i8254_out(&t, 2, 9 * MS));
	assert_true(i8254_out(&t, 2, 11 * MS));
}

static void test_timer_one_shot(void **state)
{
	struct i8254 t;
	uint64_t at;

	(void)state;
	i8254_init(&t, 1);
	assert_true(i8254_next_rise(&t, 0, 0) == I8254_NEVER);
	timer_program(&t, 0, 4, 1193, S);
	at = i8254_next_rise(&t, 0, S);
	assert_in_range(at, S + MS - 2000, S + MS);
	assert_true(i8254_next_rise(&t, 0, at) == I8254_NEVER);
	timer_program(&t, 0, 0, 0, 2 * S); /* 0 counts 65536 */
	assert_in_range(i8254_next_rise(&t, 0, 2 * S), 2 * S + 54 * MS, 2 * S + 55 * MS);
	i8254_write(&t, 3, 0x30, 2 * S); /* how Linux stops it: a mode without a count */
	assert_true(i8254_next_rise(&t, 0, 2 * S) == I8254_NEVER);
}

static void test_timer_gate(void **state)
{
	struct i8254 t;

	(void)state;
	i8254_init(&t, 1);
	timer_program(&t, 2, 0, 11932, 0);
	assert_false(i8254_out(&t, 2, S)); /* its gate is low: it stands still */
	i8254_set_gate(&t, 2, true, S);
	i8254_set_gate(&t, 2, false, S + 5 * MS);
	assert_false(i8254_out(&t, 2, 3 * S));
	i8254_set_gate(&t, 2, true, 3 * S);
	assert_false(i8254_out(&t, 2, 3 * S + 4 * MS));
	assert_true(i8254_out(&t, 2, 3 * S + 6 * MS));
}

static void test_timer_read_back(void **state)
{
	struct i8254 t;

	(void)state;
	i8254_init(&t, 1);
	timer_program(&t, 0, 3, 1000, 0);
	i8254_write(&t, 3, 0xe2, 0); /* status of counter 0 */
	assert_int_equal(i8254_read(&t, 0, 0), 0x80 | 0x30 | 3 << 1);
	i8254_write(&t, 3, 0x34, 0);
	i8254_write(&t, 3, 0xe2, 0);
	assert_int_equal(i8254_read(&t, 0, 0) & 0x40, 0x40); /* no count yet */
	assert_int_equal(i8254_read(&t, 3, 0), 0);
}

static void test_timer_square_wave(void **state)
{
	struct i8254 t;
	uint64_t rise;

	(void)state;
	i8254_init(&t, 1);
	timer_program(&t, 0, 3, 1, 0); /* the smallest count must not divide by zero */
	timer_latched(&t, 0, S);
	timer_program(&t, 0, 3, 11932, 0);
	assert_true(i8254_out(&t, 0, 4 * MS));
	assert_false(i8254_out(&t, 0, 6 * MS));
	rise = i8254_next_rise(&t, 0, 0);
	assert_true(i8254_out(&t, 0, rise));
	assert_false(i8254_out(&t, 0, rise - 1000));
}

/* --- real-time clock ----------------------------------------------------------------------- */

static uint8_t rtc_get(struct mc146818 *c, uint8_t reg, time_t now)
{
	mc146818_set_index(c, reg);
	return mc146818_read(c, now);
}

static void rtc_put(struct mc146818 *c, uint8_t reg, uint8_t val)
{
	mc146818_set_index(c, reg);
	mc146818_write(c, val);
}

static void test_rtc_time(void **state)
{
	const time_t now = 1798675139; /* 2026-12-30 23:58:59 UTC, a Wednesday */
	static const struct {
		uint8_t reg, val;
	} bcd[] = {{0, 0x59}, {2, 0x58}, {4, 0x23}, {6, 4},
		   {7, 0x30}, {8, 0x12}, {9, 0x26}, {0x32, 0x20}};
	struct mc146818 c;

	(void)state;
	mc146818_init(&c);
	for (size_t i = 0; i < sizeof(bcd) / sizeof(bcd[0]); i++)
		assert_int_equal(rtc_get(&c, bcd[i].reg, now), bcd[i].val);
	assert_int_equal(rtc_get(&c, 0x8a, now) & 0x80, 0); /* no update; the NMI bit is ignored */
	assert_int_equal(rtc_get(&c, 0x0d, now), 0x80);
	rtc_put(&c, 0x0b, 4); /* binary, 12 hours */
	assert_int_equal(rtc_get(&c, 0, now), 59);
	assert_int_equal(rtc_get(&c, 4, now), 0x80 | 11);
	assert_int_equal(rtc_get(&c, 4, now + 120), 12); /* midnight */
}

static void test_rtc_bytes(void **state)
{
	struct mc146818 c;

	(void)state;
	mc146818_init(&c);
	rtc_put(&c, 0x40, 0x5a);
	rtc_put(&c, 0x0a, 0xff);
	rtc_put(&c, 0x00, 0x11); /* it does not let itself be set */
	assert_int_equal(rtc_get(&c, 0x40, 0), 0x5a);
	assert_int_equal(rtc_get(&c, 0x0a, 0), 0x7f);
	assert_int_equal(rtc_get(&c, 0x00, 0), 0);
	rtc_put(&c, 0xff, 1); /* the last one */
	assert_int_equal(rtc_get(&c, 0x7f, 0), 1);
}

#define UART_TEST(fn) cmocka_unit_test_setup_teardown(fn, port_setup, port_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UART_TEST(test_uart_probe),
		UART_TEST(test_uart_fifo_size),
		UART_TEST(test_uart_divisor),
		UART_TEST(test_uart_transmit_interrupt),
		UART_TEST(test_uart_input),
		UART_TEST(test_uart_input_full),
		cmocka_unit_test(test_timer_counts_down),
		cmocka_unit_test(test_timer_periodic_rises),
		cmocka_unit_test(test_timer_stretch),
		cmocka_unit_test(test_timer_one_shot),
		cmocka_unit_test(test_timer_gate),
		cmocka_unit_test(test_timer_read_back),
		cmocka_unit_test(test_timer_square_wave),
		cmocka_unit_test(test_rtc_time),
		cmocka_unit_test(test_rtc_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
