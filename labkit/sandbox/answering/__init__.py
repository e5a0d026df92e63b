"""What `labkit doctor` starts beside a sandbox, to see whether a command reaches it."""
