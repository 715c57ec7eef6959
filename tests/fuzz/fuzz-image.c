// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-image.c - libFuzzer target for everything that reads a kernel image: container, payload,
 * ELF, symbol tables, sites, BTF.
 *
 * The first byte of an input says what the rest is. Most ways start from a sound made-up kernel,
 * because no fuzzer invents one.
 */
#include "guestsym/guestsym.h"
#include "tests/unit/made-image.h"

#include <bpf/libbpf.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* --- using what was accepted ------------------------------------------------------------- */

static void use_symbols(const struct guestsym *gs)
{
	const struct guestsym_symbol *syms;
	size_t n = guestsym_symbols(gs, &syms);
	uint64_t off, size;

	for (size_t i = 0; i < n; i++) {
		guestsym_lookup(gs, syms[i].name);
		guestsym_find(gs, syms[i].addr + 1, &off, &size);
	}
}

static void use_sites(const struct guestsym *gs)
{
	const struct guestsym_tracepoint *tps;
	const struct guestsym_irq_site *irqs;
	const struct guestsym_preempt_site *preempts;
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites);
	uint8_t bytes[8];
	uint64_t pa;

	for (size_t i = 0; i < n; i++) {
		guestsym_read(gs, sites[i].addr, bytes, sizeof(bytes));
		guestsym_phys(gs, sites[i].addr, &pa);
		if (strlen(sites[i].name) > 4096)
			abort();
	}
	n = guestsym_tracepoints(gs, &tps);
	for (size_t i = 0; i < n; i++)
		if (strlen(tps[i].name) > 255)
			abort();
	guestsym_irq_sites(gs, &irqs);
	guestsym_preempt_sites(gs, &preempts);
}

static void use_types(const struct guestsym *gs)
{
	static const char *const paths[] = {"a.b", "a.b.c", "list_head.next", "x.y.z.w"};
	struct guestsym_field field;

	guestsym_btf_types(gs);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		guestsym_field(gs, paths[i], &field);
}

static void parse(const uint8_t *file, size_t len)
{
	char err[256];
	struct guestsym *gs = guestsym_parse(file, len, err, sizeof(err));

	if (!gs) {
		if (!err[0] || strchr(err, '\n'))
			abort();
		return;
	}
	use_symbols(gs);
	use_sites(gs);
	use_types(gs);
	guestsym_close(gs);
}

/* --- making inputs ----------------------------------------------------------------------- */

static void make_kernel(struct made_image *m)
{
	static const uint8_t call[6] = {0xff, 0x15};

	made_init(m);
	made_label(m, "pv_ops", 'D');
	made_put64(m, made_function(m, "native_irq_disable", 0x400, call, sizeof(call)));
	made_label(m, "__alt_instructions", 'D');
	made_put_rel(m, MADE_BASE + 0x400);
	made_put_rel(m, MADE_BASE + 0x400);
	made_put(m, "\0\0\6\1\0\0\0", 6);
	made_label(m, "__alt_instructions_end", 'D');
	made_align(m, 8);
	made_label(m, "__start___tracepoints_ptrs", 'D');
	made_put_rel(m, MADE_BASE + MADE_TEXT);
	made_label(m, "__stop___tracepoints_ptrs", 'D');
}

/* Changes to a sound file: 16-bit position, 8-bit count (1 to 8), that many bytes; and so on. */
static void patch(uint8_t *file, size_t file_len, const uint8_t *data, size_t len)
{
	while (len > 3) {
		size_t pos = (data[0] | data[1] << 8) % file_len;
		size_t n = data[2] % 8 + 1;

		data += 3;
		len -= 3;
		if (n > len)
			n = len;
		if (n > file_len - pos)
			n = file_len - pos;
		memcpy(file + pos, data, n);
		data += n;
		len -= n;
	}
}

static void fuzz_patched(uint8_t layout, const uint8_t *data, size_t len)
{
	static struct made_image m;
	size_t file_len;
	uint8_t *file;

	make_kernel(&m);
	if (layout & 0x80) {
		made_symtab(&m);
		file = made_elf(&m, &file_len);
	} else {
		file = made_kernel(&m, &made_layouts[layout % MADE_LAYOUTS], &file_len);
	}
	patch(file, file_len, data, len);
	parse(file, file_len);
	free(file);
}

/* The rest of the input is a section of a sound kernel. */
static void fuzz_section(const char *name, const uint8_t *data, size_t len)
{
	static struct made_image m;
	size_t file_len;
	uint64_t va;
	uint8_t *file;

	if (len > 0x2000)
		len = 0x2000;
	make_kernel(&m);
	va = made_put(&m, data, len);
	made_section(&m, name, va, len, strcmp(name, ".notes") ? SHT_PROGBITS : SHT_NOTE,
		     SHF_ALLOC);
	file = made_kernel(&m, MADE_DEBIAN, &file_len);
	parse(file, file_len);
	free(file);
}

/* The rest of the input is a payload, said to unpack to a megabyte. */
static void fuzz_payload(const uint8_t *data, size_t len)
{
	size_t file_len;
	uint8_t *file = made_bzimage(data, len, 1 << 20, &file_len);

	parse(file, file_len);
	free(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	libbpf_set_print(NULL);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len < 2)
		return 0;
	switch (data[0] % 8) {
	case 0:
		parse(data + 1, len - 1);
		break;
	case 1:
		fuzz_payload(data + 1, len - 1);
		break;
	case 2:
		fuzz_section(".BTF", data + 1, len - 1);
		break;
	case 3:
		fuzz_section(".notes", data + 1, len - 1);
		break;
	default:
		fuzz_patched(data[1], data + 2, len - 2);
	}
	return 0;
}
