"""Every sentence that the product says, made of plain facts."""
