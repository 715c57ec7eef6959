# SPDX-License-Identifier: GPL-2.0-or-later
# hvtrace: `make` builds build/hvtrace; `make help` lists the rest.
#
#   V=1       show commands          O=DIR     build somewhere else (default: build)
#   ASAN=1    AddressSanitizer+UBSan TSAN=1    ThreadSanitizer
#   COVERAGE=1  for gcov
#   WERROR=0  warnings stay warnings CC=clang  another compiler
#   HTML=0    without the page of hvtrace report --html (the default where there is no npm)
#   TOML=0    without what reads the configuration of hvtrace serve (the same)

VERSION := 0.1.0
O       ?= build
# What has been compiled before is not compiled again, by whichever clone; by the compiler's own lists of headers,
# so that the first time takes no longer. gcov wants to be where it was.
export CCACHE_DEPEND := 1
ifeq ($(origin CC),default)
CC      := $(if $(COVERAGE),,$(if $(shell command -v ccache),ccache ))gcc
endif
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
MANDIR  ?= $(PREFIX)/share/man
UNITDIR ?= $(PREFIX)/lib/systemd/system

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n' $(1) $(2)
endif

PKGS     := libelf libbpf capstone fuse3 libseccomp libtraceevent zlib liblzma liblz4 libzstd libprotobuf-c
# Of these only the headers are needed: they are loaded by what needs them, an export to CTF for one.
LOADED   := libvirt libvirt-qemu babeltrace2 libnbd libcurl libmicrohttpd libsystemd tree-sitter json-c
PKG_OK   := $(shell pkg-config --exists $(PKGS) $(LOADED) 2>/dev/null && echo yes)
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lbz2

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wundef -Wvla -Wwrite-strings -Wformat=2 -Wcast-qual -Wredundant-decls \
	-Wnested-externs -Winit-self -Wimplicit-fallthrough
ifneq ($(WERROR),0)
WARN += -Werror
endif

OPT ?= -O2 -g -fdebug-prefix-map=$(CURDIR)=.
ifeq ($(ASAN),1)
SAN := -DHVTRACE_LOCK_ORDER -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifeq ($(TSAN),1)
SAN := -DHVTRACE_LOCK_ORDER -fsanitize=thread
endif
ifeq ($(COVERAGE),1)
SAN := -DHVTRACE_COVERAGE --coverage -fprofile-update=atomic
endif

# What makes a mistake of ours harder to use. Sanitizers look at the same calls themselves, and without optimizing
# the compiler does not know the sizes.
compiles = $(shell $(CC) -Werror $(1) -O2 -include stdio.h -x c -c -o /dev/null /dev/null 2>/dev/null && echo '$(1)')
HARDEN := -fstack-protector-strong $(call compiles,-fcf-protection) -U_FORTIFY_SOURCE
ifeq ($(SAN)$(filter -O0,$(OPT) $(CFLAGS)),)
HARDEN += $(or $(call compiles,-D_FORTIFY_SOURCE=3),-D_FORTIFY_SOURCE=2)
endif
# For the program and for libhvtrace alike: what is hidden costs a program nothing.
PIC := -fPIC -fvisibility=hidden
HARDEN_LINK := -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack

CFLAGS   ?=
CPPFLAGS += -I. -I$(O)/gen -D_GNU_SOURCE -DHVTRACE_VERSION='"$(VERSION)"' $(PKG_CFLAGS)
ALL_CFLAGS := -std=c11 $(OPT) $(PIC) $(HARDEN) $(WARN) $(SAN) -pthread -MD -MP $(CFLAGS)
ALL_LDFLAGS = $(HARDEN_LINK) $(LDFLAGS)
LDLIBS   := $(PKG_LIBS) -lm -pthread

all: $(O)/hvtrace

# Each folder lists its objects, one per line, in its build.mk.
include vmm/build.mk
include guestsym/build.mk
include tracer/build.mk
include frontend/build.mk

objs = $(addprefix $(O)/obj/,$(1))

$(O)/libvmm.a: $(call objs,$(vmm-objs))
$(O)/libguestsym.a: $(call objs,$(guestsym-objs))
$(O)/libtracer.a: $(call objs,$(tracer-objs))
$(O)/libfrontend.a: $(call objs,$(frontend-objs))

# In link order: a library stands before those that it uses.
LIBS := $(O)/libfrontend.a $(O)/libtracer.a $(O)/libvmm.a $(O)/libguestsym.a

include frontend/api/build.mk
include tests/build.mk

# What libtraceevent's plugins look for in the program, by its name (frontend/decode/guests.c).
FOR_PLUGINS := -Wl,--export-dynamic-symbol=tep_plugin_kvm_get_func

$(O)/hvtrace: $(O)/obj/frontend/cmd/main.o $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(FOR_PLUGINS) -o $@ $^ $(LDLIBS)

$(O)/%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) qcs $@ $^

