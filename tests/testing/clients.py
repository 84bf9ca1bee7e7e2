"""Builders that tests of the scripted provider share: official clients at its address, and one short question."""

import anthropic
import openai

ASKED = [{"role": "user", "content": "what is in the file?"}]


def messages_client(provider, **options):
    return anthropic.Anthropic(base_url=provider.anthropic_url, api_key="key-1", **{"max_retries": 0, **options})


def chat_client(provider, **options):
    return openai.OpenAI(base_url=provider.openai_url, api_key="key-1", **{"max_retries": 0, **options})


def ask_messages(client, **fields):
    return client.messages.create(**{"model": "m", "max_tokens": 50, "messages": ASKED, **fields})


def ask_chat(client, **fields):
    return client.chat.completions.create(**{"model": "m", "messages": ASKED, **fields})
