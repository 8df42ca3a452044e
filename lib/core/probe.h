/* SPDX-License-Identifier: MIT */
/*
 * probe: static tracepoints (USDT), a nop each while nobody listens.
 * Provider `iosched`; first argument the queue, second the request.
 */
#ifndef IOS_CORE_PROBE_H
#define IOS_CORE_PROBE_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef IOS_HAVE_SDT
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <sys/sdt.h>
#pragma GCC diagnostic pop
/* sdt.h leaves a variadic macro without arguments, which clang's -Wpedantic minds. */
#define IOS_PROBE(name, s, rq)                                                                  \
	do {                                                                                    \
		_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wpedantic\"") \
			DTRACE_PROBE2(iosched, name, s, rq);                                    \
		_Pragma("GCC diagnostic pop")                                                   \
	} while (0)
#else
#define IOS_PROBE(name, s, rq) ((void)(s), (void)(rq))
#endif

#endif
