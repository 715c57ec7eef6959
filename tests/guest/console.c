// SPDX-License-Identifier: GPL-2.0-or-later
/* console.c - the test guest's serial port, polled. */
#include "guest.h"

#define PORT	    0x3f8
#define INT_ENABLE  (PORT + 1)
#define LINE_STATUS (PORT + 5)
#define HAS_DATA    0x01
#define CAN_SEND    0x20

static void put(char c)
{
	while (!(inb(LINE_STATUS) & CAN_SEND))
		;
	outb(PORT, (uint8_t)c);
}

void print(const char *text)
{
	while (*text)
		put(*text++);
}

void print_number(const char *name, uint64_t val)
{
	char digits[21];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + val % 10);
		val /= 10;
	} while (val);
	print(name);
	print("=");
	print(digits + at);
	print(" ");
}

/* The machine hands input over once the receive interrupt is on, which nobody here looks at. */
void console_listen(void)
{
	outb(INT_ENABLE, HAS_DATA);
}

int console_read(void)
{
	return inb(LINE_STATUS) & HAS_DATA ? inb(PORT) : -1;
}
