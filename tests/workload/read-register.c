// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read-register.c - a guest program that reads a register of a PCI device over and over, and says
 * what that has taken by the guest's clock.
 *
 * usage: read-register FILE OFFSET COUNT      FILE: /sys/bus/pci/devices/ADDRESS/resourceN
 *
 * Without iomem=relaxed a kernel does not let it, as long as a driver has the device.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned long offset = argc == 4 ? strtoul(argv[2], NULL, 0) : PAGE;
	unsigned long count = argc == 4 ? strtoul(argv[3], NULL, 0) : 0;
	const volatile uint32_t *page;
	uint32_t value = 0;
	uint64_t begin;
	int fd;

	if (!count || offset > PAGE - sizeof(value)) {
		fprintf(stderr, "usage: read-register FILE OFFSET COUNT\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_SYNC);
	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (fd < 0 || page == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	begin = now_ns();
	for (unsigned long i = 0; i < count; i++)
		value = page[offset / sizeof(value)];
	printf("read-register: 0x%" PRIx32 " %lu times in %" PRIu64 " ns\n", value, count,
	       now_ns() - begin);
	return 0;
}
