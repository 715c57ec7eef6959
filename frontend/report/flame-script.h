/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame-script.h - what a flame graph does in a browser. */
#ifndef HVTRACE_FRONTEND_REPORT_FLAME_SCRIPT_H
#define HVTRACE_FRONTEND_REPORT_FLAME_SCRIPT_H

/* flame.js; there is no "]]>" in it. */
extern const char flame_script[];

#endif
