// SPDX-License-Identifier: GPL-2.0-or-later
/* test-config-wrong.c - what is told of a configuration of hvtrace serve that is wrong. */
#include "tests/unit/frontend/config/config-read.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RULE "[[rule]]\nname = \"a\"\nevents = [\"@irq\"]\n" /* three lines */

static void unknown_keys(void **state)
{
	(void)state;
	wrong_config("[serve]\n\ncolectors = 1\n",
		     "f:3: [serve] has no key colectors; did you mean collectors?\n");
	wrong_config("[serve]\nevery = \"1m\"\n",
		     "f:2: [serve] has no key every; it is one of [[rule]]\n");
	wrong_config("[serve]\nfoo = 1\n", "f:2: [serve] has no key foo; take it away\n");
	wrong_config("[server]\n", "f:1: server is neither [serve], [metrics] or [ship] nor a "
				   "[[rule]]; did you mean serve?\n");
	wrong_config("disk = \"1G\"\n",
		     "f:1: disk is neither [serve], [metrics] or [ship] nor a [[rule]]\n");
	wrong_config("[rule]\nname = \"a\"\n", "f:1: each rule begins with a line [[rule]]\n");
	wrong_config("rule = [{ name = \"a\" }]\n", "f:1: each rule begins with a line [[rule]]\n");
	wrong_config("[[serve]]\n", "f:1: serve is a table; write [serve]\n");
	wrong_config(RULE "when = \"threshold\"\nthreshold = { steel = 2 }\n",
		     "f:5: threshold has no key steel; did you mean steal?\n");
}

static void wrong_kinds(void **state)
{
	(void)state;
	wrong_config("[serve]\ncollectors = \"many\"\n",
		     "f:2: collectors = \"many\": it takes a number\n");
	wrong_config("[[rule]]\nwhen = 1\n", "f:2: when = 1: it takes a word in quotes\n");
	wrong_config("[serve]\nconnect = true\n",
		     "f:2: connect is true or false; it takes text in quotes\n");
	wrong_config("[serve]\ndisk = 20\n", "f:2: disk = 20: it takes a size in quotes, such as "
					     "\"512M\" or \"20G\"\n");
	wrong_config(RULE "every = 10:00:00\n",
		     "f:4: every is a date; it takes a time in quotes, such as \"50ms\", \"5s\", "
		     "\"10m\" or \"7d\"\n");
	wrong_config(RULE "keep = \"no\"\n",
		     "f:4: keep = \"no\": it takes true or false, without quotes\n");
	wrong_config(RULE "guests = \"a\"\n",
		     "f:4: guests = \"a\": it takes an array, such as [\"...\", \"...\"]\n");
	wrong_config(RULE "guests = [\n\"a\",\n1]\n", "f:6: guests = 1: it takes text in quotes\n");
	wrong_config(RULE "labels = [\"a=b\"]\n", "f:4: labels is an array; it takes keys and "
						  "values, such as { tier = \"prod\" }\n");
	wrong_config(RULE "labels = { a = 1 }\n",
		     "f:4: label a is a number; it takes text in quotes\n");
	wrong_config(RULE "threshold = 5\n",
		     "f:4: threshold = 5: it takes keys in braces, such as { steal = 20 }\n");
	wrong_config(RULE "overhead = \"2\"\n",
		     "f:4: overhead = \"2\": it takes a number of percent, such as 20 or 2.5\n");
}

