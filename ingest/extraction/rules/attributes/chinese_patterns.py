"""The patterns of Chinese attributes: how a clause states a value, changes it, or names the noun alone."""

from __future__ import annotations

import re

from ingest.extraction.rules.attributes.nouns import CHINESE_HEADS
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.sentences import HIDDEN

_OPEN = (
    r"(?:对了|所以|但是|不过|而且|然后|因为|其实|结果|后来|现在|目前|刚刚|最近|跟你说|顺便说|更新一下|原来|另外|"
    rf"听说|{TIME}++的?|以后|之后| )*+"
)
# Those who decide about a thing or tell of a change: 診所打來說, 老闆把.
_WHO = (
    "(?:主办单位|主办方?|公司|学校|老师|教授|老板|主管|经理|财务|医生|医师|诊所|医院|航空公司|银行|房东|客服|教练|开发商|建商|"
    "厂商|客户|对方|店家|餐厅|旅行社|社区|物业|补习班|HR|设计师|房仲|官方|班长|助教|我们?|他们|她|他)"
)
_SO = (
    "(?:目前|现在|已经|都|就|又|再|还是|被|临时|决定|要|刚刚?|整个|全部|通通|直接|以后|之后|后来|终于|确定|这学期|下学期|"
    f"从?{TIME}++[起的]?|，)*+"
)
_BY = (
    rf"(?:{_WHO}{_SO}(?:(?:打电话|打|来电|来信|写信|发信|来)?(?:公告|通知|宣布|来?说|跟我说|告诉我|表示)|(?"
    rf"=[把将]|涨)))?{_SO}"
)
_WHOSE = (
    "(?P<whose>我们(?:公司|部门|学校)的|我们[组班家队]?的?|我家的?|家里的|咱们的?|我的?|公司的?|学校的?|班"
    "上的?|社团的?)?"
)
_NOUN = rf"(?P<n>[车]|[^，,。；;！!？?、：:是在为改换调移搬延{TIME}{HIDDEN}]{{2,14}}?)"
# 改造, 改善, 交换 and 切换 are other words.
_CHANGE = (
    "(?:改约(?:到|在)?|改订|改名(?:叫做?|为|成)?|更名为|改叫|改放到?|改停到?|(?<![修更整])改(?:成|到|在|为|去|(?![造善进良变动革正编组装掉名订约叫用]))|"
    "(?<![交切变更替兑转退轮])换(?:到|成|去|在|(?![取算句代位言气]))|[移搬挪转](?:到|至|去)|延[到至]|延[后期](?:到|至)|顺延(?:到|至)?|推迟[到至]|提前[到至]|"
    "提早[到至]|调(?:整|高|低|涨|降|升)?[到成为至]|涨[到成]|升级?[到成]|[降砍压掉跌减缩][到成至为]|提高[到至]|增加[到至]|加[到至]|变成|"
    "设[成为]|更新[成为]|携码到|延(?![伸续误])|提前|提早|延后|推迟|[移挪调](?=\x01))了?"
)
_END = (
    rf"(?=$|[，,。；;！!？?、 {HIDDEN}]|了|啦|喔|哦|啊|呀|呢|吧|见|集合|举行|开会|碰面|上课|(?:的|上|里|办|"
    rf"那班|那间)+"
    rf"(?:$|[，,。；;！!？?、 了{HIDDEN}]))"
)
_VALUE = rf"(?P<v>[^，,。；;！!？?、{HIDDEN}]{{1,24}}?)"
CHANGED = re.compile(
    rf"{_OPEN}{_BY}(?P<ba>[把将])?{_WHOSE}(?:把)?{_NOUN}(?:我们)?{_SO}(?:从(?P<o>[^，,。{HIDDEN}]{{1,14}}?))?{_SO}(?P<verb>{_CHANGE})(?P<link>在)?{_VALUE}{_END}"
)
_LINK = "是在|是叫|就是|是|名?叫做?|[约订定排设开办停放收摆]在|在|为|用的是|订的是|：|:"
STATED = re.compile(rf"{_OPEN}{_BY}{_WHOSE}{_NOUN}{_SO}(?P<link>{_LINK})\s?{_VALUE}{_END}")
# A preposition before a time is masked with it: 比賽在八月二號.
WHEN = re.compile(
    rf"{_OPEN}{_BY}{_WHOSE}{_NOUN}(?:日期|时间)?(?:[约订定排改]|预计|就)*(?P<v>{TIME}{{2,}}){_END}"
)
_PER = "(?:一?(?:个月|年|学期|期|周|次|堂|小时|天)|每(?:个月|月|年|学期|期|周|次|堂|小时|天))?"
_SUM = (
    r"(?P<v>[$]?[一二三四五六七八九十百千万两半\d][\d.,一二三四五六七八九十百千万两半]*\s?(?:块|元|%|公斤|"
    r"kg|斤|美元|欧元|人民币|台币)?)"
)
COSTS = re.compile(
    rf"{_OPEN}{_BY}(?:[跟给对][^，。]{{1,4}}?(?=报价|估价))?{_WHOSE}{_NOUN}{_SO}{_PER}(?:大概|大约|约|差不多|要|是)?{_PER}{TIME}*+\s?{_SUM}{_END}"
)
IT = re.compile(rf"{_OPEN}(?:它|时间|地点|地址)?{_SO}(?:把它)?(?P<verb>{_CHANGE}){_VALUE}{_END}")
# 我把硬碟拿回家了，現在放在衣櫃: the second clause has the new place.
TAKEN = re.compile(rf"{_OPEN}我?把{_NOUN}(?:拿|带|搬|收|移)[^，。]{{0,5}}了(?=$|[，,])")
# "組長換人了，現在是俊宏": the first clause names what changed, the second its new value.
RENEWED = re.compile(
    rf"{_OPEN}{_BY}{_WHOSE}(?:{_NOUN}{_SO}(?:换人|换|改|变|调整|涨价?|降价?|换新)过?了?|涨(?P<rise>[租价]))(?=$|[，,。；;！!])"
)
NOW = re.compile(
    rf"{_OPEN}{_BY}(?:新的)?{_SO}(?:{_OPEN})(?:改|换|变)?(?:是|成|叫做?|在|到|为|开始|涨到|升到|降到|要|用|：)*\s?{_VALUE}{_END}"
)
NAMED = re.compile(
    rf"{_OPEN}{_WHOSE}(?P<n>[^，,。；;！!？?、：:是在改换{TIME}{HIDDEN}]{{0,8}}?(?:{CHINESE_HEADS}))(?=因|由于|太|客满|取消|没|{TIME}|$|我们|先)"
)
