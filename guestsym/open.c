// SPDX-License-Identifier: GPL-2.0-or-later
/* open.c - opens a kernel, from its image, from the cache or from a guest's memory. */
#include "guestsym/apart/apart.h"
#include "guestsym/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The sites of one that runs are in its memory. */
static bool is_kernel(const struct kernel *k)
{
	return k->symbols.n && (k->booted || k->fentry.n);
}

/* What the parsers leave behind is looked at once more, wherever they ran. */
static int load(struct guestsym *gs, const struct complaint *c)
{
	int err = digest_load(&gs->kernel, &gs->digest, &gs->bytes);

	if (!err && !is_kernel(&gs->kernel))
		err = -EINVAL;
	if (err == -ENOMEM)
		return complain(c, err, "no memory");
	return err ? complain(c, err,
			      "what was found in it makes no sense; give an undamaged "
			      "/boot/vmlinuz-* or vmlinux")
		   : 0;
}

static void dismantle(struct guestsym *gs)
{
	kernel_exit(&gs->kernel);
	blob_free(&gs->digest);
	blob_free(&gs->bytes);
}

/* Of a kernel that is still to boot; its sites are in its image. */
static int load_cached(struct guestsym *gs, const struct stat *st, bool later)
{
	const struct complaint nobody = {0};
	int err = cached_open(gs->image, st, later);

	if (err)
		return err;
	gs->bytes = gs->image->elf;
	gs->digest = gs->image->digest;
	err = load(gs, &nobody);
	if ((!later && !cached_check(gs->image)) || gs->kernel.booted)
		err = -EINVAL;
	if (!err && later)
		return 0;
	cached_close(gs->image);
	if (err)
		dismantle(gs);
	return err;
}

static void forget_cached(struct guestsym *gs)
{
	free(gs->image);
	gs->image = NULL;
}

