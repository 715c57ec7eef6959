// SPDX-License-Identifier: GPL-2.0-or-later
/* test-device.c - registers, the thread, resets and standing still, with the entropy device. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/virtio-driver.h"
#include "vmm/kvm/virtio/rng.h"

#define OFFERED (VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC)

static int setup(void **state)
{
	struct driver *v = calloc(1, sizeof(*v));
	struct virtio_device *d = rng_new();

	assert_non_null(v);
	assert_non_null(d);
	assert_true(driver_init(v, d));
	*state = v;
	return 0;
}

static int teardown(void **state)
{
	driver_exit(*state);
	free(*state);
	return 0;
}

/* Ask for len random bytes at DATA. */
static void ask(struct driver *v, uint32_t len)
{
	set_desc(v, 0, 0, (struct test_desc){DATA, len, WRITE, 0});
	add_chain(v, 0, 0);
	kick(v, 0);
}

static void test_random_bytes(void **state)
{
	struct driver *v = *state;
	uint8_t before[64] = {0};
	uint32_t len;

	driver_begin(v, OFFERED);
	ask(v, 64);
	assert_int_equal(wait_used(v, 0, &len), 0);
	assert_int_equal(len, 64);
	assert_memory_not_equal(at(v, DATA), before, 64);
	assert_memory_equal((uint8_t *)at(v, DATA) + 64, before, 64);
	wait_fire(v, 1, 1);
	assert_int_equal(reg_get(v, 0x1000, 1), 1); /* and who asks is told, once */
	assert_int_equal(reg_get(v, 0x1000, 1), 0);
}

/* What was added before the driver was ready needs no kick. */
static void test_added_early(void **state)
{
	struct driver *v = *state;
	uint32_t len;

	driver_begin(v, VIRTIO_F_VERSION_1);
	ask(v, 8);
	wait_used(v, 0, NULL);
	virtio_hold(v->d);
	set_desc(v, 0, 0, (struct test_desc){DATA, 24, WRITE, 0});
	add_chain(v, 0, 0);
	virtio_kick(v->d, 0);
	virtio_release(v->d);
	wait_used(v, 0, &len);
	assert_int_equal(len, 24);
}

static void test_features(void **state)
{
	struct driver *v = *state;

	assert_true(offered(v) == OFFERED);
	reg_put(v, 0x00, 4, 2);
	assert_int_equal(reg_get(v, 0x04, 4), 0);
	reg_put(v, 0x14, 1, 3);
	accept_features(v, OFFERED | 1);
	reg_put(v, 0x14, 1, 11);
	assert_int_equal(reg_get(v, 0x14, 1), 3); /* it has no such feature */
	accept_features(v, VIRTIO_F_EVENT_IDX);
	reg_put(v, 0x14, 1, 11);
	assert_int_equal(reg_get(v, 0x14, 1), 3); /* old drivers are none for it */
	accept_features(v, OFFERED);
	reg_put(v, 0x14, 1, 11);
	assert_int_equal(reg_get(v, 0x14, 1), 11);
	accept_features(v, 0); /* too late */
	assert_int_equal(reg_get(v, 0x0c, 4), OFFERED >> 32);
	reg_put(v, 0x14, 1, 0);
	assert_int_equal(reg_get(v, 0x14, 1), 0);
	assert_int_equal(reg_get(v, 0x0c, 4), 0);
}

