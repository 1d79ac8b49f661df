"""What a benchmark package promises, D1 skill, D2 rollouts and D3 golden reports, and whether it keeps it.

Everything here needs the standard library only, so that a package can be checked with nothing installed.
"""
