"""Running a study: cells, the store, executors, cost and memory."""
