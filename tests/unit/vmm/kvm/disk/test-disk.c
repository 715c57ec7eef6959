// SPDX-License-Identifier: GPL-2.0-or-later
/* test-disk.c - images: what is read, written, kept and refused. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm/kvm/disk/disk.h"
#include "vmm/program.h"

#define SIZE (256u * 1024)

struct scene {
	char folder[64], path[96];
	const char *format;
	char warning[512];
	unsigned int warnings;
	char err[512];
};

/* A request, and its answer. */
struct asked {
	struct disk_request r;
	pthread_mutex_t lock;
	pthread_cond_t done;
	int rc; /* 1: not yet */
};

static void on_warning(void *arg, const char *text)
{
	struct scene *s = arg;

	snprintf(s->warning, sizeof(s->warning), "%s", text);
	s->warnings++;
}

static uint8_t pattern(uint64_t off)
{
	return (uint8_t)(off / 512 * 7 + off % 251);
}

static void make_image(struct scene *s, size_t size)
{
	FILE *f = fopen(s->path, "w");

	assert_non_null(f);
	for (size_t i = 0; i < size; i++)
		putc(pattern(i), f);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	strcpy(s->folder, "/tmp/test-disk-XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	snprintf(s->path, sizeof(s->path), "%s/image", s->folder);
	setenv("TMPDIR", s->folder, 1);
	s->format = "raw";
	make_image(s, SIZE);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	unsetenv("TMPDIR");
	chmod(s->folder, 0700);
	unlink(s->path);
	assert_int_equal(rmdir(s->folder), 0); /* nothing is left */
	free(s);
	return 0;
}

static struct disk *open_as(struct scene *s, bool read_only, bool keep)
{
	const struct disk_config cfg = {.path = s->path,
					.format = s->format,
					.read_only = read_only,
					.keep = keep,
					.warn = on_warning,
					.arg = s};

	return disk_open(&cfg, s->err, sizeof(s->err));
}

static void on_done(struct disk_request *r, int rc)
{
	struct asked *a = (struct asked *)r;

	pthread_mutex_lock(&a->lock);
	a->rc = rc;
	pthread_cond_signal(&a->done);
	pthread_mutex_unlock(&a->lock);
}

static int ask(struct disk *d, enum disk_op op, void *buf, uint64_t off, uint64_t len)
{
	struct iovec iov[2] = {{buf, len / 2}, {(uint8_t *)buf + len / 2, len - len / 2}};
	struct asked a = {.r = {.op = op, .iov = iov, .n = 2, .off = off, .len = len},
			  .rc = 1,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .done = PTHREAD_COND_INITIALIZER};

	a.r.done = on_done;
	disk_submit(d, &a.r);
	pthread_mutex_lock(&a.lock);
	while (a.rc > 0)
		pthread_cond_wait(&a.done, &a.lock);
	pthread_mutex_unlock(&a.lock);
	disk_wait(d);
	return a.rc;
}

static uint8_t byte_at(struct disk *d, uint64_t off)
{
	uint8_t sector[512];

	assert_int_equal(ask(d, DISK_READ, sector, off & ~511ull, 512), 0);
	return sector[off & 511];
}

static void check_image(struct scene *s, uint64_t off, uint8_t want)
{
	FILE *f = fopen(s->path, "r");

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)off, SEEK_SET), 0);
	assert_int_equal(getc(f), want);
	fclose(f);
}

static void test_read(void **state)
{
	struct disk *d = open_as(*state, true, false);
	uint8_t *all = malloc(SIZE);

	assert_non_null(d);
	assert_true(disk_is_read_only(d));
	assert_int_equal(disk_size(d), SIZE);
	assert_int_equal(ask(d, DISK_READ, all, 0, SIZE), 0);
	for (unsigned int i = 0; i < SIZE; i++)
		assert_int_equal(all[i], pattern(i));
	free(all);
	disk_close(d);
}

