"""One oracle per category of task."""
