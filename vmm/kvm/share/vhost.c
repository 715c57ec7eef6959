// SPDX-License-Identifier: GPL-2.0-or-later
/* vhost.c - see vhost.h */
#include "vmm/kvm/share/vhost.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	GET_FEATURES = 1,
	SET_FEATURES = 2,
	SET_OWNER = 3,
	SET_MEM_TABLE = 5,
	SET_VRING_NUM = 8,
	SET_VRING_ADDR = 9,
	SET_VRING_BASE = 10,
	GET_VRING_BASE = 11,
	SET_VRING_KICK = 12,
	SET_VRING_CALL = 13,
	GET_PROTOCOL_FEATURES = 15,
	SET_PROTOCOL_FEATURES = 16,
	SET_VRING_ENABLE = 18,
};

enum { VERSION = 1, IS_REPLY = 4, NEEDS_REPLY = 8 };

#define F_PROTOCOL_FEATURES (UINT64_C(1) << 30)
#define PROTOCOL_REPLY_ACK  (UINT64_C(1) << 3)

struct head {
	uint32_t request, flags, size;
};

struct vring_state {
	uint32_t index, num;
};

struct vring_address {
	uint32_t index, flags;
	uint64_t desc, used, avail, log;
};

/* "user" is what addresses of rings are of: guest-physical ones as well, as ours are nobody's
 * business. */
struct memory_region {
	uint64_t pa, size, user, offset;
};

struct memory_table {
	uint32_t n, padding;
	struct memory_region region[SHARE_MEMORY_MAX];
};

struct message {
	struct head head;
	union {
		uint64_t val;
		struct vring_state state;
		struct vring_address address;
		struct memory_table memory;
	} body;
} __attribute__((packed));

/* --- bytes ------------------------------------------------------------------------------------
 */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* 0 or -ETIMEDOUT. */
static int wait_for(int fd, short events, int64_t end)
{
	struct pollfd p = {fd, events, 0};
	int64_t left = end - now_ms();

	return left > 0 && (poll(&p, 1, (int)left) || now_ms() < end) ? 0 : -ETIMEDOUT;
}

/* The first bytes of a message come with the descriptors; the kernel takes no fewer than one. */
static int send_all(int fd, struct message *m, const int *fds, unsigned int nfds, int64_t end)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(SHARE_MEMORY_MAX * sizeof(int))];
	} control = {0};
	struct iovec iov = {m, sizeof(m->head) + m->head.size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	int rc = 0;

	if (nfds) {
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(nfds * sizeof(int)),
						.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), fds, nfds * sizeof(int));
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
	}
	while (iov.iov_len && !rc) {
		ssize_t n = sendmsg(fd, &msg, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			rc = wait_for(fd, POLLOUT, end);
		else if (n < 0 && errno != EINTR)
			rc = -EPIPE;
		if (n <= 0)
			continue;
		iov.iov_base = (uint8_t *)iov.iov_base + n;
		iov.iov_len -= (size_t)n;
		msg.msg_control = NULL;
		msg.msg_controllen = 0;
	}
	return rc;
}

/* By read(2): descriptors that it sends along are gone. */
static int receive_all(int fd, void *to, size_t len, int64_t end)
{
	uint8_t *at = to;
	int rc = 0;

	while (len && !rc) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EAGAIN)
			rc = wait_for(fd, POLLIN, end);
		else if (!n || (n < 0 && errno != EINTR))
			rc = -EPIPE;
		if (n <= 0)
			continue;
		at += n;
		len -= (size_t)n;
	}
	return rc;
}

bool vhost_left(int fd, unsigned int ms)
{
	int64_t end = now_ms() + ms;
	uint8_t said[64];
	int rc;

	do
		rc = receive_all(fd, said, sizeof(said), end);
	while (!rc && now_ms() < end);
	return rc == -EPIPE;
}

/* --- one message ------------------------------------------------------------------------------
 */

/* All answers are 8 bytes, which *reply then is. */
static int ask(int fd, struct message *m, const int *fds, unsigned int nfds, uint64_t *reply)
{
	int64_t end = now_ms() + SHARE_MS;
	struct head got;
	int rc = send_all(fd, m, fds, nfds, end);

	if (!rc)
		rc = receive_all(fd, &got, sizeof(got), end);
	if (!rc && (got.request != m->head.request || got.flags != (VERSION | IS_REPLY) ||
		    got.size != sizeof(*reply)))
		rc = -EPROTO;
	return rc ? rc : receive_all(fd, reply, sizeof(*reply), end);
}

