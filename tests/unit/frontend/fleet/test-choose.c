// SPDX-License-Identifier: GPL-2.0-or-later
/* test-choose.c - which guests are meant, and what they are called; with a libvirt of our own. */
#include <signal.h>
#include <unistd.h>

#include "tests/unit/fake-libvirt.h"

#include "frontend/fleet/choose.h"
#include "frontend/lib/exit.h"

#define LABELED                                                                                    \
	"<domain type='kvm'><name>it</name><metadata><f:tier>prod</f:tier><a rack='7'/>"           \
	"</metadata></domain>"

static char said[1024]; /* on stderr, by the last choice */

static int choose(const struct fleet_choice *c, char *const *names, int nr,
		  struct fleet_name **guests)
{
	FILE *to = tmpfile();
	int before = dup(STDERR_FILENO);

	fflush(stderr);
	dup2(fileno(to), STDERR_FILENO);
	nr = fleet_choose(c, names, nr, guests);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(to);
	said[fread(said, 1, sizeof(said) - 1, to)] = '\0';
	fclose(to);
	return nr;
}

/* With one line. */
static void refuses(const struct fleet_choice *c, char *const *names, int nr, int status,
		    const char *why)
{
	struct fleet_name *guests = (void *)&lv;

	assert_int_equal(choose(c, names, nr, &guests), -status);
	assert_null(guests);
	assert_string_equal(said, why);
}

/* --- names ------------------------------------------------------------------------------------ */

static const struct fleet_choice named;

static void more_than_one(void **state)
{
	const char *labels[] = {"a=b"};
	const struct fleet_choice all = {.all = true},
				  labeled = {.labels = {.values = labels, .nr = 1}};

	(void)state;
	assert_false(fleet_is_asked(&named, 0));
	assert_false(fleet_is_asked(&named, 1));
	assert_true(fleet_is_asked(&named, 2));
	assert_true(fleet_is_asked(&all, 0));
	assert_true(fleet_is_asked(&labeled, 0));
}

static void called(void **state)
{
	static struct {
		char target[24];
		const char *name;
	} cases[] = {
		{"web", "web"},
		{"7", "7"},
		{"with a blank", "with a blank"},
		{"../x", "_._x"},
		{".", "_"},
		{".hidden", "_hidden"},
		{"/etc/passwd", "_etc_passwd"},
		{"two\nlines\t\033[2J\177", "two_lines__[2J_"},
		{"gdb:unix:/run/web.gdb", "web.gdb"},
		{"gdb:unix:relative", "unix:relative"},
		{"gdb:unix:/run/.gdb", "_gdb"},
		{"gdb:localhost:1234", "localhost:1234"},
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		/* In two folders. */
		{"gdb:unix:/run/a/gdb", "run_a_gdb"},
		{"gdb:unix:/run/b/gdb", "run_b_gdb"},
	};
	enum { NR = sizeof(cases) / sizeof(cases[0]) };
	struct fleet_name *guests;
	char *names[NR];

	(void)state;
	for (int i = 0; i < NR; i++)
		names[i] = cases[i].target;
	assert_int_equal(choose(&named, names, NR, &guests), NR);
	assert_string_equal(said, "");
	for (int i = 0; i < NR; i++) {
		assert_string_equal(guests[i].target, cases[i].target);
		assert_string_equal(guests[i].name, cases[i].name);
	}
	free(guests);
}

/* What of their paths tells stubs apart is at the end. */
static void long_names(void **state)
{
	char a[256], b[256], too_long[257], *names[] = {a, b}, *other[] = {a, too_long};
	struct fleet_name *guests;

	(void)state;
	snprintf(a, sizeof(a), "gdb:unix:/run/%0200d/a/gdb", 0);
	snprintf(b, sizeof(b), "gdb:unix:/run/%0200d/b/gdb", 0);
	assert_int_equal(choose(&named, names, 2, &guests), 2);
	assert_int_equal(strlen(guests[0].name), sizeof(guests->name) - 1);
	assert_string_equal(guests[0].name + sizeof(guests->name) - 8, "0_a_gdb");
	assert_string_equal(guests[1].name + sizeof(guests->name) - 8, "0_b_gdb");
	free(guests);
	memset(too_long, 'x', 256);
	too_long[256] = '\0';
	refuses(&named, other, 2, EXIT_USAGE,
		"hvtrace: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' is no name of a guest\n");
}

/* So many names of these two, in turn. */
static void refuses_names(const char *first, const char *second, int nr, const char *why)
{
	static char *names[FLEET_GUESTS_MAX + 1];
	char a[32], b[32];

	snprintf(a, sizeof(a), "%s", first);
	snprintf(b, sizeof(b), "%s", second);
	for (int i = 0; i < nr; i++)
		names[i] = i % 2 ? b : a;
	refuses(&named, names, nr, EXIT_USAGE, why);
}

static void named_wrongly(void **state)
{
	(void)state;
	refuses_names("a", "b", 3, "hvtrace: two of the guests are called a: name each once\n");
	refuses_names("a/b", "a_b", 2,
		      "hvtrace: two of the guests are called a_b: name each once\n");
	refuses_names("gdb:unix:/run/a", "gdb:unix:/run/a", 2,
		      "hvtrace: two of the guests are called run_a: name each once\n");
	refuses_names("a", "", 2, "hvtrace: '' is no name of a guest\n");
	refuses_names("gdb:", "", 1, "hvtrace: 'gdb:' is no name of a guest\n");
	refuses_names("a", "gdb:unix:/run/", 2,
		      "hvtrace: 'gdb:unix:/run/' is no name of a guest\n");
	refuses_names("a", "b", FLEET_GUESTS_MAX + 1, "hvtrace: 1024 guests at once at most\n");
}

