// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-cache.c - a cache of unpacked images that somebody has tampered with, as an input says:
 * names, links, sizes, owners, what is in images and digests, their checksums made right again, and
 * many entries that look like the cache's own. The image itself is sound, so it is opened all the
 * same: with what it says, unless a digest lies whose checksum is right. Nothing goes away, and
 * nothing changes, that is not the cache's.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "guestsym/digest.h"
#include "tests/fuzz/held.h"
#include "tests/fuzz/input.h"
#include "tests/unit/made-image.h"
#include "tests/unit/remove-tree.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum {
	NAME_ROOM = 300,
	ENTRIES_MAX = 4096,
	IMAGES_MAX = 8, /* cache-prune.c */
	MANY = 256,	/* entries that one byte of an input makes */
	MANY_MAX = 3,
};

static struct cost input_ms = {"milliseconds of an input", 2000, 0};
static struct cost kept = {"bytes that are held for ever", UINT64_MAX, 0};
static struct cost images = {"images that are kept", IMAGES_MAX, 0};

#define SHM  "/dev/shm"
#define NAME "fuzz-cache-"

struct bytes {
	uint8_t *v;
	size_t len;
};

/* The directory, and all that is sound. */
static struct {
	char root[40], image[64], dir[64], outside[64];
	char name[CACHE_NAME_LEN], source[CACHE_NAME_LEN]; /* of the image in the cache; the link */
	struct bytes elf, digest;
	struct guestsym *gs; /* of the image alone */
} sound;

/* What an input has made of it. */
static struct {
	struct input in;
	struct bytes elf, digest;
	bool lies;  /* a checksum may be right although what it is of is not */
	bool moved; /* it may be another directory, or one that is not used */
	unsigned int many;
} now;

/* Of entries that are to be as they were. */
struct foreign {
	char name[NAME_ROOM];
	struct stat st;
};

static char base[PATH_MAX]; /* in the environment */
static struct foreign before[ENTRIES_MAX];
static size_t nr_before;

/* --- files ----------------------------------------------------------------------------------- */

static void at(char path[PATH_MAX], const char *dir, const char *name, const char *suffix)
{
	snprintf(path, PATH_MAX, "%s/%s%s", dir, name, suffix);
}

static struct bytes take(const char *path)
{
	FILE *f = fopen(path, "re");
	struct bytes b = {malloc(1 << 20), 0};

	if (!f || !b.v)
		abort();
	b.len = fread(b.v, 1, 1 << 20, f);
	fclose(f);
	return b;
}

static void put_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		      0600);

	if (fd < 0)
		return;
	if (write(fd, bytes, len) < 0 && len)
		abort();
	close(fd);
}

static struct bytes copy_of(const struct bytes *b)
{
	struct bytes copy = {malloc(b->len + 1), b->len};

	if (!copy.v)
		abort();
	memcpy(copy.v, b->v, b->len);
	return copy;
}

/* --- the digest ------------------------------------------------------------------------------ */

/* Its checksum is right, and so is its length. */
static void seal(struct bytes *digest)
{
	struct digest_header h;

	if (digest->len < sizeof(h))
		return;
	memcpy(&h, digest->v, sizeof(h));
	h.size = digest->len;
	memcpy(digest->v, &h, sizeof(h));
	h.hash = hash64(digest->v + DIGEST_HASHED_FROM, digest->len - DIGEST_HASHED_FROM);
	memcpy(digest->v, &h, sizeof(h));
}

/* --- what an input does to the cache --------------------------------------------------------- */

static void some_text(char *to, size_t room)
{
	size_t len = input_byte(&now.in) % 40, n = 0;

	while (n < len && n + 1 < room) {
		char c = (char)input_byte(&now.in);

		to[n++] = c && c != '/' ? c : '-';
	}
	to[n] = '\0';
}

/* One that the cache has, one like it, or any other. */
static void some_name(char name[NAME_ROOM])
{
	static const char *const suffixes[] = {".elf", ".digest", "", ".elf.", ".ELF", ".tmp"};
	uint8_t kind = input_byte(&now.in);
	unsigned int n = input_byte(&now.in);
	char text[48];

	some_text(text, sizeof(text));
	switch (kind % 6) {
	case 0:
		snprintf(name, NAME_ROOM, "%s%s", sound.name, suffixes[n % 6]);
		break;
	case 1:
		snprintf(name, NAME_ROOM, "%x%s-%016x%s", n, text, n * 77, suffixes[n % 6]);
		break;
	case 2:
		snprintf(name, NAME_ROOM, "tmp-%u-%x.%09u%s", n, n, n, text);
		break;
	case 3:
		snprintf(name, NAME_ROOM, "%x-%x-%x-%x.%09u-%x.%09u%s", n, n, n, n, n, n, n, text);
		break;
	case 4:
		snprintf(name, NAME_ROOM, "%s", sound.source);
		break;
	default:
		snprintf(name, NAME_ROOM, "x%s", text);
	}
}

