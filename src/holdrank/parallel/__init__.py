"""Work shared among processes and machines, and preserved when one of them stops."""
