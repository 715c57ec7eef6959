// SPDX-License-Identifier: GPL-2.0-or-later
/* test-kvm-ports.c - devices on a made-up bus: what their ports do to the machine; needs no KVM. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/kvm/kvm.h"

/* What the devices did. The functions below stand in for the ones of the real backend. */
struct fake {
	struct kvm_machine m; /* first: devices hand it back */
	struct pio_device dev[KVM_PIO_MAX];
	unsigned int devices;
	enum machine_event_type end;
	bool line[16];
	unsigned int rises[16];
	uint8_t tables[KVM_ACPI_END - KVM_ACPI_START];
	char out[64];
	size_t len;
};

int kvm_bus_add(struct kvm_machine *m, const struct pio_device *dev)
{
	struct fake *f = (struct fake *)m;

	assert_true(f->devices < KVM_PIO_MAX);
	assert_true(dev->first <= dev->last);
	f->dev[f->devices++] = *dev;
	return 0;
}

int kvm_irq_line(struct kvm_machine *m, unsigned int irq, bool level)
{
	struct fake *f = (struct fake *)m;

	assert_true(irq < 16);
	f->rises[irq] += level && !f->line[irq];
	f->line[irq] = level;
	return 0;
}

void machine_end(struct machine *m, enum machine_event_type type, unsigned int vcpu,
		 const char *fmt, ...)
{
	struct fake *f = (struct fake *)m;

	(void)vcpu;
	(void)fmt;
	assert_int_equal(f->end, MACHINE_EVENT_NONE);
	f->end = type;
}

void *kvm_host_ptr(struct kvm_machine *m, uint64_t pa, size_t len)
{
	struct fake *f = (struct fake *)m;

	if (pa < KVM_ACPI_START || pa > KVM_ACPI_END || len > KVM_ACPI_END - pa)
		return NULL;
	return f->tables + (pa - KVM_ACPI_START);
}

static void console(void *arg, const char *text, size_t len)
{
	struct fake *f = arg;

	assert_true(len <= sizeof(f->out) - f->len);
	memcpy(f->out + f->len, text, len);
	f->len += len;
}

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->m.nvcpus = 1;
	f->m.cfg.console = console;
	f->m.cfg.arg = f;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static const struct pio_device *device(struct fake *f, uint16_t port)
{
	for (unsigned int i = 0; i < f->devices; i++) {
		if (f->dev[i].first <= port && port <= f->dev[i].last)
			return &f->dev[i];
	}
	fail_msg("no device at port %#x", port);
	return NULL;
}

static void out(struct fake *f, uint16_t port, unsigned int size, uint32_t val)
{
	const struct pio_device *d = device(f, port);

	d->out(d->dev, port, size, val);
}

static uint32_t in(struct fake *f, uint16_t port, unsigned int size)
{
	const struct pio_device *d = device(f, port);

	return d->in(d->dev, port, size);
}

/* --- keyboard controller ------------------------------------------------------------------- */

static void test_i8042_probe_ends(void **state)
{
	struct fake *f = *state;
	struct i8042 *k = i8042_new(&f->m);

	/* i8042_flush() of Linux gives up when output never runs dry; kb_wait() waits for bit 1. */
	for (int i = 0; i < 20; i++) {
		assert_int_equal(in(f, 0x64, 1) & 3, 1);
		in(f, 0x60, 1);
	}
	i8042_free(k);
}

static void test_i8042_reset(void **state)
{
	struct fake *f = *state;
	struct i8042 *k = i8042_new(&f->m);

	out(f, 0x64, 1, 0xd1); /* write the output port: A20 */
	out(f, 0x60, 1, 0xfe); /* data, no command */
	out(f, 0x64, 1, 0xff); /* pulse no line */
	assert_int_equal(f->end, MACHINE_EVENT_NONE);
	out(f, 0x64, 1, 0xfe);
	assert_int_equal(f->end, MACHINE_EVENT_RESET);
	i8042_free(k);
}

/* --- ACPI ---------------------------------------------------------------------------------- */

static void test_acpi_power_off(void **state)
{
	struct fake *f = *state;
	struct acpi *a = acpi_new(&f->m);

	assert_memory_equal(f->tables, "RSD PTR ", 8);
	assert_int_equal(in(f, 0x604, 2), 1); /* in ACPI mode from the start */
	out(f, 0x602, 2, 0x120);
	assert_int_equal(in(f, 0x600, 4), 0x01200000);
	out(f, 0x600, 2, 0xffff); /* status: cleared by ones */
	assert_int_equal(in(f, 0x600, 2), 0);
	out(f, 0x604, 2, 5 << 10);	     /* the type first, as Linux does */
	out(f, 0x604, 2, 1 << 13 | 1 << 10); /* another state */
	assert_int_equal(f->end, MACHINE_EVENT_NONE);
	assert_int_equal(in(f, 0x604, 2), 1 << 10 | 1);
	out(f, 0x604, 2, 1 << 13 | 5 << 10);
	assert_int_equal(f->end, MACHINE_EVENT_POWEROFF);
	acpi_free(a);
}

