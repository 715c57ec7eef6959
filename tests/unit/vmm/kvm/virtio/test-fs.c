// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-fs.c - a file system device between its driver and who serves its queues: the test itself,
 * or a virtiofsd.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/vhost-back-end.h"
#include "tests/unit/virtio-driver.h"
#include "vmm/kvm/virtio/fs.h"

#define QUEUES (VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC)

enum { URGENT, REQUESTS };
enum { NEEDS_RESET = 64 };

struct shared {
	struct driver v; /* first */
	struct back_end back;
	int ram_fd;
	char warned[256];
	unsigned int warnings;
};

static void on_warn(void *arg, const char *text)
{
	struct shared *s = arg;

	s->warnings++;
	snprintf(s->warned, sizeof(s->warned), "%s", text);
}

static struct shared *shared_new(struct share_memory *ram)
{
	struct shared *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->ram_fd = memfd_create("ram", MFD_CLOEXEC);
	assert_true(s->ram_fd >= 0 && !ftruncate(s->ram_fd, RAM_SIZE));
	*ram = (struct share_memory){.pa = RAM_START, .size = RAM_SIZE, .fd = s->ram_fd};
	return s;
}

static void plug(struct shared *s, struct share *share)
{
	const struct fs_config cfg = {
		.share = share, .tag = "tests", .path = "/srv", .warn = on_warn, .arg = s};
	struct virtio_device *d = fs_new(&cfg);

	assert_non_null(d);
	assert_true(driver_init(&s->v, d));
	free(s->v.ram); /* of which nobody else would have anything */
	s->v.ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, s->ram_fd, 0);
	assert_true(s->v.ram != MAP_FAILED);
	d->memory.arg = s->v.ram;
}

static void unplug(struct shared *s)
{
	uint8_t *ram = s->v.ram;

	s->v.ram = NULL;
	driver_exit(&s->v);
	munmap(ram, RAM_SIZE);
	close(s->ram_fd);
}

static int setup(void **state)
{
	struct share_memory ram;
	struct shared *s = shared_new(&ram);
	struct share *share;
	char err[128];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_true(back_end_start(&s->back, ends[0]));
	share = share_connect(ends[1], &ram, 1, err, sizeof(err));
	assert_non_null(share);
	plug(s, share);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct shared *s = *state;

	unplug(s);
	back_end_stop(&s->back);
	free(s);
	return 0;
}

/* --- what the driver sees --------------------------------------------------------------------- */

static void test_configuration(void **state)
{
	struct shared *s = *state;

	assert_true(offered(&s->v) == QUEUES);
	for (unsigned int i = 0; i < 36; i++)
		assert_int_equal(reg_get(&s->v, 0x2000 + i, 1), i < 5 ? "tests"[i] : 0);
	assert_int_equal(reg_get(&s->v, 0x2024, 4), 1);
	assert_int_equal(reg_get(&s->v, 0x2028, 4), 0);
	assert_int_equal(s->back.pa, RAM_START);
	assert_int_equal(s->back.size, RAM_SIZE);
	assert_true(s->back.has_memory);
}

/* What the driver's doorbell leads to, and who interrupts it. */
static void test_queues(void **state)
{
	struct shared *s = *state;
	eventfd_t count;

	driver_begin(&s->v, QUEUES);
	for (unsigned int i = 0; i < 2; i++) {
		struct back_queue q = back_end_queue(&s->back, i, true);
		struct pollfd kicked = {q.kick, POLLIN, 0};

		assert_int_equal(q.base, 0);
		assert_int_equal(q.desc, desc_at(i));
		assert_int_equal(q.avail, avail_at(i));
		assert_int_equal(q.used, used_at(i));
		kick(&s->v, i);
		assert_int_equal(poll(&kicked, 1, -1), 1);
		assert_int_equal(eventfd_read(q.kick, &count), 0);
		eventfd_write(q.call, 1);
		wait_fire(&s->v, i + 1, 1);
	}
	assert_true(s->back.features == (QUEUES | 1u << 30));
	assert_int_equal(s->warnings, 0);
}

