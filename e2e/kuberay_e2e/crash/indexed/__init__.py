"""The crash plan as an Indexed Job: each of its pods runs a part, and the parts' results make one report."""
