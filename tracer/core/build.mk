tracer-objs += tracer/core/clock.o