static int get(int fd, uint32_t request, uint64_t *val)
{
	struct message m = {.head = {request, VERSION, 0}};

	return ask(fd, &m, NULL, 0, val);
}

/* What is set is answered by 0, where it has been. */
static int set(int fd, uint32_t request, struct message *m, uint32_t size, const int *fds,
	       unsigned int nfds)
{
	uint64_t reply;
	int rc;

	m->head = (struct head){request, VERSION | NEEDS_REPLY, size};
	rc = ask(fd, m, fds, nfds, &reply);
	return !rc && reply ? -EIO : rc;
}

static int set_val(int fd, uint32_t request, uint64_t val)
{
	struct message m = {.body.val = val};

	return set(fd, request, &m, sizeof(val), NULL, 0);
}

static int set_state(int fd, uint32_t request, unsigned int i, uint32_t num)
{
	struct message m = {.body.state = {i, num}};

	return set(fd, request, &m, sizeof(m.body.state), NULL, 0);
}

static int set_eventfd(int fd, uint32_t request, unsigned int i, int eventfd)
{
	struct message m = {.body.val = i};

	return set(fd, request, &m, sizeof(m.body.val), &eventfd, 1);
}

/* --- what is asked for ------------------------------------------------------------------------
 */

/* Before it is agreed that all is answered some is not. */
static int agree_on_answers(int fd)
{
	struct message m = {.head = {SET_PROTOCOL_FEATURES, VERSION, sizeof(m.body.val)},
			    .body.val = PROTOCOL_REPLY_ACK};
	uint64_t has;
	int rc = get(fd, GET_PROTOCOL_FEATURES, &has);

	if (!rc && !(has & PROTOCOL_REPLY_ACK))
		rc = -EOPNOTSUPP;
	return rc ? rc : send_all(fd, &m, NULL, 0, now_ms() + SHARE_MS);
}

int vhost_begin(int fd, uint64_t *features)
{
	int rc = get(fd, GET_FEATURES, features);

	if (!rc && !(*features & F_PROTOCOL_FEATURES))
		rc = -EOPNOTSUPP;
	if (!rc)
		rc = agree_on_answers(fd);
	if (!rc) {
		struct message m = {0};

		rc = set(fd, SET_OWNER, &m, 0, NULL, 0);
	}
	*features = rc ? 0 : *features & ~F_PROTOCOL_FEATURES;
	return rc;
}

int vhost_set_features(int fd, uint64_t features)
{
	return set_val(fd, SET_FEATURES, features | F_PROTOCOL_FEATURES);
}

int vhost_set_memory(int fd, const struct share_memory *memory, unsigned int n)
{
	struct message m = {.body.memory.n = n};
	int fds[SHARE_MEMORY_MAX];

	if (n > SHARE_MEMORY_MAX)
		return -E2BIG;
	for (unsigned int i = 0; i < n; i++) {
		m.body.memory.region[i] = (struct memory_region){memory[i].pa, memory[i].size,
								 memory[i].pa, memory[i].offset};
		fds[i] = memory[i].fd;
	}
	return set(fd, SET_MEM_TABLE, &m,
		   (uint32_t)(offsetof(struct memory_table, region) +
			      n * sizeof(struct memory_region)),
		   fds, n);
}

int vhost_start_queue(int fd, unsigned int i, const struct share_queue *q)
{
	struct message m = {
		.body.address = {.index = i, .desc = q->desc, .used = q->used, .avail = q->avail}};
	int rc = set_state(fd, SET_VRING_NUM, i, q->size);

	if (!rc)
		rc = set_state(fd, SET_VRING_BASE, i, q->next);
	if (!rc)
		rc = set(fd, SET_VRING_ADDR, &m, sizeof(m.body.address), NULL, 0);
	if (!rc)
		rc = set_eventfd(fd, SET_VRING_CALL, i, q->call);
	if (!rc)
		rc = set_eventfd(fd, SET_VRING_KICK, i, q->kick);
	return rc ? rc : set_state(fd, SET_VRING_ENABLE, i, 1);
}

int vhost_stop_queue(int fd, unsigned int i, uint16_t *next)
{
	struct message m = {.head = {GET_VRING_BASE, VERSION, sizeof(m.body.state)},
			    .body.state.index = i};
	struct vring_state state;
	uint64_t reply;
	int rc = ask(fd, &m, NULL, 0, &reply);

	if (rc)
		return rc;
	memcpy(&state, &reply, sizeof(state));
	if (state.index != i || state.num > UINT16_MAX)
		return -EPROTO;
	*next = (uint16_t)state.num;
	return 0;
}
