"""How a model is asked: one small protocol, and its clients for the APIs there are."""

from blade.llm.connect import connect
from blade.llm.model import Model, ModelError, Reply, Request, Sampling, Usage

__all__ = ["Model", "ModelError", "Reply", "Request", "Sampling", "Usage", "connect"]
