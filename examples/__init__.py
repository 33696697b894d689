"""Programs written with teachtorch's public names alone, as a user would write them; so they also run on PyTorch."""
