/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * config.h - the configuration of hvtrace serve: a file in TOML, hvtrace-serve.toml(5).
 *
 * A configuration is read and checked as a whole: there is one of which everything is right, or
 * none. Nothing of it changes afterwards, and any thread may look at it.
 */
#ifndef HVTRACE_FRONTEND_CONFIG_CONFIG_H
#define HVTRACE_FRONTEND_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/lib/options.h"
#include "tracer/tracer.h"

enum {
	CONFIG_RULES = 256, /* of one configuration, at most */
	CONFIG_LABELS = 16, /* of one rule */
};

enum config_when { CONFIG_ALWAYS, CONFIG_WINDOW, CONFIG_DEMAND, CONFIG_THRESHOLD };

/* What is counted of a trace; several are or-ed. */
enum config_counter {
	CONFIG_IRQS_OFF = 1 << 0,
	CONFIG_PREEMPT_OFF = 1 << 1,
	CONFIG_WAKEUP = 1 << 2,
	CONFIG_SYSCALLS = 1 << 3,
};

struct config_label {
	const char *key, *value;
};

struct config_labels {
	struct config_label *labels;
	size_t nr;
};

/* What has to be seen of a guest for it to be traced; 0: that does not matter. */
struct config_threshold {
	double steal; /* percent of the time in which it wants to run */
	uint64_t irqs_off_ns;
	uint64_t for_ns;       /* it has to last so long */
	uint64_t cool_down_ns; /* and then nothing starts for so long */
};

struct config_rule {
	const char *name;
	struct option_list guests, except; /* globs, of names of guests */
	struct config_labels labels;	   /* a guest has all of them */
	const char *kernel;		   /* glob of its release; NULL: any */
	const char *tracer;		   /* NULL: function, or with nothing but events nop */
	struct option_list events, functions, notrace, set; /* as attach -e, -f, -n, --set */
	const char *clock;				    /* NULL: global */
	uint64_t buffer_bytes;				    /* of each vCPU */
	unsigned int metrics;				    /* enum config_counter */
	bool keep, ship;
	enum config_when when;
	uint64_t every_ns, window_ns, jitter_ns, segment_ns; /* as far as `when` has them */
	struct config_threshold threshold;
	double overhead; /* percent */
	uint64_t standstill_ns;
	uint64_t disk_bytes, age_ns; /* 0: no limit of its own */
};

/* Texts are NULL where nothing is said. */
struct serve_config {
	struct {
		const char *connect, *state;
		const char *socket; /* NULL: in the runtime directory */
		uint64_t collectors, disk_bytes;
	} serve;
	struct {
		const char *listen; /* HOST:PORT, :PORT, the path of a socket, or "": nowhere */
		uint64_t interval_ns;
	} metrics;
	struct {
		struct option_list to; /* URLs; none: nothing is shipped */
		const char *database;
		const char *spool; /* NULL: .spool below the state */
		uint64_t spool_bytes;
		const char *user, *password_file;
		uint64_t batch_rows;
	} ship;
	struct config_rule *rules; /* in the order of the file */
	size_t nr_rules;
	struct toml *text; /* what all this points to */
};

/* What is known further up. Of names i runs from 0 on, up to NULL. */
struct config_words {
	const char *(*tracer)(unsigned int i);
	const char *(*clock)(unsigned int i);
	bool (*is_setting)(const char *text); /* "FILE=VALUE" */
};

/* Who is told what is wrong: a line at a time, without its end, "FILE:LINE: what; what to do". */
struct config_ear {
	void (*tell)(void *arg, const char *line);
	void *arg;
};

/* NULL, or one line that says why this build reads no configuration. */
const char *config_missing(void);
/*
 * Read the file. NULL: something is wrong, each of which has been told, twenty at most. A file of
 * a password is looked for, nothing else that the configuration names. config_free() it.
 */
struct serve_config *config_read(const char *path, const struct config_words *words,
				 const struct config_ear *ear);
/* The same of a text; name: what lines call it. */
struct serve_config *config_read_text(const char *name, const char *text, size_t len,
				      const struct config_words *words,
				      const struct config_ear *ear);
/* What there is without a file: no rules. NULL: no memory. config_free() it. */
struct serve_config *config_default(void);
void config_free(struct serve_config *c); /* NULL is allowed */

/* NULL: it has no rule of that name. */
const struct config_rule *config_rule_find(const struct serve_config *c, const char *name);
/*
 * As a file that config_read() makes the same of, with all that is in force: one key a line, in the
 * order of the manual page. help: each with what it is for.
 */
void config_print(const struct serve_config *c, bool help, struct text *out);

/* What is another one in another configuration. */
struct config_change {
	const char *table;	  /* "serve", "metrics", "ship" or "rule" */
	const char *rule;	  /* the rule's name, or NULL */
	const char *key;	  /* NULL: the rule is not in both */
	const char *before, *now; /* values as in a file; NULL: there is none; of a rule "" */
};

/*
 * Tell of each key that is not the same, and of each rule that is in one of them only: in the order
 * of the rules now, and then those that are gone. What it tells is gone when it returns.
 */
void config_compare(const struct serve_config *before, const struct serve_config *now,
		    void (*tell)(void *arg, const struct config_change *c), void *arg);
/* Whether two rules say the same; a reload lets such a one alone. */
bool config_rule_same(const struct config_rule *a, const struct config_rule *b);

#endif
