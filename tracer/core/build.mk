tracer-objs += tracer/core/clock.o
tracer-objs += tracer/core/core.o
tracer-objs += tracer/core/lock.o
tracer-objs += tracer/core/note.o
tracer-objs += tracer/core/probes.o
tracer-objs += tracer/core/stacks.o
tracer-objs += tracer/core/symbol.o
tracer-objs += tracer/core/wait.o
