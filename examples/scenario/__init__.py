"""The scripted story that `record_session.py` plays: what the user and the agent say, and what is called."""
