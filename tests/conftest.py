"""What holds for all tests, before anything is imported."""

import os

# Some virtual machines announce AMX and don't carry it out: products in bfloat16 end the process.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")
