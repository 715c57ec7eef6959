frontend-objs :=
