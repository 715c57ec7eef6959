// SPDX-License-Identifier: GPL-2.0-or-later
/* net.c - the words of --net and --forward. */
#include "frontend/devices/local.h"
#include "frontend/devices/words.h"

#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Six bytes in hexadecimal; the first is of one card alone, not of a group of them. */
static bool mac_parse(const char *text, uint8_t mac[6])
{
	for (unsigned int i = 0; i < 6; i++, text += 3) {
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]) ||
		    text[2] != (i < 5 ? ':' : '\0'))
			return false;
		mac[i] = (uint8_t)strtoul(text, NULL, 16);
	}
	return !(mac[0] & 1);
}

/*
 * The same guest has the same card each time: some remember it by its address. 52:54:00 is QEMU's
 * own for guests.
 */
static void mac_make(const struct devices *d, uint8_t mac[6])
{
	const char *name = d->machine.ndisk ? d->disk[0].path : "hvtrace";
	uint32_t hash = 2166136261; /* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619;
	mac[0] = 0x52;
	mac[1] = 0x54;
	mac[2] = 0x00;
	mac[3] = (uint8_t)(hash >> 16);
	mac[4] = (uint8_t)(hash >> 8);
	mac[5] = (uint8_t)hash;
}

static int net_tap(struct devices *d, const char *name, char *err, size_t errlen)
{
	if (!*name || strlen(name) >= IF_NAMESIZE)
		return devices_wrong(-EINVAL, err, errlen, "--net: \"%s\" is no name of a tap",
				     name);
	d->machine.net.kind = MACHINE_NET_TAP;
	d->machine.net.tap = d->tap = strdup(name);
	if (!d->tap)
		return devices_wrong(-ENOMEM, err, errlen, "no memory");
	if (!if_nametoindex(name))
		return devices_wrong(-ENODEV, err, errlen,
				     "--net tap=%s: there is no such interface (ip tuntap add %s "
				     "mode tap)",
				     name, name);
	return 0;
}

static int net_kind(struct devices *d, const char *word, char *err, size_t errlen)
{
	const char *tap = words_value(word, "tap");

	if (tap)
		return net_tap(d, tap, err, errlen);
	if (!strcmp(word, "user"))
		d->machine.net.kind = MACHINE_NET_USER;
	else if (strcmp(word, "none") != 0)
		return devices_wrong(-EINVAL, err, errlen,
				     "--net: \"%s\" is none of user, none, tap=NAME", word);
	return 0;
}

/* Of the words behind the first. */
static int net_word(struct devices *d, const char *word, char *err, size_t errlen)
{
	const char *mac = words_value(word, "mac");

	if (mac && mac_parse(mac, d->machine.net.mac))
		return 0;
	return devices_wrong(-EINVAL, err, errlen,
			     mac ? "--net: \"%s\" is no address of a card (52:54:00:12:34:56)"
				 : "--net: \"%s\" is not mac=ADDRESS",
			     mac ? mac : word);
}

int devices_net(struct devices *d, const char *words, char *err, size_t errlen)
{
	int rc = 0;

	mac_make(d, d->machine.net.mac);
	for (bool first = true; words && !rc; first = false) {
		char *word = words_next(&words);

		if (!word)
			return devices_wrong(-ENOMEM, err, errlen, "no memory");
		rc = first ? net_kind(d, word, err, errlen) : net_word(d, word, err, errlen);
		free(word);
	}
	if (!rc && d->machine.net.nforward && d->machine.net.kind != MACHINE_NET_USER)
		return devices_wrong(-EINVAL, err, errlen, "--forward is for --net user");
	return rc;
}

/* A port and what ends it; *at is then behind that. */
static bool port_parse(const char **at, char end, uint16_t *port)
{
	size_t digits = strspn(*at, "0123456789");
	unsigned long value;

	if (!digits || digits > 5 || (*at)[digits] != end)
		return false;
	value = strtoul(*at, NULL, 10);
	*at += digits + 1;
	*port = (uint16_t)value;
	return value && value <= UINT16_MAX;
}

int devices_forward(struct devices *d, const char *ports, char *err, size_t errlen)
{
	size_t i = d->machine.net.nforward;
	struct machine_forward forward;
	const char *at = ports;

	if (!port_parse(&at, ':', &forward.host) || !port_parse(&at, '\0', &forward.guest))
		return devices_wrong(-EINVAL, err, errlen,
				     "--forward: \"%s\" is no HOST:GUEST of two ports (2222:22)",
				     ports);
	if (i == MACHINE_MAX_FORWARDS)
		return devices_wrong(-EINVAL, err, errlen, "--forward: more than %u",
				     MACHINE_MAX_FORWARDS);
	d->forward[i] = forward;
	d->machine.net.nforward++;
	return 0;
}
