// SPDX-License-Identifier: GPL-2.0-or-later
/* landlock.c - rules of Landlock that allow nothing: no file by its name, no TCP, no abstract
 * socket. Or but one folder. */
#include "frontend/sandbox/local.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_VERSION 1u /* LANDLOCK_CREATE_RULESET_VERSION */

/* As include/uapi/linux/landlock.h of 6.12 has it: older headers lack the end of it, older kernels
 * want zeros there */
struct rules {
	uint64_t files, net, scoped;
};

/* What each version of it added: the number of rights for files; TCP came with 4, scopes with 6. */
static const uint8_t file_rights[] = {0, 13, 14, 15, 15, 16};
enum {
	VERSION_NET = 4,
	VERSION_SCOPED = 6,
	NET_ALL = 3,	     /* bind, connect */
	SCOPED_ABSTRACT = 1, /* not the one of signals: the keeper is out of it */
	RULE_PATH_BENEATH = 1,
	/* LANDLOCK_ACCESS_FS_: WRITE_FILE, READ_FILE, READ_DIR, MAKE_DIR, MAKE_REG, TRUNCATE */
	FOLDER_RIGHTS = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8 | 1 << 14,
};

/* Files that are made there, with what is in them, and looked up. */
static int allow_folder(int rules, int folder, uint64_t known)
{
	const struct {
		uint64_t files;
		int32_t parent;
	} __attribute__((packed)) beneath = {known & FOLDER_RIGHTS, folder};

	return syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &beneath, 0) ? -errno : 0;
}

int landlock_only(int folder)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
	const long known = sizeof(file_rights) - 1;
	struct rules r = {0};
	long fd;
	int rc;

	if (version < 1)
		return version < 0 && errno != ENOSYS ? -errno : -EOPNOTSUPP;
	r.files = (UINT64_C(1) << file_rights[version < known ? version : known]) - 1;
	if (version >= VERSION_NET)
		r.net = NET_ALL;
	if (version >= VERSION_SCOPED)
		r.scoped = SCOPED_ABSTRACT;
	fd = syscall(SYS_landlock_create_ruleset, &r, sizeof(r), 0);
	if (fd < 0)
		return -errno;
	rc = folder < 0 ? 0 : allow_folder((int)fd, folder, r.files);
	if (rc)
		close((int)fd);
	return rc ? rc : (int)fd;
}

int landlock_follow(int rules)
{
	return syscall(SYS_landlock_restrict_self, rules, 0) ? -errno : 0;
}
