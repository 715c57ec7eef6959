// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * monitor.c - picks numbers out of what QEMU's monitor prints for people.
 *
 * The forms are those of QEMU 2.11 to 10.0: `info mtree -f` (mtree_print_flatview() in
 * softmmu/memory.c), gpa2hva (monitor/misc.c), `info registers` (x86_cpu_dump_state() in
 * target/i386/cpu-dump.c), `info cpus` (hmp_info_cpus() in hw/core/machine-hmp-cmds.c),
 * `info hotpluggable-cpus` (hmp_hotpluggable_cpus() there) and `i` (hmp_ioport_read() in
 * monitor/misc.c). Each number has a width that its type can hold, so sscanf(3) has nothing to
 * report that it cannot.
 */
#include "vmm/qemu/qemu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 256

/* Copy the line at *at, cut off if it is long, and go on to the next: false at the end. */
static bool next_line(const char **at, char line[LINE])
{
	size_t len = strcspn(*at, "\r\n"), part = len < LINE ? len : LINE - 1;

	if (!**at)
		return false;
	memcpy(line, *at, part);
	line[part] = '\0';
	*at += len;
	*at += strspn(*at, "\r");
	*at += **at == '\n';
	return true;
}

/* NOLINTBEGIN(cert-err34-c): see above */

static bool line_begins(const char *line, const char *with)
{
	return !strncmp(line, with, strlen(with));
}

/* The flat view of what the vCPUs see, among those of devices that see less. */
static const char *memory_view(const char *mtree)
{
	const char *view = NULL;
	char line[LINE];

	while (next_line(&mtree, line)) {
		if (line_begins(line, "FlatView"))
			view = mtree;
		else if (line_begins(line, " AS \"memory\""))
			return view;
	}
	return NULL;
}

/* "  0000000000100000-000000000fffffff (prio 0, ram): pc.ram @0000000000100000" */
static bool region_parse(const char *line, struct qemu_region *region)
{
	uint64_t first, last;
	int end = 0;

	if (sscanf(line, " %16" SCNx64 "-%16" SCNx64 " (prio %*d, ram):%n", &first, &last, &end) <
		    2 ||
	    !end || last <= first || last == UINT64_MAX)
		return false;
	*region = (struct qemu_region){.pa = first, .size = last - first + 1};
	return true;
}

int qemu_monitor_regions(const char *mtree, struct qemu_region *regions, unsigned int max)
{
	unsigned int n = 0;
	uint64_t end = 0;
	char line[LINE];

	mtree = memory_view(mtree);
	while (mtree && n < max && next_line(&mtree, line) && !line_begins(line, "FlatView")) {
		if (!region_parse(line, &regions[n]))
			continue;
		if (regions[n].pa < end)
			return -EPROTO; /* flat views are sorted */
		end = regions[n].pa + regions[n].size;
		n++;
	}
	return n ? (int)n : -EPROTO;
}

/* "  0000000000000608-000000000000060b (prio 0, i/o): acpi-tmr" */
uint16_t qemu_monitor_port(const char *mtree, const char *device)
{
	char line[LINE];

	while (next_line(&mtree, line)) {
		uint64_t first;
		char name[32];

		if (sscanf(line, " %16" SCNx64 "-%*x (prio %*d, i/o): %31s", &first, name) == 2 &&
		    !strcmp(name, device) && first < 0x10000)
			return (uint16_t)first;
	}
	return 0;
}

/* "Host virtual address for 0x1000000 (pc.ram) is 0x7f7f74e00000" */
int qemu_monitor_hva(const char *answer, uint64_t *hva)
{
	const char *is = strstr(answer, ") is 0x");

	return is && sscanf(is + 7, "%16" SCNx64, hva) == 1 ? 0 : -EPROTO;
}

/* The stub's number is one more than the monitor's (QEMU's gdbstub.c, gdb_get_cpu_index()). */
static struct qemu_vcpu *vcpu_of(struct qemu_vcpu *vcpus, unsigned int n, uint32_t cpu)
{
	while (n--)
		if (vcpus[n].thread == cpu + 1)
			return &vcpus[n];
	return NULL;
}

static bool all_have_tables(const struct qemu_vcpu *vcpus, unsigned int n)
{
	while (n--)
		if (!vcpus[n].tables && !vcpus[n].gone)
			return false;
	return true;
}

/* "GDT=     fffffe0000001000 0000007f", the same for IDT, behind "CPU#0" */
int qemu_monitor_tables(const char *registers, struct qemu_vcpu *vcpus, unsigned int n)
{
	struct qemu_vcpu *v = NULL;
	char line[LINE];

	for (unsigned int i = 0; i < n; i++)
		vcpus[i].tables = false;
	while (next_line(&registers, line)) {
		uint64_t base;
		uint32_t limit, cpu;

		if (sscanf(line, "CPU#%9" SCNu32, &cpu) == 1)
			v = vcpu_of(vcpus, n, cpu);
		if (!v)
			continue;
		if (sscanf(line, "GDT= %16" SCNx64 " %8" SCNx32, &base, &limit) == 2) {
			v->gdt_base = base;
			v->gdt_limit = (uint16_t)limit;
		} else if (sscanf(line, "IDT= %16" SCNx64 " %8" SCNx32, &base, &limit) == 2) {
			v->idt_base = base;
			v->idt_limit = (uint16_t)limit;
			v->tables = true;
		}
	}
	return all_have_tables(vcpus, n) ? 0 : -EPROTO;
}

/* "* CPU #0: thread_id=4711" */
int qemu_monitor_threads(const char *cpus, struct qemu_vcpu *vcpus, unsigned int n)
{
	char line[LINE];

	while (next_line(&cpus, line)) {
		const char *at = strstr(line, "CPU #"), *tid = strstr(line, "thread_id=");
		struct qemu_vcpu *v;
		uint32_t cpu;
		int id;

		if (!at || !tid || sscanf(at, "CPU #%9" SCNu32, &cpu) != 1 ||
		    sscanf(tid, "thread_id=%9d", &id) != 1 || id <= 0)
			continue;
		v = vcpu_of(vcpus, n, cpu);
		if (v)
			v->tid = id;
	}
	while (n--)
		if (!vcpus[n].tid && !vcpus[n].gone)
			return -EPROTO;
	return 0;
}

/* "  vcpus_count: "1"", of each place where there is a vCPU or can be */
unsigned int qemu_monitor_vcpus(const char *slots)
{
	unsigned int sum = 0;
	char line[LINE];

	while (next_line(&slots, line)) {
		char digits[5];

		if (sscanf(line, " vcpus_count: \"%4[0-9]\"", digits) == 1)
			sum += (unsigned int)strtoul(digits, NULL, 10);
	}
	return sum;
}

/* "portl[0x0608] = 0x005806ad" */
int qemu_monitor_port_value(const char *answer, uint32_t *value)
{
	return sscanf(answer, "port%*c[%*x] = 0x%8" SCNx32, value) == 1 ? 0 : -EPROTO;
}

/* "7.2.22Debian 1:7.2+dfsg-7+deb12u18" */
unsigned int qemu_monitor_version(const char *answer)
{
	unsigned int major, minor;

	return sscanf(answer, "%3u.%2u", &major, &minor) == 2 ? major * 100 + minor : 0;
}

/* NOLINTEND(cert-err34-c) */
