tracer-objs += tracer/stat/branches.o
tracer-objs += tracer/stat/latencies.o
tracer-objs += tracer/stat/latency-table.o
tracer-objs += tracer/stat/profiler.o
tracer-objs += tracer/stat/stack-max.o
tracer-objs += tracer/stat/stack-table.o
