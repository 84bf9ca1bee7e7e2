"""The sidecar room."""
