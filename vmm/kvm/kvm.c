// SPDX-License-Identifier: GPL-2.0-or-later
/* kvm.c - the kvm backend: takes a machine together from its parts, and apart again. */
#include "vmm/kvm/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "vmm/kvm/virtio/console.h"

/* Three pages for Intel's real mode and one for its page table, in the hole below 4 GiB. */
#define TSS_ADDR      0xfffbd000ul
#define IDENTITY_ADDR 0xfffbc000ul

/* Makes a tick last longer than its handler takes on a host that interprets it. */
#define PIT_STRETCH 40

#define MSR_LSTAR 0xc0000082

/* --- the host ------------------------------------------------------------------------------ */

static int host_open(struct kvm_machine *m, char *err, size_t errlen)
{
	m->kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (m->kvm_fd >= 0)
		return 0;
	switch (errno) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		snprintf(
			err, errlen,
			"/dev/kvm is missing: load kvm_intel or kvm_amd, or enable virtualization in the firmware (or for this virtual machine)");
		break;
	case EACCES:
	case EPERM:
		snprintf(
			err, errlen,
			"no permission for /dev/kvm: run as root or join its group (usermod -aG kvm USER)");
		break;
	default:
		snprintf(err, errlen, "cannot open /dev/kvm: %s", strerror(errno));
	}
	return -errno;
}

static const struct {
	long cap;
	int need; /* bits of the answer that must be there */
	const char *name;
} host_needs[] = {
	{KVM_CAP_IRQCHIP, 1, "KVM_CAP_IRQCHIP"},
	{KVM_CAP_IMMEDIATE_EXIT, 1, "KVM_CAP_IMMEDIATE_EXIT"},
	{KVM_CAP_SYNC_REGS, KVM_SYNC_X86_REGS, "KVM_CAP_SYNC_REGS"},
	{KVM_CAP_SET_GUEST_DEBUG, 1, "KVM_CAP_SET_GUEST_DEBUG"},
	{KVM_CAP_GET_TSC_KHZ, 1, "KVM_CAP_GET_TSC_KHZ"},
};

static int host_check(struct kvm_machine *m, char *err, size_t errlen)
{
	int version = ioctl(m->kvm_fd, KVM_GET_API_VERSION, 0);

	if (version != KVM_API_VERSION) {
		snprintf(err, errlen, "/dev/kvm speaks version %d of its interface, not %d",
			 version, KVM_API_VERSION);
		return -EPROTONOSUPPORT;
	}
	for (size_t i = 0; i < sizeof(host_needs) / sizeof(host_needs[0]); i++) {
		int have = ioctl(m->kvm_fd, KVM_CHECK_EXTENSION, host_needs[i].cap);

		if (have > 0 && (have & host_needs[i].need) == host_needs[i].need)
			continue;
		snprintf(err, errlen, "KVM of this host has no %s: it needs a newer kernel",
			 host_needs[i].name);
		return -EPROTONOSUPPORT;
	}
	m->sync_sregs =
		ioctl(m->kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_SYNC_REGS) & KVM_SYNC_X86_SREGS;
	return 0;
}

static int host_calibrate(struct kvm_machine *m, char *err, size_t errlen)
{
	int rc = kvm_calibrate(m->kvm_fd, &m->cal);

	if (rc) {
		snprintf(err, errlen, "KVM cannot run a small test guest: %s", strerror(-rc));
		return rc;
	}
	if (m->cal.emulated)
		machine_message(
			&m->base, MACHINE_MSG_WARN,
			"this host interprets guest kernel code (%.1f million instructions/s): expect the boot to take minutes",
			m->cal.insns_per_sec / 1e6);
	return 0;
}

/* --- the machine --------------------------------------------------------------------------- */

/* Where `syscall` will enter the kernel is asked for with a filter on that one MSR. */
static int filter_lstar(struct kvm_machine *m)
{
	struct kvm_enable_cap cap = {
		.cap = KVM_CAP_X86_USER_SPACE_MSR,
		.args = {KVM_MSR_EXIT_REASON_FILTER},
	};
	uint8_t deny[8] = {0};
	struct kvm_msr_filter filter = {
		.flags = KVM_MSR_FILTER_DEFAULT_ALLOW,
		.ranges[0] =
			{
				.flags = KVM_MSR_FILTER_WRITE,
				.base = MSR_LSTAR,
				.nmsrs = 1,
				.bitmap = deny,
			},
	};

	if (ioctl(m->vm_fd, KVM_ENABLE_CAP, &cap) ||
	    ioctl(m->vm_fd, KVM_X86_SET_MSR_FILTER, &filter))
		return -errno;
	return 0;
}

