# SPDX-License-Identifier: GPL-2.0-or-later
# Tests on a KVM that runs guest kernels on the processor, this host's or L1's: see tests/kvm/run. A row
# is PROGRAM[,ARGUMENT|,NAME=VALUE]...

# What make check runs, in some minutes.
kvm-core :=
kvm-core += tests/e2e/run-attach,qemu,6.1
kvm-core += tests/kvm/attach-soak,6.1,2,pti=on,CYCLES=1,KILLS=1
kvm-core += tests/kvm/own-int3,CALLS=100
kvm-core += tests/kvm/run-own,core

# What make check-full runs besides: every program that attaches or runs, on both kernels where it takes
# one. Those that start a guest by its gdb stub themselves have page table isolation on, the others off.
kvm-full :=
kvm-full += tests/e2e/attach
kvm-full += tests/e2e/attach-libvirt
kvm-full += tests/e2e/run-attach,qemu-libvirt,6.12
kvm-full += tests/e2e/run-attach,trace-libvirt,6.12
kvm-full += tests/e2e/run-attach,trace,6.1
kvm-full += tests/e2e/run-attach,vcpus,6.1,1
kvm-full += tests/e2e/run-attach,vcpus,6.1,8
kvm-full += tests/e2e/run-attach,qemu,6.1,GUEST_APPEND=pti=off
kvm-full += tests/e2e/run-attach,trace,6.1,GUEST_APPEND=pti=off
kvm-full += tests/e2e/run-qemu
kvm-full += tests/e2e/trampoline
kvm-full += tests/e2e/tracer-switches
kvm-full += tests/e2e/killed-tracers
kvm-full += tests/e2e/check-host
kvm-full += tests/e2e/run-attach,window,6.1
kvm-full += tests/e2e/run-attach,window,6.12
kvm-full += tests/e2e/run-attach,unwind,6.1
kvm-full += tests/e2e/run-attach,unwind,6.12
kvm-full += tests/e2e/run-attach,graph,6.1
kvm-full += tests/e2e/run-attach,graph,6.12
kvm-full += tests/e2e/graph-own
kvm-full += tests/e2e/run-attach,events,6.1
kvm-full += tests/e2e/run-attach,events,6.12
kvm-full += tests/e2e/events-own
kvm-full += tests/e2e/events-traps,6.1
kvm-full += tests/e2e/events-traps,6.12
kvm-full += tests/e2e/run-attach,irqsoff,6.1
kvm-full += tests/e2e/run-attach,irqsoff,6.12
kvm-full += tests/e2e/irqsoff-trace,6.1
kvm-full += tests/e2e/irqsoff-trace,6.12
kvm-full += tests/e2e/preemptoff,6.1
kvm-full += tests/e2e/preemptoff,6.12
kvm-full += tests/e2e/latency
kvm-full += tests/e2e/latency-graph,6.1
kvm-full += tests/e2e/latency-graph,6.12
kvm-full += tests/e2e/run-attach,hwlat,6.1
kvm-full += tests/e2e/run-attach,hwlat,6.12
kvm-full += tests/e2e/run-attach,profile,6.1
kvm-full += tests/e2e/run-attach,profile,6.12
kvm-full += tests/e2e/run-attach,sched,6.1
kvm-full += tests/e2e/run-attach,sched,6.12
kvm-full += tests/e2e/run-attach,guest-prints,6.1
kvm-full += tests/e2e/run-attach,guest-prints,6.12
kvm-full += tests/e2e/kprobe-events
kvm-full += tests/e2e/kprobe-names
kvm-full += tests/e2e/module-events,6.1
kvm-full += tests/e2e/module-events,6.12
kvm-full += tests/e2e/list-events
kvm-full += tests/e2e/options
kvm-full += tests/e2e/clocks
kvm-full += tests/e2e/reports
kvm-full += tests/e2e/seed-snippets
kvm-full += tests/e2e/tracefs-clients
kvm-full += tests/e2e/tracefs-conformance
kvm-full += tests/e2e/tracefs-crowd
kvm-full += tests/e2e/tracefs-dynamic
kvm-full += tests/e2e/tracefs-events
kvm-full += tests/e2e/tracefs-large
kvm-full += tests/e2e/tracefs-synthetic
kvm-full += tests/e2e/tracefs-triggers
kvm-full += tests/e2e/run-testguest
kvm-full += tests/e2e/graph-testguest
kvm-full += tests/e2e/irqsoff-testguest
kvm-full += tests/e2e/early-boot
kvm-full += tests/kvm/own-int3
kvm-full += tests/kvm/stamps,6.1
kvm-full += tests/kvm/stamps,6.12
kvm-full += tests/kvm/attach-soak,6.1,1
kvm-full += tests/kvm/attach-soak,6.1,4
kvm-full += tests/kvm/attach-soak,6.12,2
kvm-full += tests/kvm/attach-soak,6.12,4,pti=on
kvm-full += tests/kvm/run-own,6.1
kvm-full += tests/kvm/run-own,6.12

# Guests with page tables of their own for user mode, as on Intel CPUs with Meltdown: those that are
# without above.
kvm-pti :=
kvm-pti += tests/e2e/attach-libvirt
kvm-pti += tests/e2e/run-attach,qemu-libvirt,6.12
kvm-pti += tests/e2e/run-attach,trace-libvirt,6.12
kvm-pti += tests/e2e/trampoline
kvm-pti += tests/e2e/tracer-switches
kvm-pti += tests/e2e/run-attach,unwind,6.1
kvm-pti += tests/e2e/run-attach,unwind,6.12
kvm-pti += tests/e2e/events-traps,6.12
kvm-pti += tests/e2e/irqsoff-trace,6.12
kvm-pti += tests/kvm/attach-soak,6.1,1
kvm-pti += tests/kvm/attach-soak,6.12,4

# A host that shadows the guest's page tables.
kvm-shadow :=
kvm-shadow += tests/e2e/run-attach,qemu,6.1
kvm-shadow += tests/e2e/attach
kvm-shadow += tests/e2e/run-attach,trace-libvirt,6.12
kvm-shadow += tests/e2e/trampoline
kvm-shadow += tests/e2e/run-attach,window,6.1
kvm-shadow += tests/e2e/run-attach,window,6.12
kvm-shadow += tests/e2e/run-testguest
kvm-shadow += tests/e2e/early-boot
kvm-shadow += tests/kvm/attach-soak,6.1,2
kvm-shadow += tests/kvm/attach-soak,6.12,2,pti=on

# A host whose KVM may lose int3 of the guest's.
kvm-nonrips := tests/kvm/own-int3,refused

full-tests  += tests/kvm/full
full-tests  += tests/kvm/pti
full-tests  += tests/kvm/shadow
full-tests  += tests/kvm/nonrips

kvm-names := $(patsubst %,kvm-%-names,core full pti shadow nonrips)
.PHONY: check-lab $(kvm-names)
$(kvm-names): kvm-%-names:
	@echo $(kvm-$*)

# Where there is a KVM to run them on, or nobody to make one, there is nothing to make.
check-lab: $(O)/tests/kvm/host-kvm
	@$(O)/tests/kvm/host-kvm >/dev/null || [ "$$(id -u)" != 0 ] || $(MAKE) --no-print-directory lab

check-programs: $(O)/tests/kvm/host-kvm $(O)/tests/kvm/own-stamps

$(O)/tests/kvm/host-kvm: $(O)/obj/tests/kvm/host-kvm.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(O)/tests/kvm/own-stamps: $(O)/obj/tests/kvm/own-stamps.o
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^
