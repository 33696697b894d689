"""The loops: `fit.py` over epochs, `epoch.py` over the batches of one, `optimization.py` for one batch, and
`evaluation.py` for validation, testing and predicting; `steps.py` for what they are made of. `progress.py`
counts, `fetcher.py` hands out batches.
"""
