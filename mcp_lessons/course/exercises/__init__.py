"""The exercises, one file a lesson; `..exercise` describes their shape."""
