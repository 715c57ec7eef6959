// SPDX-License-Identifier: GPL-2.0-or-later
/* host-tsc.c - see host-tsc.h */
#include "frontend/session/host-tsc.h"
#include "frontend/host/host.h"

#include <string.h>

static uint64_t host_khz(struct machine *m, const struct machine_info *info)
{
	struct machine_tsc tsc;

	if (machine_get_tsc_line(m, 0, &tsc))
		return info->tsc_khz;
	return (uint64_t)(((unsigned __int128)info->tsc_khz << tsc.frac_bits) / tsc.ratio);
}

bool host_tsc_find(const struct session *s, struct record_shift *shift)
{
	unsigned int room = trace_vcpus(s->trace);
	struct machine_info info;

	machine_get_info(s->m, &info);
	if (!host_ticks(&shift->ticks))
		shift->ticks = record_ticks(host_khz(s->m, &info));
	for (unsigned int i = 0; i < room; i++) {
		/* One that is plugged in later is like the first, as KVM makes it. */
		unsigned int vcpu = i < info.vcpus ? i : 0;

		if (!machine_get_tsc_line(s->m, vcpu, &shift->vcpu[i]))
			continue;
		fprintf(stderr,
			"hvtrace: how the guest's TSC follows the host's is not known (%s): their "
			"times cannot be compared\n",
			info.accel && !strcmp(info.accel, "tcg")
				? "an emulated one stands when the guest does"
				: "debugfs of the host tells root");
		return false;
	}
	return true;
}
