// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guestsym-cache.c - the cache of unpacked images: used, damaged, replaced, not to be had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "guestsym/internal.h"
#include "tests/unit/made-image.h"
#include "tests/unit/remove-tree.h"

static char root[64], image[96], images_dir[128];

#define JIFFIES UINT64_C(0xfffb6c20)

/* A bzImage at image[], whose kernel has a function of this name; each one second younger. */
static void write_image(const char *function)
{
	static struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	static const uint8_t call[5] = {0xe8};
	static struct made_image m;
	static uint8_t packed[1 << 18];
	size_t elf_len, len, n;
	uint8_t *elf, *file;
	FILE *f;

	made_init(&m);
	made_function(&m, function, 0x300, call, sizeof(call));
	made_align(&m, 8);
	made_label(&m, "jiffies_64", 'D');
	made_put64(&m, JIFFIES);
	elf = made_kernel(&m, MADE_DEBIAN, &elf_len);
	n = ZSTD_compress(packed, sizeof(packed), elf, elf_len, 3);
	file = made_bzimage(packed, n, elf_len, &len);
	unlink(image);
	f = fopen(image, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(file, 1, len, f), len);
	fclose(f);
	times[1].tv_sec++;
	assert_int_equal(utimensat(AT_FDCWD, image, times, 0), 0);
	free(file);
	free(elf);
}

/* Open the image, which must have that function, from the cache or not. */
static void expect_open(const char *function, unsigned int flags, bool cached)
{
	char err[256], banner[14];
	struct guestsym *gs = guestsym_open(NULL, image, flags, err, sizeof(err));

	if (!gs)
		fail_msg("%s", err);
	assert_int_equal(guestsym_addr(gs, function), MADE_BASE + 0x300);
	assert_int_equal(guestsym_cached(gs), cached);
	assert_int_equal(guestsym_read(gs, MADE_BASE + MADE_TEXT, banner, 14), 0);
	assert_memory_equal(banner, MADE_BANNER, 14);
	guestsym_close(gs);
}

