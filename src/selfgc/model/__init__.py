"""Messages, parts, ids, objects, plans and records: values without behaviour of their own."""
