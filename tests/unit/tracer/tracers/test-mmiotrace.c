// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-mmiotrace.c - the tracer mmiotrace on a made-up guest that maps devices and uses them: the
 * text that comes of it, and machines that cannot have it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/trace-guest.h"

/* Offsets in the made-up image. */
enum {
	FN_MAP_PAGES = 0x2000,
	FN_MAPPED = 0x2100,
	FN_UNMAP = 0x2200,
	VMAP_LIST = 0x5200,
	HIGH_MEMORY = 0x5210,
	AREA = 0x5300,
	VM = 0x5380,
	PCI_ROOTS = 0x5400,
	PCI_BUS =
		0x5410, /* and a device, all of whose members but the list's are the same zeroes */
	PCI_DEV = 0x5500,
};

/* Offsets in structures. */
enum { AREA_LIST = 40, AREA_VM = 56, VM_ADDR = 8, VM_SIZE = 16, VM_FLAGS = 24, VM_PHYS = 48 };

#define DIRECT	  UINT64_C(0xffff888000000000)
#define VMALLOC	  UINT64_C(0xffffc90000000000)
#define BAR	  UINT64_C(0xfe000000)
#define EARLY_BAR UINT64_C(0xfed00000)

static char noted[256];

static void on_note(void *arg, const char *text)
{
	(void)arg;
	snprintf(noted, sizeof(noted), "%s", text);
}

static int set_up(void **state)
{
	guest_set_up(state);
	noted[0] = '\0';
	add_function("ioremap_page_range", FN_MAP_PAGES, 0);
	add_function("iomem_map_sanity_check", FN_MAPPED, 0);
	add_function("iounmap", FN_UNMAP, 0);
	fake_symbol("vmap_area_list", FAKE_VA(VMAP_LIST), 'D');
	fake_symbol("high_memory", FAKE_VA(HIGH_MEMORY), 'B');
	fake_field("vmap_area.list", AREA_LIST, 16);
	fake_field("vmap_area.vm", AREA_VM, 8);
	fake_field("vm_struct.addr", VM_ADDR, 8);
	fake_field("vm_struct.size", VM_SIZE, 8);
	fake_field("vm_struct.flags", VM_FLAGS, 8);
	fake_field("vm_struct.phys_addr", VM_PHYS, 8);
	put(VMAP_LIST, FAKE_VA(VMAP_LIST), 8);
	put(HIGH_MEMORY, DIRECT + 0x40000000, 8);
	fake.mmio = true;
	fake.vcpus = 1;
	return 0;
}

/* One that was there before. */
static void add_earlier(void)
{
	put(VMAP_LIST, FAKE_VA(AREA + AREA_LIST), 8);
	put(AREA + AREA_LIST, FAKE_VA(VMAP_LIST), 8);
	put(AREA + AREA_VM, FAKE_VA(VM), 8);
	put(VM + VM_ADDR, VMALLOC + 0x5000, 8);
	put(VM + VM_SIZE, 0x2000, 8);
	put(VM + VM_FLAGS, 1, 8);
	put(VM + VM_PHYS, EARLY_BAR, 8);
}

static struct trace *start(const char *tracer)
{
	struct trace_config cfg = {.tracer = tracer, .message = on_note};
	char err[256] = "";
	struct trace *t = trace_with(cfg, err, sizeof(err));

	if (!t || trace_attach(t, (struct machine *)&fake, err, sizeof(err)))
		fail_msg("%s", err);
	return t;
}

static uint64_t next_tsc(void)
{
	static uint64_t tsc = 1000;

	tsc += 1000000;
	return tsc;
}

/* A call of the function at off with these arguments, if it has a trap. */
static void calls(struct trace *t, uint32_t off, uint64_t a, uint64_t b, uint64_t c)
{
	const struct machine_trap *trap = fake_trap(FAKE_VA(off));
	struct machine_regs regs = {
		.rsp = FAKE_VA(STACK), .rdi = a, .rsi = b, .rdx = c, .rflags = 0x202};
	struct machine_hit hit = {.tsc = next_tsc(), .va = FAKE_VA(off), .regs = &regs};

	if (!trap)
		return;
	hit.cookie = trap->cookie;
	trace_trap(t, &hit);
}

