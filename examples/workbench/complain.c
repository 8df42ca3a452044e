/* SPDX-License-Identifier: MIT */
/* complain: messages on stderr, and the exit code that goes with them. */
#include <stdarg.h>
#include <stdio.h>

#include "workbench.h"

static void __attribute__((format(printf, 1, 0))) complain(const char *format, va_list args)
{
	fflush(stdout); /* what was said before stands before */
	fputs("iosched: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void wb_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
}

int wb_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return WB_FAILED;
}

int wb_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return WB_USAGE;
}
