from hypothesis import HealthCheck, settings

# Machines may be busy, so no single example is timed.
settings.register_profile(
    "evenhand",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("evenhand")
