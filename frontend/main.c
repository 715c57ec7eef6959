// SPDX-License-Identifier: GPL-2.0-or-later
/* main.c - the hvtrace program: finds the command and runs it. */
#include <stdio.h>

int main(void)
{
	printf("hvtrace %s\n", HVTRACE_VERSION);
	return 0;
}
