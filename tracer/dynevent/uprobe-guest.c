// SPDX-License-Identifier: GPL-2.0-or-later
/* uprobe-guest.c - see uprobe-guest.h */
#include "tracer/dynevent/uprobe-guest.h"
#include "tracer/instance/files.h"
#include "tracer/output/output.h"
#include "tracer/probe/probe.h"
#include "tracer/probe/trampoline/trampoline.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOKUP_FOLLOW = 1 }; /* include/linux/namei.h, 6.1 and 6.12 */

#define NOT_MADE UINT64_MAX

/* Offsets in the kernel's structs. */
struct layout {
	uint32_t handler, ret_handler; /* struct uprobe_consumer */
	uint32_t dentry, dentry_inode, inode_mode;
	uint32_t dentry_op, op_real;
};

static const char *const functions[] = {"kern_path", "path_put", "memset"};

/* --- what this kernel has --------------------------------------------------------------------- */

/*
 * From 6.12 on uprobe_register() gives a struct uprobe, which two functions unregister one after
 * the other (include/linux/uprobes.h). Before that there is a number for an error, and a file and
 * an offset are unregistered.
 */
static bool gives_uprobe(const struct trace *t)
{
	return trace_runtime(t, "uprobe_unregister_nosync") &&
	       trace_runtime(t, "uprobe_unregister_sync");
}

static uint64_t register_function(const struct trace *t)
{
	return trace_runtime(t, gives_uprobe(t) ? "uprobe_register" : "uprobe_register_refctr");
}

static bool learn_member(const struct guestsym *gs, const char *path, uint32_t size, uint32_t *at)
{
	struct guestsym_field f;

	if (guestsym_field(gs, path, &f) || f.size != size)
		return false;
	*at = f.offset;
	return true;
}

static bool layout_learn(struct layout *at, const struct guestsym *gs)
{
	uint32_t consumer, path;

	return !guestsym_type_size(gs, "uprobe_consumer", &consumer) &&
	       consumer <= PROBE_ROW_UPROBE_PATH && !guestsym_type_size(gs, "path", &path) &&
	       path <= PROBE_ROW_UPROBE_INODE - PROBE_ROW_UPROBE_PATH &&
	       learn_member(gs, "uprobe_consumer.handler", 8, &at->handler) &&
	       learn_member(gs, "uprobe_consumer.ret_handler", 8, &at->ret_handler) &&
	       learn_member(gs, "path.dentry", 8, &at->dentry) &&
	       learn_member(gs, "dentry.d_inode", 8, &at->dentry_inode) &&
	       learn_member(gs, "inode.i_mode", 2, &at->inode_mode) &&
	       learn_member(gs, "dentry.d_op", 8, &at->dentry_op) &&
	       learn_member(gs, "dentry_operations.d_real", 8, &at->op_real);
}

const char *guest_uprobes_why_not(const struct trace *t)
{
	struct layout at;

	if (!register_function(t) || (!gives_uprobe(t) && !trace_runtime(t, "uprobe_unregister")))
		return "the guest's kernel has no uprobes (CONFIG_UPROBES)";
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!trace_runtime(t, functions[i]))
			return "this kernel does not tell how its files are looked up";
	if (!layout_learn(&at, t->gs))
		return "this kernel does not tell what its uprobes look like (BTF)";
	return NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

static uint64_t member(const struct probe_row *r, uint32_t offset)
{
	return probe_row_get(r, offset, sizeof(uint64_t));
}

/* What the kernel is to register, once its file has been found. */
static void row_fill(const struct guest_probes *g, const struct layout *at,
		     const struct guest_uprobe_place *place, struct probe_row *r)
{
	const struct payload_text *text = trampoline_text(g->t);
	uint64_t code = trampoline_window(g->t)->header.va + WINDOW_TEXT;
	bool traps = trace_has_traps(g->t);
	uint64_t entry = code + (traps ? text->uprobe_stop : text->uprobe),
		 called = code + text->uprobe_called,
		 ret = code + (traps ? text->uretprobe_stop : text->uretprobe);
	uint32_t kind = place->is_return ? PROBE_ROW_URETPROBE : PROBE_ROW_UPROBE;

	probe_row_put(r, PROBE_ROW_KIND, &kind, sizeof(kind));
	probe_row_put(r, at->handler, place->is_return ? &called : &entry, sizeof(entry));
	if (place->is_return)
		probe_row_put(r, at->ret_handler, &ret, sizeof(ret));
	probe_row_put(r, PROBE_ROW_UPROBE_OFFSET, &place->offset, sizeof(place->offset));
	probe_row_put(r, PROBE_ROW_UPROBE_REF, &place->ref, sizeof(place->ref));
}

