"""``/`` leads to a page with every operation. The page needs no network and no key."""

import re

import pytest

from tests.support.stack import Running
from tests.support.web import WEB


@pytest.mark.parametrize("service", ["read", "write"])
def test_the_root_leads_to_a_page_that_loads_nothing(stack: Running, service: str) -> None:
    url = getattr(stack, f"{service}_url")
    answer = WEB.get(f"{url}/", follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/docs")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"<script|<img|<link|@import|src=|url\(", answer.text)
    assert set(re.findall(r"href='?([^'# >][^' >]*)", answer.text)) == {"openapi.json"}
    document = WEB.get(f"{url}/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert f"<code>{method.upper()} {path}</code>" in answer.text
            assert f"id='{operation['operationId']}'" in answer.text
    for name in re.findall(r"href='#schema-(\w+)'", answer.text):
        assert f"id='schema-{name}'" in answer.text
