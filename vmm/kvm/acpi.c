// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * acpi.c - power-off, power button and reset: the ACPI PM1a registers, the reset register at 0xcf9,
 * and the tables that tell the guest where they are.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "vmm/kvm/acpi-tables.h"
#include "vmm/kvm/kvm.h"
#include "vmm/kvm/state/state.h"

#define PORT_PM_EVENT	0x600
#define PORT_PM_CONTROL 0x604
#define PORT_PM_LAST	0x605
#define PORT_RESET	0xcf9
#define SCI_IRQ		9
#define S5_TYPE		5

/* Offsets from PORT_PM_EVENT. */
enum { REG_STATUS = 0, REG_ENABLE = 2, REG_CONTROL = 4, REG_END = 6 };

/* Of status and enable: the power button (4.8.3.1 of the specification). */
enum { EVENT_BUTTON = 1 << 8 };

enum {
	CONTROL_SCI = 1 << 0, /* ACPI mode, which this machine never leaves */
	CONTROL_TYPE_SHIFT = 10,
	CONTROL_TYPE_MASK = 7,
	CONTROL_SLEEP = 1 << 13, /* write-only */
};

/* The PC's reset control register: what Linux writes is in native_machine_emergency_restart(). */
enum { RESET_HARD = 1 << 1, RESET_NOW = 1 << 2 };

struct acpi {
	struct kvm_machine *m;
	pthread_mutex_t lock;
	uint8_t pm[REG_END]; /* status, enable, control; of status the button's bit alone is set */
};

/* With the lock held: an event that the guest has asked for holds the line until it is cleared. */
static void acpi_tell(struct acpi *a)
{
	bool told = a->pm[REG_STATUS + 1] & a->pm[REG_ENABLE + 1] & EVENT_BUTTON >> 8;

	kvm_irq_line(a->m, SCI_IRQ, told);
}

static uint32_t acpi_pm_in(void *dev, uint16_t port, unsigned int size)
{
	struct acpi *a = dev;
	unsigned int reg = port - PORT_PM_EVENT;
	uint32_t val = 0;

	pthread_mutex_lock(&a->lock);
	for (unsigned int i = 0; i < size && reg + i < REG_END; i++)
		val |= (uint32_t)a->pm[reg + i] << 8 * i;
	pthread_mutex_unlock(&a->lock);
	return val;
}

static void acpi_pm_write(struct acpi *a, unsigned int reg, uint8_t val)
{
	if (reg < REG_ENABLE) /* write one to clear */
		val = a->pm[reg] & (uint8_t)~val;
	if (reg == REG_CONTROL)
		val |= CONTROL_SCI;
	if (reg == REG_CONTROL + 1)
		val &= (uint8_t) ~(CONTROL_SLEEP >> 8);
	a->pm[reg] = val;
}

static void acpi_pm_out(void *dev, uint16_t port, unsigned int size, uint32_t val)
{
	struct acpi *a = dev;
	unsigned int reg = port - PORT_PM_EVENT;
	bool sleep = false;
	unsigned int type;

	pthread_mutex_lock(&a->lock);
	for (unsigned int i = 0; i < size && reg + i < REG_END; i++) {
		uint8_t byte = (uint8_t)(val >> 8 * i);

		acpi_pm_write(a, reg + i, byte);
		sleep |= reg + i == REG_CONTROL + 1 && (byte & CONTROL_SLEEP >> 8);
	}
	acpi_tell(a);
	type = a->pm[REG_CONTROL + 1] >> (CONTROL_TYPE_SHIFT - 8) & CONTROL_TYPE_MASK;
	pthread_mutex_unlock(&a->lock);
	if (sleep && type == S5_TYPE)
		machine_end(&a->m->base, MACHINE_EVENT_POWEROFF, 0, "the guest powered itself off");
}

