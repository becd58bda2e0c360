"""Weights on this machine by name."""

import os

from mixseek.judges.model_store import InstalledModel, install, list_installed, models_directory


def install_named(name: str) -> InstalledModel:
    """Where the weights lie, fetched first when they are not there; raises ConfigurationError for an unknown name."""
    directory = models_directory(os.environ)
    path = install(name, directory)
    return next(model for model in list_installed(directory) if model.path == path)
