"""Flags are not effects: what of a declared difference was seen in the runs, and what else was."""
