// SPDX-License-Identifier: GPL-2.0-or-later
/* test-kvm-devices.c - the devices' register logic, the tables and the CPUID masks; needs no KVM.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/kvm/acpi-tables.h"
#include "vmm/kvm/cpuid.h"
#include "vmm/kvm/i8254.h"
#include "vmm/kvm/mc146818.h"
#include "vmm/kvm/mptable.h"
#include "vmm/kvm/uart.h"

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

/* --- tables -------------------------------------------------------------------------------- */

static uint8_t sum(const uint8_t *p, size_t len)
{
	uint8_t s = 0;

	while (len--)
		s += *p++;
	return s;
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void test_mptable(void **state)
{
	const struct mptable_config cfg = {
		.pa = 0xf0000, .cpus = 3, .lapic = 0xfee00000, .ioapic = 0xfec00000};
	static const uint8_t sizes[] = {20, 8, 8, 8, 8};
	unsigned int seen[5] = {0};
	uint8_t buf[1024];
	const uint8_t *table = buf + 16, *entry = table + 44;
	int len = mptable_build(buf, sizeof(buf), &cfg);
	uint16_t length, entries;

	(void)state;
	assert_true(len > 60);
	assert_memory_equal(buf, "_MP_", 4);
	assert_int_equal(sum(buf, 16), 0);
	assert_int_equal(get32(buf + 4), 0xf0010);
	memcpy(&length, table + 4, 2);
	memcpy(&entries, table + 34, 2);
	assert_memory_equal(table, "PCMP", 4);
	assert_int_equal(length, len - 16);
	assert_int_equal(sum(table, length), 0);
	assert_int_equal(get32(table + 36), 0xfee00000);
	for (unsigned int i = 0; i < entries; i++) {
		assert_in_range(entry[0], 0, 4);
		if (entry[0] == 0) {
			assert_int_equal(entry[1], seen[0]);
			assert_int_equal(entry[3], seen[0] ? 1 : 3); /* the first one boots */
		}
		if (entry[0] == 3) /* ISA line n is input n */
			assert_int_equal(entry[5], entry[7]);
		seen[entry[0]]++;
		entry += sizes[entry[0]];
	}
	assert_ptr_equal(entry, buf + len);
	assert_int_equal(seen[0], 3);
	assert_int_equal(seen[2], 1);
	assert_int_equal(seen[3], 15);
}

static void test_mptable_no_room(void **state)
{
	const struct mptable_config cfg = {.pa = 0xf0000, .cpus = 8};
	uint8_t buf[1024];
	int len = mptable_build(buf, sizeof(buf), &cfg);

	(void)state;
	for (int size = 0; size < len; size++) {
		uint8_t *tight = malloc((size_t)size + 1); /* a sanitizer sees one byte too many */

		assert_int_equal(mptable_build(tight, (size_t)size, &cfg), -ENOSPC);
		free(tight);
	}
}

static const struct acpi_tables_config acpi_cfg = {.pa = 0xe0000,
						   .cpus = 2,
						   .lapic = 0xfee00000,
						   .ioapic = 0xfec00000,
						   .ioapic_id = 2,
						   .sci_irq = 9,
						   .pm_event_port = 0x600,
						   .pm_control_port = 0x604,
						   .reset_port = 0xcf9,
						   .reset_value = 6,
						   .s5_type = 5};

/* The table at guest address pa, its signature and checksum looked at. */
static const uint8_t *acpi_table(const uint8_t *buf, uint64_t pa, int len, const char *signature)
{
	const uint8_t *t;

	assert_in_range(pa, acpi_cfg.pa, acpi_cfg.pa + (uint64_t)len - 36);
	t = buf + (pa - acpi_cfg.pa);
	assert_memory_equal(t, signature, 4);
	assert_true(get32(t + 4) <= (uint64_t)len - (pa - acpi_cfg.pa));
	assert_int_equal(sum(t, get32(t + 4)), 0);
	return t;
}

static void test_acpi_tables(void **state)
{
	const uint8_t *xsdt, *fadt, *madt, *dsdt;
	uint8_t buf[4096];
	int len = acpi_tables_build(buf, sizeof(buf), &acpi_cfg);

	(void)state;
	assert_true(len > 0);
	assert_memory_equal(buf, "RSD PTR ", 8);
	assert_int_equal(sum(buf, 20), 0);
	assert_int_equal(sum(buf, 36), 0);
	xsdt = acpi_table(buf, get64(buf + 24), len, "XSDT");
	assert_int_equal(get32(xsdt + 4), 36 + 16);
	fadt = acpi_table(buf, get64(xsdt + 36), len, "FACP");
	assert_int_equal(get32(fadt + 4), 268); /* of revision 5 */
	assert_int_equal(fadt[8], 5);
	assert_int_equal(get32(fadt + 56), 0x600);
	assert_int_equal(get32(fadt + 64), 0x604);
	assert_int_equal(fadt[88], 4);
	assert_int_equal(fadt[89], 2);
	assert_true(get32(fadt + 112) & 1 << 10);
	assert_int_equal(get64(fadt + 120), 0xcf9);
	assert_int_equal(fadt[128], 6);
	assert_int_equal(get64(fadt + 140), get32(fadt + 40));
	assert_int_equal(get64(fadt + 152), 0x600);
	assert_int_equal(get64(fadt + 176), 0x604);
	assert_int_equal(get32(fadt + 36), 0); /* the 64-bit address counts */
	assert_memory_equal(buf + (get64(fadt + 132) - acpi_cfg.pa), "FACS", 4);
	assert_int_equal(get64(fadt + 132) % 64, 0);
	dsdt = acpi_table(buf, get32(fadt + 40), len, "DSDT");
	assert_memory_equal(dsdt + 36, "\x08_S5_\x12\x07\x04\x0a\x05\0\0\0", 13);
	assert_int_equal(get32(dsdt + 4), 36 + 13);
	madt = acpi_table(buf, get64(xsdt + 44), len, "APIC");
	assert_int_equal(get32(madt + 4), 44 + 2 * 8 + 12 + 10 + 6);
	assert_int_equal(get32(madt + 36), 0xfee00000);
}

static void test_acpi_no_room(void **state)
{
	uint8_t buf[4096];
	int len = acpi_tables_build(buf, sizeof(buf), &acpi_cfg);

	(void)state;
	for (int size = 0; size < len; size++) {
		uint8_t *tight = malloc((size_t)size + 1);

		assert_int_equal(acpi_tables_build(tight, (size_t)size, &acpi_cfg), -ENOSPC);
		free(tight);
	}
}

/* --- cpuid --------------------------------------------------------------------------------- */

static const struct kvm_cpuid_entry2 leaves[] = {
	{.function = 1, .eax = ~0u, .ebx = ~0u, .ecx = 0x7fffffff & ~(1u << 24), .edx = ~0u},
	{.function = 4, .eax = 0xfc000121, .ebx = 7, .ecx = 63, .edx = 0},
	{.function = 7, .eax = 1, .ebx = ~0u, .ecx = ~0u, .edx = ~0u},
	{.function = 0xb, .index = 0, .edx = 1}, /* all that KVM gives */
	{.function = 0xd, .index = 0, .eax = ~0u, .ebx = 1, .ecx = 1, .edx = 1},
	{.function = 0x40000000, .eax = 0x40000001},
	{.function = 0x40000001, .eax = ~0u, .edx = ~0u},
	{.function = 0x80000001, .eax = 1, .ebx = 1, .ecx = ~0u, .edx = ~0u},
	{.function = 0x80000008, .eax = 48, .ebx = ~0u, .ecx = ~0u, .edx = 1},
};

static struct kvm_cpuid2 *prepare(const struct cpuid_config *cfg)
{
	struct kvm_cpuid2 *c =
		calloc(1, sizeof(*c) + sizeof(leaves) + CPUID_ADDED * sizeof(leaves[0]));

	assert_non_null(c);
	c->nent = sizeof(leaves) / sizeof(leaves[0]);
	memcpy(c->entries, leaves, sizeof(leaves));
	cpuid_prepare(c, cfg);
	return c;
}

static const struct kvm_cpuid_entry2 *leaf(const struct kvm_cpuid2 *c, uint32_t function,
					   uint32_t index)
{
	for (uint32_t i = 0; i < c->nent; i++) {
		if (c->entries[i].function == function && c->entries[i].index == index)
			return &c->entries[i];
	}
	return NULL;
}

static void test_cpuid(void **state)
{
	const struct cpuid_config cfg = {.index = 2, .cpus = 3, .tsc_deadline = true};
	struct kvm_cpuid2 *c = prepare(&cfg);

	(void)state;
	assert_int_equal(leaf(c, 1, 0)->ebx >> 24, 2);
	assert_int_equal(leaf(c, 1, 0)->ebx >> 16 & 0xff, 3);
	assert_int_equal(leaf(c, 1, 0)->ecx, ~0u); /* hypervisor and deadline bits came on */
	assert_int_equal(leaf(c, 4, 0)->eax >> 26, 3);
	assert_int_equal(leaf(c, 7, 0)->ebx, ~0u);
	assert_int_equal(leaf(c, 7, 0)->ecx >> 16 & 1, 0); /* 4 levels of page tables */
	assert_int_equal(leaf(c, 0xb, 0)->ebx, 1);
	assert_int_equal(leaf(c, 0xb, 0)->ecx, 0x100);
	assert_int_equal(leaf(c, 0xb, 0)->flags & leaf(c, 0xb, 1)->flags, 1); /* by index */
	assert_int_equal(leaf(c, 0xb, 1)->eax, 2);
	assert_int_equal(leaf(c, 0xb, 1)->ebx, 3);
	assert_int_equal(leaf(c, 0xb, 1)->ecx, 0x201);
	assert_int_equal(leaf(c, 0xb, 1)->edx, 2);
	assert_null(leaf(c, 0x40000000, 0));
	assert_null(leaf(c, 0x40000001, 0));
	assert_int_equal(leaf(c, 0x80000008, 0)->ecx, 2 << 12 | 2);
	free(c);
}

static void test_cpuid_emulated(void **state)
{
	/* ssse3, cx16, popcnt, the deadline timer, aes, xsave, avx, rdrand */
	static const uint8_t hidden[] = {9, 13, 23, 24, 25, 26, 28, 30};
	const struct cpuid_config cfg = {.cpus = 1, .emulated = true, .tsc_deadline = true};
	struct kvm_cpuid2 *c = prepare(&cfg);

	(void)state;
	for (size_t i = 0; i < sizeof(hidden); i++)
		assert_int_equal(leaf(c, 1, 0)->ecx >> hidden[i] & 1, 0);
	assert_int_equal(leaf(c, 1, 0)->ecx >> 31, 1);
	assert_int_equal(leaf(c, 1, 0)->edx >> 25 & 3, 3); /* user space keeps sse and sse2 */
	assert_int_equal(leaf(c, 1, 0)->edx >> 28 & 1, 0); /* one processor */
	assert_int_equal(leaf(c, 7, 0)->ebx | leaf(c, 7, 0)->ecx | leaf(c, 7, 0)->edx, 0);
	assert_int_equal(leaf(c, 0xd, 0)->eax, 0);
	assert_int_equal(leaf(c, 0x80000001, 0)->edx >> 27 & 1, 0); /* rdtscp */
	assert_int_equal(leaf(c, 0x80000001, 0)->edx >> 20 & 1, 1); /* nx */
	assert_int_equal(leaf(c, 0x80000008, 0)->ebx, 4);
	free(c);
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
		cmocka_unit_test(test_mptable),
		cmocka_unit_test(test_mptable_no_room),
		cmocka_unit_test(test_acpi_tables),
		cmocka_unit_test(test_acpi_no_room),
		cmocka_unit_test(test_cpuid),
		cmocka_unit_test(test_cpuid_emulated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
