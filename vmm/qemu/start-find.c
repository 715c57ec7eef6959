// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start-find.c - finds the kernel of a guest that boots by itself, while it is being unpacked.
 *
 * Boot loaders of a BIOS enter what unpacks the kernel, by the 32-bit protocol, at one of a few
 * addresses. From there it is followed to its jump into the kernel, which then is unpacked, moved
 * by KASLR and about to begin. With UEFI a kernel unpacks itself as a program of the firmware's
 * before it calls ExitBootServices(); older ones (before 6.6 and its backports) do behind that, as
 * with a BIOS. In either case its first function is where it was linked at plus the slide.
 *
 * All of that is done with hardware breakpoints, at most 4 at a time, and by reading memory.
 */
#include "vmm/qemu/boot/boot.h"
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIND_S	    180
#define LOOK_MS	    1000 /* how often a guest is made to stand on its way */
#define OPENED_MAX  8	 /* packed kernels in memory that are tried, copies of one not counted */
#define RESETS_MAX  16
#define MUCH	    (64 << 10)
#define BREAKPOINTS 4
#define UPPER_HALF  (UINT64_C(1) << 63)
#define NR_ENTRIES  (sizeof(entries) / sizeof(entries[0]))

/*
 * Where the unpacker's 32-bit entry is: its pref_address, which GRUB goes by (CONFIG_PHYSICAL_START
 * as it mostly is), that of old, which the others and the kernel's own real-mode code go by, and
 * the least pref_address.
 */
static const uint64_t entries[] = {0x1000000, 0x100000, 0x200000};

/* Code that unpacks a kernel, and that has been seen in memory. */
struct place {
	struct boot_setup setup;
	uint64_t code, original; /* the second: what this is a copy of, or itself */
};

struct find {
	struct qemu_machine *m;
	const struct machine_config *cfg;
	struct boot_memory mem;
	struct boot_range ram[QEMU_MAX_REGIONS];
	int64_t end_ms;
	uint64_t reg[GDB_NR_REGS]; /* of the first vCPU at this stop */
	uint64_t efi_exit;	   /* ExitBootServices(), 0: not known */
	struct place place[BREAKPOINTS - 1];
	unsigned int nplace, nopened;
	uint64_t opened; /* the code that the kernel below was packed behind */
	struct machine_kernel kernel;
	struct boot_kernel image; /* the same */
	uint64_t pa, slide;	  /* where it lies */
	char *err;
	size_t errlen;
};

__attribute__((format(printf, 3, 4))) static int fail(struct find *f, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->err, f->errlen, fmt, ap);
	va_end(ap);
	return rc;
}

/* --- memory -------------------------------------------------------------------------------------
 */

/* A search through all of it may take as long as there is much of it. */
static int read_memory(void *arg, uint64_t pa, void *buf, size_t len)
{
	const struct find *f = arg;

	if (len >= MUCH && f->cfg->cancelled && f->cfg->cancelled(f->cfg->arg))
		return -ECANCELED;
	return qemu_read_standing(f->m, pa, buf, len);
}

/* What of it is below 1 MiB changes its place while firmware runs: so it is looked at again. */
static int look_at_memory(struct find *f)
{
	struct qemu_machine *m = f->m;
	int rc = 0;

	/* At a reboot it is what it was when the first kernel had begun. */
	if (!qemu_again_is_boot(m)) {
		qemu_ram_exit(m);
		m->ram = (struct qemu_ram){.mem_fd = -1};
		rc = qemu_look(m, f->err, f->errlen);
	}
	if (rc)
		return rc;
	for (unsigned int i = 0; i < m->ram.n; i++) {
		const struct qemu_region *r = &m->ram.region[i];

		f->ram[i] = (struct boot_range){r->pa, r->pa + r->size};
	}
	f->mem = (struct boot_memory){read_memory, f, f->ram, m->ram.n};
	return 0;
}

/* --- running ------------------------------------------------------------------------------------
 */

static bool is_in(const uint64_t *at, unsigned int n, uint64_t address)
{
	while (n--)
		if (at[n] == address)
			return true;
	return false;
}

typedef bool look_fn(void *arg);

