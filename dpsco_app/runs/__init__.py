"""What runs while a page is shown: results that grow, whose turn it is, stored studies."""
