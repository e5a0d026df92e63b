"""labkit: find out honestly which coding-agent configuration works on your own code.

Importing this package does nothing. The command line is `labkit.cli`; the phases live in
`labkit_runner`, `labkit_grader` and `labkit_instructor`.
"""

__version__ = "0.1.0"
