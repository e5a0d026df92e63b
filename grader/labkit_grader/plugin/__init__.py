"""Holds the file that is streamed into every grading sandbox; labkit imports nothing of it."""