/* The file in the cache that ends in suffix; counts all entries. */
static int find_cached(const char *suffix, char *path, size_t len)
{
	DIR *dir = opendir(images_dir);
	struct dirent *d;
	int entries = 0;

	assert_non_null(dir);
	while ((d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		entries++;
		if (strstr(d->d_name, suffix))
			snprintf(path, len, "%s/%s", images_dir, d->d_name);
	}
	closedir(dir);
	return entries;
}

static int set_up(void **state)
{
	char cache[96];

	(void)state;
	snprintf(root, sizeof(root), "/tmp/hvtrace-test-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(image, sizeof(image), "%s/vmlinuz", root);
	snprintf(images_dir, sizeof(images_dir), "%s/cache/hvtrace/images", root);
	write_image("one");
	snprintf(cache, sizeof(cache), "%s/cache", root);
	return setenv("XDG_CACHE_HOME", cache, 1);
}

static int tear_down(void **state)
{
	(void)state;
	return remove_tree(root);
}

static void test_use(void **state)
{
	char path[512];
	struct stat st;

	(void)state;
	expect_open("one", 0, false);
	expect_open("one", 0, true);
	expect_open("one", GUESTSYM_FL_NOCACHE, false);
	assert_int_equal(find_cached(".elf", path, sizeof(path)), 3);
	assert_int_equal(stat(images_dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_nocache(void **state)
{
	(void)state;
	expect_open("one", GUESTSYM_FL_NOCACHE, false);
	assert_int_equal(access(images_dir, F_OK), -1);
}

/* Another kernel in a file of the same name. */
static void test_replaced(void **state)
{
	(void)state;
	expect_open("one", 0, false);
	write_image("two");
	expect_open("two", 0, false);
	expect_open("two", 0, true);
}

/* What read another file has made up the same image, and lies about what is in it. */
static void test_same_image(void **state)
{
	char other[96];
	struct cached c;
	struct stat st;

	(void)state;
	expect_open("one", 0, false);
	assert_int_equal(stat(image, &st), 0);
	assert_int_equal(cached_open(&c, &st, false), 0);
	assert_true(cached_check(&c));
	snprintf(other, sizeof(other), "%s/other", root);
	fclose(fopen(other, "w"));
	assert_int_equal(stat(other, &st), 0);
	cached_store(&st, &c.elf, &c.elf);
	expect_open("one", 0, true);
	cached_close(&c);
	blob_free(&c.elf);
	blob_free(&c.digest);
}

static const char *const suffixes[] = {".elf", ".digest"};

/* One changed byte, anywhere; the next open makes it good again. */
static void test_damaged(void **state)
{
	char path[512];
	struct stat st;

	(void)state;
	expect_open("one", 0, false);
	for (int i = 0; i < 2; i++) {
		find_cached(suffixes[i], path, sizeof(path));
		assert_int_equal(stat(path, &st), 0);
		for (off_t pos = 0; pos < st.st_size; pos += 1 + st.st_size / 50) {
			int fd = open(path, O_RDWR);
			uint8_t byte;

			assert_int_equal(pread(fd, &byte, 1, pos), 1);
			byte ^= 0x10;
			assert_int_equal(pwrite(fd, &byte, 1, pos), 1);
			close(fd);
			expect_open("one", 0, false);
			expect_open("one", 0, true);
		}
	}
}

static void test_truncated(void **state)
{
	static const off_t lengths[] = {0, 1, 63, 64, 300, 4096, 36000};
	char path[512];

	(void)state;
	expect_open("one", 0, false);
	for (int i = 0; i < 2; i++) {
		find_cached(suffixes[i], path, sizeof(path));
		for (size_t j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++) {
			assert_int_equal(truncate(path, lengths[j]), 0);
			expect_open("one", 0, false);
			expect_open("one", 0, true);
		}
		unlink(path);
		expect_open("one", 0, false);
		expect_open("one", 0, true);
	}
}

/* What was read stays, whatever becomes of the cached files. */
static void test_taken_away(void **state)
{
	struct guestsym *gs;
	char path[512], banner[14];

	(void)state;
	expect_open("one", 0, false);
	gs = guestsym_open(NULL, image, 0, NULL, 0);
	assert_true(guestsym_cached(gs));
	for (int i = 0; i < 2; i++) {
		find_cached(suffixes[i], path, sizeof(path));
		assert_int_equal(truncate(path, 0), 0);
	}
	assert_int_equal(guestsym_addr(gs, "one"), MADE_BASE + 0x300);
	assert_int_equal(guestsym_read(gs, MADE_BASE + MADE_TEXT, banner, 14), 0);
	assert_memory_equal(banner, MADE_BANNER, 14);
	guestsym_close(gs);
}

/* Its bytes are read when they are wanted; others may open it meanwhile. */
static void test_later(void **state)
{
	struct guestsym *gs;
	char banner[14], err[256];
	uint64_t value = 0;
	size_t len;

	(void)state;
	expect_open("one", GUESTSYM_FL_LATER, false);
	expect_open("one", GUESTSYM_FL_LATER, true);
	gs = guestsym_open(NULL, image, GUESTSYM_FL_LATER, err, sizeof(err));
	assert_non_null(gs);
	assert_int_equal(guestsym_variable(gs, GUESTSYM_JIFFIES_64, &value), 0);
	assert_true(value == JIFFIES);
	assert_int_equal(guestsym_variable(gs, GUESTSYM_TICK_NSEC, &value), -ENOENT);
	assert_false(guestsym_from_memory(gs));
	assert_int_equal(gs->bytes.data[0], 0);
	assert_int_equal(guestsym_addr(gs, "one"), MADE_BASE + 0x300);
	expect_open("one", 0, true);
	assert_int_equal(guestsym_settle(gs, err, sizeof(err)), 0);
	assert_string_equal(err, "");
	assert_int_equal(guestsym_read(gs, MADE_BASE + MADE_TEXT, banner, 14), 0);
	assert_memory_equal(banner, MADE_BANNER, 14);
	assert_non_null(guestsym_elf(gs, &len));
	assert_int_equal(len, gs->bytes.len);
	guestsym_close(gs);
	/* Nobody wanted them. */
	guestsym_close(guestsym_open(NULL, image, GUESTSYM_FL_LATER, err, sizeof(err)));
}

static void damage(const char *path)
{
	int fd = open(path, O_RDWR);
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, 1000), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, 1000), 1);
	close(fd);
}

static void cut_off(const char *path)
{
	assert_int_equal(truncate(path, 1000), 0);
}

/* It is said when it is known, nothing is made of the bytes, and the next one does without. */
static void test_later_damaged(void **state)
{
	static void (*const harm[])(const char *path) = {damage, cut_off};
	const struct guestsym_irq_site *irqs;
	struct guestsym_event_list list;
	char path[512], err[256], byte;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
		struct guestsym *gs;

		expect_open("one", 0, false);
		gs = guestsym_open(NULL, image, GUESTSYM_FL_LATER, err, sizeof(err));
		assert_true(guestsym_cached(gs));
		find_cached(".elf", path, sizeof(path));
		harm[i](path);
		assert_int_equal(guestsym_find_sites(gs, err, sizeof(err)), -EIO);
		assert_int_equal(guestsym_irq_sites(gs, &irqs), 0);
		assert_int_equal(guestsym_read(gs, MADE_BASE + MADE_TEXT, &byte, 1), -EFAULT);
		assert_int_equal(guestsym_events_image(gs, 0, &list), -EIO);
		assert_null(guestsym_elf(gs, &len));
		assert_int_equal(len, 0);
		assert_int_equal(guestsym_settle(gs, err, sizeof(err)), -EIO);
		assert_string_equal(err, "the kernel's image is damaged in hvtrace's cache, and "
					 "gone from there now: start hvtrace again");
		guestsym_close(gs);
	}
	expect_open("one", 0, false);
	expect_open("one", 0, true);
}

/* Links that lead out of the cache or nowhere. */
static void test_bad_links(void **state)
{
	static const char *const targets[] = {
		"../../../vmlinuz",
		"/etc/passwd",
		"0-0000000000000000.elf",
		"-.elf",
		"0-12345678123456781.elf",
		"0-00000000000000zz.elf",
		"x",
	};
	char path[512], link[300] = "";
	struct dirent *d;
	DIR *dir;

	(void)state;
	expect_open("one", 0, false);
	dir = opendir(images_dir);
	while ((d = readdir(dir)) != NULL)
		if (d->d_name[0] != '.' && !strstr(d->d_name, ".elf") &&
		    !strstr(d->d_name, ".digest"))
			snprintf(link, sizeof(link), "%s", d->d_name);
	closedir(dir);
	snprintf(path, sizeof(path), "%s/%s", images_dir, link);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		assert_int_equal(unlink(path), 0);
		assert_int_equal(symlink(targets[i], path), 0);
		expect_open("one", 0, false);
		expect_open("one", 0, true);
	}
}

