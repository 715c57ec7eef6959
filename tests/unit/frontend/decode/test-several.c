// SPDX-License-Identifier: GPL-2.0-or-later
/* test-several.c - a guest's and a host's events as one text, in the order of their times. */
#include "tests/unit/host-scene.h"

#include "frontend/decode/several.h"

static struct several_file file_of(struct decode_world *w, const struct print_config *cfg)
{
	struct several_file f = {.dat = w->d, .records = w->r, .formats = w->f};

	f.print = print_new(w->d, w->f, w->r, cfg);
	assert_non_null(f.print);
	return f;
}

static char *text_of(struct several_file *files, size_t nr)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	several_print(files, nr, out);
	fclose(out);
	for (size_t i = 0; i < nr; i++)
		print_free(files[i].print);
	return text;
}

/* By times, then in the order of the files; what is in an instance's buffer by its name. */
static void test_together(void **state)
{
	static const char expected[] =
		"made: cpus=1\n"
		"made: cpus=2\n"
		"made:        CPU 0/KVM-1000  [000]     0.999999: kvm_entry:            vcpu 0\n"
		"made:        CPU 0/KVM-1000  [000]     1.000000: kvm_exit:             vcpu 0 reason npf rip 0x0\n"
		"made:             init-1     [000]     1.000000: function:             vfs_read <-- ext4_open\n"
		" one: CPU:1 [EVENTS DROPPED]\n"
		"   kworker/0:1 H-33    [001]     1.000001: irq_handler_entry:    irq=14 name=timer\n"
		"made:             init-1     [000]     1.000001: funcgraph_entry:        0.540 us   |  vfs_write();\n";
	const struct print_config cfg = {.no_buffer = true};
	struct host_scene s = {.nr = 0};
	struct decode_world guest = decode_world(), host;
	struct several_file files[2];
	char *text;

	(void)state;
	host_page(&s, MADE_T0 - 1000, 0);
	host_entry(&s, MADE_T0 - 1000, HOST_TID);
	host_exit(&s, MADE_T0, HOST_TID, 1);
	host = decode_world_of(host_open_scene(&s));
	files[0] = file_of(&host, &cfg);
	files[1] = file_of(&guest, &cfg);
	text = text_of(files, 2);
	if (strncmp(text, expected, strlen(expected)) != 0)
		fail_msg("%s", text);
	free(text);
	decode_world_end(&host);
	decode_world_end(&guest);
}

static void test_alone(void **state)
{
	const struct print_config cfg = {0};
	struct decode_world w = decode_world();
	struct several_file file = file_of(&w, &cfg);
	char *text = text_of(&file, 1);

	(void)state;
	assert_int_equal(strncmp(text, "cpus=2\n", 7), 0);
	assert_null(strstr(text, "made: "));
	free(text);
	decode_world_end(&w);
}

static void test_guest(void **state)
{
	struct host_scene s = {.nr = 0};
	struct dat_guest o;
	struct dat *d, *other;
	uint32_t vcpu;
	int32_t tid;

	(void)state;
	host_page(&s, 1000, 0);
	d = host_open_scene(&s);
	other = made_trace();
	assert_true(dat_guest(d, 0, &o));
	assert_string_equal(o.name, "guest-1");
	assert_int_equal(o.trace_id, HOST_GUEST_ID);
	assert_int_equal(o.nr, 2);
	dat_guest_vcpu(&o, 1, &vcpu, &tid);
	assert_int_equal(vcpu, 1);
	assert_int_equal(tid, HOST_TID + 1);
	assert_false(dat_guest(d, 1, &o));
	assert_false(dat_guest_is(&o, other));
	assert_false(dat_guest(other, 0, &o));
	dat_close(d);
	dat_close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
