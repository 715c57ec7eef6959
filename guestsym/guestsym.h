/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guestsym.h - the door of guestsym/: what one kernel image says about itself.
 *
 * Input is a bzImage or a vmlinux ELF, stripped or not; everything is found by content, nothing
 * by kernel version. Images are untrusted: lengths are checked, a bad image gives an error.
 *
 * Without a file the kernel of a running guest is read from its memory: guestsym_open_memory().
 *
 * All addresses are link addresses (no KASLR offset), from memory run-time ones. Strings and arrays
 * belong to the guestsym and live until guestsym_close(). A guestsym never changes after
 * guestsym_open(), so it may be used by several threads.
 */
#ifndef HVTRACE_GUESTSYM_H
#define HVTRACE_GUESTSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guestsym;

/*
 * Who reads hostile bytes: a process that was made for it, without rights and with limits of memory
 * and time. What it says is checked. Whatever takes one of these also takes NULL: then they are
 * read here, as tests do.
 */
struct guestsym_parsers;

/*
 * Before other threads are made. It ends with guestsym_parsers_stop(), which comes behind all that
 * was opened with it, or with this process. cancel is a descriptor that is readable once nothing is
 * wanted any more (-1: none): what is under way then ends. 0, or -errno with one line in err.
 */
int guestsym_parsers_start(struct guestsym_parsers **p, int cancel, char *err, size_t errlen);
void guestsym_parsers_stop(struct guestsym_parsers *p);

enum {
	GUESTSYM_FL_NOCACHE = 1 << 0, /* neither read nor write the cache */
	/* An image from the cache is read when somebody first wants its bytes: guestsym_settle() */
	GUESTSYM_FL_LATER = 1 << 1,
};

/*
 * Open a regular file that others name, to be read, and no more than look at anything else: there
 * are devices that do something when they are opened. Its descriptor, -EISDIR, -EINVAL (something
 * else) or -errno. *st gets what fstat() says of it.
 */
struct stat;
int guestsym_open_regular(const char *path, struct stat *st);

/*
 * Parse the image at path, or take it from the cache ($XDG_CACHE_HOME/hvtrace, keyed by build
 * id). The file is read once: what happens to it afterwards changes nothing. NULL on error, with
 * one line in err that names the file, what is wrong and what to do.
 */
struct guestsym *guestsym_open(struct guestsym_parsers *p, const char *path, unsigned int flags,
			       char *err, size_t errlen);
/*
 * The same for an image that somebody has in memory, never cached; name is what err calls it. buf
 * may go once it is back.
 */
struct guestsym *guestsym_open_bytes(struct guestsym_parsers *p, const char *name, const void *buf,
				     size_t len, char *err, size_t errlen);
/* The same for an image in memory, read here and never cached; buf may go once it is back. */
struct guestsym *guestsym_parse(const void *buf, size_t len, char *err, size_t errlen);
void guestsym_close(struct guestsym *gs); /* NULL is allowed */

/* The memory of a guest whose kernel runs. */
struct guestsym_memory {
	/*
	 * Copy from a kernel virtual address through the running kernel's page tables (with page
	 * table isolation: the kernel's, not the user's): 0, -EFAULT when some of it is not
	 * mapped (buf may then hold anything), other errors end what is being done. Called with
	 * up to 2 MiB at a time.
	 */
	int (*read)(void *arg, uint64_t va, void *buf, size_t len);
	void *arg;
	uint64_t hint; /* an address in kernel text, such as that of an IDT gate's handler */
	/* NULL, or asked while many modules are copied: true ends that with -ECANCELED. */
	bool (*cancelled)(void *arg);
};

