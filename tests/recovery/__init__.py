"""Runs that are killed, starved and broken, and go on."""
