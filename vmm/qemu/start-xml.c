// SPDX-License-Identifier: GPL-2.0-or-later
/* start-xml.c - libvirt's description of the guest that hvtrace starts. */
#include "vmm/qemu/start.h"
#include "vmm/qemu/text/xml.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* <name>text</name> */
static void print_element(FILE *out, const char *name, const char *text)
{
	fprintf(out, "    <%s>", name);
	xml_print(out, text);
	fprintf(out, "</%s>\n", name);
}

static void print_boot(FILE *out, const struct start_domain *what)
{
	const struct machine_config *cfg = what->cfg;
	const char *initrd = what->initrd ? what->initrd : cfg->initrd_path;

	fprintf(out, "  <os>\n    <type arch='x86_64' machine='pc'>hvm</type>\n");
	if (cfg->firmware != MACHINE_FIRMWARE_NONE)
		qemu_start_print_firmware(out, cfg);
	else
		print_element(out, "kernel", cfg->kernel_path);
	if (initrd)
		print_element(out, "initrd", initrd);
	if (cfg->cmdline)
		print_element(out, "cmdline", cfg->cmdline);
	fprintf(out, "  </os>\n");
}

/* Who serves a shared folder looks at the guest's memory. */
static void print_memory_backing(FILE *out, const struct machine_config *cfg)
{
	if (cfg->devices.nshare)
		fprintf(out, "  <memoryBacking>\n    <source type='memfd'/>\n"
			     "    <access mode='shared'/>\n  </memoryBacking>\n");
}

/*
 * As little as a kernel needs, like the kvm backend's machine. A reboot is left to happen: libvirt
 * tells of it, which is how it is told from a power-off.
 */
char *qemu_start_xml(const void *arg, bool kvm)
{
	const struct start_domain *what = arg;
	const struct machine_config *cfg = what->cfg;
	/*
	 * Up to QEMU 7.2, TCG loses the flags at a cmpxchg16b, which each kmalloc() is: an
	 * interrupt behind it may leave the direction flag set, and the guest dies of that.
	 */
	static const char without_cx16[] = "<feature policy='disable' name='cx16'/>";
	char *xml = NULL;
	size_t len;
	FILE *out = open_memstream(&xml, &len);
	bool failed;

	if (!out)
		return NULL;
	fprintf(out, "<domain type='%s'>\n", kvm ? "kvm" : "qemu");
	fprintf(out, "  <name>hvtrace-%ld</name>\n", (long)getpid());
	fprintf(out, "  <memory unit='b'>%" PRIu64 "</memory>\n", cfg->memory);
	print_memory_backing(out, cfg);
	fprintf(out, "  <vcpu>%u</vcpu>\n", cfg->vcpus);
	print_boot(out, what);
	fprintf(out,
		"  <features><acpi/><apic/></features>\n"
		"  <cpu mode='maximum'>%s</cpu>\n"
		"  <devices>\n"
		"    <controller type='usb' model='none'/>\n"
		"    <memballoon model='none'/>\n"
		"    <serial type='null'/>\n"
		"%s",
		kvm ? "" : without_cx16, cfg->channel ? "    <serial type='null'/>\n" : "");
	qemu_start_print_devices(out, &cfg->devices, what->overlays.path);
	fprintf(out, "  </devices>\n</domain>\n");
	failed = ferror(out);
	failed |= fclose(out) != 0;
	if (!failed)
		return xml;
	free(xml);
	return NULL;
}