/*
 * The kernel that runs around mem->hint, from its memory alone. It must have BTF and be past its
 * ftrace_init(). The guest may run on meanwhile: a booted kernel changes nothing of what is read,
 * but for trace events, of which some are missed when a module comes or goes in that moment. mem
 * is not used any more once it is back. What differs from the image's guestsym:
 *
 *  - all addresses are run-time ones: the slide is 0;
 *  - what was in init memory is not there: fentry sites with GUESTSYM_SITE_INIT, return sites;
 *    there is no ORC header;
 *  - irq sites are those that hold what a kernel on plain hardware or KVM makes of them: none when
 *    it has made something else of them;
 *  - guestsym_read() gives what was in memory then, GUESTSYM_SITE_NOP likewise;
 *  - guestsym_elf() gives NULL, guestsym_phys() -EFAULT.
 */
struct guestsym *guestsym_open_memory(struct guestsym_parsers *p, const struct guestsym_memory *mem,
				      char *err, size_t errlen);
/* Those that it was opened with. */
struct guestsym_parsers *guestsym_parsers(const struct guestsym *gs);

/* --- the image --------------------------------------------------------------------------- */

const char *guestsym_release(const struct guestsym *gs);  /* "6.1.0-56-cloud-amd64" */
const char *guestsym_banner(const struct guestsym *gs);	  /* linux_banner, without line end */
const char *guestsym_build_id(const struct guestsym *gs); /* hex, "" when there is none */
/* What guestsym_open() took, without keeping it in the cache. */
double guestsym_parse_ms(const struct guestsym *gs);
bool guestsym_cached(const struct guestsym *gs);      /* it came from the cache */
bool guestsym_from_memory(const struct guestsym *gs); /* of a kernel that ran, not an image */

/* Variables of eight bytes whose first value is of use: kept beside the image's bytes. */
enum guestsym_variable { GUESTSYM_JIFFIES_64, GUESTSYM_TICK_NSEC, NR_GUESTSYM_VARIABLES };

/* What it holds in the image, or held in memory: 0, or -ENOENT when that is not known. */
int guestsym_variable(const struct guestsym *gs, enum guestsym_variable v, uint64_t *value);

/*
 * With GUESTSYM_FL_LATER: have the image's bytes there. 0, or -EIO with a line in err: what the
 * cache has of them is damaged, and is there no more; until here, and from here on, what needs them
 * fails. Any thread; reads tens of megabytes the first time.
 */
int guestsym_settle(const struct guestsym *gs, char *err, size_t errlen);
/* The ELF image (what a boot loader loads), NULL from memory. */
const void *guestsym_elf(const struct guestsym *gs, size_t *len);
/* Copy initialised bytes from link address va: 0 or -EFAULT. */
int guestsym_read(const struct guestsym *gs, uint64_t va, void *buf, size_t len);
/* Physical address that link address va is loaded at: 0 or -EFAULT. */
int guestsym_phys(const struct guestsym *gs, uint64_t va, uint64_t *pa);

/* --- symbols ----------------------------------------------------------------------------- */

struct guestsym_symbol {
	uint64_t addr;
	const char *name;
	char type; /* as nm(1) and /proc/kallsyms have it */
};

/* All symbols in the order of /proc/kallsyms: by address, so per-CPU offsets come first. */
size_t guestsym_symbols(const struct guestsym *gs, const struct guestsym_symbol **syms);
/*
 * Symbol by exact name, or NULL. The first in order when a name stands for several. A static one
 * that Clang's ThinLTO has renamed (NAME.llvm.NUMBER) is found by NAME, where nothing else is.
 */
const struct guestsym_symbol *guestsym_lookup(const struct guestsym *gs, const char *name);
/* Its address, or 0. */
uint64_t guestsym_addr(const struct guestsym *gs, const char *name);
/*
 * The symbol that the kernel itself would print for addr (kallsyms_lookup: of several at one
 * address the first), NULL outside kernel text and data. *off gets addr minus its address, *size
 * (either may be NULL) the distance to the next different address.
 */
const struct guestsym_symbol *guestsym_find(const struct guestsym *gs, uint64_t addr, uint64_t *off,
					    uint64_t *size);

/* --- sites ------------------------------------------------------------------------------- */

