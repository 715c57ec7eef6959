# Programs that measure and print: `make bench` runs them one after the other.
bench-programs += tests/bench/bench-ring
bench-programs += tests/bench/bench-exits

$(O)/tests/bench/bench-exits: LDLIBS += -lcmocka
$(O)/tests/bench/bench-exits: | $(O)/tests/guest/testguest.elf
