# SPDX-License-Identifier: GPL-2.0-or-later
# The grammar of TOML, as npm's package has it for libtree-sitter, pinned by package-lock.json. TOML=0 builds hvtrace
# without it, as hosts do that have no npm: `hvtrace serve` reads no configuration then, and says so.
TOML ?= $(if $(shell command -v npm),1,0)

frontend-objs += frontend/config/toml/grammar.o
frontend-objs += frontend/config/toml/memory.o
frontend-objs += frontend/config/toml/mistakes.o
frontend-objs += frontend/config/toml/numbers.o
frontend-objs += frontend/config/toml/statements.o
frontend-objs += frontend/config/toml/strings.o
frontend-objs += frontend/config/toml/tables.o
frontend-objs += frontend/config/toml/toml.o
frontend-objs += frontend/config/toml/tree-library.o
frontend-objs += frontend/config/toml/values.o

toml-package := $(O)/toml/node_modules/@tree-sitter-grammars/tree-sitter-toml
toml-modules := $(O)/toml/node_modules/.package-lock.json
toml-gen     := $(O)/gen/frontend/config/toml/npm
toml-sources := $(addprefix $(toml-gen)/,parser.c scanner.c)
toml-licence := $(toml-gen)/LICENSE

# Another TOML than that of the last time makes what depends on it anew.
$(O)/toml/with-$(TOML):
	@mkdir -p $(@D) && rm -f $(@D)/with-* && touch $@

toml-grammar := $(addprefix $(O)/obj/,frontend/config/toml/grammar.o fuzz/frontend/config/toml/grammar.o)
$(toml-grammar): $(O)/toml/with-$(TOML)

ifneq ($(TOML),0)
frontend-objs += frontend/config/toml/npm/parser.o
frontend-objs += frontend/config/toml/npm/scanner.o
$(toml-grammar): private CPPFLAGS += -DHVTRACE_TOML

$(toml-modules): frontend/config/toml/package.json frontend/config/toml/package-lock.json | $(O)/toml/with-$(TOML)
	$(call say,NPM,$(@D))
	$(Q)cp $^ $(O)/toml/ && cd $(O)/toml && npm ci --silent --ignore-scripts --no-audit --no-fund --prefer-offline || \
		{ echo "hvtrace: npm could not fetch the grammar of TOML; TOML=0 builds hvtrace without it" >&2; exit 1; }
	@touch $@

# They find their headers beside themselves.
$(word 1,$(toml-sources)): $(toml-modules)
	@mkdir -p $(toml-gen)/tree_sitter
	$(Q)cp $(toml-package)/src/tree_sitter/*.h $(toml-gen)/tree_sitter/
	$(Q)cp $(toml-package)/src/*.c $(toml-package)/LICENSE $(toml-gen)/
$(word 2,$(toml-sources)) $(toml-licence): $(word 1,$(toml-sources)) ;

# Their warnings are not ours to mend.
$(toml-sources:$(O)/gen/%.c=$(O)/obj/%.o): private ALL_CFLAGS += -w
$(toml-sources:$(O)/gen/%.c=$(O)/obj/fuzz/%.o): private FUZZ_FLAGS += -w
endif