static void age(const char *path)
{
	struct timespec times[2] = {{.tv_sec = input_u16(&now.in)}, {.tv_sec = 0}};

	times[1] = times[0];
	utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static void put_link(const char *path)
{
	char target[PATH_MAX], text[48];
	uint8_t kind = input_byte(&now.in);

	some_text(text, sizeof(text));
	if (kind % 4 == 0)
		snprintf(target, sizeof(target), "%s/file", sound.outside);
	else if (kind % 4 == 1)
		snprintf(target, sizeof(target), "../../../outside/%s", sound.name);
	else if (kind % 4 == 2)
		snprintf(target, sizeof(target), "%.60s-%016x", text, input_u16(&now.in));
	else
		snprintf(target, sizeof(target), "%s", text[0] ? text : path);
	if (symlink(target, path))
		return;
}

static void put_entry(const char *name)
{
	char path[PATH_MAX];

	at(path, sound.dir, name, "");
	if (input_byte(&now.in) & 1 && remove(path))
		return;
	switch (input_byte(&now.in) % 6) {
	case 0:
		mkdir(path, 0700);
		break;
	case 1:
		mkfifo(path, 0600);
		break;
	case 2:
	case 3:
		put_link(path);
		break;
	default:
		put_file(path, "text", input_byte(&now.in) % 5);
	}
	age(path);
	if (input_byte(&now.in) > 240 && lchown(path, 1, 1))
		return;
}

static void put_many(void)
{
	uint8_t kind = input_byte(&now.in);

	if (now.many++ == MANY_MAX)
		return;
	for (unsigned int i = 0; i < MANY; i++) {
		char name[NAME_ROOM], path[PATH_MAX];
		unsigned int n = now.many * MANY + i;

		snprintf(name, sizeof(name),
			 kind & 1   ? "%x-%016x.elf"
			 : kind & 2 ? "%x-%016x.digest"
			 : kind & 4 ? "tmp-%u-%x.1"
			 : kind & 8 ? "%x-%x-1-1.1-1.1"
				    : "%x-%x",
			 n, n);
		at(path, sound.dir, name, "");
		if (kind & 16 && !(kind & 7) && symlink(sound.name, path))
			return;
		put_file(path, "", 0);
	}
}

static void damage(struct bytes *b)
{
	size_t pos = input_u16(&now.in), n = input_byte(&now.in);

	if (n >= 240) {
		/* As long as memory for it. */
		b->len = pos % (b->len + 1);
		return;
	}
	for (n %= 8; n != SIZE_MAX && b->len; n--)
		b->v[pos++ % b->len] = input_byte(&now.in);
}

/* A number in the header or in one of the parts: as small or large as it gets, or nearly as it was.
 */
static void change_number(struct bytes *b)
{
	size_t pos = input_byte(&now.in) & 1 ? input_byte(&now.in) : input_u16(&now.in);
	uint8_t how = input_byte(&now.in), by = input_byte(&now.in);
	uint64_t v;

	pos = pos * 8 % (b->len + 1);
	if (b->len - pos < sizeof(v))
		return;
	memcpy(&v, b->v + pos, sizeof(v));
	switch (how % 6) {
	case 0:
		v = by;
		break;
	case 1:
		v += by;
		break;
	case 2:
		v -= by;
		break;
	case 3:
		v = ~(uint64_t)by;
		break;
	case 4:
		v ^= UINT64_C(1) << by % 64;
		break;
	default:
		v = v << 32 | v >> 32;
	}
	memcpy(b->v + pos, &v, sizeof(v));
}

/* In place: the C library keeps what is given to setenv(). */
static void set_base(const char *dir, const char *below)
{
	snprintf(base, sizeof(base), "XDG_CACHE_HOME=%s%s", dir, below);
}

static void move_cache(void)
{
	static const char *const bases[] = {"/cache",	 "/cache/../cache", "/link",
					    "/loop",	 "/outside",	    "/missing/cache",
					    "",		 "/cache/hvtrace",  "/link/../x",
					    "/cache//./"};
	uint8_t which = input_byte(&now.in);

	now.moved = true;
	if (which > 200)
		chmod(sound.dir, which & 1 ? 0755 : 0700);
	set_base(which < 250 ? sound.root : "", bases[which % 10]);
}

static void act(void)
{
	char name[NAME_ROOM];

	switch (input_byte(&now.in) % 8) {
	case 0:
		damage(&now.digest);
		break;
	case 1:
		change_number(&now.digest);
		break;
	case 2:
		damage(&now.elf);
		break;
	case 3:
		seal(&now.digest);
		now.lies = true;
		break;
	case 4:
	case 5:
		some_name(name);
		put_entry(name);
		break;
	case 6:
		put_many();
		break;
	default:
		move_cache();
	}
}

/* The image and its digest, under the name that its content has when that is to be right. */
static void put_image(bool right)
{
	char path[PATH_MAX], name[CACHE_NAME_LEN];

	snprintf(name, sizeof(name), "%s", sound.name);
	if (right)
		snprintf(name, sizeof(name), "ab-%016" PRIx64, hash64(now.elf.v, now.elf.len));
	at(path, sound.dir, name, ".elf");
	put_file(path, now.elf.v, now.elf.len);
	at(path, sound.dir, name, ".digest");
	put_file(path, now.digest.v, now.digest.len);
	at(path, sound.dir, sound.source, "");
	if (right)
		unlink(path);
	if (symlink(name, path))
		return;
}

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

static void put_links(void)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof(path), "%s/link", sound.root);
	snprintf(target, sizeof(target), "%s/cache", sound.root);
	if (symlink(target, path))
		abort();
	snprintf(path, sizeof(path), "%s/loop", sound.root);
	if (symlink(path, path))
		abort();
}

