# Programs that measure and print: `make bench` runs them one after the other.
bench-programs += tests/bench/bench-ring
