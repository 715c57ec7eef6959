// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-remote.c - what comes from another host, in pieces of any length: frames of anything, and a
 * recording of which some bytes are not what its recorder has written. What is handed on of that is
 * what was written. The first byte chooses; of two more kinds are requests and URIs.
 */
#include "frontend/dat/bytes.h"
#include "frontend/dat/format.h"
#include "frontend/dat/journal-stream.h"
#include "frontend/remote/peer.h"
#include "frontend/remote/remote.h"
#include "frontend/remote/request.h"
#include "frontend/remote/uri.h"
#include "tests/fuzz/input.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is)
{
	if (!is)
		abort();
}

/* --- frames ------------------------------------------------------------------------------------
 */

struct got {
	struct journal_stream *stream; /* NULL: there is none */
	bool greeted, ended;
};

static int hello(void *arg, unsigned int protocol, const char *version)
{
	struct got *g = arg;

	must(!g->greeted && protocol < 1000000 && *version &&
	     strlen(version) <= REMOTE_VERSION_MAX);
	g->greeted = true;
	return 0;
}

static int data_comes(void *arg, unsigned int frame, const uint8_t *data, size_t len)
{
	struct got *g = arg;

	must(g->greeted && !g->ended && frame > REMOTE_STATUS && frame <= REMOTE_FILE &&
	     len <= REMOTE_FRAME_MAX);
	return frame == REMOTE_STDOUT && g->stream ? journal_stream_add(g->stream, data, len) : 0;
}

static int status(void *arg, int value)
{
	struct got *g = arg;

	must(g->greeted && !g->ended && value >= 0 && value <= 255);
	g->ended = true;
	return 0;
}

static const struct peer_ops ops = {hello, data_comes, status};

static int hear(struct got *g, const uint8_t *data, size_t size, size_t piece)
{
	static struct peer p;
	int rc = 0;

	p.ops = &ops;
	p.arg = g;
	p.files = 1;
	p.greeted = p.ended = false;
	p.chatter = p.len = 0;
	for (size_t at = 0; at < size && !rc; at += piece)
		rc = peer_add(&p, data + at, piece < size - at ? piece : size - at);
	p.arg = NULL;
	return rc;
}

/* --- a recording -------------------------------------------------------------------------------
 */

struct copy {
	struct text bytes;
};

static int put(void *arg, const struct journal_record *r, const void *bytes, size_t len)
{
	struct copy *c = arg;

	must(!r == !c->bytes.len && (!r || r->size <= JOURNAL_DATA_MAX));
	text_add(&c->bytes, bytes, len);
	return 0;
}

static struct text recorded(struct input *in)
{
	const struct journal_shape shape = {7, input_byte(in) & 1, 2};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct journal *j = journal_new(fd, &shape);
	struct text t = {0};

	must(fd >= 0 && j && !journal_begin(j));
	for (unsigned int n = input_byte(in) % 8; n; n--) {
		enum journal_kind kind = input_byte(in) % 4 + JOURNAL_SECTION;
		uint32_t a = input_byte(in) % 4, b = input_byte(in) % 3;
		static const uint8_t page[DAT_PAGE_SIZE];

		journal_put(j, kind, a, b, page,
			    kind == JOURNAL_PAGES ? sizeof(page) : input_byte(in));
	}
	must(text_begin(&t, journal_size(j)) && !bytes_read(fd, 0, t.buf, journal_size(j)));
	t.len = journal_size(j);
	journal_free(j);
	close(fd);
	return t;
}

static void frame(struct text *to, enum remote_frame kind, const char *bytes, size_t len)
{
	uint8_t head[REMOTE_FRAME_HEAD] = {(uint8_t)kind};

	bytes_put32(head + 1, (uint32_t)len);
	text_add(to, head, sizeof(head));
	text_add(to, bytes, len);
}

static void try_recording(struct input *in)
{
	struct text journal = recorded(in), sent = {0};
	struct copy copy = {.bytes = {0}};
	struct journal_stream stream = {.put = put, .arg = &copy};
	struct got g = {.stream = &stream};
	size_t piece = input_u16(in) + 1, changed = journal.len, at = input_u16(in) % journal.len;
	uint8_t mask = input_byte(in);

	text_puts(&sent, REMOTE_HELLO "1 1\n");
	if (mask)
		changed = at;
	journal.buf[at] = (char)(journal.buf[at] ^ mask);
	for (size_t done = 0; done < journal.len; done += piece) {
		size_t left = journal.len - done;

		frame(&sent, REMOTE_STDOUT, journal.buf + done, left < piece ? left : piece);
	}
	hear(&g, (const uint8_t *)sent.buf, sent.len, input_u16(in) + 1);
	/* Of the head's bytes not all mean something. */
	must(changed < 128 || copy.bytes.len <= changed);
	must(!copy.bytes.len || !memcmp(copy.bytes.buf, journal.buf, copy.bytes.len));
	journal_stream_free(&stream);
	text_free(&copy.bytes);
	text_free(&journal);
	text_free(&sent);
}

/* --- the rest ----------------------------------------------------------------------------------
 */

static void try_request(const uint8_t *data, size_t size)
{
	struct request r;
	char **argv;

	if (request_parse(data, size, &r, &argv))
		return;
	must(r.files <= REMOTE_FILES_MAX && r.nr && r.nr <= REMOTE_WORDS_MAX);
	for (uint32_t i = 1; i <= r.nr; i++)
		must(strlen(argv[i]) < size);
	must(!argv[r.nr + 1]);
	free(argv);
}

static void try_uri(const uint8_t *data, size_t size)
{
	static const char scheme[] = "qemu+ssh://";
	char text[2048], err[256];
	const char *argv[REMOTE_SSH_WORDS];
	struct remote_uri u;
	size_t n = 0;

	if (size >= sizeof(text) - sizeof(scheme))
		return;
	memcpy(text, scheme, sizeof(scheme));
	memcpy(text + strlen(scheme), data, size);
	text[strlen(scheme) + size] = '\0';
	if (remote_uri_parse(text, &u, err, sizeof(err)))
		return;
	remote_uri_ssh(&u, "x", argv);
	while (argv[n])
		n++;
	must(n < REMOTE_SSH_WORDS && !strcmp(argv[n - 3], "--") && *u.host && *u.host != '-' &&
	     *u.user != '-');
	for (const char *c = u.host; *c; c++)
		must((unsigned char)*c >= ' ' && !strchr("'`\"$\\;&<>|(){} ", *c));
	must(!u.user[strcspn(u.user, "'`\"$\\;&<>|(){} ")]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct got g = {.stream = NULL};

	switch (input_byte(&in) % 4) {
	case 0:
		hear(&g, in.data, in.size, size % 61 + 1);
		break;
	case 1:
		try_recording(&in);
		break;
	case 2:
		try_request(in.data, in.size);
		break;
	default:
		try_uri(in.data, in.size);
		break;
	}
	return 0;
}
