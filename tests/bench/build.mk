# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that measure and print. `make bench` runs them one after the other and holds their figures against
# tests/bench/gates.
bench-programs += tests/bench/bench-payload
bench-programs += tests/bench/bench-ring
bench-programs += tests/bench/bench-output
bench-programs += tests/bench/bench-exits
bench-programs += tests/bench/bench-hits
bench-programs += tests/bench/bench-mmio
bench-programs += tests/bench/bench-record
# Scripts that do so, with a whole guest.
bench-scripts  += tests/bench/bench-attach
bench-scripts  += tests/bench/bench-boot
bench-scripts  += tests/bench/bench-disk
bench-scripts  += tests/bench/bench-export
bench-scripts  += tests/bench/bench-files
bench-scripts  += tests/bench/bench-html
bench-scripts  += tests/bench/bench-mmio-qemu
bench-scripts  += tests/bench/bench-overhead
bench-scripts  += tests/bench/bench-record-guest
bench-scripts  += tests/bench/bench-restore
bench-scripts  += tests/bench/bench-ship
bench-scripts  += tests/bench/bench-standstill

bench-with-guest := $(addprefix $(O)/tests/bench/bench-,exits hits mmio)

$(bench-with-guest) $(O)/tests/bench/bench-payload: LDLIBS += -lcmocka
$(bench-with-guest): | $(O)/tests/guest/testguest.elf

# Runs inside the guest, so without libraries and without sanitizers.
$(O)/tests/bench/bench-calls: tests/workload/bench-calls.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARN) -static -s -o $@ $<

bench-built: $(O)/tests/e2e/ship-recording
bench-built: $(O)/tests/bench/bench-calls $(O)/tests/workload/read-register $(O)/tests/kvm/host-kvm

# What depends on the accelerator, under KVM: see tests/kvm/run. One program there, and its arguments.
bench-kvm := tests/bench/bench-exits tests/bench/bench-hits tests/bench/bench-mmio tests/bench/bench-overhead tests/bench/bench-attach tests/bench/bench-restore tests/bench/bench-standstill tests/bench/bench-disk
comma     := ,
space     := $(subst ,, )

.PHONY: bench-kvm
bench-kvm: guest
	@$(MAKE) $(jobs) all $(O)/tests/bench/bench-calls $(O)/tests/workload/workload $(O)/tests/kvm/host-kvm \
		$(bench-with-guest)
	@$(MAKE) $(jobs) check-lab
	@O=$(O) KVM_TEST_SECONDS=10800 tests/kvm/run -p tests/bench/run,BENCH_TIMEOUT=3600,$(subst $(space),$(comma),$(bench-kvm))