static void row_begin(struct probe_row *r)
{
	const uint32_t kind = PROBE_ROW_UPROBE;
	const uint64_t made = NOT_MADE;

	*r = (struct probe_row){0};
	probe_row_put(r, PROBE_ROW_KIND, &kind, sizeof(kind));
	probe_row_put(r, PROBE_ROW_UPROBE_MADE, &made, sizeof(made));
}

/* The guest's kernel holds nothing for it. */
static void row_take_back(struct guest_probes *g, unsigned int row)
{
	static const struct probe_row none;

	probe_row_write(trampoline_window(g->t), row, &none);
	probe_row_set(g, row, PROBE_ROW_FREE);
}

static bool is_made(const struct trace *t, uint64_t made)
{
	if (gives_uprobe(t))
		return made && made < PROBE_ERR_MIN;
	return !(uint32_t)made;
}

/* --- the file --------------------------------------------------------------------------------- */

/*
 * What processes map may be another file than the one that the path names, of which that one is a
 * cover (overlayfs): its file system tells which, as d_real_inode() asks it.
 */
static int dentry_real(struct guest_probes *g, const struct layout *at, uint64_t *dentry)
{
	struct guest_kernel *k = &g->t->guest;
	struct borrow_call call = {.arg = {*dentry}};
	struct output_symbol sym = {0};
	uint64_t op;
	int ret;

	if (guest_read(k, *dentry + at->dentry_op, &op, sizeof(op)))
		return -EFAULT;
	if (!op)
		return 0;
	if (guest_read(k, op + at->op_real, &call.fn, sizeof(call.fn)))
		return -EFAULT;
	if (!call.fn)
		return 0;
	if (!trace_find_symbol(g->t, call.fn, &sym) || sym.off)
		return -EOPNOTSUPP; /* no function that anybody knows */
	ret = guest_probes_ask(g, &call, 1);
	if (ret)
		return ret;
	*dentry = call.ret;
	return call.ret && call.ret < PROBE_ERR_MIN ? 0 : -EINVAL;
}

/* The file is held, so that it stays what it is. */
static int inode_find(struct guest_probes *g, const struct layout *at, unsigned int row,
		      uint64_t *inode, const char **why)
{
	struct guest_kernel *k = &g->t->guest;
	struct probe_row r;
	uint64_t dentry;
	uint16_t mode;
	int ret = probe_row_read(trampoline_window(g->t), row, &r);

	if (ret)
		return ret;
	dentry = member(&r, PROBE_ROW_UPROBE_PATH + at->dentry);
	if (guest_read(k, dentry + at->dentry_inode, inode, sizeof(*inode)) ||
	    guest_read(k, *inode + at->inode_mode, &mode, sizeof(mode)))
		return -EFAULT;
	if (!S_ISREG(mode)) {
		*why = "Not a regular file";
		return -EINVAL;
	}
	ret = dentry_real(g, at, &dentry);
	if (!ret && guest_read(k, dentry + at->dentry_inode, inode, sizeof(*inode)))
		ret = -EFAULT;
	return ret;
}

static int path_find(struct guest_probes *g, unsigned int row, const char *path, const char **why)
{
	struct window *w = trampoline_window(g->t);
	struct borrow_call call = {
		.fn = trace_runtime(g->t, "kern_path"),
		.arg = {w->header.va + WINDOW_PATH, LOOKUP_FOLLOW,
			probe_row_va(w, row) + PROBE_ROW_UPROBE_PATH},
	};
	int ret = window_write(w, WINDOW_PATH, path, strlen(path) + 1);

	if (!ret)
		ret = guest_probes_ask(g, &call, 1);
	if (ret)
		return ret;
	ret = guest_probes_said(&call);
	if (ret)
		*why = "Failed to find the given file";
	return ret;
}

int guest_uprobe_find(struct guest_probes *g, const char *path, struct guest_probe *made,
		      const char **why)
{
	struct window *w = trampoline_window(g->t);
	struct probe_row r;
	struct layout at;
	int row, ret;

	*why = NULL;
	if (strlen(path) >= WINDOW_PATH_SIZE)
		return -ENAMETOOLONG;
	if (!layout_learn(&at, g->t->gs))
		return -EOPNOTSUPP;
	row = probe_row_find(g);
	if (row < 0)
		return row;
	*made = (struct guest_probe){.row = (unsigned int)row};
	row_begin(&r);
	ret = probe_row_write(w, made->row, &r);
	if (ret)
		return ret;
	g->row[made->row].addr = 0;
	probe_row_set(g, made->row, PROBE_ROW_UPROBE);
	ret = path_find(g, made->row, path, why);
	if (ret) {
		if (ret != -ETIMEDOUT) /* else the guest may get to it yet */
			row_take_back(g, made->row);
		return ret;
	}
	ret = inode_find(g, &at, made->row, &made->inode, why);
	if (ret)
		guest_probe_unregister(g, made->row);
	return ret;
}

