// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parsers.c - has hostile bytes read by the process that guestsym_parsers_start() makes, or here.
 * What comes back is looked at by whoever takes it: digest-load.c, sites.c, modules.c.
 */
#include "guestsym/internal.h"
#include "guestsym/jobs.h"
#include "guestsym/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest dictionary that xz may ask for is within this; see unpack.c. */
#define PARSERS_MEMORY (UINT64_C(2) << 30)
/* On a host whose own processors are emulated an image takes half a minute. */
#define PARSERS_CPU_S  120
#define PARSERS_WALL_S 300

static const struct apart_limits limits = {
	.memory = PARSERS_MEMORY,
	.file = IMAGE_MAX_FILE,
	.cpu_s = PARSERS_CPU_S,
	.wall_s = PARSERS_WALL_S,
};

struct guestsym_parsers {
	struct apart *apart;
};

int guestsym_parsers_start(struct guestsym_parsers **p, int cancel, char *err, size_t errlen)
{
	struct guestsym_parsers *new = calloc(1, sizeof(*new));
	int ret = new ? apart_start(&new->apart, guestsym_jobs, NR_JOBS, &limits, cancel) : -ENOMEM;

	*p = ret ? NULL : new;
	if (!ret)
		return 0;
	snprintf(err, errlen, "cannot start a process that reads kernels: %s", strerror(-ret));
	free(new);
	return ret;
}

void guestsym_parsers_stop(struct guestsym_parsers *p)
{
	if (!p)
		return;
	apart_stop(p->apart);
	free(p);
}

/* --- files -------------------------------------------------------------------------------- */

/* What one job gets and leaves behind: descriptors that are ours, -1: none. */
struct errand {
	int fds[APART_FDS];
	int err;
	char why[APART_TEXT];
};

static struct errand errand_new(void)
{
	return (struct errand){.fds = {-1, -1, -1}};
}

static void errand_put(struct errand *e, int i, const char *name, const void *data, size_t len)
{
	if (e->err)
		return;
	e->fds[i] = apart_file(name, data, len);
	if (e->fds[i] < 0)
		e->err = e->fds[i];
}

/* Nothing comes back in that one. */
static void errand_give(struct errand *e, int i, const char *name, const void *data, size_t len)
{
	if (e->err)
		return;
	e->fds[i] = apart_file_given(name, data, len);
	if (e->fds[i] < 0)
		e->err = e->fds[i];
}

static void errand_run(struct errand *e, struct guestsym_parsers *p, int job)
{
	if (!e->err)
		e->err = apart_run(p->apart, (size_t)job, e->fds, e->why);
}

static void errand_take(struct errand *e, int i, size_t max, struct blob *b)
{
	void *data;
	size_t len;

	*b = (struct blob){0};
	if (e->err)
		return;
	e->err = apart_file_take(e->fds[i], max, &data, &len);
	if (!e->err)
		*b = (struct blob){.data = data, .len = len, .map = data, .map_len = len};
}

static int errand_end(struct errand *e)
{
	for (int i = 0; i < APART_FDS; i++)
		if (e->fds[i] >= 0)
			close(e->fds[i]);
	return e->err;
}

static int complain_of_errand(const struct errand *e, const struct complaint *c)
{
	if (!e->err)
		return 0;
	return complain(c, e->err, "%s", e->why[0] ? e->why : strerror(-e->err));
}

/* --- images ------------------------------------------------------------------------------- */

static int image_here(int fd, const struct stat *st, struct blob *bytes, struct blob *digest,
		      const struct complaint *c)
{
	struct blob file;
	int err = image_read(&file, fd, st, c);

	return err ? err : kernel_digest(&file, bytes, digest, c);
}

int parsers_image(struct guestsym_parsers *p, int fd, const struct stat *st, struct blob *bytes,
		  struct blob *digest, const struct complaint *c)
{
	struct errand e = errand_new();

