tracer-objs += tracer/probe/trampoline/control.o
tracer-objs += tracer/probe/trampoline/load.o
tracer-objs += tracer/probe/trampoline/lockers.o
tracer-objs += tracer/probe/trampoline/ours.o
tracer-objs += tracer/probe/trampoline/trampoline.o
tracer-objs += tracer/probe/trampoline/try.o
