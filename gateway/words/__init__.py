"""What the command line says, pt-BR first, en second: the catalogue, and what others say put into its words."""
