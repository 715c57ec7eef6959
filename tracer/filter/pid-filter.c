// SPDX-License-Identifier: GPL-2.0-or-later
/* pid-filter.c - see pid-filter.h */
#include "tracer/filter/pid-filter.h"

#include <errno.h>

int pid_filter_init(struct pid_filter *f, void (*changed)(void *arg), void *arg)
{
	*f = (struct pid_filter){.none = "no pid\n", .changed = changed, .arg = arg};
	for (int i = 0; i < PID_FILTER_FILES; i++) {
		f->list[i] = pid_list_new();
		if (!f->list[i]) {
			pid_filter_exit(f);
			return -ENOMEM;
		}
	}
	return 0;
}

void pid_filter_exit(struct pid_filter *f)
{
	for (int i = 0; i < PID_FILTER_FILES; i++)
		pid_list_free(f->list[i]);
}

bool pid_filter_on(const struct pid_filter *f)
{
	return pid_list_on(f->list[PID_FILTER_TRACE]) || pid_list_on(f->list[PID_FILTER_NOTRACE]);
}

static void pid_filter_changed(struct pid_filter *f)
{
	if (f->changed)
		f->changed(f->arg);
}

void pid_filter_truncate(struct pid_filter *f, enum pid_filter_file file)
{
	if (!pid_list_on(f->list[file]))
		return;
	pid_list_clear(f->list[file]);
	pid_filter_changed(f);
}

ssize_t pid_filter_write(struct pid_filter *f, enum pid_filter_file file, const char *text,
			 size_t len)
{
	ssize_t done = pid_list_write(f->list[file], text, len);

	if (done > 0)
		pid_filter_changed(f);
	return done;
}

void pid_filter_print(struct pid_filter *f, enum pid_filter_file file, struct text *out)
{
	if (pid_list_on(f->list[file]))
		pid_list_print(f->list[file], out);
	else
		text_puts(out, f->none);
}

void pid_filter_fork(struct pid_filter *f, int32_t parent, int32_t child)
{
	for (int i = 0; i < PID_FILTER_FILES; i++)
		pid_list_fork(f->list[i], parent, child);
}

void pid_filter_task_exit(struct pid_filter *f, int32_t pid)
{
	for (int i = 0; i < PID_FILTER_FILES; i++)
		pid_list_exit(f->list[i], pid);
}
