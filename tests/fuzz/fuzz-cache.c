// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-cache.c - a cache of unpacked images that somebody has tampered with, as an input says:
 * names, links, sizes, owners, what is in images and digests, their checksums made right again, and
 * many entries that look like the cache's own. The image itself is sound, so it is opened all the
 * same: with what it says, unless a digest lies whose checksum is right. Nothing goes away, and
 * nothing changes, that is not the cache's.
 */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guestsym/digest.h"
#include "tests/fuzz/cache-dir.h"
#include "tests/fuzz/cache-tamper.h"
#include "tests/fuzz/held.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum {
	ENTRIES_MAX = 4096,
	IMAGES_MAX = 8, /* cache-prune.c */
};

static struct cost input_ms = {"milliseconds of an input", 2000, 0};
static struct cost kept = {"bytes that are held for ever", UINT64_MAX, 0};
static struct cost images = {"images that are kept", IMAGES_MAX, 0};

/* Of entries that are to be as they were. */
struct foreign {
	char name[NAME_ROOM];
	struct stat st;
};

static struct foreign before[ENTRIES_MAX];
static size_t nr_before;

/* --- what has become of it ------------------------------------------------------------------- */

/* Of these forms: of an image and its digest, of what is being written, of a link to an image. */
static bool is_own_name(const char *name)
{
	char hash[20] = "";
	int n = 0;

	sscanf(name, "%*[0-9a-f]-%19[0-9a-f]%n", hash, &n);
	if (n && strlen(hash) == 16 && (!strcmp(name + n, ".elf") || !strcmp(name + n, ".digest")))
		return true;
	n = 0;
	sscanf(name, "tmp-%*[0-9]-%*[0-9a-f].%*[0-9]%n", &n);
	if (n && !name[n])
		return true;
	n = 0;
	sscanf(name, "%*[0-9a-f]-%*[0-9a-f]-%*[0-9a-f]-%*[0-9a-f].%*[0-9]-%*[0-9a-f].%*[0-9]%n",
	       &n);
	return n && !name[n];
}

/* Entries in a directory of which nothing may change. */
static void remember(const char *dir, bool all)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && (e = readdir(d)) && nr_before < ENTRIES_MAX) {
		struct foreign *f = &before[nr_before];

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(f->name, sizeof(f->name), "%s/%s", dir, e->d_name);
		if (lstat(f->name, &f->st))
			abort();
		if (all || !is_own_name(e->d_name) || S_ISDIR(f->st.st_mode))
			nr_before++;
	}
	if (d)
		closedir(d);
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static void check_foreign(void)
{
	for (size_t i = 0; i < nr_before; i++) {
		const struct foreign *f = &before[i];
		struct stat st;

		if (lstat(f->name, &st) || st.st_ino != f->st.st_ino || st.st_uid != f->st.st_uid ||
		    st.st_mode != f->st.st_mode ||
		    (!S_ISDIR(st.st_mode) &&
		     (st.st_size != f->st.st_size || !same_time(&st.st_mtim, &f->st.st_mtim)))) {
			fprintf(stderr, "%s is gone, or not as it was\n", f->name);
			abort();
		}
	}
}

static void count_images(void)
{
	DIR *d = opendir(sound.dir);
	const struct dirent *e;
	unsigned int n = 0;

	while (d && (e = readdir(d))) {
		char path[PATH_MAX];
		struct stat st;

		at(path, sound.dir, e->d_name, "");
		n += is_own_name(e->d_name) && strstr(e->d_name, ".elf") && !lstat(path, &st) &&
		     S_ISREG(st.st_mode) && st.st_uid == geteuid();
	}
	if (d)
		closedir(d);
	cost_is(&images, n);
}

static void same_as_image(const struct guestsym *gs)
{
	const struct guestsym_symbol *a, *b;
	const struct guestsym_site *s, *t;
	size_t n = guestsym_symbols(gs, &a), m = guestsym_fentry_sites(gs, &s);

	if (n != guestsym_symbols(sound.gs, &b) || m != guestsym_fentry_sites(sound.gs, &t))
		abort();
	for (size_t i = 0; i < n; i++)
		if (a[i].addr != b[i].addr || strcmp(a[i].name, b[i].name) != 0)
			abort();
	for (size_t i = 0; i < m; i++)
		if (s[i].addr != t[i].addr || s[i].func != t[i].func || s[i].flags != t[i].flags ||
		    strcmp(s[i].name, t[i].name) != 0)
			abort();
}

/* Whatever it says, it can be asked. */
static void use(const struct guestsym *gs)
{
	const struct guestsym_symbol *syms;
	const struct guestsym_irq_site *irqs;
	const struct guestsym_preempt_site *preempts;
	const struct guestsym_site *sites;
	struct guestsym_field field;
	size_t n = guestsym_symbols(gs, &syms);

	for (size_t i = 0; i < n; i++) {
		guestsym_lookup(gs, syms[i].name);
		guestsym_find(gs, syms[i].addr + 1, &(uint64_t){0}, &(uint64_t){0});
	}
	n = guestsym_fentry_sites(gs, &sites);
	for (size_t i = 0; i < n; i++)
		if (strlen(sites[i].name) > SYMBOL_NAME_MAX)
			abort();
	guestsym_irq_sites(gs, &irqs);
	guestsym_preempt_sites(gs, &preempts);
	guestsym_field(gs, "module.list", &field);
}

/* --- inputs ---------------------------------------------------------------------------------- */

static void open_it(void)
{
	char err[256] = "";
	struct guestsym *gs = guestsym_open(NULL, sound.image, 0, err, sizeof(err));

	if (!gs) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
	if (!now.lies)
		same_as_image(gs);
	else
		use(gs);
	if (!guestsym_cached(gs) && !now.moved)
		count_images();
	guestsym_close(gs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t held = held_bytes();
	int64_t ms = held_cpu_ms();
	bool right;

	if (!len)
		return 0;
	memset(&now, 0, sizeof(now));
	now.in = (struct input){data + 1, len - 1};
	right = data[0] & 1;
	now.lies = right;
	now.elf = copy_of(&sound.elf);
	now.digest = copy_of(&sound.digest);
	make_tree();
	while (now.in.size)
		act();
	put_image(right);
	nr_before = 0;
	remember(sound.outside, true);
	remember(sound.dir, false);
	open_it();
	check_foreign();
	free(now.elf.v);
	free(now.digest.v);
	if (held_bytes() > held)
		cost_is(&kept, held_bytes() - held);
	cost_is(&input_ms, (uint64_t)(held_cpu_ms() - ms));
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const uint8_t one[] = {0, 4};

	(void)argc;
	(void)argv;
	cache_dir_make();
	held_have_had_threads();
	LLVMFuzzerTestOneInput(one, sizeof(one));
	kept.limit = 0;
	return 0;
}
