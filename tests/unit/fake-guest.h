/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-guest.h - a made-up guest for tests of tracer/: implements the parts of machine.h and
 * guestsym.h that tracer/ calls, over plain arrays. Included by one test program, which is then
 * linked without the real ones.
 *
 * The kernel image lies at FAKE_TEXT (physical FAKE_PA); guest RAM is fake.ram. What goes through
 * machine_read() and machine_write() may be read and written by several threads.
 */
#ifndef HVTRACE_TESTS_FAKE_GUEST_H
#define HVTRACE_TESTS_FAKE_GUEST_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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
#define FAKE_MAX     64
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
	bool window;	    /* machine_window() gives memory */
	const char *accel;  /* what machine_get_info() says; NULL: "tcg" */
	bool loses_int3;    /* what machine_get_info() says */
	unsigned int vcpus; /* what machine_get_info() says */
	uint64_t memory;    /* likewise; 0: it is not known */
	struct machine_sregs sregs;
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
	int open_error; /* what reading a kernel's memory has come to */
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

/* --- machine.h ---------------------------------------------------------------------------- */

void machine_pause_for(struct machine *m, const char *what)
{
	(void)m;
	if (!what)
		abort(); /* also in fuzz targets, which have no cmocka */
	fake.paused++;
}

void machine_serve_begin(struct machine *m, const char *what)
{
	(void)m;
	if (!what)
		abort(); /* also in fuzz targets, which have no cmocka */
}

void machine_serve_end(struct machine *m)
{
	(void)m;
}

void machine_resume(struct machine *m)
{
	(void)m;
	if (--fake.paused || !fake.run || fake.running)
		return;
	fake.running = true;
	fake.run();
	fake.running = false;
}

void machine_wake(struct machine *m)
{
	(void)m;
	fake.woken++;
}

void *machine_host_ptr(struct machine *m, uint64_t pa, size_t len)
{
	(void)m;
	return pa <= FAKE_RAM && len <= FAKE_RAM - pa ? fake.ram + pa : NULL;
}

