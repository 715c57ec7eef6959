// SPDX-License-Identifier: GPL-2.0-or-later
/* schema.c - see schema.h; hvtrace-serve.toml(5) has the same keys in the same order. */
#include "frontend/config/schema.h"

#include <string.h>

#define MS   UINT64_C(1000000)
#define SEC  (1000 * MS)
#define HOUR (3600 * SEC)
#define DAY  (24 * HOUR)
#define KB   UINT64_C(1024)
#define MB   (1024 * KB)
#define GB   (1024 * MB)
#define TB   (1024 * GB)

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const char *when_name(unsigned int i)
{
	static const char *const names[] = {"always", "window", "demand", "threshold"};

	return i < NR(names) ? names[i] : NULL;
}

static const char *counter_name(unsigned int i)
{
	static const char *const names[] = {"irqs-off", "preempt-off", "wakeup", "syscalls"};

	return i < NR(names) ? names[i] : NULL;
}

#define AT(member) .offset = offsetof(struct serve_config, member)

static const struct config_row serve_rows[] = {
	{"connect", KIND_TEXT, AT(serve.connect), .help = "the libvirt whose guests are traced"},
	{"state", KIND_PATH, AT(serve.state), .help = "recordings lie here, by guest"},
	{"socket", KIND_PATH, AT(serve.socket),
	 .help = "where hvtrace asks the daemon (default: in its runtime directory)"},
	{"collectors", KIND_NUMBER, AT(serve.collectors), .min = 1, .max = 4096,
	 .help = "guests that are traced at the same time, at most"},
	{"disk", KIND_SIZE, AT(serve.disk_bytes), .min = 16 * MB, .max = 1024 * TB,
	 .help = "of all recordings; the oldest go first"},
	{0},
};

static const struct config_row metrics_rows[] = {
	{"listen", KIND_LISTEN, AT(metrics.listen),
	 .help = "where Prometheus asks: HOST:PORT, :PORT, the path of a socket, or \"\" for nowhere"},
	{"interval", KIND_TIME, AT(metrics.interval_ns), .min = SEC, .max = HOUR,
	 .help = "how often numbers of guests are brought up to date"},
	{0},
};

static const struct config_row ship_rows[] = {
	{"to", KIND_URLS, AT(ship.to), .help = "ClickHouse servers, of which one is enough"},
	{"database", KIND_TEXT, AT(ship.database), .help = "the database there"},
	{"spool", KIND_PATH, AT(ship.spool),
	 .help = "what no server has taken yet lies here (default: .spool below the state)"},
	{"spool-max", KIND_SIZE, AT(ship.spool_bytes), .min = MB, .max = 1024 * TB,
	 .help = "of that; what is more reaches no server"},
	{"user", KIND_TEXT, AT(ship.user), .help = "who it is for the server"},
	{"password-file", KIND_PATH, AT(ship.password_file),
	 .help = "its first line is that user's password"},
	{"batch-rows", KIND_NUMBER, AT(ship.batch_rows), .min = 1, .max = 1000000,
	 .help = "rows that are sent at once"},
	{0},
};

#undef AT
#define AT(member) .offset = offsetof(struct config_threshold, member)

static const struct config_row threshold_rows[] = {
	{"steal", KIND_PERCENT, AT(steal), .min = 1, .max = 100,
	 .help = "percent of its time in which a vCPU waits for a processor of the host"},
	{"irqs-off", KIND_TIME, AT(irqs_off_ns), .min = 1000, .max = 60 * SEC,
	 .help = "interrupts are off for so long"},
	{"for", KIND_TIME, AT(for_ns), .max = HOUR, .help = "it has to last so long"},
	{"cool-down", KIND_TIME, AT(cool_down_ns), .max = DAY,
	 .help = "and then nothing starts for so long"},
	{0},
};

const struct config_table schema_threshold = {"threshold", "threshold", threshold_rows};

#undef AT
#define AT(member) .offset = offsetof(struct config_rule, member)

