// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-host.c - events of the host, from a folder that is like its tracefs: what the kernel does
 * when an instance is made, and removed, is done by what stands in for mkdirat() and unlinkat().
 */
#include "tests/unit/made-trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "frontend/host/host.h"
#include "frontend/record/record.h"
#include "tests/unit/remove-tree.h"

enum { CPUS = 2, PAGES = 3 };

struct tree {
	char path[64];
	int fd;
	const char *without; /* a file that instances have not */
};

static struct tree tree;

/* --- the folder --------------------------------------------------------------------------------
 */

/* Below a folder, with the folders on the way there. */
static void put_bytes(const char *base, const char *name, const void *bytes, size_t len)
{
	char path[256];
	FILE *f;

	if (tree.without && !strcmp(name, tree.without))
		return;
	snprintf(path, sizeof(path), "%s/%s", base, name);
	for (char *at = strchr(path + strlen(tree.path) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		assert_true(!mkdir(path, 0700) || errno == EEXIST);
		*at = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const char *base, const char *name, const char *text)
{
	put_bytes(base, name, text, strlen(text));
}

static const char *text_of(const char *base, const char *name)
{
	static char text[4096];
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void put_event(const char *base, const char *event, const char *format)
{
	char name[128];

	snprintf(name, sizeof(name), "events/%s/enable", event);
	put_text(base, name, "0");
	snprintf(name, sizeof(name), "events/%s/format", event);
	put_text(base, name, format);
}

/* Each page with one event, of which some are lost before the last. */
static void put_pages(const char *base, unsigned int cpu)
{
	static uint8_t bytes[PAGES][RING_PAGE_SIZE];
	char name[64];

	for (uint64_t i = 0; i < PAGES; i++) {
		const struct made_record r = {.type = 103, .pid = (int32_t)cpu};
		struct made_page p;

		made_page_begin(&p, 2000 * (i + 1));
		made_page_event(&p, 2000 * (i + 1) + cpu, &r, 24);
		made_page_end(&p, i == PAGES - 1 ? 5 : 0);
		/* What was in the page before is not for others. */
		memset(p.bytes + RING_PAGE_SIZE - 16, 'x', 16);
		memcpy(bytes[i], p.bytes, RING_PAGE_SIZE);
	}
	snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	put_bytes(base, name, bytes, sizeof(bytes));
}

static void put_events(const char *base)
{
	put_text(base, "events/enable", "0");
	put_text(base, "events/header_page", made_header_page);
	put_text(base, "events/header_event", "# compressed entry header\n");
	put_text(base, "events/kvm/enable", "0");
	put_event(base, "kvm/kvm_exit", "name: kvm_exit\nID: 103\n");
	put_event(base, "kvm/kvm_entry", "name: kvm_entry\nID: 104\n");
	put_text(base, "events/sched/enable", "0");
	put_event(base, "sched/sched_switch", "name: sched_switch\nID: 300\n");
	put_text(base, "events/irq/enable", "0");
	put_event(base, "irq/irq_entry", "name: irq_entry\nID: 500\n");
	put_event(base, "ftrace/function", "name: function\nID: 1\n");
}

static void put_instance(const char *base)
{
	static const char *const files[] = {"tracing_on", "trace_clock", "buffer_size_kb",
					    "buffer_percent", "set_event_pid"};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put_text(base, files[i], "");
	put_events(base);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		put_pages(base, cpu);
}

int __real_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_unlinkat(int folder, const char *path, int flags);

int __wrap_mkdirat(int folder, const char *path, mode_t mode)
{
	char base[256];
	int rc = __real_mkdirat(folder, path, mode);

	snprintf(base, sizeof(base), "%s/%s", tree.path, path);
	if (!rc)
		put_instance(base);
	return rc;
}

int __wrap_unlinkat(int folder, const char *path, int flags)
{
	char base[256];

	assert_int_equal(folder, tree.fd);
	assert_int_equal(flags, AT_REMOVEDIR);
	snprintf(base, sizeof(base), "%s/%s", tree.path, path);
	return remove_tree(base);
}

static int set_up(void **state)
{
	(void)state;
	tree = (struct tree){.path = "/tmp/hvh.XXXXXX"};
	if (!mkdtemp(tree.path))
		return -1;
	put_events(tree.path);
	put_text(tree.path, "saved_cmdlines", "5000011 vcpu-0\n4711 other\n");
	put_text(tree.path, "instances/of-somebody/trace_clock", "local");
	tree.fd = open(tree.path, O_RDONLY | O_DIRECTORY);
	return tree.fd < 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(tree.fd);
	return remove_tree(tree.path);
}

/* --- tests -------------------------------------------------------------------------------------
 */

static const char *const kvm[] = {"kvm:*_ex?t"};
/* Threads that there cannot be. */
static const struct host_vcpu vcpus[] = {{0, 5000011}, {1, 5000022}};

static struct host_config config(void)
{
	return (struct host_config){
		.tracefs = tree.fd,
		.events = kvm,
		.nr_events = 1,
		.vcpus = vcpus,
		.nr_vcpus = 2,
		.trace_id = 1234,
		.guest = "guest-1",
		.guest_id = 5678,
		.ticks = {1 << 30, 31, 0},
	};
}

static const char *instance(const struct host *h)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/instances/%s", tree.path, host_name(h));
	return path;
}

static void test_settings(void **state)
{
	const struct host_config cfg = config();
	char why[256], name[64];
	struct host *h = host_begin(&cfg, why, sizeof(why));
	const char *base;

	(void)state;
	if (!h)
		fail_msg("%s", why);
	base = instance(h);
	assert_string_equal(text_of(base, "trace_clock"), "x86-tsc");
	assert_string_equal(text_of(base, "set_event_pid"), "5000011 5000022 ");
	assert_string_equal(text_of(base, "buffer_size_kb"), "4096");
	assert_string_equal(text_of(base, "events/kvm/kvm_exit/enable"), "1");
	assert_string_equal(text_of(base, "events/kvm/kvm_entry/enable"), "0");
	assert_string_equal(text_of(base, "events/sched/sched_switch/enable"), "1");
	assert_string_equal(text_of(base, "events/irq/irq_entry/enable"), "0");
	/* What others have is theirs. */
	assert_string_equal(text_of(tree.path, "events/sched/sched_switch/enable"), "0");
	assert_string_equal(text_of(base, "tracing_on"), "1");
	host_stop(h);
	host_stop(h);
	assert_string_equal(text_of(base, "tracing_on"), "10");
	snprintf(name, sizeof(name), "%s", host_name(h));
	host_free(h);
	assert_int_equal(host_remove(tree.fd, name), 0);
	assert_int_equal(access(base, F_OK), -1);
}

/* As it is recorded: events of all CPUs, what was lost, and the options that tell of the guest. */
static void check_file(struct dat *d)
{
	const struct dat_buffer *b = dat_buffer(d, 0);
	struct dat_text guest;
	const void *page;
	size_t size, pages = 0;

	assert_int_equal(dat_info(d)->trace_id, 1234);
	assert_string_equal(dat_info(d)->clock, "x86-tsc");
	assert_int_equal(dat_info(d)->cpus, CPUS);
	assert_int_equal(dat_time(dat_info(d), 0, 2000), 1000);
	assert_string_equal(dat_info(d)->cmdlines.text, "5000011 vcpu-0\n4711 other\n");
	/* Formats of what can be there. */
	assert_int_equal(dat_info(d)->nr_formats, 4);
	assert_true(dat_option(d, DAT_OPTION_GUEST, 0, &guest));
	assert_int_equal(guest.len, 8 + 8 + 4 + 2 * 8);
	assert_string_equal(guest.text, "guest-1");
	assert_int_equal(b->nr_vcpus, CPUS);
	for (unsigned int v = 0; v < CPUS; v++) {
		struct dat_pages *p = dat_pages_open(d, b, &b->vcpus[v]);

		while (dat_pages_next(p, &page, &size) == 1) {
			assert_int_equal(size, RING_PAGE_SIZE);
			assert_null(memchr(page, 'x', size));
			pages++;
		}
		dat_pages_close(p);
	}
	assert_int_equal(pages, CPUS * PAGES);
}

static void test_recorded(void **state)
{
	const struct record_config unnamed = {NULL, 7, true, false};
	const struct host_config cfg = config();
	struct record_result result;
	struct record_source source;
	char err[256];
	struct record *r = record_open(&unnamed, err, sizeof(err));
	struct host *h = host_begin(&cfg, err, sizeof(err));
	struct dat *d;

	(void)state;
	assert_non_null(r);
	assert_non_null(h);
	source = host_source(h);
	assert_int_equal(record_start_source(r, &source), 0);
	record_let_go(r);
	assert_int_equal(text_of(instance(h), "tracing_on")[1], '0');
	assert_int_equal(record_finish(r, NULL, NULL, &result), 0);
	assert_int_equal(result.lost, 0);
	d = dat_open_fd(record_reopen(r), "host", err, sizeof(err));
	if (!d)
		fail_msg("%s", err);
	check_file(d);
	dat_close(d);
	record_close(r);
	host_free(h);
}

/* Whatever cannot be had, one line says what, and nothing is left. */
static void test_fails(void **state)
{
	static const struct {
		const char *without, *says;
	} all[] = {
		{"tracing_on", "tracing_on"},
		{"trace_clock", "clock"},
		{"set_event_pid", "set_event_pid"},
		{"buffer_size_kb", "buffer_size_kb"},
	};
	const struct host_config cfg = config();

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		char why[256] = "", path[128];

		tree.without = all[i].without;
		assert_null(host_begin(&cfg, why, sizeof(why)));
		assert_non_null(strstr(why, all[i].says));
		snprintf(path, sizeof(path), "%s/instances/hvtrace-%d-0", tree.path, (int)getpid());
		assert_int_equal(access(path, F_OK), -1);
	}
}

static void test_no_instances(void **state)
{
	const struct host_config cfg = config();
	char why[256] = "", path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/instances", tree.path);
	assert_int_equal(remove_tree(path), 0);
	assert_null(host_begin(&cfg, why, sizeof(why)));
	assert_non_null(strstr(why, "instance"));
}

/* That of one who lives stays, and those of others. */
static void test_clean(void **state)
{
	const struct host_config cfg = config();
	char why[256], path[128];
	struct host *h = host_begin(&cfg, why, sizeof(why));
	struct host *second = host_begin(&cfg, why, sizeof(why));

	(void)state;
	assert_non_null(h);
	assert_non_null(second);
	assert_string_not_equal(host_name(h), host_name(second));
	put_text(tree.path, "instances/hvtrace-1-0/trace_clock", "x86-tsc");
	assert_int_equal(host_clean(tree.fd), 1);
	snprintf(path, sizeof(path), "%s/instances/hvtrace-1-0", tree.path);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(instance(h), F_OK), 0);
	host_free(h);
	assert_int_equal(host_clean(tree.fd), 1);
	assert_int_equal(access(instance(second), F_OK), 0);
	host_free(second);
	assert_string_equal(text_of(tree.path, "instances/of-somebody/trace_clock"), "local");
}

static void test_events(void **state)
{
	static const char *const good[] = {"kvm:kvm_exit", "kvm", "*:*_switch", "k*:*"};
	static const char *const bad[] = {"kvm:kvm_exit", "kvm:nothing"};
	static const char *const others[] = {"none:*",	"ftrace:function", "",		":",
					     "../..:*", "enable:*",	   "kvm:enable"};
	size_t which;

	(void)state;
	assert_int_equal(host_events_exist(tree.fd, good, 4, &which), 0);
	assert_int_equal(host_events_exist(tree.fd, bad, 2, &which), -ENOENT);
	assert_int_equal(which, 1);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(host_events_exist(tree.fd, &others[i], 1, &which), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_settings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_instances, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_clean, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_events, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
