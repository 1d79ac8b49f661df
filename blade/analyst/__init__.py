"""The skill's workflow, driven without a human: can a model do the reading?"""
