/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.h - the file of a snapshot: a guest's RAM, and sections with all else.
 *
 *   0              struct state_header, to the end of the page
 *   STATE_RAM_AT   RAM, as it is mapped again: pages of zeros are holes
 *   behind that    other memory, as the sections tell, in whole pages as well
 *   behind that    sections, each a struct state_section_head and its data, padded to 8 bytes
 *
 * Numbers are little-endian, as on all hosts that there are for it. The header comes last when it
 * is written: a file that was not completed has none.
 */
#ifndef HVTRACE_VMM_KVM_STATE_STATE_H
#define HVTRACE_VMM_KVM_STATE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATE_MAGIC	  "hvtrsnap"
#define STATE_VERSION	  2
#define STATE_RAM_AT	  4096
#define STATE_LEN_MAX	  (UINT64_C(64) << 20)
#define STATE_SECTION_MAX 8192

enum state_type {
	STATE_MACHINE = 1, /* struct save_machine */
	/* Text, without its end. */
	STATE_CMDLINE,
	STATE_KERNEL_PATH,
	STATE_KERNEL_ID,
	STATE_WINDOW, /* struct save_window: memory behind RAM, in this order, and */
	/* Of disk `index`; behind windows what has been written to each, as long as it is. */
	STATE_DISK,	 /* struct save_disk */
	STATE_DISK_PATH, /* text, of its image */
	STATE_DISK_MAP,	 /* u64: a bit for each 4 KiB of it that has been written to; or none */
	/* Of vCPU `index`, as KVM has them (Linux Documentation/virt/kvm/api.rst). */
	STATE_CPUID,
	STATE_REGS,
	STATE_SREGS,
	STATE_XSAVE,
	STATE_XCRS,
	STATE_DEBUGREGS,
	STATE_MSRS, /* struct kvm_msr_entry, as many as there are */
	STATE_MP,
	STATE_EVENTS,
	STATE_LAPIC,
	STATE_TSC, /* u64: all of one moment */
	/* Of the machine, KVM's. */
	STATE_IRQCHIP, /* three of them */
	STATE_PIT,
	/* Ours. */
	STATE_OWN_PIT,
	STATE_UART,
	STATE_RTC,
	STATE_ACPI,
	STATE_SYSCALL_FIX,
	STATE_PCI, /* u32: CONFIG_ADDRESS */
	/* Of device `index`, by its slot. */
	STATE_PCI_FUNCTION, /* struct pci_state */
	STATE_VIRTIO,	    /* struct virtio_state */
	STATE_TYPES
};

struct state_header {
	char magic[8];
	uint32_t version, size; /* size: of this struct */
	uint64_t memory;	/* bytes of it and of what is behind it, whole pages */
	uint64_t sections;	/* bytes of these */
	uint64_t sum;		/* state_sum() of the sections */
	uint64_t header_sum;	/* and of all before this word */
};

struct state_section_head {
	uint32_t type, index;
	uint64_t len; /* of the data, without padding */
};

/* Against accidents, not against people: FNV-1a of 64 bits. */
uint64_t state_sum(const void *data, size_t len);

/* --- writing ------------------------------------------------------------------------------- */

/* Zero-initialise; state_sections_free(). */
struct state_sections {
	uint8_t *data;
	size_t len, room;
	bool failed; /* no memory; state_write_end() says so */
};

void state_put(struct state_sections *s, enum state_type type, uint32_t index, const void *data,
	       size_t len);
void state_sections_free(struct state_sections *s);

/* Where a file goes. */
struct state_sink {
	/* Bytes at a place of it; what is left out reads as zeros. 0 or -errno */
	int (*put)(void *arg, const void *data, size_t len, uint64_t at);
	void *arg;
};

/* The put() of one to a file that is open; arg is an int *. */
int state_put_file(void *arg, const void *data, size_t len, uint64_t at);

/* Whole pages, which come to lie at this place: a multiple of theirs. 0 or -errno. */
int state_write_memory(const struct state_sink *to, const uint8_t *host, uint64_t size,
		       uint64_t at);
/* Last: so many bytes of memory are there. Without it a file is none. 0 or -errno. */
int state_write_end(const struct state_sink *to, uint64_t memory, const struct state_sections *s);

/* --- reading ------------------------------------------------------------------------------- */

/* One that has been read; state_close(). */
struct state_file {
	int fd;
	uint64_t memory; /* bytes, from STATE_RAM_AT on */
	uint8_t *data;	 /* sections that make sense as such */
	size_t len;
};

/* 0, or -errno with why in err, which does not name the file. */
int state_open(struct state_file *f, const char *path, char *err, size_t errlen);
void state_close(struct state_file *f);
/* Sections in memory, that may be anything: whether they are well-formed, each one once. */
bool state_sections_are_sane(const uint8_t *data, size_t len);

/* The data of a section, aligned to 8 bytes, and its length; NULL: there is none. */
const void *state_get(const struct state_file *f, enum state_type type, uint32_t index,
		      size_t *len);
/* NULL, too, when it has another length. */
const void *state_get_sized(const struct state_file *f, enum state_type type, uint32_t index,
			    size_t len);

#endif
