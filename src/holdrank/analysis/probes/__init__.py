"""The probes of an audit: each looks for one problem in the votes that could make the ranking misleading."""
