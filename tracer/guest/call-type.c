// SPDX-License-Identifier: GPL-2.0-or-later
/* call-type.c - see call-type.h */
#include "tracer/guest/call-type.h"

#include <string.h>

#define HASH_MOV 0xb8 /* mov $HASH,%eax, which is never executed */
#define MOV_SIZE 5
#define INT3	 0xcc

/* Functions of these types that the kernel itself calls by address: the first that it has. */
static const char *const models[CALL_TYPES][3] = {
	[CALL_TYPE_WORK] = {"poweroff_work_func"},
	[CALL_TYPE_KPROBE] = {"kprobe_dispatcher", "aggr_pre_handler", "pre_handler_kretprobe"},
	[CALL_TYPE_KRETPROBE] = {"kretprobe_dispatcher"},
	[CALL_TYPE_UPROBE] = {"uprobe_dispatcher"},
	[CALL_TYPE_URETPROBE] = {"uretprobe_dispatcher"},
};

/* Until 6.0 functions were called through tables of jumps, with no hash in front of them. */
static bool checks_by_tables(const struct guestsym *gs)
{
	return guestsym_addr(gs, "__cfi_slowpath_diag") || guestsym_addr(gs, "__cfi_slowpath");
}

bool call_types_are_checked(const struct guestsym *gs)
{
	return guestsym_addr(gs, "report_cfi_failure") || checks_by_tables(gs);
}

/*
 * The hash is in the first five bytes where calls have padding (CONFIG_CALL_PADDING), else in the
 * last ones. The rest is padding, or code that only direct calls come to.
 */
static bool take_hash(const uint8_t there[CALL_TYPE_SIZE], uint8_t bytes[CALL_TYPE_SIZE])
{
	static const unsigned int at[] = {0, CALL_TYPE_SIZE - MOV_SIZE};
	bool some = false;

	for (unsigned int i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (there[at[i]] != HASH_MOV)
			continue;
		memcpy(bytes + at[i], there + at[i], MOV_SIZE);
		some = true;
	}
	return some;
}

/*
 * endbr64; sub $HASH,%r10d; then a short jump on equal, or on the contrary, which stays in there or
 * leads to the function itself. It works anywhere; what calls something before does not.
 */
static bool take_preamble(const uint8_t there[CALL_TYPE_SIZE], uint8_t bytes[CALL_TYPE_SIZE])
{
	static const uint8_t head[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x81, 0xea};
	const uint8_t *jump = there + sizeof(head) + sizeof(uint32_t);

	if (memcmp(there, head, sizeof(head)) || (jump[0] != 0x74 && jump[0] != 0x75))
		return false;
	memcpy(bytes, there, CALL_TYPE_SIZE);
	return true;
}

bool call_type_read(const struct guestsym *gs, struct guest_kernel *g, enum call_type type,
		    uint8_t bytes[CALL_TYPE_SIZE])
{
	uint8_t there[CALL_TYPE_SIZE];
	uint64_t model = 0;

	memset(bytes, INT3, CALL_TYPE_SIZE);
	if (!call_types_are_checked(gs))
		return true;
	for (unsigned int i = 0; i < 3 && models[type][i] && !model; i++)
		model = guestsym_addr(gs, models[type][i]);
	return model && !checks_by_tables(gs) &&
	       !guest_read(g, model + g->slide - CALL_TYPE_SIZE, there, sizeof(there)) &&
	       (take_preamble(there, bytes) || take_hash(there, bytes));
}
