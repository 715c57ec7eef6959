# Tests speak TAP. tests/run starts each program, shows what failed and adds the counts up.
#
# tests/unit/NAME.mk    adds cmocka programs:  unit-tests += tests/unit/test-NAME  (from its .c)
# tests/*/build.mk      adds whatever else a kind of test needs: check-tests += PROGRAM

unit-tests  :=
check-tests :=

include $(wildcard tests/unit/*.mk tests/*/build.mk)

unit-programs := $(addprefix $(O)/,$(unit-tests))

$(unit-programs): $(O)/tests/%: $(O)/obj/tests/%.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

.PHONY: unit unit-programs
unit-programs: $(unit-programs)
unit: $(unit-programs)
	$(Q)O=$(O) tests/run $^

check-built: all $(unit-programs)
	$(Q)HVTRACE=$(O)/hvtrace O=$(O) tests/run $(unit-programs) $(check-tests) tests/sanitizers
