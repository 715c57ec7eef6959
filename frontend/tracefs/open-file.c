// SPDX-License-Identifier: GPL-2.0-or-later
/* open-file.c - what the tables of files ask about a file that is open. */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

bool opened_to_truncate(const struct open_file *f)
{
	return (f->flags & O_TRUNC) && opened_to_write(f);
}

bool opened_to_write(const struct open_file *f)
{
	return (f->flags & O_ACCMODE) != O_RDONLY;
}

bool opened_to_read(const struct open_file *f)
{
	return (f->flags & O_ACCMODE) != O_WRONLY;
}

ssize_t text_read(const struct text *text, char *buf, size_t len, off_t off)
{
	if (text->failed)
		return -ENOMEM;
	if (off < 0 || (size_t)off >= text->len)
		return 0;
	if (len > text->len - (size_t)off)
		len = text->len - (size_t)off;
	memcpy(buf, text->buf + off, len);
	return (ssize_t)len;
}
