// SPDX-License-Identifier: GPL-2.0-or-later
/* boot.c - a kernel with a first process of hvtrace's own: see boot.h. */
#include "frontend/check/boot.h"
#include "frontend/session/kernel-find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a kernel begins to say that something is wrong with it. */
static const char *const complaints[] = {
	"BUG:",
	"WARNING:",
	"Oops:",
	"general protection fault",
	"Kernel panic",
	"unable to handle",
	"Checked W+X mappings: FAILED",
	"ftrace failed to modify",
};

static int find_kernel(struct boot *b, const struct check_options *opt)
{
	char *found = opt->kernel ? NULL : kernel_find();
	const char *name = opt->kernel ? opt->kernel : found;

	if (!name) {
		snprintf(b->err, sizeof(b->err),
			 "no kernel: /boot has no readable vmlinuz-*; name one with -k");
		return -1;
	}
	b->kernel_path = realpath(name, NULL);
	if (!b->kernel_path)
		snprintf(b->err, sizeof(b->err), "the kernel cannot be opened: %s",
			 strerror(errno));
	free(found);
	return b->kernel_path ? 0 : -1;
}

int boot_open(struct boot *b, const struct check_options *opt, const struct check_report *r)
{
	*b = (struct boot){.lock = PTHREAD_MUTEX_INITIALIZER, .r = r};
	if (find_kernel(b, opt))
		return -1;
	if (guestsym_parsers_start(&b->parsers, r->cancel, b->err, sizeof(b->err)))
		return -1;
	b->gs = guestsym_open(b->parsers, b->kernel_path, 0, b->err, sizeof(b->err));
	if (!b->gs)
		return -1;
	b->log = malloc(BOOT_LOG + 1);
	b->initrd = initrd_make(&b->initrd_size);
	if (b->log && b->initrd)
		return 0;
	snprintf(b->err, sizeof(b->err), "no memory");
	return -1;
}

void boot_close(struct boot *b)
{
	guestsym_close(b->gs);
	guestsym_parsers_stop(b->parsers);
	free(b->kernel_path);
	free(b->initrd);
	free(b->log);
	pthread_mutex_destroy(&b->lock);
}

/* A guest that says more than there is room for is cut off: it is no longer heard. */
static void boot_console(void *arg, const char *text, size_t len)
{
	struct boot *b = arg;

	pthread_mutex_lock(&b->lock);
	if (len > BOOT_LOG - b->log_len)
		len = BOOT_LOG - b->log_len;
	for (size_t i = 0; i < len; i++)
		b->log[b->log_len++] = text[i] ? text[i] : '?';
	pthread_mutex_unlock(&b->lock);
}

static bool boot_cancelled(void *arg)
{
	return check_is_cancelled(((const struct boot *)arg)->r);
}

struct machine_config boot_machine_config(struct boot *b, const char *cmdline)
{
	return (struct machine_config){
		.memory = BOOT_MEMORY,
		.vcpus = 1,
		.initrd = b->initrd,
		.initrd_size = b->initrd_size,
		.kernel_path = b->kernel_path,
		.cmdline = cmdline,
		.cancelled = boot_cancelled,
		.console = boot_console,
		.arg = b,
	};
}

/* Called with the lock held. */
static unsigned int count(struct boot *b, const char *text)
{
	unsigned int n = 0;

	b->log[b->log_len] = '\0';
	for (const char *at = b->log; (at = strstr(at, text)); at += strlen(text))
		n++;
	return n;
}

unsigned int boot_says(struct boot *b, const char *text)
{
	unsigned int n;

	pthread_mutex_lock(&b->lock);
	n = count(b, text);
	pthread_mutex_unlock(&b->lock);
	return n;
}

bool boot_complains(struct boot *b, char *text, size_t len)
{
	bool found = false;

	pthread_mutex_lock(&b->lock);
	for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]) && !found; i++) {
		const char *at;

		found = count(b, complaints[i]);
		at = found ? strstr(b->log, complaints[i]) : NULL;
		if (at)
			snprintf(text, len, "%.*s", (int)strcspn(at, "\r\n"), at);
	}
	pthread_mutex_unlock(&b->lock);
	return found;
}
