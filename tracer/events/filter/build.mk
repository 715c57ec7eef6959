tracer-objs += tracer/events/filter/cpus.o
tracer-objs += tracer/events/filter/data.o
tracer-objs += tracer/events/filter/filter.o
tracer-objs += tracer/events/filter/format.o
tracer-objs += tracer/events/filter/inject.o
tracer-objs += tracer/events/filter/parse.o
tracer-objs += tracer/events/filter/term.o
