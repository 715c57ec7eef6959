// SPDX-License-Identifier: GPL-2.0-or-later
/* test-pci.c - the PCI devices of a made-up guest: those of a capture, and what makes no sense. */
#include "tests/unit/data-file.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/image-words.h"
#include "tracer/guest/pci.h"

/* Offsets in the made-up image. */
enum { ROOTS = 0x100, BUS = 0x200, BUS_1 = 0x300, DRIVER = 0x400, NAME = 0x440, DEV = 0x1000 };
enum { DEV_STEP = 0x400 };

/* Offsets in structures. */
enum {
	BUS_NODE = 0,
	BUS_DEVICES = 40,
	BUS_NUMBER = 80,
	DEV_NODE = 0,
	SUBORDINATE = 24,
	DEVFN = 32,
	VENDOR = 36,
	DEVICE = 38,
	IRQ = 40,
	DEV_DRIVER = 48,
	RESOURCE = 64,
	RESOURCE_SIZE = 64,
	START = 0,
	END = 8,
	FLAGS = 24,
	DRIVER_NAME = 16,
};

static void add_types(void)
{
	fake_field("pci_bus.node", BUS_NODE, 16);
	fake_field("pci_bus.devices", BUS_DEVICES, 16);
	fake_field("pci_bus.number", BUS_NUMBER, 1);
	fake_field("pci_dev.bus_list", DEV_NODE, 16);
	fake_field("pci_dev.subordinate", SUBORDINATE, 8);
	fake_field("pci_dev.devfn", DEVFN, 4);
	fake_field("pci_dev.vendor", VENDOR, 2);
	fake_field("pci_dev.device", DEVICE, 2);
	fake_field("pci_dev.irq", IRQ, 4);
	fake_field("pci_dev.resource", RESOURCE, 7 * RESOURCE_SIZE);
	fake_field("pci_dev.driver", DEV_DRIVER, 8);
	fake_field("resource.start", START, 8);
	fake_field("resource.end", END, 8);
	fake_field("resource.flags", FLAGS, 8);
	fake_field("pci_driver.name", DRIVER_NAME, 8);
	fake_type("resource", RESOURCE_SIZE);
}

static int set_up(void **state)
{
	(void)state;
	image_set_up();
	fake_symbol("pci_root_buses", FAKE_VA(ROOTS), 'D');
	add_types();
	put(ROOTS, FAKE_VA(BUS + BUS_NODE), 8);
	put(BUS + BUS_NODE, FAKE_VA(ROOTS), 8);
	put(BUS + BUS_DEVICES, FAKE_VA(BUS + BUS_DEVICES), 8);
	put(BUS_1 + BUS_DEVICES, FAKE_VA(BUS_1 + BUS_DEVICES), 8);
	put(BUS_1 + BUS_NUMBER, 1, 1);
	put(DRIVER + DRIVER_NAME, FAKE_VA(NAME), 8);
	memcpy(fake_at(FAKE_VA(NAME)), "virtio-pci", 11);
	return 0;
}

static uint64_t dev(unsigned int n)
{
	return DEV + n * DEV_STEP;
}

/* Device n is the last one of the bus; `before` is the one before it, or the bus' head. */
static void link_device(unsigned int n, uint64_t bus, uint64_t before)
{
	put(before, FAKE_VA(dev(n) + DEV_NODE), 8);
	put(dev(n) + DEV_NODE, FAKE_VA(bus + BUS_DEVICES), 8);
}

/* What its line says, up to its driver's name. */
static void fill_device(unsigned int n, const char *line)
{
	unsigned int devfn, vendor, irq;
	uint64_t where[7] = {0}, size[7] = {0};
	int at = 0;

	assert_int_equal(sscanf(line, "PCIDEV 00%2x %8x %x%n", &devfn, &vendor, &irq, &at), 3);
	for (int i = 0; i < 14; i++) {
		char *end;

		*(i < 7 ? &where[i] : &size[i - 7]) = strtoull(line + at, &end, 16);
		at = (int)(end - line);
	}
	put(dev(n) + DEVFN, devfn, 4);
	put(dev(n) + VENDOR, vendor >> 16, 2);
	put(dev(n) + DEVICE, vendor & 0xffff, 2);
	put(dev(n) + IRQ, irq, 4);
	for (unsigned int i = 0; i < 7; i++) {
		uint64_t resource = dev(n) + RESOURCE + i * RESOURCE_SIZE, low = where[i] & 0xf;

		/* The lowest bits are flags where there is enough of it; ports may have them too.
		 */
		put(resource + START, where[i] - (size[i] >= 16 ? low : 0), 8);
		put(resource + FLAGS, 0x200 | (size[i] >= 16 ? low : 0), 8);
		put(resource + END, where[i] - (size[i] >= 16 ? low : 0) + size[i] - !!size[i], 8);
	}
	if (strstr(line, "virtio-pci"))
		put(dev(n) + DEV_DRIVER, FAKE_VA(DRIVER), 8);
}

