tracer-objs += tracer/ring/horizon.o
tracer-objs += tracer/ring/look.o
tracer-objs += tracer/ring/merge.o
tracer-objs += tracer/ring/page.o
tracer-objs += tracer/ring/read.o
tracer-objs += tracer/ring/repeats.o
tracer-objs += tracer/ring/ring.o
tracer-objs += tracer/ring/write.o
