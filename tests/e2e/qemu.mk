# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to guests of QEMU.

check-tests += tests/e2e/qemu-stub
check-tests += tests/e2e/qemu-libvirt
check-tests += tests/e2e/attach
check-tests += tests/e2e/attach-libvirt
check-tests += tests/e2e/window
check-tests += tests/e2e/run-qemu

qemu-programs := $(O)/tests/e2e/qemu-attach $(O)/tests/e2e/window-attach

$(qemu-programs): $(O)/tests/%: $(O)/obj/tests/%.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

check-built: $(qemu-programs)
