/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload.h - what the code in the guest and the host agree on: the layout of the window, the
 * control block of each vCPU, the records. C and assembly include it.
 *
 * The window is memory of which both sides see every byte. The guest sees it at one stretch of
 * kernel addresses within rel32 reach of its text:
 *
 *   WINDOW_HEADER     who has put it there; what a later tracer needs to take it away again
 *   WINDOW_CTL        a control block for each vCPU
 *   WINDOW_PIDS       bitmap of the pids that are traced, when only some are
 *   WINDOW_TEXT       the payload's code: read and execute; nearly all else is read and write
 *   WINDOW_PROBES     probes that the guest's kernel has been asked for
 *   WINDOW_EVENT_*    what the guest's own event probes are called with
 *   WINDOW_MOVED      which instructions of the kernel's have moved here, struct payload_moved[]
 *   WINDOW_MOVED_TEXT where they are executed, MOVED_SIZE bytes for each of them: as WINDOW_TEXT
 *   WINDOW_LIMITS     the longest window between two places: CRITICAL_COPY
 *   WINDOW_RINGS      the staging rings, one for each vCPU, of the same size (a power of two);
 *                     behind them the rings of event data, likewise
 *
 * The guest is not trusted: the host checks whatever it reads from here.
 */
#ifndef HVTRACE_TRACER_PAYLOAD_PAYLOAD_H
#define HVTRACE_TRACER_PAYLOAD_PAYLOAD_H

#define WINDOW_HEADER	   0x0
#define WINDOW_SWITCH	   0xf38  /* u64: SWITCH_ */
#define WINDOW_LOCKERS	   0xf40  /* struct payload_locker[]: who may lock text_mutex unseen */
#define WINDOW_DEPTH	   0xfc0  /* u32, written by the host: payload_depth calls it beyond */
#define WINDOW_HOST	   0xfc8  /* u64, written by the host, or for it when it has died: HOST_ */
#define WINDOW_TABLE	   0x1000 /* page table of the first piece, when that is borrowed */
#define WINDOW_TEXT	   0x4000
#define WINDOW_TEXT_SIZE   0x4000
#define WINDOW_PROBES	   0x8000  /* a struct kprobe or kretprobe in each row: PROBE_ROW_ */
#define WINDOW_EVENT_FILES 0x10000 /* a struct trace_event_file for each event: EVENT_FILE_ */
#define WINDOW_EVENT_ARRAY 0x50000 /* the struct trace_array that system calls look into */
#define WINDOW_EVENT_TABLE 0x60000 /* struct payload_event for each file, and two of the array */
#define WINDOW_EVENT_HELD  0x6c080 /* struct payload_held: modules held for their events */
#define WINDOW_EVENT_OWN   0x6e080 /* struct payload_own_event: of the guest's own probes */
#define WINDOW_WORK	   0x6ef00 /* a struct work_struct, and what it is to call: WORK_ */
#define WINDOW_PATH	   0x7b000 /* of a file, while the guest's kernel is asked for it */
#define WINDOW_PATH_SIZE   0x1000
#define WINDOW_CTL	   0x7c000 /* CTL_BLOCKS of CTL_SIZE */
#define WINDOW_PIDS	   0x80000
#define WINDOW_PIDS_SIZE   0x80000 /* a bit for each pid below PID_MAX_LIMIT, 4 M */
#define WINDOW_MOVED	   0x100000
#define WINDOW_LIMITS	   0x10c000 /* u64[LIMITS]: ticks */
#define WINDOW_MOVED_TEXT  0x110000
#define WINDOW_RINGS	   0x120000

/* Nothing else that may come to lie there looks like the first. The code goes by the lowest byte.
 */
#define HOST_HERE 0x54534f4856480a01
#define HOST_GONE 2

/*
 * Whether the top level records, as the guest's own tracing_off() and tracing_on() are to know it:
 * switch.S. The host writes OFF and ON where that has changed, and the guest instead of ON when it
 * was that tracing_off() was called. All else that there may be is such a time.
 */
