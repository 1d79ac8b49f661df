"""Which functions are called for a request, and with what."""
