"""From bytes to text or tables: archives, spreadsheets, Parquet."""
