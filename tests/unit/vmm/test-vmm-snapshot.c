// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vmm-snapshot.c - machines saved to a file, and made of it again. */
#include "tests/unit/testguest.h"

#include <sys/mman.h>

#include "vmm/kvm/state/state.h"

/* A file without a name, that can be opened by one. */
struct kept {
	int fd;
	char path[64];
};

static void kept_new(struct kept *k)
{
	k->fd = memfd_create("snapshot", MFD_CLOEXEC);
	assert_true(k->fd >= 0);
	snprintf(k->path, sizeof(k->path), "/proc/self/fd/%d", k->fd);
}

static void kept_save(struct kept *k, struct guest *g)
{
	const struct machine_save save = {
		.fd = k->fd, .kernel_path = "/x/vmlinux", .kernel_id = "ab01"};
	char err[256] = "";

	if (machine_save(g->m, &save, err, sizeof(err)))
		fail_msg("machine_save: %s", err);
}

/* The guest from the file, whose image is the one of this other one. */
static void kept_restore(const struct kept *k, struct guest *g)
{
	struct machine_config cfg = {
		.snapshot = k->path, .console = guest_console, .trap = guest_trap};
	char err[256] = "";

	guest_init(g);
	cfg.arg = g;
	g->m = machine_new("kvm", &cfg, err, sizeof(err));
	if (!g->m)
		fail_msg("machine_new: %s", err);
}

static uint64_t kept_sum(const struct kept *k, size_t *len)
{
	struct stat st;
	uint8_t *all;
	uint64_t sum;

	assert_int_equal(fstat(k->fd, &st), 0);
	*len = (size_t)st.st_size;
	all = mmap(NULL, *len, PROT_READ, MAP_SHARED, k->fd, 0);
	assert_true(all != MAP_FAILED);
	sum = state_sum(all, *len);
	munmap(all, *len);
	return sum;
}

/* It stands within the handler of this hit, until the machine is resumed. */
struct stop {
	uint64_t at;
	_Atomic bool stands;
};

static void stop_trap(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct guest *g = arg;
	struct stop *s = g->user;

	(void)hit;
	if (s->stands || guest_hits(g) < s->at)
		return;
	machine_pause(m);
	s->stands = true;
}

