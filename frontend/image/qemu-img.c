// SPDX-License-Identifier: GPL-2.0-or-later
/* qemu-img.c - see qemu-img.h */
#include "frontend/image/qemu-img.h"

#include "frontend/image/child.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MAX (1u << 20)

bool qemu_img_is_there(void)
{
	char program[PATH_MAX];

	return child_find("qemu-img", program, sizeof(program));
}

static int read_answer(const struct child *c, struct text *answer)
{
	char buf[4096];
	ssize_t n;

	while ((n = child_read(c, buf, sizeof(buf))) > 0) {
		text_add(answer, buf, (size_t)n);
		if (answer->failed || answer->len > ANSWER_MAX)
			return -EFBIG;
	}
	return (int)n;
}

static int explain(int ret, char *err, size_t errlen)
{
	if (ret == -ECANCELED)
		snprintf(err, errlen, "qemu-img was told to end");
	else if (ret == -ETIMEDOUT)
		snprintf(err, errlen, "qemu-img does not come to an end");
	else
		snprintf(err, errlen, "qemu-img: %s", strerror(-ret));
	return ret;
}

int qemu_img_run(struct qemu_img *q, char *err, size_t errlen)
{
	static const char *const env[] = {"LC_ALL=C", NULL};
	char program[PATH_MAX];
	const struct child_config cfg = {
		.program = program,
		.argv = q->argv,
		.env = env,
		.file_max = ANSWER_MAX,
		.time_ms = q->time_ms,
		.cancel = q->cancel,
	};
	struct child c;
	int ret = child_find("qemu-img", program, sizeof(program)) ? 0 : -ENOENT;

	if (!ret)
		ret = child_start(&c, &cfg);
	if (ret) {
		snprintf(err, errlen, "cannot start qemu-img: %s", strerror(-ret));
		return ret;
	}
	ret = read_answer(&c, &q->answer);
	if (!ret)
		ret = child_wait(&c);
	if (ret > 0)
		child_error(&c, 0, "': ", q->said, sizeof(q->said));
	if (ret > 0 && !*q->said)
		snprintf(q->said, sizeof(q->said), "qemu-img cannot read it");
	child_free(&c);
	return ret < 0 ? explain(ret, err, errlen) : ret;
}

void qemu_img_free(struct qemu_img *q)
{
	text_free(&q->answer);
}
