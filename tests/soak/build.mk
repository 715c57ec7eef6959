# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that take minutes, or need more than scripts/setup installs by default: make soak.

soak-tests += tests/soak/small-kernel
soak-tests += tests/e2e/run-attach,graph-soak,6.1
soak-tests += tests/e2e/vcpus,6.1,64,PLUG=0
soak-tests += tests/e2e/run-qemu,PARTS=many
soak-tests += tests/soak/plain-returns
soak-tests += tests/soak/latency-own
soak-tests += tests/soak/latency-own,D
soak-tests += tests/soak/branch-own
soak-tests += tests/soak/zoo-kernels,A
soak-tests += tests/soak/zoo-kernels,A2
soak-tests += tests/soak/zoo-kernels,A2,cfi=fineibt
soak-tests += tests/soak/zoo-kernels,B
soak-tests += tests/soak/zoo-kernels,C
soak-tests += tests/soak/trampoline-hammer
soak-tests += tests/soak/trampoline-kills
soak-tests += tests/soak/random-kills,6.1
soak-tests += tests/soak/random-kills,6.12
soak-tests += tests/soak/record-kills
soak-tests += tests/soak/serve
soak-tests += tests/e2e/ship,PARTS=kills,SHIP_RECORDS=100000000,SHIP_ROWS=1000000,SHIP_KILL_AFTER=5
soak-tests += tests/soak/early-boot
soak-tests += tests/soak/events-all
soak-tests += tests/soak/tracefs-crowd
soak-tests += tests/soak/module-loads
soak-tests += tests/soak/window-scribble
soak-tests += $(O)/tests/soak/staging-scribble

# What is as long as it is told to be, for a minute each, is part of make check-full.
full-tests += tests/soak/trampoline-hammer,SOAK_SECONDS=60
full-tests += tests/soak/events-all,SOAK_SECONDS=60
full-tests += tests/soak/random-kills,6.1,KILLS=25
full-tests += tests/soak/random-kills,6.12,KILLS=25
full-tests += tests/soak/record-kills,6.12,KILLS=8
full-tests += tests/soak/serve,SOAK_SECONDS=90,SOAK_GUESTS=4
full-tests += tests/e2e/run-attach,graph-soak,6.1,SOAK_SECONDS=60
full-tests += tests/soak/window-scribble,SOAK_SECONDS=60
full-tests += $(O)/tests/soak/staging-scribble,SOAK_SECONDS=60

# A made-up guest in one program with the real tracer, as in unit tests
$(O)/tests/soak/staging-scribble: $(O)/obj/tests/soak/staging-scribble.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

check-programs: $(O)/tests/soak/staging-scribble

.PHONY: soak-built
soak: guest
	@scripts/setup --small-kernel
	@$(MAKE) $(jobs) soak-built

soak-built: check-programs
	$(Q)TEST_SECONDS=36000 HVTRACE=$(O)/hvtrace O=$(O) tests/run $(soak-tests)
