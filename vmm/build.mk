vmm-objs :=
