"""The words the Chinese rules know, in simplified script (sentences are folded before they are read)."""

from __future__ import annotations

RELATIONS = {
    "太太": "spouse", "老婆": "spouse", "妻子": "spouse", "老公": "spouse", "丈夫": "spouse", "先生": "spouse",
    "爱人": "spouse", "男朋友": "partner", "女朋友": "partner", "男友": "partner", "女友": "partner",
    "未婚夫": "partner", "未婚妻": "partner", "对象": "partner", "另一半": "partner",
    "爸爸": "parent", "妈妈": "parent", "父亲": "parent", "母亲": "parent", "老爸": "parent", "老妈": "parent",
    "爸": "parent", "妈": "parent",
    "哥哥": "sibling", "姐姐": "sibling", "姊姊": "sibling", "弟弟": "sibling", "妹妹": "sibling", "大哥": "sibling",
    "大姐": "sibling", "二哥": "sibling", "二姐": "sibling", "哥": "sibling", "姐": "sibling", "弟": "sibling", "妹": "sibling",
    "儿子": "child", "女儿": "child", "大儿子": "child", "小儿子": "child", "大女儿": "child", "小女儿": "child",
    "孩子": "child", "小孩": "child", "宝宝": "child",
    "表哥": "relative", "表姐": "relative", "表弟": "relative", "表妹": "relative", "堂哥": "relative", "堂姐": "relative",
    "堂弟": "relative", "堂妹": "relative", "叔叔": "relative", "伯伯": "relative", "舅舅": "relative", "阿姨": "relative",
    "姑姑": "relative", "姨妈": "relative", "婶婶": "relative", "舅妈": "relative", "伯母": "relative", "姑丈": "relative",
    "爷爷": "relative", "奶奶": "relative", "外公": "relative", "外婆": "relative", "阿公": "relative", "阿嬷": "relative",
    "姥姥": "relative", "姥爷": "relative", "岳父": "relative", "岳母": "relative", "公公": "relative", "婆婆": "relative",
    "侄子": "relative", "侄女": "relative", "外甥": "relative", "外甥女": "relative", "嫂嫂": "relative", "嫂子": "relative",
    "姐夫": "relative", "妹夫": "relative",
    "朋友": "friend", "好朋友": "friend", "好友": "friend", "闺蜜": "friend", "死党": "friend", "哥们": "friend",
    "同事": "colleague", "上司": "manager", "主管": "manager", "老板": "manager", "领导": "manager", "下属": "subordinate",
    "部下": "subordinate", "室友": "living_situation", "邻居": "neighbor", "同学": "acquaintance", "老师": "acquaintance",
    "教练": "acquaintance", "房东": "acquaintance", "导师": "acquaintance",
}  # fmt: skip
PETS = (
    "柴犬|柯基|哈士奇|贵宾犬?|拉布拉多|黄金猎犬|金毛|边牧|博美|吉娃娃|法斗|米克斯|土狗|流浪狗|小狗狗?|狗狗|狗子?|"
    "布偶猫?|英短|美短|波斯猫|橘猫|黑猫|白猫|虎斑猫?|三花猫?|流浪猫|小猫咪?|猫咪|猫猫|猫|兔子|小兔子|仓鼠|天竺鼠|鹦鹉|文鸟|"
    "乌龟|陆龟|金鱼|刺猬|蜥蜴|守宫|龙猫|蜜袋鼯"
)
SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭"
    "陆汪范金石廖贾夏韦傅方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施洪翁颜柯庄骆赖詹"
)
OCCUPATIONS = (
    "工程师|设计师|老师|教师|医生|医师|护士|护理师|护理长|律师|会计师|会计|警察|厨师|主厨|司机|记者|编辑|作家|画家|摄影师|建筑师|教授|"
    "讲师|研究员|科学家|分析师|顾问|经理|主管|总监|总裁|店长|业务员|业务|销售员|销售|店员|柜员|行员|公务员|军人|消防员|农夫|"
    "农民|学生|大学生|研究生|博士生|硕士生|高中生|国中生|工人|瓦工|助理|助手|秘书|翻译|导游|空姐|空服员|机师|飞行员|药师|药剂师|"
    "牙医|兽医|心理师|咨询师|治疗师|演员|歌手|音乐家|舞者|导演|制片人?|编剧|主播|网红|youtuber|YouTuber|创业者|产品经理|PM|CEO|CTO|"
    "程序员|程式设计师|码农|前端|后端|模特儿?|教练|保安|保全|外送员|快递员|家庭主妇|全职妈妈|自由工作者|自由职业者|合伙人|队长|"
    "法官|检察官|行销|人资|HR|财务|出纳|服务员|服务生|收银员|师傅|水电工|电工|木工|技师|技术员|操作员|实习生|校长|主任|院长|"
    "班主任|保姆|管家|设计|保险员|房仲|插画家|插画师|美发师|化妆师|营养师|运动员|策展人|制作人|架构师|测试员|专员|技工|裁缝|组长|课长|处长|科长|执行长|创办人"
)
DEGREES = "博士后|博士|硕士|研究所|本科|学士|大学|专科|大专|高中|高职|中专|初中|国中|小学"
ATTRIBUTES = {
    "姓名": "name", "名字": "name", "大名": "name", "全名": "name", "英文名": "nickname", "小名": "nickname", "绰号": "nickname",
    "生日": "birthday", "出生日期": "birthday", "电话": "phone", "电话号": "phone", "电话号码": "phone", "手机号": "phone",
    "手机号码": "phone", "联系电话": "phone", "联络电话": "phone", "联系方式": "phone",
    "邮箱": "email", "邮箱地址": "email", "电子邮件": "email", "电子邮箱": "email", "电子信箱": "email", "信箱": "email",
    "email": "email", "Email": "email", "电邮": "email",
    "学历": "degree", "教育背景": "degree", "教育程度": "degree", "学位": "degree", "文凭": "degree",
    "职业": "occupation", "职位": "occupation", "职务": "occupation", "岗位": "occupation", "职称": "occupation",
    "公司": "employer", "单位": "employer", "单位名称": "employer", "公司名称": "employer", "公司名": "employer", "工作单位": "employer", "雇主": "employer",
    "老家": "hometown", "家乡": "hometown", "故乡": "hometown", "籍贯": "hometown", "国籍": "nationality", "民族": "ethnicity",
    "年龄": "age", "年纪": "age", "身高": "height", "体重": "weight", "血型": "blood_type", "星座": "zodiac", "生肖": "zodiac",
    "性别": "gender", "性格": "personality", "个性": "personality", "爱好": "hobby", "兴趣": "hobby", "兴趣爱好": "hobby", "嗜好": "hobby",
    "工作地": "work_location", "工作地点": "work_location", "工作地方": "work_location", "工作的地方": "work_location",
    "住址": "residence", "地址": "residence", "新地址": "residence", "新家地址": "residence", "家里地址": "residence", "家庭住址": "residence", "家": "residence", "新家": "residence", "住处": "residence", "现居地": "residence",
    "目标": "goal", "梦想": "goal", "专业": "major", "主修": "major", "科系": "major", "母校": "school", "学校": "school",
    "母语": "language", "时区": "timezone", "房租": "rent", "薪水": "salary", "月薪": "salary", "年薪": "salary",
    "手机": "phone_model", "电脑": "computer", "笔电": "computer", "车": "vehicle", "车子": "vehicle", "浏览器": "browser", "编辑器": "editor",
    "最喜欢的颜色": "favourite_colour", "最喜欢的食物": "favourite_food", "最喜欢的书": "favourite_book", "最爱的食物": "favourite_food",
    "最喜欢的电影": "favourite_movie", "最喜欢的歌手": "favourite_music", "最喜欢的歌": "favourite_music", "最喜欢的运动": "favourite_sport",
    "最喜欢的水果": "favourite_fruit", "最喜欢的动物": "favourite_animal", "最喜欢的季节": "favourite_season", "最喜欢的游戏": "favourite_game",
}  # fmt: skip
# Where "在 X 上班" names a place and not a firm.
CITIES = (
    "台北|新北|台中|台南|高雄|桃园|新竹|基隆|嘉义|彰化|南投|云林|屏东|宜兰|花莲|台东|苗栗|北京|上海|广州|深圳|杭州|南京|苏州|成都|重庆|"
    "武汉|西安|天津|长沙|郑州|青岛|大连|厦门|福州|宁波|合肥|济南|昆明|沈阳|哈尔滨|长春|石家庄|太原|南昌|南宁|贵阳|海口|三亚|兰州|无锡|"
    "佛山|东莞|珠海|温州|烟台|香港|澳门|台湾|中国|日本|美国|英国|德国|法国|韩国|新加坡|加拿大|澳洲|澳大利亚|泰国|越南|马来西亚|印尼|"
    "印度|东京|大阪|京都|首尔|纽约|旧金山|洛杉矶|西雅图|波士顿|伦敦|巴黎|柏林|慕尼黑|广东|浙江|江苏|山东|四川|福建|湖南|湖北|河南|"
    "河北|山西|陕西|辽宁|吉林|黑龙江|安徽|江西|云南|贵州|广西|海南|甘肃|青海|内蒙古|宁夏|新疆|西藏|内湖|信义区|板桥|竹科|南科|中科|硅谷|湾区"
)
NOT_EMPLOYERS = "家|家里|公司|办公室|一起|这里|那里|这边|那边|外面|线上|远端|远程|国外|国内|外地|同一|一家|这家|那家|单位|哪|附近|楼上|楼下|学校|不同"
NOT_HOMES = (
    "饭店|酒店|旅馆|民宿|青旅|医院|宿舍|这里|那里|这边|那边|附近|一起|隔壁|楼上|楼下|外面|家里|家|老家|哪|朋友家|亲戚家|一楼|二楼|"
    "同一|一个|新家|新房子|新房|新公司|新办公室|帐篷|车上|公司|学校|校外|国外|外地|自己|他家|她家|乡下|市区|这儿|那儿"
)
LANGUAGES = (
    "英文|英语|日文|日语|韩文|韩语|法文|法语|德文|德语|西班牙文|西班牙语|中文|国语|普通话|台语|闽南语|客家话|客语|粤语|广东话|俄文|俄语|意大利文|意大利语|葡萄牙文|"
    "葡萄牙语|泰文|泰语|越南文|越南语|阿拉伯语|拉丁文|手语"
)
STAGES = (
    "规划|设计|开发|测试|内测|公测|封测|验收|上线前验收|预发布|发布|上线|维护|收尾|原型|需求分析|需求|部署|试营运|试运行|重构|迭代|"
    "量产|打样|alpha|beta|Alpha|Beta|MVP|PoC|POC|灰度|筹备|评审|审查|整合|集成|开源"
)
FIRMS = (
    "台积电|联发科|鸿海|富士康|华硕|宏碁|广达|仁宝|纬创|台达电|日月光|联电|中华电信|国泰|富邦|中信|玉山|趋势科技|华为|腾讯|阿里巴巴|阿里|字节跳动|字节|"
    "百度|小米|美团|京东|网易|滴滴|拼多多|快手|比亚迪|宁德时代|联想|中兴|索尼|三星|丰田|谷歌|微软|苹果|亚马逊|脸书|特斯拉|英特尔|英伟达|高通|特斯拉"
)
