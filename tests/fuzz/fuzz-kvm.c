// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-kvm.c - what guests do to our own machine: instructions that are carried out for them, page
 * tables, ports of devices; and the images that are loaded into it. Needs no KVM.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vmm/kvm/chip/i8254.h"
#include "vmm/kvm/insn/insn.h"
#include "vmm/kvm/local.h"

#define RAM_SIZE (UINT64_C(2) << 20)
#define LOW_SIZE 0x20000 /* what the first two use of it */
#define PML4	 0x1000
#define CODE_PA	 0x8000
#define DATA_PA	 0x9000
#define BASE	 UINT64_C(0xffffffff80000000)
#define CODE	 (BASE + 0x1000)

enum { PTE_P = 1, PTE_W = 2, PTE_U = 4 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct kvm_machine m;
static struct insn_decoder *decoder;
static uint8_t sound[LOW_SIZE]; /* of RAM */

struct input {
	const uint8_t *data;
	size_t size;
};

/* As many bytes as there are left; the others stay as they are. */
static void input_copy(struct input *in, void *to, size_t len)
{
	len = len < in->size ? len : in->size;
	memcpy(to, in->data, len);
	in->data += len;
	in->size -= len;
}

static uint8_t input_byte(struct input *in)
{
	uint8_t value = 0;

	input_copy(in, &value, sizeof(value));
	return value;
}

static uint64_t input_word(struct input *in)
{
	uint64_t value = 0;

	input_copy(in, &value, sizeof(value));
	return value;
}

static void put64(uint64_t pa, uint64_t value)
{
	memcpy(m.mem[0].host + pa, &value, sizeof(value));
}

/* One table of each level; code, data in two pages far apart, a page of the user's, and nothing. */
static void make_tables(void)
{
	const uint64_t pages[] = {CODE_PA, DATA_PA, 0x1c000, 0xb000, 0xd000, 0x7fff000};

	put64(PML4 + 511 * 8, (PML4 + 0x1000) | PTE_P | PTE_W | PTE_U);
	put64(PML4 + 0x1000 + 510 * 8, (PML4 + 0x2000) | PTE_P | PTE_W | PTE_U);
	put64(PML4 + 0x2000, (PML4 + 0x3000) | PTE_P | PTE_W | PTE_U);
	for (uint64_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		put64(PML4 + 0x3000 + 8 * (i + 1),
		      pages[i] | PTE_P | (i % 4 ? PTE_W : 0) | (i == 4 ? PTE_U : 0));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (machine_init(&m.base, &kvm_machine_ops))
		return -1;
	m.vm_fd = -1;
	m.nvcpus = 1;
	m.mem[0] = (struct kvm_mem){.size = RAM_SIZE, .host = calloc(1, RAM_SIZE)};
	m.nmem = 1;
	decoder = insn_decoder_new();
	if (!m.mem[0].host || !decoder)
		return -1;
	make_tables();
	memcpy(sound, m.mem[0].host, LOW_SIZE);
	return 0;
}

/* --- page tables and instructions ------------------------------------------------------------ */

/* An entry of the tables, and what it is. */
static void change_tables(struct input *in)
{
	for (unsigned int n = input_byte(in) % 8; n; n--) {
		uint64_t at = PML4 + (input_word(in) & 0x3ff8);

		put64(at, input_word(in));
	}
}

static void fuzz_walk(struct input *in)
{
	unsigned int levels = input_byte(in) % 8;
	uint64_t va = input_word(in) ^ CODE, root = input_word(in) ^ PML4, pa, left;

	change_tables(in);
	if (machine_walk(&m.base, root, levels, va, &pa, &left))
		return;
	if ((pa ^ va) & 4095 || !left || left > UINT64_C(1) << 30)
		abort();
}

struct cpu {
	struct kvm_regs regs;
	struct kvm_sregs sregs;
	struct kvm_fpu fpu;
	uint64_t xcr0;
};

static void *ram(void *arg, uint64_t pa, size_t len)
{
	(void)arg;
	return kvm_host_ptr(&m, pa, len);
}

static int get_fpu(void *arg, struct kvm_fpu *fpu)
{
	*fpu = ((struct cpu *)arg)->fpu;
	return 0;
}

static int set_fpu(void *arg, const struct kvm_fpu *fpu)
{
	((struct cpu *)arg)->fpu = *fpu;
	return 0;
}

static int get_xcr0(void *arg, uint64_t *xcr0)
{
	*xcr0 = ((struct cpu *)arg)->xcr0;
	return 0;
}

/* In 64-bit mode; addresses are near the data, if the input does not say otherwise. */
static void make_cpu(struct cpu *c, struct input *in)
{
	uint8_t *const any[] = {(uint8_t *)&c->regs, (uint8_t *)&c->fpu};
	const size_t sizes[] = {sizeof(c->regs), sizeof(c->fpu)};
	uint64_t *const registers = (uint64_t *)&c->regs;

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < 16; i++)
		registers[i] = CODE + 0x1000 + 64 * i;
	c->regs.rip = CODE + (input_byte(in) & 1 ? 4090 : 0);
	c->regs.rflags = 2;
	c->fpu.fcw = 0x37f;
	c->fpu.mxcsr = 0x1f80;
	c->sregs.cr0 = 0x80050033 ^ (input_byte(in) & 0xe);
	c->sregs.cr3 = PML4;
	c->sregs.cr4 = 0x406b0 ^ (uint64_t)(input_byte(in) & 3) << 9;
	c->sregs.efer = 0xd01;
	c->sregs.cs.l = 1;
	c->sregs.ss.dpl = input_byte(in) & 3;
	c->xcr0 = input_byte(in);
	for (unsigned int n = input_byte(in) % 4; n; n--) {
		unsigned int which = input_byte(in) % 2;

		input_copy(in, any[which] + input_byte(in) * 8u % (sizes[which] - 8), 8);
	}
}

/* Of each kind that is carried out, with a few of its bytes changed; or any. */
static void make_insn(struct input *in, uint8_t insn[INSN_MAX])
{
	static const char known[][6] = {
		"\xf0\x48\x0f\xc7\x0f",
		"\xf3\x48\x0f\xb8\x07",
		"\x0f\x01\xcb",
		"\x0f\xae\x17",
		"\x0f\xae\x1f",
		"\x48\x0f\xae\x07",
		"\x0f\xae\x0f",
		"\x48\x0f\xae\x27",
		"\x48\x0f\xae\x2f",
		"\x48\x0f\xc7\x27",
		"\xdf\x2f",
		"\xdb\xe3",
		"\xdb\xe2",
		"\x0f\x77",
	};
	size_t which = input_byte(in) % 16;

	memset(insn, 0x90, INSN_MAX);
	if (which < sizeof(known) / sizeof(known[0]))
		memcpy(insn, known[which], strlen(known[which]));
	else
		input_copy(in, insn, INSN_MAX);
	for (unsigned int n = input_byte(in) % 4; n; n--)
		input_copy(in, insn + input_byte(in) % INSN_MAX, 1);
}

/* What raises an exception has changed nothing. */
static void fuzz_insn(struct input *in)
{
	static const struct insn_ops ops = {get_fpu, set_fpu, get_xcr0};
	uint8_t insn[INSN_MAX];
	struct insn_cpu cpu;
	struct cpu c, before;
	int ret;

	make_insn(in, insn);
	make_cpu(&c, in);
	change_tables(in);
	/* What does not fit into its page may be anywhere. */
	memcpy(m.mem[0].host + CODE_PA + c.regs.rip % 4096, insn, INSN_MAX);
	input_copy(in, m.mem[0].host + DATA_PA, 1024);
	before = c;
	insn_cpu_init(&cpu, &c.regs, &c.sregs, ram, &ops, &c);
	ret = insn_execute(decoder, &cpu);
	if (!ret && c.regs.rip - before.regs.rip > INSN_MAX)
		abort();
	if (ret && memcmp(&c, &before, sizeof(c)) != 0)
		abort();
}

/* --- devices --------------------------------------------------------------------------------- */

static void console(void *arg, const char *text, size_t len)
{
	(void)arg;
	if (!text || !len)
		abort();
}

/* As KVM hands it over: one port, some items. */
static void access_port(struct input *in, struct kvm_vcpu *v)
{
	static const uint16_t ports[] = {0x60, 0x70, 0x3f8, 0x600, 0xcf8};
	static const uint8_t sizes[] = {1, 2, 4};
	uint8_t how = input_byte(in);
	uint8_t *data = (uint8_t *)v->run + 4096;

	v->run->io.port = (uint16_t)(ports[how % 5] + input_byte(in) % 16);
	v->run->io.size = sizes[input_byte(in) % 3];
	v->run->io.count = how & 0x40 ? 3 : 1;
	v->run->io.direction = how & 0x80 ? KVM_EXIT_IO_OUT : KVM_EXIT_IO_IN;
	v->run->io.data_offset = 4096;
	input_copy(in, data, (size_t)v->run->io.count * v->run->io.size);
	kvm_bus_pio(v);
}

/* Up to a quarter of an hour later. */
static void access_timer(struct input *in, struct i8254 *t, uint64_t *now)
{
	uint8_t how = input_byte(in);
	uint64_t rise;

	*now += input_word(in) >> (24 + input_byte(in) % 40);
	if (how & 0x80)
		i8254_set_gate(t, how % 3, how & 4, *now);
	else if (how & 0x40)
		i8254_read(t, how % 4, *now);
	else
		i8254_write(t, how % 4, input_byte(in), *now);
	i8254_out(t, how % 3, *now);
	rise = i8254_next_rise(t, how % 3, *now);
	if (rise <= *now)
		abort();
}

static void use_devices(struct input *in)
{
	union {
		struct kvm_run run;
		uint8_t bytes[8192];
	} *page = calloc(1, sizeof(*page));
	struct kvm_vcpu v = {.m = &m, .run = &page->run};
	struct i8254 timer;
	uint64_t now = 0;
	char text[256] = "";

	if (!page)
		abort();
	i8254_init(&timer, 1 + input_byte(in));
	while (in->size) {
		uint8_t what = input_byte(in) % 8;

		if (what == 0)
			serial_input(m.serial, text, input_byte(in));
		else if (what == 1)
			access_timer(in, &timer, &now);
		else
			access_port(in, &v);
	}
	free(page);
}

static void fuzz_devices(struct input *in)
{
	m.npio = 0;
	m.base.end.type = MACHINE_EVENT_NONE;
	m.cfg.console = console;
	m.serial = serial_new(&m, SERIAL_CONSOLE, m.cfg.console);
	m.i8042 = i8042_new(&m);
	m.rtc = rtc_new(&m);
	m.acpi = acpi_new(&m);
	if (!m.serial || !m.i8042 || !m.rtc || !m.acpi)
		abort();
	use_devices(in);
	acpi_free(m.acpi);
	rtc_free(m.rtc);
	i8042_free(m.i8042);
	serial_free(m.serial);
}

/* --- images ---------------------------------------------------------------------------------- */

/* What is behind an image, about the one that has been loaded. */
static void fuzz_relocs(struct input *in, uint64_t kernel_end)
{
	size_t len = input_byte(in);
	uint8_t *words = calloc(1, len ? len : 1);
	char err[256] = "";

	if (!words)
		abort();
	input_copy(in, words, len);
	m.kernel_slide = (uint64_t)input_byte(in) << 21;
	if (kvm_kaslr_relocate(&m, kernel_end, words, len, err, sizeof(err)) &&
	    (!err[0] || strchr(err, '\n')))
		abort();
	free(words);
}

/* Sound headers, over which the input is laid by exclusive or; then the rest of it. */
static void fuzz_image(struct input *in)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[3];
	} head = {
		.eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
		       .e_machine = EM_X86_64,
		       .e_entry = KVM_BIOS_END + 4,
		       .e_phoff = sizeof(head.eh),
		       .e_phentsize = sizeof(head.ph[0]),
		       .e_phnum = 3},
	};
	size_t size = sizeof(head) + 64;
	uint8_t *file = malloc(size), *bytes = (uint8_t *)&head;
	uint64_t kernel_end = 0;
	char err[256] = "";

	for (unsigned int i = 0; i < 3; i++)
		head.ph[i] = (Elf64_Phdr){.p_type = PT_LOAD,
					  .p_offset = sizeof(head),
					  .p_paddr = KVM_BIOS_END + 4096 * i,
					  .p_filesz = 64,
					  .p_memsz = 4096};
	for (unsigned int n = input_byte(in) % 16; n; n--) {
		size_t at = input_byte(in) * 4u % (sizeof(head) - 8);

		for (size_t i = 0; i < 8; i++)
			bytes[at + i] ^= input_byte(in);
	}
	if (!file)
		abort();
	memset(file, 0, size);
	memcpy(file, &head, sizeof(head));
	input_copy(in, file + sizeof(head), 64);
	m.cfg.kernel = file;
	m.cfg.kernel_size = size - input_byte(in);
	if (kvm_load_elf(&m, &kernel_end, err, sizeof(err))) {
		if (!err[0] || strchr(err, '\n'))
			abort();
	} else if (kernel_end > RAM_SIZE || m.kernel_pa >= kernel_end) {
		abort();
	} else {
		fuzz_relocs(in, kernel_end);
	}
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	switch (input_byte(&in) % 4) {
	case 0:
		fuzz_walk(&in);
		break;
	case 1:
		fuzz_insn(&in);
		break;
	case 2:
		fuzz_devices(&in);
		break;
	default:
		fuzz_image(&in);
	}
	memcpy(m.mem[0].host, sound, LOW_SIZE);
	return 0;
}
