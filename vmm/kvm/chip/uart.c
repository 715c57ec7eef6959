// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uart.c - a 16550A serial port whose transmitter takes no time.
 *
 * Register names and bits are those of the PC16550D data sheet. What Linux makes sure of before
 * it believes in the port is in drivers/tty/serial/8250/8250_port.c (6.1): autoconfig() and
 * serial8250_do_startup().
 */
#include "vmm/kvm/chip/uart.h"

#include <errno.h>
#include <string.h>

enum {
	REG_DATA, /* RBR, THR; DLL when the divisor latch is open */
	REG_IER,  /* DLM when the divisor latch is open */
	REG_IIR,  /* FCR when written */
	REG_LCR,
	REG_MCR,
	REG_LSR,
	REG_MSR,
	REG_SCRATCH,
};

enum {
	IER_RX = 1 << 0,
	IER_THR = 1 << 1,
	IER_LINE = 1 << 2,
	IER_MODEM = 1 << 3,
	IER_BITS = 0x0f,
};

enum {
	IIR_MODEM = 0x00,
	IIR_NONE = 0x01,
	IIR_THR = 0x02,
	IIR_RX = 0x04,
	IIR_LINE = 0x06,
	IIR_FIFO = 0xc0, /* both bits: a 16550A, whose FIFO works */
};

enum {
	FCR_ENABLE = 1 << 0,
	FCR_CLEAR_RX = 1 << 1,
};

enum { LCR_DLAB = 1 << 7 };

enum {
	MCR_DTR = 1 << 0,
	MCR_RTS = 1 << 1,
	MCR_OUT1 = 1 << 2,
	MCR_OUT2 = 1 << 3, /* on a PC: connects the interrupt line */
	MCR_LOOP = 1 << 4,
	MCR_BITS = 0x1f,
};

enum {
	LSR_DATA = 1 << 0,
	LSR_OVERRUN = 1 << 1,
	LSR_THR_EMPTY = 1 << 5,
	LSR_IDLE = 1 << 6,
};

enum {
	MSR_TERI = 1 << 2, /* trailing edge of RI; the other delta bits: any change */
	MSR_DELTAS = 0x0f,
	MSR_CTS = 1 << 4,
	MSR_DSR = 1 << 5,
	MSR_RI = 1 << 6,
	MSR_DCD = 1 << 7,
};

/* --- interrupts -------------------------------------------------------------------------- */

static uint8_t uart_iir(const struct uart *u)
{
	if ((u->ier & IER_LINE) && u->lsr_errors)
		return IIR_LINE;
	/* Bytes below the FIFO's trigger level time out at once: the sender is never faster. */
	if ((u->ier & IER_RX) && u->fifo_len)
		return IIR_RX;
	if ((u->ier & IER_THR) && u->thr_event)
		return IIR_THR;
	if ((u->ier & IER_MODEM) && (u->msr & MSR_DELTAS))
		return IIR_MODEM;
	return IIR_NONE;
}

static void uart_update_irq(struct uart *u)
{
	bool connected = (u->mcr & MCR_OUT2) && !(u->mcr & MCR_LOOP);
	bool level = connected && uart_iir(u) != IIR_NONE;

	if (level == u->irq_level)
		return;
	u->irq_level = level;
	u->ops->irq(u->arg, level);
}

/* --- receiver ---------------------------------------------------------------------------- */

static unsigned int uart_fifo_size(const struct uart *u)
{
	return u->fifo_on ? UART_FIFO : 1;
}

static void uart_receive(struct uart *u, uint8_t byte)
{
	if (u->fifo_len == uart_fifo_size(u)) {
		u->lsr_errors |= LSR_OVERRUN;
		return;
	}
	u->fifo[u->fifo_len++] = byte;
}

/*
 * Waiting input enters the FIFO only while the guest has the receive interrupt on. A driver that
 * opens the port throws away what the FIFO holds; what was typed before that shall not be lost.
 */
static void uart_refill(struct uart *u)
{
	if (!(u->ier & IER_RX) || (u->mcr & MCR_LOOP))
		return;
	while (u->backlog_len && u->fifo_len < uart_fifo_size(u)) {
		uart_receive(u, u->backlog[u->backlog_head]);
		u->backlog_head = (u->backlog_head + 1) % UART_BACKLOG;
		u->backlog_len--;
	}
}

