// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-domain.c - whether a domain runs on when it is let go of, with a libvirt of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/qemu/libvirt/internal.h"
#include "vmm/qemu/libvirt/libvirt.h"

/* --- libvirt ---------------------------------------------------------------------------------- */

/* Handed around as the domain's pointer. */
struct fake_domain {
	int state, why;
	unsigned int resumed;
	bool stub; /* is there still */
};

static struct fake_domain *fake(virDomainPtr dom)
{
	return (struct fake_domain *)dom;
}

static int get_state(virDomainPtr dom, int *state, int *why, unsigned int flags)
{
	(void)flags;
	*state = fake(dom)->state;
	*why = fake(dom)->why;
	return 0;
}

static int resume(virDomainPtr dom)
{
	fake(dom)->resumed++;
	return 0;
}

static int monitor_command(virDomainPtr dom, const char *command, char **answer, unsigned int flags)
{
	(void)flags;
	assert_string_equal(command, "gdbserver none");
	fake(dom)->stub = false;
	*answer = strdup("Disabled gdbserver\r\n");
	return 0;
}

static int let_go(virDomainPtr dom)
{
	(void)dom;
	return 0;
}

int libvirt_load(char *err, size_t errlen)
{
	(void)err;
	(void)errlen;
	return 0;
}

const struct libvirt *libvirt(void)
{
	static const struct libvirt table = {
		.virDomainGetState = get_state,
		.virDomainResume = resume,
		.virDomainQemuMonitorCommand = monitor_command,
		.virDomainFree = let_go,
	};

	return &table;
}

/* --- tests ------------------------------------------------------------------------------------ */

static bool runs_on(int state, int why, bool was_running, bool foreign)
{
	struct fake_domain dom = {.state = state, .why = why, .stub = true};
	const struct errand_patience patience = {.ms = 0};
	struct qemu_domain *d = qemu_domain_new(NULL, "it", &patience);
	char err[512];

	assert_non_null(d);
	d->dom = (virDomainPtr)&dom;
	d->stub = true;
	d->was_running = was_running;
	if (foreign)
		qemu_domain_leave_paused(d);
	assert_int_equal(qemu_domain_close(d, err, sizeof(err)), 0);
	assert_false(dom.stub);
	return dom.resumed;
}

static void what_the_stub_has_stopped_runs_on(void **state)
{
	(void)state;
	assert_true(runs_on(VIR_DOMAIN_PAUSED, VIR_DOMAIN_PAUSED_UNKNOWN, true, false));
	assert_false(runs_on(VIR_DOMAIN_PAUSED, VIR_DOMAIN_PAUSED_UNKNOWN, false, false));
	assert_false(runs_on(VIR_DOMAIN_RUNNING, VIR_DOMAIN_RUNNING_UNPAUSED, true, false));
}

/* Whoever has stopped it would have it run without a disk, or in the middle of a migration. */
static void what_others_have_stopped_does_not(void **state)
{
	static const int theirs[] = {
		VIR_DOMAIN_PAUSED_USER, VIR_DOMAIN_PAUSED_MIGRATION, VIR_DOMAIN_PAUSED_SAVE,
		VIR_DOMAIN_PAUSED_DUMP, VIR_DOMAIN_PAUSED_IOERROR,   VIR_DOMAIN_PAUSED_WATCHDOG,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		assert_false(runs_on(VIR_DOMAIN_PAUSED, theirs[i], true, false));
	/* By QEMU's monitor, of which libvirt does not know whose doing it was. */
	assert_false(runs_on(VIR_DOMAIN_PAUSED, VIR_DOMAIN_PAUSED_UNKNOWN, true, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_stub_has_stopped_runs_on),
		cmocka_unit_test(what_others_have_stopped_does_not),
	};

	return cmocka_run_group_tests_name("domains", tests, NULL, NULL);
}
