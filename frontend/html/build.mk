# SPDX-License-Identifier: GPL-2.0-or-later
# The page of `hvtrace report --html`: modules of ours and of npm's, one file of them by frontend/html/build.mjs,
# and that in hvtrace. What npm fetches is pinned by package-lock.json. HTML=0 builds hvtrace without a page, as
# hosts do that have no npm.
HTML ?= $(if $(shell command -v npm),1,0)

html-sources := $(shell find frontend/html -name '*.js' -o -name '*.jsx' -o -name '*.mjs' -o -name '*.css' -o -name 'page.html')
html-parts   := $(addprefix $(O)/gen/frontend/html/page.,head tail licences)
html-modules := $(O)/html/node_modules/.package-lock.json

frontend-objs += frontend/html/page.o
frontend-objs += frontend/html/page-parts.o

.PHONY: html
html: export HTML := 1
html:
	@$(MAKE) --no-print-directory HTML=1 $(html-parts)

# Another HTML than that of the last time makes what depends on it anew.
$(O)/html/with-$(HTML):
	@mkdir -p $(@D) && rm -f $(@D)/with-* && touch $@

$(html-modules): frontend/html/package.json frontend/html/package-lock.json | $(O)/html/with-$(HTML)
	$(call say,NPM,$(@D))
	$(Q)cp $^ $(O)/html/ && cd $(O)/html && npm ci --silent --ignore-scripts --no-audit --no-fund --prefer-offline || \
		{ echo "hvtrace: npm could not fetch what the page is made of; HTML=0 builds hvtrace without it" >&2; exit 1; }
	@touch $@

ifeq ($(HTML),0)
$(html-parts): $(O)/html/with-$(HTML)
	@mkdir -p $(@D) && : >$@
else
$(word 1,$(html-parts)): $(html-sources) $(html-modules) $(O)/html/with-$(HTML)
	$(call say,HTML,$@)
	@mkdir -p $(@D)
	$(Q)NODE_PATH=$(abspath $(O)/html/node_modules) node frontend/html/build.mjs $(abspath $(O)/html/node_modules) $(html-parts)
$(wordlist 2,3,$(html-parts)): $(word 1,$(html-parts)) ;
endif

# Found there by the name that page-parts.S has for them. ccache does not see that they have changed.
html-objs := $(addprefix $(O)/obj/,frontend/html/page-parts.o fuzz/frontend/html/page-parts.o)
$(html-objs): $(html-parts)
$(html-objs): private CPPFLAGS += -Wa,-I$(O)/gen
$(html-objs): private export CCACHE_DISABLE := 1