static void wrong_values(void **state)
{
	(void)state;
	wrong_config(RULE "window = \"5 parsecs\"\n",
		     "f:4: window = \"5 parsecs\": it takes a time in quotes, such as \"50ms\", "
		     "\"5s\", \"10m\" or \"7d\"\n");
	wrong_config(RULE "window = \"1ms\"\n", "f:4: window is not between 10ms and 1h\n");
	wrong_config(RULE "window = \"99999999999999999999d\"\n",
		     "f:4: window = \"99999999999999999999d\": it takes a time in quotes, such as "
		     "\"50ms\", \"5s\", \"10m\" or \"7d\"\n");
	wrong_config("[serve]\ndisk = \"1.G\"\n", "f:2: disk = \"1.G\": it takes a size in quotes, "
						  "such as \"512M\" or \"20G\"\n");
	wrong_config("[serve]\ncollectors = -1\n", "f:2: collectors is not between 1 and 4096\n");
	wrong_config("[serve]\ncollectors = 0\n", "f:2: collectors is not between 1 and 4096\n");
	wrong_config(RULE "overhead = nan\n", "f:4: overhead is not between 0 and 100 percent\n");
	wrong_config("[[rule]]\nwhen = \"widnow\"\n",
		     "f:2: when = \"widnow\": there is none; did you mean window?\n");
	wrong_config("[[rule]]\nwhen = \"loud\"\n",
		     "f:2: when = \"loud\": there are always, window, demand, threshold\n");
	wrong_config(RULE "tracer = \"functoin\"\n",
		     "f:4: tracer = \"functoin\": there is none; did you mean function?\n");
	wrong_config(RULE "clock = \"x\"\n", "f:4: clock = \"x\": there are global, mono\n");
	wrong_config(RULE "metrics = [\"wakeup\", \"irq-off\"]\n",
		     "f:4: metrics = \"irq-off\": there is none; did you mean irqs-off?\n");
	wrong_config(RULE "set = [\"tracing_on\"]\n",
		     "f:4: set = \"tracing_on\": it takes FILE=VALUE, or FILE+=VALUE to add\n");
	wrong_config("[serve]\nstate = \"var\"\n", "f:2: state = \"var\": a path begins with /\n");
	wrong_config("[serve]\nconnect = \"\"\n",
		     "f:2: connect = \"\": it is empty; leave the key out\n");
	wrong_config(RULE "events = [\"a\\nb\"]\n",
		     "f:4: events is there a second time, after line 3; "
		     "take one away\n");
	wrong_config("[ship]\nto = [\"http://a\"]\nuser = \"a\\nb\"\n",
		     "f:3: user = \"a\\nb\": it has a control character\n");
	wrong_config(RULE "guests = [\"web-[0-9\"]\n",
		     "f:4: guests = \"web-[0-9\": this glob has a [ without its ]; write \\\\[ for "
		     "a [\n");
}

static void wrong_names(void **state)
{
	static const char name[] = "a name has a-z, 0-9 and -, up to 63 of them, and no - first\n";
	char expected[256];

	(void)state;
	snprintf(expected, sizeof(expected), "f:2: name = \"../a\": %s", name);
	wrong_config("[[rule]]\nname = \"../a\"\nevents = [\"@irq\"]\n", expected);
	snprintf(expected, sizeof(expected), "f:2: name = \"\": %s", name);
	wrong_config("[[rule]]\nname = \"\"\nevents = [\"@irq\"]\n", expected);
	wrong_config("[[rule]]\nevents = [\"@irq\"]\n",
		     "f:1: this rule has no name; give it one, such as name = \"all\"\n");
	wrong_config(RULE RULE, "f:5: the rule in line 2 is called a, too; rename one\n");
}

static void wrong_listen(const char *value)
{
	char text[256], expected[256];

	snprintf(text, sizeof(text), "[metrics]\nlisten = \"%s\"\n", value);
	snprintf(
		expected, sizeof(expected),
		"f:2: listen = \"%s\": it takes HOST:PORT, [ADDRESS]:PORT, :PORT for all addresses, "
		"the path of a socket, or \"\" for nowhere\n",
		value);
	wrong_config(text, expected);
}

