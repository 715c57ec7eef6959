// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-digest.c - what the daemon reads of its commands: a summary and rows in JSON, of any file;
 * and lines of whoever asks it.
 */
#include "frontend/serve/digest.h"
#include "frontend/serve/requests.h"
#include "tests/fuzz/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROWS_MAX 100000

static char file[64], place[64];
static int fd;
static struct requests *requests;

/* One line, with no end in it. */
static void answer(void *arg, const char *line, struct text *to)
{
	(void)arg;
	if (strchr(line, '\n'))
		abort();
	text_printf(to, "ok\n%s", line);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char err[256];

	(void)argc, (void)argv;
	fd = memfd_create("digest", MFD_CLOEXEC);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	snprintf(place, sizeof(place), "/tmp/hvfuzz-digest.%d", (int)getpid());
	requests = requests_new(place, answer, NULL, err, sizeof(err));
	return fd < 0 || !requests ? -1 : 0;
}

/* Each has a name with an end, and comes as often as there can be. */
static void take_row(void *arg, const struct digest_row *row, bool all)
{
	size_t *nr = arg;

	(void)all;
	if (strnlen(row->name, sizeof(row->name)) == sizeof(row->name) || ++*nr > ROWS_MAX)
		abort();
}

static void read_file(const uint8_t *data, size_t size)
{
	struct digest_summary s;
	size_t nr = 0;

	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (!digest_summary(&s, file) && !(s.seconds >= 0 && s.seconds <= 1e9))
		abort();
	if (strnlen(s.release, sizeof(s.release)) == sizeof(s.release))
		abort();
	digest_rows(file, take_row, &nr);
}

/* In pieces, behind each of which the daemon looks. */
static void ask(const uint8_t *data, size_t size)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct input in = {data, size};
	int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(at.sun_path, place);
	if (peer < 0 || connect(peer, (struct sockaddr *)&at, sizeof(at)))
		abort();
	while (in.size) {
		size_t n = input_byte(&in);

		n = n < in.size ? n : in.size;
		if (send(peer, in.data, n, MSG_NOSIGNAL) < 0)
			break;
		in.data += n;
		in.size -= n;
		requests_tick(requests, 0);
	}
	close(peer);
	requests_tick(requests, REQUESTS_MS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] % 4 == 0)
		ask(data + 1, size - 1);
	else if (size)
		read_file(data + 1, size - 1);
	return 0;
}
