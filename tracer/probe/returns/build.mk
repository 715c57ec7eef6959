tracer-objs += tracer/probe/returns/insns.o
tracer-objs += tracer/probe/returns/learn.o
tracer-objs += tracer/probe/returns/map.o
tracer-objs += tracer/probe/returns/probes.o
tracer-objs += tracer/probe/returns/returns.o
tracer-objs += tracer/probe/returns/search.o
tracer-objs += tracer/probe/returns/text.o
