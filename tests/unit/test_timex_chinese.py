"""Chinese expressions of time, read on Friday 8 May 2026, 16:44 in Taipei."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from events.timex import Found, find

NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=ZoneInfo("Asia/Taipei"))


def only(text: str) -> Found:
    dated = [found for found in find(text, NOW) if found.kind != "duration"]
    assert len(dated) == 1, [found.text for found in dated]
    return dated[0]


def shown(moment: datetime | None) -> str | None:
    """As short as it is exact: a date at midnight, else a date and time."""
    if moment is None:
        return None
    plain = moment.replace(tzinfo=None)
    return (
        plain.date().isoformat()
        if plain == plain.replace(hour=0, minute=0, second=0)
        else plain.isoformat(" ")
    )


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        # dates
        ("2026年5月8日", "2026-05-08", "2026-05-09"),
        ("２０２６年５月８日", "2026-05-08", "2026-05-09"),
        ("二〇一六年三月五日", "2016-03-05", "2016-03-06"),
        ("我五月八號到的", "2026-05-08", "2026-05-09"),
        ("民國一一四年五月搬家", "2025-05-01", "2025-06-01"),
        ("2010.01.29", "2010-01-29", "2010-01-30"),
        ("廿三號那天下雨了", "2026-04-23", "2026-04-24"),
        ("98年畢業", "1998-01-01", "1999-01-01"),
        ("去年農曆八月十五", "2025-10-06", "2025-10-07"),
        # words of the day
        ("大前天我感冒了", "2026-05-05", "2026-05-06"),
        ("前天", "2026-05-06", "2026-05-07"),
        ("後天", "2026-05-10", "2026-05-11"),
        ("大後天", "2026-05-11", "2026-05-12"),
        ("昨晚", "2026-05-07 18:00:00", "2026-05-08"),
        ("今天下午三點半", "2026-05-08 15:30:00", "2026-05-08 15:31:00"),
        ("明早7点", "2026-05-09 07:00:00", "2026-05-09 08:00:00"),
        # weeks and weekdays
        ("我上週做了什麼？", "2026-04-27", "2026-05-04"),
        ("上週三", "2026-04-29", "2026-04-30"),
        ("下禮拜天", "2026-05-17", "2026-05-18"),
        ("上上個週三", "2026-04-22", "2026-04-23"),
        ("這週末", "2026-05-09", "2026-05-11"),
        # months, quarters, halves, seasons, years
        ("上個月", "2026-04-01", "2026-05-01"),
        ("下個月初", "2026-06-01", "2026-06-16"),
        ("月底", "2026-05-16", "2026-06-01"),
        ("去年五月中旬", "2025-05-11", "2025-05-21"),
        ("今年第一季", "2026-01-01", "2026-04-01"),
        ("2015年第三季度", "2015-07-01", "2015-10-01"),
        ("上半年", "2026-01-01", "2026-07-01"),
        ("去年春天", "2025-03-01", "2025-06-01"),
        ("前年", "2024-01-01", "2025-01-01"),
        ("九十年代", "1990-01-01", "2000-01-01"),
        ("康熙二十年九月", "1681-09-01", "1681-10-01"),
        # pieces
        ("2021年的第二周", "2021-01-11", "2021-01-18"),
        ("去年的前10天", "2025-01-01", "2025-01-11"),
        ("去年四月的最后一个星期一", "2025-04-28", "2025-04-29"),
        # lengths back and ahead
        ("三個禮拜前", "2026-04-17", "2026-04-18"),
        ("兩天後", "2026-05-10", "2026-05-11"),
        ("最近三個月", "2026-02-08", "2026-05-08"),
        ("未来两年", "2026-05-09", "2028-05-09"),
        ("一百二十三天前", "2026-01-05", "2026-01-06"),
        ("10分钟之前", "2026-05-08 16:34:10", "2026-05-08 16:35:10"),
        ("春節前三天", "2026-02-14", "2026-02-17"),
        # ranges and bounds
        ("從上個月到現在我學了什麼", "2026-04-01", "2026-05-08 16:44:10"),
        ("2016年一月十日到十二日", "2016-01-10", "2016-01-12"),
        ("2015年和2018年之间", "2015-01-01", "2018-01-01"),
        ("2019年至今", "2019-01-01", "2026-05-08 16:44:10"),
        ("自2018年以來", "2018-01-01", None),
        ("2018年以前", None, "2018-01-01"),
        ("他07年以后就没再来过", "2008-01-01", None),
        ("截止到2018年", None, "2018-01-01"),
        ("昨天下午兩點到四點", "2026-05-07 14:00:00", "2026-05-07 16:00:00"),
        # holidays
        ("2016年春节", "2016-02-08", "2016-02-09"),
        ("今年端午", "2026-06-19", "2026-06-20"),
        ("去年中秋節", "2025-10-06", "2025-10-07"),
        ("今年除夕夜", "2026-02-16", "2026-02-17"),
        ("今年元宵", "2026-03-03", "2026-03-04"),
        ("去年重陽節", "2025-10-29", "2025-10-30"),
        ("去年圣诞节", "2025-12-25", "2025-12-26"),
        ("去年国庆", "2025-10-01", "2025-10-02"),
        ("去年國慶", "2025-10-10", "2025-10-11"),
    ],
)
def test_an_expression_is_its_interval(text: str, start: str | None, end: str | None) -> None:
    found = only(text)
    assert (shown(found.start), shown(found.end)) == (start, end)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("我週三見了小明", "2026-05-06"),
        ("我週三會見小明", "2026-05-13"),
        ("六月我去了東京", "2025-06-01"),
        ("六月我打算去東京", "2026-06-01"),
        ("15號要交報告", "2026-05-15"),
    ],
)
def test_tense_says_which_one(text: str, start: str) -> None:
    assert shown(only(text).start) == start


def test_traditional_and_simplified_are_read_alike() -> None:
    traditional = find("上個禮拜三下午兩點開會，這個週末沒時間", NOW)
    simplified = find("上个礼拜三下午两点开会，这个周末没时间", NOW)
    assert [(one.start, one.end, one.begin) for one in traditional] == [
        (one.start, one.end, one.begin) for one in simplified
    ]
    assert len(traditional) == 2


def test_english_and_chinese_in_one_text() -> None:
    found = find("上週 I met her on 3 May 2026", NOW)
    assert [shown(one.start) for one in found] == ["2026-04-27", "2026-05-03"]


@pytest.mark.parametrize(
    "text",
    [
        "等一下",
        "我住在日本",
        "有一點累，一點都不好",
        "我有三點建議",
        "有一天我會成功",
        "日月潭很美",
        "生日快樂",
        "12號線",
        "信義路五段7號",
        "七號電池",
        "手機號碼0912345678",
        "我的电话号码是888-000-9999。",
        "比分3:2，版本3.11",
        "五月天的演唱會",
        "周杰倫和周小姐",
        "三分之一",
        "兩點之間直線最短",
        "標準普爾指數下降",
        "這是我的隊伍",
        "每週三開會，每天下午3點",
        "我們24/7營業",
        "星期",
    ],
)
def test_what_is_no_time_is_not_found(text: str) -> None:
    assert [found.text for found in find(text, NOW)] == []