static void test_keep(void **state)
{
	struct disk *d = open_as(*state, false, true);
	uint8_t bytes[4096];

	assert_non_null(d);
	memset(bytes, 0xee, sizeof(bytes));
	assert_int_equal(ask(d, DISK_WRITE, bytes, 1024, 2048), 0);
	assert_int_equal(ask(d, DISK_FLUSH, NULL, 0, 0), 0);
	check_image(*state, 1023, pattern(1023));
	check_image(*state, 1024, 0xee);
	check_image(*state, 3071, 0xee);
	check_image(*state, 3072, pattern(3072));
	assert_int_equal(ask(d, DISK_ZERO, NULL, 8192, 4096), 0);
	assert_int_equal(byte_at(d, 8192), 0);
	assert_int_equal(byte_at(d, 12287), 0);
	assert_int_equal(byte_at(d, 12288), pattern(12288));
	assert_int_equal(ask(d, DISK_DISCARD, NULL, 0, 512), 0);
	disk_close(d);
}

/* Of the file system, in sectors. */
static blkcnt_t room_of(const struct scene *s)
{
	struct stat st;

	assert_int_equal(stat(s->path, &st), 0);
	return st.st_blocks;
}

/* Zeros that are written so that there will be room are no holes. */
static void test_zeros_and_room(void **state)
{
	struct disk *d = open_as(*state, false, true);
	blkcnt_t all;

	assert_non_null(d);
	assert_int_equal(ask(d, DISK_FLUSH, NULL, 0, 0), 0);
	all = room_of(*state);
	assert_int_equal(ask(d, DISK_ZERO, NULL, 65536, 65536), 0);
	assert_int_equal(byte_at(d, 65536), 0);
	assert_true(room_of(*state) >= all);
	assert_int_equal(ask(d, DISK_UNMAP, NULL, 65536, 65536), 0);
	assert_int_equal(byte_at(d, 131071), 0);
	assert_int_equal(byte_at(d, 131072), pattern(131072));
	assert_true(room_of(*state) < all);
	disk_close(d);
}

/* Writes of every alignment, against an array that is changed likewise. */
static void test_not_kept(void **state)
{
	struct disk *d = open_as(*state, false, false);
	uint8_t *want = malloc(SIZE), *got = malloc(SIZE), *from = malloc(SIZE);
	unsigned int seed = 1;

	assert_true(d && want && got && from);
	for (unsigned int i = 0; i < SIZE; i++)
		want[i] = pattern(i);
	for (unsigned int i = 0; i < 300; i++) {
		uint64_t off = (unsigned int)rand_r(&seed) % (SIZE / 512) * 512u;
		uint64_t len = (unsigned int)rand_r(&seed) % 40 * 512u;

		len = len > SIZE - off ? SIZE - off : len;
		memset(from, (int)i + 1, len);
		if (i % 7 == 3)
			memset(from, 0, len);
		assert_int_equal(ask(d, i % 7 == 3 ? DISK_ZERO : DISK_WRITE, from, off, len), 0);
		memcpy(want + off, from, len);
		if (i % 16)
			continue;
		assert_int_equal(ask(d, DISK_READ, got, 0, SIZE), 0);
		assert_memory_equal(got, want, SIZE);
	}
	assert_int_equal(ask(d, DISK_READ, got, 0, SIZE), 0);
	assert_memory_equal(got, want, SIZE);
	assert_int_equal(ask(d, DISK_FLUSH, NULL, 0, 0), 0);
	disk_close(d);
	free(from);
	free(got);
	free(want);
	for (unsigned int i = 0; i < SIZE; i += 4093)
		check_image(*state, i, pattern(i));
}

