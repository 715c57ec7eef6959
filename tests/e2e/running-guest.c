// SPDX-License-Identifier: GPL-2.0-or-later
/* running-guest.c - attaches to a guest of tests/e2e/qemu-lib.sh and finds its kernel. */
#include "tests/e2e/running-guest.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PF_VECTOR 14
#define CR4_LA57  (1u << 12)
#define PTI_USER  (1ull << 12) /* PTI_USER_PGTABLE_BIT, arch/x86/include/asm/page_types.h */

void env_init(struct env *e, char **argv)
{
	char err[256];

	e->target = argv[0];
	e->kernel = argv[1];
	e->uri = argv[3]; /* or the NULL behind */
	e->gs = guestsym_open(NULL, e->kernel, 0, err, sizeof(err));
	if (!e->gs)
		fail_aloud("%s", err);
	e->console.fd = console_open(argv[2]);
	assert_true(e->console.fd >= 0);
	console_wait_up(&e->console);
}

static void print_warning(void *arg, enum machine_msg_level level, const char *text)
{
	(void)arg;
	(void)level;
	fprintf(stderr, "# %s\n", text);
}

void env_attach(struct env *e, machine_trap_fn *handler)
{
	struct machine_attach_config cfg = {
		.target = e->target,
		.connect = e->uri,
		.message = print_warning,
		.trap = handler,
		.arg = e,
	};
	char err[256];

	e->m = machine_attach(&cfg, err, sizeof(err));
	if (!e->m)
		fail_aloud("%s", err);
}

void env_detach(struct env *e)
{
	machine_free(e->m);
	e->m = NULL;
}

int read_virt(struct env *e, uint64_t va, void *buf, size_t len)
{
	uint8_t *to = buf;

	while (len) {
		uint64_t pa, left;
		size_t part;

		if (machine_walk(e->m, e->root, e->levels, va, &pa, &left))
			return -EFAULT;
		part = left < len ? (size_t)left : len;
		if (machine_read(e->m, pa, to, part))
			return -EFAULT;
		va += part;
		to += part;
		len -= part;
	}
	return 0;
}

uint64_t running(const struct env *e, const char *name)
{
	uint64_t va = guestsym_addr(e->gs, name);

	assert_int_not_equal(va, 0);
	return va + e->slide;
}

uint64_t phys(struct env *e, uint64_t va)
{
	uint64_t pa = 0;

	assert_int_equal(machine_walk(e->m, e->root, e->levels, va, &pa, NULL), 0);
	return pa;
}

void find_kernel(struct env *e)
{
	struct machine_sregs s;
	uint16_t gate[8] = {0}; /* analysers think that a failed test goes on */
	uint64_t entry;

	machine_pause(e->m);
	assert_int_equal(machine_get_sregs(e->m, 0, &s), 0);
	machine_resume(e->m);
	/* Where tables come in pairs: the kernel's. */
	e->root = guestsym_lookup(e->gs, "pti_init") ? s.cr3 & ~PTI_USER : s.cr3;
	e->levels = s.cr4 & CR4_LA57 ? 5 : 4;
	if (read_virt(e, s.idt_base + PF_VECTOR * sizeof(gate), gate, sizeof(gate)))
		fail_aloud("no IDT at %" PRIx64, s.idt_base);
	entry = gate[0] | (uint64_t)gate[3] << 16 | (uint64_t)gate[4] << 32 |
		(uint64_t)gate[5] << 48;
	e->slide = entry - guestsym_addr(e->gs, "asm_exc_page_fault");
	assert_int_equal(e->slide & 0xfffff, 0);
}

uint8_t *read_text(struct env *e, size_t *len)
{
	uint64_t start = running(e, "_stext");
	uint8_t *text;

	*len = running(e, "_etext") - start;
	text = malloc(*len);
	assert_non_null(text);
	assert_int_equal(read_virt(e, start, text, *len), 0);
	return text;
}

static void hand_over(struct machine *m, const struct machine_hit *hit, void *arg)
{
	struct env *e = arg;

	(void)m;
	trace_trap(e->trace, hit);
}

static void print_message_line(void *arg, const char *text)
{
	(void)arg;
	print_message("# %s\n", text);
}

void env_trace(struct env *e, struct trace_config cfg)
{
	struct machine_info info;
	char err[512];

	env_attach(e, hand_over);
	machine_get_info(e->m, &info);
	cfg.gs = e->gs;
	cfg.running = true;
	cfg.vcpus = machine_traceable_vcpus(&info);
	cfg.message = print_message_line;
	e->trace = trace_new(&cfg, err, sizeof(err));
	if (!e->trace || trace_attach_running(e->trace, e->m, err, sizeof(err)))
		fail_aloud("%s", err);
}

