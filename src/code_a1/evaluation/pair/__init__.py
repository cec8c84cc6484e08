"""A coder and a tester at test time: the best of N programs, chosen by tests alone. See docs/eval-pair.md."""
