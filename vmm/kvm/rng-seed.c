// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rng-seed.c - a fresh seed for the guest's random number generator, handed over as boot data
 * (SETUP_RNG_SEED, Documentation/x86/boot.rst of Linux 6.1; older kernels skip it).
 *
 * Without it the guest's generator is not ready before late in the boot, and until then Linux
 * hashes its whole pool for each number that its allocators want: minutes of it where kernel mode
 * is interpreted.
 */
#include <errno.h>
#include <sys/random.h>

#include "vmm/kvm/kvm.h"

#define SETUP_RNG_SEED 9
#define SEED_BYTES     32 /* 256 bits make the generator ready */

struct seed_data { /* struct setup_data of the boot protocol */
	uint64_t next;
	uint32_t type, len;
	uint8_t data[SEED_BYTES];
};

int kvm_rng_seed_write(struct kvm_machine *m, uint64_t *list)
{
	struct seed_data seed = {.next = *list, .type = SETUP_RNG_SEED, .len = SEED_BYTES};

	if (getrandom(seed.data, sizeof(seed.data), 0) != sizeof(seed.data))
		return -EIO;
	*list = KVM_BOOT_SEED;
	return kvm_mem_write(m, KVM_BOOT_SEED, &seed, sizeof(seed));
}
