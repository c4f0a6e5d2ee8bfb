"""The nouns of attributes in both languages: concept keys, and the nouns that name none."""

from __future__ import annotations

import re
from typing import Literal

from events.language.concepts import canonical_key, concept
from events.language.values import word_set
from ingest.extraction.rules.english.words import PETS, RELATION_PLURALS, RELATIONS

Aspect = Literal["value", "place", "time"]

# Meetings and journeys have a place and a time of their own, and no value.
GATHERINGS = word_set(
    "meeting standup stand-up sync class lesson course club group practice rehearsal training appointment "
    "party dinner lunch breakfast brunch workshop seminar lecture session interview exam test conference "
    "retro review call game match concert show wedding ceremony reception picnic hike trip flight train bus "
    "ferry tour choir band yoga pilates checkup service market fair tournament shift sync physio therapy "
    "reunion hackathon "
    "marathon race retreat wedding"
)
# Nouns that state an attribute at the start of a sentence, without "my" or "the".
BARE_HEADS = word_set(
    "rent tuition gate physio therapy standup practice rehearsal training club class lesson choir band yo"
    "ga pilates meeting sync "
    "appointment interview exam launch date deadline budget membership allowance bill fee fare price salary "
    "wedding reunion party hackathon marathon race flight gym membership parking password code hotel"
)
# What people call by name: "my new tutor is Petra", "Ines is the project lead now".
ROLES = word_set(
    "teacher tutor coach trainer instructor dentist therapist doctor cardiologist dermatologist pediatric"
    "ian paediatrician "
    "neurologist oncologist psychiatrist psychologist counselor counsellor physiotherapist gynecologist "
    "lead captain president advisor adviser mentor nanny babysitter sitter landlord realtor lawyer attorn"
    "ey accountant mechanic "
    "master designer plumber contractor stylist hairdresser barber vet supervisor guide caretaker cleaner gardener "
    "organizer organiser chair chairman treasurer secretary assistant recruiter surgeon midwife obstetric"
    "ian principal manager "
    "rep representative broker agent"
)
# Nouns whose value may be any word.
WORDED = (
    word_set(
        "password passphrase passcode pin code username login handle codename brand theme mascot colour "
        "color landlord plumber accountant lawyer vet bank gym hairdresser supermarket provider carrier flavour "
        "flavor internet insurance plan broadband mortgage"
    )
    | ROLES
)
# Nouns of households and work whose value is a fact even after "the".
_SHARED = word_set(
    "password passphrase passcode pin code username login wifi budget price fee rent limit quota target cap "
    "deadline date room seat gate platform desk locker floor office venue location place time key spot slot "
    "weight membership bill estimate tuition allowance ip terminal number rate salary headcount version p"
    "ort domain url link address server dose dosage size capacity rota "
    "schedule start finish minimum maximum deposit discount premium allowance fare toll tip goal score "
    "temperature thermostat alarm frequency interval threshold estimate quote bill bin bins recycling colour "
    "color theme mascot codename"
)
_NO_NOUNS = (
    word_set(
        "answer problem issue question reason point result thing things idea fact truth rest only best worst "
        "first second third last next other same one way output error sum total value variable function method "
        "list array example difference main purpose function trick catch key-point matter case story moral kind "
        "type sort part bit lot number-one life world mind heart head body face hand eyes hair mood weather sky "
        "sun day night morning year week month people name birthday age job boss hobby goal dream aim favourite "
        "favorite friend house home car phone email address number nickname company employer employee occupation "
        "audience audiences topic topics count counts profession focus attention approach priority interest opinion "
        "view stance tone pace style routine plan "
        "plans progress mistake mistakes errors results concern worry hope feeling experience understanding "
        "bishop knight rook queen king pawn euro dollar pound yen stock stocks share shares market knowledge "
        "preference choice decision mind project team family work day session sessions"
    )
    | RELATIONS.keys()
    | RELATION_PLURALS.keys()
    | PETS
)
_WITH_MORE = word_set("number address house car name day color colour")
# Registered concepts that a change of an attribute may name: "I changed my email to …".
_REGISTERED = word_set("salary rent budget email weight height version wake_time website shoe_size bank")
_NO_PARTS = word_set(
    "i you he she it we they who which that this these those is are was were be been has have had do does did "
    "will would can could should not no if when while because so and or but to in on at by from as than then "
    "there here where what how why really very also just even still always never hope think feel want need "
    "said says told"
)
_JOINED = word_set("of for at with to")
_PLACED = {
    "room": "",
    "location": "place",
    "venue": "place",
    "place": "place",
    "spot": "place",
    "address": "place",
}
_TIMED = {"time": "time", "date": "time", "day": "time", "schedule": "time", "slot": "time", "start": "time"}
_DUE = re.compile(r"(?:^|_)(?:deadline|due_date)$")


