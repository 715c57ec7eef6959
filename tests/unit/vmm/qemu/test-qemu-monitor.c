// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-monitor.c - numbers in what QEMU's monitor prints, and the scanner of XML. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/qemu/qemu.h"
#include "vmm/qemu/text/xml.h"

/* Of QEMU 7.2 with 256 MiB, shortened. */
static const char mtree[] =
	"FlatView #0\r\n"
	" AS \"cpu-smm-0\", root: memory\r\n"
	" Root memory region: memory\r\n"
	"  0000000000000000-00000000000bffff (prio 0, ram): smm.ram\r\n"
	"\r\n"
	"FlatView #1\r\n"
	" AS \"cpu-memory-0\", root: system\r\n"
	" AS \"memory\", root: system\r\n"
	" Root memory region: system\r\n"
	"  0000000000000000-00000000000c2fff (prio 0, ram): pc.ram\r\n"
	"  00000000000c3000-00000000000e7fff (prio 0, rom): pc.ram @00000000000c3000\r\n"
	"  0000000000100000-000000000fffffff (prio 0, ram): pc.ram @0000000000100000 KVM\r\n"
	"  00000000fec00000-00000000fec00fff (prio 0, i/o): ioapic\r\n"
	"  00000000fffc0000-00000000ffffffff (prio 0, rom): pc.bios\r\n"
	"\r\n"
	"FlatView #2\r\n"
	" AS \"I/O\", root: io\r\n"
	"  0000000000000604-0000000000000605 (prio 0, i/o): acpi-cnt\r\n"
	"  0000000000000608-000000000000060b (prio 0, i/o): acpi-tmr\r\n"
	"  0000000000001000-00000000ffffffff (prio 0, ram): no.ram\r\n";

static void test_regions(void **state)
{
	struct qemu_region r[4];

	(void)state;
	assert_int_equal(qemu_monitor_regions(mtree, r, 4), 2);
	assert_int_equal(r[0].pa, 0);
	assert_int_equal(r[0].size, 0xc3000);
	assert_int_equal(r[1].pa, 0x100000);
	assert_int_equal(r[1].size, 0xff00000);
	assert_int_equal(qemu_monitor_regions(mtree, r, 1), 1);
}

static void test_regions_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"\n\n",
		" AS \"memory\", root: system\n  0-fff (prio 0, ram): x",
		"FlatView #0\n AS \"memory\"\n",
		"FlatView #0\n AS \"memory\"\n  1000-0fff (prio 0, ram): x\n",
		"FlatView #0\n AS \"memory\"\n  0-ffffffffffffffff (prio 0, ram): x\n",
		"FlatView #0\n AS \"memory\"\n  0-fffffffffffffffff (prio 0, ram): x\n",
		"FlatView #0\n AS \"memory\"\n  0-1fff (prio 0, ram): x\n  1000-2fff (prio 0, ram): y",
	};
	struct qemu_region r[4];
	char text[2048] = "FlatView #0\n AS \"memory\"\n  ";

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(qemu_monitor_regions(bad[i], r, 4), -EPROTO);
	memset(text + strlen(text), '1', 1500);
	assert_int_equal(qemu_monitor_regions(text, r, 4), -EPROTO);
}

static void test_numbers(void **state)
{
	uint64_t hva;
	uint32_t value;

	(void)state;
	assert_int_equal(qemu_monitor_port(mtree, "acpi-tmr"), 0x608);
	assert_int_equal(qemu_monitor_port(mtree, "ioapic"), 0); /* no port's number */
	assert_int_equal(qemu_monitor_port(mtree, "nothing"), 0);
	assert_int_equal(
		qemu_monitor_hva(
			"Host virtual address for 0x1000000 (pc.ram) is 0x7f7f74e00000\r\n", &hva),
		0);
	assert_int_equal(hva, 0x7f7f74e00000);
	assert_int_equal(qemu_monitor_hva("Memory at address 0xfed00000 is not RAM", &hva),
			 -EPROTO);
	assert_int_equal(qemu_monitor_hva("(x) is 0x", &hva), -EPROTO);
	assert_int_equal(qemu_monitor_port_value("portl[0x0608] = 0x009e4a35\r\n", &value), 0);
	assert_int_equal(value, 0x9e4a35);
	assert_int_equal(qemu_monitor_port_value("unknown command", &value), -EPROTO);
}

