# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-hwlat
unit-tests += tests/unit/test-tracefs
unit-tests += tests/unit/test-tracefs-events
unit-tests += tests/unit/test-tracefs-files
unit-tests += tests/unit/test-tracefs-mount
unit-tests += tests/unit/test-tracefs-profile