static void test_hold(void **state)
{
	struct shared *s = *state;

	driver_begin(&s->v, QUEUES);
	back_end_queue(&s->back, REQUESTS, true);
	s->back.done = 7;
	virtio_hold(s->v.d);
	assert_false(s->back.queue[URGENT].running || s->back.queue[REQUESTS].running);
	virtio_release(s->v.d);
	assert_int_equal(back_end_queue(&s->back, REQUESTS, true).base, 7);
	s->back.done = 0;
	reset(&s->v);
	assert_false(s->back.queue[URGENT].running || s->back.queue[REQUESTS].running);
	driver_begin(&s->v, VIRTIO_F_VERSION_1);
	assert_int_equal(back_end_queue(&s->back, REQUESTS, true).base, 0);
	assert_true(s->back.features == (VIRTIO_F_VERSION_1 | 1u << 30));
}

/* A queue that is not where RAM is is nobody's. */
static void test_no_queue(void **state)
{
	struct shared *s = *state;

	reg_put(&s->v, 0x14, 1, 3);
	accept_features(&s->v, QUEUES);
	reg_put(&s->v, 0x14, 1, 11);
	reg_put(&s->v, 0x16, 2, REQUESTS);
	reg_put(&s->v, 0x20, 8, 0x10);
	reg_put(&s->v, 0x1c, 2, 1);
	reg_put(&s->v, 0x14, 1, 15);
	wait_status(&s->v, NEEDS_RESET);
	reset(&s->v);
	driver_begin(&s->v, QUEUES);
	assert_true(back_end_queue(&s->back, REQUESTS, true).running);
	assert_int_equal(s->warnings, 0);
}

/* --- requests --------------------------------------------------------------------------------- */

#define IN_DATA	 DATA
#define OUT_DATA (DATA + 0x1000)

enum { FUSE_MKNOD = 8, FUSE_MKDIR = 9, FUSE_INIT = 26 };

/* A request about the folder itself: what is behind FUSE's header. */
static void request(struct shared *s, uint32_t opcode, const void *body, uint32_t len)
{
	const uint32_t in[10] = {40 + len, opcode, 1, 0, 1};

	memcpy(at(&s->v, IN_DATA), in, sizeof(in));
	memcpy(at(&s->v, IN_DATA + 40), body, len);
	set_desc(&s->v, REQUESTS, 0, (struct test_desc){IN_DATA, 40, NEXT, 1});
	set_desc(&s->v, REQUESTS, 1, (struct test_desc){IN_DATA + 40, len, NEXT, 2});
	set_desc(&s->v, REQUESTS, 2, (struct test_desc){OUT_DATA, 16, NEXT | WRITE, 3});
	set_desc(&s->v, REQUESTS, 3, (struct test_desc){OUT_DATA + 16, 256, WRITE, 0});
	add_chain(&s->v, REQUESTS, 0);
	kick(&s->v, REQUESTS);
}

/* What is made of it: 0 or -errno. */
static int32_t answer(struct shared *s)
{
	int32_t out[4];

	assert_int_equal(wait_used(&s->v, REQUESTS, NULL), 0);
	memcpy(out, at(&s->v, OUT_DATA), sizeof(out));
	assert_int_equal(out[2], 1);
	return out[1];
}

static int32_t ask(struct shared *s, uint32_t opcode, const void *body, uint32_t len)
{
	request(s, opcode, body, len);
	return answer(s);
}

/* --- who serves it is gone, or lies ----------------------------------------------------------- */

static const uint32_t nothing;

static void is_refused(struct shared *s)
{
	assert_int_equal(ask(s, FUSE_MKDIR, &nothing, sizeof(nothing)), -ENOTCONN);
}

/* One that wants no answer is given back all the same. */
static void is_forgotten(struct shared *s)
{
	uint32_t written;

	set_desc(&s->v, URGENT, 0, (struct test_desc){IN_DATA, 48, 0, 0});
	add_chain(&s->v, URGENT, 0);
	kick(&s->v, URGENT);
	assert_int_equal(wait_used(&s->v, URGENT, &written), 0);
	assert_int_equal(written, 0);
}

