// SPDX-License-Identifier: GPL-2.0-or-later
/* open.c - opens a kernel, from its image or from a guest's memory, and puts its parts together. */
#include "guestsym/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- building ---------------------------------------------------------------------------- */

static int read_symbols(struct guestsym *gs, const struct complaint *c)
{
	int err = symtab_read(&gs->elf, &gs->symbols);

	if (err == -ENOENT)
		err = kallsyms_read(&gs->elf, &gs->symbols);
	if (!err)
		err = symbols_index(&gs->symbols);
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
	symbols_limit(&gs->symbols, &gs->elf);
	return 0;
}

static int read_fentry(struct guestsym *gs, const struct complaint *c)
{
	int err = fentry_read(&gs->fentry, &gs->elf, &gs->symbols);

	if (err == -ENOENT && !gs->identity.banner[0])
		return complain(c, err,
				"is an ELF file, but no Linux kernel; "
				"give a /boot/vmlinuz-* or a vmlinux");
	if (err == -ENOENT)
		return complain(c, err,
				"Linux %s has no fentry sites, so its functions cannot be traced; "
				"use a kernel built with CONFIG_DYNAMIC_FTRACE=y and "
				"CONFIG_KALLSYMS_ALL=y",
				gs->identity.release);
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

/* What is the same for symbols from the image and from a digest. */
static int build_rest(struct guestsym *gs, const struct complaint *c)
{
	int err = tables_read(&gs->tables, &gs->elf, &gs->symbols);

	if (err)
		return complain(c, err, "no memory for its tables");
	gs->irq = irq_sites_new(&gs->elf, &gs->symbols, gs->live);
	gs->types = types_new(&gs->elf, &gs->symbols);
	gs->preempt = preempt_sites_new(&gs->elf, &gs->symbols, gs->types);
	return gs->irq && gs->types && gs->preempt ? 0 : complain(c, -ENOMEM, "no memory");
}

/* Most of a vmlinux that has it, and nobody looks at it. */
static void forget_debug_data(struct guestsym *gs)
{
	static const char prefix[] = ".debug_";

	for (size_t i = 0; i < gs->elf.nr_secs; i++) {
		const struct elf_section *sec = &gs->elf.secs[i];

		if (elf_section_data(&gs->elf, sec) &&
		    !strncmp(sec->name, prefix, sizeof(prefix) - 1))
			blob_forget(&gs->bytes, sec->off, sec->size);
	}
}

static int build(struct guestsym *gs, const struct complaint *c)
{
	int err = elf_image_init(&gs->elf, gs->bytes.data, gs->bytes.len, c);

	if (err)
		return err;
	forget_debug_data(gs);
	err = read_symbols(gs, c);
	if (err)
		return err;
	identity_read(&gs->identity, &gs->elf, &gs->symbols);
	err = read_fentry(gs, c);
	if (err)
		return err;
	gs->counts.event_probes = count_event_probes(&gs->symbols);
	return build_rest(gs, c);
}

static int build_from_digest(struct guestsym *gs)
{
	const struct complaint nobody = {0};
	int err = elf_image_init(&gs->elf, gs->bytes.data, gs->bytes.len, &nobody);

	if (!err)
		err = digest_read(&gs->digest, &gs->symbols, &gs->fentry, &gs->counts);
	if (err)
		return err;
	symbols_limit(&gs->symbols, &gs->elf);
	identity_read(&gs->identity, &gs->elf, &gs->symbols);
	return build_rest(gs, &nobody);
}

static void dismantle(struct guestsym *gs)
{
	preempt_sites_free(gs->preempt);
	types_free(gs->types);
	irq_sites_free(gs->irq);
	tables_exit(&gs->tables);
	fentry_exit(&gs->fentry);
	symbols_exit(&gs->symbols);
	elf_image_exit(&gs->elf);
	blob_free(&gs->digest);
	blob_free(&gs->bytes);
	*gs = (struct guestsym){0};
}

static int open_cached(struct guestsym *gs, const struct stat *st)
{
	struct cached cached;
	int err = cached_open(&cached, st);

	if (err)
		return err;
	gs->bytes = cached.elf;
	gs->digest = cached.digest;
	err = build_from_digest(gs);
	if (!cached_check(&cached))
		err = -EINVAL;
	if (err)
		dismantle(gs);
	gs->cached = !err;
	return err;
}

static void store(struct guestsym *gs, const struct stat *st)
{
	const struct digest_counts counts = {
		.event_probes = gs->counts.event_probes,
		.btf_types = types_count(gs->types),
	};
	struct blob digest;

	if (digest_make(&digest, &gs->symbols, &gs->fentry, &counts))
		return;
	cached_store(st, gs->identity.build_id, &gs->bytes, &digest);
	blob_free(&digest);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int cannot_read(const struct complaint *c, int err)
{
	if (err == -ESTALE)
		return complain(
			c, err,
			"changes while it is read; try again once it is written completely");
	if (err == -EFBIG)
		return complain(c, err,
				"has more than the %" PRIu64 " MB that are read of a kernel; "
				"give a /boot/vmlinuz-* or a vmlinux without debug data (strip -g)",
				IMAGE_MAX_FILE >> 20);
	return complain(c, err, "%s; give a readable /boot/vmlinuz-* or vmlinux",
			err == -EINVAL ? "is no regular file" : strerror(-err));
}

static int parse_file(struct guestsym *gs, int fd, const struct stat *st, bool *unpacked,
		      const struct complaint *c)
{
	struct blob file;
	int err = blob_read(&file, fd, st);

	if (err)
		return cannot_read(c, err);
	err = image_unpack(&file, &gs->bytes, unpacked, c);
	blob_free(&file);
	return err ? err : build(gs, c);
}

/* Only unpacking takes time that is worth a place in the cache. */
static int open_file(struct guestsym *gs, int fd, const struct stat *st, bool cache,
		     const struct complaint *c)
{
	double start = now_ms();
	bool unpacked = false;
	int err;

	err = cache ? open_cached(gs, st) : -ENOENT;
	if (err)
		err = parse_file(gs, fd, st, &unpacked, c);
	gs->parse_ms = now_ms() - start;
	if (!err && unpacked && cache)
		store(gs, st);
	return err;
}

/* With nothing to complain of yet. */
static struct guestsym *begin(const struct complaint *c)
{
	struct guestsym *gs = calloc(1, sizeof(*gs));

	if (c->len)
		c->buf[0] = '\0';
	if (!gs)
		complain(c, -ENOMEM, "no memory");
	return gs;
}

struct guestsym *guestsym_open(const char *path, unsigned int flags, char *err, size_t errlen)
{
	const struct complaint c = {path, err, errlen};
	struct guestsym *gs = begin(&c);
	struct stat st;
	int fd, ret;

	if (!gs)
		return NULL;
	fd = blob_open(path, &st);
	if (fd < 0) {
		ret = cannot_read(&c, fd);
	} else {
		ret = open_file(gs, fd, &st, !(flags & GUESTSYM_FL_NOCACHE), &c);
		close(fd);
	}
	if (!ret)
		return gs;
	guestsym_close(gs);
	return NULL;
}

struct guestsym *guestsym_parse(const void *buf, size_t len, char *err, size_t errlen)
{
	const struct complaint c = {"kernel image", err, errlen};
	struct guestsym *gs = begin(&c);
	struct blob file = {.data = buf, .len = len};
	struct blob copy;
	double start = now_ms();
	bool unpacked;
	int ret;

	if (!gs)
		return NULL;
	ret = image_unpack(&file, &gs->bytes, &unpacked, &c);
	if (!ret && !unpacked) {
		ret = blob_alloc(&copy, len);
		if (ret)
			complain(&c, ret, "no memory");
		else
			memcpy(copy.map, buf, len);
		gs->bytes = copy;
	}
	if (!ret)
		ret = build(gs, &c);
	gs->parse_ms = now_ms() - start;
	if (!ret)
		return gs;
	guestsym_close(gs);
	return NULL;
}

/* --- from memory ------------------------------------------------------------------------- */

/* Symbols must describe where they were found: tables may lie around that are no kernel's. */
static int read_live_symbols(struct guestsym *gs, uint64_t hint, const struct complaint *c)
{
	struct symbols *s = &gs->symbols;
	int err = kallsyms_read(&gs->elf, s);

	if (!err)
		err = symbols_index(s);
	if (!err) {
		symbols_limit(s, &gs->elf);
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

static int read_live_sites(struct guestsym *gs, const struct guestsym_memory *mem,
			   const struct complaint *c)
{
	const char *release = gs->identity.release;
	int err = live_sites_read(&gs->fentry, mem, &gs->elf, &gs->symbols, gs->types);

	switch (err) {
	case 0:
		return 0;
	case -ENOMEM:
		return complain(c, err, "no memory for its fentry sites");
	case -ENODATA:
		return complain(c, err, "Linux %s has no types (BTF); give its image", release);
	case -ENOENT:
		return complain(c, err,
				"Linux %s has no fentry sites, or has not found them yet; "
				"wait until it has booted, or give its image",
				release);
	default:
		return complain(c, err, "the list of fentry sites of Linux %s is damaged (%s)",
				release, strerror(-err));
	}
}

static int build_live(struct guestsym *gs, const struct guestsym_memory *mem,
		      const struct complaint *c)
{
	int err = memory_image_read(&gs->elf, &gs->bytes, mem, c);

	if (!err)
		err = read_live_symbols(gs, mem->hint, c);
	if (err)
		return err;
	memory_image_forget(&gs->elf, symbols_addr(&gs->symbols, "__init_begin"),
			    symbols_addr(&gs->symbols, "__init_end"));
	identity_read(&gs->identity, &gs->elf, &gs->symbols);
	gs->counts.event_probes = count_event_probes(&gs->symbols);
	err = build_rest(gs, c);
	return err ? err : read_live_sites(gs, mem, c);
}

struct guestsym *guestsym_open_memory(const struct guestsym_memory *mem, char *err, size_t errlen)
{
	const struct complaint c = {"guest memory", err, errlen};
	struct guestsym *gs = begin(&c);
	double start = now_ms();
	int ret;

	if (!gs)
		return NULL;
	gs->live = true;
	ret = build_live(gs, mem, &c);
	gs->parse_ms = now_ms() - start;
	if (!ret)
		return gs;
	guestsym_close(gs);
	return NULL;
}

void guestsym_close(struct guestsym *gs)
{
	if (!gs)
		return;
	dismantle(gs);
	free(gs);
}
