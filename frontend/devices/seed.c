// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * seed.c - the disk that cloud-init finds its data on: ISO 9660, called cidata, with user-data,
 * meta-data, and what else there is of vendor-data and network-config (cloud-init's documentation,
 * "NoCloud"). What it does at the first boot of an instance, it does again when instance-id, which
 * meta-data has, is another one.
 */
#include "frontend/devices/local.h"
#include "frontend/devices/words.h"
#include "frontend/lib/cancel.h"
#include "frontend/lib/file.h"
#include "vmm/program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOOL_MS 60000

/* What there may be in a folder; the first has to be. */
static const char *const names[] = {"user-data", "meta-data", "vendor-data", "network-config"};

enum { USER_DATA, META_DATA, NR_FILES = sizeof(names) / sizeof(names[0]) };

/* Which of them is installed; what they take is the same. */
static const char *const tools[][4] = {
	{"xorriso", "-as", "genisoimage", NULL},
	{"genisoimage", NULL},
	{"mkisofs", NULL},
};

struct seed {
	char *from[NR_FILES]; /* NULL: there is none */
	char *graft[NR_FILES];
	char *image;
};

static int no_memory(char *err, size_t errlen)
{
	return devices_wrong(-ENOMEM, err, errlen, "no memory");
}

/* The files of a folder, or the one. */
static int find_files(struct seed *s, const char *path, char *err, size_t errlen)
{
	struct stat st;

	if (stat(path, &st))
		return devices_wrong(-errno, err, errlen, "--cloud-init: cannot open %s: %s", path,
				     strerror(errno));
	if (!S_ISDIR(st.st_mode)) {
		s->from[USER_DATA] = strdup(path);
		return s->from[USER_DATA] ? 0 : no_memory(err, errlen);
	}
	for (unsigned int i = 0; i < NR_FILES; i++) {
		if (asprintf(&s->from[i], "%s/%s", path, names[i]) < 0) {
			s->from[i] = NULL;
			return no_memory(err, errlen);
		}
		if (!access(s->from[i], F_OK))
			continue;
		free(s->from[i]);
		s->from[i] = NULL;
	}
	if (s->from[USER_DATA])
		return 0;
	return devices_wrong(-ENOENT, err, errlen, "--cloud-init: %s has no file user-data", path);
}

/* Other data is another instance. */
static int name_instance(struct seed *s, const char *folder, char *err, size_t errlen)
{
	struct file_bytes data;
	uint32_t hash = 2166136261; /* FNV-1a */
	int rc = file_read(&data, s->from[USER_DATA]);
	FILE *out;

	if (rc)
		return devices_wrong(rc, err, errlen, "--cloud-init: cannot read %s: %s",
				     s->from[USER_DATA], file_strerror(rc));
	for (size_t i = 0; i < data.len; i++)
		hash = (hash ^ ((const uint8_t *)data.data)[i]) * 16777619;
	file_free(&data);
	if (s->from[META_DATA])
		return 0;
	if (asprintf(&s->from[META_DATA], "%s/meta-data", folder) < 0) {
		s->from[META_DATA] = NULL;
		return no_memory(err, errlen);
	}
	out = fopen(s->from[META_DATA], "wxe");
	if (out && fprintf(out, "instance-id: hvtrace-%08" PRIx32 "\n", hash) > 0 && !fclose(out))
		return 0;
	return devices_wrong(-EIO, err, errlen, "cannot write %s: %s", s->from[META_DATA],
			     strerror(errno));
}

/* NAME=PATH, as they take it: what they would make something of in a path is marked. */
static char *graft(const char *name, const char *path)
{
	char *text = malloc(strlen(name) + 2 + 2 * strlen(path)), *to;

	if (!text)
		return NULL;
	to = stpcpy(stpcpy(text, name), "=");
	for (; *path; path++) {
		if (*path == '=' || *path == '\\')
			*to++ = '\\';
		*to++ = *path;
	}
	*to = '\0';
	return text;
}

static bool is_cancelled(void *arg)
{
	const struct cancel *const *cancel = arg;

	return *cancel && cancel_asked(*cancel);
}

static int run_tool(const struct seed *s, const char *const *tool, const struct cancel *cancel,
		    char *err, size_t errlen)
{
	static const char *const fixed[] = {"-quiet",  "-volid", "cidata",
					    "-joliet", "-rock",	 "-graft-points"};
	const char *argv[32];
	struct program p = {.argv = argv, .ms = TOOL_MS, .cancelled = is_cancelled, .arg = &cancel};
	size_t n = 0;

	while (tool[n]) {
		argv[n] = tool[n];
		n++;
	}
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		argv[n++] = fixed[i];
	argv[n++] = "-output";
	argv[n++] = s->image;
	for (unsigned int i = 0; i < NR_FILES; i++) {
		if (s->graft[i])
			argv[n++] = s->graft[i];
	}
	argv[n] = NULL;
	return program_run(&p, err, errlen);
}

static int write_image(struct seed *s, const struct devices_request *req, const char *folder,
		       char *err, size_t errlen)
{
	char why[256];
	int rc = -ENOENT;

	for (unsigned int i = 0; i < NR_FILES; i++) {
		s->graft[i] = s->from[i] ? graft(names[i], s->from[i]) : NULL;
		if (s->from[i] && !s->graft[i])
			return no_memory(err, errlen);
	}
	if (asprintf(&s->image, "%s/cidata.iso", folder) < 0) {
		s->image = NULL;
		return no_memory(err, errlen);
	}
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]) && rc == -ENOENT; i++)
		rc = run_tool(s, tools[i], req->cancel, why, sizeof(why));
	if (rc == -ENOENT)
		return devices_wrong(rc, err, errlen,
				     "--cloud-init: neither xorriso nor genisoimage nor mkisofs is "
				     "installed: one of them makes the disk");
	return rc ? devices_wrong(rc, err, errlen, "--cloud-init: %s", why) : 0;
}

static void seed_free(struct seed *s)
{
	for (unsigned int i = 0; i < NR_FILES; i++) {
		free(s->from[i]);
		free(s->graft[i]);
	}
	free(s->image);
}

int devices_seed(struct devices *d, const struct devices_request *req, char *err, size_t errlen)
{
	const char *folder = scratch_folder(req->scratch, err, errlen);
	struct seed s = {0};
	char *words = NULL;
	int rc = folder ? find_files(&s, req->opt->cloud_init, err, errlen) : -EIO;

	if (!rc)
		rc = name_instance(&s, folder, err, errlen);
	if (!rc)
		rc = write_image(&s, req, folder, err, errlen);
	words = rc ? NULL : words_of(s.image, ",ro,format=raw");
	if (!rc && !words)
		rc = no_memory(err, errlen);
	if (!rc)
		rc = devices_disk(d, words, req, err, errlen);
	free(words);
	seed_free(&s);
	return rc;
}
