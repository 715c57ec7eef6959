// SPDX-License-Identifier: GPL-2.0-or-later
/* reload.c - the configuration, as it begins and when it is another one: see daemon.h */
#include "frontend/serve/daemon.h"
#include "frontend/serve/notify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void tell_line(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "hvtrace: %s\n", line);
}

static struct conf *read_conf(const struct daemon *d)
{
	const struct config_ear ear = {tell_line, NULL};
	struct serve_config *c = config_read(d->config, d->words, &ear);
	struct conf *conf = c ? conf_new(c) : NULL;

	if (c && !conf)
		fprintf(stderr, "hvtrace: no memory\n");
	return conf;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* What recordings of a rule may take: it has its own limit, or that of all. */
static double disk_limit(const struct serve_config *c, const struct config_rule *rule)
{
	if (!rule->keep)
		return 0;
	return (double)(rule->disk_bytes ? rule->disk_bytes : c->serve.disk_bytes);
}

static void tell_budgets(const struct daemon *d)
{
	const struct serve_config *c = d->conf->c;
	const struct metrics_labels none = {0};

	metrics_set(d->metrics, METRICS_RULES, &none, (double)c->nr_rules);
	metrics_set(d->metrics, METRICS_COLLECTORS_LIMIT, &none, c->serve.collectors);
	metrics_set(d->metrics, METRICS_DISK_LIMIT, &none, (double)c->serve.disk_bytes);
	for (size_t i = 0; i < c->nr_rules; i++) {
		const struct metrics_labels labels = {.rule = c->rules[i].name};

		metrics_set(d->metrics, METRICS_OVERHEAD_BUDGET, &labels,
			    c->rules[i].overhead / 100);
		metrics_set(d->metrics, METRICS_STANDSTILL_BUDGET, &labels,
			    (double)c->rules[i].standstill_ns / 1e9);
		metrics_set(d->metrics, METRICS_DISK_LIMIT, &labels, disk_limit(c, &c->rules[i]));
	}
}

/* --- parts --------------------------------------------------------------------------------------
 */

static int serve_at(struct daemon *d, const char *listen, char *err, size_t errlen)
{
	struct metrics_server *server;
	const char *address;
	int rc = metrics_serve(&server, d->metrics, listen, err, errlen);

	if (rc)
		return rc;
	metrics_stop(d->server);
	d->server = server;
	snprintf(d->listen, sizeof(d->listen), "%s", listen);
	address = metrics_server_address(server);
	fprintf(stderr,
		*address == '/' ? "hvtrace: metrics at the socket %s: /metrics\n"
				: "hvtrace: metrics at http://%s/metrics\n",
		address);
	return 0;
}

static void serve_nowhere(struct daemon *d)
{
	metrics_stop(d->server);
	d->server = NULL;
	*d->listen = '\0';
}

/* Where the old server itself may be in the new one's way, as 127.0.0.1:9777 is in that of :9777:
 * it goes first, and comes back if that was not it. */
static int serve_instead(struct daemon *d, const char *listen, char *err, size_t errlen)
{
	char before[METRICS_ADDRESS_LEN], ignored[512];
	int rc;

	snprintf(before, sizeof(before), "%s", metrics_server_address(d->server));
	serve_nowhere(d);
	rc = serve_at(d, listen, err, errlen);
	if (rc)
		serve_at(d, before, ignored, sizeof(ignored));
	return rc;
}

static int serve_metrics(struct daemon *d)
{
	const char *listen = d->conf->c->metrics.listen;
	char err[512];
	int rc;

	if (!listen || !*listen) {
		serve_nowhere(d);
		return 0;
	}
	if (d->server && !strcmp(d->listen, listen))
		return 0;
	rc = serve_at(d, listen, err, sizeof(err));
	if (rc == -EADDRINUSE && d->server)
		rc = serve_instead(d, listen, err, sizeof(err));
	if (!rc)
		return 0;
	fprintf(stderr, "hvtrace: %s: %s\n",
		d->server ? "metrics stay where they were" : "no metrics", err);
	return -1;
}

/* There is one libvirt of events in a process: the old watch has to be gone before there is
 * another. What there is no memory for now is tried again by the next reload. */
static int look_at_guests(struct daemon *d)
{
	const struct serve_config *c = d->conf->c;
	struct looker *looker;
	char err[512];

	d->half_looked = true;
	looker = looker_new(c->serve.connect, (int64_t)(c->metrics.interval_ns / 1000000));
	if (!looker) {
		fprintf(stderr, "hvtrace: no memory\n");
		return -1;
	}
	looker_free(d->looker);
	d->looker = looker;
	machine_watch_free(d->watch);
	d->watch = machine_watch_new(c->serve.connect, err, sizeof(err));
	if (!d->watch) {
		fprintf(stderr, "hvtrace: %s\n", err);
		return -1;
	}
	d->half_looked = false;
	return 0;
}

int reload_parts(struct daemon *d)
{
	tell_budgets(d);
	return look_at_guests(d) || serve_metrics(d) ? -1 : 0;
}

/* --- another one --------------------------------------------------------------------------------
 */

/* The number that a rule which stays as it is had before, or -1. */
static int number_before(const struct serve_config *old, const struct config_rule *rule)
{
	for (size_t i = 0; i < old->nr_rules; i++)
		if (config_rule_same(&old->rules[i], rule))
			return (int)i;
	return -1;
}

/* A round by a rule that stays is one of the new configuration's; one by another rule lets its
 * guest go, and ends by the old one, as those do that had to before. */
static void keep_rounds(struct daemon *d, const struct conf *old, const int *before)
{
	for (size_t i = 0; i < d->nr_rounds; i++) {
		struct round *r = d->round[i];
		size_t now = 0;

		if (r->conf != old)
			continue;
		while (now < d->conf->c->nr_rules && before[now] != (int)r->rule)
			now++;
		if (now == d->conf->c->nr_rules) {
			round_leave(r);
			continue;
		}
		conf_put(r->conf);
		r->conf = conf_get(d->conf);
		r->rule = now;
	}
}

/* What does not begin by the new one goes on by the old one: -1, it was said. */
static int change_parts(struct daemon *d, const struct serve_config *old)
{
	const struct serve_config *c = d->conf->c;
	int rc = 0;

	for (size_t i = 0; i < old->nr_rules; i++)
		if (!config_rule_find(c, old->rules[i].name))
			metrics_forget_rule(d->metrics, old->rules[i].name);
	tell_budgets(d);
	if (d->half_looked || !is_same(c->serve.connect, old->serve.connect) ||
	    (int64_t)(c->metrics.interval_ns / 1000000) !=
		    (int64_t)(old->metrics.interval_ns / 1000000))
		rc = look_at_guests(d);
	if (serve_metrics(d))
		rc = -1;
	if (!is_same(c->serve.socket, old->serve.socket) ||
	    !is_same(c->serve.state, old->serve.state))
		fprintf(stderr,
			"hvtrace: another socket or state directory is taken when hvtrace serve "
			"begins the next time\n");
	return rc;
}

int reload(struct daemon *d)
{
	const struct metrics_labels none = {0};
	struct conf *old = d->conf, *conf;
	int *before, rc;

	notify_reloading();
	conf = read_conf(d);
	before = conf ? calloc(conf->c->nr_rules + 1, sizeof(*before)) : NULL;
	if (!before) {
		metrics_set(d->metrics, METRICS_CONFIG_RELOAD_SUCCESS, &none, 0);
		conf_put(conf);
		fprintf(stderr, "hvtrace: the configuration before holds\n");
		notify_ready();
		return -1;
	}
	for (size_t i = 0; i < conf->c->nr_rules; i++)
		before[i] = number_before(old->c, &conf->c->rules[i]);
	d->conf = conf;
	guests_apply(&d->guests, conf->c, before);
	keep_rounds(d, old, before);
	rc = change_parts(d, old->c);
	metrics_set(d->metrics, METRICS_CONFIG_RELOAD_SUCCESS, &none, !rc);
	metrics_set(d->metrics, METRICS_CONFIG_RELOAD_TIME, &none, (double)time(NULL));
	conf_put(old);
	free(before);
	fprintf(stderr, "hvtrace: %s is read\n", d->config);
	notify_ready();
	return rc ? 1 : 0;
}
