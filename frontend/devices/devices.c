// SPDX-License-Identifier: GPL-2.0-or-later
/* devices.c - from the options to what a machine is asked for. */
#include "frontend/devices/devices.h"
#include "frontend/devices/local.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int devices_wrong(int rc, char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
	return rc;
}

static int make_disks(struct devices *d, const struct devices_request *req, char *err,
		      size_t errlen)
{
	const struct devices_options *opt = req->opt;
	int rc = req->image ? devices_disk(d, req->image, req, err, errlen) : 0;

	for (size_t i = 0; i < opt->disk.nr && !rc; i++)
		rc = devices_disk(d, opt->disk.values[i], req, err, errlen);
	if (!rc && opt->cloud_init)
		rc = devices_seed(d, req, err, errlen);
	return rc;
}

/* A guest that is booted from an image is likely to want to get out; a bare kernel is not. */
static const char *net_words(const struct devices_options *opt, const char *image)
{
	if (opt->net)
		return opt->net;
	return image || opt->forward.nr ? "user" : "none";
}

int devices_make(struct devices *d, const struct devices_request *req, char *err, size_t errlen)
{
	const struct devices_options *opt = req->opt;
	int rc = make_disks(d, req, err, errlen);

	d->machine.disk = d->disk;
	d->machine.net.forward = d->forward;
	d->machine.share = d->share;
	for (size_t i = 0; i < opt->forward.nr && !rc; i++)
		rc = devices_forward(d, opt->forward.values[i], err, errlen);
	if (!rc)
		rc = devices_net(d, net_words(opt, req->image), err, errlen);
	for (size_t i = 0; i < opt->share.nr && !rc; i++)
		rc = devices_share(d, opt->share.values[i], err, errlen);
	return rc;
}

void devices_free(struct devices *d)
{
	for (size_t i = 0; i < MACHINE_MAX_DISKS; i++) {
		free(d->path[i]);
		free(d->format[i]);
	}
	for (size_t i = 0; i < MACHINE_MAX_SHARES; i++) {
		free(d->folder[i]);
		free(d->tag[i]);
	}
	free(d->tap);
}

void devices_options_free(struct devices_options *opt)
{
	option_list_free(&opt->disk);
	option_list_free(&opt->forward);
	option_list_free(&opt->share);
}
