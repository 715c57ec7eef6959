/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kinds.h - values of each kind: read out of TOML, and printed as TOML. */
#ifndef HVTRACE_FRONTEND_CONFIG_KINDS_H
#define HVTRACE_FRONTEND_CONFIG_KINDS_H

#include "frontend/config/complaints.h"
#include "frontend/config/schema.h"
#include "frontend/config/toml/toml.h"

/* A file that is read. */
struct reading {
	struct toml *text;
	const struct config_words *words;
	struct complaints complaints;
};

/* Put it where its row says, within what the table is kept in. What is wrong with it is told. */
void kind_read(struct reading *r, const struct config_row *row, const struct toml_value *v,
	       void *table);
/* Nothing is added of what says nothing. */
void kind_print(const struct config_row *row, const void *table, struct text *out);

/* --- between the files of kinds ----------------------------------------------------------- */

/* key takes WHAT, not ... */
void kind_refuse(struct reading *r, const struct config_row *row, const struct toml_value *v,
		 const char *takes);
/* One of the names; or -1, and it is told which there are. */
int kind_one_of(struct reading *r, const struct config_row *row, const struct toml_value *v,
		const char *(*name)(unsigned int i));
/* As a string of TOML. */
void kind_print_string(struct text *out, const char *s);

/* texts.c: NULL where it is none, which has been told. */
const char *kind_read_text(struct reading *r, const struct config_row *row,
			   const struct toml_value *v);
/* lists.c */
void kind_read_list(struct reading *r, const struct config_row *row, const struct toml_value *v,
		    struct option_list *to);
void kind_print_list(const struct option_list *list, struct text *out);
void kind_read_counters(struct reading *r, const struct config_row *row, const struct toml_value *v,
			unsigned int *to);
void kind_print_counters(const struct config_row *row, unsigned int bits, struct text *out);
void kind_read_labels(struct reading *r, const struct config_row *row, const struct toml_value *v,
		      struct config_labels *to);
void kind_print_labels(const struct config_labels *labels, struct text *out);
/* table.c: each key of a table into what it is kept in. */
void kind_read_table(struct reading *r, const struct config_table *t, const struct toml_value *v,
		     void *to);
void kind_print_table(const struct config_table *t, const void *from, struct text *out);

#endif