/* The cache keeps the eight images that were used last, and nothing that belongs to none. */
static void test_prune(void **state)
{
	char path[512], name[32];

	(void)state;
	expect_open("one", 0, false);
	snprintf(path, sizeof(path), "%s/0-0123456789abcdef.digest", images_dir);
	fclose(fopen(path, "w"));
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "number_%d", i);
		write_image(name);
		expect_open(name, 0, false);
	}
	assert_int_equal(find_cached(".elf", path, sizeof(path)), 3 * 8);
	expect_open("number_9", 0, true);
}

/* A directory that others may write to is not used, one that cannot be made is done without. */
static void test_no_place(void **state)
{
	char path[160];

	(void)state;
	expect_open("one", 0, false);
	assert_int_equal(chmod(images_dir, 0777), 0);
	expect_open("one", 0, false);
	setenv("XDG_CACHE_HOME", "/proc/self/nothing", 1);
	expect_open("one", 0, false);
	expect_open("one", 0, false);
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", root, 1);
	expect_open("one", 0, false);
	expect_open("one", 0, true);
	snprintf(path, sizeof(path), "%s/.cache/hvtrace/images", root);
	assert_int_equal(access(path, F_OK), 0);
}

static void make_file(const char *dir, const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

static void expect_file(const char *dir, const char *name)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(lstat(path, &st), 0);
}

/* Who cleans up leaves alone what is not called, or is not made, as what he put there. */
static void test_others_files(void **state)
{
	static const char *const names[] = {
		"notes.elf", "0-0123456789abcdeg.elf",	 "thesis.digest", "tmp-notes",
		"a-b-c-d",   "-0123456789abcdef.digest",
	};
	char path[192], name[32];

	(void)state;
	expect_open("one", 0, false);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct timespec long_ago[2] = {{0}, {0}};

		make_file(images_dir, names[i]);
		snprintf(path, sizeof(path), "%s/%s", images_dir, names[i]);
		assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	}
	snprintf(path, sizeof(path), "%s/link", images_dir);
	assert_int_equal(symlink("nowhere", path), 0);
	snprintf(path, sizeof(path), "%s/0-0000000000000000.elf", images_dir);
	assert_int_equal(symlink("nowhere", path), 0);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "number_%d", i);
		write_image(name);
		expect_open(name, 0, false);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect_file(images_dir, names[i]);
	expect_file(images_dir, "link");
	expect_file(images_dir, "0-0000000000000000.elf");
}

