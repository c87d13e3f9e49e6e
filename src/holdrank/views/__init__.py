"""Results as pages: pictures, the report, the notebook."""
