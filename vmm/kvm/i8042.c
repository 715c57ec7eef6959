// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * i8042.c - the place of the keyboard controller: no keyboard, but the reset line it drives.
 *
 * The status says "output buffer full" for ever and "input buffer full" never. With the first
 * Linux's driver gives up after 16 reads (drivers/input/serio/i8042.c, i8042_flush()), the
 * quickest end its probe has; with the second its reset code does not wait
 * (arch/x86/kernel/reboot.c, kb_wait()).
 */
#include <stdlib.h>

#include "vmm/kvm/kvm.h"

#define PORT_DATA   0x60
#define PORT_STATUS 0x64 /* commands when written */

#define STATUS_OUTPUT_FULL  (1 << 0)
#define STATUS_SELF_TEST_OK (1 << 2)

/* Commands 0xf0 to 0xff pull the output lines low whose bit is 0; line 0 is the reset line. */
#define COMMAND_PULSE	    0xf0
#define COMMAND_PULSE_RESET (1 << 0)

struct i8042 {
	struct kvm_machine *m;
};

static uint32_t i8042_in(void *dev, uint16_t port, unsigned int size)
{
	(void)dev;
	(void)size;
	return port == PORT_STATUS ? STATUS_OUTPUT_FULL | STATUS_SELF_TEST_OK : 0;
}

static void i8042_out(void *dev, uint16_t port, unsigned int size, uint32_t val)
{
	struct i8042 *k = dev;

	(void)size;
	if (port != PORT_STATUS || (val & COMMAND_PULSE) != COMMAND_PULSE)
		return;
	if (!(val & COMMAND_PULSE_RESET))
		machine_end(&k->m->base, MACHINE_EVENT_RESET, 0,
			    "guest reset itself through the keyboard controller");
}

struct i8042 *i8042_new(struct kvm_machine *m)
{
	struct pio_device dev = {.name = "i8042", .in = i8042_in, .out = i8042_out};
	struct i8042 *k = calloc(1, sizeof(*k));
	static const uint16_t ports[] = {PORT_DATA, PORT_STATUS};

	if (!k)
		return NULL;
	k->m = m;
	dev.dev = k;
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		dev.first = dev.last = ports[i];
		if (kvm_bus_add(m, &dev)) {
			i8042_free(k);
			return NULL;
		}
	}
	return k;
}

void i8042_free(struct i8042 *k)
{
	free(k);
}
