"""What holds for every test: property tests have no deadline, since the machine may be busy with other things."""

from hypothesis import settings

settings.register_profile("selfgc", deadline=None)
settings.load_profile("selfgc")
