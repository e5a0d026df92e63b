"""Hidden tests with wrong expectations: what passes them does not do what it is tested for."""
