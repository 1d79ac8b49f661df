"""Golden packages: reports whose prose was written once and whose numbers never were."""
