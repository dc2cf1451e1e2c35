"""Models through pydantic-ai: a thread that talks to them, and the hop from there to the session's thread.

Above: the assistant's public names. Below: the values and the port of a back end. pydantic-ai itself is imported only
by the modules that run in the thread (``_requests``, ``_messages``, ``_models``, ``_problems``), and only once a model
is asked.
"""
