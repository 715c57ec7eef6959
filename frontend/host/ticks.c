// SPDX-License-Identifier: GPL-2.0-or-later
/* ticks.c - how the host's kernel makes nanoseconds of its TSC: it tells who has an event of perf.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frontend/host/host.h"

/* Readers up to trace-cmd 3.1 take a mult of 32 bits for a negative one. */
static struct dat_tsc2nsec ticks_of(uint32_t mult, uint32_t shift)
{
	while (mult > INT32_MAX) {
		mult /= 2;
		shift--;
	}
	return (struct dat_tsc2nsec){mult, shift, 0};
}

bool host_ticks(struct dat_tsc2nsec *ticks)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct perf_event_mmap_page *page;
	bool told = false;

	if (fd < 0)
		return false;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return false;
	if (page->cap_user_time && page->time_mult && page->time_shift < 64) {
		*ticks = ticks_of(page->time_mult, page->time_shift);
		told = true;
	}
	munmap(page, (size_t)sysconf(_SC_PAGESIZE));
	return told;
}