#define SWITCH_OFF 0
#define SWITCH_ON  (-1)

#define LOCKERS	       16
#define LOCKER_SIZE    8
#define LOCKER_ADDRESS 0
#define LOCKER_BYTES   4

/* --- control block of a vCPU: WINDOW_CTL + vcpu * CTL_SIZE ---------------------------------- */

#define CTL_SHIFT 8
#define CTL_SIZE  (1 << CTL_SHIFT)
/* The code goes by the number of the CPU it runs on, whatever it is: a guest can have no more. */
#define CTL_BLOCKS 64

#define CTL_HEAD      0	 /* u64: next record to be written, counted from the ring's length on */
#define CTL_DROPPED   8	 /* u64: records not written because there was no room: full_timeout */
#define CTL_FLAGS     16 /* u32, written by the host: CTL_FL_ */
#define CTL_LAST_PID  20 /* u32: of the latest PAYLOAD_COMM record; all ones: none */
#define CTL_FULL_TAIL 24 /* u64: the CTL_TAIL that a wait has timed out at; 0: none */
#define CTL_OPEN      32 /* a record: how the window has begun that is open; time 0: none is */
#define CTL_TAIL      64 /* u64, written by the host: records before this one have been taken */
#define CTL_CRITICAL_MIN                                                                           \
	72		/* u64, written by the host: ticks that a window takes to be recorded      \
			 */
#define CTL_CRITICAL 80 /* u32, written by the host: CRITICAL_ */
#define CTL_PRINTS   84 /* u32, written by the host: types of the guest's own records, print.S */
#define PRINTS_STOP  1	/* in CTL_PRINTS, where there is no such type: they exit to the host */
#define CTL_WRITING  96 /* u64[4]: of each context, the event that it is writing; print.S */
/* A request to the host, which the vCPU waits for: see PAYLOAD_CALL_ */
#define CTL_CALL       128 /* u32: PAYLOAD_CALL_ */
#define CTL_CALL_IP    132 /* u32: low half of the site's address */
#define CTL_CALL_TSC   136 /* u64 */
#define CTL_CALL_SP    144 /* u64: stack pointer at the site */
#define CTL_CALL_DI    152 /* u64: the function's first argument */
#define CTL_CALL_FL    160 /* u64: rflags at the site, but for the arithmetic flags */
#define CTL_CALL_PC    168 /* u32: preempt_count at the site, and 1 */
#define CTL_NO_WAIT    172 /* u32, written by the host: payload_stack only records in interrupts */
#define CTL_CALL_BP    176 /* u64: %rbp at the site */
#define CTL_CALL_VAIN  184 /* u32: how many calls have been taken back */
#define CTL_CALL_HEARD 188 /* u32, written by the host: the CTL_CALL_VAIN that it has seen */
#define CTL_EVENT_HEAD 192 /* u64: bytes of event data that have been reserved */
#define CTL_EVENTS     200 /* u32, written by the host: record events */
#define CTL_EVENT_TAIL 208 /* u64, written by the host: data before this place has been taken */
#define CTL_EVENT_FULL                                                                             \
	216 /* u64: the CTL_EVENT_TAIL that a wait has timed out at; all ones: none */

#define CTL_FL_ON   (1 << 0) /* record */
#define CTL_FL_PIDS (1 << 1) /* only tasks whose bit is set in WINDOW_PIDS */

/*
 * What is measured: the time in which interrupts are off, or the task cannot be preempted, or
 * either. Where such a window begins, CTL_OPEN gets what is known of the place; where it ends, two
 * records are made, one behind the other: that one, and one of the end. A window that is shorter
 * than CTL_CRITICAL_MIN leaves nothing behind.
 */
