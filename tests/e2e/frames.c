// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * frames.c - a guest program with frame pointers: makes one system call three functions deep, and
 * stays until it is killed. It is also the test program for stacks of user mode.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* openat("/") without the C library, whose functions need not have frame pointers. */
__attribute__((noinline)) long innermost(void)
{
	register long flags __asm__("r10") = 0;
	long ret = SYS_openat;

	__asm__ volatile("syscall"
			 : "+a"(ret)
			 : "D"((long)AT_FDCWD), "S"("/"), "d"((long)O_RDONLY), "r"(flags)
			 : "rcx", "r11", "memory");
	return ret;
}

/* Something is left to be done behind each call, so that none is a jump. */
__attribute__((noinline)) long middle(void)
{
	return innermost() + 1;
}

__attribute__((noinline)) long outermost(void)
{
	return middle() + 1;
}

int main(void)
{
	if (outermost() < 2)
		return 1;
	for (;;)
		pause();
}
