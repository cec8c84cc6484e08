"""Where policies live: implementations of `PolicyEngine`."""
