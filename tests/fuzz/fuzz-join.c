// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-join.c - files with records and names of any content, joined with another one: all records
 * are in what becomes of it, and each guest's part can be read; and such a file with bytes of the
 * description changed. The formats of the events are sound: those that are not are libtraceevent's
 * to cope with.
 */
#include "tests/fuzz/input.h"
#include "tests/unit/join-world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* --- a file ------------------------------------------------------------------------------------
 */

/* Lines as a table has them, or any bytes but 0. */
static void take_text(struct input *in, char *text, size_t size)
{
	static const char *const lines[] = {"ffffffff9a000100 T x\n",
					    "0xffffffff9a000200 : \"%s\"\n", "2 nginx\n", "9 x\n",
					    "ffff888000000000 : \"heap\"\n"};
	unsigned int nr = input_byte(in) % 8;
	size_t len = 0;

	while (nr-- && len + 32 < size) {
		unsigned int kind = input_byte(in);

		if (kind < 128) {
			len += (size_t)snprintf(text + len, size - len, "%s", lines[kind % 5]);
			continue;
		}
		for (unsigned int i = kind % 16; i; i--) {
			uint8_t byte = input_byte(in);

			text[len++] = (char)(byte ? byte : '\n');
		}
	}
	text[len] = '\0';
}

/* How many there are. */
static unsigned int take_records(struct input *in, struct made_page *p)
{
	static const uint16_t kinds[] = {MADE_FUNCTION, MADE_STACK, DB_SWITCH, DB_IRQ,
					 DB_TIMER,	77,	    0,	       301};
	unsigned int nr = 0;

	made_page_begin(p, MADE_T0 - (uint64_t)input_byte(in));
	while (in->size && p->len < RING_PAGE_DATA - 256) {
		unsigned int kind = input_byte(in);
		struct join_db_record r = {.type = kinds[kind % 8], .pid = input_byte(in)};
		size_t len = input_byte(in) % 26 * 4 + 4;

		if (kind & 0x80)
			r.pid = (int32_t)input_u64(in);
		for (size_t i = 0; i < 12; i++)
			r.word[i] = kind & 0x40 ? input_u64(in) : DB_FUNC(input_byte(in));
		made_page_event(p, p->last + input_byte(in), &r, len);
		nr++;
	}
	made_page_end(p, input_byte(in) % 4);
	return nr;
}

/* --- what becomes of it ------------------------------------------------------------------------
 */

static unsigned int count(struct dat *d)
{
	struct records *r = records_open(d, RECORDS_ALL);
	unsigned int nr = 0;

	require(r);
	while (records_next(r))
		nr++;
	require(!records_error(r) && !records_damaged(r));
	records_close(r);
	return nr;
}

static void check(const struct joined *j, unsigned int web, unsigned int db)
{
	const unsigned int nr[] = {web, db};
	struct dat *d = join_opened_again(j->fd);

	require(j->result.events == web + db && dat_nr_parts(d) == 2);
	require(count(d) == web + db);
	dat_close(d);
	for (size_t i = 0; i < 2; i++) {
		d = join_opened_again(j->fd);
		dat_choose_part(d, i);
		require(count(d) == nr[i]);
		dat_close(d);
	}
}

/* Any bytes in its last ones. */
static void check_changed(const struct joined *j, struct input *in)
{
	off_t size = lseek(j->fd, 0, SEEK_END);
	char err[256];
	struct dat *d;

	for (unsigned int i = 0; i < 4; i++) {
		uint8_t byte = input_byte(in);

		require(pwrite(j->fd, &byte, 1, size - 1 - input_u16(in) % 512) == 1);
	}
	d = dat_open_fd(dup(j->fd), "fuzz", err, sizeof(err));
	require(d || (!strncmp(err, "fuzz: ", 6) && !strchr(err, '\n')));
	if (d && dat_nr_parts(d)) {
		dat_choose_part(d, dat_nr_parts(d) - 1);
		for (size_t i = 0; i < dat_info(d)->nr_formats; i++)
			require(dat_info(d)->formats[i].text.text);
		require(dat_nr_buffers(d));
		count(d);
	}
	dat_close(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct made_page page;
	static char kallsyms[512], printk[512], cmdlines[512];
	static const struct made_vcpu top[] = {{0, page.bytes, RING_PAGE_SIZE}};
	static const struct made_buffer buffers[] = {{"", "global", top, 1}, {NULL, NULL, NULL, 0}};
	struct input in = {data, size};
	struct made_dat_spec spec;
	struct joined j;
	unsigned int nr;

	take_text(&in, kallsyms, sizeof(kallsyms));
	take_text(&in, printk, sizeof(printk));
	take_text(&in, cmdlines, sizeof(cmdlines));
	join_db_spec(&spec);
	spec.kallsyms = kallsyms;
	spec.printk_formats = printk;
	spec.cmdlines = cmdlines;
	spec.buffers = buffers;
	nr = take_records(&in, &page);
	j = join_two(join_web(), join_file_of(&spec), true);
	require(!j.rc);
	check(&j, (unsigned int)(j.result.events - nr), nr);
	check_changed(&j, &in);
	close(j.fd);
	return 0;
}
