/* SPDX-License-Identifier: GPL-2.0-or-later */
/* testguest.h - runs the bare-metal test guest (tests/guest/) for a unit test. */
#ifndef HVTRACE_TESTS_TESTGUEST_H
#define HVTRACE_TESTS_TESTGUEST_H

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/elsewhere.h"
#include "vmm/machine.h"

#define GUEST_VIRT_BASE 0xffffffff80000000ull
#define GUEST_SITE_SIZE 5
#define GUEST_NR_WORK	8
#define GUEST_LIMIT_MS	240000 /* for things that must happen; takes nothing when they do */

struct guest {
	struct machine *m;
	void *image;
	size_t image_size;
	machine_trap_fn *trap; /* called for each hit after it has been counted; may be NULL */
	void *user;	       /* for it */

	pthread_mutex_t lock; /* the rest */
	pthread_cond_t change;
	char console[4096];
	size_t console_len;
	uint64_t hits[MACHINE_MAX_VCPUS];
};

static inline struct timespec guest_deadline(void)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += GUEST_LIMIT_MS / 1000;
	return at;
}

static inline void guest_console(void *arg, const char *text, size_t len)
{
	struct guest *g = arg;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < len && g->console_len < sizeof(g->console) - 1; i++)
		g->console[g->console_len++] = text[i];
	pthread_cond_broadcast(&g->change);
	pthread_mutex_unlock(&g->lock);
}

static inline void guest_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct guest *g = arg;

	pthread_mutex_lock(&g->lock);
	g->hits[hit->vcpu]++;
	pthread_cond_broadcast(&g->change);
	pthread_mutex_unlock(&g->lock);
	if (g->trap)
		g->trap(m, hit, g);
}

/* The guest is built beside the test programs: DIR/tests/.../NAME, DIR/tests/guest/. */
static inline void *guest_read_image(size_t *size)
{
	char path[PATH_MAX + 64], exe[PATH_MAX], *tests = NULL;
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	struct stat st;
	void *image;
	int fd;

	assert_true(len > 0);
	exe[len] = '\0';
	for (char *at = exe; (at = strstr(at, "/tests/")); at++)
		tests = at;
	if (!tests) {
		fail_msg("%s: not below tests/", exe);
		return NULL;
	}
	*tests = '\0';
	snprintf(path, sizeof(path), "%s/tests/guest/testguest.elf", exe);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	image = malloc(*size);
	assert_non_null(image);
	assert_int_equal(read(fd, image, *size), st.st_size);
	close(fd);
	return image;
}

static inline const Elf64_Shdr *guest_section(const struct guest *g, uint32_t type)
{
	const Elf64_Ehdr *eh = g->image;
	const Elf64_Shdr *sh = (const void *)((const char *)g->image + eh->e_shoff);

	for (unsigned int i = 0; i < eh->e_shnum; i++) {
		if (sh[i].sh_type == type)
			return &sh[i];
	}
	fail_msg("the test guest has no section of type %u", type);
	return NULL;
}

static inline const Elf64_Sym *guest_elf_sym(const struct guest *g, const char *name)
{
	const Elf64_Ehdr *eh = g->image;
	const Elf64_Shdr *table = guest_section(g, SHT_SYMTAB);
	const Elf64_Shdr *all = (const void *)((const char *)g->image + eh->e_shoff);
	const char *names = (const char *)g->image + all[table->sh_link].sh_offset;
	const Elf64_Sym *sym = (const void *)((const char *)g->image + table->sh_offset);

	for (size_t i = 0; i < table->sh_size / sizeof(*sym); i++) {
		if (!strcmp(names + sym[i].st_name, name))
			return &sym[i];
	}
	fail_msg("the test guest has no symbol %s", name);
	return NULL;
}

/* Address of a symbol of the guest. */
static inline uint64_t guest_sym(const struct guest *g, const char *name)
{
	return guest_elf_sym(g, name)->st_value;
}

static inline uint64_t guest_pa(uint64_t va)
{
	return va - GUEST_VIRT_BASE;
}

/* A variable of the guest, that the guest may be changing. */
static inline _Atomic uint64_t *guest_var(const struct guest *g, const char *name)
{
	void *p = machine_host_ptr(g->m, guest_pa(guest_sym(g, name)), sizeof(uint64_t));

	assert_non_null(p);
	return p;
}

static inline struct machine_config guest_config(struct guest *g, unsigned int cpus,
						 const char *cmdline)
{
	return (struct machine_config){
		.memory = 64ull << 20,
		.vcpus = cpus,
		.kernel = g->image,
		.kernel_size = g->image_size,
		.cmdline = cmdline,
		.console = guest_console,
		.trap = guest_trap,
		.arg = g,
	};
}

static inline void guest_init(struct guest *g)
{
	*g = (struct guest){0};
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->change, NULL);
	g->image = guest_read_image(&g->image_size);
}

