# Programs that measure and print: `make bench` runs them one after the other.
bench-programs += tests/bench/bench-ring
bench-programs += tests/bench/bench-exits
bench-programs += tests/bench/bench-hits

bench-with-guest := $(O)/tests/bench/bench-exits $(O)/tests/bench/bench-hits

$(bench-with-guest): LDLIBS += -lcmocka
$(bench-with-guest): | $(O)/tests/guest/testguest.elf
