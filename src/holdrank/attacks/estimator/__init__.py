"""The paper's estimator: smoothed votes and gradient descent."""
