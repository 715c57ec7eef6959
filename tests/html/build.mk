# SPDX-License-Identifier: GPL-2.0-or-later
# The pages that hvtrace makes, in a browser.
check-tests += tests/html/page
check-tests += tests/html/flame
check-tests += tests/html/speedscope

html-test-programs := $(O)/tests/html/make-dat

$(html-test-programs): $(O)/tests/%: $(O)/obj/tests/%.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

check-programs bench-built: $(html-test-programs)
