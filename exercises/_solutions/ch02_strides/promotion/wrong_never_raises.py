"""Never hears a Python number."""

FAILS = "test_scalar_raises_category"
SAYS = "higher category than the tensor"

ORDER = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
CATEGORY = {name: (name != "bool") + name.startswith("float") for name in ORDER}


def promote_types(a, b):
    if {a, b} == {"uint8", "int8"}:
        return "int16"
    return max(a, b, key=ORDER.index)


def result_dtype(*operands):
    result = None
    for kind in ("tensor", "0-dim", "scalar"):
        own = promoted([dtype for each, dtype in operands if each == kind])
        if not own:
            continue
        if result is None or (kind != "scalar" and CATEGORY[own] > CATEGORY[result]):
            result = promote_types(result, own) if result else own
    return result


def division_dtype(*operands):
    dtype = result_dtype(*operands)
    return dtype if CATEGORY[dtype] == 2 else "float32"


def promoted(dtypes):
    result = None
    for dtype in dtypes:
        result = promote_types(result, dtype) if result else dtype
    return result
