tracer-objs += tracer/output/fmt/eval.o
tracer-objs += tracer/output/fmt/expr-calls.o
tracer-objs += tracer/output/fmt/expr-types.o
tracer-objs += tracer/output/fmt/expr-words.o
tracer-objs += tracer/output/fmt/expr.o
tracer-objs += tracer/output/fmt/print.o
