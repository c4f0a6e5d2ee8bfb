"""The word lists of the evidence check: words that need no evidence, and words with the same meaning."""

import re

from events.language.concepts import all_concepts
from events.language.timex import is_number_word, month_of, numbers
from events.language.timex.numerals import chinese
from events.language.values import word_set

__all__ = ["claimed", "is_number_word", "month_of", "offered"]

_WORD = re.compile(r"[a-z]+")


def offered(text: str) -> frozenset[float]:
    """Returns every number that ``text`` (NFKC, case folded) may say."""
    found = {value for number in numbers(text) for value in (number.value, number.written)}
    found.update(float(month) for word in _WORD.findall(text) if (month := month_of(word)) is not None)
    found.update(float(digit) for sign in text if not sign.isascii() and (digit := chinese(sign)) is not None)
    return frozenset(found)


def claimed(text: str) -> list[frozenset[float]]:
    """Returns the numbers that ``text`` states, each as the set of its possible meanings.

    Ambiguous number words do not count.
    """
    return [
        frozenset((number.value, number.written)) if number.loose else frozenset((number.value,))
        for number in numbers(text)
        if not number.loose or text[number.begin].isdecimal()
    ]


NOUGHT = word_set(
    "a an the of in on at to for from with by as and or but my our your his her their its is are was "
    "were be been am i me you he she it we they this that these those s user user's named called name "
    "some any very so no not more"
)
"""Words that need not have been spoken."""
LINKING = word_set(
    "such as than then when while where who whom which what about into through over under between during if because "
    "should would could can will must may might do does did has have had get gets other others all also just only too"
)
"""Words that join the words of a value. A value may use them unsaid."""
BACK = word_set(
    "it its he she they him her them his hers their theirs this that these those there here then same "
    "both one ones we us our yes yeah yep yup no nope sure too either neither so did do does former "
    "latter other another mine"
)
"""Words that point back to other words."""
BACK_CJK = re.compile(
    "[那这它他她牠此该也]|是的|对啊?|没错|嗯|不是|同样|两个都|前者|后者|そこ|それ|これ|はい|彼"
)
ATTRIBUTES = frozenset(
    word
    for concept in all_concepts()
    for name in (concept.key, *concept.aliases)
    for word in re.findall("[a-z]+", name.casefold())
)
"""The words of the concept keys and their aliases."""
ALIKE = tuple(
    word_set(group)
    for group in (
        "mom mother mum mama mommy mummy ma",
        "dad father papa daddy pa",
        "grandma grandmother granny nana",
        "grandpa grandfather granddad",
        "kid kids child children son sons daughter daughters",
        "boy boys lad son sons",
        "girl girls daughter daughters",
        "folks parents parent mother father",
        "hubby husband",
        "sibling brother sister",
        "wife husband spouse married partner",
        "girlfriend boyfriend partner",
        "dog puppy pup dogs puppies",
        "cat kitten cats kittens kitty",
        "car automobile auto",
        "tv television telly",
        "bike bicycle cycling biking",
        "phone telephone mobile",
        "veg vegetarian veggie",
        "job work position employer employed",
        "usa us america",
        "uk britain",
        "nyc york",
        "sf francisco",
        "live lives living lived life",
        "fly flew flown flies flight",
        "buy bought buys purchase purchased",
        "go went gone goes going",
        "teach taught teaches teacher",
        "marry married marriage wedding",
        "exam test",
        "movie movies film films",
        *(
            "monday mon",
            "tuesday tue tues",
            "wednesday wed",
            "thursday thu thur thurs",
            "friday fri",
            "saturday sat",
        ),
        "sunday sun",
    )
)
ALIKE_CJK = tuple(
    word_set(group)
    for group in (
        "妈妈 母亲 老妈 妈",
        "爸爸 父亲 老爸 爸",
        "太太 老婆 妻子 配偶",
        "老公 丈夫 先生 配偶",
        "女朋友 女友",
        "男朋友 男友",
        "狗狗 小狗 狗",
        "猫咪 小猫 猫",
        "孩子 小孩 儿子 女儿 小朋友",
        "老师 教师",
        "奶奶 祖母 阿嬷",
        "爷爷 祖父 阿公",
        "软件 软体 程式 程序",
        "手机 电话",
        "电子邮件 邮箱 信箱",
        "吃素 素食 素食者",
        "单车 脚踏车 自行车",
    )
)
KIN: dict[str, tuple[str, ...]] = {
    word: tuple(characters.split())
    for words, characters in (
        ("father dad papa", "爸 父亲"),
        ("mother mom mum mama", "妈 母亲"),
        ("parents parent", "爸妈 父母 爸 妈"),
        ("wife spouse", "老婆 太太 妻 媳妇 爱人"),
        ("husband spouse", "老公 先生 丈夫 爱人"),
        ("girlfriend partner", "女朋友 女友"),
        ("boyfriend partner", "男朋友 男友"),
        ("son", "儿子"),
        ("daughter", "女儿"),
        ("child children kid kids baby", "孩 儿子 女儿 宝宝"),
        ("brother brothers", "哥 弟"),
        ("sister sisters", "姐 姊 妹"),
        ("grandmother grandma", "奶奶 外婆 姥姥 阿嬷 祖母"),
        ("grandfather grandpa", "爷爷 外公 姥爷 阿公 祖父"),
        ("family", "家"),
        ("friend friends", "朋友"),
        ("boss manager", "老板 上司 主管 经理"),
        ("colleague colleagues coworker", "同事"),
        ("roommate flatmate", "室友"),
        ("teacher", "老师"),
        ("dog puppy", "狗"),
        ("cat kitten", "猫"),
    )
    for word in words.split()
}
"""English words for people and pets of a speaker of Chinese, in simplified script. Entities are named with them."""
COMMON = frozenset(
    "我你您的地得了着过是有在不没无也都就还再又很最更太将会能可要想让使被把给对向于以及或等和与跟同为从到"
    "往来去之其所这那个只位名次种份台辆些每住搬说讲叫做用养爱怕学读写听看玩开飞坐骑走跑付欠租拿收送带找患"
    "吃喝买卖岁号他她它们自己并但如果因由时曾觉感认识换改变成结离分见戒辞"
)
"""Characters of common words: verbs, particles, measure words. No name consists of them alone."""
COMMON_WORD = re.compile(
    "住在|居住|搬到|搬家|工作|职业|任职|担任|上班|公司|使用|姓名|名字|名叫|喜欢|爱好|讨厌|偏好|打算|计划|"
    "准备|希望|现在|目前|曾经|已经|正在|参加|参与|举行|进行|开始|结束|完成|离开|辞职|退休|换成|改成|变成|"
    "不再|想要|因为|由于|行程|打算|结婚|离婚|分手|订婚|出生|生日|年龄|今年|去年|明年|今天|昨天|明天|上周|下周|本周|上个?月|下个?月|星期"
    "|旅行|旅游|学习|就读|学校|考试|通过|认识|见面|拜访|觉得|感到|拥有|过敏|疾病|治疗|身体|平常|经常|常常"
    "|通常|最近|刚才|一直|不再|用户|使用者|本人|朋友|家人|喜好|兴趣|成为|作为|其中|之前|之后|以前|以后|同"
    "时|早上|下午|晚上|中午|小时|分钟|每天|每周|薪水|收入|地址|电话|手机号?|号码|取消|"
    "[一二三四五六七八九十百千万两几半]{1,8}(?:间|家|栋|条|支|部|件|杯|本|双|个|位|名|次|种|份|台|辆|节|门|层|楼)|"
    "改期|延期|改到|改在|推迟|提前|作罢|不去了|原定|原本|更正|约定|相约|预定|一起"
)
ORDINARY = re.compile(
    "老[师板婆公家人爸妈外]|小[孩时学狗猫说组吃朋店区]|阿姨|程式|程序|高中|高[铁兴级]|黄色|马上|白[色天]|方[便法案]|石头|钱包|温泉|水果|花[园费]|国[家小]|平[时常]|安[全静排]|常见|计程|许多|任务|"
    "成[功绩]|时[间候]|车[子站票]|房[子租间]|路上|游泳|毛衣|明白|全[部家职]|关[系心]|管理|解决|向来|应该|单[身位]|红色|黑色|蓝色|绿色|项目"
)
"""Words that begin with a character of a surname and are no names."""
_NO_MORE = r"(?:n't|\b(?:no|not|never|without|stopped|quit|gave up|cut out|avoid)\b)[^.!?]{0,25}"
_NO_MORE_CJK = "(?:不|没|戒|从不|不再)"
_FISH = r"\b(?:fish|seafood|salmon|tuna|sushi|shrimps?|prawns?)\b"
MEANINGS: tuple[tuple[frozenset[str], re.Pattern[str]], ...] = tuple(
    (word_set(values), re.compile(said))
    for values, said in (
        (
            "vegetarian veggie 素食 素食者 吃素",
            rf"{_NO_MORE}\bmeat\b|\bmeat[- ]?(?:free|less)\b|\b(?:only|just) (?:eat )?vegetables\b"
            rf"|{_NO_MORE_CJK}(?:再)?吃(?:肉|荤)",
        ),
        (
            "vegan 纯素 全素",
            rf"{_NO_MORE}\banimal products\b|\b(?:completely|fully|entirely) plant[- ]based\b"
            rf"|不吃(?:任何)?动物(?:性食)?",
        ),
        (
            "pescatarian pescetarian 鱼素 海鲜素",
            rf"{_NO_MORE}\bmeat\b(?=.*{_FISH})|{_FISH}(?=.*{_NO_MORE}\bmeat\b)"
            rf"|不(?:再)?吃(?:肉|荤)(?=.*(?:鱼|海鲜))",
        ),
        (
            "lactose intolerant 乳糖不耐",
            r"\b(?:can't|cannot) (?:digest|tolerate) (?:milk|dairy|lactose)\b|喝(?:牛)?奶.{0,4}拉肚子",
        ),
        (
            "gluten free gluten-free coeliac celiac 无麸质",
            rf"{_NO_MORE}\b(?:gluten|wheat)\b|不(?:能|再)?吃麸质",
        ),
        (
            "non smoker nonsmoker non-smoker 不抽烟 不吸烟 戒烟",
            rf"{_NO_MORE}\bsmok(?:e|es|ing|ed)\b|\bsmoke[- ]?free\b|{_NO_MORE_CJK}(?:再)?(?:抽|吸)?烟",
        ),
        (
            "teetotal teetotaller teetotaler sober non drinker non-drinker 滴酒不沾 不喝酒 戒酒",
            rf"{_NO_MORE}\b(?:drink|drinks|drinking|alcohol|booze)\b|{_NO_MORE_CJK}(?:再)?(?:碰|喝)?酒",
        ),
        (
            "married spouse 已婚",
            r"\b(?:my (?:wife|husband|spouse)|the (?:missus|wife))\b"
            r"|\b(?:we|i) (?:got|were|are|am|'m|'re) (?:just )?married\b"
            r"|我(?:的)?(?:老婆|老公|太太|先生|妻子|丈夫)|结婚了",
        ),
        ("divorced 离婚 离异", r"\bmy ex-?\s?(?:wife|husband)\b|前(?:妻|夫)"),
        ("widow widower widowed 丧偶", r"\bmy late (?:wife|husband)\b|(?:老婆|老公|太太|先生|妻子|丈夫)过世"),
        ("pregnant 怀孕", r"\bexpecting (?:a|our|my) (?:\w+ )?(?:baby|child)\b|有(?:了)?身孕"),
        (
            "insomnia 失眠",
            r"\b(?:can't|cannot|hardly|unable to|trouble) (?:fall(?:ing)? )?(?:a?sleep)|睡不着",
        ),
        (
            "unemployed jobless 失业 待业",
            r"\b(?:lost my job|laid off|out of work|between jobs|made redundant|got fired)\b|被(?:裁|开除|资遣)"
            r"|没(?:有)?工作",
        ),
        ("retired 退休", r"\bretire(?:d|ment)\b|退休"),
        (
            "remote remotely 远程 远端 在家",
            r"\b(?:work|working)[^.!?]{0,15}\bfrom home\b|\bhome office\b|在家(?:上班|工作|办公)",
        ),
        (
            "only child onlychild 独生 独生女 独生子",
            rf"{_NO_MORE}\b(?:siblings|brothers or sisters)\b|没有兄弟姐?妹?",
        ),
        ("left handed left-handed lefty 左撇子", r"\bleft hand\b|\blefty\b|左手(?:写|吃|拿)"),
    )
)
"""Values and the words that mean them. A value counts only when its set holds all its words."""
