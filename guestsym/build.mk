guestsym-objs :=