static void wrong_addresses(void **state)
{
	static const char *const taken[] = {"",		 "/run/x", "[::1]:80", "localhost:65535",
					    "0.0.0.0:1", ":9777"};
	static const char url[] = "it takes http://HOST:PORT or https://HOST:PORT; who it is for "
				  "the server is said by user and password-file\n";
	char text[256];

	(void)state;
	wrong_listen("9777");
	wrong_listen(":");
	wrong_listen(":9777:1");
	wrong_listen("localhost");
	wrong_listen("localhost:0");
	wrong_listen("localhost:65536");
	wrong_listen("localhost:http");
	wrong_listen("::1:80");
	wrong_listen("[::1:80");
	wrong_listen("a b:80");
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		snprintf(text, sizeof(text), "[metrics]\nlisten = \"%s\"\n", taken[i]);
		config_free(right_config(text));
	}
	snprintf(text, sizeof(text), "f:2: to = \"ftp://a\": %s", url);
	wrong_config("[ship]\nto = [\"ftp://a\"]\n", text);
	snprintf(text, sizeof(text), "f:2: to: %s", url);
	wrong_config("[ship]\nto = [\"http://u:p@a\"]\n", text);
	wrong_config(
		"[serve]\nsocket = \"/0123456789012345678901234567890123456789012345678901234567"
		"89012345678901234567890123456789012345678901234567\"\n",
		"f:2: socket = \"/01234567890123456789012345678901234567890123456789012345678901"
		"23456789012345678\": the path of a socket has 107 bytes at most\n");
}

static void keys_that_do_not_go_together(void **state)
{
	(void)state;
	wrong_config(RULE "segment = \"1m\"\n",
		     "f:4: segment means nothing with when = \"window\"; take it away\n");
	wrong_config(RULE "when = \"always\"\nevery = \"1m\"\n",
		     "f:5: every means nothing with when = \"always\"; take it away\n");
	wrong_config(RULE "every = \"2s\"\nwindow = \"2s\"\n",
		     "f:5: a window of 2s every 2s has no end; make it shorter, or write when = "
		     "\"always\"\n");
	wrong_config(RULE "every = \"2s\"\n",
		     "f:4: a window of 5s every 2s has no end; make it shorter, or write when = "
		     "\"always\"\n");
	wrong_config(RULE "every = \"10s\"\njitter = \"6s\"\n",
		     "f:5: with this jitter a window of 5s may not be over when the next one "
		     "begins, every 10s; make it shorter\n");
	wrong_config(RULE "when = \"threshold\"\n",
		     "f:1: when = \"threshold\" wants to know of what: threshold = { steal = 20 } "
		     "or { irqs-off = \"1ms\" }\n");
	wrong_config(RULE "when = \"threshold\"\nthreshold = { for = \"1s\" }\n",
		     "f:5: when = \"threshold\" wants to know of what: threshold = { steal = 20 } "
		     "or { irqs-off = \"1ms\" }\n");
	wrong_config("[[rule]]\nname = \"a\"\n",
		     "f:1: this rule does not say what is traced; give it metrics, events, "
		     "functions or a tracer\n");
	wrong_config(RULE "tracer = \"nop\"\nfunctions = [\"a\"]\n",
		     "f:5: the tracer nop traces no functions; take one of them away\n");
	wrong_config(RULE "guests = []\n",
		     "f:4: guests = [] is no guest at all; leave it out for all of them\n");
	wrong_config(RULE "keep = false\n",
		     "f:4: nothing would remain of this rule; give it metrics, or keep = true\n");
	wrong_config(RULE "keep = false\nmetrics = [\"wakeup\"]\nage = \"1d\"\n",
		     "f:6: with keep = false there are no recordings to limit; take one away\n");
	wrong_config("[serve]\ndisk = \"1G\"\n" RULE "disk = \"2G\"\n",
		     "f:6: that is more than all rules have, which is disk in [serve]\n");
}