#define CRITICAL_IRQS	 (1 << 0)
#define CRITICAL_PREEMPT (1 << 1)
#define CRITICAL_STACK	 (1 << 2) /* and have the host look at the stack where it ends */
#define CRITICAL_RISES	 (1 << 3) /* only longer ones from then on */
/*
 * And copy the stack of one that takes longer than all others have that have begun and ended at the
 * same places: the longest of these stands in WINDOW_LIMITS, where a hash of the two says, so that
 * others may share it and have no copy then. Where the code waits for room the host looks instead.
 */
#define CRITICAL_COPY (1 << 4)
#define LIMITS_SHIFT  11
#define LIMITS	      (1 << LIMITS_SHIFT)
#define LIMITS_FROM   0x1e3779b9 /* odd, with ones and zeros all over */
#define LIMITS_BOTH   0x27d4eb2f

/*
 * Where the code has been made so that nothing is lost (full_timeout of struct payload_config), a
 * ring with room for no more than 64 records is full (they are for interrupts that have seen it not
 * full). A record then waits for CTL_TAIL to move, up to full_timeout (TSC ticks in which the vCPU
 * runs), with preempt_count raised and interrupts as they are. After a wait in vain no record of
 * this vCPU waits, all are counted in CTL_DROPPED, until the host has moved CTL_TAIL: so a host
 * that has died costs each vCPU one full_timeout, a slow one full_timeout for each move of
 * CTL_TAIL.
 *
 * CTL_LAST_PID may be set to all ones by the host, to be told the current task's name again: it
 * has lost records, or the task may have called exec since.
 */

/* What a turn of such a wait counts for at most: full_timeout by two to the power of this. */
#define FULL_TURN_SHIFT 6

/*
 * The guest makes a call to the host by MADE, the host answers by DONE; the vCPU stands in between,
 * its preempt_count raised. A host that has gone must not hold the guest up: after call_timeout
 * (TSC ticks) the vCPU takes its call back (NONE, by cmpxchg), counts that (VAIN) and goes on. A
 * host that works on a call while the vCPU may run says so by TAKEN, then the vCPU waits for as
 * long again. A host that has paused the vCPU and then still finds MADE needs no TAKEN: nothing is
 * taken back while the vCPU is paused, and the answer is looked for before the time.
 *
 * While WINDOW_HOST says HOST_GONE no call is made, and none is waited for.
 *
 * A call that comes from the code itself is that of an event: CTL_CALL_DI is the number of its
 * record, which is not complete yet. Or that of a window's end: then the upper half of CTL_CALL_DI
 * is the record's RECORD_SP, which is not 0. Or that of a probe: kprobe.S.
 *
 * The answer may be AGAIN where a task calls that may sleep, from the site of a function that takes
 * no arguments: it sleeps, msleep(PAYLOAD_AGAIN_MS), and goes back to the site.
 *
 * While a call is BUSY, or its AGAIN has not been seen, those that interrupts of this vCPU want to
 * make are left out.
 */
#define PAYLOAD_CALL_NONE    0
#define PAYLOAD_CALL_MADE    1
#define PAYLOAD_CALL_DONE    2
#define PAYLOAD_CALL_TAKEN   3 /* by the host */
#define PAYLOAD_CALL_AGAIN   4 /* by the host: as DONE, and make the same call later */
#define PAYLOAD_CALL_FILLING 5 /* by the guest: about to be made */
#define PAYLOAD_AGAIN_MS     50
#define PAYLOAD_CALL_BUSY    1 /* bit of those that are not over */

/* In an interrupt or NMI, in a softirq that runs (include/linux/preempt.h): CTL_NO_WAIT. */
#define INTERRUPT_COUNT_MASK 0x00ff0100
#define NMI_COUNT_MASK	     0x00f00000
/* What is added to the count for other things than preempt_disable(), likewise. */
#define SOFTIRQ_OFFSET	       0x00000100
#define SOFTIRQ_DISABLE_OFFSET 0x00000200
#define HARDIRQ_OFFSET	       0x00010000

/* --- records -------------------------------------------------------------------------------- */