static inline void guest_new(struct guest *g, unsigned int cpus, const char *cmdline)
{
	struct machine_config cfg;
	char err[256] = "";

	guest_init(g);
	cfg = guest_config(g, cpus, cmdline);
	g->m = machine_new("kvm", &cfg, err, sizeof(err));
	if (!g->m)
		fail_msg("machine_new: %s", err);
}

static inline void guest_free(struct guest *g)
{
	machine_free(g->m);
	free(g->image);
	pthread_cond_destroy(&g->change);
	pthread_mutex_destroy(&g->lock);
	elsewhere_check();
}

static inline void guest_start(struct guest *g)
{
	char err[256] = "";

	if (machine_start(g->m, err, sizeof(err)))
		fail_msg("machine_start: %s", err);
}

/* Wait for the guest's end, which must be this one. */
static inline void guest_wait_end(struct guest *g, enum machine_event_type want)
{
	struct machine_event ev;

	assert_int_equal(machine_wait(g->m, &ev, GUEST_LIMIT_MS), 0);
	if (ev.type != want)
		fail_msg("event %d (%s) instead of %d; console: %s", ev.type, ev.text, want,
			 g->console);
}

/* Run the guest to its end: it must say that all went well. */
static inline void guest_run(struct guest *g)
{
	guest_start(g);
	guest_wait_end(g, MACHINE_EVENT_POWEROFF);
	assert_non_null(strstr(g->console, "\nok\n"));
}

/* End a guest whose job goes on until it is told to stop. */
static inline void guest_stop(struct guest *g)
{
	*guest_var(g, "job_stop") = 1;
	guest_wait_end(g, MACHINE_EVENT_POWEROFF);
	assert_non_null(strstr(g->console, "\nok\n"));
}

static inline uint64_t guest_hits(struct guest *g)
{
	uint64_t n = 0;

	pthread_mutex_lock(&g->lock);
	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++)
		n += g->hits[i];
	pthread_mutex_unlock(&g->lock);
	return n;
}

/* Wait until there have been this many hits in all. */
static inline void guest_wait_hits(struct guest *g, uint64_t want)
{
	struct timespec at = guest_deadline();
	uint64_t n = 0;

	pthread_mutex_lock(&g->lock);
	for (;;) {
		n = 0;
		for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++)
			n += g->hits[i];
		if (n >= want || pthread_cond_timedwait(&g->change, &g->lock, &at))
			break;
	}
	pthread_mutex_unlock(&g->lock);
	if (n < want)
		fail_msg("only %lu of %lu hits", (unsigned long)n, (unsigned long)want);
}

static inline void guest_wait_console(struct guest *g, const char *text)
{
	struct timespec at = guest_deadline();
	int rc = 0;

	pthread_mutex_lock(&g->lock);
	while (!strstr(g->console, text) && !rc)
		rc = pthread_cond_timedwait(&g->change, &g->lock, &at);
	pthread_mutex_unlock(&g->lock);
	if (rc)
		fail_msg("no \"%s\" on the console: %s", text, g->console);
}

/* Wait until a variable that only the guest changes has at least this value. */
static inline void guest_wait_var(_Atomic uint64_t *var, uint64_t want)
{
	time_t end = time(NULL) + GUEST_LIMIT_MS / 1000;

	while (*var < want) {
		if (time(NULL) > end)
			fail_msg("the guest does not go on");
		sched_yield();
	}
}

static inline struct machine_trap guest_trap_at(const struct guest *g, const char *func,
						enum machine_trap_kind kind,
						enum machine_trap_action action)
{
	uint64_t va = guest_sym(g, func);

	return (struct machine_trap){
		.va = va,
		.pa = guest_pa(va),
		.size = GUEST_SITE_SIZE,
		.kind = (uint8_t)kind,
		.action = (uint8_t)action,
		.cookie = va ^ 0x5555,
	};
}

/* Traps at work_0 to work_7. */
static inline void guest_work_traps(const struct guest *g, struct machine_trap *traps,
				    enum machine_trap_kind kind, enum machine_trap_action action)
{
	for (unsigned int i = 0; i < GUEST_NR_WORK; i++) {
		char name[16];

		snprintf(name, sizeof(name), "work_%u", i);
		traps[i] = guest_trap_at(g, name, kind, action);
	}
}

/* A copy of the guest's text as it is in its memory now, for the caller to free. */
static inline void *guest_text(const struct guest *g, size_t *size)
{
	uint64_t start = guest_sym(g, "_stext");
	void *copy;

	*size = guest_sym(g, "_etext") - start;
	copy = malloc(*size + 1); /* analysers think that there could be no text */
	assert_non_null(copy);
	assert_int_equal(machine_read(g->m, guest_pa(start), copy, *size), 0);
	return copy;
}

/* Run the tests where there is KVM, otherwise say why not. */
#define guest_run_tests(name, tests)                                                               \
	(access("/dev/kvm", R_OK | W_OK)                                                           \
		 ? printf("1..1\nok 1 - " name " # SKIP /dev/kvm: %s\n", strerror(errno)) < 0      \
		 : cmocka_run_group_tests_name(name, tests, NULL, NULL))

#endif
