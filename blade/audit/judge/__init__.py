"""Scoring a report against what is known to be true of a run, in a way that words alone cannot satisfy.

Everything here but `votes` needs the standard library only, so that scores are the same with nothing installed.
"""
