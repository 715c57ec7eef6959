// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vmm.c - machines from creation to every kind of end. */
#include "tests/unit/testguest.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#define MIB (1ull << 20)

/* --- ends ---------------------------------------------------------------------------------- */

static void check_end(const char *cmdline, enum machine_event_type want, const char *text)
{
	struct machine_event ev;
	struct guest g;

	guest_new(&g, 2, cmdline);
	guest_start(&g);
	guest_wait_end(&g, want);
	assert_non_null(strstr(g.console, "test guest: cpus=2"));
	assert_non_null(strstr(g.console, "\nok\n"));
	/* It stays at its end. */
	assert_int_equal(machine_wait(g.m, &ev, 0), 0);
	assert_int_equal(ev.type, want);
	if (!strstr(ev.text, text))
		fail_msg("\"%s\" does not say \"%s\"", ev.text, text);
	guest_free(&g);
}

static void test_end_reset(void **state)
{
	(void)state;
	check_end("end=i8042", MACHINE_EVENT_RESET, "keyboard controller");
	check_end("end=cf9", MACHINE_EVENT_RESET, "reset register");
}

static void test_end_poweroff(void **state)
{
	(void)state;
	check_end("end=poweroff", MACHINE_EVENT_POWEROFF, "powered");
}

static void test_end_triple_fault(void **state)
{
	(void)state;
	check_end("end=triple", MACHINE_EVENT_CRASH, "triple fault on vCPU 0");
}

static void test_end_halt(void **state)
{
	(void)state;
	check_end("end=halt", MACHINE_EVENT_HALT, "interrupts off");
}

/* Halted, but with a timer that will wake it: that is no end. */
static void test_halt_with_timer(void **state)
{
	struct guest g;

	(void)state;
	guest_new(&g, 1, "job=timer timer=200000000 count=6 end=poweroff");
	guest_run(&g);
	assert_true(*guest_var(&g, "timer_count") >= 6);
	guest_free(&g);
}

static void test_free_while_running(void **state)
{
	struct guest g;

	(void)state;
	guest_new(&g, 2, "job=work end=poweroff");
	guest_free(&g); /* never started */
	guest_new(&g, 2, "job=work end=poweroff");
	guest_start(&g);
	guest_wait_var(guest_var(&g, "work_count"), 1);
	guest_free(&g);
	guest_new(&g, 2, "job=work end=poweroff");
	guest_start(&g);
	machine_pause(g.m);
	guest_free(&g);
}

/* --- interrupts, console, waiting ---------------------------------------------------------- */

static void test_interrupts(void **state)
{
	struct guest g;

	(void)state;
	guest_new(&g, 2, "job=ipi count=50 end=poweroff");
	guest_run(&g);
	guest_free(&g);
}

static void test_console_input(void **state)
{
	const char *text = "the quick brown fox, twice: the quick brown fox.";
	size_t len = strlen(text), sent = 0;
	struct guest g;

	(void)state;
	guest_new(&g, 1, "job=echo end=poweroff");
	guest_start(&g);
	while (sent < len) {
		sent += machine_console_input(g.m, text + sent, len - sent);
		sched_yield();
	}
	guest_wait_console(&g, text);
	guest_wait_end(&g, MACHINE_EVENT_POWEROFF);
	guest_free(&g);
}

static void test_wait(void **state)
{
	struct machine_event ev;
	struct guest g;

	(void)state;
	guest_new(&g, 2, "job=work end=poweroff");
	assert_int_equal(machine_wait(g.m, &ev, 0), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_NONE);
	guest_start(&g);
	assert_int_equal(machine_wait(g.m, &ev, 5), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_NONE);
	machine_wake(g.m);
	machine_wake(g.m);
	assert_int_equal(machine_wait(g.m, &ev, -1), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_WAKE);
	assert_int_equal(machine_wait(g.m, &ev, 0), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_NONE);
	guest_stop(&g);
	guest_free(&g);
}

static void test_info(void **state)
{
	struct machine_info info;
	const char *desc = NULL;
	struct guest g;

	(void)state;
	assert_string_equal(machine_backend(0, &desc), "kvm");
	assert_non_null(desc);
	assert_string_equal(machine_backend(1, &desc), "qemu");
	assert_null(machine_backend(2, NULL));
	guest_new(&g, 2, "end=poweroff");
	machine_get_info(g.m, &info);
	assert_string_equal(info.backend, "kvm");
	assert_int_equal(info.vcpus, 2);
	assert_int_equal(info.memory, 64 * MIB);
	assert_int_equal(info.kernel_pa, guest_pa(guest_sym(&g, "_stext")));
	assert_true(info.tsc_khz > 100000);
	assert_non_null(strstr(info.cmdline, " end=poweroff"));
	assert_non_null(strstr(info.cmdline, "nokaslr"));
	assert_true(info.emulated == (info.kernel_insns_per_sec > 0));
	guest_free(&g);
}

