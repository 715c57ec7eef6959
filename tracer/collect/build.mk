tracer-objs += tracer/collect/call.o
tracer-objs += tracer/collect/collect.o
tracer-objs += tracer/collect/open.o
