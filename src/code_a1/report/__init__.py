"""What people see of a run: the live view, tables and pictures."""
