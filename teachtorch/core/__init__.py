"""Ground floor: dtypes, devices, shapes and strides, settings, the observer. Knows nothing of tensors."""