#define PAYLOAD_RECORD_SHIFT 5
#define PAYLOAD_RECORD_SIZE  (1 << PAYLOAD_RECORD_SHIFT)

/*
 * A record's number is taken before its time: numbers are in the order of the calls. An interrupt
 * in between makes records with later numbers and earlier times.
 */

/* Offsets in a record; those up to RECORD_TASK are of PAYLOAD_FUNCTION and PAYLOAD_EXIT. */
#define RECORD_TSC    0	 /* u64 */
#define RECORD_IP     8	 /* u32: low half of the site; the high half of kernel text is all ones */
#define RECORD_PARENT 12 /* u32: low half of the return address; of an exit: nothing */
#define RECORD_SP     16 /* u32: low half of where the return address is on the stack */
#define RECORD_TASK   20 /* u32: pid | migration_disabled << RECORD_MIGRATE_SHIFT */
#define RECORD_STATE  24 /* u32: type, flags, preempt_count: below. In every record */
#define RECORD_SEQ    28 /* u32: low half of the record's number, written last. In every record */

/* PAYLOAD_COMM: sent before the first record of another pid than the one before, by each vCPU. */
#define RECORD_COMM_PID	 0 /* u32 */
#define RECORD_COMM_TGID 4 /* u32 */
#define RECORD_COMM_NAME 8 /* char[16] */

/* PAYLOAD_EVENT: the other members are as those of a function. */
#define RECORD_EVENT_AT	  8  /* u32: low half of its data's place, counted as CTL_EVENT_HEAD is */
#define RECORD_EVENT_FILE 12 /* u32: offset of its file from WINDOW_EVENT_FILES; EVENT_COPY_ */
#define RECORD_EVENT_LEN  16 /* u32: bytes, without EVENT_HEADER before them */

#define RECORD_PID_MASK	     0x3fffff
#define RECORD_MIGRATE_SHIFT 22

/*
 * State: bits 0 to 23 and 31 are the kernel's preempt_count as it was at the site (31 clear: a
 * reschedule is wanted; include/linux/preempt.h and arch/x86/include/asm/preempt.h, 6.1).
 */
#define STATE_COUNT_MASK	 0x80ffffff
#define STATE_IRQS_OFF_SHIFT	 24
#define STATE_IRQS_OFF		 (1 << STATE_IRQS_OFF_SHIFT)
#define STATE_NEED_RESCHED_SHIFT 25
#define STATE_NEED_RESCHED	 (1 << STATE_NEED_RESCHED_SHIFT) /* TIF_NEED_RESCHED */
#define STATE_TYPE_SHIFT	 27
#define STATE_TYPE_MASK		 0xf

#define PAYLOAD_FUNCTION 1
#define PAYLOAD_COMM	 2
#define PAYLOAD_EXIT	 3 /* the return of a function: RECORD_IP is that of the return */
#define PAYLOAD_EVENT	 4 /* one of the guest's trace events: event.S */
/*
 * The beginning (_OFF) and the end (_ON) of a window (CTL_CRITICAL): flags.S. RECORD_IP is the site
 * that has begun or ended it, RECORD_SP the stack pointer there. RECORD_PARENT of an end: 3 where
 * user mode follows, else 0; and with WINDOW_END_COPY the place of a copy of the stack from
 * RECORD_SP on, less the word of the site's end that the copy begins with. It is that of a record
 * of no data (RECORD_EVENT_AT, struct payload_stack).
 */
#define WINDOW_END_USER	    3
#define WINDOW_END_COPY	    4
#define WINDOW_END_AT	    (~7u)
#define PAYLOAD_IRQS_OFF    5
#define PAYLOAD_IRQS_ON	    6
#define PAYLOAD_PREEMPT_OFF 7
#define PAYLOAD_PREEMPT_ON  8
/*
 * A likely() or unlikely() has come out: RECORD_PARENT is the low half of the address of what the
 * kernel keeps of it, whose two lowest bits are BRANCH_. Its preempt_count is one too high, and
 * RECORD_IP and RECORD_SP say nothing: branch.S.
 */
