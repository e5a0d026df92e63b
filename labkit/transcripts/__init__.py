"""Reading what agents wrote about themselves."""