void env_trace_forget(struct env *e)
{
	env_detach(e);
	trace_free(e->trace);
	e->trace = NULL;
}

char **env_arguments;

int env_setup(void **state)
{
	static struct env e;

	env_init(&e, env_arguments);
	env_attach(&e, NULL);
	find_kernel(&e);
	env_detach(&e);
	*state = &e;
	return 0;
}

int env_teardown(void **state)
{
	struct env *e = *state;

	guestsym_close(e->gs);
	return 0;
}

/* --- hvtrace as a process of its own -------------------------------------------------------- */

/* Nor can this process, or what it executes, mount one. Others than root see none anyway. */
static void hide_debugfs(void)
{
	if (geteuid())
		return;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/sys/kernel/debug", "tmpfs", 0, NULL) ||
	    prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0)) {
		perror("debugfs cannot be hidden");
		_exit(126);
	}
}

static void read_go(int go)
{
	char c;

	while (read(go, &c, 1) < 0 && errno == EINTR)
		;
}

/* It begins when something can be read from go, or at once: -1. */
static void tracer_fork(struct env *e, const char *const *options, int go)
{
	const char *program = getenv("HVTRACE");
	const char *argv[16] = {program, "attach", e->target};
	size_t n = 3;

	if (e->uri) {
		argv[n++] = "--connect";
		argv[n++] = e->uri;
	}
	while (*options && n < 15)
		argv[n++] = *options++;
	e->tracer = fork();
	if (!e->tracer) {
		int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(fd, STDIN_FILENO);
		dup2(fd, STDOUT_FILENO);
		if (e->without_debugfs)
			hide_debugfs();
		if (go >= 0)
			read_go(go);
		if (program)
			execv(program, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	assert_true(e->tracer > 0);
}

void env_tracer_start(struct env *e, const char *const *options)
{
	tracer_fork(e, options, -1);
}

int env_tracer_wait(struct env *e)
{
	int status;

	assert_int_equal(waitpid(e->tracer, &status, 0), e->tracer);
	e->tracer = 0;
	return status;
}

/* The thread has come out of a system call that has sent this, within a short text. */
static bool has_sent(pid_t thread, const char *text)
{
	struct user_regs_struct regs;
	char sent[64];
	struct iovec here = {sent, sizeof(sent)}, there;
	ssize_t len;

	/* On the way into it, the result is -ENOSYS: who is killed there sends nothing. */
	if (ptrace(PTRACE_GETREGS, thread, NULL, &regs) ||
	    (regs.orig_rax != SYS_sendto && regs.orig_rax != SYS_write) || (long long)regs.rax <= 0)
		return false;
	there = (struct iovec){(void *)(uintptr_t)regs.rsi, regs.rdx};
	len = process_vm_readv(thread, &here, 1, &there, 1, 0);
	return len > 0 && memmem(sent, (size_t)len, text, strlen(text));
}

/* Seized before it is hvtrace: a keeper that it has forked before could not be seen any more. */
static void tracer_seize(struct env *e, const char *const *options)
{
	void *const flags =
		(void *)(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACESYSGOOD);
	int go[2];

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	tracer_fork(e, options, go[0]);
	assert_int_equal(ptrace(PTRACE_SEIZE, e->tracer, NULL, flags), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, e->tracer, NULL, NULL), 0);
	assert_int_equal(write(go[1], "", 1), 1);
	close(go[0]);
	close(go[1]);
}

int env_tracer_kill_at(struct env *e, const char *const *options, const char *text)
{
	int status, its = 0;
	pid_t thread;

	tracer_seize(e, options);
	/* Until all of its threads and processes have ended. */
	while ((thread = waitpid(-1, &status, __WALL)) > 0) {
		bool call, event;

		if (!WIFSTOPPED(status)) {
			its = thread == e->tracer ? status : its;
			continue;
		}
		call = WSTOPSIG(status) == (SIGTRAP | 0x80);
		event = status >> 16;
		if (call && has_sent(thread, text))
			kill(e->tracer, SIGKILL);
		ptrace(PTRACE_SYSCALL, thread, NULL,
		       (void *)(long)(call || event ? 0 : WSTOPSIG(status)));
	}
	e->tracer = 0;
	return its;
}

/*
 * What keeps the guest alive behind a killed tracer needs some tenths of a second to let go of the
 * stub.
 */
void env_recover(struct env *e)
{
	static const char *const options[] = {"--recover", NULL};
	const time_t end = time(NULL) + LIMIT_S;
	int status;

	do {
		env_tracer_start(e, options);
		status = env_tracer_wait(e);
	} while (status && time(NULL) < end);
	assert_int_equal(status, 0);
}
