// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trials.c - does KVM of this host do what hvtrace counts on? Each thing is tried in a machine of
 * its own that lives for some milliseconds. docs/kvm-hosts.md says what differs between hosts.
 */
#include "vmm/kvm/host/trials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define TRAP_PORT    0x7e
#define OUT_SIZE     2
#define EXITS	     2000
#define EXITS_MAX_NS 200000000
#define ROUNDS	     50
#define SLOT_PA	     0x200000
#define SLOT_SIZE    0x1000

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* --- exits ------------------------------------------------------------------------------------ */

static int exits_time(struct tiny *t, double *us)
{
	uint64_t start = now_ns(), spent = 0;
	unsigned int n = 0;

	while (n < EXITS && spent < EXITS_MAX_NS) {
		int rc = tiny_run(t);

		if (rc)
			return rc;
		n++;
		spent = now_ns() - start;
	}
	*us = (double)spent / n / 1000;
	return 0;
}

/* With what stands at a trap's site, so that quirks of that port show. */
static int trial_out(struct tiny *t, char *text, size_t len)
{
	static const uint8_t code[] = {
		0xe6, TRAP_PORT, /* out %al, $0x7e */
		0xeb, 0xfc,	 /* jmp to it */
	};
	struct kvm_regs regs;
	double us = 0;
	int rc = tiny_enter(t, code, sizeof(code));

	if (!rc)
		rc = trial_run(t, &regs, text, len);
	if (rc)
		return rc;
	if (t->run->io.port != TRAP_PORT || t->run->io.direction != KVM_EXIT_IO_OUT ||
	    (regs.rip != TINY_CODE && regs.rip != TINY_CODE + OUT_SIZE)) {
		snprintf(text, len, "port %#x, rip %+d", t->run->io.port,
			 (int)(regs.rip - TINY_CODE));
		return 1;
	}
	rc = exits_time(t, &us);
	snprintf(text, len, "%.1f us, rip is %s it", us,
		 regs.rip == TINY_CODE ? "still on" : "behind");
	return rc;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* What the host writes into text is what is executed next, without any flush. */
static int trial_text(struct tiny *t, char *text, size_t len)
{
	static const uint8_t code[] = {
		0xb8, 0,	  0, 0, 0, /* mov $0, %eax */
		0xe6, TRIAL_PORT,	   /* out %al, $port */
		0xeb, 0xf7,		   /* jmp to the start */
	};
	struct kvm_regs regs;
	int rc = tiny_enter(t, code, sizeof(code));

	for (uint8_t i = 1; i <= ROUNDS && !rc; i++) {
		__atomic_store_n(t->memory + TINY_CODE + 1, i, __ATOMIC_SEQ_CST);
		rc = trial_run(t, &regs, text, len);
		if (!rc && regs.rax != i) {
			snprintf(text, len, "the old instruction ran, %d times it was the new one",
				 i - 1);
			return 1;
		}
	}
	if (!rc)
		snprintf(text, len, "the next run has the new bytes, %d of %d", ROUNDS, ROUNDS);
	return rc;
}

static int slot_add(struct tiny *t, void *memory)
{
	const struct kvm_userspace_memory_region slot = {
		.slot = 1,
		.guest_phys_addr = SLOT_PA,
		.memory_size = SLOT_SIZE,
		.userspace_addr = (uintptr_t)memory,
	};

	return ioctl(t->vm_fd, KVM_SET_USER_MEMORY_REGION, &slot) ? -errno : 0;
}

static int slot_use(struct tiny *t, uint64_t *memory, char *text, size_t len)
{
	static const uint8_t code[] = {
		0xe6, TRIAL_PORT,			     /* out %al, $port */
		0x48, 0x8b,	  0x04, 0x25, 0, 0, 0x20, 0, /* mov 0x200000, %rax */
		0x48, 0xf7,	  0xd0,			     /* not %rax */
		0x48, 0x89,	  0x04, 0x25, 8, 0, 0x20, 0, /* mov %rax, 0x200008 */
		0xe6, TRIAL_PORT,			     /* out %al, $port */
	};
	struct kvm_regs regs;
	int rc = tiny_enter(t, code, sizeof(code));

	if (!rc)
		rc = trial_run(t, &regs, text, len);
	if (!rc)
		rc = slot_add(t, memory);
	memory[0] = 0x0123456789abcdef;
	if (!rc)
		rc = trial_run(t, &regs, text, len);
	if (rc || __atomic_load_n(&memory[1], __ATOMIC_SEQ_CST) == ~memory[0])
		return rc;
	snprintf(text, len, "the guest does not see it, or we not the guest's writes");
	return 1;
}

/* Memory that is added to a machine that has run: the window of trampolines. */
static int trial_slot(struct tiny *t, char *text, size_t len)
{
	void *memory =
		mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (memory == MAP_FAILED)
		return -errno;
	rc = slot_use(t, memory, text, len);
	if (!rc)
		snprintf(text, len, "both sides see each other's writes");
	tiny_close(t); /* it must not outlive what it maps */
	munmap(memory, SLOT_SIZE);
	return rc;
}

/* --- the TSC ---------------------------------------------------------------------------------- */

static int tsc_offset(struct tiny *t, uint64_t *offset)
{
	const struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)offset,
	};

	return ioctl(t->vcpu_fd, KVM_GET_DEVICE_ATTR, &attr) ? -errno : 0;
}

