// SPDX-License-Identifier: GPL-2.0-or-later
/* print.c - a trace as text, in the form that is asked for. */
#include "tracer/control/print.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/output/kft.h"
#include "tracer/ring/merge.h"

#include <errno.h>
#include <string.h>

static int print_bytes(FILE *out, const char *bytes, size_t len)
{
	if (fwrite(bytes, 1, len, out) == len)
		return 0;
	return errno ? -errno : -EIO;
}

static int print_trace(struct trace *t, FILE *out)
{
	struct instance_reader *r = instance_read_open(trace_top(t), ALL_VCPUS, false);
	char buf[1 << 14];
	off_t off = 0;
	ssize_t n;
	int ret = 0;

	if (!r)
		return -ENOMEM;
	while (!ret && (n = instance_read(r, buf, sizeof(buf), off)) > 0) {
		off += n;
		ret = print_bytes(out, buf, (size_t)n);
	}
	instance_read_close(r);
	return ret ? ret : (int)n;
}

/* --- kft ------------------------------------------------------------------------------------- */

static struct kft *kft_of(struct instance *i)
{
	struct merge *m = merge_new(i->ring, i->t->vcpus, false);
	struct kft *k = m ? kft_new() : NULL;
	struct ring_event ev;
	unsigned int cpu;

	while (k && merge_next(m, &ev, &cpu))
		kft_event(k, cpu, &ev);
	merge_free(m);
	return k;
}

static int print_kft(struct trace *t, FILE *out)
{
	struct kft *k = kft_of(trace_top(t));
	struct output_config cfg;
	struct text text = {0};
	int ret;

	if (!k)
		return -ENOMEM;
	instance_output_config(trace_top(t), &cfg);
	ret = kft_begin(k, &cfg, &text) ? 0 : -ENOMEM;
	do {
		if (!ret && !text.failed)
			ret = print_bytes(out, text.buf, text.len);
		text.len = 0;
	} while (!ret && kft_next(k, &cfg, &text));
	if (text.failed)
		ret = -ENOMEM;
	text_free(&text);
	kft_free(k);
	return ret;
}

/* --- forms ----------------------------------------------------------------------------------- */

static const struct print_form {
	const char *name, *desc;
	const char *tracer; /* it is only for what this one records; NULL: any */
	int (*print)(struct trace *t, FILE *out);
} forms[] = {
	{"trace", "as the kernel's trace file reads", NULL, print_trace},
	{"kft", "function_graph's calls as a table of entry, delta, PID, function and caller",
	 "function_graph", print_kft},
};

enum { NR_FORMS = sizeof(forms) / sizeof(forms[0]) };

const char *trace_form_name(unsigned int i, const char **desc, const char **tracer)
{
	if (i >= NR_FORMS)
		return NULL;
	if (desc)
		*desc = forms[i].desc;
	if (tracer)
		*tracer = forms[i].tracer;
	return forms[i].name;
}

int trace_print_as(struct trace *t, const char *form, FILE *out)
{
	for (unsigned int i = 0; i < NR_FORMS; i++)
		if (!strcmp(forms[i].name, form))
			return forms[i].print(t, out);
	return -EINVAL;
}

int trace_print(struct trace *t, FILE *out)
{
	return print_trace(t, out);
}