static void maps(struct trace *t, uint64_t phys, uint64_t len, uint64_t virt)
{
	calls(t, FN_MAP_PAGES, virt, virt + 0x1000, phys & ~UINT64_C(4095));
	calls(t, FN_MAPPED, phys, len, 0);
}

static void accesses(struct trace *t, uint64_t pa, uint8_t size, bool is_write, uint64_t value)
{
	const struct machine_regs regs = {.rflags = 0x202};
	const struct machine_mmio access = {
		.is_write = is_write,
		.size = size,
		.pa = pa,
		.value = value,
		.tsc = next_tsc(),
		.regs = &regs,
	};

	trace_mmio(t, &access);
}

/* A line without its time, which is `word` from the beginning. */
static void expect_lines(struct trace *t, const char *const *want)
{
	struct instance_reader *r = instance_read_open(trace_top(t), ALL_VCPUS, true);
	char buf[8192], *at = buf;
	ssize_t n, len = 0;

	assert_non_null(r);
	while ((n = instance_read(r, buf + len, sizeof(buf) - 1 - (size_t)len, len)) > 0)
		len += n;
	instance_read_close(r);
	buf[len] = '\0';
	for (char *line; *want; want++) {
		char got[256];
		int op = 0, time = 0;

		line = strsep(&at, "\n");
		assert_non_null(line);
		sscanf(line, line[1] == ' ' ? "%*c %*d%n %*s%n" : "%*s%n %*s%n", &op, &time);
		if (!strncmp(line, "VERSION", 7) || !strncmp(line, "PCIDEV", 6))
			op = time = (int)strlen(line);
		snprintf(got, sizeof(got), "%.*s%s", op, line, line + time);
		assert_string_equal(got, *want);
	}
	assert_string_equal(at, "");
}

/* --- what is recorded ------------------------------------------------------------------------- */

static void use_devices(struct trace *t)
{
	accesses(t, BAR + 0x14, 1, true, 1); /* not mapped yet: of the kernel's boot, or a probe */
	maps(t, BAR + 0x10, 0x3c, VMALLOC + 0x10000);
	accesses(t, BAR + 0x14, 1, true, 0xb);
	accesses(t, BAR + 0x18, 4, false, 0x30007e54);
	instance_mark(trace_top(t), "so far\n", 7);
	maps(t, BAR + 0x2000, 0x1000, VMALLOC + 0x20000);
	accesses(t, BAR + 0x2ff8, 8, true, UINT64_C(0x123456789abcdef0));
	calls(t, FN_UNMAP, VMALLOC + 0x10010, 0, 0);
	accesses(t, BAR + 0x14, 1, true, 0xb);
	calls(t, FN_UNMAP, VMALLOC + 0x10010, 0, 0);
	calls(t, FN_UNMAP, DIRECT + 0x1000, 0, 0); /* nothing is unmapped */
}

static void devices_are_used(void **state)
{
	static const char *const want[] = {
		"VERSION 20070824",
		"MAP 1 0xfe000010 0xffffc90000010010 0x3c 0x0 0",
		"W 1 1 0xfe000014 0xb 0x0 0",
		"R 4 1 0xfe000018 0x30007e54 0x0 0",
		"MARK so far",
		"MAP 2 0xfe002000 0xffffc90000020000 0x1000 0x0 0",
		"W 8 2 0xfe002ff8 0x123456789abcdef0 0x0 0",
		"UNMAP 1 0x0 0",
		"UNMAP -1 0x0 0",
		NULL,
	};
	struct trace *t = start("mmiotrace");
	struct trace_status st;

	(void)state;
	use_devices(t);
	expect_lines(t, want);
	assert_int_equal(trace_detach(t), 0);
	assert_int_equal(fake.ntraps, 0);
	/* It goes on. */
	accesses(t, BAR + 0x2ff8, 8, true, 0);
	trace_get_status(t, &st);
	assert_int_equal(st.hits, 7);
	trace_free(t);
}

