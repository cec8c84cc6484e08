"""Run untrusted code as data in, data out."""