static void test_queue_registers(void **state)
{
	struct driver *v = *state;

	assert_int_equal(reg_get(v, 0x12, 2), 1);
	assert_int_equal(reg_get(v, 0x18, 2), VIRTQ_MAX);
	assert_int_equal(reg_get(v, 0x1a, 2), VIRTIO_NO_VECTOR);
	reg_put(v, 0x1a, 2, 1);
	assert_int_equal(reg_get(v, 0x1a, 2), 1);
	reg_put(v, 0x1a, 2, 2); /* there are two */
	assert_int_equal(reg_get(v, 0x1a, 2), VIRTIO_NO_VECTOR);
	reg_put(v, 0x10, 2, 7);
	assert_int_equal(reg_get(v, 0x10, 2), VIRTIO_NO_VECTOR);
	reg_put(v, 0x20, 4, 0x11111111);
	reg_put(v, 0x24, 4, 0x22222222);
	assert_true(reg_get(v, 0x20, 8) == 0x2222222211111111);
	assert_int_equal(reg_get(v, 0x24, 4), 0x22222222);
	assert_int_equal(reg_get(v, 0x22, 4), 0); /* no such field */
	reg_put(v, 0x16, 2, 1);			  /* no such queue */
	assert_int_equal(reg_get(v, 0x18, 2), 0);
	reg_put(v, 0x20, 4, 5);
	reg_put(v, 0x1c, 2, 1);
	assert_int_equal(reg_get(v, 0x1c, 2), 0);
	reg_put(v, 0x16, 2, 0);
	reg_put(v, 0x1c, 2, 1);
	reg_put(v, 0x20, 4, 0x33333333); /* enabled: it stays */
	assert_int_equal(reg_get(v, 0x20, 4), 0x11111111);
	assert_int_equal(reg_get(v, 0x1e, 2), 0);
}

static void test_device_that_is_reset_begins_anew(void **state)
{
	struct driver *v = *state;

	for (unsigned int i = 0; i < 20; i++) {
		driver_begin(v, OFFERED);
		ask(v, 16);
		if (i % 2)
			wait_used(v, 0, NULL);
	}
	reg_put(v, 0x14, 1, 0);
	while (reg_get(v, 0x14, 1))
		;
	assert_int_equal(reg_get(v, 0x1c, 2), 0);
}

static void test_broken_queue(void **state)
{
	struct driver *v = *state;

	driver_begin(v, OFFERED);
	reg_put(v, 0x10, 2, 0);
	set_desc(v, 0, 0, (struct test_desc){0, 1, WRITE, 0});
	add_chain(v, 0, 0);
	kick(v, 0);
	wait_status(v, 64);
	wait_fire(v, 0, 1);
	ask(v, 8); /* nothing is done any more */
	virtio_hold(v->d);
	virtio_release(v->d);
	assert_int_equal(used_index(v, 0), 0);
	driver_begin(v, OFFERED);
	ask(v, 8);
	wait_used(v, 0, NULL);
}

static void test_queue_that_is_nowhere(void **state)
{
	struct driver *v = *state;

	reg_put(v, 0x14, 1, 3);
	accept_features(v, OFFERED);
	reg_put(v, 0x14, 1, 11);
	reg_put(v, 0x1c, 2, 1);
	reg_put(v, 0x14, 1, 15);
	assert_int_equal(reg_get(v, 0x14, 1) & 64, 64);
	kick(v, 0);
	virtio_hold(v->d);
	virtio_release(v->d);
}

static void test_held_device_stands(void **state)
{
	struct driver *v = *state;

	driver_begin(v, OFFERED);
	virtio_hold(v->d);
	virtio_hold(v->d);
	ask(v, 8);
	virtio_release(v->d);
	for (unsigned int i = 0; i < 100; i++)
		sched_yield();
	assert_int_equal(used_index(v, 0), 0);
	virtio_release(v->d);
	wait_used(v, 0, NULL);
	virtio_hold(v->d); /* it may be freed so, too */
}

/* A reset that comes while the device stands still waits, and the vCPU does not. */
static void test_reset_of_a_held_device(void **state)
{
	struct driver *v = *state;

	driver_begin(v, OFFERED);
	virtio_hold(v->d);
	reg_put(v, 0x14, 1, 0);
	assert_int_not_equal(reg_get(v, 0x14, 1), 0);
	reg_put(v, 0x14, 1, 15); /* not heard */
	virtio_release(v->d);
	while (reg_get(v, 0x14, 1))
		sched_yield();
}

static void test_doorbells_are_where_the_bar_is(void **state)
{
	struct driver *v = *state;

	assert_int_equal(v->doorbells, 1);
	pci_config_write(&v->pci.function, 0x10, 4, 0xd8000000);
	assert_int_equal(v->doorbells, 1);
	pci_config_write(&v->pci.function, 4, 2, 0);
	assert_int_equal(v->doorbells, 0);
}

