tracer-objs += tracer/dynevent/dynevent.o
tracer-objs += tracer/dynevent/eprobe.o
tracer-objs += tracer/dynevent/kprobe-guest.o
tracer-objs += tracer/dynevent/kprobe-hit.o
tracer-objs += tracer/dynevent/kprobe-place.o
tracer-objs += tracer/dynevent/kprobe-traps.o
tracer-objs += tracer/dynevent/kprobe.o
tracer-objs += tracer/dynevent/synth.o
