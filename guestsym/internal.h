/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * internal.h - what the files of guestsym/ share; included only inside this folder.
 *
 * The way of an image, which open.c has it go: image.c finds the ELF in a bzImage (unpack.c), elf.c
 * checks it, kallsyms.c or symtab.c gives the symbols that symbols.c looks up, fentry.c and
 * tables.c read the tables that those symbols delimit, types-flatten.c its BTF (kernel.c). All of
 * that may be done in another process (jobs.c, parsers.c); its result is a digest (digest.c), which
 * is checked, whoever made it (digest-load.c). sites.c finds on first use. cache.c keeps unpacked
 * ELFs and digests. Of a kernel that runs, memory.c copies the image and live.c reads what is in
 * lists by then. events-live.c and events-image.c give trace events (events.h), by way of pages.c.
 */
#ifndef HVTRACE_GUESTSYM_INTERNAL_H
#define HVTRACE_GUESTSYM_INTERNAL_H

#include "guestsym/guestsym.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Kernel images lie in the top 2 GiB (__START_KERNEL_map, Documentation/x86/x86_64/mm.rst). */
#define KERNEL_MAP UINT64_C(0xffffffff80000000)

/*
 * Larger images, and files of them, are refused, so that a hostile one cannot make us fill the
 * memory. With debug data they have some 800 MB.
 */
#define IMAGE_MAX_UNPACKED (UINT64_C(1) << 30)
#define IMAGE_MAX_FILE	   (UINT64_C(2) << 30)

static inline uint16_t get_u16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t get_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t get_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The address that a 32-bit place-relative reference at address va stands for. */
static inline uint64_t place_relative(uint64_t va, const void *p)
{
	return va + (uint64_t)(int64_t)(int32_t)get_u32(p);
}

/* --- one line about what went wrong ------------------------------------------------------ */

struct complaint {
	const char *subject; /* the file's name; NULL: who asked puts it before that */
	char *buf;
	size_t len;
};

