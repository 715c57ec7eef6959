// SPDX-License-Identifier: GPL-2.0-or-later
/* serial.c - the guest's serial ports, COM1 and COM2: 16550As between the bus and the owner. */
#include <errno.h>
#include <stdlib.h>

#include "vmm/kvm/chip/uart.h"
#include "vmm/kvm/kvm.h"
#include "vmm/kvm/state/state.h"

#define SERIAL_REGS 8

/* Where a PC has it. */
struct serial_place {
	const char *name;
	uint16_t port;
	unsigned int irq;
};

static const struct serial_place places[] = {
	[SERIAL_CONSOLE] = {"serial", 0x3f8, 4},
	[SERIAL_CHANNEL] = {"channel", 0x2f8, 3},
};

struct serial {
	struct uart uart;
	struct kvm_machine *m;
	const struct serial_place *at;
	void (*output)(void *arg, const char *text, size_t len); /* or NULL */
};

static void serial_irq(void *arg, bool level)
{
	struct serial *s = arg;

	kvm_irq_line(s->m, s->at->irq, level);
}

static void serial_output(void *arg, const char *text, size_t len)
{
	struct serial *s = arg;

	if (s->output)
		s->output(s->m->cfg.arg, text, len);
}

static const struct uart_ops serial_uart_ops = {
	.irq = serial_irq,
	.output = serial_output,
};

/* A wider access means neighbouring registers, as on the ISA bus. */
static uint32_t serial_in(void *dev, uint16_t port, unsigned int size)
{
	struct serial *s = dev;
	unsigned int reg = port - s->at->port;
	uint32_t val = 0;

	for (unsigned int i = 0; i < size && reg + i < SERIAL_REGS; i++)
		val |= (uint32_t)uart_read(&s->uart, reg + i) << 8 * i;
	return val;
}

static void serial_out(void *dev, uint16_t port, unsigned int size, uint32_t val)
{
	struct serial *s = dev;
	unsigned int reg = port - s->at->port;

	for (unsigned int i = 0; i < size && reg + i < SERIAL_REGS; i++)
		uart_write(&s->uart, reg + i, (uint8_t)(val >> 8 * i));
}

struct serial *serial_new(struct kvm_machine *m, enum serial_port port,
			  void (*output)(void *arg, const char *text, size_t len))
{
	const struct serial_place *at = &places[port];
	struct pio_device pio = {.name = at->name,
				 .first = at->port,
				 .last = (uint16_t)(at->port + SERIAL_REGS - 1),
				 .in = serial_in,
				 .out = serial_out};
	struct serial *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->m = m;
	s->at = at;
	s->output = output;
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

void serial_save(struct serial *s, struct state_sections *to)
{
	struct uart_state state;

	uart_save(&s->uart, &state);
	state_put(to, STATE_UART, 0, &state, sizeof(state));
}

/* Its line: the interrupt that it has raised by then is in the controllers. */
int serial_restore(struct serial *s, const struct state_file *from)
{
	const struct uart_state *state = state_get_sized(from, STATE_UART, 0, sizeof(*state));

	return state ? uart_restore(&s->uart, state) : -EINVAL;
}
