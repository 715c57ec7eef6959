// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guest-memory.c - looks at the memory of a guest of QEMU, and scribbles over it.
 *
 * usage: guest-memory text TARGET KERNEL   the kernel's text, and the page directories of text
 *                                           and modules, to standard output
 *        guest-memory windows PID          how many windows of hvtrace the QEMU's memory has
 *        guest-memory scribble PID MS      write anything to what the guest may write of them
 */
#include "tests/e2e/running-guest.h"
#include "tests/seed.h"
#include "tracer/guest/ktables.h"
#include "tracer/payload/payload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MODULES	     UINT64_C(0xffffffffc0000000) /* Documentation/x86/x86_64/mm.rst, 6.1 */
#define KERNEL_TABLE 0x67			  /* _PAGE_TABLE, pgtable_types.h: no window's */
#define MAX_WINDOWS  16
#define PAGE	     4096
#define RAM_MIN	     (UINT64_C(64) << 20) /* smaller mappings are QEMU's own */

/*
 * The page directory for va's GiB, without what CPUs note in it: accessed and dirty. Where grows is
 * set the kernel makes page tables when it first needs them, and keeps them: those are left out as
 * well.
 */
static bool print_directory(struct env *e, uint64_t va, bool grows)
{
	const struct ktables tables = {.m = e->m, .root = e->root, .levels = e->levels};
	uint64_t pa, entry[512];

	if (ktables_directory(&tables, va, &pa) || machine_read(e->m, pa, entry, sizeof(entry)))
		return false;
	for (size_t i = 0; i < 512; i++) {
		if (grows && (entry[i] & 0xfff) == KERNEL_TABLE)
			entry[i] = 0;
		entry[i] &= ~UINT64_C(0x60);
	}
	return fwrite(entry, sizeof(entry), 1, stdout) == 1;
}

static int print_text(char **argv)
{
	struct env e = {.target = argv[0], .kernel = argv[1]};
	char err[256];
	uint8_t *text;
	size_t len;
	bool done;

	e.gs = guestsym_open(NULL, e.kernel, 0, err, sizeof(err));
	if (!e.gs) {
		fprintf(stderr, "guest-memory: %s\n", err);
		return 1;
	}
	env_attach(&e, NULL);
	find_kernel(&e);
	text = read_text(&e, &len);
	done = fwrite(text, 1, len, stdout) == len &&
	       print_directory(&e, running(&e, "_stext"), false) &&
	       print_directory(&e, MODULES, true) && !fflush(stdout);
	env_detach(&e);
	free(text);
	guestsym_close(e.gs);
	return !done;
}

/* --- windows, in the memory of the QEMU process ---------------------------------------------- */

struct windows {
	int mem;
	size_t nr;
	uint64_t at[MAX_WINDOWS];
};

static void look_at_page(struct windows *w, uint64_t at)
{
	struct payload_header h;

	if (w->nr < MAX_WINDOWS && pread(w->mem, &h, sizeof(h), (off_t)at) == sizeof(h) &&
	    !memcmp(h.magic, PAYLOAD_MAGIC, sizeof(h.magic)) && h.va && h.nr_pieces)
		w->at[w->nr++] = at;
}

static bool windows_find(struct windows *w, const char *pid)
{
	char path[64], line[512];
	FILE *maps;

	w->nr = 0;
	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	w->mem = open(path, O_RDWR | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "re");
	if (w->mem < 0 || !maps) {
		perror(path);
		return false;
	}
	while (fgets(line, sizeof(line), maps)) {
		char *mode;
		uint64_t from = strtoull(line, &mode, 16), to = 0;

		if (*mode == '-')
			to = strtoull(mode + 1, &mode, 16);
		if (strncmp(mode, " rw", 3) || to - from < RAM_MIN)
			continue;
		for (; from < to; from += PAGE)
			look_at_page(w, from);
	}
	fclose(maps);
	return true;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* A few bytes, or many, of the header, of control blocks, or of rings: not of text and tables. */
static void scribble_once(const struct windows *w)
{
	static const struct {
		uint64_t from, len;
	} parts[] = {
		{WINDOW_HEADER, PAGE},
		{WINDOW_CTL, 4 * CTL_SIZE},
		{WINDOW_CTL, CTL_SIZE},
		{WINDOW_PIDS, WINDOW_PIDS_SIZE},
		{WINDOW_RINGS, WINDOW_PIECE - WINDOW_RINGS},
	};
	size_t part = (size_t)random() % (sizeof(parts) / sizeof(parts[0]));
	uint8_t bytes[256];
	size_t len = 1 + (size_t)random() % (random() % 2 ? 8 : sizeof(bytes));
	uint64_t off = parts[part].from + (uint64_t)random() % (parts[part].len - len + 1);

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(random() % 4 ? random() >> 7 : random() % 4);
	for (size_t i = 0; i < w->nr; i++)
		if (pwrite(w->mem, bytes, len, (off_t)(w->at[i] + off)) != (ssize_t)len)
			perror("guest-memory");
}

static int scribble(char **argv)
{
	struct windows w;
	uint64_t end, n = 0;

	if (!windows_find(&w, argv[0]) || !w.nr)
		return 1;
	srandom(test_seed());
	for (end = now_ms() + strtoul(argv[1], NULL, 10); now_ms() < end; n++)
		scribble_once(&w);
	printf("# scribbled %" PRIu64 " times\n", n);
	close(w.mem);
	return 0;
}

static int count_windows(char **argv)
{
	struct windows w;

	if (!windows_find(&w, argv[0]))
		return 1;
	printf("%zu\n", w.nr);
	close(w.mem);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int argc;
		int (*fn)(char **argv);
	} commands[] = {
		{"text", 4, print_text},
		{"windows", 3, count_windows},
		{"scribble", 4, scribble},
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc == commands[i].argc && !strcmp(argv[1], commands[i].name))
			return commands[i].fn(argv + 2);
	fprintf(stderr, "usage: guest-memory text TARGET KERNEL | windows PID | scribble PID MS\n");
	return 2;
}
