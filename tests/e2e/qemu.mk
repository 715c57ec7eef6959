# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to guests of QEMU.

check-tests += tests/e2e/qemu-stub
check-tests += tests/e2e/qemu-libvirt
check-tests += tests/e2e/attach
check-tests += tests/e2e/attach-libvirt

$(O)/tests/e2e/qemu-attach: $(O)/obj/tests/e2e/qemu-attach.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

check-built: $(O)/tests/e2e/qemu-attach
