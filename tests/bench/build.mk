# Programs that measure and print: `make bench` runs them one after the other.
bench-programs += tests/bench/bench-ring

$(addprefix $(O)/,$(bench-programs)): $(O)/tests/%: $(O)/obj/tests/%.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
