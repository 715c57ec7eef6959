# SPDX-License-Identifier: GPL-2.0-or-later
# Tests on a KVM that runs guest kernels on the processor, this host's or L1's: see tests/kvm/run. A row
# is PROGRAM[,ARGUMENT|,NAME=VALUE]...

# What make check runs, in some minutes.
kvm-core :=
kvm-core += tests/e2e/qemu-stub
kvm-core += tests/kvm/attach-soak,6.1,2,pti=on

# What make check-full runs besides: every program that attaches or runs,
kvm-full :=
kvm-full += tests/e2e/qemu-stub

# some with page tables of their own for user mode, as on Intel CPUs with Meltdown,
kvm-pti :=
kvm-pti += tests/e2e/qemu-stub

# and some on a host that shadows the guest's page tables.
kvm-shadow :=
kvm-shadow += tests/e2e/qemu-stub

full-tests  += tests/kvm/full
full-tests  += tests/kvm/pti
full-tests  += tests/kvm/shadow

.PHONY: check-lab kvm-core-names kvm-full-names kvm-pti-names kvm-shadow-names
kvm-core-names kvm-full-names kvm-pti-names kvm-shadow-names: kvm-%-names:
	@echo $(kvm-$*)

# Where there is a KVM to run them on, or nobody to make one, there is nothing to make.
check-lab: $(O)/tests/kvm/host-kvm
	@$(O)/tests/kvm/host-kvm >/dev/null || [ "$$(id -u)" != 0 ] || $(MAKE) --no-print-directory lab

check-built: $(O)/tests/kvm/host-kvm

$(O)/tests/kvm/host-kvm: $(O)/obj/tests/kvm/host-kvm.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
