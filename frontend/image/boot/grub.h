/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grub.h - for grub*.c: scripts of GRUB 2, as far as what they load depends on it.
 *
 * grub.cfg is a program: variables, if, loops, functions, other files; menu entries are what it
 * makes. It is run here with commands that touch nothing. What it takes is bounded: steps, depth,
 * memory.
 */
#ifndef HVTRACE_FRONTEND_IMAGE_BOOT_GRUB_H
#define HVTRACE_FRONTEND_IMAGE_BOOT_GRUB_H

#include "frontend/image/boot/bls.h"

#define GRUB_STEPS_MAX	200000
#define GRUB_WORK_MAX	20000000 /* characters that are put, names that are compared */
#define GRUB_MEMORY_MAX (16u << 20)
#define GRUB_DEPTH_MAX	32   /* of what stands within each other, and of calls */
#define GRUB_TEXT_MAX	8192 /* bytes of a value */

/* --- memory that is given back at once ---------------------------------------------------------
 */

struct grub_chunk;

struct grub_memory {
	struct grub_chunk *chunks;
	size_t left, total;
};

/* Zeroed; NULL: too much, or none. */
void *grub_alloc(struct grub_memory *m, size_t size);
char *grub_string(struct grub_memory *m, const char *text, size_t len);
void grub_free(struct grub_memory *m);

/* --- a script -----------------------------------------------------------------------------------
 */

/* As written, with its quotes and variables. */
struct grub_word {
	const char *text;
	size_t len;
	struct grub_word *next;
};

enum grub_kind { GRUB_COMMAND, GRUB_IF, GRUB_WHILE, GRUB_UNTIL, GRUB_FOR };

struct grub_node {
	enum grub_kind kind;
	struct grub_word *words;     /* of a command; of FOR: its variable, then the values */
	struct grub_node *condition; /* of IF, WHILE, UNTIL */
	struct grub_node *body;	     /* of a command: what stands in braces behind it */
	struct grub_node *otherwise; /* of IF */
	struct grub_node *next;
	bool has_body;
};

/*
 * Its first command, NULL: there is none. The text, of len bytes, has to stay. 0, -ENOMEM, or
 * -EINVAL: *line is where it is wrong.
 */
int grub_parse(struct grub_memory *m, const char *text, size_t len, struct grub_node **first,
	       unsigned int *line);

/* --- running it ----------------------------------------------------------------------------------
 */

struct grub_variable {
	const char *name, *value;
	struct grub_variable *next;
};

struct grub_function {
	const char *name;
	const struct grub_node *body;
	struct grub_function *next;
};

/* Positional parameters: $1, ... */
struct grub_args {
	const char *const *arg;
	unsigned int nr;
};

struct grub_entry {
	const char *title, *id;
	const struct boot_file *source; /* NULL: what is run */
	const struct grub_node *body;
	struct grub_args args; /* [0] is $1 */
	bool is_submenu;
	struct grub_entry *next;
};

enum grub_leave { GRUB_STAY, GRUB_BREAK, GRUB_CONTINUE, GRUB_RETURN };

struct grub {
	struct grub_memory memory;
	const struct boot_disk *disk;
	const struct boot_why *why;
	struct boot_file file; /* that is run */
	struct grub_variable *variables;
	struct grub_function *functions;
	struct grub_entry *menu, **menu_end;
	struct grub_args args;
	unsigned int steps, work, depth;
	bool failed; /* the last command's status */
	enum grub_leave leave;
	struct boot_entry *out; /* for linux and initrd */
};

int grub_init(struct grub *g, const struct boot_disk *disk, const struct boot_file *file,
	      struct boot_entry *out, const struct boot_why *why);
void grub_exit(struct grub *g);

/* They give 0, or -errno, which ends all, mostly with a line. */
int grub_run(struct grub *g, const struct grub_node *first);
int grub_run_file(struct grub *g, const struct boot_file *file);
int grub_call(struct grub *g, const struct grub_node *body, struct grub_args args);
int grub_too_much(const struct grub *g);

/* Whether there may be so much more of it, of GRUB_WORK_MAX. */
bool grub_works(struct grub *g, unsigned int n);

const char *grub_get(struct grub *g, const char *name, size_t len); /* "" without one */
int grub_set(struct grub *g, const char *name, size_t len, const char *value);
/* The words that commands get, NULL behind the last. */
int grub_expand(struct grub *g, const struct grub_word *words, const char ***argv,
		unsigned int *argc);

/* What a command is: false, it is not known. Of its own words argv[0] is the first. */
bool grub_command(struct grub *g, const struct grub_node *node, unsigned int argc,
		  const char *const *argv, int *ret);
/* "(hd0,gpt2)/boot/vmlinuz", or with the volume of $root. -ENOENT: there is no such device. */
int grub_path(struct grub *g, const char *name, struct boot_file *f);
/* Whether the expression holds: of test, or [ without its ]. */
int grub_test(struct grub *g, unsigned int argc, const char *const *argv, bool *holds);
/* What variables of devices are set to: "vol1". */
void grub_device_name(unsigned int volume, char name[16]);
/* Lines NAME=VALUE of grubenv. */
int grub_load_env(struct grub *g, const struct boot_file *f);
/* The entries of the Boot Loader Specification, in the menu. */
int grub_add_bls(struct grub *g);
int grub_add_entry(struct grub *g, const struct grub_entry *e);

#endif
