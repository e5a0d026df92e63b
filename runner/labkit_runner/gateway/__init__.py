"""The agent's only way out: a sidecar that asks the model for it, meters, bounds and records.

What runs in the sidecar (`server` and what it imports) knows nothing of labkit: it is handed its
settings over standard input and tells everything as JSON lines on standard output. `wire` reads
those lines on this side.
"""