static uint8_t uart_take(struct uart *u)
{
	uint8_t byte;

	if (!u->fifo_len)
		return 0;
	byte = u->fifo[0];
	memmove(u->fifo, u->fifo + 1, --u->fifo_len);
	return byte;
}

size_t uart_input(struct uart *u, const char *text, size_t len)
{
	size_t n;

	pthread_mutex_lock(&u->lock);
	for (n = 0; n < len && u->backlog_len < UART_BACKLOG; n++) {
		size_t tail = (u->backlog_head + u->backlog_len++) % UART_BACKLOG;

		u->backlog[tail] = (uint8_t)text[n];
	}
	uart_refill(u);
	uart_update_irq(u);
	pthread_mutex_unlock(&u->lock);
	return n;
}

/* --- transmitter, modem lines ------------------------------------------------------------ */

static void uart_send(struct uart *u, uint8_t byte)
{
	char c = (char)byte;

	if (u->mcr & MCR_LOOP)
		uart_receive(u, byte);
	else if (u->ops->output)
		u->ops->output(u->arg, &c, 1);
	u->thr_event = true;
}

/* Modem inputs: a peer that is always there, or in loop mode the port's own outputs. */
static uint8_t uart_modem_lines(uint8_t mcr)
{
	if (!(mcr & MCR_LOOP))
		return MSR_CTS | MSR_DSR | MSR_DCD;
	return (mcr & MCR_RTS ? MSR_CTS : 0) | (mcr & MCR_DTR ? MSR_DSR : 0) |
	       (mcr & MCR_OUT1 ? MSR_RI : 0) | (mcr & MCR_OUT2 ? MSR_DCD : 0);
}

static void uart_set_mcr(struct uart *u, uint8_t val)
{
	uint8_t lines = uart_modem_lines(val);
	uint8_t delta = (u->msr ^ lines) >> 4;

	if (lines & MSR_RI)
		delta &= (uint8_t)~MSR_TERI;
	u->mcr = val & MCR_BITS;
	u->msr = lines | (u->msr & MSR_DELTAS) | (delta & MSR_DELTAS);
}

/* --- registers --------------------------------------------------------------------------- */

static void uart_set_ier(struct uart *u, uint8_t val)
{
	/* Switching the interrupt on while the transmitter is empty, as it always is here, raises
	 * it anew. Linux tests for this ("do not reassert THRE"). */
	if ((val & IER_THR) && !(u->ier & IER_THR))
		u->thr_event = true;
	u->ier = val & IER_BITS;
}

static void uart_set_fcr(struct uart *u, uint8_t val)
{
	bool on = val & FCR_ENABLE;

	/* Changing the mode empties the FIFO as well. */
	if (on != u->fifo_on || (val & FCR_CLEAR_RX))
		u->fifo_len = 0;
	u->fifo_on = on;
}

static uint8_t uart_read_iir(struct uart *u)
{
	uint8_t iir = uart_iir(u);

	if (iir == IIR_THR)
		u->thr_event = false;
	return iir | (u->fifo_on ? IIR_FIFO : 0);
}

static uint8_t uart_read_lsr(struct uart *u)
{
	uint8_t lsr = LSR_THR_EMPTY | LSR_IDLE | u->lsr_errors;

	u->lsr_errors = 0;
	return lsr | (u->fifo_len ? LSR_DATA : 0);
}

static uint8_t uart_read_msr(struct uart *u)
{
	uint8_t msr = u->msr;

	u->msr &= (uint8_t)~MSR_DELTAS;
	return msr;
}

static uint8_t uart_read_reg(struct uart *u, unsigned int reg)
{
	bool dlab = u->lcr & LCR_DLAB;

	switch (reg) {
	case REG_DATA:
		return dlab ? (uint8_t)u->divisor : uart_take(u);
	case REG_IER:
		return dlab ? (uint8_t)(u->divisor >> 8) : u->ier;
	case REG_IIR:
		return uart_read_iir(u);
	case REG_LCR:
		return u->lcr;
	case REG_MCR:
		return u->mcr;
	case REG_LSR:
		return uart_read_lsr(u);
	case REG_MSR:
		return uart_read_msr(u);
	default:
		return u->scratch;
	}
}

