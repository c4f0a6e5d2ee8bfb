"""Words that carry no topic, so that neither cards nor questions are found by them.

Written folded: lower case, without apostrophes, simplified Chinese. Names that are also function
words in English are left in ("may", "mark"), and so is every word a fact can hang on ("first", "same").
"""

from __future__ import annotations

ENGLISH = frozenset(
    ["a", "an", "the", "this", "that", "these", "those", "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "you", "your", "yours", "yourself", "yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself", "they", "them", "their", "theirs", "themselves", "am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "done", "doing", "have", "has", "had", "having", "can", "could", "would", "should", "will", "shall", "might", "must", "ought", "and", "or", "but", "nor", "so", "yet", "if", "then", "than", "because", "as", "until", "while", "though", "although", "of", "at", "by", "for", "with", "about", "against", "between", "into", "through", "during", "before", "after", "above", "below", "to", "from", "up", "down", "in", "out", "on", "off", "over", "under", "again", "further", "onto", "upon", "within", "without", "toward", "towards", "here", "there", "all", "any", "both", "each", "few", "more", "most", "other", "some", "such", "no", "not", "only", "own", "too", "very", "just", "also", "even", "still", "ever", "really", "quite", "rather", "im", "ive", "id", "ill", "youre", "youve", "youd", "youll", "hes", "shes", "its", "were", "weve", "theyre", "theyve", "dont", "didnt", "doesnt", "isnt", "wasnt", "arent", "wont", "cant", "couldnt", "wouldnt", "shouldnt", "havent", "hasnt", "hadnt", "thats", "theres", "whats", "lets", "gonna", "wanna", "what", "when", "where", "who", "whom", "whose", "which", "why", "how", "etc", "eg", "ie", "vs"]
)

ENGLISH_QUESTION = frozenset(
    ["many", "much", "kind", "type", "sort", "tell", "know", "remember", "recall", "please", "according"]
)

CHINESE = frozenset(
    ["的", "了", "着", "过", "地", "得", "之", "者", "所", "也", "都", "就", "才", "又", "再", "还", "很", "太", "更", "最", "挺", "蛮", "非常", "十分", "比较", "有点", "有些", "我", "你", "您", "他", "她", "它", "我们", "你们", "您们", "他们", "她们", "它们", "咱", "咱们", "自己", "人家", "大家", "俺", "我的", "你的", "他的", "她的", "它的", "是", "为", "在", "有", "没", "没有", "不", "不是", "不会", "不能", "别", "未", "无", "和", "与", "及", "跟", "同", "以及", "或", "或者", "而", "而且", "并", "并且", "但", "但是", "可是", "不过", "然而", "因为", "所以", "因此", "由于", "如果", "要是", "假如", "虽然", "即使", "只要", "只有", "除了", "于是", "然后", "接着", "那么", "这么", "这样", "那样", "这", "那", "此", "该", "其", "某", "各", "每", "这个", "那个", "这些", "那些", "这里", "那里", "这儿", "那儿", "这边", "那边", "一个", "一些", "一下", "一点", "个", "些", "从", "自", "向", "往", "到", "对", "对于", "关于", "于", "以", "把", "被", "给", "让", "使", "由", "按", "按照", "根据", "比", "将", "至", "当", "当时", "会", "能", "可以", "可", "要", "想", "应该", "应", "得", "必须", "需要", "可能", "也许", "大概", "已", "已经", "正", "正在", "曾", "曾经", "刚", "刚刚", "一直", "还是", "就是", "上", "下", "里", "内", "中", "外", "前", "后", "时", "时候", "啊", "呀", "吧", "呢", "吗", "嘛", "哦", "喔", "噢", "哎", "唉", "嗯", "啦", "咯", "哈", "呵", "嘿", "喂", "耶", "哇", "么", "等", "等等", "其实", "真的", "真", "确实", "只", "仅", "仅仅", "另外", "另", "还有", "例如", "比如", "来", "去", "说", "叫"]
)

CHINESE_QUESTION = frozenset(
    ["什么", "甚么", "啥", "哪", "哪里", "哪儿", "哪个", "哪些", "哪位", "哪种", "哪一", "哪一个", "哪天", "哪年", "谁", "谁的", "怎", "怎么", "怎么样", "怎样", "如何", "为何", "为什么", "为啥", "何", "何时", "何地", "何处", "几", "几个", "几点", "多少", "多久", "多大", "多长", "多远", "什么样", "什么时候", "吗", "呢", "是否", "是不是", "有没有", "能不能", "会不会", "要不要", "请问", "请", "告诉", "知道", "记得", "还记得"]
)