static void ships_that_go_nowhere(void **state)
{
	char path[] = "/tmp/hvc.XXXXXX", text[256], expected[256];
	int fd;

	(void)state;
	wrong_config(RULE "ship = true\n",
		     "f:4: there is nowhere to ship to; say it in [ship] with to = [...]\n");
	wrong_config(
		"[ship]\ndatabase = \"d\"\n",
		"f:1: [ship] does not say where to; give it to = [\"http://127.0.0.1:8123\"]\n");
	wrong_config(
		"[ship]\nto = [\"http://a\"]\nuser = \"u\"\npassword-file = \"/nonexistent/p\"\n",
		"f:4: password-file = \"/nonexistent/p\": No such file or directory\n");
	wrong_config("[ship]\nto = [\"http://a\"]\nuser = \"u\"\npassword-file = \"/tmp\"\n",
		     "f:4: password-file = \"/tmp\": it is not a regular file\n");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0644), 0);
	snprintf(text, sizeof(text),
		 "[ship]\nto = [\"http://a\"]\nuser = \"u\"\npassword-file = \"%s\"\n", path);
	snprintf(expected, sizeof(expected),
		 "f:4: password-file = \"%s\": everybody may read it; chmod 600 it\n", path);
	wrong_config(text, expected);
	assert_int_equal(fchmod(fd, 0600), 0);
	config_free(right_config(text));
	snprintf(text, sizeof(text), "[ship]\nto = [\"http://a\"]\npassword-file = \"%s\"\n", path);
	wrong_config(text, "f:3: whose password that is is missing; give it user = \"...\"\n");
	close(fd);
	unlink(path);
}

/* All are told, in the order of lines, and of many the first ones. */
static void several(void **state)
{
	struct text many = {0}, told;

	(void)state;
	wrong_config(
		"[[rule]]\nname = \"A\"\n[serve]\ndisk = 1\ndisk2 = 1\n[[rule]]\nkeep = 1\n",
		"f:2: name = \"A\": a name has a-z, 0-9 and -, up to 63 of them, and no - first\n"
		"f:4: disk = 1: it takes a size in quotes, such as \"512M\" or \"20G\"\n"
		"f:5: [serve] has no key disk2; did you mean disk?\n"
		"f:7: keep = 1: it takes true or false, without quotes\n");
	/* Where it is no TOML what it means is not looked at. */
	wrong_config("[serve]\nfoo = 1\ndisk =\n", "f:3: a value is missing behind the =\n");
	text_puts(&many, "[serve]\n");
	for (int i = 0; i < 25; i++)
		text_printf(&many, "zzz%d = 1\n", i);
	text_putc(&many, '\0');
	assert_null(read_config(many.buf, &told));
	assert_non_null(strstr(told.buf, "f:21: [serve] has no key zzz19"));
	assert_null(strstr(told.buf, "f:22:"));
	assert_non_null(strstr(told.buf, "\nf: and 5 more\n"));
	text_free(&told);
	text_free(&many);
}

/* What a terminal would obey is shown. */
static void values_are_harmless(void **state)
{
	(void)state;
	wrong_config("[[rule]]\nwhen = \"\\u001b[2J\\n\"\n",
		     "f:2: when = \"\\x1b[2J\\n\": there are always, window, demand, threshold\n");
}

static void too_many_rules(void **state)
{
	struct text text = {0}, told;

	(void)state;
	for (int i = 0; i <= CONFIG_RULES; i++)
		text_printf(&text, "[[rule]]\nname = \"r%d\"\nevents = [\"x\"]\n", i);
	text_putc(&text, '\0');
	assert_null(read_config(text.buf, &told));
	assert_string_equal(told.buf, "f:1: more than 256 rules\n");
	text_free(&told);
	text_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_keys),
		cmocka_unit_test(wrong_kinds),
		cmocka_unit_test(wrong_values),
		cmocka_unit_test(wrong_names),
		cmocka_unit_test(wrong_addresses),
		cmocka_unit_test(keys_that_do_not_go_together),
		cmocka_unit_test(ships_that_go_nowhere),
		cmocka_unit_test(several),
		cmocka_unit_test(values_are_harmless),
		cmocka_unit_test(too_many_rules),
	};

	if (config_missing()) {
		printf("1..0 # SKIP %s\n", config_missing());
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
