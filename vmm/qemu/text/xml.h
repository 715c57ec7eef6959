/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xml.h - finds elements and attributes in the XML that QEMU and libvirt write, and quotes text: no
 * document types, no namespaces beyond a prefix, no CDATA. Text that is no XML finds nothing and
 * harms nothing.
 */
#ifndef HVTRACE_VMM_QEMU_TEXT_XML_H
#define HVTRACE_VMM_QEMU_TEXT_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The next element of that name in the text at `at`: what stands between its name and its >. */
const char *xml_element(const char *at, const char *name, size_t *len);

/* Copy the value of an element's attribute: false when it is not there or does not fit. */
bool xml_attribute(const char *element, size_t len, const char *name, char *value, size_t room);

/* Copy the text of an element that has no elements in it: false as above. */
bool xml_text(const char *element, size_t len, char *text, size_t room);

/* Copy what stands for text, len characters of it: false when it does not fit. */
bool xml_copy(const char *from, size_t len, char *text, size_t room);

/* Print text so that xml_text() gives it back. */
void xml_print(FILE *out, const char *text);

#endif
