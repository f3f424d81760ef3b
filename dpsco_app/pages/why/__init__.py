"""Why heavy tails and privacy do not get along: a page to scroll through, for a first visit."""