/* 0: it is at one of these places; -EAGAIN: not yet, or look() has ended it. */
static int go(struct find *f, const uint64_t *at, unsigned int n, look_fn *look)
{
	struct start_run run = {.at = at, .n = n, .end_ms = qemu_start_now_ms() + LOOK_MS};
	int rc = is_in(at, n, f->reg[GDB_RIP]) ? qemu_start_step(f->m) : 0, regs;

	if (run.end_ms > f->end_ms)
		run.end_ms = f->end_ms;
	/* Memory can be read while it runs, or else it is looked at only when it stands. */
	if (f->m->ram.direct) {
		run.look = look;
		run.arg = f;
	}
	if (!rc)
		rc = qemu_start_run(f->m, f->cfg, &run);
	if (rc && rc != -ETIMEDOUT)
		return rc;
	regs = qemu_start_regs(f->m, f->reg);
	if (regs)
		return regs;
	return rc && qemu_start_now_ms() < f->end_ms ? -EAGAIN : rc;
}

static int go_to(struct find *f, uint64_t at)
{
	int rc;

	do
		rc = go(f, &at, 1, NULL);
	while (rc == -EAGAIN);
	return rc;
}

static bool in_kernel(const struct find *f)
{
	return qemu_start_walks(f->reg) &&
	       (qemu_start_is_user(f->reg) || f->reg[GDB_RIP] & UPPER_HALF);
}

static int check_missed(struct find *f)
{
	return in_kernel(f)
		       ? fail(f, -EALREADY,
			      "a kernel runs in the guest (rip 0x%" PRIx64 "), and nobody has seen "
			      "how it began: attach to it instead (hvtrace attach)",
			      f->reg[GDB_RIP])
		       : 0;
}

/* --- the kernel ---------------------------------------------------------------------------------
 */

/* -ENOENT: there is none behind that code. */
static int open_kernel(struct find *f, const struct boot_setup *setup, uint64_t code)
{
	uint8_t *image;
	size_t len;
	int rc = boot_image_read(&f->mem, setup, code, &image, &len);

	if (rc)
		return rc;
	f->opened = 0; /* the image of before is no more, whatever comes of this */
	rc = f->cfg->found(f->cfg->arg, image, len, &f->kernel, f->err, f->errlen);
	free(image);
	if (rc)
		return rc;
	f->opened = code;
	rc = boot_kernel_open(&f->image, f->kernel.elf, f->kernel.size);
	return rc ? fail(f, rc, "the kernel in the guest's memory is no image of one") : 0;
}

static uint64_t kernel_entry(const struct find *f)
{
	return f->pa + (f->image.entry - f->image.seg[0].pa);
}

/* It goes where its image is unpacked to, headers first. */
static bool sees_kernel(void *arg)
{
	struct find *f = arg;

	return !boot_kernel_unpacks(&f->image, &f->mem, &f->pa);
}

/*
 * To the jump into the kernel; or, once it is seen where that will be, to where it leads. TCG does
 * one instruction at a time in all of a page with a breakpoint, and beside that jump there is code
 * that unpacks: with it alone, some kernels would take it minutes.
 */
static int run_unpacker(struct find *f, uint64_t jump)
{
	uint64_t at = jump;
	bool seen = false;
	int rc;

	do {
		rc = go(f, &at, 1, seen ? NULL : sees_kernel);
		if (rc != -EAGAIN)
			break;
		if (!seen && sees_kernel(f)) {
			seen = true;
			at = kernel_entry(f);
		}
		rc = check_missed(f);
	} while (!rc);
	if (!rc && !seen)
		f->pa = f->reg[GDB_RAX] - (f->image.entry - f->image.seg[0].pa);
	return rc;
}

/* From the beginning of the code that unpacks it, in whatever mode, to that of the kernel. */
static int follow(struct find *f, uint64_t code)
{
	static const char lost[] = "the kernel's own code that unpacks it is of no known form";
	uint64_t at;
	int rc = boot_unpacker_moves(&f->mem, code, &at);

	if (rc)
		return fail(f, -ENOTSUP, lost);
	rc = go_to(f, at);
	if (rc)
		return rc;
	rc = boot_unpacker_ends(&f->mem, f->reg[GDB_RAX], &at);
	if (rc)
		return fail(f, -ENOTSUP, lost);
	rc = run_unpacker(f, at);
	if (rc)
		return rc;
	rc = boot_kernel_look(&f->image, &f->mem, f->pa, &f->slide);
	return rc ? fail(f, -ENOTSUP,
			 "the kernel that the guest has unpacked is not the one that it was packed as")
		  : 0;
}

