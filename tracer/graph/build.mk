tracer-objs += tracer/graph/call-log.o
tracer-objs += tracer/graph/filter.o
tracer-objs += tracer/graph/max-graph.o
tracer-objs += tracer/graph/merge.o
tracer-objs += tracer/graph/pairing.o
tracer-objs += tracer/graph/profile.o
tracer-objs += tracer/graph/stacks.o