# What was compiled in another way is compiled anew.
.PHONY: FORCE
flags := $(CC) $(CPPFLAGS) $(ALL_CFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(@D)
	$(Q)printf '%s\n' '$(subst ','\'',$(flags))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(flags))' >$@

$(O)/obj/%.o: %.c $(O)/flags | need-libs
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(O)/obj/%.o: $(O)/gen/%.c $(O)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(O)/obj/%.o: %.S $(O)/flags | need-libs
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# What the program says itself about its commands and their options.
pages  := $(addprefix $(O)/man/,$(notdir $(wildcard docs/man/*.[157])))
shells := $(addprefix $(O)/completion/,hvtrace _hvtrace hvtrace.fish)

docs: $(pages) $(shells)

$(O)/man/%: docs/man/% scripts/fill-page $(O)/hvtrace
	$(call say,PAGE,$@)
	@mkdir -p $(@D)
	$(Q)scripts/fill-page $(O)/hvtrace $< >$@.new && mv $@.new $@

# bash looks for a file that is called as the program.
$(O)/completion/hvtrace: frontend/shells/hvtrace.bash
$(O)/completion/_hvtrace: frontend/shells/_hvtrace
$(O)/completion/hvtrace.fish: frontend/shells/hvtrace.fish
$(shells): scripts/fill-page $(O)/hvtrace
	$(call say,SHELL,$@)
	@mkdir -p $(@D)
	$(Q)scripts/fill-page $(O)/hvtrace $(filter frontend/%,$^) >$@.new && mv $@.new $@

.PHONY: all docs need-libs setup guest lab check check-full check-built coverage demo bench fuzz soak lint install clean help

need-libs:
ifneq ($(PKG_OK),yes)
	@echo "hvtrace: libraries are missing; run scripts/setup (as root), which installs them" >&2; exit 1
endif

setup:
	@scripts/setup

guest: setup
	@scripts/get-guest

lab:
	@scripts/setup --lab
	@tests/kvm/lab

# Started anew behind the set-up, which installs the libraries that are looked for at the top.
jobs = --no-print-directory $(if $(findstring j,$(firstword -$(MAKEFLAGS))),,-j$(shell nproc))

demo: guest
	@$(MAKE) $(jobs) all
	@scripts/demo $(O)/hvtrace

check check-full: guest
	@$(MAKE) $(jobs) all
	@$(MAKE) $(jobs) check-lab
	@$(MAKE) $(jobs) $@-built

bench: guest
	@$(MAKE) $(jobs) bench-built

install: all docs
	install -D -m 755 $(O)/hvtrace $(DESTDIR)$(PREFIX)/bin/hvtrace
	for page in $(pages); do \
		install -D -m 644 -t $(DESTDIR)$(MANDIR)/man$${page##*.} $$page || exit; \
	done
	install -D -m 644 $(O)/gen/frontend/html/page.licences $(DESTDIR)$(PREFIX)/share/doc/hvtrace/page.licences
	[ $(TOML) = 0 ] || install -D -m 644 $(toml-licence) $(DESTDIR)$(PREFIX)/share/doc/hvtrace/tree-sitter-toml.licence
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/hvtrace $(wildcard docs/*.md docs/*.svg) scripts/systemd/serve.toml
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/hvtrace/prometheus $(wildcard scripts/prometheus/*.yml)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/hvtrace/grafana scripts/grafana/hvtrace.json
	install -D -m 644 -t $(DESTDIR)$(UNITDIR) scripts/systemd/hvtrace.service
	sed -i 's|/usr/bin/|$(PREFIX)/bin/|' $(DESTDIR)$(UNITDIR)/hvtrace.service
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(O)/completion/hvtrace
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(O)/completion/_hvtrace
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d $(O)/completion/hvtrace.fish

.PHONY: deb
deb:
	@scripts/setup --package
	@scripts/make-deb $(O)/deb

clean:
	rm -rf $(O)

#-
#- all             build hvtrace and nothing else (the default)
#- html            the page of hvtrace report --html alone, which `all` has in it
#- docs            its manual pages, in build/man, and what shells complete, in build/completion
#- demo            trace a Debian kernel: as it boots, and in a running QEMU
#- check           build and run the tests: 10 minutes on two CPUs
#- check-full      what takes longer as well: an hour and a quarter
#- check-kvm-rest  all else that attaches, or runs under KVM: hours
#- coverage        which lines of each folder the tests run
#- lab             a KVM host in an emulated machine, for hosts without KVM
#- bench           what tracing costs, against tests/bench/gates
#- bench-kvm       what attaching and tracing cost under KVM
#- fuzz            feed parsers with made-up input; FUZZ_SECONDS=N for each
#- soak            tests that run for hours
#- lint            layout and static analysis of all files
#- install         hvtrace, its manual and what shells complete, to PREFIX (default: /usr/local)
#- install-python  the Python package hvtrace
#- deb             Debian packages of all of it, in build/deb
#- clean           remove what was built
help:
	@sed -n 's/^#   /  /p' Makefile
	@sed -n 's/^#- /  /p' Makefile

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
