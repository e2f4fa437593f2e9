"""This package is the control of an emulated cluster: a test or an operator acts on it and reads
its status."""
