// SPDX-License-Identifier: GPL-2.0-or-later
/* run-source.c - what hvtrace run boots: devices, kernel, initrd and command line. */
#include "frontend/cmd/run.h"
#include "frontend/session/kernel-find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum machine_firmware run_firmware(const struct run *r)
{
	unsigned int i = 0;

	while (run_firmware_name(i) && strcmp(run_firmware_name(i), r->opt->firmware))
		i++;
	return (enum machine_firmware)i;
}

bool run_finds_kernel(const struct run *r)
{
	return r->opt->kaslr || run_firmware(r) != MACHINE_FIRMWARE_NONE;
}

void run_choose_machine(struct run *r)
{
	const struct machine_patience patience = {session_waits, &r->s};
	char why[512];

	if (r->machine)
		return;
	r->machine = r->opt->machine;
	if (!strcmp(r->machine, "auto") && run_firmware(r) != MACHINE_FIRMWARE_NONE)
		r->machine = "qemu";
	if (r->opt->save && !strcmp(r->machine, "auto"))
		r->machine = "kvm";
	if (strcmp(r->machine, "auto"))
		return;
	session_wait(&r->s, "waiting for libvirt");
	r->machine = machine_choose(r->opt->connect, &patience, why, sizeof(why));
	session_wait(&r->s, NULL);
	fprintf(stderr, "hvtrace: machine: %s\n", why);
}

/* libvirt wants absolute paths. */
static int run_path(struct run *r, const char *what, const char *name, char **path)
{
	*path = realpath(name, NULL);
	if (*path)
		return 0;
	snprintf(r->s.err, sizeof(r->s.err), "cannot open the %s %s: %s", what, name,
		 strerror(errno));
	return -1;
}

int run_open_kernel(struct run *r)
{
	const char *name = r->boot.kernel ? r->boot.kernel : r->opt->kernel;
	char *err = r->s.err, *found = NULL;
	int ret;

	if (run_firmware(r) != MACHINE_FIRMWARE_NONE)
		return 0;
	if (!name) {
		found = kernel_find();
		if (!found) {
			snprintf(
				err, sizeof(r->s.err),
				"no kernel: /boot has no readable vmlinuz-*, and scripts/get-guest has "
				"fetched none; name one with -k");
			return -1;
		}
	}
	ret = run_path(r, "kernel", found ? found : name, &r->kernel_path);
	free(found);
	if (ret)
		return ret;
	r->s.kernel_path = r->kernel_path;
	r->s.gs = guestsym_open(r->s.parsers, r->kernel_path, 0, err, sizeof(r->s.err));
	return r->s.gs ? 0 : -1;
}

int run_open_initrd(struct run *r)
{
	const char *name = r->opt->initrd ? r->opt->initrd : r->boot.initrd;
	int ret;

	if (!name)
		return 0;
	if (run_path(r, "initrd", name, &r->initrd_path))
		return -1;
	ret = file_read(&r->initrd, r->initrd_path);
	if (!ret)
		return 0;
	snprintf(r->s.err, sizeof(r->s.err), "cannot read the initrd %s: %s", name,
		 file_strerror(ret));
	return -1;
}

/* It takes seconds: a virtual machine reads the image. */
static int run_read_image(struct run *r)
{
	const struct machine_disk *disk = &r->devices.machine.disk[0];
	struct image_boot_config cfg = {.path = disk->path,
					.format = disk->format,
					.cancel = &r->s.cancel,
					.no_kvm = !machine_kvm_runs()};
	char why[256];
	int rc;

	cfg.dir = scratch_folder(&r->extracted, r->s.err, sizeof(r->s.err));
	if (!cfg.dir)
		return -1;
	session_wait(&r->s, "reading the kernel of the image");
	rc = image_boot_read(&cfg, &r->boot, why, sizeof(why));
	session_wait(&r->s, NULL);
	if (rc)
		snprintf(r->s.err, sizeof(r->s.err), "%s: %s", r->opt->image, why);
	else
		fprintf(stderr, "hvtrace: %s: %s, as %s has it\n", r->opt->image, r->boot.title,
			r->boot.loader);
	return rc;
}

int run_open_devices(struct run *r)
{
	const struct devices_request req = {.opt = &r->opt->devices,
					    .image = r->opt->image,
					    .scratch = &r->scratch,
					    .cancel = &r->s.cancel};
	int rc;

	session_wait(&r->s, "looking at disks");
	rc = devices_make(&r->devices, &req, r->s.err, sizeof(r->s.err));
	session_wait(&r->s, NULL);
	if (!rc && r->opt->image && !r->opt->kernel && run_firmware(r) == MACHINE_FIRMWARE_NONE)
		rc = run_read_image(r);
	return rc;
}

/* Whether this is one of the words. */
static bool run_has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; at && (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/*
 * A panic ends the run instead of hanging for ever; the user's own words come last and win. Who
 * wants a console of virtio's has one, and no other beside it, which would say the same.
 */
int run_make_cmdline(struct run *r)
{
	static const char hvc[] = "console=hvc0";

	if (run_firmware(r) != MACHINE_FIRMWARE_NONE)
		return 0;
	if (run_has_word(r->boot.cmdline, hvc) || run_has_word(r->opt->append, hvc)) {
		run_choose_machine(r);
		r->devices.machine.console = !strcmp(r->machine, "kvm");
	}
	if (asprintf(&r->cmdline, "%s%s%spanic=-1 %s", r->boot.cmdline ? r->boot.cmdline : "",
		     r->boot.cmdline ? " " : "", r->devices.machine.console ? "" : "console=ttyS0 ",
		     r->opt->append) >= 0)
		return 0;
	r->cmdline = NULL;
	snprintf(r->s.err, sizeof(r->s.err), "no memory");
	return -1;
}
