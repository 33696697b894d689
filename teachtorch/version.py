"""What this build is (torch.version). There is no CUDA, ROCm or XPU in it."""
__version__ = "0.1.0"
debug = False
cuda = hip = xpu = git_version = None