static void test_tables(void **state)
{
	static const char text[] = "\r\nCPU#0\r\nRAX=0\r\nGDT=     fffffe0000001000 0000007f\r\n"
				   "IDT=     fffffe0000000000 00000fff\r\nCR0=80050033\r\n\r\n"
				   "CPU#1\r\nGDT=     fffffe000003c000 0000007f\r\n"
				   "IDT=     fffffe0000000000 00000fff\r\n";
	struct qemu_vcpu v[3] = {{.thread = 1}, {.thread = 2}, {.thread = 3}};

	(void)state;
	assert_int_equal(qemu_monitor_tables(text, v, 2), 0);
	assert_int_equal(v[0].idt_base, 0xfffffe0000000000);
	assert_int_equal(v[0].idt_limit, 0xfff);
	assert_int_equal(v[0].gdt_base, 0xfffffe0000001000);
	assert_int_equal(v[1].gdt_base, 0xfffffe000003c000);
	assert_int_equal(qemu_monitor_tables(text, v, 1), 0);
	assert_int_equal(qemu_monitor_tables(text, v, 3), -EPROTO);
	assert_int_equal(qemu_monitor_tables("CPU#4294967295\nIDT= 1 2\n", v, 1), -EPROTO);
}

/* device_add of the last one before the one in front of it, and device_del of the second */
static void test_tables_of_some(void **state)
{
	static const char text[] = "\r\nCPU#0\r\nGDT=     1000 7f\r\nIDT=     100 fff\r\n\r\n"
				   "CPU#2\r\nGDT=     3000 7f\r\nIDT=     300 fff\r\n\r\n"
				   "CPU#3\r\nGDT=     4000 7f\r\nIDT=     400 fff\r\n";
	struct qemu_vcpu v[4] = {{.thread = 1}, {.thread = 2}, {.thread = 4}, {.thread = 3}};

	(void)state;
	assert_int_equal(qemu_monitor_tables(text, v, 4), -EPROTO);
	v[1].gone = true;
	assert_int_equal(qemu_monitor_tables(text, v, 4), 0);
	assert_true(v[0].tables && !v[1].tables && v[2].tables && v[3].tables);
	assert_int_equal(v[0].idt_base, 0x100);
	assert_int_equal(v[2].gdt_base, 0x4000);
	assert_int_equal(v[3].gdt_base, 0x3000);
	assert_int_equal(v[3].idt_base, 0x300);
}

/* QEMU 7.2 -smp 2,maxcpus=3 */
static void test_vcpus(void **state)
{
	(void)state;
	assert_int_equal(qemu_monitor_vcpus("Hotpluggable CPUs:\r\n"
					    "  type: \"qemu64-x86_64-cpu\"\r\n"
					    "  vcpus_count: \"1\"\r\n"
					    "  CPUInstance Properties:\r\n"
					    "    socket-id: \"2\"\r\n"
					    "  type: \"qemu64-x86_64-cpu\"\r\n"
					    "  vcpus_count: \"1\"\r\n"
					    "  qom_path: \"/machine/unattached/device[2]\"\r\n"
					    "  type: \"qemu64-x86_64-cpu\"\r\n"
					    "  vcpus_count: \"1\"\r\n"),
			 3);
	assert_int_equal(qemu_monitor_vcpus("unknown command: 'info hotpluggable-cpus'\r\n"), 0);
	assert_int_equal(qemu_monitor_vcpus("  vcpus_count: \"-1\"\n  vcpus_count: \"\"\n"), 0);
}

