# Each room lists its objects in a build.mk of its own; bottom to top.
tracer-objs :=
include tracer/lib/build.mk
include tracer/ring/build.mk
include tracer/filter/build.mk
include tracer/guest/build.mk
include tracer/unwind/build.mk
include tracer/payload/build.mk
include tracer/borrow/build.mk
include tracer/window/build.mk
include tracer/output/fmt/build.mk
include tracer/output/build.mk
include tracer/graph/build.mk
include tracer/events/filter/build.mk
include tracer/events/define/build.mk
include tracer/events/trigger/build.mk
include tracer/events/hist/build.mk
include tracer/core/build.mk
include tracer/probe/returns/build.mk
include tracer/probe/critical/build.mk
include tracer/probe/trampoline/build.mk
include tracer/probe/build.mk
include tracer/collect/build.mk
include tracer/events/build.mk
include tracer/instance/build.mk
include tracer/record/build.mk
include tracer/tracepoint/build.mk
include tracer/dynevent/build.mk
include tracer/stat/build.mk
include tracer/tracers/build.mk
include tracer/control/build.mk
tracer-objs += tracer/attach.o
tracer-objs += tracer/boot.o
tracer-objs += tracer/engine.o
tracer-objs += tracer/explain.o
tracer-objs += tracer/guard.o
tracer-objs += tracer/leftover.o
tracer-objs += tracer/modules.o
tracer-objs += tracer/pids.o
tracer-objs += tracer/reset.o
tracer-objs += tracer/save.o
tracer-objs += tracer/text-lock.o
tracer-objs += tracer/trace.o