#define PAYLOAD_BRANCH	9
#define BRANCH_RIGHT	1 /* as was expected */
#define BRANCH_CONSTANT 2 /* what the compiler knew */
#define BRANCH_BITS	3

/* --- trace events --------------------------------------------------------------------------- */

#define EVENT_FILE_SHIFT 7
#define EVENT_FILE_SIZE	 (1 << EVENT_FILE_SHIFT) /* room for a struct trace_event_file */
#define EVENT_FILE_FLAGS 120 /* u8, written by the host: EVENT_STACK_, EVENT_STAYS */
#define EVENT_FILES	 2048
#define EVENT_FILES_SIZE (EVENT_FILES << EVENT_FILE_SHIFT)
#define EVENT_ARRAY_SIZE 0x10000
/* The last of them is of records that the guest has written into its own trace: print.S */
#define EVENT_FILE_PRINTS (EVENT_FILES_SIZE - EVENT_FILE_SIZE)
#define EVENT_HEADER	  8 /* bytes before an event's data */
#define EVENT_TYPE_LEN	  1 /* in the low half of them: an event whose data follows at once */
/* Of an event: more than the kernel itself takes (BUF_MAX_DATA_SIZE, kernel/trace/ring_buffer.c) */
#define EVENT_MAX 4096

#define PAYLOAD_FORM_MAX 11

#define EVENT_STACK_CALL (1 << 0) /* have it look at the stack, which the vCPU waits for */
#define EVENT_STACK_COPY (1 << 1) /* copy some of the stack behind the event's data */
/* Who records may be preempted: not between reserve and commit. Never changes while one may be. */
#define EVENT_STAYS (1 << 2)

/*
 * Such a copy (struct payload_stack): behind the next multiple of eight bytes, for events of no
 * more than EVENT_COPY_LEN bytes; bit 0 of RECORD_EVENT_FILE says that there is one. It is of the
 * stack that the event is on, from where trace_event_buffer_reserve() returns to on, and if that is
 * the interrupts', of the task's from where that was left. On any other stack there are no words.
 */
#define EVENT_COPY_LEN	      1024
#define EVENT_COPY_WORDS      192
#define EVENT_COPY_TASK_WORDS 128

#define COPY_SP	     0	/* u64: address of the first word */
#define COPY_BP	     8	/* u64: %rbp */
#define COPY_TASK_SP 16 /* u64: address of the first of the task's words */
#define COPY_N	     24 /* u32: how many there are of each */
#define COPY_TASK_N  28
#define COPY_WORD    32 /* the words, the task's behind the others */

#define IRQ_STACK_SIZE 16384 /* arch/x86/include/asm/page_64_types.h, 6.1 */

/* What an event of the guest's ring buffer begins with (include/linux/ring_buffer.h, 6.1). */
#define RING_EVENT_TYPE	      31 /* bits: 0: the length follows; else so many words of data do */
#define RING_EVENT_EXTEND     30 /* and above: a time, which the event itself comes behind */
#define RING_EVENT_EXTEND_LEN 8

/*
 * Bytes of the stack between what print.S calls to commit a record, or its trap, and the address
 * that the function returns to which it takes the place of.
 */
#define PRINT_COMMIT_FRAME (8 + FBUFFER_SIZE + 10 * 8)
#define PRINT_TRAP_FRAME   (3 * 8)
#define FBUFFER_SIZE	   64 /* room for the members of a struct trace_event_buffer that are used */

/* Instructions of up to 19 bytes, of which a jump has taken the place, and one back. */
#define DETOUR_INSNS 24
#define DETOUR_REST  32

/*
 * Instructions beside a cli or sti that has no room for a call: a jump has taken the place of all
 * of them. In the window they are followed by a jump back, and the cli or sti is a call.
 */
