"""A model that plays a script: rehearsals of real agents without a key and without costs."""
