# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-event-filter
unit-tests += tests/unit/test-event-trigger
unit-tests += tests/unit/test-event-hist
unit-tests += tests/unit/test-wakeup
unit-tests += tests/unit/test-event-select
unit-tests += tests/unit/test-fetch
unit-tests += tests/unit/test-probe-event-parse
