/* SPDX-License-Identifier: GPL-2.0-or-later */
/* words.h - the words of an option, with a comma between them. */
#ifndef HVTRACE_FRONTEND_DEVICES_WORDS_H
#define HVTRACE_FRONTEND_DEVICES_WORDS_H

/*
 * The next word at *at, to be freed, and *at is behind the comma that ends it, or NULL behind the
 * last; two commas are one of the word. NULL: no memory. As QEMU has its options.
 */
char *words_next(const char **at);

/* A name and what is behind it, as words_next() takes them apart. NULL: no memory. */
char *words_of(const char *name, const char *behind);

/* The value of a word that is KEY=VALUE, in it; else NULL. */
const char *words_value(const char *word, const char *key);

#endif
