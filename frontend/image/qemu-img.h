/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qemu-img.h - asking qemu-img, which looks at images of all formats. */
#ifndef HVTRACE_FRONTEND_IMAGE_QEMU_IMG_H
#define HVTRACE_FRONTEND_IMAGE_QEMU_IMG_H

#include "tracer/tracer.h"

#include <stdbool.h>

struct cancel;

struct qemu_img {
	const char *const *argv;
	int64_t time_ms; /* that it may take */
	const struct cancel *cancel;
	struct text answer; /* what it has printed */
	char said[256];	    /* where its status is not 0: why, without the image's name */
};

bool qemu_img_is_there(void);
/* Its exit status; -ECANCELED, -ETIMEDOUT or another -errno with a line in err. The caller frees,
 * whatever it is. */
int qemu_img_run(struct qemu_img *q, char *err, size_t errlen);
void qemu_img_free(struct qemu_img *q);

#endif