	if (!p)
		return image_here(fd, st, bytes, digest, c);
	/* Which file it is was known before: it is to be what st says still. */
	e.fds[0] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (e.fds[0] < 0)
		e.err = -errno;
	errand_put(&e, 1, "hvtrace-image", NULL, 0);
	errand_put(&e, 2, "hvtrace-digest", st, sizeof(*st));
	errand_run(&e, p, JOB_IMAGE);
	errand_take(&e, 1, IMAGE_MAX_FILE, bytes);
	errand_take(&e, 2, IMAGE_MAX_UNPACKED, digest);
	errand_end(&e);
	return complain_of_errand(&e, c);
}

/* Pieces, and where they are. */
static int pack_booted(const struct elf_image *elf, uint64_t hint, struct blob *packed)
{
	const struct booted_head head = {hint, elf->nr_segs};
	int err = blob_alloc(packed, sizeof(head) + elf->nr_segs * sizeof(*elf->segs));

	if (err)
		return err;
	memcpy(packed->map, &head, sizeof(head));
	memcpy((uint8_t *)packed->map + sizeof(head), elf->segs, elf->nr_segs * sizeof(*elf->segs));
	return 0;
}

int parsers_booted(struct guestsym_parsers *p, const struct elf_image *elf, uint64_t hint,
		   struct blob *digest, const struct complaint *c)
{
	struct errand e = errand_new();
	struct blob packed;

	if (!p)
		return kernel_digest_booted(elf, hint, digest, c);
	e.err = pack_booted(elf, hint, &packed);
	errand_give(&e, 0, "hvtrace-kernel", elf->data, elf->len);
	errand_give(&e, 1, "hvtrace-pieces", packed.data, packed.len);
	errand_put(&e, 2, "hvtrace-digest", NULL, 0);
	errand_run(&e, p, JOB_BOOTED);
	errand_take(&e, 2, IMAGE_MAX_UNPACKED, digest);
	errand_end(&e);
	blob_free(&packed);
	return complain_of_errand(&e, c);
}

/* --- sites -------------------------------------------------------------------------------- */

/* More than any kernel has, and its text has room for. */
#define SITES_BYTES_MAX (UINT64_C(64) << 20)

int parsers_sites(const struct guestsym *gs, enum sites_kind kind, struct found_sites *found,
		  const struct complaint *c)
{
	struct errand e = errand_new();
	struct blob v;

	if (!guestsym_has_image(gs))
		return complain(c, -EIO, "the kernel's image is damaged in the cache");
	if (!gs->parsers) {
		e.err = sites_find(&gs->kernel, kind, found);
		return complain_of_errand(&e, c);
	}
	errand_give(&e, 0, "hvtrace-image", gs->bytes.data, gs->bytes.len);
	errand_give(&e, 1, "hvtrace-digest", gs->digest.data, gs->digest.len);
	errand_put(&e, 2, "hvtrace-sites", NULL, 0);
	errand_run(&e, gs->parsers, kind == SITES_IRQ ? JOB_IRQ : JOB_PREEMPT);
	errand_take(&e, 2, SITES_BYTES_MAX, &v);
	if (!e.err)
		e.err = sites_take(&gs->kernel, kind, v.data, v.len, found);
	blob_free(&v);
	errand_end(&e);
	return complain_of_errand(&e, c);
}

/* --- modules ------------------------------------------------------------------------------ */

int parsers_modules(struct guestsym_parsers *p, const struct guestsym_module_copies *copies,
		    struct blob *digests)
{
	struct errand e = errand_new();
	struct blob packed;

	if (!p || !modules_to_read(copies))
		return modules_digest(copies, digests);
	e.err = modules_pack(copies, &packed);
	errand_give(&e, 0, "hvtrace-modules", packed.data, packed.len);
	errand_put(&e, 2, "hvtrace-digests", NULL, 0);
	errand_run(&e, p, JOB_MODULES);
	errand_take(&e, 2, MODULES_DIGESTS, digests);
	blob_free(&packed);
	return errand_end(&e);
}
