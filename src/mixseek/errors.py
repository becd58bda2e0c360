"""Every exception mixseek raises on purpose.

    MixseekError
    ├── ConfigurationError        usage, settings, input data; never retried; exit code 2
    │   └── DatasetError          a row or file that cannot be judged, named by place
    └── StorageError              the workspace cannot be read or written; exit code 3 unless it is the user's to mend

A bad judge reply is not here: it is an `InvalidJudgment`, a value.
"""


class MixseekError(Exception):
    """One line for a person: what, where, what to do."""


class ConfigurationError(MixseekError):
    """The request cannot be carried out as written; asking again changes nothing."""


class DatasetError(ConfigurationError):
    """The dataset holds something that cannot be judged; the message names the place."""


class StorageError(MixseekError):
    """The workspace could not be read or written; what was on disk before is still there."""