static int open_cached(struct guestsym *gs, const struct stat *st, bool later)
{
	int err;

	gs->image = malloc(sizeof(*gs->image));
	if (!gs->image)
		return -ENOMEM;
	err = load_cached(gs, st, later);
	gs->cached = !err;
	if (err || !later)
		forget_cached(gs);
	return err;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int parse_file(struct guestsym *gs, int fd, const struct stat *st, const struct complaint *c)
{
	int err = parsers_image(gs->parsers, fd, st, &gs->bytes, &gs->digest, c);

	if (!err)
		err = load(gs, c);
	if (!err && gs->kernel.booted)
		err = complain(c, -EINVAL, "is no image");
	return err;
}

/* Only unpacking takes time that is worth a place in the cache. */
static int open_file(struct guestsym *gs, int fd, const struct stat *st, unsigned int flags,
		     const struct complaint *c)
{
	bool cache = !(flags & GUESTSYM_FL_NOCACHE);
	double start = now_ms();
	int err = cache ? open_cached(gs, st, flags & GUESTSYM_FL_LATER) : -ENOENT;

	if (err)
		err = parse_file(gs, fd, st, c);
	gs->parse_ms = now_ms() - start;
	if (!err && !gs->cached && gs->kernel.unpacked && cache)
		cached_store(st, &gs->bytes, &gs->digest);
	return err;
}

/* With nothing to complain of yet. */
static struct guestsym *begin(struct guestsym_parsers *p, const struct complaint *c)
{
	struct guestsym *gs = calloc(1, sizeof(*gs));

	if (c->len)
		c->buf[0] = '\0';
	if (gs) {
		gs->parsers = p;
		gs->sites = sites_new();
	}
	if (gs && gs->sites)
		return gs;
	free(gs);
	complain(c, -ENOMEM, "no memory");
	return NULL;
}

static struct guestsym *finish(struct guestsym *gs, int err)
{
	if (!err)
		return gs;
	guestsym_close(gs);
	return NULL;
}

struct guestsym *guestsym_open(struct guestsym_parsers *p, const char *path, unsigned int flags,
			       char *err, size_t errlen)
{
	const struct complaint c = {path, err, errlen};
	struct guestsym *gs = begin(p, &c);
	struct stat st;
	int fd, ret;

	if (!gs)
		return NULL;
	fd = guestsym_open_regular(path, &st);
	if (fd < 0)
		return finish(gs, image_cannot_be_read(&c, fd));
	ret = open_file(gs, fd, &st, flags, &c);
	close(fd);
	return finish(gs, ret);
}

/* Whoever parses it is given files. */
struct guestsym *guestsym_open_bytes(struct guestsym_parsers *p, const char *name, const void *buf,
				     size_t len, char *err, size_t errlen)
{
	const struct complaint c = {name, err, errlen};
	struct guestsym *gs = begin(p, &c);
	struct stat st;
	int fd, ret;

	if (!gs)
		return NULL;
	fd = apart_file_given("hvtrace-image", buf, len);
	if (fd < 0)
		return finish(gs, complain(&c, fd, "no memory"));
	ret = fstat(fd, &st) ? complain(&c, -errno, "%s", strerror(errno))
			     : open_file(gs, fd, &st, GUESTSYM_FL_NOCACHE, &c);
	close(fd);
	return finish(gs, ret);
}

struct guestsym *guestsym_parse(const void *buf, size_t len, char *err, size_t errlen)
{
	const struct complaint c = {"kernel image", err, errlen};
	struct guestsym *gs = begin(NULL, &c);
	double start = now_ms();
	struct blob file;
	int ret;

	if (!gs)
		return NULL;
	ret = blob_alloc(&file, len);
	if (ret) {
		complain(&c, ret, "no memory");
	} else {
		memcpy(file.map, buf, len);
		ret = kernel_digest(&file, &gs->bytes, &gs->digest, &c);
	}
	if (!ret)
		ret = load(gs, &c);
	gs->parse_ms = now_ms() - start;
	return finish(gs, ret);
}

/* --- from memory ------------------------------------------------------------------------- */

static int read_live_sites(struct guestsym *gs, const struct guestsym_memory *mem,
			   const struct complaint *c)
{
	const char *id = gs->kernel.identity.release, *release = *id ? id : "of unknown release";
	int err = live_sites_read(&gs->kernel, mem);

	switch (err) {
	case 0:
		return 0;
	case -ENOMEM:
		return complain(c, err, "no memory for its fentry sites");
	case -ENODATA:
		return complain(c, err,
				"Linux %s has no types (BTF), so tasks and times would be wrong; "
				"use a kernel built with CONFIG_DEBUG_INFO_BTF=y",
				release);
	case -ENOTSUP:
		return complain(c, err,
				"Linux %s names its functions only, so what it knows of itself is "
				"not found; give its vmlinux, or use a kernel built with "
				"CONFIG_KALLSYMS_ALL=y and CONFIG_DEBUG_INFO_BTF=y",
				release);
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

static int read_memory(struct guestsym *gs, const struct guestsym_memory *mem,
		       const struct complaint *c)
{
	struct elf_image elf;
	int err = memory_image_read(&elf, &gs->bytes, mem, c);

	if (!err)
		err = parsers_booted(gs->parsers, &elf, mem->hint, &gs->digest, c);
	elf_image_exit(&elf);
	if (!err)
		err = load(gs, c);
	if (!err && !gs->kernel.booted)
		err = complain(c, -EINVAL, "is no kernel that runs");
	return err ? err : read_live_sites(gs, mem, c);
}

struct guestsym *guestsym_open_memory(struct guestsym_parsers *p, const struct guestsym_memory *mem,
				      char *err, size_t errlen)
{
	const struct complaint c = {"guest memory", err, errlen};
	struct guestsym *gs = begin(p, &c);
	double start = now_ms();
	int ret;

	if (!gs)
		return NULL;
	ret = read_memory(gs, mem, &c);
	gs->parse_ms = now_ms() - start;
	return finish(gs, ret);
}

struct guestsym_parsers *guestsym_parsers(const struct guestsym *gs)
{
	return gs->parsers;
}

void guestsym_close(struct guestsym *gs)
{
	if (!gs)
		return;
	if (gs->image)
		cached_close(gs->image);
	free(gs->image);
	dismantle(gs);
	sites_free(gs->sites);
	free(gs);
}
