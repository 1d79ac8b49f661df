"""Made-up rollouts of a small office-assistant benchmark, and the seeded generator that writes them."""
