// SPDX-License-Identifier: GPL-2.0-or-later
/* libvirt.c - loads libvirt when it is first needed. There is one in a process, as of any library.
 */
#include "vmm/core/library.h"
#include "vmm/qemu/libvirt/libvirt.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct libvirt table;
static bool loaded;

#define RESOLVE(name) &&library_resolve(library, #name, &table.name)

static bool resolve_libvirt(void *library)
{
	return library LIBVIRT_FUNCTIONS(RESOLVE);
}

static bool resolve_libvirt_qemu(void *library)
{
	return library LIBVIRT_QEMU_FUNCTIONS(RESOLVE);
}

static void load(void)
{
	loaded = resolve_libvirt(dlopen("libvirt.so.0", RTLD_NOW | RTLD_GLOBAL)) &&
		 resolve_libvirt_qemu(dlopen("libvirt-qemu.so.0", RTLD_NOW));
}

int libvirt_load(char *err, size_t errlen)
{
	pthread_once(&once, load);
	if (loaded)
		return 0;
	snprintf(err, errlen, "libvirt is not installed here (libvirt.so.0, libvirt-qemu.so.0)");
	return -ENOENT;
}

const struct libvirt *libvirt(void)
{
	return &table;
}