/* Many at a time, each on sectors of its own, which share blocks. */
static void test_at_the_same_time(void **state)
{
	enum { N = 64 };
	struct disk *d = open_as(*state, false, false);
	struct asked a[N];
	struct iovec iov[N];
	uint8_t bytes[N][512];

	assert_non_null(d);
	for (unsigned int i = 0; i < N; i++) {
		memset(bytes[i], (int)i + 1, 512);
		iov[i] = (struct iovec){bytes[i], 512};
		a[i] = (struct asked){.r = {.op = DISK_WRITE,
					    .iov = &iov[i],
					    .n = 1,
					    .off = i * 512u,
					    .done = on_done},
				      .lock = PTHREAD_MUTEX_INITIALIZER,
				      .done = PTHREAD_COND_INITIALIZER};
		disk_submit(d, &a[i].r);
	}
	disk_wait(d);
	for (unsigned int i = 0; i < N; i++) {
		assert_int_equal(a[i].rc, 0);
		assert_int_equal(byte_at(d, i * 512u + 511), i + 1);
	}
	disk_close(d);
}

static void refused(struct scene *s, bool read_only, bool keep, const char *why)
{
	struct disk *d;

	s->err[0] = '\0';
	d = open_as(s, read_only, keep);
	if (!d && strstr(s->err, why) && !strchr(s->err, '\n'))
		return;
	fail_msg("%s: not \"%s\"", d ? "it was opened" : s->err, why);
}

static void test_what_is_no_image(void **state)
{
	struct scene *s = *state;

	make_image(s, 511);
	refused(s, false, false, "is empty");
	unlink(s->path);
	refused(s, true, false, strerror(ENOENT));
	assert_int_equal(mkfifo(s->path, 0600), 0);
	refused(s, true, false, "neither a file nor a block device");
	unlink(s->path);
	assert_int_equal(mkdir(s->path, 0700), 0);
	refused(s, true, false, "neither a file nor a block device");
	rmdir(s->path);
}

static void test_end_within_a_sector(void **state)
{
	struct scene *s = *state;
	struct disk *d;

	make_image(s, 5 * 512 + 100);
	d = open_as(s, true, false);
	assert_non_null(d);
	assert_int_equal(disk_size(d), 5 * 512);
	assert_non_null(strstr(s->warning, "its last 100 bytes"));
	disk_close(d);
}

static void test_no_folder_for_changes(void **state)
{
	struct scene *s = *state;

	setenv("TMPDIR", "/nowhere", 1);
	refused(s, false, false, "TMPDIR");
}

static void test_locks_of_our_own(void **state)
{
	struct scene *s = *state;
	struct disk *writer = open_as(s, false, true), *reader;

	assert_non_null(writer);
	refused(s, false, true, "in use");
	refused(s, true, false, "in use");
	refused(s, false, false, "in use");
	disk_close(writer);
	reader = open_as(s, true, false);
	assert_non_null(reader);
	refused(s, false, true, "in use");
	writer = open_as(s, false, false); /* it reads the image only */
	assert_non_null(writer);
	disk_close(writer);
	disk_close(reader);
}

/* As QEMU has it: that it writes is a lock on byte 101, that nobody else may on byte 201. */
static void test_locks_of_qemu(void **state)
{
	static const short bytes[] = {101, 103, 200};
	struct scene *s = *state;

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		struct flock l = {.l_type = F_RDLCK, .l_start = bytes[i], .l_len = 1};
		int fd = open(s->path, O_RDONLY);

		assert_int_equal(fcntl(fd, F_OFD_SETLK, &l), 0);
		refused(s, true, false, "in use");
		close(fd);
	}
}

static void test_qemu_sees_ours(void **state)
{
	struct disk *d = open_as(*state, false, true);
	int fd = open(((struct scene *)*state)->path, O_RDONLY);
	static const struct {
		short byte;
		bool locked;
	} rows[] = {{100, true},  {101, true}, {102, false}, {103, false},
		    {200, false}, {201, true}, {202, false}, {203, true}};

	assert_non_null(d);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct flock l = {.l_type = F_WRLCK, .l_start = rows[i].byte, .l_len = 1};

		assert_int_equal(fcntl(fd, F_OFD_GETLK, &l), 0);
		assert_int_equal(l.l_type != F_UNLCK, rows[i].locked);
	}
	close(fd);
	disk_close(d);
}

