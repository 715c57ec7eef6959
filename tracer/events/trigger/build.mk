tracer-objs += tracer/events/trigger/actions.o
tracer-objs += tracer/events/trigger/enable.o
tracer-objs += tracer/events/trigger/trigger.o