int guest_uprobe_place(struct guest_probes *g, const struct guest_probe *made,
		       const struct guest_uprobe_place *place)
{
	struct window *w = trampoline_window(g->t);
	struct probe_row r;
	struct layout at;
	int ret = layout_learn(&at, g->t->gs) ? probe_row_read(w, made->row, &r) : -EOPNOTSUPP;

	if (ret)
		return ret;
	row_fill(g, &at, place, &r);
	probe_row_put(&r, PROBE_ROW_UPROBE_INODE, &made->inode, sizeof(made->inode));
	probe_row_set(g, made->row, probe_row_kind(&r));
	return probe_row_write(w, made->row, &r);
}

/* --- on and off ------------------------------------------------------------------------------- */

size_t guest_uprobe_end(const struct trace *t, const struct probe_row *r, uint64_t va,
			struct borrow_call *calls)
{
	uint64_t made = member(r, PROBE_ROW_UPROBE_MADE);

	if (!is_made(t, made))
		return 0;
	if (gives_uprobe(t))
		*calls = (struct borrow_call){.fn = trace_runtime(t, "uprobe_unregister_nosync"),
					      .arg = {made, va}};
	else
		*calls = (struct borrow_call){.fn = trace_runtime(t, "uprobe_unregister"),
					      .arg = {member(r, PROBE_ROW_UPROBE_INODE),
						      member(r, PROBE_ROW_UPROBE_OFFSET), va}};
	return 1;
}

size_t guest_uprobes_wait(const struct trace *t, struct borrow_call *calls)
{
	if (!gives_uprobe(t))
		return 0;
	*calls = (struct borrow_call){.fn = trace_runtime(t, "uprobe_unregister_sync")};
	return 1;
}

size_t guest_uprobe_drop(const struct trace *t, const struct probe_row *r, uint64_t va,
			 struct borrow_call *calls)
{
	struct layout at;
	size_t n = 0;

	if (layout_learn(&at, t->gs) && member(r, PROBE_ROW_UPROBE_PATH + at.dentry))
		calls[n++] = (struct borrow_call){.fn = trace_runtime(t, "path_put"),
						  .arg = {va + PROBE_ROW_UPROBE_PATH}};
	calls[n++] = (struct borrow_call){.fn = trace_runtime(t, "memset"),
					  .arg = {va, 0, PROBE_ROW_SIZE}};
	return n;
}

/* So that nobody unregisters again what is unregistered. */
static struct borrow_call forget_call(const struct trace *t, uint64_t va)
{
	return (struct borrow_call){
		.fn = trace_runtime(t, "memset"),
		.arg = {va + PROBE_ROW_UPROBE_MADE, 0xff, sizeof(uint64_t)},
	};
}

static int turn_off(struct guest_probes *g, const unsigned int *rows, size_t n)
{
	struct window *w = trampoline_window(g->t);
	struct borrow_call calls[2 * PROBE_ROWS + 1];
	struct probe_row r;
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		ret = probe_row_read(w, rows[i], &r);
		if (!ret)
			nr += guest_uprobe_end(g->t, &r, probe_row_va(w, rows[i]), calls + nr);
	}
	if (ret || !nr)
		return ret;
	nr += guest_uprobes_wait(g->t, calls + nr);
	for (size_t i = 0; i < n; i++)
		calls[nr++] = forget_call(g->t, probe_row_va(w, rows[i]));
	return guest_probes_ask(g, calls, nr);
}

static int register_call(const struct guest_probes *g, unsigned int row, struct borrow_call *call)
{
	struct window *w = trampoline_window(g->t);
	uint64_t va = probe_row_va(w, row);
	struct probe_row r;
	int ret = probe_row_read(w, row, &r);

	if (!ret)
		*call = (struct borrow_call){
			.fn = register_function(g->t),
			.arg = {member(&r, PROBE_ROW_UPROBE_INODE),
				member(&r, PROBE_ROW_UPROBE_OFFSET),
				member(&r, PROBE_ROW_UPROBE_REF), va},
			.ret_to = va + PROBE_ROW_UPROBE_MADE,
		};
	return ret;
}

static int turn_on(struct guest_probes *g, const unsigned int *rows, size_t n)
{
	struct borrow_call calls[PROBE_ROWS];
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = register_call(g, rows[i], &calls[i]);
	if (!ret)
		ret = guest_probes_ask(g, calls, n);
	for (size_t i = 0; i < n && !ret; i++)
		if (!is_made(g->t, calls[i].ret))
			ret = calls[i].ret ? guest_probes_said(&calls[i]) : -EIO;
	return ret;
}

int guest_uprobes_switch(struct guest_probes *g, const unsigned int *rows, size_t n, bool on)
{
	int ret;

	if (!n)
		return 0;
	if (!on)
		return turn_off(g, rows, n);
	ret = turn_on(g, rows, n);
	if (ret && ret != -ETIMEDOUT)
		turn_off(g, rows, n);
	return ret;
}
