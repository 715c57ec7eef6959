tracer-objs += tracer/payload/critical.o
tracer-objs += tracer/payload/event-ring.o
tracer-objs += tracer/payload/frame.o
tracer-objs += tracer/payload/patch.o
tracer-objs += tracer/payload/payload.o
tracer-objs += tracer/payload/record.o
tracer-objs += tracer/payload/staging.o