enum {
	GUESTSYM_SITE_INIT = 1 << 0,	/* in init memory, which the booted kernel frees */
	GUESTSYM_SITE_INVALID = 1 << 1, /* not at its symbol's start: an overridden weak function */
	GUESTSYM_SITE_NOP = 1 << 2,	/* the image holds a NOP, not call __fentry__ */
};

struct guestsym_site {
	uint64_t addr;	  /* of the 5-byte call or NOP */
	uint64_t func;	  /* address of the function's symbol */
	const char *name; /* the function's name, or __ftrace_invalid_address___<offset> */
	uint32_t flags;
};

/* The fentry sites (__start_mcount_loc..__stop_mcount_loc) sorted by address, without zero ones. */
size_t guestsym_fentry_sites(const struct guestsym *gs, const struct guestsym_site **sites);

enum guestsym_irq_kind {
	GUESTSYM_IRQ_DISABLE, /* cli */
	GUESTSYM_IRQ_ENABLE,  /* sti */
	GUESTSYM_IRQ_SAVE,    /* pushf; pop %rax */
	GUESTSYM_IRQ_RESTORE, /* popf (before 5.12 also as push %rdi; popf) */
};

struct guestsym_irq_site {
	uint64_t addr;
	uint8_t kind; /* enum guestsym_irq_kind */
	uint8_t len;
};

/* inc, dec, add or sub of a number that the instruction has in it. */
struct guestsym_preempt_site {
	uint64_t addr;
	int32_t value; /* what is added; that of dec is -1 */
	uint8_t len;
};

struct guestsym_tracepoint {
	uint64_t addr;	  /* of struct tracepoint */
	const char *name; /* without __tracepoint_ */
};

struct guestsym_range {
	uint64_t start, end;
};

/* By address. */
size_t guestsym_return_sites(const struct guestsym *gs, const uint64_t **sites);
/*
 * Have the two kinds of sites below found, where nobody has: for who has to know whether they can
 * be. 0, or an error with a line in err; then none are known. It is tried again a few times,
 * whenever somebody asks. Any thread.
 */
int guestsym_find_sites(const struct guestsym *gs, char *err, size_t errlen);
/*
 * Sorted by address, without those in init code. Found on the first call, which takes a second
 * when the kernel has no list of them and its text is decoded instead.
 */
size_t guestsym_irq_sites(const struct guestsym *gs, const struct guestsym_irq_site **sites);
/*
 * The instructions that change the preempt count by a known number, sorted by address, without
 * those of NMIs and in init code. A kernel without CONFIG_PREEMPT_COUNT has some too: interrupts
 * are counted in every one. None: where the count lies is not known.
 * Found on the first call, which takes some 100 ms.
 */
size_t guestsym_preempt_sites(const struct guestsym *gs,
			      const struct guestsym_preempt_site **sites);
size_t guestsym_tracepoints(const struct guestsym *gs, const struct guestsym_tracepoint **tps);
size_t guestsym_event_probes(const struct guestsym *gs); /* trace_event_raw_event_* functions */
/* ORC tables; empty ranges when the image has none. */
void guestsym_orc(const struct guestsym *gs, struct guestsym_range *ip,
		  struct guestsym_range *unwind, struct guestsym_range *header);

/* --- modules ----------------------------------------------------------------------------- */

enum guestsym_module_state {
	GUESTSYM_MODULE_LIVE,
	GUESTSYM_MODULE_COMING, /* its init function is still to be run, or running */
	GUESTSYM_MODULE_GOING,	/* its exit function is running, or its memory about to be freed */
};

struct guestsym_module_memory;

/* All addresses are run-time ones. Nothing here is of init code, which goes with the loading. */
struct guestsym_module {
	uint64_t addr; /* of its struct module */
	const char *name;
	enum guestsym_module_state state;
	struct guestsym_range text;
	const struct guestsym_symbol *syms; /* by address, as guestsym_symbols() */
	size_t nr_syms;
	const struct guestsym_site *sites; /* as guestsym_fentry_sites() */
	size_t nr_sites;
	struct guestsym_module_memory *memory; /* guestsym's own */
};

