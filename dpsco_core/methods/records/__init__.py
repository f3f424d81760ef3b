"""What is done to records before they are averaged: clipping, groups, smooth truncation."""
