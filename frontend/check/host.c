// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * host.c - what a bug report needs to say about the host: kernel, processor, KVM and its
 * parameters, libvirt, QEMU. No names of anything.
 */
#include "frontend/check/check.h"
#include "vmm/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LINE_MAX_BYTES 8192 /* of /proc/cpuinfo: its flags have some 2000 */

/* --- reading ---------------------------------------------------------------------------------- */

/* The first line of a file, without its end; false where it cannot be read. */
static bool first_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(line, (int)size, f);

	if (f)
		fclose(f);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

/* What /proc/cpuinfo says behind "KEY : " of the first processor. */
static bool cpuinfo(const char *key, char *value, size_t size)
{
	char line[LINE_MAX_BYTES];
	FILE *f = fopen("/proc/cpuinfo", "re");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (!colon || strncmp(line, key, strlen(key)) || !strchr(" \t:", line[strlen(key)]))
			continue;
		found = true;
		colon += colon[1] == ' ' ? 2 : 1;
		snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
	}
	if (f)
		fclose(f);
	return found;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

/* One word more. */
__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list ap;

	if (used && used + 1 < size) {
		text[used++] = ' ';
		text[used] = '\0';
	}
	va_start(ap, fmt);
	vsnprintf(text + used, size - used, fmt, ap);
	va_end(ap);
}

/* --- the lines -------------------------------------------------------------------------------- */

static void host_kernel(void *arg, struct check_result *res)
{
	struct utsname u;

	(void)arg;
	if (uname(&u))
		check_say(res, CHECK_NOTE, "unknown");
	else
		check_say(res, CHECK_NOTE, "%s %s %s", u.sysname, u.release, u.machine);
}

static void host_processor(void *arg, struct check_result *res)
{
	char name[128] = "unknown", family[16] = "?", model[16] = "?", stepping[16] = "?";

	(void)arg;
	cpuinfo("model name", name, sizeof(name));
	cpuinfo("cpu family", family, sizeof(family));
	cpuinfo("model", model, sizeof(model));
	cpuinfo("stepping", stepping, sizeof(stepping));
	check_say(res, CHECK_NOTE, "%ld of %s (family %s, model %s, stepping %s)",
		  sysconf(_SC_NPROCESSORS_ONLN), name, family, model, stepping);
}

/* Those that decide how KVM does what hvtrace uses. */
static void host_flags(void *arg, struct check_result *res)
{
	static const char *const flags[] = {
		"vmx",		"svm",		"ept",
		"npt",		"ept_ad",	"nrip_save",
		"tsc_scale",	"flexpriority", "unrestricted_guest",
		"vgif",		"constant_tsc", "nonstop_tsc",
		"tsc_reliable", "pti",		"la57",
		"pdpe1gb",	"hypervisor",
	};
	static const char *const bugs[] = {"cpu_meltdown", "l1tf", "retbleed"};
	char words[LINE_MAX_BYTES] = "", text[200] = "";

	(void)arg;
	if (cpuinfo("flags", words, sizeof(words))) {
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			if (has_word(words, flags[i]))
				add(text, sizeof(text), "%s", flags[i]);
	}
	if (cpuinfo("vmx flags", words, sizeof(words))) {
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			if (has_word(words, flags[i]))
				add(text, sizeof(text), "%s", flags[i]);
		if (has_word(words, "tsc_scaling"))
			add(text, sizeof(text), "tsc_scaling");
	}
	if (cpuinfo("bugs", words, sizeof(words))) {
		for (size_t i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++)
			if (has_word(words, bugs[i]))
				add(text, sizeof(text), "bug:%s", bugs[i]);
	}
	check_say(res, CHECK_NOTE, "%s", *text ? text : "none of vmx, svm");
}

static void host_clock(void *arg, struct check_result *res)
{
	char source[32] = "unknown";

	(void)arg;
	first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		   sizeof(source));
	check_say(res, CHECK_NOTE, "%s", source);
}

