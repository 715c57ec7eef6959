// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nbd-calls.c - a network block device in a guest whose server is this program, behind a socket
 * pair: so the module nbd has something to do, and records its trace events, without hardware or
 * network. Reads a number of blocks, which are all zero, and prints how many requests the server
 * was sent. With a command it is a disk of so many blocks that can be written, with a partition
 * from the 64th on, and whose last block cannot be read; a shell runs the command while the disk
 * is there.
 *
 * With two files it reads some blocks of both, by one system call, on one vCPU: requests of several
 * are kept back in a queue of each.
 *
 * usage: [NBD=/dev/nbd0] nbd-calls BLOCKS [COMMAND]
 *        nbd-calls both FILE FILE
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/nbd.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK	  4096
#define PARTITION 64 /* its first block */

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "nbd-calls: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool receive(int fd, void *buf, size_t len)
{
	return recv(fd, buf, len, MSG_WAITALL) == (ssize_t)len;
}

static void deliver(int fd, const void *buf, size_t len)
{
	if (send(fd, buf, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("send");
}

/* Until it is told to disconnect: all blocks are zero. */
static void serve(int fd)
{
	static const uint8_t zeros[BLOCK];
	struct nbd_request request;
	unsigned int n = 0;

	while (receive(fd, &request, sizeof(request)) &&
	       (ntohl(request.type) & 0xffff) == NBD_CMD_READ) {
		struct nbd_reply reply = {.magic = htobe32(NBD_REPLY_MAGIC)};
		uint32_t len = be32toh(request.len);

		memcpy(&reply.handle, &request.handle, sizeof(reply.handle));
		deliver(fd, &reply, sizeof(reply));
		for (uint32_t i = 0; i < len; i += BLOCK)
			deliver(fd, zeros, len - i < BLOCK ? len - i : BLOCK);
		n++;
	}
	printf("nbd-calls: %u requests\n", n);
}

/* --- a disk in memory ---------------------------------------------------------------------- */

static uint64_t disk_size;

/* A table of partitions, as of DOS, with one. */
static void put_table(uint8_t *disk)
{
	const uint32_t place[] = {htole32(PARTITION),
				  htole32((uint32_t)(disk_size / BLOCK) - PARTITION)};

	disk[450] = 0x83;
	memcpy(disk + 454, place, sizeof(place));
	disk[510] = 0x55;
	disk[511] = 0xaa;
}

static bool do_request(int fd, uint8_t *disk, uint32_t type, uint64_t from, uint32_t len,
		       struct nbd_reply *reply)
{
	if (type == NBD_CMD_WRITE)
		return receive(fd, disk + from, len) &&
		       send(fd, reply, sizeof(*reply), MSG_NOSIGNAL) > 0;
	if (type == NBD_CMD_TRIM)
		memset(disk + from, 0, len);
	if (type == NBD_CMD_READ && from + len > disk_size - BLOCK)
		reply->error = htobe32(EIO);
	deliver(fd, reply, sizeof(*reply));
	if (type == NBD_CMD_READ && !reply->error)
		deliver(fd, disk + from, len);
	return true;
}

static void serve_disk(int fd)
{
	uint8_t *disk = mmap(NULL, disk_size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct nbd_request request;

	if (disk == MAP_FAILED)
		die("no memory");
	put_table(disk);
	while (receive(fd, &request, sizeof(request))) {
		struct nbd_reply reply = {.magic = htobe32(NBD_REPLY_MAGIC)};
		uint32_t type = ntohl(request.type) & 0xffff, len = be32toh(request.len);
		uint64_t from = be64toh(request.from);

		memcpy(&reply.handle, &request.handle, sizeof(reply.handle));
		if (type == NBD_CMD_DISC || from > disk_size || len > disk_size - from ||
		    !do_request(fd, disk, type, from, len, &reply))
			break;
	}
}

static pid_t in_child(int fd, void (*work)(int fd))
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	work(fd);
	fflush(stdout);
	_exit(0);
}

/* Returns when the device is disconnected. */
static void drive(int fd)
{
	if (ioctl(fd, NBD_DO_IT))
		die("NBD_DO_IT");
}

/* The device has no size before it is driven. */
static void read_blocks(int fd, unsigned int n)
{
	void *buf;

	if (posix_memalign(&buf, BLOCK, BLOCK))
		die("no memory");
	for (unsigned int i = 0; i < n;) {
		ssize_t len = pread(fd, buf, BLOCK, (off_t)i * BLOCK);

		if (len < 0)
			die("pread");
		i += len == BLOCK;
	}
	free(buf);
}

/* The device takes no requests before it is driven, and then has partitions. */
static int run_command(int fd, const char *command)
{
	uint8_t *sector;
	int status = -1;
	pid_t pid;

	if (posix_memalign((void **)&sector, BLOCK, BLOCK))
		die("no memory");
	while (pread(fd, sector, BLOCK, 0) != BLOCK)
		;
	free(sector);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* --- blocks of two files ------------------------------------------------------------------- */

enum { REQUESTS = 100, PLACE = 40 * BLOCK, LONG = 32 * BLOCK };

static int open_to_read(const char *name)
{
	int fd = open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);

	if (fd < 0)
		die(name);
	return fd;
}

static void stay_on_vcpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* More than the kernel keeps back at a time, and some so long that it keeps no more. None of them
 * lies beside another one. */
static int read_both(char *const name[2])
{
	const int fd[] = {open_to_read(name[0]), open_to_read(name[1])};
	static struct iocb cb[REQUESTS];
	static struct io_event done[REQUESTS];
	struct iocb *cbs[REQUESTS];
	aio_context_t context = 0;
	uint8_t *buf;

	if (posix_memalign((void **)&buf, BLOCK, LONG))
		die("no memory");
	stay_on_vcpu();
	for (unsigned int i = 0; i < REQUESTS; i++) {
		cb[i].aio_lio_opcode = IOCB_CMD_PREAD;
		cb[i].aio_fildes = (uint32_t)fd[i * i / 3 % 2];
		cb[i].aio_buf = (uintptr_t)buf;
		cb[i].aio_nbytes = i % 9 == 7 && i < REQUESTS / 3 ? LONG : BLOCK;
		cb[i].aio_offset = (int64_t)i * PLACE;
		cbs[i] = &cb[i];
	}
	if (syscall(SYS_io_setup, REQUESTS, &context) ||
	    syscall(SYS_io_submit, context, REQUESTS, cbs) != REQUESTS ||
	    syscall(SYS_io_getevents, context, REQUESTS, REQUESTS, done, NULL) != REQUESTS)
		die("io_submit");
	free(buf);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int n = argc == 2 || argc == 3 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	const unsigned long flags = NBD_FLAG_HAS_FLAGS | NBD_FLAG_SEND_FLUSH | NBD_FLAG_SEND_TRIM;
	const char *command = argc == 3 ? argv[2] : NULL, *device;
	int fd, pair[2], ret = 0;
	pid_t server, driver;

	if (argc == 4 && !strcmp(argv[1], "both"))
		return read_both(argv + 2);
	if (!n) {
		fprintf(stderr, "usage: nbd-calls BLOCKS [COMMAND]\n"
				"       nbd-calls both FILE FILE\n");
		return 2;
	}
	device = getenv("NBD");
	if (!device)
		device = "/dev/nbd0";
	fd = open(device, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		die(device);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		die("socketpair");
	if (ioctl(fd, NBD_SET_BLKSIZE, (unsigned long)BLOCK) ||
	    ioctl(fd, NBD_SET_SIZE_BLOCKS, (unsigned long)n) || ioctl(fd, NBD_SET_SOCK, pair[0]))
		die(device);
	if (command && ioctl(fd, NBD_SET_FLAGS, flags))
		die("NBD_SET_FLAGS");
	disk_size = (uint64_t)n * BLOCK;
	server = in_child(pair[1], command ? serve_disk : serve);
	close(pair[1]); /* the driver waits for its end */
	driver = in_child(fd, drive);
	if (command)
		ret = run_command(fd, command) ? 1 : 0;
	else
		read_blocks(fd, n);
	if (ioctl(fd, NBD_DISCONNECT))
		die("NBD_DISCONNECT");
	waitpid(driver, NULL, 0);
	waitpid(server, NULL, 0);
	return ret;
}
