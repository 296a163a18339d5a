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


def client() -> str:
    """Return the visitor's network address; empty on this machine.

    Behind a proxy, for which the operator names hosts, it is the one that the proxy has added last.
    """
    forwarded = (st.context.headers.get(_FORWARDED) or "") if settings().hosts else ""
    return forwarded.rpartition(",")[2].strip()[:_LONGEST] or st.context.ip_address or ""


# In a link, and in the header of a request (`deploy/haproxy.cfg`): the replica that must answer.
REPLICA, _HEADER = "replica", "X-Replica"
# Characters of the longest address (IPv6).
_FORWARDED, _LONGEST = "X-Forwarded-For", 45


def replica() -> str:
    """Return the name of this replica among several behind a proxy; empty if there is only one."""
    name = st.context.headers.get(_HEADER) or ""
    return name if re.fullmatch(r"[A-Za-z0-9-]{1,32}", name) else ""
