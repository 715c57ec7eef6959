// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-events.c - libFuzzer target for reading trace events from the memory of a running guest,
 * and from an image.
 *
 * The kernel is sound; an input is a list of changes to what it has of its events. In a guest that
 * is in its data (the heads of the lists, a class) and in its heap (everything else).
 */
#include "guestsym/guestsym.h"
#include "tests/unit/made-guest-events.h"
#include "tests/unit/made-image-events.h"

#include <bpf/libbpf.h>

#define TEXT_MAX (MADE_SIZE + MADE_HEAP_SIZE) /* no string is longer than all the memory */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct made_guest sound, g;
static struct guestsym *kernel;
static uint64_t data_start; /* in the kernel's data: from here on are its events */

/* An image as a file, and where its events are in it. */
static uint8_t *elf;
static size_t elf_len, events_pos, events_len;

/* --- the sound guest --------------------------------------------------------------------- */

static uint64_t room(const char *label, size_t len)
{
	static const uint8_t zero[128];

	made_align(&sound.m, 8);
	if (label)
		made_label(&sound.m, label, 'd');
	return made_put(&sound.m, zero, len);
}

static void make_fields(uint64_t head)
{
	static const struct made_event_field fields[] = {
		{"char[TASK_COMM_LEN]", "comm", 8, 16, false, 1, 16},
		{"pid_t", "pid", 24, 4, true, 0, 0},
		{"__data_loc char[]", "where", 28, 4, false, 2, 0},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		made_event_field(&sound, head, &fields[i]);
}

static void make_event(const char *name, uint64_t class, uint64_t data, uint32_t flags,
		       uint64_t module)
{
	made_event(&sound, heap_put(&sound, NULL, EVENT_SIZE_OF),
		   &(struct made_event){name, "\"%d\", REC->pid", class, module, data, flags, 21});
}

static void make_events(uint64_t sched, uint64_t enter, uint64_t leave)
{
	uint64_t meta = heap_put(&sound, NULL, META_SIZE_OF);
	uint64_t net = made_module(&sound, "net", 0x100, true);

	make_fields(made_addr(&sound, "ftrace_common_fields"));
	made_event_class(&sound, sched, "sched", MADE_BASE + 0x100, MADE_BASE + 0x100);
	made_event_class(&sound, enter, "syscalls", 0, MADE_BASE + 0x100);
	made_event_class(&sound, leave, "syscalls", 0, MADE_BASE + 0x100);
	made_poke(&sound, enter + CLASS_GET_FIELDS, MADE_BASE + 0x100, 8);
	made_list_init(&sound, meta + META_ENTER_FIELDS);
	make_fields(sched + CLASS_FIELDS);
	make_fields(meta + META_ENTER_FIELDS);
	make_fields(leave + CLASS_FIELDS);
	make_event("wakeup", sched, 0, EVENT_TRACEPOINT, 0);
	make_event("sys_enter_close", enter, meta, 0, 0);
	make_event("sys_exit_close", leave, meta, 0, 0);
	make_event("net_send", sched, 0, EVENT_TRACEPOINT, net);
	make_event("open", sched, 0, EVENT_DYNAMIC, 3);
}

static void make_guest(void)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct guestsym_memory mem = made_memory(&sound);
	uint64_t sched, enter, leave, site;

	made_guest_init(&sound, true);
	site = made_function(&sound.m, "first", 0x100, nop, sizeof(nop));
	data_start = made_addr(&sound, "modules");
	sched = room(NULL, CLASS_SIZE_OF);
	enter = room("event_class_syscall_enter", CLASS_SIZE_OF);
	leave = room("event_class_syscall_exit", CLASS_SIZE_OF);
	made_guest_done(&sound);
	made_page_add(&sound, &site, 1);
	make_events(sched, enter, leave);
	kernel = guestsym_open_memory(NULL, &mem, NULL, 0);
}

