tracer-objs += tracer/borrow/borrow.o
tracer-objs += tracer/borrow/frame.o
tracer-objs += tracer/borrow/places.o
