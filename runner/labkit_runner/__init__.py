"""The run phase: golden tasks against configurations, isolated and interleaved."""
