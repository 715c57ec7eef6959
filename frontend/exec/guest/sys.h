/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sys.h - system calls of Linux on x86-64, and the few functions of a C library that are needed:
 * there is none in a guest that has just begun. Calls give what the kernel does: -errno on error.
 */
#ifndef HVTRACE_FRONTEND_EXEC_GUEST_SYS_H
#define HVTRACE_FRONTEND_EXEC_GUEST_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <asm/unistd.h>

static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#define SYS_PICK(nr, a, b, c, d, e, f, ...)                                                        \
	sys6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* sys(__NR_close, fd) */
#define sys(...) SYS_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* The compiler calls these by itself. */
void *memcpy(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);

size_t text_len(const char *s);
bool text_is(const char *a, const char *b);
/* Whether a word of the text, up to a blank or line end, begins with this one. */
bool text_has_word(const char *text, const char *begin);

/* All of it; false: it cannot be. */
bool write_all(int fd, const void *bytes, size_t len);
bool read_all(int fd, void *bytes, size_t len);
/* What is in a file, ended by a 0 byte; "" when it cannot be read. dir as of openat(2). */
const char *read_text(int dir, const char *path, char *buf, size_t size);
void nap_ms(unsigned int ms);

#endif
