// SPDX-License-Identifier: GPL-2.0-or-later
/* test-state.c - the file of a snapshot without a machine: sections, RAM with holes; and chips from
 * one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm/kvm/chip/i8254.h"
#include "vmm/kvm/chip/uart.h"
#include "vmm/kvm/state/state.h"

#define PAGE  4096u
#define PAGES 512u

static void put_three(struct state_sections *s)
{
	state_put(s, STATE_CMDLINE, 0, "quiet", 5);
	state_put(s, STATE_REGS, 1, "12345678", 8);
	state_put(s, STATE_REGS, 0, "", 0);
}

static void test_sections(void **state)
{
	struct state_sections s = {0};
	struct state_file f = {.fd = -1};
	const char *text;
	size_t len = 99;

	(void)state;
	put_three(&s);
	f.data = s.data;
	f.len = s.len;
	assert_true(state_sections_are_sane(s.data, s.len));
	text = state_get(&f, STATE_CMDLINE, 0, &len);
	assert_int_equal(len, 5);
	assert_memory_equal(text, "quiet", 5);
	assert_memory_equal(state_get_sized(&f, STATE_REGS, 1, 8), "12345678", 8);
	assert_null(state_get_sized(&f, STATE_REGS, 1, 7));
	assert_non_null(state_get_sized(&f, STATE_REGS, 0, 0));
	assert_null(state_get(&f, STATE_REGS, 2, &len));
	assert_null(state_get(&f, STATE_CMDLINE, 1, &len));
	state_sections_free(&s);
}

/* Whatever is wrong with one of them. */
static void test_insane(void **state)
{
	struct state_sections s = {0};
	struct state_section_head head;

	(void)state;
	assert_true(state_sections_are_sane(NULL, 0));
	put_three(&s);
	for (size_t len = 1; len < s.len; len++)
		assert_int_equal(state_sections_are_sane(s.data, len), len == 24 || len == 48);
	memcpy(&head, s.data, sizeof(head));
	for (uint64_t bad = UINT64_MAX; bad > UINT64_MAX - 20; bad--) {
		head.len = bad;
		memcpy(s.data, &head, sizeof(head));
		assert_false(state_sections_are_sane(s.data, s.len));
	}
	head.len = 5;
	head.type = STATE_TYPES;
	memcpy(s.data, &head, sizeof(head));
	assert_false(state_sections_are_sane(s.data, s.len));
	head.type = STATE_REGS;
	head.index = 1; /* twice */
	memcpy(s.data, &head, sizeof(head));
	assert_false(state_sections_are_sane(s.data, s.len));
	state_sections_free(&s);
}

static void test_file(void **state)
{
	int fd = memfd_create("state", MFD_CLOEXEC);
	const struct state_sink to = {state_put_file, &fd};
	uint8_t *ram = calloc(PAGES, PAGE), *map;
	struct state_sections s = {0};
	struct state_file f;
	char path[64], err[128] = "";
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	assert_non_null(ram);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ram[0] = 1;
	ram[7 * PAGE - 1] = 2;
	ram[(PAGES - 1) * PAGE] = 3;
	put_three(&s);
	assert_int_equal(state_write_memory(&to, ram, 8 * PAGE, STATE_RAM_AT), 0);
	assert_int_equal(state_write_memory(&to, ram + 8 * PAGE, (PAGES - 8) * PAGE,
					    STATE_RAM_AT + 8 * PAGE),
			 0);
	assert_true(state_open(&f, path, err, sizeof(err)) < 0); /* without its end */
	assert_int_equal(state_write_end(&to, PAGES * PAGE, &s), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true((uint64_t)st.st_blocks * 512 < 16 * PAGE);
	if (state_open(&f, path, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(f.memory, PAGES * PAGE);
	assert_int_equal(f.len, s.len);
	assert_memory_equal(f.data, s.data, s.len);
	map = mmap(NULL, f.memory, PROT_READ, MAP_PRIVATE, f.fd, STATE_RAM_AT);
	assert_true(map != MAP_FAILED);
	assert_memory_equal(map, ram, f.memory);
	munmap(map, f.memory);
	state_close(&f);
	s.failed = true;
	assert_int_equal(state_write_end(&to, 0, &s), -ENOMEM);
	state_sections_free(&s);
	free(ram);
	close(fd);
}

/* --- chips ----------------------------------------------------------------------------------- */

static void count_irq(void *arg, bool level)
{
	*(unsigned int *)arg += level;
}

static const struct uart_ops uart_ops = {.irq = count_irq};

static void test_uart(void **state)
{
	unsigned int irqs = 0;
	struct uart a, b;
	struct uart_state s, t;

	(void)state;
	uart_init(&a, &uart_ops, &irqs);
	uart_init(&b, &uart_ops, &irqs);
	uart_write(&a, 2, 1);	/* FIFO */
	uart_write(&a, 4, 0xb); /* MCR: its line is connected */
	uart_write(&a, 1, 1);	/* receive interrupt */
	assert_int_equal(uart_input(&a, "the quick brown fox jumps", 25), 25);
	assert_int_equal(uart_read(&a, 0), 't');
	uart_save(&a, &s);
	irqs = 0;
	assert_int_equal(uart_restore(&b, &s), 0);
	assert_int_equal(irqs, 0);
	uart_save(&b, &t);
	assert_memory_equal(&s, &t, sizeof(s));
	for (const char *p = "he quick brown fox jumps"; *p; p++)
		assert_int_equal(uart_read(&b, 0), *p);
	s.fifo_len = UART_FIFO + 1;
	assert_int_equal(uart_restore(&b, &s), -EINVAL);
	s.fifo_len = 0;
	s.backlog_len = UART_BACKLOG + 1;
	assert_int_equal(uart_restore(&b, &s), -EINVAL);
	uart_exit(&a);
	uart_exit(&b);
}

/* It was loaded as long ago as it was then, by whatever clock. */
static void test_timer(void **state)
{
	struct i8254_state s;
	struct i8254 a, b;

	(void)state;
	i8254_init(&a, 1);
	i8254_init(&b, 1);
	i8254_write(&a, 3, 0x34, 1000); /* counter 0, mode 2 */
	i8254_write(&a, 0, 0x10, 1000);
	i8254_write(&a, 0, 0x27, 1000); /* 10000 ticks */
	i8254_save(&a, &s, 3000000);
	assert_int_equal(i8254_restore(&b, &s, 1000000000), 0);
	assert_int_equal(i8254_next_rise(&a, 0, 3000000) - 3000000,
			 i8254_next_rise(&b, 0, 1000000000) - 1000000000);
	s.counter[0].mode = 6;
	assert_int_equal(i8254_restore(&b, &s, 0), -EINVAL);
	s.counter[0].mode = 2;
	s.counter[0].reload = 0;
	assert_int_equal(i8254_restore(&b, &s, 0), -EINVAL);
	s.counter[0].reload = 1;
	s.counter[1].stretch = 0;
	assert_int_equal(i8254_restore(&b, &s, 0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections), cmocka_unit_test(test_insane),
		cmocka_unit_test(test_file),	 cmocka_unit_test(test_uart),
		cmocka_unit_test(test_timer),
	};

	return cmocka_run_group_tests_name("the file of a snapshot", tests, NULL, NULL);
}
