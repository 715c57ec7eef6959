tracer-objs += tracer/events/events.o
tracer-objs += tracer/events/list.o
tracer-objs += tracer/events/refresh.o
tracer-objs += tracer/events/select.o
tracer-objs += tracer/events/strings.o