/* A directory elsewhere that would pass for one of images, with something to be tidied up. */
static void make_trap(char *dir, size_t len)
{
	char images[160];

	snprintf(dir, len, "%s/elsewhere", root);
	assert_int_equal(mkdir(dir, 0700), 0);
	snprintf(images, sizeof(images), "%s/images", dir);
	assert_int_equal(mkdir(images, 0700), 0);
	make_file(images, "0-0123456789abcdef.digest");
}

/* Nothing was written to it or removed from it. */
static void expect_trap_as_it_was(const char *dir)
{
	char path[192];
	int entries = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/images", dir);
	expect_file(path, "0-0123456789abcdef.digest");
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		entries++;
	closedir(d);
	assert_int_equal(entries, 3); /* with "." and ".." */
}

/* In place of the cache's own directories there are links. */
static void test_links_elsewhere(void **state)
{
	char trap[128], path[128], images[160];

	(void)state;
	make_trap(trap, sizeof(trap));
	snprintf(path, sizeof(path), "%s/cache", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/cache/hvtrace", root);
	assert_int_equal(symlink("../elsewhere", path), 0);
	expect_open("one", 0, false);
	expect_open("one", 0, false);
	expect_trap_as_it_was(trap);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(images, sizeof(images), "%s/images", path);
	assert_int_equal(symlink("../../elsewhere/images", images), 0);
	expect_open("one", 0, false);
	expect_trap_as_it_was(trap);
}

/* Where another user has a say in the way to the cache: his home, or a link of his. */
static void test_others_home(void **state)
{
	char trap[128], home[128], link[160], hvtrace[160];

	(void)state;
	if (geteuid())
		skip(); /* cannot make what belongs to others */
	make_trap(trap, sizeof(trap));
	snprintf(home, sizeof(home), "%s/home", root);
	assert_int_equal(mkdir(home, 0755), 0);
	assert_int_equal(chown(home, 12345, 12345), 0);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	expect_open("one", 0, false);
	expect_open("one", 0, false);
	assert_int_equal(rmdir(home), 0); /* nothing was made there */

	/* ~/.cache/hvtrace is where he likes. */
	assert_int_equal(mkdir(home, 0755), 0);
	snprintf(link, sizeof(link), "%s/.cache", home);
	assert_int_equal(symlink("../links", link), 0);
	assert_int_equal(lchown(link, 12345, 12345), 0);
	snprintf(link, sizeof(link), "%s/links", root);
	assert_int_equal(mkdir(link, 0755), 0);
	snprintf(hvtrace, sizeof(hvtrace), "%s/links/hvtrace", root);
	assert_int_equal(rename(trap, hvtrace), 0);
	expect_open("one", 0, false);
	expect_trap_as_it_was(hvtrace);
}

/* A user's own link to where there is more room, in his home, is followed. */
static void test_own_link(void **state)
{
	char link[128], room[128];

	(void)state;
	snprintf(room, sizeof(room), "%s/room", root);
	assert_int_equal(mkdir(room, 0700), 0);
	snprintf(link, sizeof(link), "%s/cache", root);
	for (int absolute = 0; absolute < 2; absolute++) {
		assert_int_equal(symlink(absolute ? room : "room", link), 0);
		if (!absolute)
			expect_open("one", 0, false);
		expect_open("one", 0, true);
		assert_int_equal(unlink(link), 0);
	}
	assert_int_equal(symlink("cache", link), 0); /* to itself */
	expect_open("one", 0, false);
}

int main(void)
{
#define CACHE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CACHE_TEST(test_use),	      CACHE_TEST(test_nocache),
		CACHE_TEST(test_replaced),    CACHE_TEST(test_same_image),
		CACHE_TEST(test_damaged),     CACHE_TEST(test_truncated),
		CACHE_TEST(test_bad_links),   CACHE_TEST(test_no_place),
		CACHE_TEST(test_prune),	      CACHE_TEST(test_others_files),
		CACHE_TEST(test_own_link),    CACHE_TEST(test_links_elsewhere),
		CACHE_TEST(test_others_home), CACHE_TEST(test_taken_away),
		CACHE_TEST(test_later),	      CACHE_TEST(test_later_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