static void test_two_machines(void **state)
{
	struct guest a, b;
	_Atomic uint64_t *count_b;
	uint64_t before;

	(void)state;
	guest_new(&a, 2, "job=work end=poweroff");
	guest_new(&b, 2, "job=work end=poweroff");
	guest_start(&a);
	guest_start(&b);
	count_b = guest_var(&b, "work_count");
	machine_pause(a.m);
	before = *count_b;
	guest_wait_var(count_b, before + 10); /* goes on while the other one stands still */
	machine_resume(a.m);
	guest_stop(&b);
	guest_free(&b);
	guest_stop(&a);
	guest_free(&a);
}

/* --- errors -------------------------------------------------------------------------------- */

static void refused(struct machine_config *cfg, const char *why)
{
	char err[256] = "";

	assert_null(machine_new("kvm", cfg, err, sizeof(err)));
	if (!strstr(err, why))
		fail_msg("\"%s\" does not say \"%s\"", err, why);
}

static void test_bad_config(void **state)
{
	struct machine_config good, cfg;
	char err[256] = "", cmdline[3000];
	struct guest g;

	(void)state;
	guest_init(&g);
	cfg = good = guest_config(&g, 1, "end=poweroff");
	assert_null(machine_new("abacus", &cfg, err, sizeof(err)));
	assert_non_null(strstr(err, "abacus"));
	cfg.vcpus = 0;
	refused(&cfg, "1 to 64 CPUs");
	cfg.vcpus = MACHINE_MAX_VCPUS + 1;
	refused(&cfg, "1 to 64 CPUs");
	cfg = good;
	cfg.memory = 1 * MIB;
	refused(&cfg, "too few");
	cfg.memory = 1ull << 60;
	refused(&cfg, "too much");
	cfg.memory = UINT64_MAX;
	refused(&cfg, "too much");
	cfg.memory = 16 * MIB; /* which is where the guest is linked to */
	refused(&cfg, "no memory there");
	cfg = good;
	cfg.kernel_size = 1000;
	refused(&cfg, "damaged");
	cfg.kernel = "#!/bin/sh, which is what a kernel image surely must not begin with at all";
	refused(&cfg, "not an ELF file");
	cfg = good;
	memset(cmdline, 'x', sizeof(cmdline));
	cmdline[sizeof(cmdline) - 1] = '\0';
	cfg.cmdline = cmdline;
	refused(&cfg, "command line is too long");
	cfg = good;
	cfg.initrd = g.image;
	cfg.initrd_size = 63 * MIB; /* refused before any of it is read */
	refused(&cfg, "initrd");
	free(g.image);
}

/* In a child, because it takes /dev/kvm away. 0: the message was as wanted. */
static int child_without_kvm(struct machine_config *cfg, bool missing, const char *why)
{
	char err[256] = "";
	int status;
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (missing &&
		    (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		     mount("none", "/dev", "tmpfs", 0, NULL)))
			_exit(77);
		if (!missing && setuid(65534))
			_exit(77);
		_exit(machine_new("kvm", cfg, err, sizeof(err)) || !strstr(err, why));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_no_kvm(void **state)
{
	struct machine_config cfg;
	struct stat st;
	struct guest g;
	int rc;

	(void)state;
	guest_init(&g);
	cfg = guest_config(&g, 1, "");
	rc = child_without_kvm(&cfg, true, "/dev/kvm is missing");
	if (rc != 77) /* not allowed to take it away: needs root */
		assert_int_equal(rc, 0);
	assert_int_equal(stat("/dev/kvm", &st), 0);
	if (!(st.st_mode & 2)) {
		rc = child_without_kvm(&cfg, false, "no permission for /dev/kvm");
		if (rc != 77)
			assert_int_equal(rc, 0);
	}
	free(g.image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_end_reset),
		cmocka_unit_test(test_end_poweroff),
		cmocka_unit_test(test_end_triple_fault),
		cmocka_unit_test(test_end_halt),
		cmocka_unit_test(test_halt_with_timer),
		cmocka_unit_test(test_free_while_running),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_console_input),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_two_machines),
		cmocka_unit_test(test_bad_config),
		cmocka_unit_test(test_no_kvm),
	};

	return guest_run_tests("vmm", tests);
}
