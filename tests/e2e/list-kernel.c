// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * list-kernel.c - lists what guestsym says of a kernel, one thing per line, to be sorted and
 * compared: of the kernel in an image, or in the memory of a guest, in which KASLR has moved it.
 *
 * usage: list-kernel image IMAGE
 *        list-kernel events IMAGE                           its own trace events
 *        list-kernel event-details IMAGE                    what else is known of them
 *        list-kernel memory IMAGE RAM CR3 CR4 IDT           at the image's addresses
 *        list-kernel modules IMAGE RAM CR3 CR4 IDT          its modules, found with its memory
 *        list-kernel modules-by-image IMAGE RAM CR3 CR4 IDT the same, found with the image
 *        list-kernel events IMAGE RAM CR3 CR4 IDT           its trace events, found with its memory
 *        list-kernel events-by-image IMAGE RAM CR3 CR4 IDT  the same, found with the image
 *        list-kernel event-details IMAGE RAM CR3 CR4 IDT    of those that the image has as well
 *
 * Modules are listed as the guest does: lines of /proc/kallsyms and of available_filter_functions.
 * So are trace events: available_events, then what tail(1) prints of all format files.
 * RAM is the guest's memory as a file: byte n is at guest-physical address n.
 */
#include "guestsym/guestsym.h"
#include "tracer/events/filter/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- the guest's memory ------------------------------------------------------------------ */

struct guest {
	const uint8_t *ram;
	size_t len;
	uint64_t root;
	int levels;
};

/* Page tables: Intel SDM vol. 3, 4.5. */
static int walk(const struct guest *g, uint64_t va, uint64_t *pa, uint64_t *left)
{
	uint64_t table = g->root & UINT64_C(0x000ffffffffff000), entry;

	for (int level = g->levels; level; level--) {
		int shift = 12 + 9 * (level - 1);
		uint64_t at = table + (va >> shift & 511) * 8, mask = (UINT64_C(1) << shift) - 1;

		if (at > g->len - 8)
			return -EFAULT;
		memcpy(&entry, g->ram + at, 8);
		if (!(entry & 1))
			return -EFAULT;
		table = entry & UINT64_C(0x000ffffffffff000);
		if (level == 1 || (level < 4 && entry & 0x80)) {
			*pa = (table & ~mask) | (va & mask);
			*left = mask + 1 - (va & mask);
			return 0;
		}
	}
	return -EFAULT;
}

static int read_guest(void *arg, uint64_t va, void *buf, size_t len)
{
	const struct guest *g = arg;
	uint8_t *to = buf;

	while (len) {
		uint64_t pa, left;
		size_t part;

		if (walk(g, va, &pa, &left))
			return -EFAULT;
		part = left < len ? left : len;
		if (pa > g->len || part > g->len - pa)
			return -EFAULT;
		memcpy(to, g->ram + pa, part);
		va += part;
		to += part;
		len -= part;
	}
	return 0;
}