/* Copies of what a guest has of its modules. */
struct guestsym_module_copies;

/*
 * Copy what tells of the modules of the running kernel, the latest first; gs is from its memory
 * (slide 0) or from its image, and stays until the copies are parsed. The guest is to be paused:
 * no more than 256 MB are copied. Of those among `known`, from an earlier reading, that have not
 * changed nothing is. 0, -ENOENT (a kernel without modules), -ENODATA (no BTF), -E2BIG (more
 * symbols, sites or bytes than modules have), -ECANCELED, or other errors when guest memory makes
 * no sense. What of a module cannot be read is left out.
 */
int guestsym_modules_copy(const struct guestsym *gs, const struct guestsym_memory *mem,
			  uint64_t slide, const struct guestsym_module *known, size_t nr_known,
			  struct guestsym_module_copies **copies);
void guestsym_modules_copies_free(struct guestsym_module_copies *copies); /* NULL is allowed */
/*
 * Make modules of the copies, which are freed; the guest may run. They share with the known ones
 * what has not changed, whichever are freed first. 0, -ENOMEM or -E2BIG.
 */
int guestsym_modules_parse(struct guestsym_module_copies *copies, struct guestsym_module **mods,
			   size_t *n);
/*
 * Both steps, with nothing known. The guest is to be paused.
 *
 * To notice changes without reading all again, watch two functions of the kernel, whose first
 * argument (rdi) is guestsym_module.addr:
 *
 *  - do_init_module: the module is in the list, COMING, its sites are NOPs and it has not run yet:
 *    read again, take its sites;
 *  - free_module: the module has stopped running and its text is about to be freed: give its
 *    sites back now (it is still in the list, so read again at the next hit or stop).
 *
 * Both are hit for one module when its init function fails.
 */
int guestsym_modules_read(const struct guestsym *gs, const struct guestsym_memory *mem,
			  uint64_t slide, struct guestsym_module **mods, size_t *n);
void guestsym_modules_free(struct guestsym_module *mods, size_t n);

/* --- trace events ------------------------------------------------------------------------ */

/* What a field holds, as event filters and histograms look at it. */
enum guestsym_event_field_kind {
	GUESTSYM_EVENT_NUMBER,	    /* or anything else that is compared as bytes of its size */
	GUESTSYM_EVENT_STRING,	    /* char[size], in the record */
	GUESTSYM_EVENT_DYN_STRING,  /* __data_loc: offset in the record | bytes << 16 */
	GUESTSYM_EVENT_RDYN_STRING, /* __rel_loc: the same, counted from behind the field */
	GUESTSYM_EVENT_PTR_STRING,  /* address of a string in the guest */
	GUESTSYM_EVENT_FUNCTION,    /* address of a function */
	GUESTSYM_EVENT_CPUMASK,	    /* __data_loc of a cpumask_t */
};

struct guestsym_event_field {
	const char *type, *name; /* "char[16]", "prev_comm": an array's size is the type's */
	uint32_t offset, size;	 /* bytes, from the record's start */
	bool is_signed;
	uint8_t kind; /* enum guestsym_event_field_kind */
};

/* Who writes an event's records. */
enum guestsym_event_source {
	GUESTSYM_EVENT_PROBE,	/* its own probe function, called with a trace_event_file */
	GUESTSYM_EVENT_SYSCALL, /* the tracer of system calls, called with a trace_array */
	GUESTSYM_EVENT_FTRACE,	/* the tracers (system "ftrace"): there is nothing to enable */
	GUESTSYM_EVENT_OTHER,	/* the guest's own kprobes, uprobes, synthetic events */
	GUESTSYM_EVENT_HOST,	/* the host: none of those that are read from a guest */
};

