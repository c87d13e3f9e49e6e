"""The probes of an audit: each looks for one thing in votes that could make a ranking mislead."""
