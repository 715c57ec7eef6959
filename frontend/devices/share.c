// SPDX-License-Identifier: GPL-2.0-or-later
/* share.c - the words of --share. */
#include "frontend/devices/local.h"
#include "frontend/devices/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TAG_MAX 35 /* virtio 1.2, 5.11.4: 36 bytes of UTF-8, padded */

static int share_folder(struct devices *d, const char *path, char *err, size_t errlen)
{
	size_t i = d->machine.nshare;
	struct stat st;

	d->folder[i] = realpath(path, NULL);
	if (!d->folder[i] || stat(d->folder[i], &st))
		return devices_wrong(-errno, err, errlen, "cannot share %s: %s", path,
				     strerror(errno));
	d->share[i].path = d->folder[i];
	if (!S_ISDIR(st.st_mode))
		return devices_wrong(-ENOTDIR, err, errlen, "cannot share %s: it is no folder",
				     path);
	return 0;
}

/* Of those behind the name. */
static int share_word(struct devices *d, const char *word, char *err, size_t errlen)
{
	size_t i = d->machine.nshare;
	const char *tag = words_value(word, "tag");

	if (!strcmp(word, "ro")) {
		d->share[i].read_only = true;
		return 0;
	}
	if (!tag || !*tag || strlen(tag) > TAG_MAX)
		return devices_wrong(-EINVAL, err, errlen,
				     "--share: \"%s\" is none of ro, tag=NAME of %u bytes at most",
				     word, TAG_MAX);
	free(d->tag[i]);
	d->tag[i] = strdup(tag);
	return d->tag[i] ? 0 : -ENOMEM;
}

/* The first is "share", then "share2" and so on. */
static int share_words(struct devices *d, const char *words, char *err, size_t errlen)
{
	size_t i = d->machine.nshare;
	int rc = 0;

	while (!rc && words) {
		char *word = words_next(&words);

		rc = word ? share_word(d, word, err, errlen) : -ENOMEM;
		free(word);
	}
	if (!rc && !d->tag[i] && asprintf(&d->tag[i], i ? "share%zu" : "share", i + 1) < 0)
		d->tag[i] = NULL;
	if (rc == -ENOMEM || (!rc && !d->tag[i]))
		rc = devices_wrong(-ENOMEM, err, errlen, "no memory");
	d->share[i].tag = d->tag[i];
	return rc;
}

static bool is_taken(const struct devices *d, const char *tag)
{
	for (size_t i = 0; i < d->machine.nshare; i++) {
		if (!strcmp(d->tag[i], tag))
			return true;
	}
	return false;
}

int devices_share(struct devices *d, const char *words, char *err, size_t errlen)
{
	char *path = words_next(&words);
	int rc = -ENOMEM;

	if (d->machine.nshare == MACHINE_MAX_SHARES)
		rc = devices_wrong(-EINVAL, err, errlen, "--share: more than %u folders",
				   MACHINE_MAX_SHARES);
	else if (path)
		rc = share_folder(d, path, err, errlen);
	free(path);
	if (!rc)
		rc = share_words(d, words, err, errlen);
	if (!rc && is_taken(d, d->tag[d->machine.nshare]))
		rc = devices_wrong(-EINVAL, err, errlen, "--share: two folders have the tag %s",
				   d->tag[d->machine.nshare]);
	if (!rc)
		d->machine.nshare++;
	return rc;
}
