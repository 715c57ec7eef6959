/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format.h - what a trace.dat is begun with, and its sections: trace-cmd.dat.v6(5) and v7(5). */
#ifndef HVTRACE_FRONTEND_DAT_FORMAT_H
#define HVTRACE_FRONTEND_DAT_FORMAT_H

#define DAT_MAGIC     "\x17\x08\x44tracing"
#define DAT_MAGIC_LEN 10

/*
 * Behind the end of the option VERSION's text, where no other reader looks: this, and the boot id
 * of the host, with an end of its own.
 */
#define DAT_HOST_BOOT "boot_id "

#define DAT_PAGE_SIZE 4096 /* of what is written here */

/* Version 7: what comes before each section: u16 id, u16 flags, u32 string, u64 size. */
#define DAT_SECTION_HEAD 16
#define DAT_COMPRESSED	 1 /* of its flags */

/*
 * A file of several guests has behind all that other readers know of a description of them, and
 * behind that, as its last bytes, what is found first: DAT_PARTS_MAGIC, u64 size of the
 * description, u32 number of guests, u32 0. The description is DAT_PARTS_FORM as u32, and for each
 * guest:
 *
 *   string name, string uname
 *   u32 vCPUs, u32 whether it has a trace id, u64 trace id
 *   u32 number of its first buffer, u32 how many
 *   u32 number of its first option CPUSTAT, u32 how many
 *   u64 where its symbols begin in the section of symbols, u64 their length
 *   u64 the same of formats of trace_printk(), u64 their length
 *   u32 how many formats of events it has, u16 the number of each in the file, ftrace's first
 *   u64 length of its list of tasks, and that, as in the section of names of tasks
 */
#define DAT_PARTS_MAGIC	    "hvtrace: guests"
#define DAT_PARTS_MAGIC_LEN 16
#define DAT_PARTS_FORM	    1
#define DAT_PARTS_END	    32 /* bytes of what is found first */

#endif
