tracer-objs += tracer/probe/engine-trampoline.o
tracer-objs += tracer/probe/engine-trap.o
tracer-objs += tracer/probe/lend.o
tracer-objs += tracer/probe/pieces.o
tracer-objs += tracer/probe/probe.o
