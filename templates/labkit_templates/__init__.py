"""What labkit copies out: data only."""