enum {
	GUESTSYM_EVENT_FL_REG = 1 << 0, /* its class can be registered: it has an id file */
	GUESTSYM_EVENT_FL_IGNORE_ENABLE = 1 << 1, /* it has no enable, filter and trigger files */
	GUESTSYM_EVENT_FL_DYNAMIC = 1 << 2,	  /* made at run time, as the guest's own kprobes */
	GUESTSYM_EVENT_FL_KPROBE = 1 << 3,	  /* the kernel prints it by the probe's own code */
	GUESTSYM_EVENT_FL_UPROBE = 1 << 4,
	GUESTSYM_EVENT_FL_GONE = 1 << 5,  /* it is no more: only of those of the host */
	GUESTSYM_EVENT_FL_SYNTH = 1 << 6, /* printed like the kernel's synthetic events: likewise */
	GUESTSYM_EVENT_FL_EPROBE = 1 << 7, /* and its event probes */
};

struct guestsym_event {
	const char *system, *name; /* words that may be names of files */
	const char *module;	   /* NULL: the kernel's own */
	uint64_t module_at;	   /* run-time address of its struct module; 0 */
	uint16_t id;		   /* common_type of its records */
	uint8_t source;		   /* enum guestsym_event_source */
	bool syscall_exit;
	int syscall_nr;	     /* -1: it is of no system call, or of one that this kernel lacks */
	uint32_t flags;	     /* GUESTSYM_EVENT_FL_ */
	uint64_t call;	     /* run-time address of struct trace_event_call */
	uint64_t tracepoint; /* likewise of struct tracepoint, 0: none */
	uint64_t probe;	     /* and of the function that is registered there, 0: none */
	/* Without the common ones, in the order of the format file. */
	const struct guestsym_event_field *fields;
	size_t nr_fields;
	const char *print_fmt; /* enums replaced by their values, as the running kernel has it */
	const char *place;     /* what comes before that: where an event probe is; NULL: nothing */
};

/* Events of the host come and go while others look at the list. */
static inline bool guestsym_event_is_gone(const struct guestsym_event *ev)
{
	return __atomic_load_n(&ev->flags, __ATOMIC_RELAXED) & GUESTSYM_EVENT_FL_GONE;
}

struct guestsym_event_list {
	const struct guestsym_event_field *common; /* those that each record starts with */
	size_t nr_common;
	const struct guestsym_event *v; /* in the order of available_events */
	size_t n;
	size_t left_out; /* those of modules beyond GUESTSYM_MODULE_EVENTS_MAX */
	struct guestsym_event_memory *memory; /* guestsym's own */
};

/* As many again may come while a guest is traced: EVENTS_OWN of tracer/events/list.h. */
#define GUESTSYM_MODULE_EVENTS_MAX 4096

/*
 * The events of the running kernel, its modules' included, from its memory; gs is from its memory
 * (slide 0) or from its image. The guest may run. 0, -ENODATA (no BTF), -ENOENT (no events), or
 * other errors when guest memory makes no sense. What of an event cannot be read leaves it out.
 */
int guestsym_events_read(const struct guestsym *gs, const struct guestsym_memory *mem,
			 uint64_t slide, struct guestsym_event_list *list);
/*
 * The same from the image alone: ids are those that this kernel gives at boot, addresses are link
 * addresses and slide, strings are as the booted kernel will have them. -ENOENT also when gs is
 * from memory, where the tables of events are gone.
 */
int guestsym_events_image(const struct guestsym *gs, uint64_t slide,
			  struct guestsym_event_list *list);
void guestsym_events_free(struct guestsym_event_list *list);

/* --- types ------------------------------------------------------------------------------- */

struct guestsym_field {
	uint32_t offset;   /* bytes */
	uint32_t size;	   /* bytes; of a bitfield, of its storage */
	uint8_t bit_off;   /* bitfields: first bit within the storage */
	uint8_t bit_count; /* bitfields: number of bits; otherwise 0 */
};

/*
 * Where a member lies, from BTF: path is "task_struct.pid", "task_struct.thread_info.flags".
 * Members of anonymous structs and unions are found as C finds them. -ENOENT when there is no such
 * type or member, -ENODATA when the image has no BTF.
 */
int guestsym_field(const struct guestsym *gs, const char *path, struct guestsym_field *field);

