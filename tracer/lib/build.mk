tracer-objs += tracer/lib/command-lines.o
tracer-objs += tracer/lib/error-log.o
tracer-objs += tracer/lib/glob.o
tracer-objs += tracer/lib/kprintf-bytes.o
tracer-objs += tracer/lib/kprintf.o
tracer-objs += tracer/lib/memory.o
tracer-objs += tracer/lib/text.o
tracer-objs += tracer/lib/word.o
