// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-snapshot.c - the state part of a snapshot: sections that may be anything, and chips that are
 * made of them and then used, as is a virtio device. Needs no KVM.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/virtio-driver.h"
#include "vmm/kvm/chip/i8254.h"
#include "vmm/kvm/chip/uart.h"
#include "vmm/kvm/state/state.h"
#include "vmm/kvm/virtio/rng.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void no_irq(void *arg, bool level)
{
	(void)arg;
	(void)level;
}

static void use_uart(const struct uart_state *s)
{
	static const struct uart_ops ops = {.irq = no_irq};
	struct uart_state again;
	struct uart u;

	uart_init(&u, &ops, NULL);
	if (!uart_restore(&u, s)) {
		for (unsigned int reg = 0; reg < 8; reg++) {
			uart_write(&u, reg, uart_read(&u, reg));
			uart_read(&u, 0);
		}
		uart_input(&u, "text", 4);
		uart_save(&u, &again);
		if (uart_restore(&u, &again))
			abort();
	}
	uart_exit(&u);
}

static void use_timer(const struct i8254_state *s)
{
	const uint64_t now = UINT64_C(1000000000000);
	struct i8254_state again;
	struct i8254 t;

	i8254_init(&t, 40);
	if (i8254_restore(&t, s, now))
		return;
	i8254_save(&t, &again, now);
	for (unsigned int i = 0; i < 3; i++) {
		i8254_next_rise(&t, i, now);
		i8254_read(&t, i, now);
		i8254_set_gate(&t, i, !t.counter[i].gate, now);
		i8254_out(&t, i, now);
	}
	if (i8254_restore(&t, &again, now))
		abort();
}

/* Cut, or filled up with zeros. */
static void take(const struct state_file *f, enum state_type type, void *to, size_t size)
{
	size_t len = 0;
	const void *at = state_get(f, type, 0, &len);

	memset(to, 0, size);
	if (at)
		memcpy(to, at, len < size ? len : size);
}

/* A device with its function: whatever it has become, a driver can begin anew. */
static void use_device(const struct state_file *f)
{
	struct virtio_state state, again;
	struct pci_state pci, sound;
	struct driver v = {0};

	if (!driver_init(&v, rng_new()))
		abort();
	take(f, STATE_VIRTIO, &state, sizeof(state));
	take(f, STATE_PCI_FUNCTION, &pci, sizeof(pci));
	pci_save(&v.pci.function, &sound);
	virtio_hold(v.d);
	/* As the function is: what the guest can write is anything. */
	for (unsigned int i = 0; i < PCI_CONFIG_SIZE; i++)
		pci.config[i] = (uint8_t)((sound.config[i] & ~v.pci.function.writable[i]) |
					  (pci.config[i] & v.pci.function.writable[i]));
	if (pci_restore(&v.pci.function, &pci))
		abort();
	state.id = v.d->ops->id;
	if (!virtio_restore(v.d, &state)) {
		virtio_save(v.d, &again);
		if (virtio_restore(v.d, &again))
			abort();
	}
	virtio_remind(v.d);
	virtio_release(v.d);
	pci_config_write(&v.pci.function, 4, 2, 6);
	driver_begin(&v, VIRTIO_F_VERSION_1);
	driver_exit(&v);
}

/* A section of this type, cut or filled up to the size that its reader wants. */
static void use_chips(const struct state_file *f)
{
	static struct uart_state uart;
	struct i8254_state timer;
	size_t len = 0;
	const void *at;

	at = state_get(f, STATE_UART, 0, &len);
	memset(&uart, 0, sizeof(uart));
	if (at)
		memcpy(&uart, at, len < sizeof(uart) ? len : sizeof(uart));
	use_uart(&uart);
	use_device(f);
	at = state_get(f, STATE_OWN_PIT, 0, &len);
	memset(&timer, 0, sizeof(timer));
	for (unsigned int i = 0; i < 3; i++)
		timer.counter[i].stretch = i ? 1 : 40;
	if (at)
		memcpy(&timer, at, len < sizeof(timer) ? len : sizeof(timer));
	use_timer(&timer);
}

/* The input as it is; and as the data of sections that are well-formed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state_file f = {.fd = -1, .len = size};
	struct state_sections s = {0};

	f.data = malloc(size + 1);
	if (!f.data)
		abort();
	memcpy(f.data, data, size);
	if (state_sections_are_sane(f.data, f.len)) {
		for (unsigned int type = 0; type < STATE_TYPES; type++) {
			size_t len = 0;
			const uint8_t *at = state_get(&f, type, 0, &len);

			if (at && (at < f.data || len > (size_t)(f.data + f.len - at)))
				abort();
		}
		use_chips(&f);
	}
	free(f.data);
	state_put(&s, STATE_UART, 0, data, size);
	state_put(&s, STATE_OWN_PIT, 0, data, size);
	state_put(&s, STATE_VIRTIO, 0, data, size);
	state_put(&s, STATE_PCI_FUNCTION, 0, data, size);
	f.data = s.data;
	f.len = s.len;
	if (s.failed || !state_sections_are_sane(f.data, f.len))
		abort();
	use_chips(&f);
	state_sections_free(&s);
	return 0;
}
