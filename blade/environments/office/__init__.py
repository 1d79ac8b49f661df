"""An office desk: contacts, calendar, mail and records behind tools, judged by the state they are left in."""
