"""Benchmarks: fixed tasks, prompt, repeats and success rule, laid over an environment."""