static void test_threads(void **state)
{
	static const struct qemu_vcpu none[2] = {{.thread = 1}, {.thread = 2}};
	struct qemu_vcpu v[2] = {{.thread = 1}, {.thread = 2}};

	(void)state;
	assert_int_equal(qemu_monitor_threads("* CPU #0: thread_id=4711\r\n"
					      "  CPU #1: (halted) thread_id=4712\r\n",
					      v, 2),
			 0);
	assert_int_equal(v[0].tid, 4711);
	assert_int_equal(v[1].tid, 4712);
	memcpy(v, none, sizeof(v));
	assert_int_equal(qemu_monitor_threads("* CPU #0: thread_id=1\n", v, 2), -EPROTO);
	assert_int_equal(qemu_monitor_threads("CPU #9: thread_id=1\nCPU #1: thread_id=-1\n"
					      "CPU #1: thread_id=\n",
					      v, 2),
			 -EPROTO);
	assert_int_equal(v[1].tid, 0);
	memcpy(v, none, sizeof(v));
	assert_int_equal(qemu_monitor_threads("unknown command: 'info cpus'\r\n", v, 2), -EPROTO);
}

/* device_del of the third of four, before it was attached to and behind that. */
static void test_threads_of_some(void **state)
{
	static const char text[] = "* CPU #0: thread_id=10\r\n  CPU #1: thread_id=11\r\n"
				   "  CPU #3: thread_id=13\r\n";
	struct qemu_vcpu listed[3] = {{.thread = 1}, {.thread = 2}, {.thread = 4}};
	struct qemu_vcpu v[4] = {{.thread = 1}, {.thread = 2}, {.gone = true}, {.thread = 4}};

	(void)state;
	assert_int_equal(qemu_monitor_threads(text, listed, 3), 0);
	assert_int_equal(listed[2].tid, 13);
	assert_int_equal(qemu_monitor_threads(text, v, 4), 0);
	assert_int_equal(v[1].tid, 11);
	assert_int_equal(v[2].tid, 0);
	assert_int_equal(v[3].tid, 13);
}

static void test_xml(void **state)
{
	static const char xml[] = "<!-- <a b='0'/> --><aa/><a  b='1' c=\"x>y\"/>"
				  "<kernel>/a &amp; b&lt;&nix;</kernel><e></e><f/><g>no end";
	const char *at;
	char text[16];
	size_t len;

	(void)state;
	at = xml_element(xml, "a", &len);
	assert_true(at && xml_attribute(at, len, "b", text, sizeof(text)));
	assert_string_equal(text, "1");
	assert_false(xml_attribute(at, len, "d", text, sizeof(text)));
	assert_false(xml_attribute(at, len, "c", text, sizeof(text))); /* nobody writes that */
	assert_false(xml_attribute(at, len, "b", text, 1));
	at = xml_element(xml, "kernel", &len);
	assert_true(at && xml_text(at, len, text, sizeof(text)));
	assert_string_equal(text, "/a & b<&nix;");
	assert_false(xml_text(at, len, text, 5));
	at = xml_element(xml, "e", &len);
	assert_true(at && xml_text(at, len, text, sizeof(text)));
	assert_string_equal(text, "");
	at = xml_element(xml, "f", &len);
	assert_false(!at || xml_text(at, len, text, sizeof(text)));
	at = xml_element(xml, "g", &len);
	assert_false(!at || xml_text(at, len, text, sizeof(text)));
	assert_null(xml_element(xml, "h", &len));
	assert_null(xml_element("<h", "h", &len));
	assert_null(xml_element("<!-- <h>", "h", &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_regions_refused),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_tables_of_some),
		cmocka_unit_test(test_vcpus),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_of_some),
		cmocka_unit_test(test_xml),
	};

	return cmocka_run_group_tests_name("qemu monitor", tests, NULL, NULL);
}