#define MOVED_ROWS   1024
#define MOVED_SIZE   64 /* bytes of code for each */
#define MOVED_MAX    16 /* bytes of instructions that have moved */
#define MOVED_PLACES 8

/* --- probes of the guest's kernel ----------------------------------------------------------- */

#define PROBE_ROWS	 128
#define PROBE_ROW_SIZE	 256
#define PROBE_ROW_STRUCT 224 /* room for the kernel's struct, which comes first */
#define PROBE_ROW_KIND	 224 /* u32, written by the host: PROBE_ROW_FREE and so on */
#define PROBE_ROW_HITS	 232 /* u64 */
#define PROBE_ROW_MISSED 240 /* u64: of those that the kernel has not missed: not told the host */
#define PROBE_ROW_CALLS	 248 /* u64: of a uprobe at a return, calls of its function */

#define PROBE_ARGS 6 /* u64: di, si, dx, cx, r8, r9, kept for a return that asks for them */

#define PROBE_ROW_FREE	 0
#define PROBE_ROW_ENTRY	 1 /* the kernel may know of it, as a kprobe */
#define PROBE_ROW_RETURN 2 /* as a kretprobe */
/* As the data of a tracepoint's probe: this is no struct of the kernel's, but two words, u64 each.
 */
#define PROBE_ROW_TRACEPOINT	3
#define PROBE_ROW_TRACEPOINT_AT 0
#define PROBE_ROW_TRACEPOINT_FN 8
/*
 * As uprobes, at an instruction and at a function's return: the kernel's struct uprobe_consumer,
 * and behind it what it is asked with. All ones in _MADE: it is not registered; else that is what
 * the function that registers it has said, which the kworker has put there.
 */
#define PROBE_ROW_UPROBE	4
#define PROBE_ROW_URETPROBE	5
#define PROBE_ROW_UPROBE_PATH	128 /* a struct path, which is held; all zero: none */
#define PROBE_ROW_UPROBE_INODE	144 /* u64: struct inode */
#define PROBE_ROW_UPROBE_OFFSET 152 /* u64: in the file */
#define PROBE_ROW_UPROBE_REF	160 /* u64: likewise, of a counter of who waits for hits; 0: none */
#define PROBE_ROW_UPROBE_MADE	168 /* u64 */

/* --- work ----------------------------------------------------------------------------------- */

/* At WINDOW_WORK, behind the struct work_struct. */
#define WORK_STRUCT_MAX 64
#define WORK_NR		64 /* u32: how many calls there are */
#define WORK_DONE	68 /* u32: how many have been made */
#define WORK_OVER	72 /* u32: all have, and the function is about to return */
#define WORK_CALLS	128
#define WORK_CALL_FN	0  /* u64 */
#define WORK_CALL_ARG	8  /* u64[4] */
#define WORK_CALL_RET	40 /* u64; before the call: where else it goes, 0: nowhere */
#define WORK_CALL_SIZE	48
#define WORK_CALLS_MAX	1024

/* --- how to leave the code ------------------------------------------------------------------ */

/*
 * A task that is interrupted where nothing has been done yet, or all is done, can be moved on by
 * hand, as the next word of its stack tells.
 */
#define EDGE_RETURN 0 /* go on at that address */
#define EDGE_REDO   1 /* it is the end of the site that got here: go on at the site */
#define EDGE_DETOUR 2 /* go on where the jump is that got here: struct payload_detour */
/* With one of these: more about a site that EDGE_REDO goes back to. */
#define EDGE_KIND(how)	    ((how)&0xff)
#define EDGE_SITE(size)	    ((size) << 8) /* it has so many bytes, not five */
#define EDGE_SITE_OF(how)   ((how) >> 8 & 0xff)
#define EDGE_PUSHED(words)  ((words) << 16) /* its end is so many words further up the stack */
#define EDGE_PUSHED_OF(how) ((how) >> 16)

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

