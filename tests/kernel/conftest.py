"""Jupyter's own thread, which jupyter_client starts once and never ends, is there before the first test."""

import asyncio

import pytest
from jupyter_core.utils import run_sync


@pytest.fixture(scope="session", autouse=True)
def the_thread_of_jupyter_itself() -> None:
    async def nothing() -> None:
        pass

    async def from_a_running_loop() -> None:
        run_sync(nothing)()

    asyncio.run(from_a_running_loop())
