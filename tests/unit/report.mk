# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-report
unit-tests += tests/unit/test-report-forms
unit-tests += tests/unit/test-report-text
unit-tests += tests/unit/test-latency-report