/* The image ends before the disk does, as somebody has cut it. */
static void test_error_is_told_once(void **state)
{
	struct scene *s = *state;
	struct disk *d = open_as(s, true, false);
	uint8_t sector[512];

	assert_non_null(d);
	assert_int_equal(truncate(s->path, 4096), 0);
	assert_int_equal(ask(d, DISK_READ, sector, 4096, 512), -EIO);
	assert_int_equal(ask(d, DISK_READ, sector, 8192, 512), -EIO);
	assert_int_equal(ask(d, DISK_READ, sector, 0, 512), 0);
	assert_int_equal(s->warnings, 1);
	assert_non_null(strstr(s->warning, "cannot read"));
	disk_close(d);
}

/* A file that may not grow is to us what a full file system is. */
static void test_no_room_for_changes(void **state)
{
	struct scene *s = *state;
	struct rlimit old, limit;
	struct disk *d;
	uint8_t sector[512] = {1};

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	d = open_as(s, false, false);
	assert_non_null(d);
	limit = (struct rlimit){4096, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(ask(d, DISK_WRITE, sector, 0, 512), 0);
	assert_int_equal(ask(d, DISK_WRITE, sector, 8192, 512), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(s->warnings, 1);
	assert_int_equal(byte_at(d, 8192), pattern(8192)); /* as it was */
	assert_int_equal(byte_at(d, 0), 1);
	disk_close(d);
}

static void run(const char *const argv[])
{
	const struct program p = {.argv = argv, .ms = 60000};
	char err[256];

	assert_int_equal(program_run(&p, err, sizeof(err)), 0);
}

/* --- other formats --------------------------------------------------------------------------- */

static void to_qcow2(struct scene *s)
{
	char made[128];
	const char *const argv[] = {"qemu-img", "convert", "-f", "raw", "-O",
				    "qcow2",	s->path,   made, NULL};

	snprintf(made, sizeof(made), "%s.new", s->path);
	run(argv);
	assert_int_equal(rename(made, s->path), 0);
	s->format = "qcow2";
}

static void test_qcow2(void **state)
{
	struct scene *s = *state;
	uint8_t bytes[1024], *all = malloc(SIZE);
	struct disk *d;

	to_qcow2(s);
	d = open_as(s, false, true);
	assert_non_null(d);
	assert_int_equal(disk_size(d), SIZE);
	assert_int_equal(ask(d, DISK_READ, all, 0, SIZE), 0);
	for (unsigned int i = 0; i < SIZE; i++)
		assert_int_equal(all[i], pattern(i));
	free(all);
	memset(bytes, 0xee, sizeof(bytes));
	assert_int_equal(ask(d, DISK_WRITE, bytes, 5120, 1024), 0);
	assert_int_equal(ask(d, DISK_ZERO, NULL, 65536, 4096), 0);
	assert_int_equal(ask(d, DISK_DISCARD, NULL, 131072, 65536), 0);
	assert_int_equal(ask(d, DISK_FLUSH, NULL, 0, 0), 0);
	refused(s, false, true, "lock");
	disk_close(d);
	d = open_as(s, true, false); /* another one: the first has ended */
	assert_non_null(d);
	assert_int_equal(byte_at(d, 5120), 0xee);
	assert_int_equal(byte_at(d, 6143), 0xee);
	assert_int_equal(byte_at(d, 6144), pattern(6144));
	assert_int_equal(byte_at(d, 65536), 0);
	assert_int_equal(ask(d, DISK_WRITE, bytes, 0, 1024), -EIO);
	disk_close(d);
}

static void test_qcow2_not_kept(void **state)
{
	struct scene *s = *state;
	uint8_t bytes[512] = {0};
	struct disk *d;

	to_qcow2(s);
	for (unsigned int i = 0; i < 2; i++) {
		d = open_as(s, false, false);
		assert_non_null(d);
		assert_int_equal(byte_at(d, 1024), pattern(1024));
		assert_int_equal(ask(d, DISK_WRITE, bytes, 1024, 512), 0);
		assert_int_equal(ask(d, DISK_FLUSH, NULL, 0, 0), 0);
		assert_int_equal(byte_at(d, 1024), 0);
		disk_close(d);
	}
}

static void test_what_is_no_qcow2(void **state)
{
	struct scene *s = *state;

	s->format = "qcow2";
	refused(s, false, true, "not in qcow2 format");
	s->format = "nonsense";
	refused(s, false, true, "nonsense");
	s->format = "qcow2";
	unlink(s->path);
	refused(s, true, false, strerror(ENOENT));
	setenv("PATH", "/nowhere", 1);
	refused(s, true, false, "qemu-nbd cannot be run");
	setenv("PATH", "/usr/bin:/bin", 1);
}

static void signal_server(const char *signal)
{
	char us[16];
	const char *const argv[] = {"pkill", signal, "-P", us, "-x", "qemu-nbd", NULL};

	snprintf(us, sizeof(us), "%d", getpid());
	run(argv);
}

/* Nobody is left to answer: an error, not a disk that hangs. */
static void test_server_that_is_killed(void **state)
{
	struct scene *s = *state;
	uint8_t sector[512];
	struct disk *d;

	to_qcow2(s);
	d = open_as(s, false, true);
	assert_non_null(d);
	signal_server("-KILL");
	while (!ask(d, DISK_READ, sector, 0, 512))
		;
	assert_int_equal(s->warnings, 1);
	disk_close(d);
}

/* Whether this thread is in poll(2), as one is that waits for an answer: proc(5). */
static bool polls(const char *thread)
{
	char path[64], text[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/syscall", thread);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		*text = '\0';
	fclose(f);
	return strtol(text, NULL, 10) == SYS_poll;
}

static void until_one_polls(void)
{
	bool one = false;

	while (!one) {
		DIR *dir = opendir("/proc/self/task");
		const struct dirent *e;

		assert_non_null(dir);
		while ((e = readdir(dir)))
			one |= polls(e->d_name);
		closedir(dir);
		sched_yield();
	}
}

/* One that does not answer is waited for until the guest is given up, and then not for ever. */
static void test_server_that_stands(void **state)
{
	struct scene *s = *state;
	uint8_t sector[512];
	struct iovec iov = {sector, sizeof(sector)};
	struct asked a = {.r = {.op = DISK_READ, .iov = &iov, .n = 1, .done = on_done},
			  .rc = 1,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .done = PTHREAD_COND_INITIALIZER};
	struct disk *d;

	to_qcow2(s);
	d = open_as(s, false, true);
	assert_non_null(d);
	signal_server("-STOP");
	disk_submit(d, &a.r);
	until_one_polls();
	disk_give_up(&d, 1, 100);
	disk_wait(d);
	assert_int_equal(a.rc, -EIO);
	signal_server("-CONT"); /* it would be waited for, for 10 s */
	disk_close(d);
}

/* What nobody has begun with is not done any more. */
static void test_given_up(void **state)
{
	struct scene *s = *state;
	uint8_t sector[512] = {0};
	struct disk *d = open_as(s, false, true);

	assert_non_null(d);
	disk_give_up(&d, 1, 100);
	assert_int_equal(ask(d, DISK_WRITE, sector, 0, 512), -ECANCELED);
	assert_int_equal(s->warnings, 0);
	disk_close(d);
}

static int put_file(void *arg, const void *data, size_t len, uint64_t at)
{
	return pwrite(*(int *)arg, data, len, (off_t)at) == (ssize_t)len ? 0 : -EIO;
}

/* What was written goes into a file, and the disk goes on from there. */
static struct disk *save_and_open(struct scene *s, struct disk *d, int *fd, uint64_t at)
{
	struct disk_config cfg = {.path = s->path, .format = "raw", .warn = on_warning, .arg = s};
	struct disk_changes changes = {.at = at};
	struct disk_identity id;
	struct disk *again;
	uint64_t *map;
	int rc;

	*fd = memfd_create("changes", MFD_CLOEXEC);
	assert_null(disk_cannot_be_saved(d));
	assert_int_equal(disk_identify(d, &id), 0);
	assert_int_equal(id.size, SIZE);
	assert_int_equal(disk_save(d, put_file, fd, at), 0);
	assert_int_equal(ftruncate(*fd, (off_t)(at + SIZE)), 0);
	map = disk_changed(d, &changes.words, &rc);
	assert_non_null(map);
	changes.fd = *fd;
	changes.map = map;
	cfg.changes = &changes;
	again = disk_open(&cfg, s->err, sizeof(s->err));
	assert_non_null(again);
	changes.words++; /* of another disk */
	assert_null(disk_open(&cfg, s->err, sizeof(s->err)));
	free(map);
	disk_close(d);
	return again;
}

static void test_saved(void **state)
{
	struct disk *d = open_as(*state, false, false);
	uint8_t bytes[8192];
	int fd[2];

	memset(bytes, 0xee, sizeof(bytes));
	assert_int_equal(ask(d, DISK_WRITE, bytes, 1024, 8192), 0);
	assert_int_equal(ask(d, DISK_ZERO, NULL, SIZE - 4096, 4096), 0);
	d = save_and_open(*state, d, &fd[0], 12288);
	assert_int_equal(byte_at(d, 1023), pattern(1023));
	assert_int_equal(byte_at(d, 1024), 0xee);
	assert_int_equal(byte_at(d, 9215), 0xee);
	assert_int_equal(byte_at(d, 9216), pattern(9216));
	assert_int_equal(byte_at(d, SIZE - 4096), 0);
	memset(bytes, 0xdd, sizeof(bytes));
	assert_int_equal(ask(d, DISK_WRITE, bytes, 2048, 512), 0); /* in a block that was saved */
	assert_int_equal(ask(d, DISK_WRITE, bytes, 65536, 512), 0);
	d = save_and_open(*state, d, &fd[1], 4096);
	assert_int_equal(byte_at(d, 1024), 0xee);
	assert_int_equal(byte_at(d, 2048), 0xdd);
	assert_int_equal(byte_at(d, 2560), 0xee);
	assert_int_equal(byte_at(d, 65536), 0xdd);
	assert_int_equal(byte_at(d, 66048), pattern(66048));
	assert_int_equal(byte_at(d, SIZE - 1), 0);
	disk_close(d);
	check_image(*state, 1024, pattern(1024));
	close(fd[0]);
	close(fd[1]);
}

static void test_what_is_not_saved(void **state)
{
	struct scene *s = *state;
	struct disk *d = open_as(s, false, true);
	size_t words;
	int rc;

	assert_non_null(disk_cannot_be_saved(d));
	disk_close(d);
	d = open_as(s, true, false);
	assert_null(disk_cannot_be_saved(d));
	assert_null(disk_changed(d, &words, &rc));
	assert_int_equal(rc, 0);
	assert_int_equal(disk_save(d, put_file, NULL, 0), 0);
	disk_close(d);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_read),
		TEST(test_keep),
		TEST(test_zeros_and_room),
		TEST(test_not_kept),
		TEST(test_at_the_same_time),
		TEST(test_what_is_no_image),
		TEST(test_end_within_a_sector),
		TEST(test_no_folder_for_changes),
		TEST(test_locks_of_our_own),
		TEST(test_locks_of_qemu),
		TEST(test_qemu_sees_ours),
		TEST(test_error_is_told_once),
		TEST(test_no_room_for_changes),
		TEST(test_qcow2),
		TEST(test_qcow2_not_kept),
		TEST(test_what_is_no_qcow2),
		TEST(test_server_that_is_killed),
		TEST(test_server_that_stands),
		TEST(test_given_up),
		TEST(test_saved),
		TEST(test_what_is_not_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
