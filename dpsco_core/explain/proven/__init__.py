"""What is proven where: the matrix of bounds that hold, and the sharpest constants."""