/* As Linux does: it clears what there may be, asks to be told, and clears what it was told. */
static void test_power_button(void **state)
{
	struct fake *f = *state;
	struct acpi *a = acpi_new(&f->m);

	assert_int_equal(acpi_power_button(a), -EAGAIN);
	assert_int_equal(in(f, 0x600, 4), 0);
	out(f, 0x602, 2, 0x20); /* another event */
	assert_int_equal(acpi_power_button(a), -EAGAIN);
	out(f, 0x600, 2, 0x100);
	out(f, 0x602, 2, 0x120);
	assert_int_equal(f->rises[9], 0);
	assert_int_equal(acpi_power_button(a), 0);
	assert_int_equal(acpi_power_button(a), 0);
	assert_true(f->line[9]);
	assert_int_equal(in(f, 0x600, 2), 0x100);
	out(f, 0x600, 2, 0x20);
	assert_true(f->line[9]);
	out(f, 0x602, 2, 0); /* as long as its handler is at work */
	assert_false(f->line[9]);
	out(f, 0x602, 2, 0x100);
	assert_true(f->line[9]);
	out(f, 0x600, 2, 0x100);
	assert_false(f->line[9]);
	assert_int_equal(in(f, 0x600, 4), 0x01000000);
	assert_int_equal(f->rises[9], 2);
	assert_int_equal(f->end, MACHINE_EVENT_NONE);
	acpi_free(a);
}

static void test_acpi_wide_access(void **state)
{
	struct fake *f = *state;
	struct acpi *a = acpi_new(&f->m);

	assert_int_equal(in(f, 0x604, 4), 1); /* ends at the last register */
	assert_int_equal(in(f, 0x605, 4), 0);
	out(f, 0x605, 4, 0xffffff00 | 0x34); /* the upper byte alone: S5 as well */
	assert_int_equal(f->end, MACHINE_EVENT_POWEROFF);
	acpi_free(a);
}

static void test_reset_register(void **state)
{
	struct fake *f = *state;
	struct acpi *a = acpi_new(&f->m);

	out(f, 0xcf9, 1, 2); /* what kind of reset, not yet now */
	assert_int_equal(f->end, MACHINE_EVENT_NONE);
	out(f, 0xcf9, 1, 6);
	assert_int_equal(f->end, MACHINE_EVENT_RESET);
	acpi_free(a);
}

/* --- serial port, clock -------------------------------------------------------------------- */

static void test_serial(void **state)
{
	struct fake *f = *state;
	struct serial *s = serial_new(&f->m, SERIAL_CONSOLE, console);

	out(f, 0x3f8, 1, 'o');
	out(f, 0x3f8, 1, 'k');
	assert_memory_equal(f->out, "ok", 2);
	out(f, 0x3fb, 2, 0x0803); /* two registers at once: 8 bits, and OUT2 */
	assert_int_equal(in(f, 0x3fb, 2), 0x0803);
	assert_int_equal(in(f, 0x3ff, 4), 0); /* none behind the last one */
	out(f, 0x3f9, 1, 1);
	assert_int_equal(serial_input(s, "x", 1), 1);
	assert_true(f->line[4]);
	assert_int_equal(in(f, 0x3f8, 1), 'x');
	assert_false(f->line[4]);
	assert_int_equal(f->rises[4], 1);
	serial_free(s);
}

static void test_second_serial(void **state)
{
	struct fake *f = *state;
	struct serial *first = serial_new(&f->m, SERIAL_CONSOLE, NULL);
	struct serial *s = serial_new(&f->m, SERIAL_CHANNEL, console);

	out(f, 0x3f8, 1, 'x'); /* to the other one */
	out(f, 0x2f8, 1, 'o');
	out(f, 0x2f8, 1, 'k');
	assert_int_equal(f->len, 2);
	assert_memory_equal(f->out, "ok", 2);
	out(f, 0x2fb, 2, 0x0803);
	out(f, 0x2f9, 1, 1);
	assert_int_equal(serial_input(s, "x", 1), 1);
	assert_true(f->line[3]);
	assert_false(f->line[4]);
	assert_int_equal(in(f, 0x2f8, 1), 'x');
	assert_false(f->line[3]);
	serial_free(s);
	serial_free(first);
}

static void test_serial_without_console(void **state)
{
	struct fake *f = *state;
	struct serial *s = serial_new(&f->m, SERIAL_CONSOLE, NULL);

	out(f, 0x3f8, 1, 'x');
	assert_int_equal(in(f, 0x3fd, 1) & 0x60, 0x60);
	serial_free(s);
}

static void test_rtc_ports(void **state)
{
	struct fake *f = *state;
	struct rtc *r = rtc_new(&f->m);

	out(f, 0x70, 1, 0x0d);
	assert_int_equal(in(f, 0x71, 1), 0x80);
	rtc_free(r);
}

static void test_pit_ports(void **state)
{
	struct fake *f = *state;
	struct pit *p = pit_new(&f->m, 40);

	/* The loop of pit_calibrate_tsc() in Linux ends. */
	out(f, 0x61, 1, (in(f, 0x61, 1) & ~2u) | 1);
	out(f, 0x43, 1, 0xb0);
	out(f, 0x42, 1, 0xff);
	out(f, 0x42, 1, 0);
	while (!(in(f, 0x61, 1) & 0x20))
		;
	assert_int_not_equal((in(f, 0x61, 1) ^ in(f, 0x61, 1)) & 0x10, 0);
	pit_free(p);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_i8042_probe_ends),
		TEST(test_i8042_reset),
		TEST(test_acpi_power_off),
		TEST(test_power_button),
		TEST(test_acpi_wide_access),
		TEST(test_reset_register),
		TEST(test_serial),
		TEST(test_second_serial),
		TEST(test_serial_without_console),
		TEST(test_rtc_ports),
		TEST(test_pit_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
