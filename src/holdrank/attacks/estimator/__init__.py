"""The paper's estimator, a smoothed problem solved by gradient descent: as written, and improved.

As written: `options` are its constants, `original` is the algorithm. Improved: `engine` is the entry point, `descent`
the algorithm on any array library, `fused` its sampler as GPU kernels, `devices` chooses where it runs, and `trimming`
turns its result into attacks. `curve` converts both for `breakdown`.
"""