struct payload_record {
	union {
		struct {
			uint64_t tsc;
			uint32_t ip, parent, sp, task;
		};
		struct {
			uint64_t event_tsc;
			uint32_t event_at, event_file, event_len, event_task;
		};
		struct {
			uint32_t comm_pid, comm_tgid;
			char comm[16];
		};
	};
	uint32_t state, seq;
};

_Static_assert(sizeof(struct payload_record) == PAYLOAD_RECORD_SIZE, "a record is 32 bytes");

struct payload_work_call {
	uint64_t fn, arg[4], ret;
};

_Static_assert(sizeof(struct payload_work_call) == WORK_CALL_SIZE, "as the code has it");
_Static_assert(WINDOW_WORK + WORK_CALLS + WORK_CALLS_MAX * WORK_CALL_SIZE <= WINDOW_PATH &&
		       WINDOW_PATH + WINDOW_PATH_SIZE <= WINDOW_CTL &&
		       WINDOW_CTL + CTL_BLOCKS * CTL_SIZE <= WINDOW_PIDS,
	       "there is room");

/* A copy of a stack; of words there are only as many as it says. */
struct payload_stack {
	uint64_t sp, bp, task_sp;
	uint32_t n, task_n;
	uint64_t word[EVENT_COPY_WORDS + EVENT_COPY_TASK_WORDS];
};

_Static_assert(offsetof(struct payload_stack, word) == COPY_WORD, "as the code has it");

#define WINDOW_MAX_PIECES 64
#define WINDOW_PIECE	  0x200000 /* what one entry of a page directory maps */
#define PAYLOAD_MAGIC	  "hvtrace window a"

/* A function of the guest's that begins with a jump to the code: event.S. */
struct payload_detour {
	uint64_t va;		  /* of the jump; 0: there is none */
	uint32_t entry, rest;	  /* offsets in the code: of where it goes, of the copies */
	uint32_t size;		  /* bytes of whole instructions there */
	uint8_t relative, pad[3]; /* where one has an address relative to its end, s32; 0: none */
	uint8_t insns[DETOUR_INSNS]; /* as they were */
};

#define PAYLOAD_DETOURS 7

/*
 * What the kernel has where an entry is called by a site of another kind than a function's start or
 * return: the same bytes at each, but for the distance of its end from a target (s32). The call
 * that takes their place is one instruction of the same size, so whoever is in the code returns
 * behind the site.
 */
struct payload_form {
	uint32_t entry;		/* offset in the code; 0: there is no such entry */
	uint8_t size, relative; /* relative: so many bytes before the end; 0: there is none */
	uint8_t bytes[PAYLOAD_FORM_MAX];
	uint64_t target;
};

#define PAYLOAD_FORMS 20
#define PAYLOAD_EDGES 53

/* A row of WINDOW_MOVED; its code is the same row of WINDOW_MOVED_TEXT. */
struct payload_moved {
	uint32_t at;	/* low half of the jump's address; 0: there is none */
	uint8_t size;	/* bytes of whole instructions there, SITE_SIZE to MOVED_MAX */
	uint8_t places; /* in how many places one stands for the other: */
	uint8_t from[MOVED_PLACES], to[MOVED_PLACES]; /* offsets there, and in the code */
	uint8_t bytes[MOVED_MAX];		      /* as they were */
};

/* At WINDOW_EVENT_TABLE: what has been registered with a tracepoint; all zero: nothing. */
struct payload_event {
	uint64_t tracepoint, probe, data;
};

#define EVENT_TABLE_ROWS (EVENT_FILES + 2)

/*
 * At WINDOW_EVENT_HELD. What try_module_get() says goes into `held` when the kworker has called it
 * (its lowest byte: a bool), and all is zero when it has called module_put(): so whoever reads it
 * once the kworker is done finds what there is to be let go, whatever has become of who has asked.
 */
struct payload_held {
	uint64_t module, held;
};

#define EVENT_HELD_ROWS 512

