"""What holds for all tests, before anything is imported."""

import gc
import os

# Some virtual machines announce AMX and don't carry it out: products in bfloat16 end the process.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

# What is imported is no garbage: a collection that walks through it takes half a second.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