/* Their pages are known alone. The traps come with the tracer, and go with it. */
static void devices_were_mapped_before(void **state)
{
	static const char *const want[] = {
		"VERSION 20070824",
		"MAP 1 0xfed00000 0xffffc90000005000 0x1000 0x0 0",
		"R 4 1 0xfed000f0 0x0 0x0 0",
		"UNMAP 1 0x0 0",
		NULL,
	};
	struct trace *t = start("nop");

	(void)state;
	assert_null(fake_trap(FAKE_VA(FN_UNMAP)));
	add_earlier();
	accesses(t, EARLY_BAR + 0xf0, 4, false, 0);
	assert_int_equal(instance_set_tracer(trace_top(t), "mmiotrace"), 0);
	assert_non_null(fake_trap(FAKE_VA(FN_UNMAP)));
	accesses(t, EARLY_BAR + 0xf0, 4, false, 0);
	calls(t, FN_UNMAP, VMALLOC + 0x5080, 0, 0);
	expect_lines(t, want);
	assert_int_equal(instance_set_tracer(trace_top(t), "nop"), 0);
	assert_null(fake_trap(FAKE_VA(FN_UNMAP)));
	accesses(t, EARLY_BAR + 0xf0, 4, false, 0);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void pci_devices_are_told(void **state)
{
	static const char *const want[] = {
		"VERSION 20070824",
		"PCIDEV 0000 00000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ",
		"MAP 1 0xfe000000 0xffffc90000010000 0x10 0x0 0",
		NULL,
	};
	static const char *const members[] = {
		"pci_dev.subordinate", "pci_dev.devfn",	 "pci_dev.vendor",   "pci_dev.device",
		"pci_dev.irq",	       "pci_dev.driver", "pci_dev.resource",
	};
	struct trace *t;

	(void)state;
	fake_symbol("pci_root_buses", FAKE_VA(PCI_ROOTS), 'D');
	fake_type("resource", 0);
	fake_field("pci_bus.node", 0, 16);
	fake_field("pci_bus.devices", 16, 16);
	fake_field("pci_bus.number", 32, 1);
	fake_field("pci_dev.bus_list", 0, 16);
	fake_field("resource.start", 0, 8);
	fake_field("resource.end", 0, 8);
	fake_field("resource.flags", 0, 8);
	fake_field("pci_driver.name", 0, 8);
	for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++)
		fake_field(members[k], 64, 8);
	put(PCI_ROOTS, FAKE_VA(PCI_BUS), 8);
	put(PCI_BUS, FAKE_VA(PCI_ROOTS), 8);
	put(PCI_BUS + 16, FAKE_VA(PCI_DEV), 8);
	put(PCI_DEV, FAKE_VA(PCI_BUS + 16), 8);
	t = start("mmiotrace");
	maps(t, BAR, 0x10, VMALLOC + 0x10000);
	expect_lines(t, want);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

/* What was mapped meanwhile is known. */
static void recording_is_off_for_a_while(void **state)
{
	static const char *const want[] = {
		"VERSION 20070824",
		"R 1 1 0xfe000000 0x5 0x0 0",
		NULL,
	};
	struct trace *t = start("mmiotrace");

	(void)state;
	instance_set_on(trace_top(t), false);
	maps(t, BAR, 0x10, VMALLOC + 0x10000);
	accesses(t, BAR, 1, false, 4);
	instance_set_on(trace_top(t), true);
	accesses(t, BAR, 1, false, 5);
	expect_lines(t, want);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void as_many_as_asked_for(void **state)
{
	struct trace *t;
	struct trace_config cfg = {.tracer = "mmiotrace", .max_events = 3};
	char err[256] = "";

	(void)state;
	t = trace_with(cfg, err, sizeof(err));
	assert_non_null(t);
	assert_int_equal(trace_attach(t, (struct machine *)&fake, err, sizeof(err)), 0);
	maps(t, BAR, 0x10, VMALLOC + 0x10000);
	for (int i = 0; i < 10; i++)
		accesses(t, BAR, 1, false, 5);
	assert_int_equal(entries(t), 3);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

/* --- who cannot have it ----------------------------------------------------------------------- */

static bool listed(struct trace *t)
{
	return trace_has_tracer(t, "mmiotrace");
}

static void a_machine_that_does_not_tell(void **state)
{
	static const char why[] =
		"mmiotrace: accesses to devices are seen of guests that hvtrace "
		"runs itself, and of those of a QEMU on this host whose memory may be read, "
		"with a gdb stub on a unix socket (gdb:unix:PATH, or libvirt's)";
	struct trace_config cfg = {.tracer = "mmiotrace"};
	char err[256] = "";
	struct trace *t;

	(void)state;
	fake.mmio = false;
	t = trace_with(cfg, err, sizeof(err));
	assert_int_equal(trace_attach(t, (struct machine *)&fake, err, sizeof(err)), -EOPNOTSUPP);
	assert_string_equal(err, why);
	trace_free(t);
	t = start("nop");
	assert_false(listed(t));
	assert_int_equal(instance_set_tracer(trace_top(t), "mmiotrace"), -EOPNOTSUPP);
	assert_string_equal(noted, why);
	assert_string_equal(instance_tracer(trace_top(t)), "nop");
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

/* As long as it is the tracer, and no longer. */
static void accesses_are_asked_for(void **state)
{
	struct trace *t = start("nop");

	(void)state;
	assert_false(fake.watched);
	assert_int_equal(instance_set_tracer(trace_top(t), "mmiotrace"), 0);
	assert_true(fake.watched);
	assert_int_equal(instance_set_tracer(trace_top(t), "mmiotrace"), 0);
	assert_true(fake.watched);
	assert_int_equal(instance_set_tracer(trace_top(t), "nop"), 0);
	assert_false(fake.watched);
	assert_int_equal(instance_set_tracer(trace_top(t), "mmiotrace"), 0);
	assert_int_equal(trace_detach(t), 0);
	assert_false(fake.watched);
	trace_free(t);
}

static void accesses_that_cannot_be_had(void **state)
{
	struct trace_config cfg = {.tracer = "mmiotrace"};
	char err[256] = "";
	struct trace *t;

	(void)state;
	fake.watch_error = -EBUSY;
	t = trace_with(cfg, err, sizeof(err));
	assert_int_equal(trace_attach(t, (struct machine *)&fake, err, sizeof(err)), -EBUSY);
	assert_string_equal(err, "nobody tells of devices");
	trace_detach(t);
	trace_free(t);
	t = start("nop");
	assert_int_equal(instance_set_tracer(trace_top(t), "mmiotrace"), -EBUSY);
	assert_string_equal(noted, "nobody tells of devices");
	assert_string_equal(instance_tracer(trace_top(t)), "nop");
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

/* Of a QEMU's nobody knows what the vCPU was at: nothing is said of that. */
static void registers_are_not_known(void **state)
{
	struct machine_mmio access = {.size = 4, .pa = BAR + 8, .value = 7};
	struct trace *t = start("mmiotrace");

	(void)state;
	maps(t, BAR, 0x10, VMALLOC + 0x10000);
	access.tsc = next_tsc();
	trace_mmio(t, &access);
	assert_int_equal(entries(t), 2);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void a_kernel_without_the_functions(void **state)
{
	struct trace *t;

	(void)state;
	fake.nsites--; /* iounmap() is not to be traced */
	t = start("nop");
	assert_true(listed(t));
	assert_int_equal(instance_set_tracer(trace_top(t), "mmiotrace"), -EOPNOTSUPP);
	assert_string_equal(noted, "mmiotrace: calls of iounmap() cannot be traced in this kernel");
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

static void an_instance_of_its_own(void **state)
{
	struct trace *t = start("nop");
	struct instance *i;

	(void)state;
	assert_int_equal(instance_new(t, "foo"), 0);
	i = instance_get(t, "foo");
	assert_int_equal(instance_set_tracer(i, "mmiotrace"), -EINVAL);
	instance_put(i);
	assert_int_equal(trace_detach(t), 0);
	trace_free(t);
}

#undef TEST
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, guest_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(devices_are_used),	       TEST(devices_were_mapped_before),
		TEST(pci_devices_are_told),    TEST(recording_is_off_for_a_while),
		TEST(as_many_as_asked_for),    TEST(a_machine_that_does_not_tell),
		TEST(accesses_are_asked_for),  TEST(accesses_that_cannot_be_had),
		TEST(registers_are_not_known), TEST(a_kernel_without_the_functions),
		TEST(an_instance_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
