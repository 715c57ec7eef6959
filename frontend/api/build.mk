# libhvtrace, and what is installed of it. What its header declares has versions, all else is hidden. It stays where
# it is once it is loaded, for its threads' sake. A sanitizer's functions are the program's.
LIBHVTRACE_ABI := 0
libhvtrace     := $(O)/libhvtrace.so.$(VERSION)
PYTHONDIR      ?= $(PREFIX)/lib/python3/dist-packages

all: $(O)/libhvtrace.so

$(libhvtrace): $(call objs,$(api-objs)) $(LIBS) frontend/api/libhvtrace.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libhvtrace.so.$(LIBHVTRACE_ABI) \
		-Wl,--version-script,frontend/api/libhvtrace.map -Wl,-z,nodelete -Wl,--as-needed \
		$(if $(SAN),,-Wl,-z,defs) $(filter-out -pie,$(HARDEN_LINK)) $(LDFLAGS) \
		-o $@ $(filter-out %.map,$^) $(LDLIBS)

$(O)/libhvtrace.so: $(libhvtrace)
	$(Q)ln -sf $(<F) $(@D)/libhvtrace.so.$(LIBHVTRACE_ABI) && ln -sf libhvtrace.so.$(LIBHVTRACE_ABI) $@

.PHONY: install-library install-python

install: install-library

install-library: all
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(libhvtrace) $(DESTDIR)$(LIBDIR)
	ln -sf $(notdir $(libhvtrace)) $(DESTDIR)$(LIBDIR)/libhvtrace.so.$(LIBHVTRACE_ABI)
	ln -sf libhvtrace.so.$(LIBHVTRACE_ABI) $(DESTDIR)$(LIBDIR)/libhvtrace.so
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' frontend/api/libhvtrace.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/libhvtrace.pc
	install -D -m 644 frontend/api/hvtrace.h $(DESTDIR)$(PREFIX)/include/hvtrace.h
	install -D -m 644 docs/man/libhvtrace.3 $(DESTDIR)$(MANDIR)/man3/libhvtrace.3

# The binding is for any Python: nothing of it is compiled.
install-python:
	install -d $(DESTDIR)$(PYTHONDIR)/hvtrace
	install -m 644 frontend/api/python/hvtrace/*.py $(DESTDIR)$(PYTHONDIR)/hvtrace
