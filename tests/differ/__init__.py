"""A differential tester: random commands on redae and on a real Redis, every reply compared.

How the modules build on each other, from the bottom:

    resp                  replies: parsing, printing
    servers               processes and connections
    scripts, guards       Lua that is sent; what may be sent at all
    sequences             what is played, and its text form
    version_differences   what Redis 7.4 changed since the reference's 7.0
    rules                 comparing replies
    grammar               the reference's command table
    values, calls, generator    random arguments, calls, sequences
    sides, state, play    playing a sequence on both, comparing the key spaces after it
    duel, shrink, report, cli   the pair, short examples, printing, options

`cli.py` has the manual (`tests/differ/run --help`).
"""
