tracer-objs += tracer/record/batch.o
tracer-objs += tracer/record/follow.o
tracer-objs += tracer/record/graph.o
tracer-objs += tracer/record/payload-control.o
tracer-objs += tracer/record/selection.o
