tracer-objs :=
