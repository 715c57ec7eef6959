// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz-filter.c - whatever is written to the filter and pid files, in whatever pieces. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/filter/func-commands.h"
#include "tracer/filter/func-filter.h"
#include "tracer/filter/pid-filter.h"

#define TEXT 0xffffffff81000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct func list[] = {
	{.addr = TEXT, .name = "first"},
	{.addr = TEXT + 16, .name = "__ftrace_invalid_address___16", .invalid = true},
	{.addr = TEXT + 32, .name = "vfs_read"},
	{.addr = TEXT + 48, .name = "vfs_write"},
	{.addr = TEXT + 64, .name = "schedule"},
	{.addr = TEXT + 80, .name = "ext4_read", .module = "ext4"},
	{.addr = TEXT + 96, .name = "ext4_write", .module = "ext4"},
};

#define NR_FUNCS  (sizeof(list) / sizeof(list[0]))
#define NR_KERNEL (NR_FUNCS - 2)

/* The bits of a set and its count have to agree, and none is past the end of the list. */
static void check_set(const struct func_set *set, const struct funcs *funcs)
{
	uint32_t n = 0;

	if (!set)
		return;
	for (uint32_t i = func_set_next(set, 0); i != FUNC_NONE; i = func_set_next(set, i + 1))
		n += i < funcs->nr;
	if (set->funcs != funcs || set->count != n)
		abort();
}

static int apply(void *arg, const struct func_selection *sel)
{
	(void)arg;
	for (int i = 0; i < FUNC_FILE_KINDS; i++)
		check_set(sel->set[i], sel->funcs);
	check_set(sel->commands, sel->funcs);
	return 0;
}

static bool is_on(void *arg)
{
	return *(bool *)arg;
}

static void set_on(void *arg, bool on)
{
	*(bool *)arg = on;
}

static int ready(void *arg)
{
	(void)arg;
	return 0;
}

static void act(void *arg, const struct func_hit *hit)
{
	(void)arg;
	(void)hit;
}

static void dump(void *arg, const struct func_hit *hit, bool all)
{
	(void)arg;
	(void)hit;
	(void)all;
}

/* The next piece: the first byte tells how long it is. */
static const char *piece(const uint8_t **data, size_t *size, size_t *len)
{
	const char *text = (const char *)*data + 1;

	*len = **data % 64;
	if (*len > *size - 1)
		*len = *size - 1;
	*data += *len + 1;
	*size -= *len + 1;
	return text;
}

static void read_file(struct func_file *file)
{
	struct text out = {0};

	func_file_print(file, &out);
	text_free(&out);
}

static void write_file(struct func_filter *f, enum func_file_kind kind, int flags, const char *text,
		       size_t len)
{
	struct func_file *file;

	if (func_file_open(f, kind, flags, &file))
		return;
	/* Cut where the first character says, and what is left is written again. */
	for (size_t at = 0; at < len;) {
		size_t n = 1 + (unsigned char)text[0] % (len - at);
		ssize_t done = func_file_write(file, text + at, n);

		if (done > (ssize_t)n || !done)
			abort();
		if (done < 0)
			break;
		at += (size_t)done;
	}
	read_file(file);
	func_file_close(file);
}

static void update(struct func_filter *f, size_t nr)
{
	struct funcs *funcs = funcs_new(list, nr);

	if (funcs)
		func_filter_update(f, funcs);
	funcs_put(funcs);
}

static void hit_all(struct func_filter *f)
{
	for (size_t i = 0; i < NR_FUNCS; i++)
		func_filter_hit(f, &(struct func_hit){.addr = list[i].addr});
}

static void write_pids(struct pid_filter *p, unsigned int how, const char *text, size_t len)
{
	enum pid_filter_file file = how & 1 ? PID_FILTER_NOTRACE : PID_FILTER_TRACE;
	struct text out = {0};

	if (how & 2)
		pid_filter_truncate(p, file);
	if (pid_filter_write(p, file, text, len) > (ssize_t)len)
		abort();
	pid_filter_fork(p, 1, 2);
	pid_filter_print(p, file, &out);
	text_free(&out);
}

static void run(struct func_filter *f, struct pid_filter *p, const uint8_t *data, size_t size)
{
	while (size > 1) {
		unsigned int how = *data++;
		const char *text;
		size_t len;

		size--;
		text = piece(&data, &size, &len);
		if (how & 8)
			write_pids(p, how, text, len);
		else
			write_file(f, how % FUNC_FILE_KINDS, how & 4 ? O_RDWR | O_TRUNC : O_RDWR,
				   text, len);
		if (how & 16)
			update(f, how & 32 ? NR_KERNEL : NR_FUNCS);
		if (how & 64)
			hit_all(f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool on = true;
	const struct func_owner owner = {
		.apply = apply,
		.tracing_is_on = is_on,
		.tracing_set = set_on,
		.snapshot_ready = ready,
		.snapshot = act,
		.stacktrace = act,
		.dump = dump,
		.arg = &on,
	};
	struct funcs *funcs = funcs_new(list, NR_FUNCS);
	struct func_filter *f = funcs ? func_filter_new(&owner, funcs) : NULL;
	struct pid_filter p;

	if (f && !pid_filter_init(&p, NULL, NULL)) {
		run(f, &p, data, size);
		pid_filter_exit(&p);
	}
	func_filter_free(f);
	funcs_put(funcs);
	return 0;
}