static void lost(struct shared *s, const char *why)
{
	char line[256];

	is_refused(s);
	is_forgotten(s);
	snprintf(line, sizeof(line), "the guest has lost the shared folder /srv: %s", why);
	assert_string_equal(s->warned, line);
	reset(&s->v);
	driver_begin(&s->v, QUEUES); /* again and again */
	is_refused(s);
	virtio_hold(s->v.d);
	virtio_release(s->v.d);
	is_refused(s);
	assert_int_equal(s->warnings, 1);
}

/* As who serves the queue does it. */
static void give_back(struct shared *s, unsigned int queue, uint16_t head)
{
	const uint32_t entry[2] = {head, 0};
	uint16_t index = used_index(&s->v, queue), next = index + 1;
	uint8_t *used = at(&s->v, used_at(queue));

	memcpy(used + 4 + 8 * (index % QUEUE_SIZE), entry, sizeof(entry));
	__atomic_store_n((uint16_t *)(void *)(used + 2), next, __ATOMIC_RELEASE);
}

/* What it has given back is done, what it has not is refused. */
static void test_gone(void **state)
{
	struct shared *s = *state;

	driver_begin(&s->v, QUEUES);
	back_end_queue(&s->back, REQUESTS, true);
	request(s, FUSE_MKDIR, &nothing, sizeof(nothing));
	give_back(s, REQUESTS, 0);
	assert_int_equal(wait_used(&s->v, REQUESTS, NULL), 0);
	request(s, FUSE_MKDIR, &nothing, sizeof(nothing));
	shutdown(s->back.fd, SHUT_RDWR);
	wait_fire(&s->v, REQUESTS + 1, 1); /* nobody has told of the first one */
	assert_int_equal(answer(s), -ENOTCONN);
	lost(s, "virtiofsd has ended");
}

static void test_gone_before(void **state)
{
	struct shared *s = *state;

	shutdown(s->back.fd, SHUT_RDWR);
	driver_begin(&s->v, QUEUES);
	lost(s, "virtiofsd has ended");
}

static void test_talks_unasked(void **state)
{
	struct shared *s = *state;

	driver_begin(&s->v, QUEUES);
	back_end_queue(&s->back, REQUESTS, true);
	assert_int_equal(send(s->back.fd, "x", 1, 0), 1);
	lost(s, "virtiofsd answers what makes no sense");
}

static void lies(struct shared *s, uint32_t at, enum lie lie, const char *why)
{
	back_end_lie(&s->back, at, lie);
	driver_begin(&s->v, QUEUES);
	if (at == BACK_GET_BASE) {
		back_end_queue(&s->back, REQUESTS, true);
		virtio_hold(s->v.d);
		virtio_release(s->v.d);
	}
	lost(s, why);
}

