// SPDX-License-Identifier: GPL-2.0-or-later
/* machine.c - the qemu backend as vmm/ has it: the table of what the files here do. */
#include "vmm/qemu/qemu.h"

#include <errno.h>

static int start(struct machine *base, char *err, size_t errlen)
{
	(void)err;
	(void)errlen;
	qemu_run_let(qemu_machine(base));
	return 0;
}

static void get_info(struct machine *base, struct machine_info *info)
{
	struct qemu_machine *m = qemu_machine(base);

	*info = (struct machine_info){
		.backend = qemu_machine_ops.name,
		.vcpus = m->nvcpus,
		.max_vcpus = m->max_vcpus,
		.memory = m->ram.size,
		.tsc_khz = qemu_clock_khz(m),
		.cmdline = m->cmdline,
		.kernel_slide = m->slide,
		.kernel_moved = m->moved,
		.name = m->domain ? qemu_domain_name(m->domain) : NULL,
		.uuid = m->domain ? qemu_domain_uuid(m->domain) : NULL,
		.accel = m->kvm ? "kvm" : "tcg",
		.kernel_path = m->domain ? qemu_domain_kernel(m->domain) : NULL,
		.was_running = m->was_running,
		.direct = m->ram.direct,
		.mmio = qemu_mmio_can(m),
		.follow = !m->kvm,
		.loses_int3 = m->loses_int3,
	};
}

static int window(struct machine *base, size_t size, uint64_t *pa, void **host)
{
	(void)base;
	(void)size;
	(void)pa;
	(void)host;
	return -EOPNOTSUPP; /* a running guest's memory map is its own */
}

static int when_gone(struct machine *base, const struct machine_gone_word *word)
{
	struct qemu_machine *m = qemu_machine(base);
	struct keeper_word w;

	if (!word || !m->ram.direct) {
		keeper_word(&m->keeper, NULL);
		return 0;
	}
	if (!qemu_ram_has(m, word->pa, sizeof(w.was)))
		return -EFAULT;
	qemu_ram_piece(&m->ram, word->pa, sizeof(w.was), &w.hva);
	w.was = word->here;
	w.is = word->gone;
	keeper_word(&m->keeper, &w);
	return 0;
}

static int vcpu_thread(struct machine *base, unsigned int vcpu, pid_t *pid, pid_t *tid)
{
	struct qemu_machine *m = qemu_machine(base);

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	if (m->vcpu[vcpu].gone)
		return -EOPNOTSUPP;
	*pid = m->ram.pid;
	*tid = m->vcpu[vcpu].tid;
	return *pid && *tid ? 0 : -EOPNOTSUPP; /* on another host, or without the monitor */
}

static size_t console_input(struct machine *base, const char *text, size_t len)
{
	struct qemu_machine *m = qemu_machine(base);

	/* Of a guest that was found, the serial port is someone else's. */
	return m->console ? qemu_console_send(m->console, text, len) : 0;
}

static size_t channel_input(struct machine *base, const char *text, size_t len)
{
	struct qemu_machine *m = qemu_machine(base);

	return m->channel ? qemu_console_send(m->channel, text, len) : 0;
}

/* Of a guest that was found, it is its owner's to press. */
static int power_button(struct machine *base, char *err, size_t errlen)
{
	struct qemu_machine *m = qemu_machine(base);

	if (m->console && m->domain)
		return qemu_domain_power_button(m->domain, err, errlen);
	snprintf(err, errlen, "the guest is not hvtrace's to shut down");
	return -EOPNOTSUPP;
}

static struct machine *create(const struct machine_config *cfg, char *err, size_t errlen)
{
	return qemu_create(&qemu_machine_ops, cfg, err, errlen);
}

const struct machine_ops qemu_machine_ops = {
	.name = "qemu",
	.desc = "a guest of QEMU, through libvirt or its gdb stub",
	.create = create,
	.destroy = qemu_destroy,
	.start = start,
	.reboot = qemu_reboot,
	.get_info = get_info,
	.read = qemu_read,
	.write = qemu_write,
	.write_text = qemu_write_text,
	.patch_text = qemu_patch_text,
	.window = window,
	.when_gone = when_gone,
	.pause = qemu_pause,
	.resume = qemu_resume,
	.let_go = qemu_let_go,
	.has_halted = qemu_has_halted,
	.look_at_vcpus = qemu_vcpus_look,
	.number_vcpus = qemu_vcpus_number,
	.get_regs = qemu_get_regs,
	.set_regs = qemu_set_regs,
	.get_sregs = qemu_get_sregs,
	.vcpu_thread = vcpu_thread,
	.tsc_line = qemu_tsc_line,
	.mmio_watch = qemu_mmio_watch,
	.traps_set = qemu_traps_set,
	.traps_clear = qemu_traps_clear,
	.follow = qemu_follow,
	.console_input = console_input,
	.channel_input = channel_input,
	.power_button = power_button,
	.kick_locked = qemu_kick_locked,
	.idle = qemu_again_look,
};

struct machine *qemu_attach(const struct machine_attach_config *cfg, char *err, size_t errlen)
{
	return qemu_take_over(&qemu_machine_ops, cfg, err, errlen);
}
