# SPDX-License-Identifier: GPL-2.0-or-later
# Tests on a KVM that runs guest kernels on the processor, this host's or L1's: see tests/kvm/run. A row
# is PROGRAM[,ARGUMENT|,NAME=VALUE]...

# What make check runs, in some minutes.
kvm-core :=
kvm-core += tests/e2e/run-attach,qemu,6.1
kvm-core += tests/kvm/attach-soak,6.1,2,pti=on,CYCLES=1,KILLS=1
kvm-core += tests/kvm/host-events
kvm-core += tests/kvm/own-disks,PARTS=raw
kvm-core += tests/kvm/own-int3,CALLS=100
kvm-core += tests/kvm/run-own,core
kvm-core += tests/kvm/snapshot,PARTS=kernel+trampolines+disks
kvm-core += tests/unit/vmm/test-vmm-follow

# What make check-full runs besides: two lists at a time, in an L1 each, which takes three quarters of an hour.
#
# How KVM stops, patches and resumes a guest. Programs that start a guest by its gdb stub themselves have page
# table isolation on, the others off.
kvm-machines :=
kvm-machines += tests/e2e/attach
kvm-machines += tests/e2e/attach-libvirt
kvm-machines += tests/e2e/run-attach,qemu-libvirt,6.12
kvm-machines += tests/e2e/run-attach,trace-libvirt,6.12,CYCLES=5,KILLS=2
kvm-machines += tests/e2e/run-attach,vcpus,6.1,8
kvm-machines += tests/e2e/run-attach,qemu,6.1,GUEST_APPEND=pti=off
kvm-machines += tests/e2e/run-qemu,PARTS=boots+workload+graph
kvm-machines += tests/e2e/interrupts,6.1,50,400
kvm-machines += tests/e2e/ordinary-user
kvm-machines += tests/e2e/check-host
kvm-machines += tests/e2e/run-testguest
kvm-machines += tests/e2e/graph-testguest
kvm-machines += tests/e2e/snapshot-testguest
kvm-machines += tests/e2e/irqsoff-testguest
kvm-machines += tests/kvm/host-events,6.12
kvm-machines += tests/kvm/own-disks,6.1
kvm-machines += tests/kvm/snapshot,6.12,PARTS=traps+graph+events
kvm-machines += tests/kvm/stamps,6.12
kvm-machines += tests/kvm/run-net
kvm-machines += tests/kvm/own-devices
kvm-machines += tests/kvm/run-own,6.12,VCPUS=2
kvm-machines += tests/kvm/run-own,6.1,VCPUS=64,KINDS=many
kvm-machines += tests/e2e/run-image,MACHINE=kvm,PARTS=events+executed+interrupted
kvm-machines += tests/e2e/image-io,MACHINE=kvm
kvm-machines += tests/e2e/reboot,MACHINE=kvm,SERIES=6.12,PARTS=calls+panics
kvm-machines += tests/e2e/reboot-testguest
kvm-machines += tests/e2e/exec,MACHINE=kvm,SERIES=6.12,PARTS=graph+statuses+output

# Each tracer, on one of the kernels. These vCPUs run at the same time (tests/kvm/list): code is patched under
# them.
kvm-tracers :=
kvm-tracers += tests/e2e/trampoline,PARTS=first+patching,KILLS=2
kvm-tracers += tests/kvm/attach-soak,6.12,4,pti=on,CYCLES=5,KILLS=3
kvm-tracers += tests/e2e/tracer-switches,6.12,events
kvm-tracers += tests/e2e/killed-tracers,6.1
kvm-tracers += tests/e2e/run-attach,window,6.12
kvm-tracers += tests/e2e/run-attach,unwind,6.1
kvm-tracers += tests/e2e/run-attach,graph,6.12
kvm-tracers += tests/e2e/run-attach,events,6.1
kvm-tracers += tests/e2e/events-traps,6.12
kvm-tracers += tests/e2e/run-attach,irqsoff,6.1
kvm-tracers += tests/e2e/irqsoff-trace,6.12
kvm-tracers += tests/e2e/preemptoff,6.12
kvm-tracers += tests/e2e/latency
kvm-tracers += tests/e2e/record,6.12,PARTS=tracers
kvm-tracers += tests/e2e/run-attach,hwlat,6.12
kvm-tracers += tests/e2e/run-attach,profile,6.1
kvm-tracers += tests/e2e/run-attach,sched,6.12
kvm-tracers += tests/e2e/kprobe-events

# Guests with page tables of their own for user mode, as on Intel CPUs with Meltdown: those that are
# without above.
kvm-pti :=
kvm-pti += tests/e2e/run-attach,trace-libvirt,6.12,CYCLES=5,KILLS=2
kvm-pti += tests/e2e/trampoline,PARTS=first,KILLS=2
kvm-pti += tests/e2e/run-attach,unwind,6.12
kvm-pti += tests/e2e/events-traps,6.12
kvm-pti += tests/kvm/attach-soak,6.12,4,CYCLES=5,KILLS=3

# A host that shadows the guest's page tables.
kvm-shadow :=
kvm-shadow += tests/e2e/run-attach,qemu,6.1
kvm-shadow += tests/e2e/trampoline,PARTS=first,KILLS=2
kvm-shadow += tests/e2e/run-attach,window,6.12
kvm-shadow += tests/e2e/run-testguest
kvm-shadow += tests/kvm/attach-soak,6.12,2,pti=on,CYCLES=5,KILLS=3