static int map_guest(struct guest *g, char **argv)
{
	int fd = open(argv[0], O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	map = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -errno;
	/* The kernel's half of a pair of tables (page table isolation). */
	*g = (struct guest){
		.ram = map,
		.len = st.st_size,
		.root = strtoull(argv[1], NULL, 16) & ~UINT64_C(0x1000),
		.levels = strtoull(argv[2], NULL, 16) & 1 << 12 ? 5 : 4,
	};
	return 0;
}

/* The handler of vector 14, page faults. */
static int find_hint(struct guestsym_memory *mem, const char *idt)
{
	uint16_t gate[8] = {0};
	int err = mem->read(mem->arg, strtoull(idt, NULL, 16) + 14 * sizeof(gate), gate,
			    sizeof(gate));

	mem->hint = (uint64_t)gate[5] << 48 | (uint64_t)gate[4] << 32 | (uint64_t)gate[3] << 16 |
		    gate[0];
	return err;
}

/* --- lists ------------------------------------------------------------------------------- */

static void list_symbols(const struct guestsym *gs, uint64_t slide)
{
	const struct guestsym_symbol *v;
	size_t n = guestsym_symbols(gs, &v);

	/* Per-CPU variables have offsets. */
	for (size_t i = 0; i < n; i++)
		printf("symbol %016" PRIx64 " %c %s\n",
		       v[i].addr >> 63 ? v[i].addr - slide : v[i].addr, v[i].type, v[i].name);
}

static void list_sites(const struct guestsym *gs, uint64_t slide)
{
	const struct guestsym_site *v;
	size_t n = guestsym_fentry_sites(gs, &v);

	for (size_t i = 0; i < n; i++)
		if (!(v[i].flags & GUESTSYM_SITE_INIT))
			printf("function %016" PRIx64 " %016" PRIx64 " %s%s\n", v[i].addr - slide,
			       v[i].func - slide, v[i].name,
			       v[i].flags & GUESTSYM_SITE_INVALID ? " invalid" : "");
}

static void list_tables(const struct guestsym *gs, uint64_t slide)
{
	const struct guestsym_tracepoint *tps;
	size_t n;

	n = guestsym_tracepoints(gs, &tps);
	for (size_t i = 0; i < n; i++)
		printf("tracepoint %016" PRIx64 " %s\n", tps[i].addr - slide, tps[i].name);
}

static void list_rest(const struct guestsym *gs, uint64_t slide)
{
	const struct guestsym_irq_site *irqs;
	const struct guestsym_preempt_site *preempts;
	struct guestsym_range ip, unwind, header;
	size_t n = guestsym_irq_sites(gs, &irqs);

	for (size_t i = 0; i < n; i++)
		printf("irq %016" PRIx64 " %u %u\n", irqs[i].addr - slide, irqs[i].kind,
		       irqs[i].len);
	n = guestsym_preempt_sites(gs, &preempts);
	for (size_t i = 0; i < n; i++)
		printf("preempt %016" PRIx64 " %d %u\n", preempts[i].addr - slide,
		       preempts[i].value, preempts[i].len);
	guestsym_orc(gs, &ip, &unwind, &header);
	printf("orc %016" PRIx64 " %016" PRIx64 "\n", ip.start - slide, unwind.end - slide);
	printf("kernel %s %s\n", guestsym_build_id(gs), guestsym_banner(gs));
	printf("types %zu\n", guestsym_btf_types(gs));
}

static void list_kernel(const struct guestsym *gs, uint64_t slide)
{
	list_symbols(gs, slide);
	list_sites(gs, slide);
	list_tables(gs, slide);
	list_rest(gs, slide);
}

static int list_modules(const struct guestsym *gs, const struct guestsym_memory *mem,
			uint64_t slide)
{
	struct guestsym_module *mods;
	size_t n;
	int err = guestsym_modules_read(gs, mem, slide, &mods, &n);

	if (err) {
		fprintf(stderr, "list-kernel: modules: %s\n", strerror(-err));
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct guestsym_module *m = &mods[i];

		for (size_t k = 0; k < m->nr_syms; k++)
			printf("%016" PRIx64 " %c %s\t[%s]\n", m->syms[k].addr, m->syms[k].type,
			       m->syms[k].name, m->name);
		for (size_t k = 0; k < m->nr_sites; k++)
			printf("%s [%s]\n", m->sites[k].name, m->name);
	}
	guestsym_modules_free(mods, n);
	return 0;
}

/* --- trace events ------------------------------------------------------------------------ */

static int compare_paths(const void *a, const void *b)
{
	const struct guestsym_event *const *x = a, *const *y = b;
	int systems = strcmp((*x)->system, (*y)->system);

	return systems ? systems : strcmp((*x)->name, (*y)->name);
}

static void print_formats(const struct guestsym_event_list *list)
{
	const struct guestsym_event **sorted = calloc(list->n + 1, sizeof(*sorted));
	struct text t = {0};

	for (size_t i = 0; i < list->n && sorted; i++)
		sorted[i] = &list->v[i];
	if (sorted)
		qsort(sorted, list->n, sizeof(*sorted), compare_paths);
	for (size_t i = 0; i < list->n && sorted; i++) {
		text_printf(&t, "%s==> events/%s/%s/format <==\n", i ? "\n" : "", sorted[i]->system,
			    sorted[i]->name);
		event_format_print(
			&t, &(struct event_format){sorted[i], list->common, list->nr_common});
	}
	fwrite(t.buf, 1, t.len, stdout);
	text_free(&t);
	free(sorted);
}

static void print_events(const struct guestsym_event_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].source != GUESTSYM_EVENT_FTRACE)
			printf("%s:%s\n", list->v[i].system, list->v[i].name);
	print_formats(list);
}

