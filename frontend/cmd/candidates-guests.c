// SPDX-License-Identifier: GPL-2.0-or-later
/* candidates-guests.c - guests that are traced, and that could be. */
#include "frontend/cmd/candidates.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/lib/file.h"
#include "frontend/session/registry.h"

void candidates_guests(struct candidates *c)
{
	struct registry_guest *guests;
	int n = registry_list(&guests);

	for (int i = 0; i < n; i++)
		candidates_offer(c, guests[i].name);
	free(guests);
}

/*
 * Where a libvirt on this host notes which guests of QEMU run: a file NAME.xml for each, in a
 * directory that everybody may list. To ask libvirt itself might start it. "": nowhere.
 */
static void state_dir(const char *uri, char *path, size_t size)
{
	const char *socket = uri ? strstr(uri, "?socket=") : NULL, *run = getenv("XDG_RUNTIME_DIR");
	bool session = uri && strstr(uri, ":///session");

	*path = '\0';
	if (socket) {
		socket += strlen("?socket=");
		snprintf(path, size, "%.*s", (int)strcspn(socket, "&"), socket);
		path[strrchr(path, '/') ? strrchr(path, '/') - path : 0] = '\0';
	} else if (session && run) {
		snprintf(path, size, "%s/libvirt", run);
	} else if (!uri || !strcmp(uri, "qemu:///system")) {
		snprintf(path, size, "/run/libvirt");
	}
	if (*path)
		snprintf(path + strlen(path), size - strlen(path), "/qemu%s",
			 session ? "/run" : "");
}

void candidates_domains(struct candidates *c)
{
	char path[512], name[NAME_MAX + 1];
	const struct dirent *entry;
	DIR *dir;

	state_dir(candidates_value(c, NULL, "--connect"), path, sizeof(path));
	dir = *path ? opendir(path) : NULL;
	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (len <= 4 || strcmp(entry->d_name + len - 4, ".xml") != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)len - 4, entry->d_name);
		candidates_offer(c, name);
	}
	if (dir)
		closedir(dir);
}

/* Of a domain's XML; NULL: it names none, or cannot be read. */
static char *kernel_in(const char *path)
{
	static const char tag[] = "<kernel>";
	const char *from, *to = NULL;
	struct file_bytes xml;
	char *kernel = NULL;

	if (file_read(&xml, path))
		return NULL;
	from = xml.len ? memmem(xml.data, xml.len, tag, strlen(tag)) : NULL;
	if (from) {
		from += strlen(tag);
		to = memchr(from, '<', (size_t)((const char *)xml.data + xml.len - from));
	}
	if (to)
		kernel = strndup(from, (size_t)(to - from));
	file_free(&xml);
	return kernel;
}

char *candidates_domain_kernel(const struct candidates *c)
{
	char dir[512], path[1024], *kernel = NULL;

	state_dir(candidates_value(c, NULL, "--connect"), dir, sizeof(dir));
	for (int i = 1; *dir && i < c->nr_words && !kernel; i++) {
		if (*c->words[i] == '-' || strchr(c->words[i], '/'))
			continue;
		snprintf(path, sizeof(path), "%s/%s.xml", dir, c->words[i]);
		kernel = kernel_in(path);
	}
	return kernel;
}

void candidates_uris(struct candidates *c)
{
	candidates_offer(c, "qemu:///system");
	candidates_offer(c, "qemu:///session");
}