int machine_read(struct machine *m, uint64_t pa, void *buf, size_t len)
{
	const void *p = machine_host_ptr(m, pa, len);

	if (!p)
		return -EFAULT;
	if (fake.before_read)
		fake.before_read(pa, len);
	pthread_mutex_lock(&fake_lock);
	memcpy(buf, p, len);
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

int machine_write(struct machine *m, uint64_t pa, const void *buf, size_t len)
{
	void *p = machine_host_ptr(m, pa, len);

	if (!p)
		return -EFAULT;
	pthread_mutex_lock(&fake_lock);
	memcpy(p, buf, len);
	if (fake.wrote)
		fake.wrote(pa, buf, len);
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

int machine_write_text(struct machine *m, uint64_t pa, const void *buf, size_t len)
{
	return machine_write(m, pa, buf, len);
}

int machine_patch_text(struct machine *m, const struct machine_patch *patches, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		if (fake.patch_failures && !fake.patch_room) {
			fake.patch_failures--;
			return -EIO;
		}
		ret = machine_write(m, patches[i].pa, patches[i].bytes, patches[i].size);
		fake.patch_room -= fake.patch_failures && fake.patch_room;
	}
	return ret;
}

int machine_window(struct machine *m, size_t size, uint64_t *pa, void **host)
{
	if (!fake.window)
		return -EOPNOTSUPP;
	*pa = FAKE_WINDOW;
	*host = machine_host_ptr(m, *pa, size);
	return *host ? 0 : -ENOSPC;
}

int machine_reserved_page(struct machine *m, uint64_t *pa)
{
	(void)m;
	*pa = FAKE_TABLE;
	return fake.window ? 0 : -EOPNOTSUPP;
}

void machine_get_info(struct machine *m, struct machine_info *info)
{
	(void)m;
	*info = (struct machine_info){.vcpus = fake.vcpus,
				      .memory = fake.memory,
				      .tsc_khz = 1000000,
				      .accel = fake.accel ? fake.accel : "tcg",
				      .was_running = true,
				      .loses_int3 = fake.loses_int3,
				      .window = true};
}

void machine_get_pauses(struct machine *m, struct machine_pauses *pauses)
{
	(void)m;
	*pauses = (struct machine_pauses){.count = 3,
					  .total_ns = 2500000,
					  .longest_ns = 1250000,
					  .longest_what = "patching its text",
					  .limit_ns = 1000000000,
					  .row = {[10] = 2, [11] = 1}};
}

bool machine_has_ended(struct machine *m, struct machine_event *ev)
{
	(void)m, (void)ev;
	return false;
}

int machine_wait(struct machine *m, struct machine_event *ev, int timeout_ms)
{
	(void)m;
	*ev = (struct machine_event){.type = timeout_ms && fake.goes ? MACHINE_EVENT_POWEROFF
								     : MACHINE_EVENT_NONE};
	return 0;
}

static __attribute__((unused)) void fake_map(uint64_t root, uint64_t va, uint64_t len, uint64_t pa)
{
	fake.maps[fake.nmaps].root = root;
	fake.maps[fake.nmaps].va = va;
	fake.maps[fake.nmaps].len = len;
	fake.maps[fake.nmaps++].pa = pa;
}

int machine_walk(struct machine *m, uint64_t root, unsigned int levels, uint64_t va, uint64_t *pa,
		 uint64_t *left)
{
	(void)m, (void)levels;
	for (size_t i = 0; i < fake.nmaps; i++) {
		uint64_t off = va - fake.maps[i].va;

		if (fake.maps[i].root != root || off >= fake.maps[i].len)
			continue;
		if (fake.maps[i].again)
			off &= fake.maps[i].again - 1;
		*pa = fake.maps[i].pa + off;
		if (left)
			*left = (fake.maps[i].again ? fake.maps[i].again : fake.maps[i].len) - off;
		return 0;
	}
	return -EFAULT;
}

int machine_get_sregs(struct machine *m, unsigned int vcpu, struct machine_sregs *sregs)
{
	(void)m;
	*sregs = fake.sregs;
	if (fake.elsewhere >> vcpu & 1)
		*sregs = (struct machine_sregs){0};
	return 0;
}

int machine_set_regs(struct machine *m, unsigned int vcpu, const struct machine_regs *regs)
{
	(void)m;
	if (vcpu >= FAKE_VCPUS)
		return -EINVAL;
	fake.regs[vcpu] = *regs;
	return 0;
}

int machine_get_regs(struct machine *m, unsigned int vcpu, struct machine_regs *regs)
{
	(void)m;
	if (vcpu >= FAKE_VCPUS)
		return -EINVAL;
	*regs = fake.now[vcpu];
	return 0;
}

uint64_t machine_get_tsc(struct machine *m, unsigned int vcpu)
{
	(void)m, (void)vcpu;
	return 0;
}

int machine_get_delay(struct machine *m, unsigned int vcpu, struct machine_delay *delay)
{
	(void)m;
	if (vcpu >= FAKE_VCPUS)
		return -EINVAL;
	pthread_mutex_lock(&fake_lock);
	*delay = fake.delay[vcpu];
	pthread_mutex_unlock(&fake_lock);
	return fake.delay_error;
}

static struct machine_trap *fake_trap(uint64_t va)
{
	for (size_t i = 0; i < fake.ntraps; i++)
		if (fake.traps[i].va == va)
			return &fake.traps[i];
	return NULL;
}

int machine_when_gone(struct machine *m, const struct machine_gone_word *word)
{
	(void)m;
	(void)word;
	return 0;
}

int machine_traps_set(struct machine *m, const struct machine_trap *traps, size_t n)
{
	(void)m;
	if (fake.trap_error)
		return fake.trap_error;
	if (n > FAKE_TRAPS - fake.ntraps)
		return -ENOSPC;
	for (size_t i = 0; i < n; i++) {
		if (fake_trap(traps[i].va))
			return -EEXIST;
		fake.traps[fake.ntraps++] = traps[i];
	}
	return 0;
}

int machine_traps_clear(struct machine *m, const uint64_t *vas, size_t n)
{
	(void)m;
	if (fake.trap_error)
		return fake.trap_error;
	for (size_t i = 0; i < n; i++) {
		struct machine_trap *t = fake_trap(vas[i]);

		if (!t)
			return -ENOENT;
		*t = fake.traps[--fake.ntraps];
	}
	return 0;
}

/* --- guestsym.h --------------------------------------------------------------------------- */

const struct guestsym_symbol *guestsym_lookup(const struct guestsym *gs, const char *name)
{
	(void)gs;
	for (size_t i = 0; i < fake.nsyms; i++)
		if (!strcmp(fake.syms[i].name, name))
			return &fake.syms[i];
	return NULL;
}

uint64_t guestsym_addr(const struct guestsym *gs, const char *name)
{
	const struct guestsym_symbol *sym = guestsym_lookup(gs, name);

	return sym ? sym->addr : 0;
}

const struct guestsym_symbol *guestsym_find(const struct guestsym *gs, uint64_t addr, uint64_t *off,
					    uint64_t *size)
{
	const struct guestsym_symbol *best = NULL;

	(void)gs;
	for (size_t i = 0; i < fake.nsyms; i++)
		if (fake.syms[i].addr <= addr && (!best || fake.syms[i].addr > best->addr))
			best = &fake.syms[i];
	if (best && off)
		*off = addr - best->addr;
	if (size)
		*size = 0x100;
	return best;
}

size_t guestsym_symbols(const struct guestsym *gs, const struct guestsym_symbol **syms)
{
	(void)gs;
	*syms = fake.syms;
	return fake.nsyms;
}

size_t guestsym_return_sites(const struct guestsym *gs, const uint64_t **sites)
{
	(void)gs;
	*sites = NULL;
	return 0;
}

size_t guestsym_fentry_sites(const struct guestsym *gs, const struct guestsym_site **sites)
{
	(void)gs;
	*sites = fake.sites;
	return fake.nsites;
}

size_t guestsym_irq_sites(const struct guestsym *gs, const struct guestsym_irq_site **sites)
{
	(void)gs;
	*sites = fake.irq_sites;
	return fake.nirq_sites;
}

size_t guestsym_preempt_sites(const struct guestsym *gs, const struct guestsym_preempt_site **sites)
{
	(void)gs;
	*sites = fake.preempt_sites;
	return fake.npreempt_sites;
}

int guestsym_phys(const struct guestsym *gs, uint64_t va, uint64_t *pa)
{
	(void)gs;
	if (va - FAKE_TEXT >= FAKE_RAM - FAKE_PA)
		return -EFAULT;
	*pa = va - FAKE_TEXT + FAKE_PA;
	return 0;
}

int guestsym_read(const struct guestsym *gs, uint64_t va, void *buf, size_t len)
{
	uint64_t pa;

	return guestsym_phys(gs, va, &pa) ? -EFAULT : machine_read(NULL, pa, buf, len);
}

int guestsym_field(const struct guestsym *gs, const char *path, struct guestsym_field *field)
{
	(void)gs;
	for (size_t i = 0; i < fake.nfields; i++)
		if (!strcmp(fake.fields[i].path, path)) {
			*field = fake.fields[i].field;
			return 0;
		}
	return -ENOENT;
}

int guestsym_function(const struct guestsym *gs, const char *name, struct guestsym_value *param,
		      unsigned int n, struct guestsym_value *result)
{
	(void)gs, (void)name, (void)param, (void)n, (void)result;
	return -ENODATA;
}

void guestsym_orc(const struct guestsym *gs, struct guestsym_range *ip,
		  struct guestsym_range *unwind, struct guestsym_range *header)
{
	(void)gs;
	*ip = fake.orc_ip;
	*unwind = fake.orc_unwind;
	*header = (struct guestsym_range){0};
}

/* It was read from a file. */
const void *guestsym_elf(const struct guestsym *gs, size_t *len)
{
	static const char image[] = "ELF";

	(void)gs;
	*len = sizeof(image);
	return image;
}

const char *guestsym_release(const struct guestsym *gs)
{
	(void)gs;
	return "6.1.0-fake";
}

const char *guestsym_banner(const struct guestsym *gs)
{
	(void)gs;
	return fake.banner ? fake.banner : "";
}

struct guestsym *guestsym_open_memory(struct guestsym_parsers *p, const struct guestsym_memory *mem,
				      char *err, size_t errlen)
{
	uint8_t byte;

	(void)p, (void)err, (void)p, (void)errlen;
	fake.open_error = mem->read(mem->arg, mem->hint, &byte, sizeof(byte));
	return NULL;
}

struct guestsym_parsers *guestsym_parsers(const struct guestsym *gs)
{
	(void)gs;
	return NULL;
}

void guestsym_close(struct guestsym *gs)
{
	(void)gs;
}

/* What the program that includes this has of its own, from the guest's memory. */
#ifndef FAKE_LISTS_ARE_READ
struct guestsym_module_copies {
	size_t fresh; /* modules that are not known */
};

int guestsym_modules_copy(const struct guestsym *gs, const struct guestsym_memory *mem,
			  uint64_t slide, const struct guestsym_module *known, size_t nr_known,
			  struct guestsym_module_copies **copies)
{
	(void)gs, (void)slide;
	if (!fake.nmods)
		return -ENOENT;
	for (size_t i = 0; i < fake.nmods; i++)
		if (mem->cancelled && mem->cancelled(mem->arg))
			return -ECANCELED;
	*copies = calloc(1, sizeof(**copies));
	(*copies)->fresh = fake.nmods;
	for (size_t i = 0; i < fake.nmods; i++)
		for (size_t k = 0; k < nr_known; k++)
			if (known[k].text.start == fake.mods[i].text.start) {
				(*copies)->fresh--;
				break;
			}
	return 0;
}

/* In memory of their own, so that what is used after it was freed is seen. */
int guestsym_modules_parse(struct guestsym_module_copies *copies, struct guestsym_module **mods,
			   size_t *n)
{
	*(fake.paused ? &fake.parsed_standing : &fake.parsed_running) += copies->fresh;
	free(copies);
	*mods = calloc(fake.nmods, sizeof(**mods));
	*n = fake.nmods;
	for (size_t i = 0; i < fake.nmods; i++) {
		const struct guestsym_module *from = &fake.mods[i];
		struct guestsym_symbol *syms = calloc(from->nr_syms + 1, sizeof(*syms));
		struct guestsym_site *sites = calloc(from->nr_sites + 1, sizeof(*sites));

		for (size_t k = 0; k < from->nr_syms; k++) {
			syms[k] = from->syms[k];
			syms[k].name = strdup(from->syms[k].name);
		}
		for (size_t k = 0; k < from->nr_sites; k++) {
			sites[k] = from->sites[k];
			sites[k].name = strdup(from->sites[k].name);
		}
		(*mods)[i] = *from;
		(*mods)[i].name = strdup(from->name ? from->name : "");
		(*mods)[i].syms = syms;
		(*mods)[i].sites = sites;
	}
	return 0;
}

void guestsym_modules_free(struct guestsym_module *mods, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < mods[i].nr_syms; k++)
			free((char *)(uintptr_t)mods[i].syms[k].name);
		for (size_t k = 0; k < mods[i].nr_sites; k++)
			free((char *)(uintptr_t)mods[i].sites[k].name);
		free((void *)(uintptr_t)mods[i].syms);
		free((void *)(uintptr_t)mods[i].sites);
		free((char *)(uintptr_t)mods[i].name);
	}
	free(mods);
}
#endif

int guestsym_type_size(const struct guestsym *gs, const char *name, uint32_t *size)
{
	(void)gs;
	for (size_t i = 0; i < fake.ntypes; i++)
		if (!strcmp(fake.types[i].name, name)) {
			*size = fake.types[i].size;
			return 0;
		}
	return -ENOENT;
}

int guestsym_enumerator(const struct guestsym *gs, const char *name, int64_t *value)
{
	(void)gs, (void)name, (void)value;
	return -ENOENT;
}

#ifndef FAKE_LISTS_ARE_READ
int guestsym_events_read(const struct guestsym *gs, const struct guestsym_memory *mem,
			 uint64_t slide, struct guestsym_event_list *list)
{
	(void)gs, (void)mem, (void)slide;
	if (!fake.events)
		return -ENODATA;
	*list = *fake.events;
	return 0;
}

int guestsym_events_image(const struct guestsym *gs, struct guestsym_event_list *list)
{
	return guestsym_events_read(gs, NULL, 0, list);
}

void guestsym_events_free(struct guestsym_event_list *list)
{
	(void)list;
}
#endif

#endif
