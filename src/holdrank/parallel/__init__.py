"""Work shared by processes and machines, and kept when one of them stops."""