static void test_lies(void **state)
{
	static const struct {
		uint32_t at;
		enum lie lie;
		const char *why;
	} rows[] = {
		{BACK_SET_FEATURES, REFUSES, "virtiofsd refuses what the guest wants"},
		{BACK_SET_ADDRESS, REFUSES, "virtiofsd refuses what the guest wants"},
		{BACK_SET_BASE, OTHER_REQUEST, "virtiofsd answers what makes no sense"},
		{BACK_SET_KICK, NO_REPLY_FLAG, "virtiofsd answers what makes no sense"},
		{BACK_SET_CALL, LONGER, "virtiofsd answers what makes no sense"},
		{BACK_ENABLE, GOES, "virtiofsd has ended"},
		{BACK_GET_BASE, OTHER_QUEUE, "virtiofsd answers what makes no sense"},
		{BACK_GET_BASE, GOES, "virtiofsd has ended"},
		{BACK_GET_BASE, SILENT, "virtiofsd does not answer"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		lies(*state, rows[i].at, rows[i].lie, rows[i].why);
	}
}

/* As long as somebody may go on in the queues nobody else does. */
static void test_stays(void **state)
{
	struct shared *s = *state;

	back_end_lie(&s->back, BACK_GET_BASE, STAYS);
	driver_begin(&s->v, QUEUES);
	back_end_queue(&s->back, REQUESTS, true);
	virtio_hold(s->v.d);
	virtio_release(s->v.d);
	assert_string_equal(s->warned, "the guest has lost the shared folder /srv: virtiofsd does "
				       "not answer");
	wait_status(&s->v, NEEDS_RESET);
	reset(&s->v);
	driver_begin(&s->v, QUEUES);
	wait_status(&s->v, NEEDS_RESET);
	assert_int_equal(s->warnings, 1);
}

/* How far a queue is it may say as it likes, in 16 bits. */
static void test_too_far(void **state)
{
	struct shared *s = *state;

	driver_begin(&s->v, QUEUES);
	back_end_queue(&s->back, REQUESTS, true);
	s->back.done = 65536;
	virtio_hold(s->v.d);
	virtio_release(s->v.d);
	lost(s, "virtiofsd answers what makes no sense");
}

static void refuses(uint32_t at, enum lie lie, const char *why)
{
	struct back_end back = {.lies_at = at, .lie = lie};
	struct share_memory ram;
	struct shared *s = shared_new(&ram);
	char err[128] = "";
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_true(back_end_start(&back, ends[0]));
	assert_null(share_connect(ends[1], &ram, 1, err, sizeof(err)));
	assert_string_equal(err, why);
	back_end_stop(&back);
	close(s->ram_fd);
	free(s);
}

static void test_refused_at_once(void **state)
{
	(void)state;
	refuses(BACK_GET_FEATURES, GOES, "virtiofsd has ended");
	refuses(BACK_GET_PROTOCOL, REFUSES, "virtiofsd is too old");
	refuses(BACK_SET_MEMORY, REFUSES, "virtiofsd refuses what the guest wants");
}

/* --- a virtiofsd ------------------------------------------------------------------------------
 */

static bool has_virtiofsd(void)
{
	return !access("/usr/lib/qemu/virtiofsd", X_OK) || !access("/usr/libexec/virtiofsd", X_OK);
}

/* A guest's files have more than one owner: an ordinary user needs /etc/subuid for that. */
static bool has_users(void)
{
	int status = -1;
	pid_t pid;

	if (!geteuid())
		return true;
	pid = fork();
	if (!pid) {
		execlp("unshare", "unshare", "--map-root-user", "--map-auto", "true", NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

static void begin_session(struct shared *s)
{
	const uint32_t init[4] = {7, 31, 0x20000, 0};

	driver_begin(&s->v, QUEUES);
	assert_int_equal(ask(s, FUSE_INIT, init, sizeof(init)), 0);
}

static int32_t make_folder(struct shared *s, const char *name)
{
	struct {
		uint32_t mode, umask;
		char name[8];
	} body = {.mode = 0700};

	memcpy(body.name, name, strlen(name));
	return ask(s, FUSE_MKDIR, &body, 8 + (uint32_t)strlen(name) + 1);
}

static int32_t make_device(struct shared *s)
{
	const struct {
		uint32_t mode, rdev, umask, padding;
		char name[8];
	} body = {.mode = S_IFCHR | 0600, .rdev = 0x103, .name = "null"};

	return ask(s, FUSE_MKNOD, &body, 16 + 5);
}

static struct shared *new_sharing(const char *path, bool read_only)
{
	const struct machine_share from = {.path = path, .tag = "tests", .read_only = read_only};
	char err[256] = "";
	struct share_memory ram;
	struct shared *s;
	struct share *share;

	s = shared_new(&ram);
	share = share_open(&from, &ram, 1, err, sizeof(err));
	assert_string_equal(err, "");
	assert_non_null(share);
	plug(s, share);
	return s;
}

static void test_virtiofsd(void **state)
{
	char folder[] = "/tmp/test,fs-XXXXXX", made[32];
	struct shared *s;

	(void)state;
	if (!has_virtiofsd() || !has_users())
		skip();
	assert_non_null(mkdtemp(folder));
	snprintf(made, sizeof(made), "%s/made", folder);
	s = new_sharing(folder, false);
	begin_session(s);
	wait_fire(&s->v, REQUESTS + 1, 1);
	assert_int_equal(make_folder(s, "made"), 0);
	assert_int_equal(make_folder(s, "made"), -EEXIST);
	assert_int_equal(make_device(s), -EPERM);
	virtio_hold(s->v.d);
	assert_int_equal(rmdir(made), 0);
	virtio_release(s->v.d);
	assert_int_equal(make_folder(s, "made"), 0);
	begin_session(s); /* the guest begins anew */
	assert_int_equal(make_folder(s, "made"), -EEXIST);
	unplug(s);
	free(s);
	assert_int_equal(rmdir(made), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void test_read_only(void **state)
{
	char folder[] = "/tmp/test-fs-XXXXXX";
	struct shared *s;

	(void)state;
	if (!has_virtiofsd() || !has_users())
		skip();
	assert_non_null(mkdtemp(folder));
	s = new_sharing(folder, true);
	begin_session(s);
	assert_int_equal(make_folder(s, "made"), -EROFS);
	unplug(s);
	free(s);
	assert_int_equal(rmdir(folder), 0);
}

/* Of the processes that this one has started, the latest. */
static pid_t child(void)
{
	FILE *f = fopen("/proc/thread-self/children", "r");
	int pid = 0, last = 0;

	assert_non_null(f);
	while (fscanf(f, "%d", &pid) == 1)
		last = pid;
	fclose(f);
	assert_true(last > 0);
	return last;
}

/* One that shares a folder of its own, with a session; NULL: there is no virtiofsd to be had. */
static struct shared *new_session(char *folder)
{
	struct shared *s;

	if (!has_virtiofsd() || !has_users())
		return NULL;
	assert_non_null(mkdtemp(folder));
	s = new_sharing(folder, false);
	begin_session(s);
	return s;
}

static void end_session(struct shared *s, const char *folder)
{
	unplug(s);
	free(s);
	assert_int_equal(rmdir(folder), 0);
}

/* One that does not answer is killed before the guest goes on without it: it might still write. */
static void test_stands(void **state)
{
	char folder[] = "/tmp/test-fs-XXXXXX";
	struct shared *s = new_session(folder);

	(void)state;
	if (!s)
		skip();
	assert_int_equal(kill(-child(), SIGSTOP), 0);
	virtio_hold(s->v.d);
	virtio_release(s->v.d);
	lost(s, "virtiofsd does not answer");
	end_session(s, folder);
}

/* The guest's tasks do not wait for one that was killed. */
static void test_killed(void **state)
{
	char folder[] = "/tmp/test-fs-XXXXXX";
	struct shared *s = new_session(folder);

	(void)state;
	if (!s)
		skip();
	assert_int_equal(kill(-child(), SIGKILL), 0);
	lost(s, "virtiofsd has ended");
	end_session(s, folder);
}

static void test_no_folder(void **state)
{
	const struct machine_share from = {.path = "/no/such/folder", .tag = "tests"};
	struct share_memory ram;
	struct shared *s = shared_new(&ram);
	char err[256] = "";

	(void)state;
	assert_null(share_open(&from, &ram, 1, err, sizeof(err)));
	close(s->ram_fd);
	free(s);
	if (!has_virtiofsd())
		skip();
	assert_memory_equal(err, "cannot share /no/such/folder: virtiofsd says: ", 46);
}

#define WITH_BACK_END(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BACK_END(test_configuration),
		WITH_BACK_END(test_queues),
		WITH_BACK_END(test_hold),
		WITH_BACK_END(test_no_queue),
		WITH_BACK_END(test_gone),
		WITH_BACK_END(test_gone_before),
		WITH_BACK_END(test_talks_unasked),
		WITH_BACK_END(test_lies),
		WITH_BACK_END(test_stays),
		WITH_BACK_END(test_too_far),
		cmocka_unit_test(test_refused_at_once),
		cmocka_unit_test(test_virtiofsd),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_stands),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