/* --- those of libvirt ------------------------------------------------------------------------- */

static const struct fleet_choice all = {.all = true};

static struct fleet_choice with_labels(const char **labels, size_t nr)
{
	return (struct fleet_choice){.labels = {.values = labels, .nr = nr}};
}

static void all_that_run(void **state)
{
	struct fleet_name *guests;

	(void)state;
	assert_int_equal(choose(&all, NULL, 0, &guests), 1);
	assert_string_equal(guests->target, "it");
	assert_string_equal(guests->name, "it");
	assert_string_equal(said, "");
	free(guests);
	lv.state = VIR_DOMAIN_PAUSED;
	refuses(&all, NULL, 0, EXIT_FAILED,
		"hvtrace: no guest of qemu:///system runs: hvtrace list shows what there is\n");
	lv.listed = 0;
	refuses(&all, NULL, 0, EXIT_FAILED,
		"hvtrace: no guest of qemu:///system runs: hvtrace list shows what there is\n");
}

/* libvirt knows it by more than what there is room for. */
static void one_of_a_long_name(void **state)
{
	static char name[201];
	struct fleet_name *guests;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	lv.name = name;
	assert_int_equal(choose(&all, NULL, 0, &guests), 1);
	assert_string_equal(guests->target, UUID);
	assert_int_equal(strspn(guests->name, "n"), sizeof(guests->name) - 1);
	free(guests);
}

static void not_distinct(void **state)
{
	(void)state;
	lv.listed = 2;
	refuses(&all, NULL, 0, EXIT_FAILED,
		"hvtrace: two of the guests are called it: name each once\n");
	lv.listed = FLEET_GUESTS_MAX + 1;
	refuses(&all, NULL, 0, EXIT_FAILED,
		"hvtrace: 1025 guests are too many at once: 1024 at most (--label)\n");
}

static void by_labels(void **state)
{
	static const struct {
		const char *labels[2];
		size_t nr;
		bool chosen;
	} cases[] = {
		{{"tier=prod"}, 1, true},
		{{"f:tier=prod"}, 1, true},
		{{"tier=prod", "rack=7"}, 2, true},
		{{"tier=prod", "rack=8"}, 2, false},
		{{"tier=test", "rack=7"}, 2, false},
		{{"tier=pro"}, 1, false},
		{{"tier=prod", "tier=prod"}, 2, true},
		{{"tier="}, 1, false},
	};

	(void)state;
	lv.xml = LABELED;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *labels[] = {cases[i].labels[0], cases[i].labels[1]};
		const struct fleet_choice c = with_labels(labels, cases[i].nr);
		struct fleet_name *guests;

		assert_int_equal(choose(&c, NULL, 0, &guests), cases[i].chosen ? 1 : -EXIT_FAILED);
		assert_string_equal(said,
				    cases[i].chosen
					    ? ""
					    : "hvtrace: none of the 1 guests that run has this "
					      "label in its metadata (virsh dumpxml shows them)\n");
		free(guests);
	}
}

static void labels_that_are_none(void **state)
{
	static char long_key[140], web[] = "web", *name[] = {web};
	const char *wrong[] = {"tier", "=prod", "", long_key}, *right[] = {"a=b"};
	struct fleet_choice c;

	(void)state;
	memset(long_key, 'k', 128);
	strcat(long_key, "=v");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct fleet_name *guests;

		c = with_labels(&wrong[i], 1);
		assert_int_equal(choose(&c, NULL, 0, &guests), -EXIT_USAGE);
		assert_non_null(strstr(said, ": a label is KEY=VALUE, such as tier=prod\n"));
	}
	c = with_labels(right, 1);
	refuses(&c, name, 1, EXIT_USAGE,
		"hvtrace: web is among all that --label stands for: leave one out\n");
	refuses(&all, name, 1, EXIT_USAGE,
		"hvtrace: web is among all that --all stands for: leave one out\n");
}

static void libvirt_fails(void **state)
{
	(void)state;
	lv.listed = -1;
	refuses(&all, NULL, 0, EXIT_FAILED,
		"hvtrace: libvirt does not list its domains: it does not want to\n");
	lv.uri = NULL;
	refuses(&all, NULL, 0, EXIT_FAILED,
		"hvtrace: cannot connect to libvirt at qemu:///system: it does not want to\n");
}

/* What asks it is another process, which leaves nothing here: neither signals, nor connections. */
static void asked_apart(void **state)
{
	struct fleet_name *guests;
	sigset_t before, after;

	(void)state;
	sigprocmask(SIG_BLOCK, NULL, &before);
	assert_int_equal(choose(&all, NULL, 0, &guests), 1);
	free(guests);
	sigprocmask(SIG_BLOCK, NULL, &after);
	for (int signo = 1; signo < NSIG; signo++)
		assert_int_equal(sigismember(&before, signo), sigismember(&after, signo));
	assert_int_equal(lv.closed, 0);
}

#define with_libvirt(test) cmocka_unit_test_setup_teardown(test, libvirt_set_up, libvirt_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_than_one),    cmocka_unit_test(called),
		cmocka_unit_test(long_names),	    cmocka_unit_test(named_wrongly),
		with_libvirt(all_that_run),	    with_libvirt(one_of_a_long_name),
		with_libvirt(not_distinct),	    with_libvirt(by_labels),
		with_libvirt(labels_that_are_none), with_libvirt(libvirt_fails),
		with_libvirt(asked_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
