/* SPDX-License-Identifier: GPL-2.0-or-later */
/* data-file.h - reads a file of tests/data. Tests run in the top directory. */
#ifndef HVTRACE_TESTS_DATA_FILE_H
#define HVTRACE_TESTS_DATA_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The whole file, terminated; free() it. */
static inline char *data_file(const char *name, size_t *len)
{
	char path[256], *buf;
	FILE *f;
	long size;

	snprintf(path, sizeof(path), "tests/data/kernel-6.1/%s", name);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("cannot open %s", path);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	buf = malloc((size_t)size + 1);
	assert_non_null(buf);
	assert_int_equal(fread(buf, 1, (size_t)size, f), size);
	fclose(f);
	buf[size] = '\0';
	if (len)
		*len = (size_t)size;
	return buf;
}

#endif
