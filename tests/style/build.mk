# SPDX-License-Identifier: GPL-2.0-or-later
# Checks of the sources themselves.

check-tests += scripts/check-deps-direction
check-tests += scripts/check-docs
check-tests += tests/style/bench-gates
check-tests += tests/style/hardening
check-tests += tests/style/test-run
check-tests += tests/style/thread-kinds

# clang-tidy reads what is made, too.
lint: $(export-messages:.c=.h)
	@scripts/setup --lint
	@scripts/lint
