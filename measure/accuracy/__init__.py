"""How often the diagnosis is right: faults put into made-up runs at known places, and looked for blind."""
