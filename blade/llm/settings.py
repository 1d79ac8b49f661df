"""Settings that a server refuses as such, whatever their value: told by its message, and left out from then on."""

import re

import msgspec

from blade.llm.model import ModelError, Request, Sampling

OPTIONAL = ("temperature", "top_p", "seed")
"""Settings an answer can be drawn without; a limit of tokens is none of them."""
REFUSED = re.compile(r"unsupported|not support|deprecated|removed|unrecognized|unknown|not permitted|cannot both", re.I)
"""How servers say that they do not take a parameter, and not that its value is wrong."""


def refused_settings(error: ModelError, sampling: Sampling) -> frozenset[str]:
    """Settings of a request that a server refused by name; none when it refused something else."""
    said = str(error)
    if error.kind != "rejected" or not REFUSED.search(said):
        return frozenset()
    given = (name for name in OPTIONAL if getattr(sampling, name) is not None)
    return frozenset(name for name in given if re.search(rf"\b{name}\b", said))


def without_settings(request: Request, names: frozenset[str]) -> Request:
    """A request that leaves some settings to the server."""
    if not names:
        return request
    sampling = msgspec.structs.replace(request.sampling, **dict.fromkeys(names))
    return msgspec.structs.replace(request, sampling=sampling)