static const struct config_row rule_rows[] = {
	{"name", KIND_NAME, AT(name), .help = "a-z, 0-9 and -; no other rule has it"},
	{"guests", KIND_GLOBS, AT(guests), .help = "globs of the names of guests"},
	{"except", KIND_GLOBS, AT(except), .help = "and those that are left out"},
	{"labels", KIND_LABELS, AT(labels), .help = "of libvirt's metadata: a guest has them all"},
	{"kernel", KIND_GLOB, AT(kernel), .help = "a glob of the guest's release"},
	{"tracer", KIND_TRACER, AT(tracer), .help = "as attach -t"},
	{"events", KIND_TEXTS, AT(events), .help = "as attach -e: SYS:EVENT[:FILTER] or @CATEGORY"},
	{"functions", KIND_GLOBS, AT(functions), .help = "as attach -f: these alone are traced"},
	{"notrace", KIND_GLOBS, AT(notrace), .help = "as attach -n: these are not"},
	{"set", KIND_SETTINGS, AT(set), .help = "as attach --set: files of the trace"},
	{"clock", KIND_CLOCK, AT(clock), .help = "as attach -C"},
	{"buffer", KIND_SIZE, AT(buffer_bytes), .min = 8 * KB, .max = TB,
	 .help = "ring buffer of each vCPU"},
	{"metrics", KIND_COUNTERS, AT(metrics), .names = counter_name,
	 .help = "what is counted: irqs-off, preempt-off, wakeup, syscalls"},
	{"keep", KIND_BOOLEAN, AT(keep), .help = "recordings are kept; false: only counted"},
	{"ship", KIND_BOOLEAN, AT(ship), .help = "and sent to the servers of [ship]"},
	{"when", KIND_WORD, AT(when), .names = when_name,
	 .help = "always, window, demand or threshold"},
	{"every", KIND_TIME, AT(every_ns), .min = SEC, .max = 30 * DAY, .when = WHEN(WINDOW),
	 .help = "so often a window begins"},
	{"window", KIND_TIME, AT(window_ns), .min = 10 * MS, .max = HOUR,
	 .when = WHEN(WINDOW) | WHEN(DEMAND) | WHEN(THRESHOLD), .help = "so long it is traced"},
	{"jitter", KIND_TIME, AT(jitter_ns), .max = DAY, .when = WHEN(WINDOW),
	 .help = "a window begins up to so much later, for guests not to do it all at once"},
	{"segment", KIND_TIME, AT(segment_ns), .min = SEC, .max = DAY, .when = WHEN(ALWAYS),
	 .help = "so often another file is begun"},
	{"threshold", KIND_TABLE, AT(threshold), .table = &schema_threshold,
	 .when = WHEN(THRESHOLD), .help = "what has to be seen of a guest"},
	{"overhead", KIND_PERCENT, AT(overhead), .min = 0, .max = 100,
	 .help = "percent of the guest's time that tracing may cost"},
	{"standstill", KIND_TIME, AT(standstill_ns), .min = MS, .max = 60 * SEC,
	 .help = "a guest that would stand for longer is let go"},
	{"disk", KIND_SIZE, AT(disk_bytes), .min = MB, .max = 1024 * TB,
	 .help = "of this rule's recordings; the oldest go first"},
	{"age", KIND_TIME, AT(age_ns), .min = SEC, .max = 3650 * DAY,
	 .help = "recordings that are older go"},
	{0},
};

const struct config_table schema_rule = {"rule", "[[rule]]", rule_rows};

#undef AT

const struct config_table schema_tables[] = {
	{"serve", "[serve]", serve_rows},
	{"metrics", "[metrics]", metrics_rows},
	{"ship", "[ship]", ship_rows},
	{0},
};

const struct serve_config schema_defaults = {
	.serve = {.connect = "qemu:///system",
		  .state = "/var/lib/hvtrace",
		  .collectors = 64,
		  .disk_bytes = 20 * GB},
	.metrics = {.listen = "127.0.0.1:9777", .interval_ns = 15 * SEC},
	.ship = {.database = "hvtrace", .spool_bytes = GB, .batch_rows = 10000},
};

static const char *all_guests[] = {"*"};

const struct config_rule schema_rule_defaults = {
	.guests = {all_guests, 1},
	.buffer_bytes = 8 * MB,
	.keep = true,
	.when = CONFIG_WINDOW,
	.every_ns = 600 * SEC,
	.window_ns = 5 * SEC,
	.segment_ns = 60 * SEC,
	.threshold = {.for_ns = 10 * SEC, .cool_down_ns = 300 * SEC},
	.overhead = 2,
	.standstill_ns = 50 * MS,
};

const struct config_row *schema_find(const struct config_table *table, const char *key)
{
	for (const struct config_row *row = table->rows; row->key; row++)
		if (!strcmp(row->key, key))
			return row;
	return NULL;
}
