"""The demo: a whole lab on the bundled sample project."""
