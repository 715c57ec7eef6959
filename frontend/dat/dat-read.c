// SPDX-License-Identifier: GPL-2.0-or-later
/* dat-read.c - takes numbers and texts out of a file, never behind the end of what has them. */
#include "frontend/dat/local.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int dat_read_at(const struct dat *d, void *to, size_t len, uint64_t offset)
{
	uint8_t *at = to;

	while (len) {
		ssize_t n = pread(d->fd, at, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ESTALE;
		at += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* The same of what is read, which does not go on behind it. */
static int look(const struct dat_in *in, void *to, size_t len)
{
	int rc;

	if (in->mem) {
		memcpy(to, in->mem + in->at, len);
		return 0;
	}
	rc = dat_read_at(in->d, to, len, in->at);
	if (rc)
		dat_fail(in->d, "it cannot be read: %s",
			 rc == -ESTALE ? "it has shrunk" : strerror(-rc));
	return rc;
}

static int cut_off(const struct dat_in *in)
{
	return dat_fail(in->d, "it is cut off, or lies: its %s ends too early", in->what);
}

int dat_in_bytes(struct dat_in *in, void *to, size_t len)
{
	int rc = len > in->end - in->at ? cut_off(in) : look(in, to, len);

	if (!rc)
		in->at += len;
	return rc;
}

int dat_in_u16(struct dat_in *in, uint16_t *n)
{
	return dat_in_bytes(in, n, sizeof(*n));
}

int dat_in_u32(struct dat_in *in, uint32_t *n)
{
	return dat_in_bytes(in, n, sizeof(*n));
}

int dat_in_u64(struct dat_in *in, uint64_t *n)
{
	return dat_in_bytes(in, n, sizeof(*n));
}

int dat_in_text(struct dat_in *in, uint64_t len, struct dat_text *text)
{
	char *copy;
	int rc;

	if (len > in->end - in->at)
		return cut_off(in);
	copy = dat_alloc(in->d, len + 1);
	if (!copy)
		return -ENOMEM;
	rc = dat_in_bytes(in, copy, (size_t)len);
	copy[len] = '\0';
	*text = (struct dat_text){copy, (size_t)len};
	return rc;
}

int dat_in_string(struct dat_in *in, const char **string)
{
	uint64_t most = in->end - in->at < DAT_STRING_MAX ? in->end - in->at : DAT_STRING_MAX;
	char start[DAT_STRING_MAX];
	struct dat_text text = {NULL, 0};
	const char *end;
	int rc = look(in, start, (size_t)most);

	if (rc)
		return rc;
	end = memchr(start, '\0', (size_t)most);
	if (!end)
		return most < DAT_STRING_MAX
			       ? cut_off(in)
			       : dat_fail(in->d, "a name in its %s does not end", in->what);
	rc = dat_in_text(in, (uint64_t)(end - start) + 1, &text);
	*string = text.text;
	return rc;
}

int dat_in_expect(struct dat_in *in, const char *bytes, size_t len)
{
	char found[32];
	int rc = dat_in_bytes(in, found, len);

	if (!rc && memcmp(found, bytes, len) != 0)
		rc = dat_fail(in->d, "it lies: its %s does not begin with %s", in->what, bytes);
	return rc;
}
