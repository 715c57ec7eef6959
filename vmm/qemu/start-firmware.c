// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start-firmware.c - libvirt's description of what a guest boots by.
 *
 * UEFI is an image of both its code and its variables, as a ROM: what the guest sets of these is
 * gone with it. Of two images one would be a file that libvirt makes, and nobody takes away.
 */
#include "vmm/qemu/start.h"
#include "vmm/qemu/text/xml.h"

#include <unistd.h>

/* Where distributions have it: Debian, Ubuntu; Fedora and its kin; Arch; SUSE. */
static const char *const uefi_images[] = {
	"/usr/share/ovmf/OVMF.fd",
	"/usr/share/edk2/ovmf/OVMF.stateless.fd",
	"/usr/share/edk2/x64/OVMF.4m.fd",
	"/usr/share/qemu/ovmf-x86_64-4m.bin",
};

const char *qemu_start_uefi(void)
{
	for (size_t i = 0; i < sizeof(uefi_images) / sizeof(uefi_images[0]); i++)
		if (!access(uefi_images[i], R_OK))
			return uefi_images[i];
	return NULL;
}

void qemu_start_print_firmware(FILE *out, const struct machine_config *cfg)
{
	if (cfg->firmware == MACHINE_FIRMWARE_UEFI) {
		fprintf(out, "    <loader readonly='yes' type='rom'>");
		xml_print(out, qemu_start_uefi());
		fprintf(out, "</loader>\n");
	}
	fprintf(out, "    <boot dev='hd'/>\n");
}
