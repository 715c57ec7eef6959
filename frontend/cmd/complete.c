// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * complete.c - `hvtrace complete`: what shells ask when somebody completes a word.
 *
 * Nobody waits for that longer than for a key, and nothing is said of what goes wrong. So another
 * process looks, which ends when it has taken long; what it learns of a kernel meanwhile is cached,
 * and found in time when the key is pressed again.
 */
#include "frontend/cmd/candidates.h"
#include "frontend/cmd/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 280, WAIT_MS_MAX = 600000, LOOK_S = 10, ANSWER_MAX = 16 << 20 };

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* As long as the user of a slow host, or a test, wants to wait. */
static int patience_ms(void)
{
	const char *text = getenv("HVTRACE_COMPLETE_MS");
	long ms = text ? strtol(text, NULL, 10) : WAIT_MS;

	return ms > 0 && ms <= WAIT_MS_MAX ? (int)ms : WAIT_MS;
}

static bool write_all(int fd, const char *at, size_t len)
{
	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* The process that looks. What the shell reads until its end is not kept open by it. */
static void look(struct candidates *c, candidates_find *find, int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
	setsid();
	alarm(LOOK_S + (unsigned int)patience_ms() / 1000);
	find(c);
	_exit(write_all(fd, c->found.buf, c->found.len) ? EXIT_OK : EXIT_FAILED);
}

/* All of the answer, in time: half of it would be taken for all. */
static bool wait_for(int fd, struct text *answer)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t end = now_ms() + patience_ms();
	ssize_t n = 1;

	while (n > 0) {
		int64_t left = end - now_ms();
		char *at = text_begin(answer, 65536);

		if (!at || answer->len > ANSWER_MAX || left <= 0 || poll(&p, 1, (int)left) <= 0)
			return false;
		n = read(fd, at, 65536);
		if (n > 0)
			text_end(answer, at + n);
	}
	return n == 0;
}

static int complete(struct candidates *c, candidates_find *find)
{
	struct text answer = {0};
	int ends[2], died = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return EXIT_FAILED;
	pid = fork();
	if (!pid)
		look(c, find, ends[1]);
	close(ends[1]);
	if (pid > 0 && wait_for(ends[0], &answer)) {
		fwrite(answer.buf, 1, answer.len, stdout);
		waitpid(pid, &died, 0);
	}
	close(ends[0]);
	text_free(&answer);
	return WIFSIGNALED(died) ? EXIT_FAILED : EXIT_OK;
}

int cmd_complete(int argc, char **argv)
{
	candidates_find *find = argc > 2 ? candidates_of(argv[1]) : NULL;
	struct candidates c = {0};

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs("usage: hvtrace complete KIND BEGUN [WORD]...\n\n"
		      "For shells: prints what the word BEGUN may become behind the other words, one a "
		      "line.\n"
		      "The completions of bash, zsh and fish, which make install installs, ask it.\n",
		      stdout);
		return EXIT_OK;
	}

	if (!find) {
		fprintf(stderr, "hvtrace: complete takes a kind, what is typed, and the other "
				"words: it is for shells\n");
		return EXIT_USAGE;
	}
	c.begun = argv[2];
	c.words = argv + 3;
	c.nr_words = argc - 3;
	return complete(&c, find);
}