def english_key(words: str, aspect: Aspect, *, shared: bool) -> str | None:
    """Returns the concept key of a noun phrase, or None when it names no attribute.

    "The price of the tickets" and "the ticket price" have one key. ``shared`` is True for a noun of nobody ("the …").
    """
    parts = [part.strip("'’").removesuffix("'s") for part in words.lower().replace("-", " ").split()]
    joint = next((at for at, part in enumerate(parts) if part in _JOINED and at), None)
    if joint is not None:
        after = [part for part in parts[joint + 1 :] if part not in ("the", "my", "our", "this", "a", "an")]
        parts = [*after, *parts[:joint]]
    while len(parts) > 1 and parts[0] in (
        "new",
        "current",
        "old",
        "own",
        "usual",
        "weekly",
        "regular",
        "the",
    ):
        parts = parts[1:]
    if len(parts) > 1 and parts[-1] in ("appointment", "session") and parts[-2] in _VISITED:
        parts = parts[:-1]
    if parts and (parts[0] in ("their", "his", "her", "other") or parts[-2:] == ["minimum", "wage"]):
        return None
    if not parts or len(parts) > 5 or any(part in _NO_PARTS for part in parts):
        return None
    if parts[-1] in ("goal", "target") and len(parts) > 1 and parts[-2] in _MEASURED:
        return "_".join(parts)
    belonging = aspect == "place" and parts[-1] in _BELONGINGS
    if parts[-1] in _NO_NOUNS and not belonging and not (len(parts) > 1 and parts[-1] in _WITH_MORE | ROLES):
        return None
    if len(parts) > 1 and parts[-1] in ("ticket", "tickets"):
        parts = parts[:-1]
    parts = [_singular(part) for part in parts]
    head = parts[-1]
    if shared and head not in _SHARED | GATHERINGS and aspect == "value":
        return None
    return _key(parts, head, aspect)


_VISITED = ROLES | word_set("physio therapy")
_MEASURED = word_set("saving savings fundraising step steps weight sales revenue word distance mileage")
# These are somewhere: "the car is on level 2".
_BELONGINGS = word_set(
    "car van truck bike motorbike scooter passport key laptop suitcase desk office website server"
)


def _key(parts: list[str], head: str, aspect: Aspect) -> str | None:
    if len(parts) > 1 and (suffix := _PLACED.get(head, _TIMED.get(head))):
        return "_".join((*parts[:-1], suffix))
    key = "_".join(parts)
    if _DUE.search(key):
        return key
    if aspect == "place" and (head in _BELONGINGS or head == "hotel"):
        return f"{key}_place"
    canonical = canonical_key(key)
    if concept(canonical) is not None and not (head in ROLES and len(parts) > 1):
        return canonical if canonical in _REGISTERED and aspect == "value" else None
    return key if aspect == "value" or head in _PLACED or head in _TIMED else f"{key}_{aspect}"


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
    return word


