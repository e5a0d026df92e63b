"""Did a run read what it must not?"""