# Everything else that attaches or runs, at its full length: make check-kvm-rest, which takes hours.
kvm-rest :=
kvm-rest += tests/e2e/run-attach,trace,6.1
kvm-rest += tests/e2e/run-attach,trace-libvirt,6.12
kvm-rest += tests/e2e/run-attach,trace,6.1,GUEST_APPEND=pti=off
kvm-rest += tests/e2e/run-attach,vcpus,6.1,1
kvm-rest += tests/e2e/run-qemu
kvm-rest += tests/e2e/trampoline
kvm-rest += tests/e2e/tracer-switches
kvm-rest += tests/e2e/killed-tracers,6.12
kvm-rest += tests/soak/random-kills,6.1,KILLS=25
kvm-rest += tests/soak/random-kills,6.12,KILLS=25
kvm-rest += tests/e2e/run-attach,window,6.1
kvm-rest += tests/e2e/run-attach,unwind,6.12
kvm-rest += tests/e2e/run-attach,graph,6.1
kvm-rest += tests/e2e/graph-own
kvm-rest += tests/e2e/run-attach,events,6.12
kvm-rest += tests/e2e/events-own
kvm-rest += tests/e2e/events-traps,6.1
kvm-rest += tests/e2e/run-attach,irqsoff,6.12
kvm-rest += tests/e2e/irqsoff-trace,6.1
kvm-rest += tests/e2e/preemptoff,6.1
kvm-rest += tests/e2e/latency-graph,6.1
kvm-rest += tests/e2e/latency-graph,6.12
kvm-rest += tests/e2e/run-attach,hwlat,6.1
kvm-rest += tests/e2e/run-attach,profile,6.12
kvm-rest += tests/e2e/run-attach,sched,6.1
kvm-rest += tests/e2e/run-attach,guest-prints,6.1
kvm-rest += tests/e2e/run-attach,guest-prints,6.12
kvm-rest += tests/e2e/kprobe-names
kvm-rest += tests/e2e/uprobe-events,6.12
kvm-rest += tests/e2e/module-events,6.1
kvm-rest += tests/e2e/module-events,6.12
kvm-rest += tests/e2e/list-events
kvm-rest += tests/e2e/options
kvm-rest += tests/e2e/clocks
kvm-rest += tests/e2e/reports
kvm-rest += tests/e2e/record,6.1,PARTS=tracers+forms+latencies+instances+killed
kvm-rest += tests/e2e/record,6.12,4,PARTS=tracers+latencies
kvm-rest += tests/e2e/seed-snippets
kvm-rest += tests/e2e/tracefs-clients
kvm-rest += tests/e2e/tracefs-conformance
kvm-rest += tests/e2e/tracefs-crowd
kvm-rest += tests/e2e/tracefs-dynamic
kvm-rest += tests/e2e/tracefs-events
kvm-rest += tests/e2e/tracefs-large
kvm-rest += tests/e2e/tracefs-synthetic
kvm-rest += tests/e2e/tracefs-triggers
kvm-rest += tests/e2e/early-boot
kvm-rest += tests/kvm/own-disks,6.12
kvm-rest += tests/e2e/run-image,MACHINE=kvm,PARTS=functions+graph
kvm-rest += tests/kvm/own-int3
kvm-rest += tests/kvm/stamps,6.1
kvm-rest += tests/kvm/attach-soak,6.1,1
kvm-rest += tests/kvm/attach-soak,6.1,4
kvm-rest += tests/kvm/attach-soak,6.12,2
kvm-rest += tests/kvm/run-own,6.1
kvm-rest += tests/kvm/run-own,6.12

# A host whose KVM may lose int3 of the guest's.
kvm-nonrips := tests/kvm/own-int3,refused

# What make coverage runs there: without it what only a KVM that does not interpret can try would look as if
# nothing tested it.
kvm-coverage :=
kvm-coverage += tests/e2e/check-host
kvm-coverage += tests/kvm/run-own,core

full-kvm-tests := $(addprefix tests/kvm/,machines tracers pti shadow nonrips)

kvm-names := $(patsubst %,kvm-%-names,core coverage machines tracers rest pti shadow nonrips)
.PHONY: check-lab check-kvm-rest $(kvm-names)
$(kvm-names): kvm-%-names:
	@echo $(kvm-$*)

check-kvm-rest: guest
	@$(MAKE) $(jobs) check-programs check-lab
	$(Q)TEST_SECONDS=36000 HVTRACE=$(O)/hvtrace O=$(O) tests/run tests/kvm/rest

# Where there is a KVM to run them on, or nobody to make one, there is nothing to make.
check-lab: $(O)/tests/kvm/host-kvm
	@$(O)/tests/kvm/host-kvm >/dev/null || [ "$$(id -u)" != 0 ] || $(MAKE) --no-print-directory lab

check-programs: $(O)/tests/kvm/host-kvm $(O)/tests/kvm/own-stamps

$(O)/tests/kvm/host-kvm: $(O)/obj/tests/kvm/host-kvm.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

$(O)/tests/kvm/own-stamps: $(O)/obj/tests/kvm/own-stamps.o
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^
