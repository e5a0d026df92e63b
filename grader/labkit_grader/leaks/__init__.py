"""Whether a run read what it must not: the check between the run phase and grading."""