/* job=calls, stopped at this call of traced_leaf, without traps any more. */
static void run_to_call(struct guest *g, struct stop *s, unsigned int cpus, const char *cmdline)
{
	struct machine_trap trap;
	time_t end = time(NULL) + GUEST_LIMIT_MS / 1000;

	guest_new(g, cpus, cmdline);
	g->user = s;
	g->trap = stop_trap;
	trap = guest_trap_at(g, "traced_leaf", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	assert_int_equal(machine_traps_set(g->m, &trap, 1), 0);
	guest_start(g);
	while (!s->stands && time(NULL) < end)
		sched_yield();
	assert_true(s->stands);
	machine_pause(g->m);
	machine_resume(g->m); /* its handler is back */
	assert_int_equal(machine_traps_clear(g->m, &trap.va, 1), 0);
}

static uint64_t leaf_calls(const struct guest *g)
{
	return *guest_var(g, "leaf_count");
}

/* --- going on ------------------------------------------------------------------------------- */

static void test_goes_on(void **state)
{
	struct stop s = {.at = 500};
	struct guest g, again;
	struct kept k;

	(void)state;
	kept_new(&k);
	run_to_call(&g, &s, 1, "job=calls count=1000 end=poweroff");
	assert_int_equal(leaf_calls(&g), 499);
	kept_save(&k, &g);
	guest_free(&g);
	kept_restore(&k, &again);
	assert_int_equal(leaf_calls(&again), 499);
	guest_run(&again);
	assert_int_equal(leaf_calls(&again), 1000);
	assert_null(strstr(again.console, "test guest")); /* that was said before */
	guest_free(&again);
	close(k.fd);
}

/* The one that was saved goes on as well. */
static void test_saved_goes_on(void **state)
{
	struct stop s = {.at = 10};
	struct guest g;
	struct kept k;

	(void)state;
	kept_new(&k);
	run_to_call(&g, &s, 1, "job=calls count=100 end=poweroff");
	kept_save(&k, &g);
	machine_resume(g.m);
	guest_wait_end(&g, MACHINE_EVENT_POWEROFF);
	assert_int_equal(leaf_calls(&g), 100);
	guest_free(&g);
	close(k.fd);
}

/* The order of calls from there on, as traps see it. */
static void test_again_and_again(void **state)
{
	struct stop s = {.at = 30};
	struct guest g;
	uint64_t sum;
	struct kept k;
	size_t len, now;

	(void)state;
	kept_new(&k);
	run_to_call(&g, &s, 2, "job=calls count=200 end=poweroff");
	kept_save(&k, &g);
	guest_free(&g);
	sum = kept_sum(&k, &len);
	for (unsigned int i = 0; i < 3; i++) {
		struct machine_trap trap;
		struct guest again;
		uint64_t before;

		kept_restore(&k, &again);
		before = guest_var(&again, "leaf_count")[0] + guest_var(&again, "leaf_count")[1];
		trap = guest_trap_at(&again, "traced_leaf", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
		assert_int_equal(machine_traps_set(again.m, &trap, 1), 0);
		guest_run(&again);
		/* A vCPU that had come to the site by then has it behind it. */
		assert_in_range(guest_hits(&again), 400 - before - 2, 400 - before);
		assert_int_equal(guest_var(&again, "leaf_count")[0], 200);
		assert_int_equal(guest_var(&again, "leaf_count")[1], 200);
		guest_free(&again);
		assert_int_equal(kept_sum(&k, &now), sum);
		assert_int_equal(now, len);
	}
	close(k.fd);
}

/* A snapshot of what has come from one. */
static void test_of_a_restored(void **state)
{
	struct stop s = {.at = 5};
	struct guest g, again, last;
	struct kept k, l;

	(void)state;
	kept_new(&k);
	kept_new(&l);
	run_to_call(&g, &s, 1, "job=calls count=50 end=poweroff");
	kept_save(&k, &g);
	guest_free(&g);
	kept_restore(&k, &again);
	guest_start(&again);
	machine_pause(again.m);
	if (!machine_has_ended(again.m, NULL)) {
		kept_save(&l, &again);
		kept_restore(&l, &last);
		assert_true(leaf_calls(&last) >= 4);
		guest_run(&last);
		assert_int_equal(leaf_calls(&last), 50);
		guest_free(&last);
	}
	machine_resume(again.m);
	guest_free(&again);
	close(k.fd);
	close(l.fd);
}

/* Interrupts of the local APIC's timer, of which some have come and others have not. */
static void test_timer(void **state)
{
	struct guest g, again;
	struct kept k;
	uint64_t seen;

	(void)state;
	kept_new(&k);
	guest_new(&g, 1, "job=timer timer=100000000 count=12 end=poweroff");
	guest_start(&g);
	guest_wait_var(guest_var(&g, "timer_count"), 3);
	kept_save(&k, &g);
	guest_free(&g);
	kept_restore(&k, &again);
	seen = *guest_var(&again, "timer_count");
	assert_in_range(seen, 3, 11);
	guest_run(&again);
	assert_true(*guest_var(&again, "timer_count") >= 12);
	guest_free(&again);
	close(k.fd);
}

/* --- what it is ----------------------------------------------------------------------------- */

static void test_state(void **state)
{
	struct machine_regs a, b;
	struct machine_sregs sa, sb;
	struct machine_info info, was;
	struct stop s = {.at = 20};
	struct guest g, again;
	struct kept k;
	size_t size;
	void *text, *copy;

	(void)state;
	kept_new(&k);
	run_to_call(&g, &s, 2, "job=calls count=100 end=poweroff");
	kept_save(&k, &g);
	kept_restore(&k, &again);
	machine_get_info(g.m, &was);
	machine_get_info(again.m, &info);
	assert_int_equal(info.vcpus, 2);
	assert_int_equal(info.memory, was.memory);
	assert_int_equal(info.kernel_pa, was.kernel_pa);
	assert_string_equal(info.cmdline, was.cmdline);
	assert_string_equal(info.kernel_path, "/x/vmlinux");
	assert_string_equal(info.kernel_id, "ab01");
	assert_true(info.was_running);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(machine_get_regs(g.m, i, &a), 0);
		assert_int_equal(machine_get_regs(again.m, i, &b), 0);
		assert_memory_equal(&a, &b, sizeof(a));
		memset(&sa, 0, sizeof(sa));
		memset(&sb, 0, sizeof(sb));
		assert_int_equal(machine_get_sregs(g.m, i, &sa), 0);
		assert_int_equal(machine_get_sregs(again.m, i, &sb), 0);
		assert_memory_equal(&sa, &sb, sizeof(sa));
	}
	text = guest_text(&g, &size);
	copy = guest_text(&again, &size);
	assert_memory_equal(text, copy, size);
	free(text);
	free(copy);
	guest_free(&again);
	guest_free(&g);
	close(k.fd);
}

static void test_refuses_traps(void **state)
{
	struct machine_trap trap;
	struct machine_save save;
	char err[256] = "";
	struct guest g;
	struct kept k;
	struct stat st;

	(void)state;
	kept_new(&k);
	guest_new(&g, 1, "job=calls count=100 end=poweroff");
	trap = guest_trap_at(&g, "traced_leaf", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	assert_int_equal(machine_traps_set(g.m, &trap, 1), 0);
	save = (struct machine_save){.fd = k.fd};
	assert_int_equal(machine_save(g.m, &save, err, sizeof(err)), -EBUSY);
	assert_non_null(strstr(err, "traps"));
	assert_int_equal(fstat(k.fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	guest_free(&g);
	close(k.fd);
}

/* With traps and a window, as they are while it is traced: of the traps nothing is in the file. */
static void test_traced(void **state)
{
	const struct stop never = {.at = UINT64_MAX};
	struct stop s = never;
	struct machine_trap trap;
	struct machine_info info;
	struct machine_save save = {.traced = true};
	char err[256] = "";
	struct guest g, again;
	void *text, *copy, *window;
	struct kept k;
	size_t size;
	uint64_t pa;

	(void)state;
	kept_new(&k);
	guest_new(&g, 1, "job=calls count=100 end=poweroff");
	g.user = &s;
	text = guest_text(&g, &size);
	trap = guest_trap_at(&g, "traced_leaf", MACHINE_TRAP_OUT, MACHINE_TRAP_SKIP);
	assert_int_equal(machine_traps_set(g.m, &trap, 1), 0);
	assert_int_equal(machine_window(g.m, 8192, &pa, &window), 0);
	memcpy((char *)window + 5000, "a word", 7);
	save.fd = k.fd;
	assert_int_equal(machine_save(g.m, &save, err, sizeof(err)), 0);
	kept_restore(&k, &again);
	machine_get_info(again.m, &info);
	assert_true(info.left_windows);
	assert_int_equal(info.memory, 64 << 20);
	copy = guest_text(&again, &size);
	assert_memory_equal(text, copy, size);
	assert_string_equal(machine_host_ptr(again.m, pa + 5000, 7), "a word");
	guest_run(&again);
	assert_int_equal(leaf_calls(&again), 100);
	guest_free(&again);
	guest_run(&g);
	assert_int_equal(guest_hits(&g), 100);
	free(text);
	free(copy);
	guest_free(&g);
	close(k.fd);
}

/* --- files that are none --------------------------------------------------------------------- */

static void check_refused(const struct kept *k, const char *why)
{
	struct machine_config cfg = {.snapshot = k->path};
	char err[256] = "";
	struct machine *m = machine_new("kvm", &cfg, err, sizeof(err));

	assert_null(m);
	if (!strstr(err, why))
		fail_msg("\"%s\" does not say \"%s\"", err, why);
}

static uint8_t byte_swap(const struct kept *k, uint64_t at, uint8_t by)
{
	uint8_t byte;

	assert_int_equal(pread(k->fd, &byte, 1, (off_t)at), 1);
	by ^= byte;
	assert_int_equal(pwrite(k->fd, &by, 1, (off_t)at), 1);
	return byte;
}

static void header_put(const struct kept *k, struct state_header *h)
{
	h->header_sum = state_sum(h, offsetof(struct state_header, header_sum));
	assert_int_equal(pwrite(k->fd, h, sizeof(*h), 0), sizeof(*h));
}

/* Sums that are right over something that is not. */
static void check_sections(const struct kept *k, const struct state_header *h, uint64_t at,
			   const void *bytes, size_t len, const char *why)
{
	uint64_t from = STATE_RAM_AT + h->memory;
	struct state_header changed = *h;
	uint8_t *data = malloc(h->sections), *sound = malloc(h->sections);

	assert_non_null(data);
	assert_non_null(sound);
	assert_int_equal(pread(k->fd, sound, h->sections, (off_t)from), h->sections);
	memcpy(data, sound, h->sections);
	memcpy(data + at, bytes, len);
	changed.sum = state_sum(data, h->sections);
	assert_int_equal(pwrite(k->fd, data, h->sections, (off_t)from), h->sections);
	header_put(k, &changed);
	check_refused(k, why);
	assert_int_equal(pwrite(k->fd, sound, h->sections, (off_t)from), h->sections);
	changed = *h;
	header_put(k, &changed);
	free(data);
	free(sound);
}

static void test_tampered(void **state)
{
	const uint32_t none = 0, many = 65, other = 1234;
	const uint64_t large = UINT64_MAX - 8;
	struct state_header h, changed;
	struct guest g;
	struct kept k;

	(void)state;
	kept_new(&k);
	check_refused(&k, "no complete snapshot");
	guest_new(&g, 1, "job=calls count=100 end=poweroff");
	kept_save(&k, &g);
	guest_free(&g);
	assert_int_equal(pread(k.fd, &h, sizeof(h), 0), sizeof(h));
	for (size_t at = 0; at < sizeof(h); at++) {
		byte_swap(&k, at, 0x10);
		check_refused(&k, at < 8    ? "no complete snapshot"
				  : at < 12 ? "version"
					    : "damaged");
		byte_swap(&k, at, 0x10);
	}
	for (uint64_t at = 0; at < h.sections; at += 97) {
		byte_swap(&k, STATE_RAM_AT + h.memory + at, 1);
		check_refused(&k, "damaged");
		byte_swap(&k, STATE_RAM_AT + h.memory + at, 1);
	}
	changed = h;
	changed.memory += 4096;
	header_put(&k, &changed);
	check_refused(&k, "damaged");
	changed = h;
	changed.sections = UINT64_MAX;
	header_put(&k, &changed);
	check_refused(&k, "damaged");
	changed = h;
	header_put(&k, &changed);
	/* In the first one: memory, tsc_khz, three more words, vcpus, emulated. */
	check_sections(&k, &h, 8, &large, 8, "damaged");
	check_sections(&k, &h, 0, &other, 4, "damaged");
	check_sections(&k, &h, 0, &none, 4, "damaged");
	check_sections(&k, &h, 16 + 40, &none, 4, "what machine");
	check_sections(&k, &h, 16 + 40, &many, 4, "what machine");
	check_sections(&k, &h, 16, &large, 8, "what machine");
	check_sections(&k, &h, 16 + 8, &large, 8, "TSC");
	check_sections(&k, &h, 16 + 44, &other, 4, "interprets");
	assert_int_equal(ftruncate(k.fd, (off_t)(STATE_RAM_AT + h.memory + h.sections - 1)), 0);
	check_refused(&k, "damaged");
	assert_int_equal(ftruncate(k.fd, 100), 0);
	check_refused(&k, "damaged");
	close(k.fd);
}

static void test_no_file(void **state)
{
	const struct kept none = {.path = "/nonexistent/file"}, folder = {.path = "/"};
	struct machine_config cfg = {.snapshot = "/nonexistent/file"};
	char err[256] = "";

	(void)state;
	check_refused(&none, "/nonexistent/file: No such file");
	check_refused(&folder, "not a regular file");
	assert_null(machine_new("qemu", &cfg, err, sizeof(err)));
	assert_non_null(strstr(err, "no snapshot"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_on),		cmocka_unit_test(test_saved_goes_on),
		cmocka_unit_test(test_again_and_again), cmocka_unit_test(test_of_a_restored),
		cmocka_unit_test(test_timer),		cmocka_unit_test(test_state),
		cmocka_unit_test(test_refuses_traps),	cmocka_unit_test(test_traced),
		cmocka_unit_test(test_tampered),	cmocka_unit_test(test_no_file),
	};

	return guest_run_tests("snapshots", tests);
}
