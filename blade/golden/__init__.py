"""Golden packages: what the best report of a run says, whether another is as good, and whether a package is whole."""
