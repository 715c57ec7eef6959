frontend-objs :=
frontend-objs += frontend/options.o
