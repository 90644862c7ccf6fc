"""Tests in a real browser: real JupyterLab, and pages made by `save_html`."""
