# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-error-log
unit-tests += tests/unit/test-func-commands
unit-tests += tests/unit/test-func-filter
unit-tests += tests/unit/test-funcs
unit-tests += tests/unit/test-glob
unit-tests += tests/unit/test-graph-filter
unit-tests += tests/unit/test-pid-filter
