# Tests speak TAP. tests/run starts each program, shows what failed and adds the counts up.
#
# tests/unit/ROOM/test-NAME.c  is a cmocka program; ROOM is the folder whose code it tests.
# tests/*/build.mk      adds whatever else a kind of test needs: check-tests += PROGRAM,
#                       full-tests += PROGRAM, soak-tests += PROGRAM, bench-scripts += PROGRAM,
#                       bench-programs += tests/bench/NAME (from its .c)

unit-tests     := $(basename $(sort $(shell find tests/unit -name 'test-*.c')))
check-tests    :=
bench-programs :=
bench-scripts  :=
full-tests     := tests/sanitizers/tsan
coverage-tests :=
soak-tests     :=

include $(wildcard tests/*/build.mk)

unit-programs := $(addprefix $(O)/,$(unit-tests))

# They take longer to compile than to run.
$(O)/obj/tests/unit/%.o: ALL_CFLAGS += -O0 -U_FORTIFY_SOURCE

# They read back what was written in these.
$(addprefix $(O)/obj/,$(filter tests/unit/frontend/export/%,$(unit-tests:=.o))): | $(export-messages:.c=.h)

# They start it.
guest-tests := known-windows vmm vmm-devices vmm-memory vmm-mmio vmm-pause vmm-snapshot vmm-traps
$(addprefix $(O)/tests/unit/vmm/test-,$(guest-tests)): | $(O)/tests/guest/testguest.elf

# There are many, and the usual linker takes most of the time that they need.
$(unit-programs): private LDFLAGS += $(if $(shell command -v mold),-fuse-ld=mold)
$(unit-programs): $(O)/tests/%: $(O)/obj/tests/%.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

# These see how often names are compared and types looked at.
count-steps := -Wl,--wrap=strcmp,--wrap=btf__type_by_id
$(addprefix $(O)/tests/unit/guestsym/test-guestsym-types-,flat hostile): private LDLIBS += $(count-steps)

# This one says itself what the scheduler did, and counts what is kept of it.
wakeup-wraps := -Wl,--wrap=sched_records_init,--wrap=sched_records_read,--wrap=instance_keep_max
$(O)/tests/unit/tracer/tracers/test-wakeup-pass: private LDLIBS += $(wakeup-wraps)

# This one counts how often an image is flushed.
$(O)/tests/unit/vmm/kvm/virtio/test-blk: private LDLIBS += -Wl,--wrap=fdatasync

# This one says itself what was asked of block devices, and which there are.
blk-wraps := -Wl,--wrap=disks_read,--wrap=blk_records_init,--wrap=blk_records_exit
blk-wraps += -Wl,--wrap=blk_records_forget,--wrap=blk_records_read
$(O)/tests/unit/tracer/tracers/test-blk: private LDLIBS += $(blk-wraps)

# This one has time go by.
$(O)/tests/unit/frontend/metrics/test-metrics-serve: private LDLIBS += -Wl,--wrap=clock_gettime

# This one does what the kernel does when an instance of its tracefs is made, and removed.
host-wraps := -Wl,--wrap=mkdirat,--wrap=unlinkat
$(O)/tests/unit/frontend/host/test-host: private LDLIBS += $(host-wraps)

bench-built-programs := $(addprefix $(O)/,$(bench-programs))

$(bench-built-programs): $(O)/tests/%: $(O)/obj/tests/%.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: bench-built
bench-built: all $(bench-built-programs)
	$(Q)HVTRACE=$(O)/hvtrace O=$(O) tests/bench/run $(bench-built-programs) $(bench-scripts)

.PHONY: unit unit-programs unit-names
unit-programs: $(unit-programs)
unit-names:
	@echo $(unit-tests)
unit: $(unit-programs)
	$(Q)O=$(O) tests/run $^

# Two more at a time than there are CPUs: guests often wait, and tests for them.
check-jobs := $(shell expr $$(nproc) + 2)

# What the rows start, and what those that install would otherwise make at the same time.
.PHONY: check-programs coverage-names
check-programs: all docs $(unit-programs)

# What make coverage runs: the rows of make check, and those of make check-full without which whole commands
# would look as if nothing tested them.
coverage-names:
	@echo $(check-tests) $(coverage-tests)

# Guests of a run have kernels that are where no other run's are.
check-built: check-programs
	$(Q)rm -rf $(O)/guest-state
	$(Q)HVTRACE=$(O)/hvtrace O=$(O) tests/run -j$(check-jobs) $(unit-programs) \
		tests/kvm/core tests/sanitizers/asan $(check-tests)

# Started anew there, with another O.
coverage: guest
	@scripts/setup --coverage
	@$(MAKE) $(jobs) check-lab
	@O=$(O) tests/coverage

# Behind each other, so that an L1 is not kept waiting by everything else, and nothing runs beside what is
# measured; what fails first hides nothing.
check-full-built: check-programs
	$(Q)status=0; $(MAKE) --no-print-directory check-built || status=1; \
	export TEST_SECONDS=36000 HVTRACE=$(O)/hvtrace O=$(O); \
	tests/run -j$(check-jobs) $(full-tests) || status=1; \
	tests/run -j2 $(full-kvm-tests) || status=1; \
	$(MAKE) --no-print-directory lint || status=1; \
	$(MAKE) --no-print-directory bench-built || status=1; \
	exit $$status
