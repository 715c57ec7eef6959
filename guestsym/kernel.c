// SPDX-License-Identifier: GPL-2.0-or-later
/* kernel.c - reads what an image, or the memory of a kernel that runs, says of it. */
#include "guestsym/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int read_symbols(struct kernel *k, const struct complaint *c)
{
	int err = symtab_read(&k->elf, &k->symbols);

	if (err == -ENOENT)
		err = kallsyms_read(&k->elf, &k->symbols);
	if (!err)
		err = symbols_index(&k->symbols);
	if (err == -ENOENT)
		return complain(c, err,
				"has neither kernel symbols (kallsyms) nor a symbol table; give "
				"an undamaged Linux kernel that was built with CONFIG_KALLSYMS=y");
	if (err == -E2BIG)
		return complain(c, err,
				"has more symbols, or longer names of them, than any kernel has; "
				"give an undamaged /boot/vmlinuz-* or vmlinux");
	if (err == -EILSEQ)
		return complain(c, err,
				"names symbols with bytes that no kernel's have, such as control "
				"characters; give an undamaged /boot/vmlinuz-* or vmlinux");
	if (err)
		return complain(c, err, "no memory for its symbols");
	symbols_limit(&k->symbols, &k->elf);
	return 0;
}

static int read_fentry(struct kernel *k, const struct complaint *c)
{
	int err = fentry_read(&k->fentry, &k->elf, &k->symbols, k->names_invalid);

	if (err == -ENOENT && !k->identity.banner[0])
		return complain(c, err,
				"is an ELF file, but no Linux kernel; "
				"give a /boot/vmlinuz-* or a vmlinux");
	if (err == -ENOENT)
		return complain(c, err,
				"Linux %s has no fentry sites, so its functions cannot be traced; "
				"use a kernel built with CONFIG_DYNAMIC_FTRACE=y and "
				"CONFIG_KALLSYMS_ALL=y",
				k->identity.release);
	return err ? complain(c, err, "no memory for its fentry sites") : 0;
}

static uint32_t count_event_probes(const struct symbols *s)
{
	static const char prefix[] = "trace_event_raw_event_";
	uint32_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += !strncmp(s->v[i].name, prefix, sizeof(prefix) - 1);
	return n;
}

/* A kernel whose types make no sense has none. */
static int read_types(struct kernel *k, const struct complaint *c)
{
	const uint8_t *raw;
	size_t len = types_raw(&k->elf, &k->symbols, &raw);
	int err = len ? types_flatten(raw, len, &k->flat_types) : 0;

	return err == -ENOMEM ? complain(c, err, "no memory for its types") : 0;
}

/* What symbols lead to. */
static int read_rest(struct kernel *k, const struct complaint *c)
{
	identity_read(&k->identity, &k->elf, &k->symbols);
	variables_read(&k->variables, &k->elf, &k->symbols);
	k->event_probes = count_event_probes(&k->symbols);
	k->names_invalid = fentry_names_invalid(&k->elf);
	if (tables_read(&k->tables, &k->elf, &k->symbols))
		return complain(c, -ENOMEM, "no memory for its tables");
	return read_types(k, c);
}

/* Most of a vmlinux that has it, and nobody looks at it. */
static void forget_debug_data(struct kernel *k, struct blob *bytes)
{
	static const char prefix[] = ".debug_";

	for (size_t i = 0; i < k->elf.nr_secs; i++) {
		const struct elf_section *sec = &k->elf.secs[i];

		if (elf_section_data(&k->elf, sec) &&
		    !strncmp(sec->name, prefix, sizeof(prefix) - 1))
			blob_forget(bytes, sec->off, sec->size);
	}
}

int kernel_read(struct kernel *k, struct blob *bytes, const struct complaint *c)
{
	int err = elf_image_init(&k->elf, bytes->data, bytes->len, c);

	if (err)
		return err;
	forget_debug_data(k, bytes);
	err = read_symbols(k, c);
	if (!err)
		err = read_rest(k, c);
	return err ? err : read_fentry(k, c);
}

/* Symbols must describe where they were found: tables may lie around that are no kernel's. */
static int read_booted_symbols(struct kernel *k, uint64_t hint, const struct complaint *c)
{
	struct symbols *s = &k->symbols;
	int err = kallsyms_read(&k->elf, s);

	if (!err)
		err = symbols_index(s);
	if (!err) {
		symbols_limit(s, &k->elf);
		if (hint < s->start || hint >= s->end)
			err = -ENOENT;
	}
	if (err == -ENOENT || err == -EILSEQ || err == -E2BIG)
		return complain(c, err,
				"no symbols (kallsyms) of the kernel around %#" PRIx64
				"; give its image",
				hint);
	return err ? complain(c, err, "no memory for its symbols") : 0;
}

int kernel_read_booted(struct kernel *k, const struct elf_image *elf, uint64_t hint,
		       const struct complaint *c)
{
	struct guestsym_range init;
	int err;

	k->booted = true;
	k->elf = *elf;
	/* One more: memory_image_forget() may leave two pieces of one. */
	k->elf.segs = calloc(elf->nr_segs + 1, sizeof(*elf->segs));
	if (!k->elf.segs)
		return complain(c, -ENOMEM, "no memory");
	memcpy(k->elf.segs, elf->segs, elf->nr_segs * sizeof(*elf->segs));
	err = read_booted_symbols(k, hint, c);
	if (err)
		return err;
	init = symbols_init(&k->symbols);
	memory_image_forget(&k->elf, init.start, init.end);
	return read_rest(k, c);
}

void kernel_exit(struct kernel *k)
{
	types_free(k->types);
	blob_free(&k->flat_types);
	tables_exit(&k->tables);
	fentry_exit(&k->fentry);
	symbols_exit(&k->symbols);
	elf_image_exit(&k->elf);
	*k = (struct kernel){0};
}

static int make_digest(const struct kernel *k, struct blob *digest, const struct complaint *c)
{
	int err = digest_make(digest, k);

	return err ? complain(c, err, "no memory for what was found in it") : 0;
}

int kernel_digest(struct blob *file, struct blob *bytes, struct blob *digest,
		  const struct complaint *c)
{
	struct kernel k = {0};
	int err = image_unpack(file, bytes, &k.unpacked, c);

	*digest = (struct blob){0};
	blob_free(file);
	if (!err)
		err = kernel_read(&k, bytes, c);
	if (!err)
		err = make_digest(&k, digest, c);
	kernel_exit(&k);
	if (err)
		blob_free(bytes);
	return err;
}

int kernel_digest_booted(const struct elf_image *elf, uint64_t hint, struct blob *digest,
			 const struct complaint *c)
{
	struct kernel k = {0};
	int err = kernel_read_booted(&k, elf, hint, c);

	*digest = (struct blob){0};
	if (!err)
		err = make_digest(&k, digest, c);
	kernel_exit(&k);
	return err;
}
