"""How rollouts are made: inputs, the agent loop, files that survive a kill, and what is computed beside them."""
