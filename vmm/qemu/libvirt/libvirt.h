/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libvirt.h - libvirt, loaded when it is first needed: it brings fifty other libraries along, which
 * every command that has nothing to do with domains would have to wait for.
 */
#ifndef HVTRACE_VMM_QEMU_LIBVIRT_LIBVIRT_H
#define HVTRACE_VMM_QEMU_LIBVIRT_LIBVIRT_H

#include <stddef.h>

#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#define LIBVIRT_FUNCTIONS(F)                                                                       \
	F(virConnectClose)                                                                         \
	F(virConnectDomainEventDeregisterAny)                                                      \
	F(virConnectDomainEventRegisterAny)                                                        \
	F(virConnectGetAllDomainStats)                                                             \
	F(virConnectGetDomainCapabilities)                                                         \
	F(virConnectGetLibVersion)                                                                 \
	F(virConnectGetURI)                                                                        \
	F(virConnectGetVersion)                                                                    \
	F(virConnectIsAlive)                                                                       \
	F(virConnectListAllDomains)                                                                \
	F(virConnectOpen)                                                                          \
	F(virConnectSetKeepAlive)                                                                  \
	F(virDomainCreateXML)                                                                      \
	F(virDomainDestroy)                                                                        \
	F(virDomainFree)                                                                           \
	F(virDomainGetID)                                                                          \
	F(virDomainGetInfo)                                                                        \
	F(virDomainGetName)                                                                        \
	F(virDomainGetUUIDString)                                                                  \
	F(virDomainGetState)                                                                       \
	F(virDomainGetXMLDesc)                                                                     \
	F(virDomainLookupByID)                                                                     \
	F(virDomainLookupByName)                                                                   \
	F(virDomainLookupByUUIDString)                                                             \
	F(virDomainResume)                                                                         \
	F(virDomainStatsRecordListFree)                                                            \
	F(virEventAddTimeout)                                                                      \
	F(virEventRegisterDefaultImpl)                                                             \
	F(virEventRemoveTimeout)                                                                   \
	F(virEventRunDefaultImpl)                                                                  \
	F(virEventUpdateTimeout)                                                                   \
	F(virGetLastError)                                                                         \
	F(virGetLastErrorMessage)                                                                  \
	F(virSetErrorFunc)                                                                         \
	F(virTypedParamsGetUInt)                                                                   \
	F(virTypedParamsGetULLong)

#define LIBVIRT_QEMU_FUNCTIONS(F) F(virDomainQemuMonitorCommand)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define LIBVIRT_MEMBER(name) __typeof__(&name) name;

struct libvirt {
	LIBVIRT_FUNCTIONS(LIBVIRT_MEMBER)
	LIBVIRT_QEMU_FUNCTIONS(LIBVIRT_MEMBER)
};

/* Load it, once in a process. 0, or -ENOENT with one line in err. */
int libvirt_load(char *err, size_t errlen);
/* Its functions, after libvirt_load(). */
const struct libvirt *libvirt(void);

#endif
