// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nbd-calls.c - a network block device in a guest whose server is this program, behind a socket
 * pair: so the module nbd has something to do, and records its trace events, without hardware or
 * network. Reads a number of blocks, and prints how many requests the server was sent.
 *
 * usage: nbd-calls BLOCKS
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nbd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK 4096

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

int main(int argc, char **argv)
{
	unsigned int n = argc == 2 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	int fd, pair[2];
	pid_t server, driver;

	if (!n) {
		fprintf(stderr, "usage: nbd-calls BLOCKS\n");
		return 2;
	}
	fd = open("/dev/nbd0", O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		die("/dev/nbd0");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		die("socketpair");
	if (ioctl(fd, NBD_SET_BLKSIZE, (unsigned long)BLOCK) ||
	    ioctl(fd, NBD_SET_SIZE_BLOCKS, (unsigned long)n) || ioctl(fd, NBD_SET_SOCK, pair[0]))
		die("/dev/nbd0");
	server = in_child(pair[1], serve);
	close(pair[1]); /* the driver waits for its end */
	driver = in_child(fd, drive);
	read_blocks(fd, n);
	if (ioctl(fd, NBD_DISCONNECT))
		die("NBD_DISCONNECT");
	waitpid(driver, NULL, 0);
	waitpid(server, NULL, 0);
	return 0;
}
