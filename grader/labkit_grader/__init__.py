"""The grade phase: oracles, leak check, verdicts."""
