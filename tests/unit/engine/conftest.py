"""Workers are spawned with our sys.path, so the stubs must be importable by name, not only by pytest."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
