"""The depot's signing key, and the signed checkpoints it sends out."""