static uint64_t link_address(uint64_t va, uint64_t slide)
{
	return va ? va - slide : 0;
}

static void print_details(const struct guestsym_event_list *list, uint64_t slide)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct guestsym_event *ev = &list->v[i];

		if (ev->flags & GUESTSYM_EVENT_FL_DYNAMIC)
			continue;
		printf("%s:%s %u source %u syscall %d %d flags %u call %" PRIx64 " tp %" PRIx64
		       " probe %" PRIx64 " kinds",
		       ev->system, ev->name, ev->id, ev->source, ev->syscall_nr, ev->syscall_exit,
		       ev->flags, ev->call - slide, link_address(ev->tracepoint, slide),
		       link_address(ev->probe, slide));
		for (size_t k = 0; k < ev->nr_fields; k++)
			printf(" %u", ev->fields[k].kind);
		putchar('\n');
	}
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* Without mem: those of the image. slide is from gs's addresses, moved from the image's. */
static int list_events(const struct guestsym *gs, const struct guestsym_memory *mem, uint64_t slide,
		       uint64_t moved, bool details)
{
	struct guestsym_event_list list;
	double start = now_ms();
	int err = mem ? guestsym_events_read(gs, mem, slide, &list)
		      : guestsym_events_image(gs, 0, &list);

	if (err) {
		fprintf(stderr, "list-kernel: events: %s\n", strerror(-err));
		return 1;
	}
	if (mem)
		fprintf(stderr, "%zu events, read in %.1f ms\n", list.n, now_ms() - start);
	if (details)
		print_details(&list, moved);
	else
		print_events(&list);
	guestsym_events_free(&list);
	return 0;
}

/* --- putting it together ----------------------------------------------------------------- */

static int list_guest(const struct guestsym *image, const char *what,
		      const struct guestsym_memory *mem)
{
	struct guestsym *gs;
	uint64_t slide;
	char err[512];
	int ret = 0;

	gs = guestsym_open_memory(NULL, mem, err, sizeof(err));
	if (!gs) {
		fprintf(stderr, "list-kernel: %s\n", err);
		return 1;
	}
	slide = guestsym_addr(gs, "_text") - guestsym_addr(image, "_text");
	fprintf(stderr, "slide %#" PRIx64 ", opened in %.0f ms\n", slide, guestsym_parse_ms(gs));
	if (!strcmp(what, "modules"))
		ret = list_modules(gs, mem, 0);
	else if (!strcmp(what, "modules-by-image"))
		ret = list_modules(image, mem, slide);
	else if (!strcmp(what, "events-by-image"))
		ret = list_events(image, mem, slide, slide, false);
	else if (!strncmp(what, "event", 5))
		ret = list_events(gs, mem, 0, slide, !strcmp(what, "event-details"));
	else
		list_kernel(gs, slide);
	guestsym_close(gs);
	return ret;
}

int main(int argc, char **argv)
{
	struct guest g = {0};
	struct guestsym_memory mem = {.read = read_guest, .arg = &g};
	struct guestsym *image;
	char err[512];
	int ret = 0;

	if (argc != 3 && argc != 7)
		return 2;
	image = guestsym_open(NULL, argv[2], 0, err, sizeof(err));
	if (!image) {
		fprintf(stderr, "list-kernel: %s\n", err);
		return 1;
	}
	if (argc == 3 && !strncmp(argv[1], "event", 5)) {
		ret = list_events(image, NULL, 0, 0, !strcmp(argv[1], "event-details"));
	} else if (argc == 3) {
		list_kernel(image, 0);
	} else if (map_guest(&g, argv + 3) || find_hint(&mem, argv[6])) {
		fprintf(stderr, "list-kernel: %s: no guest's memory\n", argv[3]);
		ret = 1;
	} else {
		ret = list_guest(image, argv[1], &mem);
	}
	guestsym_close(image);
	return ret;
}
