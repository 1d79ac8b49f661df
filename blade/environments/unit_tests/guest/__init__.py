"""What runs inside the sandbox. It knows the standard library only, and is started from its own folder."""
