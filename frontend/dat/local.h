/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what the files of frontend/dat share. */
#ifndef HVTRACE_FRONTEND_DAT_LOCAL_H
#define HVTRACE_FRONTEND_DAT_LOCAL_H

#include "frontend/dat/dat.h"

struct dat_block; /* memory that lives as long as the file is open */

struct dat_option_row {
	unsigned int id;
	struct dat_text data;
};

/* One guest of several, as format.h has it. */
struct dat_part {
	const char *name, *uname;
	uint32_t vcpus, has_trace_id;
	uint64_t trace_id;
	uint32_t buffer, nr_buffers;
	uint32_t stat, nr_stats;
	struct dat_text kallsyms, printk_formats, cmdlines;
	uint32_t nr_formats;
	const uint16_t *formats;
};

struct dat {
	int fd;
	uint64_t file_size;
	const struct dat_container *container;
	const struct dat_compression *compression;
	struct dat_info info;
	struct dat_format *formats;
	size_t formats_room;
	struct dat_option_row *options;
	size_t nr_options, options_room;
	struct dat_buffer *buffers;
	size_t nr_buffers, buffers_room;
	struct dat_part *parts;
	size_t nr_parts;
	uint8_t *formats_wanted; /* room for dat_choose_part() */
	struct dat_block *blocks;
	uint64_t left;	      /* of DAT_METADATA_MAX */
	uint64_t chunks_left; /* what all readers of pages together may still take */
	char *err;	      /* while it is opened */
	size_t errlen;
};

/* --- containers: what finds everything in a file -----------------------------------------------
 */

struct dat_in;

struct dat_container {
	const char *desc;
	/*
	 * Whether a file whose head is read is one of these; a journal has another head, which is
	 * not read before.
	 */
	bool (*is_it)(const struct dat *d);
	/*
	 * Read what is behind the head: texts, formats, options, and the buffers with all their
	 * vCPUs and pieces. 0, or a negative errno with a line said by dat_fail().
	 */
	int (*read)(struct dat *d, struct dat_in *in);
};

extern const struct dat_container dat_journal, dat_v6, dat_v7;

/* --- compression -------------------------------------------------------------------------------
 */

struct dat_compression {
	const char *name;
	/* Exactly size bytes of them. 0, -ENOMEM, or -EINVAL: something else. NULL: there is none.
	 */
	int (*unpack)(void *out, size_t size, const void *in, size_t len);
};

/* NULL: not known here. */
const struct dat_compression *dat_compression_find(const char *name);

/* --- errors, memory ----------------------------------------------------------------------------
 */

/* Say what is wrong with the file, behind its name. Gives -EINVAL. */
int dat_fail(struct dat *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* There is no memory, or more is asked for than metadata may take. Gives -ENOMEM. */
int dat_fail_memory(struct dat *d);
/* Memory of the file's. NULL when that is too much. */
void *dat_alloc(struct dat *d, uint64_t len);
/* Of a text that has memory of the file's, all but this part of it goes. What is left. */
struct dat_text dat_keep_part(struct dat *d, const struct dat_text *all,
			      const struct dat_text *part);
/* Room for one more in an array of nr, whose room is *room. 0 or -ENOMEM, of which was told. */
int dat_array_grow(struct dat *d, void **array, size_t nr, size_t *room, size_t size);

/* --- reading: bytes of the file, or of a part of it that was uncompressed ----------------------
 */

struct dat_in {
	struct dat *d;
	const uint8_t *mem; /* NULL: of the file */
	uint64_t at, end;
	const char *what; /* that is read, for messages */
};

/* All of these: 0, or a negative errno with a line said. */
int dat_read_at(const struct dat *d, void *to, size_t len, uint64_t offset); /* says nothing */
int dat_in_bytes(struct dat_in *in, void *to, size_t len);
int dat_in_u16(struct dat_in *in, uint16_t *n);
int dat_in_u32(struct dat_in *in, uint32_t *n);
int dat_in_u64(struct dat_in *in, uint64_t *n);
int dat_in_text(struct dat_in *in, uint64_t len, struct dat_text *text);
/* A string that ends with 0, of DAT_STRING_MAX bytes at most with it. */
#define DAT_STRING_MAX 256
int dat_in_string(struct dat_in *in, const char **string);
/* These bytes and no others. */
int dat_in_expect(struct dat_in *in, const char *bytes, size_t len);

/* --- what both containers have -----------------------------------------------------------------
 */

int dat_meta_headers(struct dat_in *in);
int dat_meta_ftrace(struct dat_in *in);
int dat_meta_events(struct dat_in *in);
int dat_meta_text32(struct dat_in *in, struct dat_text *text); /* behind its size of 32 bits */
int dat_meta_text64(struct dat_in *in, struct dat_text *text);

/* Section i of those that tell of the records, in the order in which they are read. False: no more.
 */
bool dat_meta_section(size_t i, unsigned int *id, const char **what);
/* What is in one of them. */
int dat_meta_read(unsigned int id, struct dat_in *in);

/*
 * Options up to the one that ends them: in version 6 that is an id alone, in version 7 an option
 * that tells in *next where more are, 0 for nowhere. next is NULL for version 6.
 */
int dat_options_read(struct dat_in *in, uint64_t *next);
/* Once all are there: what they tell about the file as a whole. */
int dat_options_apply(struct dat *d);
/* TIME_SHIFT into info.shift: 0, or a negative errno with a line said. */
int dat_shift_apply(struct dat *d, const struct dat_text *o);
/* The clock of a file trace_clock, the one in brackets. */
void dat_clock_apply(struct dat *d, const struct dat_text *clocks);

/* The guests of a file of several, once all else is read. 0, or a negative errno with a line said.
 */
int dat_parts_read(struct dat *d);

/* Another buffer, with nr_vcpus that are all zero. NULL: no memory, which is said. */
struct dat_buffer *dat_buffer_add(struct dat *d, const char *name, unsigned int nr_vcpus);
struct dat_vcpu *dat_buffer_vcpu(const struct dat_buffer *b, unsigned int i);
/* What a table of the file tells about a vCPU: checked. Data that are as they are get one piece. */
int dat_vcpu_set(struct dat *d, struct dat_vcpu *v, unsigned int cpu, uint64_t offset,
		 uint64_t stored);
int dat_vcpu_plain(struct dat *d, struct dat_vcpu *v);

#endif