/* All but the image is made anew. */
static void make_tree(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cache", sound.root);
	remove_tree(path);
	mkdir(path, 0700);
	set_base(path, "");
	snprintf(path, sizeof(path), "%s/cache/hvtrace", sound.root);
	mkdir(path, 0700);
	mkdir(sound.dir, 0700);
	remove_tree(sound.outside);
	mkdir(sound.outside, 0700);
	at(path, sound.outside, "file", "");
	put_file(path, "what is outside", 15);
	at(path, sound.outside, sound.name, ".elf");
	put_file(path, sound.elf.v, sound.elf.len);
	at(path, sound.outside, sound.name, ".digest");
	put_file(path, sound.digest.v, sound.digest.len);
}

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

static void write_image(void)
{
	static const uint8_t call[5] = {0xe8};
	static struct made_image m;
	static uint8_t packed[1 << 18];
	size_t elf_len, len, n;
	uint8_t *elf, *file;

	made_init(&m);
	made_function(&m, "one", 0x300, call, sizeof(call));
	made_function(&m, "two", 0x400, call, sizeof(call));
	elf = made_kernel(&m, MADE_DEBIAN, &elf_len);
	n = ZSTD_compress(packed, sizeof(packed), elf, elf_len, 3);
	file = made_bzimage(packed, n, elf_len, &len);
	put_file(sound.image, file, len);
	free(file);
	free(elf);
}

/* What the cache has of the image when nobody has tampered with it. */
static void learn(void)
{
	char path[PATH_MAX], err[256];
	struct stat st;
	ssize_t n;

	sound.gs = guestsym_open(NULL, sound.image, GUESTSYM_FL_NOCACHE, err, sizeof(err));
	guestsym_close(guestsym_open(NULL, sound.image, 0, err, sizeof(err)));
	if (!sound.gs || stat(sound.image, &st))
		abort();
	cache_source_name(sound.source, &st);
	at(path, sound.dir, sound.source, "");
	n = readlink(path, sound.name, sizeof(sound.name) - 1);
	if (n < 0)
		abort();
	at(path, sound.dir, sound.name, ".elf");
	sound.elf = take(path);
	at(path, sound.dir, sound.name, ".digest");
	sound.digest = take(path);
	now.digest = copy_of(&sound.digest);
	seal(&now.digest);
	/* Otherwise no digest that lies would get past its checksum. */
	if (memcmp(now.digest.v, sound.digest.v, sound.digest.len) != 0)
		abort();
	free(now.digest.v);
}

/* What belongs to processes that are no more: one that has found something, or is told to go,
 * leaves it. */
static void remove_those_left(void)
{
	DIR *d = opendir(SHM);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[PATH_MAX];
		long pid = strncmp(e->d_name, NAME, strlen(NAME))
				   ? 0
				   : strtol(e->d_name + strlen(NAME), NULL, 10);

		if (pid <= 0 || !kill((pid_t)pid, 0))
			continue;
		at(path, SHM, e->d_name, "");
		remove_tree(path);
	}
	if (d)
		closedir(d);
}

static void clean_up(void)
{
	remove_tree(sound.root);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const uint8_t one[] = {0, 4};

	(void)argc;
	(void)argv;
	/* In memory. */
	remove_those_left();
	snprintf(sound.root, sizeof(sound.root), SHM "/" NAME "%d", getpid());
	if (mkdir(sound.root, 0700))
		abort();
	atexit(clean_up);
	snprintf(sound.image, sizeof(sound.image), "%s/vmlinuz", sound.root);
	snprintf(sound.dir, sizeof(sound.dir), "%s/cache/hvtrace/images", sound.root);
	snprintf(sound.outside, sizeof(sound.outside), "%s/outside", sound.root);
	put_links();
	make_tree();
	putenv(base);
	write_image();
	learn();
	held_have_had_threads();
	LLVMFuzzerTestOneInput(one, sizeof(one));
	kept.limit = 0;
	return 0;
}