/* It is where such code may begin; -ENOENT: it is something else. */
static int at_entry(struct find *f)
{
	uint64_t code = f->reg[GDB_RIP];
	struct boot_setup setup;
	int rc = boot_setup_read(&f->mem, (uint32_t)f->reg[GDB_RSI], &setup);

	if (!rc)
		rc = open_kernel(f, &setup, code);
	return rc ? rc : follow(f, code);
}

/* --- UEFI ---------------------------------------------------------------------------------------
 */

static bool is_known(const struct find *f, const struct boot_setup *setup, uint64_t code)
{
	for (unsigned int i = 0; i < f->nplace; i++) {
		const struct place *p = &f->place[i];

		if (p->code == code || (p->setup.payload_length == setup->payload_length &&
					boot_code_is_same(&f->mem, p->code, code)))
			return true;
	}
	return false;
}

/*
 * A kernel that is packed there, and is unpacked already: 0. -ENOENT: it is not; then it may be one
 * that has not unpacked itself yet.
 */
static int try_place(struct find *f, const struct boot_setup *setup, uint64_t code)
{
	int rc;

	if (f->nplace == BREAKPOINTS - 1 || f->nopened == OPENED_MAX || is_known(f, setup, code))
		return -ENOENT;
	rc = open_kernel(f, setup, code);
	f->nopened += rc != -ENOENT;
	if (rc)
		return rc == -ECANCELED || rc == -ENOMEM ? rc : -ENOENT;
	f->place[f->nplace++] = (struct place){*setup, code, code};
	return boot_kernel_find(&f->image, &f->mem, &f->pa, &f->slide);
}

static int search_memory(struct find *f)
{
	struct boot_setup setup = {0};
	uint64_t from = 0;
	int rc;

	for (;;) {
		rc = boot_setup_find(&f->mem, from, &setup);
		for (size_t i = 0; i < 2 && !rc; i++) {
			rc = try_place(f, &setup, setup.code[i]);
			if (!rc)
				return 0;
			rc = rc == -ENOENT ? 0 : rc;
		}
		if (rc)
			return rc;
		from = setup.at + 1;
	}
}

/*
 * Older kernels unpack themselves behind that: from startup_64, in the place where they are, or in
 * one to which they have moved before.
 */
static void add_moved(struct find *f)
{
	unsigned int known = f->nplace;

	for (size_t i = 0; i < f->mem.nram; i++) {
		uint64_t at = (f->ram[i].start + BOOT_KERNEL_ALIGN - 1) & ~(BOOT_KERNEL_ALIGN - 1);

		for (; at < f->ram[i].end && f->nplace < BREAKPOINTS - 1; at += BOOT_KERNEL_ALIGN)
			for (unsigned int p = 0; p < known; p++)
				if (at != f->place[p].code &&
				    boot_code_is_same(&f->mem, at, f->place[p].code)) {
					f->place[f->nplace] = f->place[p];
					f->place[f->nplace++].code = at;
					break;
				}
	}
}

static int at_place(struct find *f)
{
	for (unsigned int i = 0; i < f->nplace; i++) {
		const struct place *p = &f->place[i];
		int rc;

		if (p->code + BOOT_STARTUP_64 != f->reg[GDB_RIP])
			continue;
		rc = p->original == f->opened ? 0 : open_kernel(f, &p->setup, p->original);
		return rc ? rc : follow(f, p->code);
	}
	return -ENOENT;
}

/* The firmware goes. -ENOENT: for something that is no Linux, or has none yet. */
static int at_efi_exit(struct find *f)
{
	int rc;

	f->nplace = f->nopened = 0;
	rc = search_memory(f);
	if (rc != -ENOENT)
		return rc;
	if (!f->nplace && f->err[0])
		return -EINVAL; /* there is a kernel, and a line says what is wrong with it */
	add_moved(f);
	return -ENOENT;
}

/* --- the way to it ------------------------------------------------------------------------------
 */

