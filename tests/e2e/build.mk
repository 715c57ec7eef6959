# SPDX-License-Identifier: GPL-2.0-or-later
# Tests with whole guests. The longest first, here and in qemu.mk.

check-tests += tests/e2e/guestsym-vs-kernel
check-tests += tests/e2e/run-testguest
check-tests += tests/e2e/irqsoff-testguest
check-tests += tests/e2e/graph-testguest
check-tests += tests/e2e/image-read,debian-12:qcow2
check-tests += tests/e2e/snapshot-testguest
check-tests += tests/e2e/reboot-testguest
check-tests += tests/e2e/list-events
check-tests += tests/e2e/ordinary-user
check-tests += tests/e2e/host-events
check-tests += tests/e2e/run-forms
check-tests += tests/e2e/command-line
check-tests += tests/e2e/completion
check-tests += tests/e2e/metrics
check-tests += tests/e2e/attach-forms
check-tests += tests/e2e/ship

full-tests  += tests/e2e/early-boot
full-tests  += tests/e2e/guestsym-memory
full-tests  += tests/e2e/image-read
full-tests  += tests/e2e/package
full-tests  += tests/e2e/guest-image
full-tests  += tests/e2e/run-image
full-tests  += tests/e2e/image-io

# Runs inside guests, so without libraries and without sanitizers.
$(O)/tests/e2e/debugcon: tests/e2e/debugcon.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARN) -static -o $@ $<

# Loaded into one that is installed, or built in whatever way.
$(O)/tests/e2e/late-boot.so: tests/e2e/late-boot.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARN) -fPIC -shared -o $@ $<

$(O)/tests/e2e/list-kernel: $(O)/obj/tests/e2e/list-kernel.o $(O)/obj/tracer/events/filter/format.o \
		$(O)/obj/tracer/lib/text.o $(O)/libguestsym.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

$(O)/tests/e2e/exec-overlay $(O)/tests/e2e/image-read $(O)/tests/e2e/metrics-serve: $(O)/tests/%: $(O)/obj/tests/%.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# Writes what is shipped.
$(O)/tests/e2e/ship-recording: $(O)/obj/tests/e2e/ship-recording.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

check-programs: $(O)/tests/e2e/ship-recording
check-programs: $(O)/tests/e2e/image-read $(O)/tests/e2e/late-boot.so $(O)/tests/e2e/metrics-serve
check-programs: $(O)/tests/e2e/debugcon $(O)/tests/e2e/exec-overlay $(O)/tests/e2e/list-kernel $(O)/tests/guest/testguest.elf

include tests/e2e/qemu.mk
