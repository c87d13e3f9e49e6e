"""The statements of the record of an analysis: one module for each type of part."""
