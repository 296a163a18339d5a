"""One thread: two beside any other load wait for each other."""

import torch

torch.set_num_threads(1)
