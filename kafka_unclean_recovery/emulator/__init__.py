"""An emulated cluster; so far its controller."""
