/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format.h - what a trace.dat is begun with, and its sections: trace-cmd.dat.v6(5) and v7(5). */
#ifndef HVTRACE_FRONTEND_DAT_FORMAT_H
#define HVTRACE_FRONTEND_DAT_FORMAT_H

#define DAT_MAGIC     "\x17\x08\x44tracing"
#define DAT_MAGIC_LEN 10

#define DAT_PAGE_SIZE 4096 /* of what is written here */

/* Version 7: what comes before each section: u16 id, u16 flags, u32 string, u64 size. */
#define DAT_SECTION_HEAD 16
#define DAT_COMPRESSED	 1 /* of its flags */

#endif
