"""Diffs of strangers: lifted out of their text, refused when unfit, put on a base fail-closed."""
