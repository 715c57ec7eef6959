unit-tests += tests/unit/test-guestsym-cache
unit-tests += tests/unit/test-guestsym-digest
unit-tests += tests/unit/test-guestsym-image
unit-tests += tests/unit/test-guestsym-kallsyms
unit-tests += tests/unit/test-guestsym-sites
unit-tests += tests/unit/test-guestsym-symtab
unit-tests += tests/unit/test-guestsym-types
