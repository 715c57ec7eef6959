guestsym-objs :=
guestsym-objs += guestsym/apart/apart.o
guestsym-objs += guestsym/apart/confine.o
guestsym-objs += guestsym/apart/file.o
guestsym-objs += guestsym/apart/serve.o
guestsym-objs += guestsym/blob.o
guestsym-objs += guestsym/cache-dir.o
guestsym-objs += guestsym/cache-names.o
guestsym-objs += guestsym/cache-prune.o
guestsym-objs += guestsym/cache.o
guestsym-objs += guestsym/complain.o
guestsym-objs += guestsym/decode.o
guestsym-objs += guestsym/digest-load.o
guestsym-objs += guestsym/digest-sources.o
guestsym-objs += guestsym/digest.o
guestsym-objs += guestsym/elf.o
guestsym-objs += guestsym/events-eval.o
guestsym-objs += guestsym/events-image.o
guestsym-objs += guestsym/events-live.o
guestsym-objs += guestsym/events-syscalls.o
guestsym-objs += guestsym/events.o
guestsym-objs += guestsym/fentry.o
guestsym-objs += guestsym/guestsym.o
guestsym-objs += guestsym/hash.o
guestsym-objs += guestsym/identity.o
guestsym-objs += guestsym/image.o
guestsym-objs += guestsym/irq.o
guestsym-objs += guestsym/jobs.o
guestsym-objs += guestsym/kallsyms.o
guestsym-objs += guestsym/kernel.o
guestsym-objs += guestsym/live.o
guestsym-objs += guestsym/memory.o
guestsym-objs += guestsym/modules-copy.o
guestsym-objs += guestsym/modules-digest.o
guestsym-objs += guestsym/modules-pack.o
guestsym-objs += guestsym/modules.o
guestsym-objs += guestsym/open.o
guestsym-objs += guestsym/own-dir.o
guestsym-objs += guestsym/pages.o
guestsym-objs += guestsym/parsers.o
guestsym-objs += guestsym/preempt.o
guestsym-objs += guestsym/regular.o
guestsym-objs += guestsym/sites.o
guestsym-objs += guestsym/symbols.o
guestsym-objs += guestsym/symtab.o
guestsym-objs += guestsym/tables.o
guestsym-objs += guestsym/types-flatten.o
guestsym-objs += guestsym/types.o
guestsym-objs += guestsym/unpack.o
guestsym-objs += guestsym/variables.o

# A digest says by which sources it was made (guestsym/digest.h).
guestsym-sources := $(sort $(wildcard guestsym/*.[ch] guestsym/apart/*.[ch]))
$(O)/gen/guestsym/digest-sources.c: $(guestsym-sources) guestsym/build.mk
	$(call say,HASH,$@)
	@mkdir -p $(@D)
	$(Q)hash=$$(cat $(guestsym-sources) | sha256sum | cut -c 1-16) && printf '%s\n' '#include "guestsym/digest.h"' \
		"const char digest_sources[] = \"$$hash\";" >$@
