"""PrefLib's formats: the reader, its fast path for large bodies, and old files."""
