"""Reach of the app: this machine only, or shared with others."""

from __future__ import annotations

import re

import streamlit as st

from core.server import hosts
from core.server.settings import settings


def names() -> frozenset[str]:
    """Return the host names that the app answers to, besides the address of the connection."""
    return hosts.own_names(st.get_option("server.address"), settings().hosts)


def shared() -> bool:
    """Return whether the app may be meant for others than this machine's users."""
    return hosts.is_shared(st.get_option("server.address"), settings().hosts)


# In a link, and in the header of a request (`deploy/haproxy.cfg`): the replica that must answer.
REPLICA, _HEADER = "replica", "X-Replica"


def replica() -> str:
    """Return the name of this replica among several behind a proxy; empty if there is only one."""
    name = st.context.headers.get(_HEADER) or ""
    return name if re.fullmatch(r"[A-Za-z0-9-]{1,32}", name) else ""
