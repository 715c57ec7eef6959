/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-state.h - what a made-up guest for tests of tracer/ consists of, as plain arrays: its
 * memory, vCPUs, page tables and traps, and what is known of its kernel.
 *
 * The kernel image lies at FAKE_TEXT (physical FAKE_PA); guest RAM is fake.ram.
 */
#ifndef HVTRACE_TESTS_FAKE_STATE_H
#define HVTRACE_TESTS_FAKE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guestsym/guestsym.h"
#include "vmm/machine.h"

#define FAKE_TEXT UINT64_C(0xffffffff81000000)
#define FAKE_PA	  UINT64_C(0x100000)
#ifndef FAKE_RAM /* a test may need more */
#define FAKE_RAM (UINT64_C(8) << 20)
#endif
#define FAKE_WINDOW  (UINT64_C(4) << 20) /* what machine_window() gives lies in RAM */
#define FAKE_TABLE   UINT64_C(0x8000)	 /* what machine_reserved_page() gives */
#define FAKE_DIRECT  UINT64_C(0xffff888000000000)
#define FAKE_MAX     160
#define FAKE_TRAPS   1024 /* more there cannot be */
#define FAKE_VCPUS   4
#define FAKE_VA(off) (FAKE_TEXT + (off))

struct fake_guest {
	uint8_t *ram;
	struct guestsym_symbol syms[FAKE_MAX];
	size_t nsyms;
	struct guestsym_site sites[FAKE_MAX];
	size_t nsites;
	struct guestsym_irq_site irq_sites[FAKE_MAX];
	size_t nirq_sites;
	const struct guestsym_preempt_site *preempt_sites;
	size_t npreempt_sites;
	struct {
		const char *path;
		struct guestsym_field field;
	} fields[FAKE_MAX];
	size_t nfields;
	struct {
		const char *name;
		uint32_t size;
	} types[FAKE_MAX];
	size_t ntypes;
	struct machine_trap traps[FAKE_TRAPS];
	size_t ntraps;
	int trap_error; /* what setting and clearing traps gives, when not 0 */
	bool goes;	/* that is because the guest has powered itself off */
	/* So many times machine_patch_text() fails on its way, when it has written so many in all.
	 */
	unsigned int patch_failures;
	size_t patch_room;
	atomic_uint paused, woken;
	size_t parsed_running, parsed_standing; /* modules that were new then */
	void (*run)(void); /* what the guest does whenever it is resumed; or NULL */
	/* And what it does just before so much of its memory is read; or NULL. Any thread */
	void (*before_read)(uint64_t pa, size_t len);
	/* Is told of each write of the host's, fake_lock held; or NULL. */
	void (*wrote)(uint64_t pa, const void *buf, size_t len);
	bool running;
	bool window;			/* machine_window() gives memory */
	const char *accel;		/* what machine_get_info() says; NULL: "tcg" */
	bool loses_int3;		/* what machine_get_info() says */
	bool direct;			/* likewise */
	bool mmio;			/* likewise */
	bool follow;			/* likewise */
	int follow_error;		/* of machine_follow(), */
	unsigned int follows;		/* which was called so often, */
	struct machine_follow followed; /* at last so */
	bool watched;			/* accesses to devices have been asked for */
	int watch_error;		/* and that fails */
	bool halted;			/* what machine_has_halted() says */
	bool ended;			/* likewise of machine_has_ended() */
	bool gone[FAKE_VCPUS];		/* it was unplugged */
	unsigned int max_vcpus;		/* likewise */
	int vcpus_error;		/* of machine_look_at_vcpus() */
	unsigned int vcpus;		/* what machine_get_info() says */
	uint64_t memory;		/* likewise; 0: it is not known */
	struct machine_sregs sregs;
	const struct machine_sregs *each;	/* instead, of each vCPU; or NULL */
	unsigned int number[FAKE_VCPUS];	/* of each, as machine_number_vcpus() was told, */
	unsigned int numbered;			/* which was called so often, */
	int number_error;			/* and fails with that */
	unsigned int elsewhere;			/* bits: vCPUs that show none of the kernel */
	struct machine_regs regs[FAKE_VCPUS];	/* as set last */
	struct machine_regs now[FAKE_VCPUS];	/* as machine_get_regs() gives them */
	struct machine_delay delay[FAKE_VCPUS]; /* as machine_get_delay(); fake_lock */
	int delay_error;			/* what that gives, when not 0 */
	/* Page tables: these ranges are mapped when walked from root. */
	struct {
		uint64_t root, va, len, pa;
		uint64_t again; /* so many bytes of it, a power of two, are all there is; 0: len */
	} maps[FAKE_MAX];
	size_t nmaps;
	bool from_memory; /* its kernel was read from there, not from a file */
	int open_error;	  /* what reading a kernel's memory has come to */
	const char *banner;
	struct guestsym_range orc_ip, orc_unwind;
	struct guestsym_module mods[2];
	size_t nmods;
	const struct guestsym_event_list *events; /* NULL: it does not tell */
};

static struct fake_guest fake;
static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER; /* of RAM */

static __attribute__((unused)) uint8_t *fake_at(uint64_t va)
{
	return fake.ram + (va - FAKE_TEXT + FAKE_PA);
}

static __attribute__((unused)) void fake_symbol(const char *name, uint64_t addr, char type)
{
	fake.syms[fake.nsyms++] = (struct guestsym_symbol){addr, name, type};
}

static __attribute__((unused)) void fake_field(const char *path, uint32_t offset, uint32_t size)
{
	fake.fields[fake.nfields].path = path;
	fake.fields[fake.nfields++].field = (struct guestsym_field){.offset = offset, .size = size};
}

static __attribute__((unused)) void fake_type(const char *name, uint32_t size)
{
	fake.types[fake.ntypes].name = name;
	fake.types[fake.ntypes++].size = size;
}

static __attribute__((unused)) void fake_map(uint64_t root, uint64_t va, uint64_t len, uint64_t pa)
{
	fake.maps[fake.nmaps].root = root;
	fake.maps[fake.nmaps].va = va;
	fake.maps[fake.nmaps].len = len;
	fake.maps[fake.nmaps++].pa = pa;
}

#endif
