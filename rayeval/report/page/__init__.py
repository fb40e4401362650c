"""One self-contained HTML file of a run, a comparison or a folder of runs.

The figures go into it as JSON; small scripts beside this file draw them.
"""