static void host_dev_kvm(void *arg, struct check_result *res)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	(void)arg;
	if (fd < 0) {
		check_say(res, CHECK_NOT_TRIED,
			  errno == EACCES ? "no permission: join the group kvm, or run it as root"
					  : "there is none (%s): hvtrace works with QEMU alone",
			  strerror(errno));
		return;
	}
	check_say(res, CHECK_OK,
		  "version %d, sync_regs %#x, user_space_msr %d, tsc_control %d, guest_debug %d",
		  ioctl(fd, KVM_GET_API_VERSION, 0),
		  ioctl(fd, KVM_CHECK_EXTENSION, KVM_CAP_SYNC_REGS),
		  ioctl(fd, KVM_CHECK_EXTENSION, KVM_CAP_X86_USER_SPACE_MSR),
		  ioctl(fd, KVM_CHECK_EXTENSION, KVM_CAP_TSC_CONTROL),
		  ioctl(fd, KVM_CHECK_EXTENSION, KVM_CAP_SET_GUEST_DEBUG));
	close(fd);
}

static void add_parameter(const char *module, const char *name, char *text, size_t size)
{
	char path[128], value[32];

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", module, name);
	if (first_line(path, value, sizeof(value)))
		add(text, size, "%s=%s", name, value);
}

static void host_modules(void *arg, struct check_result *res)
{
	static const struct {
		const char *module, *parameters[9];
	} rows[] = {
		{"kvm_amd", {"npt", "nested", "nrips", "tsc_scaling", "vgif", "avic", "sev"}},
		{"kvm_intel",
		 {"ept", "eptad", "nested", "unrestricted_guest", "emulate_invalid_guest_state",
		  "pml", "vpid", "preemption_timer"}},
		{"kvm", {"tdp_mmu", "tsc_tolerance_ppm", "kvmclock_periodic_sync"}},
	};
	char text[240] = "", path[64];

	(void)arg;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s", rows[i].module);
		if (access(path, F_OK))
			continue;
		add(text, sizeof(text), "%s:", rows[i].module);
		for (size_t j = 0; rows[i].parameters[j]; j++)
			add_parameter(rows[i].module, rows[i].parameters[j], text, sizeof(text));
	}
	if (!access("/sys/module/kvm_pvm", F_OK))
		add(text, sizeof(text), "kvm_pvm");
	check_say(res, CHECK_NOTE, "%s", *text ? text : "none is loaded");
}

/* Where KVM tells the offset of a guest's TSC to who is root. */
static void host_debugfs(void *arg, struct check_result *res)
{
	(void)arg;
	if (!access("/sys/kernel/debug/kvm", R_OK | X_OK))
		check_say(res, CHECK_NOTE, "readable");
	else
		check_say(res, CHECK_NOTE, "%s",
			  errno == EACCES ? "for root only" : "not there, or not mounted");
}

struct host_check {
	const struct check_options *opt;
	const struct check_report *r;
};

static void host_libvirt(void *arg, struct check_result *res)
{
	const struct check_options *opt = ((const struct host_check *)arg)->opt;
	const struct check_report *r = ((const struct host_check *)arg)->r;
	const struct machine_patience patience = {r->cancelled, r->arg};
	struct machine_libvirt v;
	char err[192];

	if (machine_get_libvirt(opt->connect, &patience, &v, err, sizeof(err))) {
		check_say(res, CHECK_NOT_TRIED, "%s", err);
		return;
	}
	check_say(res, CHECK_OK, "libvirt %u.%u.%u, QEMU %u.%u.%u, %s", v.version[0], v.version[1],
		  v.version[2], v.qemu[0], v.qemu[1], v.qemu[2],
		  v.kvm ? "offers KVM" : "does not offer KVM");
}

static void host_hvtrace(void *arg, struct check_result *res)
{
	(void)arg;
	check_say(res, CHECK_NOTE, "%s", HVTRACE_VERSION);
}

static const struct check host_checks[] = {
	{"hvtrace", host_hvtrace},	  {"kernel of the host", host_kernel},
	{"processors", host_processor},	  {"their flags", host_flags},
	{"clock source", host_clock},	  {"modules of kvm", host_modules},
	{"debugfs of kvm", host_debugfs}, {"/dev/kvm", host_dev_kvm},
	{"libvirt", host_libvirt},	  {NULL, NULL},
};

void check_host(struct check_report *r, const struct check_options *opt)
{
	struct host_check h = {opt, r};

	checks_run(r, host_checks, &h);
}