/*
 * At WINDOW_EVENT_OWN: an event of the guest's own probes that is to record into our file. What
 * trace_get_event_file() of those names says goes into `file` when the kworker has called it, and
 * all is zero once it has called trace_put_event_file(): as with struct payload_held.
 */
struct payload_own_event {
	uint64_t call; /* struct trace_event_call; 0: nothing has been registered with it yet */
	uint64_t file; /* the guest's own struct trace_event_file */
	uint64_t ours; /* the one of WINDOW_EVENT_FILES */
	char system[64], event[64];
};

#define EVENT_OWN_ROWS 24

/* At WINDOW_HEADER. Addresses are the guest's. */
struct payload_header {
	char magic[16];
	uint64_t va, size; /* of the window */
	uint32_t nr_pieces;
	uint32_t ring_size; /* bytes, of each vCPU */
	uint32_t nr_vcpus;
	uint32_t borrowed;		      /* the guest's page allocator has given the pieces */
	uint64_t piece_pa[WINDOW_MAX_PIECES]; /* WINDOW_PIECE bytes each, in the window's order */
	uint64_t piece_va[WINDOW_MAX_PIECES]; /* what the allocator returned */
	/* Of the code: struct payload_text, for whoever takes it away */
	uint32_t text_size, nr_edges;
	struct payload_way_out {
		uint32_t from, to, how; /* EDGE_ */
	} edge[PAYLOAD_EDGES];
	uint32_t exit, exit_all;  /* where return sites call */
	uint64_t return_thunk;	  /* what they hold else is a jump to it; 0: a plain return */
	uint32_t event_ring_size; /* bytes, of each vCPU */
	uint32_t work;		  /* the code for WINDOW_WORK */
	struct payload_form form[PAYLOAD_FORMS];
	struct payload_detour detour[PAYLOAD_DETOURS];
};

/* A function of the kernel; all zero: none. */
struct payload_locker {
	uint32_t address; /* low half */
	uint32_t bytes;
};

_Static_assert(sizeof(struct payload_locker) == LOCKER_SIZE &&
		       offsetof(struct payload_locker, bytes) == LOCKER_BYTES,
	       "as call.S has it");
_Static_assert(WINDOW_HEADER + sizeof(struct payload_header) <= WINDOW_SWITCH &&
		       WINDOW_SWITCH + sizeof(uint64_t) <= WINDOW_LOCKERS &&
		       WINDOW_LOCKERS + LOCKERS * LOCKER_SIZE <= WINDOW_DEPTH &&
		       WINDOW_DEPTH + sizeof(uint32_t) <= WINDOW_HOST &&
		       WINDOW_HOST + sizeof(uint64_t) <= WINDOW_TABLE,
	       "there is room");
_Static_assert(WINDOW_TEXT + WINDOW_TEXT_SIZE <= WINDOW_PROBES &&
		       WINDOW_PROBES + PROBE_ROWS * PROBE_ROW_SIZE <= WINDOW_EVENT_FILES,
	       "there is room");
_Static_assert(WINDOW_MOVED + MOVED_ROWS * sizeof(struct payload_moved) <= WINDOW_LIMITS &&
		       WINDOW_LIMITS + LIMITS * sizeof(uint64_t) <= WINDOW_MOVED_TEXT &&
		       WINDOW_MOVED_TEXT + MOVED_ROWS * MOVED_SIZE <= WINDOW_RINGS,
	       "there is room");
_Static_assert(WINDOW_EVENT_TABLE + EVENT_TABLE_ROWS * sizeof(struct payload_event) <=
			       WINDOW_EVENT_HELD &&
		       WINDOW_EVENT_HELD + EVENT_HELD_ROWS * sizeof(struct payload_held) <=
			       WINDOW_EVENT_OWN &&
		       WINDOW_EVENT_OWN + EVENT_OWN_ROWS * sizeof(struct payload_own_event) <=
			       WINDOW_WORK,
	       "there is room");

#endif
#endif
