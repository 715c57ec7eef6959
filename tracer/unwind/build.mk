tracer-objs += tracer/unwind/hooks.o
tracer-objs += tracer/unwind/orc.o
tracer-objs += tracer/unwind/tables.o
tracer-objs += tracer/unwind/unwind.o
