// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guest-memory.c - looks at the memory of a guest of QEMU, and scribbles over it.
 *
 * usage: guest-memory text TARGET KERNEL   the kernel's text, and the page directories of text
 *                                           and modules, to standard output
 *        guest-memory windows PID          how many windows of hvtrace the QEMU's memory has
 *        guest-memory scribble PID MS      write anything to what the guest may write of them,
 * until the time is over, or they have been taken away
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
#define MAGIC_SIZE   16
#define BURST	     16	      /* so many times in a row, in the middle; */
#define PAUSE_NS     1000000L /* then a pause of up to that, in which the guest makes true records */

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
	/* By the tables of some task, which may go: nothing may run until all has been read. */
	machine_pause(e.m);
	find_kernel(&e);
	text = read_text(&e, &len);
	done = fwrite(text, 1, len, stdout) == len &&
	       print_directory(&e, running(&e, "_stext"), false) &&
	       print_directory(&e, MODULES, true) && !fflush(stdout);
	machine_resume(e.m);
	env_detach(&e);
	free(text);
	guestsym_close(e.gs);
	return !done;
}

/* --- windows, in the memory of the QEMU process ---------------------------------------------- */

/* Where QEMU has the pieces of one. */
struct place {
	uint64_t at[WINDOW_MAX_PIECES];
	size_t pieces;
};

struct windows {
	int mem;
	size_t nr;
	struct place v[MAX_WINDOWS];
};

/* The pieces lie in one mapping, as they do in the guest: it is a small one. */
static bool place_pieces(struct place *p, const struct payload_header *h, uint64_t from,
			 uint64_t to)
{
	if (!h->va || !h->nr_pieces || h->nr_pieces > WINDOW_MAX_PIECES)
		return false;
	for (p->pieces = 0; p->pieces < h->nr_pieces; p->pieces++) {
		uint64_t at = p->at[0] + h->piece_pa[p->pieces] - h->piece_pa[0];

		if (at < from || at >= to)
			return false;
		p->at[p->pieces] = at;
	}
	return true;
}

static void look_at_page(struct windows *w, uint64_t at, uint64_t from, uint64_t to)
{
	struct place *p = &w->v[w->nr];
	struct payload_header h;

	if (w->nr == MAX_WINDOWS || pread(w->mem, &h, sizeof(h), (off_t)at) != sizeof(h) ||
	    memcmp(h.magic, PAYLOAD_MAGIC, sizeof(h.magic)))
		return;
	p->at[0] = at;
	w->nr += place_pieces(p, &h, from, to);
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
		for (uint64_t at = from; at < to; at += PAGE)
			look_at_page(w, at, from, to);
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

/* What hvtrace has given back has none; it belongs to the guest again. */
static bool is_window(const struct windows *w, const struct place *p)
{
	char magic[MAGIC_SIZE];

	return pread(w->mem, magic, sizeof(magic), (off_t)p->at[0]) == sizeof(magic) &&
	       !memcmp(magic, PAYLOAD_MAGIC, sizeof(magic));
}

/*
 * A few bytes, or many, of the header, of control blocks, or of rings: not of text and tables.
 * Whether there was a window to write to.
 */
static bool scribble_once(const struct windows *w, const struct place *p)
{
	const struct {
		uint64_t from, len;
	} parts[] = {
		{WINDOW_HEADER + MAGIC_SIZE, PAGE - MAGIC_SIZE},
		{WINDOW_CTL, 4 * CTL_SIZE},
		{WINDOW_CTL, CTL_SIZE},
		{WINDOW_PIDS, WINDOW_PIDS_SIZE},
		{WINDOW_RINGS, p->pieces * WINDOW_PIECE - WINDOW_RINGS},
	};
	size_t part = (size_t)random() % (sizeof(parts) / sizeof(parts[0]));
	uint8_t bytes[256];
	size_t len = 1 + (size_t)random() % (random() % 2 ? 8 : sizeof(bytes));
	uint64_t off = parts[part].from + (uint64_t)random() % (parts[part].len - len + 1);
	uint64_t left = WINDOW_PIECE - off % WINDOW_PIECE;

	len = len < left ? len : left;
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(random() % 4 ? random() >> 7 : random() % 4);
	if (!is_window(w, p))
		return false;
	off += p->at[off / WINDOW_PIECE] - off / WINDOW_PIECE * WINDOW_PIECE;
	if (pwrite(w->mem, bytes, len, (off_t)off) != (ssize_t)len)
		perror("guest-memory");
	return true;
}

static bool scribble_all(const struct windows *w)
{
	bool any = false;

	for (size_t i = 0; i < w->nr; i++)
		any |= scribble_once(w, &w->v[i]);
	return any;
}

static int scribble(char **argv)
{
	struct windows w;
	uint64_t end, n = 0;

	if (!windows_find(&w, argv[0]) || !w.nr)
		return 1;
	srandom(test_seed());
	for (end = now_ms() + strtoul(argv[1], NULL, 10); now_ms() < end && scribble_all(&w); n++) {
		const struct timespec pause = {.tv_nsec = random() % PAUSE_NS};

		if (!(random() % BURST))
			nanosleep(&pause, NULL);
	}
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