static void make_image(void)
{
	static struct image_events im;

	image_events_init(&im);
	events_pos = MADE_OFFSET + (im.start - MADE_BASE);
	events_len = MADE_BASE + im.m.used - im.start;
	made_kallsyms(&im.m, MADE_DEBIAN);
	elf = made_elf(&im.m, &elf_len);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	libbpf_set_print(NULL);
	make_guest();
	make_image();
	return kernel ? 0 : -1;
}

/* --- using what was accepted ------------------------------------------------------------- */

static void use_fields(const struct guestsym_event_field *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(v[i].type) > TEXT_MAX || strlen(v[i].name) > TEXT_MAX ||
		    v[i].kind > GUESTSYM_EVENT_CPUMASK)
			abort();
}

/* They become names of files. */
static void use_name(const char *name)
{
	if (!name[0] || !strcmp(name, ".") || !strcmp(name, "..") || strpbrk(name, "/ \n"))
		abort();
}

static void use_events(const struct guestsym_event_list *list)
{
	use_fields(list->common, list->nr_common);
	for (size_t i = 0; i < list->n; i++) {
		const struct guestsym_event *ev = &list->v[i];

		use_name(ev->system);
		use_name(ev->name);
		if (ev->module)
			use_name(ev->module);
		if (strlen(ev->print_fmt) > TEXT_MAX)
			abort();
		use_fields(ev->fields, ev->nr_fields);
	}
}

/* --- inputs ------------------------------------------------------------------------------ */

/* What a position in the input stands for, and how much there is from there on. */
typedef uint8_t *place_fn(size_t pos, size_t *len);

/* With the top bit it is in the heap, otherwise in the kernel's data. */
static uint8_t *place_in_guest(size_t pos, size_t *len)
{
	uint8_t *to;

	if (pos & 0x8000) {
		to = g.heap + (pos & 0x7fff) % g.used;
		*len = g.heap + MADE_HEAP_SIZE - to;
	} else {
		to = made_at(&g.m, data_start) + pos % 512;
		*len = g.m.mem + MADE_SIZE - to;
	}
	return to;
}

static uint8_t *place_in_image(size_t pos, size_t *len)
{
	pos %= events_len;
	*len = events_len - pos;
	return elf + events_pos + pos;
}

/* 16-bit position and 8-bit count (1 to 8), that many bytes, and so on. */
static void change(const uint8_t *data, size_t len, place_fn *place)
{
	while (len > 3) {
		size_t n = data[2] % 8 + 1, room_left;
		uint8_t *to = place(data[0] | data[1] << 8, &room_left);

		data += 3;
		len -= 3;
		n = n < len ? n : len;
		memcpy(to, data, n < room_left ? n : room_left);
		data += n;
		len -= n;
	}
}

static void check(int err, struct guestsym_event_list *list)
{
	if (err && (list->memory || list->n))
		abort();
	if (err)
		return;
	use_events(list);
	guestsym_events_free(list);
}

static void fuzz_guest(const uint8_t *data, size_t len)
{
	struct guestsym_memory mem = made_memory(&g);
	struct guestsym_event_list list;

	g = sound;
	change(data, len, place_in_guest);
	check(guestsym_events_read(kernel, &mem, 0, &list), &list);
}

static void fuzz_image(const uint8_t *data, size_t len)
{
	struct guestsym_event_list list;
	struct guestsym *gs;
	uint8_t *saved = malloc(events_len);

	memcpy(saved, elf + events_pos, events_len);
	change(data, len, place_in_image);
	gs = guestsym_parse(elf, elf_len, NULL, 0);
	memcpy(elf + events_pos, saved, events_len);
	free(saved);
	if (gs)
		check(guestsym_events_image(gs, 0, &list), &list);
	guestsym_close(gs);
}

/* Its first byte says which. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len && data[0] & 1)
		fuzz_image(data + 1, len - 1);
	else if (len)
		fuzz_guest(data + 1, len - 1);
	return 0;
}
