"""What the scripts of the ranks share: run all checks, and write down how each went."""

import json
import sys
import traceback
from datetime import timedelta
from pathlib import Path

import teachtorch.distributed as dist


def run_checks(checks):
    """Run each check on this rank, then write {name: "ok" or its traceback} into the folder of the first argument."""
    dist.init_process_group(timeout=timedelta(seconds=60))
    report = {}
    for check in checks:
        try:
            check()
            report[check.__name__] = "ok"
        except Exception:
            report[check.__name__] = traceback.format_exc()
            break  # the other ranks may wait for this one: end here
    Path(sys.argv[1], f"{dist.get_rank()}.json").write_text(json.dumps(report))
    if "ok" not in report.values() or list(report.values())[-1] != "ok":
        sys.exit(1)
    dist.barrier()
    dist.destroy_process_group()