/* 0 where the guest's reading lies between two of ours; *room gets how far those are apart. */
static int tsc_compare(struct tiny *t, uint64_t offset, uint64_t *room, char *text, size_t len)
{
	struct kvm_regs regs;
	uint64_t before = __rdtsc(), after, guest;
	int rc = tiny_run(t);

	after = __rdtsc();
	if (!rc && t->run->exit_reason != KVM_EXIT_IO)
		rc = trial_odd_exit(t, text, len);
	if (!rc)
		rc = trial_regs(t, &regs);
	if (rc)
		return rc;
	guest = (regs.rdx << 32 | (uint32_t)regs.rax) - offset;
	if (after - before < *room)
		*room = after - before;
	if (guest - before <= after - before)
		return 0;
	snprintf(text, len, "the guest's reading is %lld ticks before, or %lld behind, ours",
		 (long long)(before - guest), (long long)(guest - after));
	return 1;
}

static int trial_tsc(struct tiny *t, char *text, size_t len)
{
	static const uint8_t code[] = {
		0x0f, 0x31,	  /* rdtsc */
		0xe6, TRIAL_PORT, /* out %al, $port */
		0xeb, 0xfa,	  /* jmp to the start */
	};
	uint64_t offset = 0, again = 0, room = UINT64_MAX;
	int khz = ioctl(t->vcpu_fd, KVM_GET_TSC_KHZ, 0);
	int rc = tiny_enter(t, code, sizeof(code)), attr = tsc_offset(t, &offset);

	if (rc || attr) {
		snprintf(text, len, "KVM does not tell the offset (it does since Linux 5.16)");
		return rc ? rc : attr;
	}
	/* The first run may move it. */
	for (unsigned int i = 0; i < 2 && !rc; i++)
		rc = tiny_run(t);
	if (!rc)
		rc = tsc_offset(t, &offset);
	for (unsigned int i = 0; i < ROUNDS && !rc; i++)
		rc = tsc_compare(t, offset, &room, text, len);
	if (!tsc_offset(t, &again) && again != offset) {
		snprintf(text, len, "it moves: this host's TSC is unstable, time stamps cost more");
		return rc < 0 ? rc : 0;
	}
	if (!rc)
		snprintf(text, len, "%d.%03d MHz, within %llu ticks of ours", khz / 1000,
			 khz % 1000, (unsigned long long)room);
	return rc;
}

/* ---------------------------------------------------------------------------------------------- */

static const struct trial trials[] = {
	{"exit by out", trial_out, false},
	{"int3 of ours", trial_int3, false},
	{"int3 of the guest's", trial_guest_int3, false},
	{"int3 and interrupt", trial_int3_and_irq, true},
	{"hardware breakpoint", trial_hw_breakpoint, false},
	{"single step", trial_step, false},
	{"step at another rip", trial_step_elsewhere, false},
	{"text from outside", trial_text, false},
	{"memory added later", trial_slot, false},
	{"offset of the TSC", trial_tsc, false},
};

static int trial_do(const struct trial *row, struct machine_trial *result)
{
	int kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC), rc;
	struct tiny t;

	if (kvm_fd < 0)
		return -errno;
	rc = tiny_open(&t, kvm_fd, row->irqchip);
	if (!rc)
		rc = row->run(&t, result->text, sizeof(result->text));
	tiny_close(&t);
	close(kvm_fd);
	return rc;
}

bool machine_try_kvm(unsigned int i, struct machine_trial *result)
{
	if (i >= sizeof(trials) / sizeof(trials[0]))
		return false;
	*result = (struct machine_trial){.name = trials[i].name};
	result->rc = trial_do(&trials[i], result);
	if (result->rc < 0 && !*result->text)
		snprintf(result->text, sizeof(result->text), "%s", strerror(-result->rc));
	return true;
}
