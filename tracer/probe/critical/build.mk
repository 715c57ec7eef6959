tracer-objs += tracer/probe/critical/find.o
tracer-objs += tracer/probe/critical/kinds.o
tracer-objs += tracer/probe/critical/sites.o
tracer-objs += tracer/probe/critical/table.o
tracer-objs += tracer/probe/critical/traps.o
