"""Measured quality of a test policy: accuracy, kills and coverage of its suites. See docs/eval-tests.md."""
