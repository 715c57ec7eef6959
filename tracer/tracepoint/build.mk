tracer-objs += tracer/tracepoint/files.o
tracer-objs += tracer/tracepoint/open.o
tracer-objs += tracer/tracepoint/own.o
tracer-objs += tracer/tracepoint/pin.o
tracer-objs += tracer/tracepoint/prints.o
tracer-objs += tracer/tracepoint/recover.o
tracer-objs += tracer/tracepoint/register.o
tracer-objs += tracer/tracepoint/traps.o
