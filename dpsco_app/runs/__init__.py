"""Runs while a page is shown: results that grow, turns of several runs, stored studies."""
