tracer-objs += tracer/window/detour.o
tracer-objs += tracer/window/map.o
tracer-objs += tracer/window/moved.o
tracer-objs += tracer/window/pieces.o
tracer-objs += tracer/window/quiesce.o
tracer-objs += tracer/window/return.o
tracer-objs += tracer/window/window.o
tracer-objs += tracer/window/work.o