/* The structures that the driver looks for, 4.1.4. */
static void test_capabilities(void **state)
{
	struct driver *v = *state;
	struct pci_function *f = &v->pci.function;
	unsigned int seen = 0;

	for (unsigned int i = pci_config_read(f, 0x34, 1); i; i = pci_config_read(f, i + 1, 1)) {
		if (pci_config_read(f, i, 1) != 9)
			continue;
		seen |= 1u << pci_config_read(f, i + 3, 1);
		assert_int_equal(pci_config_read(f, i + 4, 1), 0);
		assert_true(pci_config_read(f, i + 8, 4) + pci_config_read(f, i + 12, 4) <= 0x6000);
		if (pci_config_read(f, i + 3, 1) == 2)
			assert_int_equal(pci_config_read(f, i + 16, 4), 4);
	}
	assert_int_equal(seen, 0x1e);
	assert_int_equal(pci_config_read(f, 2, 2), 0x1044);
}

/* A device goes on as another one, with the same memory. */
static void go_on_as(struct driver *v, struct driver *w)
{
	struct virtio_state state;
	struct pci_state pci;

	assert_true(driver_init(w, rng_new()));
	virtio_hold(v->d);
	virtio_save(v->d, &state);
	pci_save(&v->pci.function, &pci);
	memcpy(w->ram, v->ram, RAM_SIZE);
	virtio_release(v->d);
	memcpy(w->added, v->added, sizeof(w->added));
	memcpy(w->seen, v->seen, sizeof(w->seen));
	virtio_hold(w->d);
	assert_int_equal(pci_restore(&w->pci.function, &pci), 0);
	assert_int_equal(virtio_restore(w->d, &state), 0);
	virtio_remind(w->d);
	virtio_release(w->d);
}

static void test_saved_and_restored(void **state)
{
	struct driver *v = *state, w = {0};
	uint32_t len;

	driver_begin(v, OFFERED);
	ask(v, 64);
	wait_used(v, 0, NULL);
	wait_fire(v, 1, 1);
	set_desc(v, 0, 0, (struct test_desc){DATA, 40, WRITE, 0});
	virtio_hold(v->d);
	add_chain(v, 0, 0); /* nobody has kicked */
	virtio_release(v->d);
	go_on_as(v, &w);
	wait_fire(&w, 1, 1);
	assert_int_equal(wait_used(&w, 0, &len), 0);
	assert_int_equal(len, 40);
	ask(&w, 8);
	wait_used(&w, 0, &len);
	assert_int_equal(len, 8);
	assert_int_equal(reg_get(&w, 0x14, 1), reg_get(v, 0x14, 1));
	assert_int_equal(w.pci.function.at, v->pci.function.at);
	driver_exit(&w);
}

static void test_state_of_none(void **state)
{
	struct driver *v = *state;
	struct virtio_state sound, s;
	struct pci_state pci;

	driver_begin(v, OFFERED);
	virtio_hold(v->d);
	virtio_save(v->d, &sound);
	pci_save(&v->pci.function, &pci);
	s = sound;
	s.id = 2;
	assert_int_equal(virtio_restore(v->d, &s), -EINVAL);
	s = sound;
	s.driver_features |= 1;
	assert_int_equal(virtio_restore(v->d, &s), -EINVAL);
	s = sound;
	s.queue[0].used = RAM_START + RAM_SIZE;
	assert_int_equal(virtio_restore(v->d, &s), -EINVAL);
	s = sound;
	s.queue[0].size = 3;
	assert_int_equal(virtio_restore(v->d, &s), -EINVAL);
	assert_int_equal(virtio_restore(v->d, &sound), 0);
	pci.config[0] ^= 1;
	assert_int_equal(pci_restore(&v->pci.function, &pci), -EINVAL);
	virtio_release(v->d);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_random_bytes),
		TEST(test_added_early),
		TEST(test_features),
		TEST(test_queue_registers),
		TEST(test_device_that_is_reset_begins_anew),
		TEST(test_broken_queue),
		TEST(test_queue_that_is_nowhere),
		TEST(test_held_device_stands),
		TEST(test_reset_of_a_held_device),
		TEST(test_doorbells_are_where_the_bar_is),
		TEST(test_capabilities),
		TEST(test_saved_and_restored),
		TEST(test_state_of_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