static void uart_write_reg(struct uart *u, unsigned int reg, uint8_t val)
{
	bool dlab = u->lcr & LCR_DLAB;

	switch (reg) {
	case REG_DATA:
		if (dlab)
			u->divisor = (uint16_t)((u->divisor & 0xff00) | val);
		else
			uart_send(u, val);
		break;
	case REG_IER:
		if (dlab)
			u->divisor = (uint16_t)((u->divisor & 0x00ff) | val << 8);
		else
			uart_set_ier(u, val);
		break;
	case REG_IIR:
		uart_set_fcr(u, val);
		break;
	case REG_LCR:
		u->lcr = val;
		break;
	case REG_MCR:
		uart_set_mcr(u, val);
		break;
	case REG_SCRATCH:
		u->scratch = val;
		break;
	default: /* LSR and MSR are read-only */
		break;
	}
}

uint8_t uart_read(struct uart *u, unsigned int reg)
{
	uint8_t val;

	pthread_mutex_lock(&u->lock);
	val = uart_read_reg(u, reg);
	uart_refill(u);
	uart_update_irq(u);
	pthread_mutex_unlock(&u->lock);
	return val;
}

void uart_write(struct uart *u, unsigned int reg, uint8_t val)
{
	pthread_mutex_lock(&u->lock);
	uart_write_reg(u, reg, val);
	uart_refill(u);
	uart_update_irq(u);
	pthread_mutex_unlock(&u->lock);
}

void uart_init(struct uart *u, const struct uart_ops *ops, void *arg)
{
	memset(u, 0, sizeof(*u));
	pthread_mutex_init(&u->lock, NULL);
	u->ops = ops;
	u->arg = arg;
	u->divisor = 12; /* 9600 baud, as a PC's firmware leaves it */
	u->msr = uart_modem_lines(0);
}

void uart_exit(struct uart *u)
{
	pthread_mutex_destroy(&u->lock);
}

/* --- its state ------------------------------------------------------------------------------ */

void uart_save(struct uart *u, struct uart_state *s)
{
	pthread_mutex_lock(&u->lock);
	*s = (struct uart_state){
		.ier = u->ier,
		.lcr = u->lcr,
		.mcr = u->mcr,
		.scratch = u->scratch,
		.lsr_errors = u->lsr_errors,
		.msr = u->msr,
		.fifo_on = u->fifo_on,
		.thr_event = u->thr_event,
		.irq_level = u->irq_level,
		.fifo_len = (uint8_t)u->fifo_len,
		.divisor = u->divisor,
		.backlog_len = (uint16_t)u->backlog_len,
	};
	memcpy(s->fifo, u->fifo, sizeof(s->fifo));
	for (size_t i = 0; i < u->backlog_len; i++)
		s->backlog[i] = u->backlog[(u->backlog_head + i) % UART_BACKLOG];
	pthread_mutex_unlock(&u->lock);
}

int uart_restore(struct uart *u, const struct uart_state *s)
{
	if (s->fifo_on > 1 || s->thr_event > 1 || s->irq_level > 1 ||
	    s->fifo_len > (s->fifo_on ? UART_FIFO : 1) || s->backlog_len > UART_BACKLOG ||
	    s->ier & ~IER_BITS || s->mcr & ~MCR_BITS || s->lsr_errors & ~LSR_OVERRUN)
		return -EINVAL;
	pthread_mutex_lock(&u->lock);
	u->ier = s->ier;
	u->lcr = s->lcr;
	u->mcr = s->mcr;
	u->scratch = s->scratch;
	u->lsr_errors = s->lsr_errors;
	u->msr = s->msr;
	u->divisor = s->divisor;
	u->fifo_on = s->fifo_on;
	u->thr_event = s->thr_event;
	u->irq_level = s->irq_level;
	u->fifo_len = s->fifo_len;
	memcpy(u->fifo, s->fifo, sizeof(u->fifo));
	u->backlog_head = 0;
	u->backlog_len = s->backlog_len;
	memcpy(u->backlog, s->backlog, s->backlog_len);
	pthread_mutex_unlock(&u->lock);
	return 0;
}
