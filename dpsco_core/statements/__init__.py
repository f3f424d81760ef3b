"""Parameters as papers print them, by the statement's number: one file a paper.

Methods, bounds and errata take them from here, so that a formula stands once. They are plain
numbers: whoever needs a refusal, a floor or another unit adds it.
"""