static int vm_open(struct kvm_machine *m, char *err, size_t errlen)
{
	uint64_t identity = IDENTITY_ADDR;
	struct kvm_pit_config pit = {.flags = KVM_PIT_SPEAKER_DUMMY};

	do
		m->vm_fd = ioctl(m->kvm_fd, KVM_CREATE_VM, 0);
	while (m->vm_fd < 0 && errno == EINTR);
	if (m->vm_fd < 0 || ioctl(m->vm_fd, KVM_SET_TSS_ADDR, TSS_ADDR) ||
	    ioctl(m->vm_fd, KVM_SET_IDENTITY_MAP_ADDR, &identity) ||
	    ioctl(m->vm_fd, KVM_CREATE_IRQCHIP, 0) ||
	    (!m->cal.emulated && ioctl(m->vm_fd, KVM_CREATE_PIT2, &pit)) ||
	    (m->cal.emulated && filter_lstar(m))) {
		int rc = -errno;

		snprintf(err, errlen, "KVM cannot create a machine: %s", strerror(-rc));
		return rc;
	}
	return 0;
}

static int devices_init(struct kvm_machine *m, char *err, size_t errlen)
{
	int rc = kvm_devices_init(m, err, errlen);

	if (rc)
		return rc;
	m->serial = serial_new(m, SERIAL_CONSOLE, m->cfg.console);
	if (m->cfg.channel)
		m->channel = serial_new(m, SERIAL_CHANNEL, m->cfg.channel);
	m->i8042 = i8042_new(m);
	m->rtc = rtc_new(m);
	m->acpi = acpi_new(m);
	if (m->cal.emulated) {
		m->pit = pit_new(m, PIT_STRETCH);
		m->syscall_fix = syscall_fix_new(m);
	}
	if (m->serial && (m->channel || !m->cfg.channel) && m->i8042 && m->rtc && m->acpi &&
	    (!m->cal.emulated || (m->pit && m->syscall_fix)))
		return 0;
	snprintf(err, errlen, "no memory for the guest's devices");
	return -ENOMEM;
}

static int vcpus_init(struct kvm_machine *m, char *err, size_t errlen)
{
	int khz, rc = 0;

	for (unsigned int i = 0; i < m->nvcpus && !rc; i++)
		rc = kvm_vcpu_init(m, i, err, errlen);
	if (rc)
		return rc;
	khz = ioctl(m->vcpu[0].fd, KVM_GET_TSC_KHZ, 0);
	if (khz <= 0) {
		snprintf(err, errlen, "KVM does not know the frequency of this host's TSC");
		return -EIO;
	}
	m->tsc_khz = (uint64_t)khz;
	return 0;
}

/* What the vCPUs begin with: a kernel, or where a snapshot was taken. */
static int begin_init(struct kvm_machine *m, char *err, size_t errlen)
{
	int rc;

	if (m->snapshot)
		return kvm_snapshot_restore(m, err, errlen);
	rc = m->base.reboots ? kvm_reboot_prepare(m) : 0;
	if (rc) {
		snprintf(err, errlen, "KVM does not tell what the guest begins with: %s",
			 strerror(-rc));
		return rc;
	}
	return kvm_boot(m, err, errlen);
}

static int kvm_setup(struct kvm_machine *m, char *err, size_t errlen)
{
	int rc = host_open(m, err, errlen);

	if (!rc)
		rc = host_check(m, err, errlen);
	if (!rc)
		rc = host_calibrate(m, err, errlen);
	if (!rc)
		rc = vm_open(m, err, errlen);
	if (!rc)
		rc = kvm_mem_init(m, err, errlen);
	m->left_windows = m->nmem > m->nram;
	if (!rc)
		rc = devices_init(m, err, errlen);
	if (!rc)
		rc = vcpus_init(m, err, errlen);
	if (!rc)
		rc = begin_init(m, err, errlen);
	/* The caller's again. */
	if (!m->base.reboots)
		m->cfg.kernel = m->cfg.initrd = m->cfg.overlay = m->cfg.cmdline = NULL;
	return rc;
}

static void kvm_destroy(struct machine *base)
{
	struct kvm_machine *m = kvm_machine(base);

	kvm_vcpus_join(m);
	kvm_devices_exit(m);
	syscall_fix_free(m->syscall_fix);
	pit_free(m->pit);
	acpi_free(m->acpi);
	rtc_free(m->rtc);
	i8042_free(m->i8042);
	serial_free(m->channel);
	serial_free(m->serial);
	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++)
		kvm_vcpu_exit(&m->vcpu[i]);
	if (m->vm_fd >= 0)
		close(m->vm_fd);
	if (m->kvm_fd >= 0)
		close(m->kvm_fd);
	kvm_mem_exit(m);
	kvm_snapshot_close(m);
	if (m->reset)
		state_sections_free(m->reset);
	free(m->reset);
	free(m->kernel_path);
	free(m->kernel_id);
	trap_table_free(&m->traps);
	pthread_mutex_destroy(&m->traps_lock);
	machine_exit(base);
	free(m);
}

/* A machine that kvm_destroy() can take apart, with nothing in it yet. */
static struct kvm_machine *kvm_alloc(const struct machine_config *cfg)
{
	struct kvm_machine *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	if (kvm_pause_init() || pthread_mutex_init(&m->traps_lock, NULL))
		goto err_free;
	if (machine_init(&m->base, &kvm_machine_ops))
		goto err_lock;
	m->base.message = cfg->message;
	m->base.arg = cfg->arg;
	m->base.reboots = cfg->reboots && !cfg->snapshot;
	m->cfg = *cfg;
	m->nvcpus = cfg->vcpus;
	m->restored = cfg->snapshot;
	m->kvm_fd = m->vm_fd = m->ram_fd = -1;
	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++)
		m->vcpu[i].fd = -1;
	return m;