/* What a function takes or returns. */
struct guestsym_value {
	const char *name; /* of a parameter; "" when it has none. As long as gs is there */
	uint32_t size;	  /* bytes */
	enum {
		GUESTSYM_VALUE_NONE, /* void */
		GUESTSYM_VALUE_SIGNED,
		GUESTSYM_VALUE_UNSIGNED,
		GUESTSYM_VALUE_POINTER,
		GUESTSYM_VALUE_OTHER,
	} kind;
	bool is_enum, is_array;
	bool of_chars; /* it points to char, or is an array of them */
	uint32_t type; /* for guestsym_pointee(), guestsym_member() */
};

/*
 * How many parameters the kernel's function of that name has, of which the first n (no more are
 * counted) are told, and what it returns. -ENOENT: BTF has no such function, -ENODATA: no BTF.
 */
int guestsym_function(const struct guestsym *gs, const char *name, struct guestsym_value *param,
		      unsigned int n, struct guestsym_value *result);

/* What a value of type `type` points to: 0, or -EINVAL: it does not. */
int guestsym_pointee(const struct guestsym *gs, uint32_t type, uint32_t *pointee);

struct guestsym_member {
	struct guestsym_value value; /* without a name */
	uint64_t bit_off;
	uint32_t bits; /* of a bitfield, else 0 */
};

/*
 * A member of a struct or union, also of an unnamed one in it. 0, -EINVAL: it is neither of these,
 * -ENOENT: it has none of that name.
 */
int guestsym_member(const struct guestsym *gs, uint32_t type, const char *name,
		    struct guestsym_member *member);

/* Size of a struct or union (or what a typedef of that name stands for); errors likewise. */
int guestsym_type_size(const struct guestsym *gs, const char *name, uint32_t *size);
/* The value of a constant of an enum, of several of that name the last; errors likewise. */
int guestsym_enumerator(const struct guestsym *gs, const char *name, int64_t *value);
size_t guestsym_btf_types(const struct guestsym *gs); /* how many, without void */

/* --- instructions ------------------------------------------------------------------------ */

enum guestsym_insn_kind {
	GUESTSYM_INSN_OTHER,
	GUESTSYM_INSN_NOP, /* of any length */
	GUESTSYM_INSN_INT3,
	GUESTSYM_INSN_RETURN, /* one that takes nothing but the address off the stack */
	GUESTSYM_INSN_JUMP,   /* nothing behind it is run */
	GUESTSYM_INSN_BRANCH, /* a conditional jump */
};

struct guestsym_insn {
	uint64_t addr;
	uint64_t target; /* of a jump or branch; 0: it is not in the instruction */
	uint8_t size;
	uint8_t kind; /* enum guestsym_insn_kind */
};

struct guestsym_decoder;

struct guestsym_decoder *guestsym_decoder_new(void);	/* NULL: no memory */
void guestsym_decoder_free(struct guestsym_decoder *d); /* NULL is allowed */
/*
 * fn gets each instruction of len bytes at addr, until one is none or fn gives false. One thread at
 * a time.
 */
void guestsym_decode(struct guestsym_decoder *d, const uint8_t *code, size_t len, uint64_t addr,
		     bool (*fn)(void *arg, const struct guestsym_insn *insn), void *arg);

/* --- tables ------------------------------------------------------------------------------- */

/* For tables of what others name: who does not know the key cannot choose what falls together. */
struct guestsym_hash_key {
	uint64_t k[2];
};

struct guestsym_hash_key guestsym_hash_key_new(void);
uint64_t guestsym_hash_keyed(const struct guestsym_hash_key *key, const void *data, size_t len);

/* --- directories -------------------------------------------------------------------------- */

/*
 * A directory by its absolute path, on which no other user than root has a say: the cache lies
 * there, and who else goes by a path that another user may have named is to ask for it here, too.
 * make: its last level is made, if the one above it is the user's. A descriptor (O_PATH), or
 * -errno: -EPERM when another user could lead it elsewhere.
 */
int guestsym_own_dir(const char *path, bool make);

#endif
