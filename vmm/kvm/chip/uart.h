/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uart.h - one 16550A serial port. */
#ifndef HVTRACE_VMM_KVM_CHIP_UART_H
#define HVTRACE_VMM_KVM_CHIP_UART_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UART_FIFO    16
#define UART_BACKLOG 4096

/* Where the port's pins go. Called with the port's lock held: must not call back into it. */
struct uart_ops {
	void (*irq)(void *arg, bool level);
	void (*output)(void *arg, const char *text, size_t len); /* may be NULL */
};

struct uart {
	pthread_mutex_t lock;
	const struct uart_ops *ops;
	void *arg;

	uint8_t ier, lcr, mcr, scratch;
	uint8_t lsr_errors; /* sticky bits of LSR: overrun */
	uint8_t msr;
	uint16_t divisor;
	bool fifo_on;
	bool thr_event; /* the transmitter ran empty and nobody has been told yet */
	bool irq_level;

	uint8_t fifo[UART_FIFO]; /* receive FIFO */
	unsigned int fifo_len;
	uint8_t backlog[UART_BACKLOG]; /* input that waits for room in the FIFO */
	size_t backlog_head, backlog_len;
};

/* All of it, but for where its pins go: as a file keeps it. */
struct uart_state {
	uint8_t ier, lcr, mcr, scratch, lsr_errors, msr;
	uint8_t fifo_on, thr_event, irq_level, fifo_len;
	uint16_t divisor, backlog_len;
	uint8_t fifo[UART_FIFO];
	uint8_t none[2];
	uint8_t backlog[UART_BACKLOG]; /* from its head on */
};

void uart_init(struct uart *u, const struct uart_ops *ops, void *arg);
void uart_exit(struct uart *u);

/* The guest's access to register reg (0 to 7). */
uint8_t uart_read(struct uart *u, unsigned int reg);
void uart_write(struct uart *u, unsigned int reg, uint8_t val);

/* Bytes for the guest from outside. Returns how many it took. */
size_t uart_input(struct uart *u, const char *text, size_t len);

void uart_save(struct uart *u, struct uart_state *s);
/* The level of its interrupt is taken over without telling anybody. -EINVAL: no port is like that.
 */
int uart_restore(struct uart *u, const struct uart_state *s);

#endif
