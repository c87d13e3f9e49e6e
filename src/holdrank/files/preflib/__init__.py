"""PrefLib's formats: the reader, its fast way through large bodies, and old files."""
