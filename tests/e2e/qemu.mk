# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to guests of QEMU.

check-tests += tests/e2e/qemu-stub
check-tests += tests/e2e/qemu-libvirt
check-tests += tests/e2e/trace-stub
check-tests += tests/e2e/trace-libvirt
check-tests += tests/e2e/trace-vcpus
check-tests += tests/e2e/attach
check-tests += tests/e2e/attach-libvirt
check-tests += tests/e2e/run-qemu
check-tests += tests/e2e/window

qemu-programs := $(addprefix $(O)/tests/e2e/,qemu-attach qemu-trace window-attach)

$(qemu-programs): $(O)/tests/%: $(O)/obj/tests/%.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

$(O)/tests/e2e/qemu-attach $(O)/tests/e2e/qemu-trace: $(O)/obj/tests/e2e/running-guest.o

check-built: $(qemu-programs)