_NO_CHINESE = re.compile(
    "最喜欢|最爱|[我你您他她它这那谁什说想去来吃看听做没不就也很太吗呢吧把被让给对跟和]|手[里上]|身上|(?<![京首成])都|油价|股价|房价|物价|金价|汇率|关税|工资|[气水室油]温|音量|体温|字体|标题|段落?$|话题|焦点|头发|机会|社会|时候|"
    "已经|一般|直接|白天|晚上|早上|平时|平常|通常|有时|经常|总是|一直|马上|立刻|慢慢|逐渐|终于|自己|突然|随时|及时|同时|"
    "虽然|特意|顺便|尽量|内容|第[一二三四五六七八九十\\d]|全部|问题|答案|原因|结果|重点|意思|今天|明天|"
    "用户|受众|主角|角色|(?:客户|生日)$|名字|年龄|公司|职业|电话|手机|老板|[妈爸]$|狗|猫|天气|心情|世界|人生|会议室预约|大家|有人|上线|发布|开源"
)
# What people call by name: 健身教練是…, 組長換成….
CHINESE_ROLES = (
    "教练|老师|组长|班长|队长|社长|会长|班导师?|导师|教授|医师|医生|牙医|负责人|承办人?|联络人|窗口|保[母姆]|房仲|中介|会计师?|律师|设计师|"
    "家教|助理|主任|司机|管家|理发师|代理人|接班人|房东|师傅|业务"
)
_CHINESE_MONEY = (
    "预算|价格?|费|租|金|薪水?|薪|利率|贷款|报价|估价|体重|零用钱|额度|费率|门票|票价|单价|押金|学费|目标"
    "|尾款|头期款"
)
CHINESE_HEADS = (
    f"{CHINESE_ROLES}|{_CHINESE_MONEY}|"
    "密码|帐号|账号|会议?|课|班|社|团|截止日期?|期限|派对|婚宴|喜宴|球赛|读书会|"
    "车位|座位|位置?|教室|办公室|会议室|地点|地址|时间|名称|"
    "日期|号码?|路线|编号|尺寸|剂量|频率|人数|上限|下限|版本|网址|域名|网站|服务器|伺服器|资料库|数据库|链接|IP|"
    "连结|温度|闹钟|门诊|复健|看诊|回诊|健检|体检|柜子?|钥匙|护照|存折|证件|印章|硬碟|硬盘|楼层|月台|登机口|班机|飞机|火车|高铁|票|"
    "训练|练习|排练|聚会|聚餐|大餐|例会|周会|晨会|站会|数量|比例|比率|进度|暗号|代号|"
    "主题|颜色|品牌|牌子|店|餐厅|饭店|酒店|旅馆|民宿|健身房|网路|网络|宽频|宽带|门号|信用卡|保险|"
    "银行|方案|套餐|班次|航班|考试?|期末考|期中考|面试|婚礼|行程|活动|比赛|课程|讲座|会场|场地|马拉松|旅行|之旅|同学会|读书会"
)
_CHINESE_HEADS = re.compile(f"(?:{CHINESE_HEADS})$")
_CHINESE_ROLES = re.compile(f"(?:{CHINESE_ROLES})$")
_CHINESE_SUMS = re.compile(f"(?:{_CHINESE_MONEY})$")
_GATHERING_CHINESE = re.compile(
    "(?:会议?|课|班|社|团|训练|练习|排练|面试|婚礼|婚宴|喜宴|派对|行程|活动|比赛|球赛|考试|期末考|期中考|航班|班机|飞机|火车|高铁|高铁票|车票|机票|门诊|复健|回诊|"
    "看诊|健检|体检|讲座|课程|聚餐|大餐|聚会|马拉松|之旅|旅行|牙医)$"
)
_PLACE_CHINESE = re.compile("(?:的)?(?:地点|位置|会场|场地|地址)$")
_TIME_CHINESE = re.compile("(?:的)?(?:时间|日期)$")


def chinese_key(words: str, aspect: Aspect, *, sure: bool) -> str | None:
    """Returns the concept key of a noun in simplified script, or None when it names no attribute.

    ``sure`` is True when other words show an attribute: a possessor or an announced change.
    """
    noun = (
        re.sub(
            r"^(?:原本|本来|现在|目前|后来|新|旧|[飞去往到](?=.+(?:班机|航班|机票|火车|高铁|票)$)|每[周週天月]|的)+",
            "",
            words,
        )
        .replace("的", "")
        .replace(" ", "")
    )
    noun = re.sub(r"截止日期?$|期限$|死线$", "截止日", noun)
    if noun == "车":
        return "车_place" if aspect == "place" else None
    noun = re.sub(r"^小组(?=组长)", "", noun)
    if not 2 <= len(noun) <= 12 or _NO_CHINESE.search(noun) or not (sure or _CHINESE_HEADS.search(noun)):
        return None
    for pattern, suffix in ((_PLACE_CHINESE, "place"), (_TIME_CHINESE, "time")):
        shorter = pattern.sub("", noun)
        if shorter != noun and len(shorter) > 1:
            return f"{shorter.casefold()}_{suffix}"
    if noun.endswith("截止日") or aspect == "value":
        canonical = canonical_key(noun)
        if concept(canonical) is not None:
            return canonical if canonical in _REGISTERED else None
        return noun.casefold()
    return f"{noun.casefold()}_{aspect}"


def has_chinese_head(noun: str) -> bool:
    """Returns True for a noun in simplified script that names an attribute by its last word: a password, a price."""
    return _CHINESE_HEADS.search(noun) is not None


def is_chinese_role(noun: str) -> bool:
    """Returns True for a noun in simplified script whose value is a person: a coach, a leader."""
    return _CHINESE_ROLES.search(noun) is not None


def sums_up(noun: str) -> bool:
    """Returns True for a noun in simplified script whose value is a sum or another amount: a rent, a weight."""
    return _CHINESE_SUMS.search(noun) is not None


def gathers(noun: str, *, chinese: bool) -> bool:
    """Returns True for a noun with a place and a time of its own: a meeting, a lesson, a journey."""
    if chinese:
        return _GATHERING_CHINESE.search(noun) is not None
    return _singular(re.split(r" (?:of|for|at|with) ", noun.lower())[0].split(" ")[-1]) in GATHERINGS


def takes_words(noun: str) -> bool:
    """Returns True for an English noun whose value may be any word: a password, a colour."""
    return re.split(r" (?:of|for|at|with) ", noun.lower())[0].split(" ")[-1] in WORDED
