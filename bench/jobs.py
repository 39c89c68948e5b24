"""All jobs of the benchmark, in the order of the page."""

from __future__ import annotations

from bench import chances, fits, orders, processes

JOBS = [*orders.JOBS, *chances.JOBS, *fits.JOBS, *processes.JOBS]
