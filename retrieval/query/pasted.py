"""Decides if a question asks for pasted data or code. The words are the ordinary names of such texts."""

import re

from events.language.chinese_script import has_cjk, to_simplified

_ENGLISH = re.compile(
    r"\b(?:code|json|yaml|toml|xml|html|csv|sql|scripts?|snippets?|configs?|configuration|settings?|logs?|"
    r"stack ?traces?|tracebacks?|errors?|exceptions?|commands?|queries|query|functions?|class(?:es)?|"
    r"past(?:e|ed)|payloads?|files?|tables?)\b"
)
_CHINESE = re.compile(
    r"代码|程式|程序|脚本|配置|设定|设置|日志|报错|错误|异常|命令|指令|查询|函数|贴(?:上|过|给|的)|数据|资料|档案|文件|表格"
)


def asks_for_pasted(question: str) -> bool:
    """Returns True when a question names data or code. Any text is allowed."""
    text = question[:2000].casefold()
    if _ENGLISH.search(text):
        return True
    return has_cjk(text) and _CHINESE.search(to_simplified(text)) is not None
