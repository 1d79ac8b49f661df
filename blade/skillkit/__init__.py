"""What a skill is: a folder with a SKILL.md that tells an agent how to do a job.

Reading one raises, checking one collects problems: first those of the Agent Skills specification, then those of our own
rules, which are stricter because a skill is copied away and must stand on its own there.
"""
