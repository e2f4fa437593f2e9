"""The rim: parse, call, render, exit. Only here is anything printed, asked, opened by name, ended.

Nothing heavy is imported before the options are known to be good: --help answers at once.
"""