err_lock:
	pthread_mutex_destroy(&m->traps_lock);
err_free:
	free(m);
	return NULL;
}

static struct machine *kvm_create(const struct machine_config *cfg, char *err, size_t errlen)
{
	struct kvm_machine *m;

	if (!cfg->snapshot && (!cfg->vcpus || cfg->vcpus > MACHINE_MAX_VCPUS)) {
		snprintf(err, errlen, "a guest can have 1 to %d CPUs, not %u", MACHINE_MAX_VCPUS,
			 cfg->vcpus);
		return NULL;
	}
	m = kvm_alloc(cfg);
	if (!m) {
		snprintf(err, errlen, "no memory for the machine");
		return NULL;
	}
	if (cfg->snapshot && kvm_snapshot_open(m, err, errlen))
		goto err_destroy;
	if (cfg->snapshot && cfg->kernel_known)
		cfg->kernel_known(cfg->arg, m->kernel_path);
	if (kvm_setup(m, err, errlen))
		goto err_destroy;
	return &m->base;

err_destroy:
	kvm_destroy(&m->base);
	return NULL;
}

static int kvm_start(struct machine *base, char *err, size_t errlen)
{
	struct kvm_machine *m = kvm_machine(base);
	int rc = m->snapshot ? kvm_snapshot_start(m, err, errlen) : 0;

	if (rc)
		return rc;
	if (m->stands) { /* its threads are there, and wait */
		m->stands = false;
		kvm_resume(base);
		return 0;
	}
	rc = kvm_vcpus_start(m);
	if (rc)
		snprintf(err, errlen, "cannot start the threads of the vCPUs: %s", strerror(-rc));
	return rc;
}

static void kvm_get_info(struct machine *base, struct machine_info *info)
{
	struct kvm_machine *m = kvm_machine(base);

	*info = (struct machine_info){
		.backend = kvm_machine_ops.name,
		.vcpus = m->nvcpus,
		.memory = m->cfg.memory,
		.emulated = m->cal.emulated,
		.direct = true,
		.window = true,
		.mmio = true,
		.follow = !m->cal.emulated,
		.kernel_insns_per_sec = m->cal.emulated ? m->cal.insns_per_sec : 0,
		.tsc_khz = m->tsc_khz,
		.cmdline = m->cmdline,
		.kernel_pa = m->kernel_pa,
		.kernel_slide = m->kernel_slide,
		.kernel_moved = m->kernel_moved,
		.kernel_path = m->kernel_path,
		.kernel_id = m->kernel_id,
		.was_running = m->restored,
		.left_windows = m->left_windows,
	};
}

static void *kvm_get_host_ptr(struct machine *base, uint64_t pa, size_t len)
{
	return kvm_host_ptr(kvm_machine(base), pa, len);
}

static size_t kvm_console_input(struct machine *base, const char *text, size_t len)
{
	struct kvm_machine *m = kvm_machine(base);
	struct virtio_device *console = kvm_devices_console(m);

	return console ? console_type(console, text, len) : serial_input(m->serial, text, len);
}

static size_t kvm_channel_input(struct machine *base, const char *text, size_t len)
{
	struct kvm_machine *m = kvm_machine(base);

	return m->channel ? serial_input(m->channel, text, len) : 0;
}

static int kvm_power_button(struct machine *base, char *err, size_t errlen)
{
	int rc = acpi_power_button(kvm_machine(base)->acpi);

	if (rc)
		snprintf(err, errlen, "the guest's kernel does not listen to its power button");
	return rc;
}

const struct machine_ops kvm_machine_ops = {
	.name = "kvm",
	.desc = "a virtual machine of hvtrace's own on /dev/kvm",
	.create = kvm_create,
	.destroy = kvm_destroy,
	.start = kvm_start,
	.reboot = kvm_reboot,
	.save = kvm_save,
	.get_info = kvm_get_info,
	.host_ptr = kvm_get_host_ptr,
	.window = kvm_window,
	.reserved_page = kvm_reserved_page,
	.pause = kvm_pause,
	.resume = kvm_resume,
	.has_halted = kvm_has_halted,
	.get_regs = kvm_get_regs,
	.get_tsc = kvm_get_tsc,
	.set_regs = kvm_set_regs,
	.get_sregs = kvm_get_sregs,
	.vcpu_thread = kvm_vcpu_thread,
	.tsc_line = kvm_get_tsc_line,
	.traps_set = kvm_traps_set,
	.traps_clear = kvm_traps_clear,
	.follow = kvm_follow,
	.console_input = kvm_console_input,
	.channel_input = kvm_channel_input,
	.power_button = kvm_power_button,
	.kick_locked = kvm_kick_locked,
	.idle = kvm_halt_check,
};
