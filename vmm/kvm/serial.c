// SPDX-License-Identifier: GPL-2.0-or-later
/* serial.c - the guest's first serial port (COM1): a 16550A between the bus and the console. */
#include <stdlib.h>

#include "vmm/kvm/chip/uart.h"
#include "vmm/kvm/kvm.h"

#define COM1_PORT 0x3f8
#define COM1_REGS 8
#define COM1_IRQ  4

struct serial {
	struct uart uart;
	struct kvm_machine *m;
};

static void serial_irq(void *arg, bool level)
{
	struct serial *s = arg;

	kvm_irq_line(s->m, COM1_IRQ, level);
}

static void serial_output(void *arg, const char *text, size_t len)
{
	struct serial *s = arg;

	if (s->m->cfg.console)
		s->m->cfg.console(s->m->cfg.arg, text, len);
}

static const struct uart_ops serial_uart_ops = {
	.irq = serial_irq,
	.output = serial_output,
};

/* A wider access means neighbouring registers, as on the ISA bus. */
static uint32_t serial_in(void *dev, uint16_t port, unsigned int size)
{
	struct serial *s = dev;
	unsigned int reg = port - COM1_PORT;
	uint32_t val = 0;

	for (unsigned int i = 0; i < size && reg + i < COM1_REGS; i++)
		val |= (uint32_t)uart_read(&s->uart, reg + i) << 8 * i;
	return val;
}

static void serial_out(void *dev, uint16_t port, unsigned int size, uint32_t val)
{
	struct serial *s = dev;
	unsigned int reg = port - COM1_PORT;

	for (unsigned int i = 0; i < size && reg + i < COM1_REGS; i++)
		uart_write(&s->uart, reg + i, (uint8_t)(val >> 8 * i));
}

struct serial *serial_new(struct kvm_machine *m)
{
	struct pio_device pio = {.name = "serial",
				 .first = COM1_PORT,
				 .last = COM1_PORT + COM1_REGS - 1,
				 .in = serial_in,
				 .out = serial_out};
	struct serial *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->m = m;
	uart_init(&s->uart, &serial_uart_ops, s);
	pio.dev = s;
	if (kvm_bus_add(m, &pio)) {
		serial_free(s);
		return NULL;
	}
	return s;
}

void serial_free(struct serial *s)
{
	if (!s)
		return;
	uart_exit(&s->uart);
	free(s);
}

size_t serial_input(struct serial *s, const char *text, size_t len)
{
	return uart_input(&s->uart, text, len);
}