/* Places that it may come by: all of them at once are no more than there are breakpoints. */
static unsigned int list_places(const struct find *f, uint64_t at[BREAKPOINTS])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->nplace; i++)
		at[n++] = f->place[i].code + BOOT_STARTUP_64;
	if (!f->nplace && f->efi_exit)
		at[n++] = f->efi_exit;
	for (size_t i = 0; i < NR_ENTRIES && n < BREAKPOINTS; i++)
		at[n++] = entries[i];
	return n;
}

/* Its tables are there for some 100 ms before a boot loader runs. */
static bool sees_efi(void *arg)
{
	struct find *f = arg;

	return !boot_efi_exit(&f->mem, &f->efi_exit);
}

static int look_around(struct find *f)
{
	uint64_t rip = f->reg[GDB_RIP];
	int rc = at_place(f);

	if (rc == -ENOENT)
		rc = f->efi_exit && rip == f->efi_exit ? at_efi_exit(f) : at_entry(f);
	return rc;
}

/* From a reset to a kernel that is unpacked: its place and slide are known then. */
static int find_kernel(struct find *f)
{
	bool efi = f->cfg->firmware == MACHINE_FIRMWARE_UEFI;
	struct qemu_machine *m = f->m;
	int rc = -EAGAIN;

	f->efi_exit = f->opened = f->nplace = 0;
	f->err[0] = '\0';
	m->resets_seen = atomic_load(&m->resets);
	while (rc == -EAGAIN || rc == -ENOENT) {
		uint64_t at[BREAKPOINTS];
		unsigned int n = list_places(f, at);

		rc = go(f, at, n, efi && !f->efi_exit ? sees_efi : NULL);
		if (!rc)
			rc = look_around(f);
		else if (rc == -EAGAIN && check_missed(f))
			rc = -EALREADY;
	}
	return rc;
}

static int explain(struct find *f, int rc)
{
	if (rc == -ETIMEDOUT)
		return fail(f, rc,
			    "no kernel has begun in the guest in %d s (rip 0x%" PRIx64
			    "): --console may show what its firmware or boot loader waits for",
			    FIND_S, f->reg[GDB_RIP]);
	if (rc == -ECANCELED)
		return fail(f, rc, "the guest's kernel had not begun yet");
	if (rc == -ERESTART)
		return fail(f, rc, "the guest has reset itself %d times before a kernel had begun",
			    RESETS_MAX);
	if (rc == -ESHUTDOWN || rc == -ECONNRESET || rc == -EPIPE)
		return fail(f, rc,
			    "the guest ended before its kernel had begun: --console may show why");
	if (f->err[0])
		return rc;
	return fail(f, rc, "QEMU's gdb stub does not run the guest to its kernel: %s",
		    strerror(-rc));
}

/* Boot loaders, too, may reset a guest, and then all begins again. */
static int find(struct find *f)
{
	int rc = -ERESTART;

	for (int i = 0; i < RESETS_MAX && rc == -ERESTART; i++) {
		rc = find_kernel(f);
		if (!rc)
			rc = go_to(f, f->kernel.entry + f->slide);
	}
	return rc ? explain(f, rc) : 0;
}

int qemu_start_find(struct qemu_machine *m, const struct machine_config *cfg, char *err,
		    size_t errlen)
{
	struct find *f = calloc(1, sizeof(*f));
	int rc;

	if (!f) {
		snprintf(err, errlen, "no memory to find the guest's kernel");
		return -ENOMEM;
	}
	f->m = m;
	f->cfg = cfg;
	f->err = err;
	f->errlen = errlen;
	f->end_ms = qemu_start_now_ms() + FIND_S * INT64_C(1000);
	atomic_store(&m->finding, true);
	rc = look_at_memory(f);
	if (!rc && cfg->firmware == MACHINE_FIRMWARE_UEFI && !m->ram.direct)
		rc = fail(f, -EACCES,
			  "with UEFI the guest's kernel is searched for in the memory of QEMU: run "
			  "as root or as QEMU's user");
	if (!rc)
		rc = find(f);
	atomic_store(&m->finding, false);
	if (!rc)
		rc = look_at_memory(f);
	if (!rc) {
		m->slide = f->slide;
		m->moved = f->pa - f->image.seg[0].pa;
	}
	free(f);
	return rc;
}
