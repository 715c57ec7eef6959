// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dat-v6.c - version 6: everything one behind the other, pages as they are.
 *
 * What trace-cmd.dat.v6(5) does not tell, as trace-cmd 3.1 writes it: an option BUFFER is where an
 * instance's list of CPUs is in the file (64 bits), and its name; an option CPUCOUNT takes the
 * place of the number before the options; behind a list of CPUs comes the file trace_clock if there
 * is an option TRACECLOCK.
 */
#include "frontend/dat/local.h"

#include <errno.h>
#include <string.h>

enum { KIND_LEN = 10 }; /* "options  ", "flyrecord", "latency  ", each with its 0 */

static bool is_v6(const struct dat *d)
{
	return d->info.version == 6;
}

static int read_texts(struct dat_in *in)
{
	struct dat_info *info = &in->d->info;
	int rc = dat_meta_headers(in);

	if (!rc)
		rc = dat_meta_ftrace(in);
	if (!rc)
		rc = dat_meta_events(in);
	in->what = "kallsyms";
	if (!rc)
		rc = dat_meta_text32(in, &info->kallsyms);
	in->what = "printk formats";
	if (!rc)
		rc = dat_meta_text32(in, &info->printk_formats);
	in->what = "list of task names";
	return rc ? rc : dat_meta_text64(in, &info->cmdlines);
}

/* A list of CPUs, behind the word that says so. */
static int read_vcpus(struct dat_in *in, const char *name)
{
	struct dat *d = in->d;
	struct dat_buffer *b = dat_buffer_add(d, name, d->info.cpus);
	int rc = b ? 0 : -ENOMEM;

	in->what = "list of CPUs";
	for (unsigned int i = 0; !rc && i < d->info.cpus; i++) {
		struct dat_vcpu *v = dat_buffer_vcpu(b, i);
		uint64_t offset = 0, size = 0;

		rc = dat_in_u64(in, &offset);
		if (!rc)
			rc = dat_in_u64(in, &size);
		if (!rc)
			rc = dat_vcpu_set(d, v, i, offset, size);
		if (!rc)
			rc = dat_vcpu_plain(d, v);
	}
	if (b)
		b->cpus = d->info.cpus;
	return rc;
}

static int read_clock(struct dat_in *in)
{
	struct dat_text clocks;
	struct dat_text option;
	int rc;

	if (!dat_option(in->d, DAT_OPTION_TRACECLOCK, 0, &option))
		return 0;
	in->what = "list of clocks";
	rc = dat_meta_text64(in, &clocks);
	if (!rc)
		dat_clock_apply(in->d, &clocks);
	return rc;
}

static int read_instance(struct dat *d, const struct dat_text *option)
{
	struct dat_in list = {.d = d, .end = d->file_size, .what = "list of CPUs"};
	struct dat_in in = {
		.d = d,
		.mem = (const uint8_t *)option->text,
		.end = option->len,
		.what = "option of a buffer",
	};
	const char *name = NULL;
	int rc = dat_in_u64(&in, &list.at);

	if (!rc)
		rc = dat_in_string(&in, &name);
	if (!rc && list.at > list.end)
		rc = dat_fail(d,
			      "it is cut off, or lies: the buffer of an instance would be behind "
			      "its end");
	if (!rc)
		rc = dat_in_expect(&list, "flyrecord", KIND_LEN);
	return rc ? rc : read_vcpus(&list, name);
}

static int read_instances(struct dat *d)
{
	struct dat_text option;
	int rc = 0;

	for (size_t i = 0; !rc && dat_option(d, DAT_OPTION_BUFFER, i, &option); i++)
		rc = read_instance(d, &option);
	return rc;
}

/* The number of CPUs that counts; it is needed before what else options tell. */
static int read_cpu_count(struct dat_in *in, uint32_t *cpus)
{
	int rc;

	in->what = "number of CPUs";
	rc = dat_in_u32(in, cpus);
	if (!rc && (!*cpus || *cpus > DAT_CPUS_MAX))
		rc = dat_fail(in->d, "it lies: it is of a machine of %u CPUs", *cpus);
	return rc;
}

static void recount(struct dat *d)
{
	struct dat_text option;
	uint32_t cpus;

	for (size_t i = 0; dat_option(d, DAT_OPTION_CPUCOUNT, i, &option); i++) {
		if (option.len != sizeof(cpus))
			continue;
		memcpy(&cpus, option.text, sizeof(cpus));
		if (cpus && cpus <= DAT_CPUS_MAX)
			d->info.cpus = cpus;
	}
}

static int read_records(struct dat_in *in, const char *kind)
{
	struct dat *d = in->d;
	int rc;

	if (!strncmp(kind, "latency", 7))
		return dat_fail(d,
				"it has a text in it (trace-cmd report prints it) and no records");
	if (strncmp(kind, "flyrecord", 9) != 0)
		return dat_fail(d, "it lies: nothing tells what records it has");
	recount(d);
	rc = read_vcpus(in, "");
	if (!rc)
		rc = read_clock(in);
	return rc ? rc : read_instances(d);
}

static int read_v6(struct dat *d, struct dat_in *in)
{
	char kind[KIND_LEN] = "";
	int rc = read_texts(in);

	if (!rc)
		rc = read_cpu_count(in, &d->info.cpus);
	in->what = "word behind the number of CPUs";
	if (!rc)
		rc = dat_in_bytes(in, kind, sizeof(kind));
	if (!rc && !strncmp(kind, "options", 7)) {
		rc = dat_options_read(in, NULL);
		in->what = "word behind the options";
		if (!rc)
			rc = dat_in_bytes(in, kind, sizeof(kind));
	}
	return rc ? rc : read_records(in, kind);
}

const struct dat_container dat_v6 = {
	.desc = "version 6",
	.is_it = is_v6,
	.read = read_v6,
};