/* Fill in "subject: text" unless there is a complaint already. Gives err back. */
int complain(const struct complaint *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --- bytes ------------------------------------------------------------------------------- */

/* Bytes that are ours, or somebody else's. */
struct blob {
	const uint8_t *data;
	size_t len;
	void *map;	/* our memory, NULL when the bytes are not ours */
	size_t map_len; /* of the mapping that it is, 0 when it is from the heap */
};

struct stat;
/*
 * Read a regular file once, to memory of our own: whoever writes to it meanwhile or later changes
 * nothing that has been looked at. 0, -EFBIG (more than IMAGE_MAX_FILE), -ESTALE (it is not what
 * st, from before, says of it, or changed meanwhile) or other errors.
 */
int blob_read(struct blob *b, int fd, const struct stat *st);
/* All of a file into one that is there; -ESTALE: it is longer or shorter. */
int blob_fill(const struct blob *b, int fd);
/* Zeroed memory, huge pages where the host has them. */
int blob_alloc(struct blob *b, size_t len);
/* Give these bytes' whole pages back to the host: they are zero from now on. */
void blob_forget(struct blob *b, size_t off, size_t len);
void blob_free(struct blob *b);

/* 64-bit checksum; quick, and no match for somebody who wants two inputs with the same one. */
uint64_t hash64(const void *data, size_t len);

/* The bytes of such a file. */
int image_read(struct blob *file, int fd, const struct stat *st, const struct complaint *c);
/* Say why it cannot be. */
int image_cannot_be_read(const struct complaint *c, int err);
/*
 * Turn the bytes of a file into those of an ELF image: a bzImage's payload is unpacked to *elf,
 * an ELF is taken over as it is (file becomes empty). *unpacked says which.
 */
int image_unpack(struct blob *file, struct blob *elf, bool *unpacked, const struct complaint *c);
/* Unpack one compressed payload, recognised by its magic; out has room for its exact size. */
int payload_unpack(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len,
		   const struct complaint *c);

/* --- ELF --------------------------------------------------------------------------------- */

struct elf_segment {
	uint64_t va, pa, off, filesz, memsz;
	bool exec;
};

struct elf_section {
	const char *name;
	uint64_t addr, off, size, flags;
	uint32_t type, link;
};

struct elf_image {
	const uint8_t *data;
	size_t len;
	struct elf_segment *segs; /* PT_LOAD */
	size_t nr_segs;
	struct elf_section *secs; /* by section index */
	size_t nr_secs;
};

int elf_image_init(struct elf_image *e, const uint8_t *data, size_t len, const struct complaint *c);
void elf_image_exit(struct elf_image *e);
const struct elf_section *elf_image_section(const struct elf_image *e, const char *name);
/* File bytes of a section, NULL when it has none. */
const uint8_t *elf_section_data(const struct elf_image *e, const struct elf_section *sec);
/* len bytes at link address va, or NULL. */
const uint8_t *elf_image_at(const struct elf_image *e, uint64_t va, uint64_t len);
/* The string at link address va when it is at most max bytes long, or NULL. */
const char *elf_image_string(const struct elf_image *e, uint64_t va, size_t max);
/* The physical address that va is loaded at: 0 or -EFAULT. */
int elf_image_phys(const struct elf_image *e, uint64_t va, uint64_t *pa);
/* True when va lies in a segment that is executable. */
bool elf_image_is_text(const struct elf_image *e, uint64_t va);
/* True when these bytes are in .rodata, or anywhere in an image that does not say where that is. */
bool elf_image_holds(const struct elf_image *e, const void *bytes, size_t len);

/* --- the memory of a kernel that runs ---------------------------------------------------- */

/* Copy the image around mem->hint to bytes. After an error both are still to be given back. */
int memory_image_read(struct elf_image *e, struct blob *bytes, const struct guestsym_memory *mem,
		      const struct complaint *c);
/* What was there is gone and may hold anything by now: no part of the image any more. */
void memory_image_forget(struct elf_image *e, uint64_t start, uint64_t end);

/* --- symbols ----------------------------------------------------------------------------- */

/*
 * What KSYM_NAME_LEN of include/linux/kallsyms.h leaves for a name since 6.1 (before: 127). The
 * kernel has none that is longer, be it of a symbol or in BTF.
 */
#define SYMBOL_NAME_MAX 511
/* More than any kernel has, of 100 to 250 thousand symbols with some 25 bytes each. */
#define IMAGE_SYMBOLS_MAX (UINT32_C(1) << 22)
#define IMAGE_NAMES_MAX	  (UINT64_C(64) << 20)

/*
 * All that names of symbols and modules have in them: a terminal obeys what others have, and who
 * reads what we print cannot tell words from one with a space. len bytes, or up to its end.
 */
bool name_is_plain(const char *name, size_t len);

struct symbols {
	struct guestsym_symbol *v; /* sorted by address */
	size_t n;
	struct blob memory;	/* what v, and names that are not the image's, are in */
	uint32_t *slots;	/* hash table: the first symbol of each name; see symbols.c */
	uint32_t *slots_memory; /* the same when it is ours */
	size_t mask;
	struct guestsym_hash_key key;
	uint64_t start, end; /* kernel text and data */
};

/* Fill v and n. 0, -ENOENT when the image has no such table, -ENOMEM, -E2BIG (symtab_read()). */
int kallsyms_read(const struct elf_image *e, struct symbols *s);
int symtab_read(const struct elf_image *e, struct symbols *s);
/*
 * Make the hash table once v is there: 0, -ENOMEM, -E2BIG (more or longer names than allowed),
 * -EILSEQ (one is not plain).
 */
int symbols_index(struct symbols *s);
/* Set start and end. */
void symbols_limit(struct symbols *s, const struct elf_image *e);
/* A slot of the hash table holds the symbol's number plus one, or nothing: 0. */
uint32_t symbols_slot_index(uint32_t slot);
/* Memory for n symbols and name_bytes behind them, all zero: where the names go, or NULL. */
char *symbols_alloc(struct symbols *s, size_t n, size_t name_bytes);
void symbols_exit(struct symbols *s);
const struct guestsym_symbol *symbols_lookup(const struct symbols *s, const char *name);
uint64_t symbols_addr(const struct symbols *s, const char *name);
/*
 * What is in init memory, as link addresses. Kernels whose symbols are of text only (without
 * CONFIG_KALLSYMS_ALL) do not say where it begins and ends: then it is the text in it.
 */
struct guestsym_range symbols_init(const struct symbols *s);
const struct guestsym_symbol *symbols_find(const struct symbols *s, uint64_t addr, uint64_t *off,
					   uint64_t *size);

/* --- which kernel it is ------------------------------------------------------------------ */

#define BANNER_MAX   511
#define RELEASE_MAX  64 /* __NEW_UTS_LEN */
#define BUILD_ID_MAX 32

/* Strings, empty when the image does not say. */
struct identity {
	char banner[BANNER_MAX + 1];
	char release[RELEASE_MAX + 1];
	char build_id[2 * BUILD_ID_MAX + 1];
};

void identity_read(struct identity *id, const struct elf_image *e, const struct symbols *s);
/* These are strings, and may be printed. */
bool identity_is_sound(const struct identity *id);

/* --- sites ------------------------------------------------------------------------------- */

#define FENTRY_SIZE 5 /* bytes of a site: a call to __fentry__, or a NOP */

struct fentry {
	struct guestsym_site *v;
	size_t n;
	char *names; /* made-up names of sites that are at no function's start */
};

int fentry_alloc(struct fentry *f, size_t n);
/* What tells a function's site from one that is left over from an overridden weak function. */
struct fentry_rule {
	uint64_t max_offset; /* of a site from its symbol */
	bool names_invalid;  /* the kernel has names of its own for the left-over ones */
};
/* True when this kernel's code has them. */
bool fentry_names_invalid(const struct elf_image *kernel);
/* The rule of the kernel whose resolved sites f has. */
struct fentry_rule fentry_rule(const struct fentry *kernel, bool names_invalid);
/*
 * Sort the sites and fill in all but their addresses: e has their bytes and s their symbols. f is
 * the caller's also after an error. Those of a kernel themselves tell its rule.
 */
int fentry_resolve(struct fentry *f, const struct elf_image *e, const struct symbols *s,
		   const struct fentry_rule *rule);
int fentry_resolve_kernel(struct fentry *f, const struct elf_image *e, const struct symbols *s,
			  bool names_invalid);
int fentry_read(struct fentry *f, const struct elf_image *e, const struct symbols *s,
		bool names_invalid);
void fentry_exit(struct fentry *f);

struct tables {
	uint64_t *returns;
	size_t nr_returns;
	struct guestsym_tracepoint *tracepoints;
	size_t nr_tracepoints;
	struct guestsym_range orc_ip, orc_unwind, orc_header;
};

int tables_read(struct tables *t, const struct elf_image *e, const struct symbols *s);
void tables_exit(struct tables *t);
/*
 * The image's bytes between two symbols, in whole entries: *va is where they start, the result
 * how many there are. 0 when a symbol is missing, the range is not in the image or has more bytes
 * than a kernel's table may have.
 */
size_t table_entries(const struct elf_image *e, const struct symbols *s, const char *start,
		     const char *stop, size_t entry, uint64_t *va, const uint8_t **p);

/* --- types ------------------------------------------------------------------------------- */

/*
 * The image's BTF, once made flat (types-flatten.c), can be looked up without anything that may go
 * wrong any more: whoever flattens may be a process that gets no further when BTF gets hold of it.
 */
struct types;
/* Find BTF: how many bytes of it there are, 0 when there are none. */
size_t types_raw(const struct elf_image *e, const struct symbols *s, const uint8_t **raw);
/* 0, -EINVAL (that is no BTF, or none that makes sense), -E2BIG (no kernel has as much), -ENOMEM.
 */
int types_flatten(const uint8_t *raw, size_t len, struct blob *flat);
/*
 * Check a table that was flattened elsewhere, aligned to 8 bytes; it belongs to the caller, and
 * nobody may change it as long as *t is there. 0, -EINVAL (nothing that can be used), -ENOMEM. Of
 * one with no length every question gets -ENODATA.
 */
int types_load(const void *flat, size_t len, struct types **t);
void types_free(struct types *t);
/* By any thread. */
size_t types_count(const struct types *t);
int types_field(const struct types *t, const char *path, struct guestsym_field *field);
int types_size(const struct types *t, const char *name, uint32_t *size);

struct types_member {
	const char *name, *type; /* the name of its type, "" when it has none */
	bool is_signed;		 /* of an integer */
	struct guestsym_field field;
};

/* The nth member of a struct: 0, -ENOENT (no such type, or no more members), -ENODATA, -EINVAL. */
int types_member(const struct types *t, const char *name, uint32_t n, struct types_member *member);

struct types_enumerator {
	const char *name;
	int64_t *value;
};

/* As guestsym_function(). */
int types_function(const struct types *t, const char *name, struct guestsym_value *param,
		   unsigned int n, struct guestsym_value *result);
/* As guestsym_pointee() and guestsym_member(). */
int types_pointee(const struct types *t, uint32_t type, uint32_t *pointee);
int types_member_of(const struct types *t, uint32_t type, const char *name,
		    struct guestsym_member *member);
/* Set the values of those of the n enumerators that there are. 0 or -ENODATA (no BTF). */
int types_enumerators(const struct types *t, const struct types_enumerator *v, size_t n);

/* A member that is read with that size (0: any), of a struct of which that much is read. */
static inline bool field_fits(const struct guestsym_field *f, uint32_t size, uint32_t within)
{
	return (!size || f->size == size) && f->size <= within && f->offset <= within - f->size;
}

/* --- what variables begin with ----------------------------------------------------------- */

struct variables {
	uint64_t known; /* a bit for each */
	uint64_t value[NR_GUESTSYM_VARIABLES];
};

/* Those that the image has; v is all zero before. */
void variables_read(struct variables *v, const struct elf_image *e, const struct symbols *s);

/* --- a kernel, put together -------------------------------------------------------------- */

/* What an image says. */
struct kernel {
	struct elf_image elf; /* without sections once it is from a digest */
	struct symbols symbols;
	struct fentry fentry;
	struct tables tables;
	struct identity identity;
	struct variables variables;
	struct blob flat_types; /* of types_flatten(), while it is not from a digest */
	struct types *types;	/* when it is */
	uint32_t event_probes;
	bool names_invalid; /* fentry_names_invalid() */
	bool unpacked;	    /* the image was in a bzImage */
	bool booted; /* it is a copy of the memory of one that runs; it has no fentry sites */
};

/*
 * Read all of it, from the ELF image that bytes are; its debug data are forgotten. With an error k
 * is still to be given back.
 */
int kernel_read(struct kernel *k, struct blob *bytes, const struct complaint *c);
/* Likewise of a kernel that runs around an address, of which elf has the bytes. */
int kernel_read_booted(struct kernel *k, const struct elf_image *elf, uint64_t hint,
		       const struct complaint *c);
void kernel_exit(struct kernel *k);
/*
 * From the bytes of a file, which are taken over, or of a kernel that runs, to what is kept of it.
 * After an error the blobs are empty.
 */
int kernel_digest(struct blob *file, struct blob *bytes, struct blob *digest,
		  const struct complaint *c);
int kernel_digest_booted(const struct elf_image *elf, uint64_t hint, struct blob *digest,
			 const struct complaint *c);

/* --- lists of a kernel that runs --------------------------------------------------------- */

/*
 * The sites that ftrace knows in the kernel itself, to k->fentry. -ENOENT when it has none (yet),
 * -ENODATA without types, -ENOTSUP when no symbol says where the list is, others when the list
 * makes no sense.
 */
int live_sites_read(struct kernel *k, const struct guestsym_memory *mem);

/* What has to be known of a kernel to read its modules. */
struct modules_of {
	uint64_t list; /* run-time address of `modules`, 0: it has none */
	const struct types *types;
	struct fentry_rule rule;
	struct guestsym_parsers *parsers; /* who is to parse them; NULL: it is done here */
};

/* As guestsym_modules_copy(). */
int modules_copy(const struct modules_of *k, const struct guestsym_memory *mem,
		 const struct guestsym_module *known, size_t nr_known,
		 struct guestsym_module_copies **copies);

/* --- memory that is read by following pointers ------------------------------------------- */

struct va_slot {
	uint64_t va;
	void *p;
};

/* Pointers by address; zeroed it is empty. */
struct va_map {
	struct va_slot *slots;
	size_t n, room; /* room is a power of two */
	struct guestsym_hash_key key;
};

void *va_map_find(const struct va_map *m, uint64_t va); /* NULL: none */
int va_map_add(struct va_map *m, uint64_t va, void *p); /* one that is not there: 0 or -ENOMEM */
void va_map_exit(struct va_map *m);

/* Each page of mem is read once. */
struct pages {
	const struct guestsym_memory *mem;
	struct va_map map;
};

/* 0, -EFAULT (not mapped), -ENOMEM, -E2BIG (too many pages), or what mem->read() says. */
int pages_read(struct pages *p, uint64_t va, void *buf, size_t len);
/* Of the string at va; also -EINVAL when it is longer than max. */
int pages_string_length(struct pages *p, uint64_t va, size_t max, size_t *len);
void pages_exit(struct pages *p);

/* --- trace events ------------------------------------------------------------------------ */

/* What has to be known of a kernel to read its events. */
struct events_of {
	const struct elf_image *elf;
	const struct symbols *symbols;
	const struct types *types;
	uint64_t slide;
};

int events_read(const struct events_of *k, const struct guestsym_memory *mem,
		struct guestsym_event_list *list);
int events_image(const struct events_of *k, uint64_t slide, struct guestsym_event_list *list);

/* --- the cache --------------------------------------------------------------------------- */

/* What was found in an image, without pointers, to be kept or handed on: 0, -ENOMEM, -EFBIG. */
int digest_make(struct blob *d, const struct kernel *k);
/*
 * The same again. Nothing in the digest is believed: whoever made it up can give wrong answers, and
 * no more. k refers to memory of d and bytes, and is to be given back also after an error: -ENOMEM,
 * -EINVAL (it is damaged, or of another version).
 */
int digest_load(struct kernel *k, const struct blob *d, const struct blob *bytes);

#define CACHE_NAME_LEN 160 /* of a file in the cache, without its suffix */

/*
 * The name, without suffix, of an image and its digest; of the link to it; of what is written. An
 * image has one for each file that it is from: what is kept of a hostile one is no other's.
 */
void cache_image_name(char name[CACHE_NAME_LEN], const struct stat *st, uint64_t hash);
void cache_source_name(char name[CACHE_NAME_LEN], const struct stat *st);
void cache_temporary_name(char name[CACHE_NAME_LEN]);
/* The hash in an image's name; -EINVAL when it is none. */
int cache_name_to_hash(const char *name, uint64_t *hash);
bool cache_name_is_source(const char *name);
bool cache_name_is_temporary(const char *name);

/*
 * The cache's directory, made when asked to; -1 where there is none, or another user has a say in
 * where it lies.
 */
int cache_dir(bool create);
/*
 * Remove what has not been used for longest, and what belongs to nothing. What is not called as a
 * file of the cache, or is no such file, stays.
 */
void cache_prune(int dir);

/*
 * An image from the cache with its digest; the image is still being read, or will be when somebody
 * wants it, and its checksum taken.
 */
struct cached {
	struct blob elf, digest; /* the caller's */
	int fd;			 /* of the image, until it is there */
	uint64_t hash;
	char source[CACHE_NAME_LEN]; /* the link to both */
	bool fetching, good, told;
	pthread_t fetcher;
	pthread_mutex_t lock;
};

/*
 * What was unpacked from the file that st describes: 0, or -ENOENT. What is done with it counts
 * only once cached_check() has said that it is good; nothing is known of the image's bytes before.
 * It stays where it is until cached_close(). later: nobody reads the image before cached_check().
 */
int cached_open(struct cached *c, const struct stat *st, bool later);
/* Any thread, as often as one likes. An image that is not good is in the cache no more. */
bool cached_check(struct cached *c);
void cached_close(struct cached *c);
/* Keep it. Best effort: without a place to write to there is no cache. */
void cached_store(const struct stat *st, const struct blob *elf, const struct blob *digest);

/* --- sites, on first use ------------------------------------------------------------------- */

enum sites_kind { SITES_IRQ, SITES_PREEMPT, NR_SITES };

struct found_sites {
	bool known;
	int tries, err; /* of those who have asked, until it is known */
	void *v;	/* of struct guestsym_irq_site, or guestsym_preempt_site; from malloc() */
	size_t n;
};

/* What decoding finds: 0 or -ENOMEM. found->v is to be freed. */
int irq_sites_find(const struct kernel *k, struct found_sites *found);
int preempt_sites_find(const struct kernel *k, struct found_sites *found);
int sites_find(const struct kernel *k, enum sites_kind kind, struct found_sites *found);
size_t sites_size(enum sites_kind kind); /* bytes of one */
/*
 * Copy what somebody else has found: -EINVAL unless a kernel could have them, in its text, one
 * behind the other.
 */
int sites_take(const struct kernel *k, enum sites_kind kind, const void *v, size_t len,
	       struct found_sites *found);

struct sites {
	pthread_mutex_t lock; /* protects finding; what was found never changes */
	struct found_sites found[NR_SITES];
};

struct sites *sites_new(void); /* NULL: no memory */
void sites_free(struct sites *sites);

/* --- in another process ---------------------------------------------------------------------- */

/* A file's image and its digest. fd is read once; st is what it was when it was opened. */
int parsers_image(struct guestsym_parsers *p, int fd, const struct stat *st, struct blob *bytes,
		  struct blob *digest, const struct complaint *c);
/* The digest of a kernel that runs, whose memory bytes has. */
int parsers_booted(struct guestsym_parsers *p, const struct elf_image *elf, uint64_t hint,
		   struct blob *digest, const struct complaint *c);
int parsers_sites(const struct guestsym *gs, enum sites_kind kind, struct found_sites *found,
		  const struct complaint *c);

/* --- a kernel that is open ------------------------------------------------------------------- */

struct guestsym {
	struct blob bytes;  /* what kernel.elf is in: once guestsym_has_image() says so */
	struct blob digest; /* what all else refers to */
	struct kernel kernel;
	struct guestsym_parsers *parsers; /* NULL: it is all done here */
	struct sites *sites;
	struct cached *image; /* that is read when it is wanted; NULL: it is there */
	double parse_ms;
	bool cached;
};

/* False: what the cache has of the image is damaged. Any thread; may have to read it. */
bool guestsym_has_image(const struct guestsym *gs);

#endif