static void expect_text(const char *want)
{
	struct text text = {0};

	pci_print_devices(&guest, NULL, &text);
	text_putc(&text, '\0');
	assert_string_equal(text.buf, want);
	text_free(&text);
}

/* --- those of a capture ----------------------------------------------------------------------- */

static unsigned int add_captured(char *file)
{
	const char *line = strstr(file, "PCIDEV");
	uint64_t before = BUS + BUS_DEVICES;
	unsigned int n = 0;

	for (; !strncmp(line, "PCIDEV", 6); line = strchr(line, '\n') + 1, n++) {
		char *text = strndup(line, strcspn(line, "\n"));

		link_device(n, BUS, before);
		fill_device(n, text);
		before = dev(n) + DEV_NODE;
		free(text);
	}
	return n;
}

static void lines_are_the_kernels(void **state)
{
	char *file = data_file("mmiotrace-pipe.txt", NULL), *from = strstr(file, "PCIDEV");

	(void)state;
	assert_int_equal(add_captured(file), 7);
	*strstr(from, "UNMAP") = '\0';
	expect_text(from);
	free(file);
}

/* All of a bus come before those behind its bridges. */
static void bridges_come_later(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < 3; n++)
		put(dev(n) + DEVFN, 8 * n, 4);
	link_device(0, BUS, BUS + BUS_DEVICES);
	link_device(1, BUS, dev(0) + DEV_NODE);
	link_device(2, BUS_1, BUS_1 + BUS_DEVICES);
	put(dev(0) + SUBORDINATE, FAKE_VA(BUS_1), 8);
	/* Somebody has its region, though no driver of PCI's. */
	put(dev(2) + RESOURCE + FLAGS, 0x80000200, 8);
	expect_text("PCIDEV 0000 00000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \n"
		    "PCIDEV 0008 00000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \n"
		    "PCIDEV 0110 00000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 compat\n");
}

/* --- nonsense --------------------------------------------------------------------------------- */

static void none_are_told(void **state)
{
	(void)state;
	expect_text(""); /* of a bus without any */
	put(ROOTS, FAKE_VA(ROOTS), 8);
	expect_text("");
	put(ROOTS, 0, 8); /* it has not come so far yet */
	expect_text("");
	fake.nfields = 3;
	expect_text("");
}

static unsigned int lines_of_lists(void)
{
	struct text text = {0};
	unsigned int n = 0;

	pci_print_devices(&guest, NULL, &text);
	for (size_t i = 0; i < text.len; i++)
		n += text.buf[i] == '\n';
	text_free(&text);
	return n;
}

static void lists_without_end(void **state)
{
	(void)state;
	link_device(0, BUS, BUS + BUS_DEVICES);
	put(dev(0) + DEV_NODE, FAKE_VA(dev(0) + DEV_NODE), 8);
	assert_in_range(lines_of_lists(), 1, 8192);
	/* A bridge to its own bus. */
	link_device(0, BUS, BUS + BUS_DEVICES);
	put(dev(0) + SUBORDINATE, FAKE_VA(BUS), 8);
	assert_in_range(lines_of_lists(), 1, 100);
}

/* What one of them has used up is not there for the next ones. */
static void buses_behind_a_list_without_end(void **state)
{
	(void)state;
	link_device(0, BUS, BUS + BUS_DEVICES);
	put(dev(0) + DEV_NODE, FAKE_VA(dev(0) + DEV_NODE), 8);
	put(BUS + BUS_NODE, FAKE_VA(BUS_1 + BUS_NODE), 8);
	put(BUS_1 + BUS_NODE, FAKE_VA(BUS + BUS_NODE), 8);
	assert_in_range(lines_of_lists(), 1, 8192);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, image_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_are_the_kernels),
		TEST(bridges_come_later),
		TEST(none_are_told),
		TEST(lists_without_end),
		TEST(buses_behind_a_list_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
