"""What went wrong at a model, as one sentence for the person with the way out.

Nothing a provider wrote is repeated: it may quote the key.
"""

from __future__ import annotations

import re

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

_WORDS = re.compile(r"[a-z_]{3,60}")
_EXTRA = re.compile(r"pydantic-ai-slim\[[a-z-]+\]")
_KEY_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]*_API_KEY\b")


class UnusableAnswerError(Exception):
    """An answer came and is none. Made with one of the sentences below, which are told the model and the service."""


BROKE_OFF = "The connection to {service} broke off in the middle of the answer. Send the message again."
ENDLESS = "The answer of “{model}” did not end and was cut off. Ask for less, or choose another model."
FILTERED = "{service} refused to answer this message. Say it another way."
EMPTY = "“{model}” gave no answer. Say it another way, or choose another model in the settings."
TOO_MANY_CALLS = (
    "“{model}” wanted to do too many things at once. Nothing of it was done; ask for less, or choose another model in "
    "the settings."
)
NOT_UNDERSTOOD = (
    "The answer of {service} could not be understood. Send the message again; if that does not help, check the "
    "server's address in the settings."
)


def say_problem(error: Exception, *, service: str, model: str, timeout_ms: int) -> str | None:
    """The sentence; ``None`` for what is no failure of a model.

    Args:
        error: What was raised while a model was made or asked.
        service: Who provides the model, for people.
        model: The model's name.
        timeout_ms: How long it was waited for, in milliseconds.
    """
    match error:
        case ModelAuthenticationError():
            return f"{service} does not accept the key for “{model}”. Check the key in the assistant's settings."
        case ModelQuotaExceededError():
            return (
                f"The credit or quota of your account at {service} is used up. Look after your account there, or "
                "choose another model in the settings."
            )
        case ModelRateLimitError():
            return f"{service} takes no more requests at the moment. Send the message again {_in(error.retry_after)}."
        case ModelContextWindowExceededError():
            return (
                f"The conversation has become too long for “{model}”. Begin a new one, or choose a model with more "
                "room in the settings."
            )
        case ModelNotFoundError():
            return f"{service} has no model “{model}”. Choose another one in the assistant's settings."
        case ModelServerError() | ModelUnavailableError():
            return (
                f"{service} has a problem of its own{_status(error)}. Send the message again {_in(error.retry_after)}, "
                "or choose another model in the settings."
            )
        case ModelTimeoutError() | ModelRequestTimeout():
            return (
                f"{service} did not answer within {_seconds(timeout_ms / 1_000)}. Send the message again, or choose "
                "another model in the settings."
            )
        case _:
            return _say_rarer(error, service=service, model=model)


def _say_rarer(error: Exception, *, service: str, model: str) -> str | None:
    match error:
        case UnusableAnswerError():
            return str(error).format(service=service, model=model)
        case ModelConnectionError():
            return f"{service} cannot be reached. Check the network, and the server's address in the settings."
        case ModelRequestRejectedError() | ModelHTTPError():
            return (
                f"{service} did not take the request{_status(error)}. Choose another model in the settings, or begin "
                "a new conversation."
            )
        case UnexpectedModelBehavior() | ModelAPIError():
            return NOT_UNDERSTOOD.format(service=service)
        case UserError():
            return _say_settings(error, service=service, model=model)
        case ImportError():
            extra = _EXTRA.search(str(error))
            wanted = extra[0] if extra is not None else "the extra of pydantic-ai-slim for it"
            return f"{service} needs a package that is not installed. Install {wanted}."
        case _:
            return None


def _say_settings(error: UserError, *, service: str, model: str) -> str:
    variable = _KEY_VARIABLE.search(error.message)
    if variable is not None:
        return (
            f"There is no key for {service}. Enter one in the assistant's settings, or set {variable[0]} before the "
            "application starts."
        )
    if error.message.startswith("Unknown model"):
        return f"There is no model “{model}”. Choose another one in the assistant's settings."
    return f"“{model}” cannot be used with these settings. Check them in the assistant's settings."


def _in(retry_after_s: float | None) -> str:
    if retry_after_s is None or not 0 < retry_after_s < 1e7:
        return "in a minute"
    return f"in {_seconds(retry_after_s)}"


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1_000:.0f} milliseconds"
    whole = max(1, round(seconds))
    if whole < 120:
        return "1 second" if whole == 1 else f"{whole} seconds"
    minutes = -(-whole // 60)
    return f"{minutes} minutes"


def _status(error: ModelAPIError) -> str:
    facts = [str(error.status_code)] if isinstance(error, ModelHTTPError) else []
    code = error.provider_error_code
    if isinstance(code, str) and _WORDS.fullmatch(code):
        facts.append(code)
    return f" ({', '.join(facts)})" if facts else ""
