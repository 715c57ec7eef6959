/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label.h - labels of a domain, in the <metadata> of its XML. Whoever runs a fleet has its own
 * elements there (libvirt, "Domain XML format", General metadata), so all common ways of
 * writing KEY=VALUE are known: <x:KEY>VALUE</x:KEY>, an attribute KEY="VALUE" of any element,
 * <KEY value="VALUE"/>, and <label name="KEY" value="VALUE"/> (or key=, or the value as its text).
 * Nothing in comments, CDATA and the values of other attributes is a label.
 */
#ifndef HVTRACE_VMM_QEMU_TEXT_LABEL_H
#define HVTRACE_VMM_QEMU_TEXT_LABEL_H

#include <stdbool.h>

/* What is in the <metadata> of this XML, to be freed; "" without one. NULL: no memory. */
char *label_metadata(const char *xml);
/* Whether it says so. The key is with its prefix ("nova:project") or without ("project"). */
bool label_is(const char *metadata, const char *key, const char *value);

#endif