static void acpi_reset_out(void *dev, uint16_t port, unsigned int size, uint32_t val)
{
	struct acpi *a = dev;

	(void)port;
	(void)size;
	if (val & RESET_NOW)
		machine_end(&a->m->base, MACHINE_EVENT_RESET, 0,
			    "guest reset itself through the reset register");
}

static int acpi_connect(struct acpi *a)
{
	const struct pio_device pm = {.name = "acpi-pm",
				      .first = PORT_PM_EVENT,
				      .last = PORT_PM_LAST,
				      .in = acpi_pm_in,
				      .out = acpi_pm_out,
				      .dev = a};
	const struct pio_device reset = {.name = "reset",
					 .first = PORT_RESET,
					 .last = PORT_RESET,
					 .out = acpi_reset_out,
					 .dev = a};
	int err = kvm_bus_add(a->m, &pm);

	return err ? err : kvm_bus_add(a->m, &reset);
}

int acpi_write_tables(struct acpi *a)
{
	const struct acpi_tables_config cfg = {.pa = KVM_ACPI_START,
					       .cpus = a->m->nvcpus,
					       .lapic = KVM_LAPIC_ADDR,
					       .ioapic = KVM_IOAPIC_ADDR,
					       .ioapic_id = (uint8_t)a->m->nvcpus,
					       .sci_irq = SCI_IRQ,
					       .pm_event_port = PORT_PM_EVENT,
					       .pm_control_port = PORT_PM_CONTROL,
					       .reset_port = PORT_RESET,
					       .reset_value = RESET_HARD | RESET_NOW,
					       .s5_type = S5_TYPE,
					       .pci_start = a->m->pci ? KVM_PCI_START : 0,
					       .pci_end = a->m->pci ? KVM_PCI_END : 0};
	size_t room = KVM_ACPI_END - KVM_ACPI_START;
	void *mem = kvm_host_ptr(a->m, cfg.pa, room);
	int len;

	if (!mem)
		return -EFAULT;
	len = acpi_tables_build(mem, room, &cfg);
	return len < 0 ? len : 0;
}

struct acpi *acpi_new(struct kvm_machine *m)
{
	struct acpi *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->m = m;
	a->pm[REG_CONTROL] = CONTROL_SCI;
	pthread_mutex_init(&a->lock, NULL);
	/* In a snapshot they are as the guest has found them. */
	if (acpi_connect(a) || (!m->restored && acpi_write_tables(a))) {
		acpi_free(a);
		return NULL;
	}
	return a;
}

int acpi_power_button(struct acpi *a)
{
	bool listens;

	pthread_mutex_lock(&a->lock);
	listens = a->pm[REG_ENABLE + 1] & EVENT_BUTTON >> 8;
	if (listens)
		a->pm[REG_STATUS + 1] |= EVENT_BUTTON >> 8;
	acpi_tell(a);
	pthread_mutex_unlock(&a->lock);
	return listens ? 0 : -EAGAIN;
}

void acpi_free(struct acpi *a)
{
	if (!a)
		return;
	pthread_mutex_destroy(&a->lock);
	free(a);
}

void acpi_save(struct acpi *a, struct state_sections *to)
{
	pthread_mutex_lock(&a->lock);
	state_put(to, STATE_ACPI, 0, a->pm, sizeof(a->pm));
	pthread_mutex_unlock(&a->lock);
}

int acpi_restore(struct acpi *a, const struct state_file *from)
{
	const uint8_t *pm = state_get_sized(from, STATE_ACPI, 0, sizeof(a->pm));

	if (!pm)
		return -EINVAL;
	pthread_mutex_lock(&a->lock);
	for (unsigned int reg = REG_ENABLE; reg < REG_END; reg++)
		acpi_pm_write(a, reg, pm[reg]);
	a->pm[REG_STATUS + 1] = pm[REG_STATUS + 1] & EVENT_BUTTON >> 8;
	acpi_tell(a);
	pthread_mutex_unlock(&a->lock);
	return 0;
}
