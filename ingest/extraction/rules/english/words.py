"""The word lists of the English rules: relations, occupations, tools, and words that only look like names."""

from __future__ import annotations

from events.language.values import word_set

# Relations that follow "my …", with their concept keys.
RELATIONS = {
    "wife": "spouse", "husband": "spouse", "spouse": "spouse", "hubby": "spouse",
    "partner": "partner", "boyfriend": "partner", "girlfriend": "partner", "fiance": "partner",
    "fiancé": "partner", "fiancee": "partner", "fiancée": "partner",
    "mom": "parent", "mum": "parent", "mother": "parent", "dad": "parent", "father": "parent",
    "sister": "sibling", "brother": "sibling", "twin": "sibling",
    "son": "child", "daughter": "child", "kid": "child", "child": "child", "baby": "child",
    "stepson": "child", "stepdaughter": "child",
    "uncle": "relative", "aunt": "relative", "cousin": "relative", "grandma": "relative",
    "grandmother": "relative", "grandpa": "relative", "grandfather": "relative", "niece": "relative",
    "nephew": "relative", "stepmom": "relative", "stepdad": "relative",
    "friend": "friend", "bestie": "friend", "buddy": "friend",
    "roommate": "living_situation", "flatmate": "living_situation", "housemate": "living_situation",
    "boss": "manager", "manager": "manager", "supervisor": "manager",
    "coworker": "colleague", "co-worker": "colleague", "colleague": "colleague", "teammate": "colleague",
    "neighbor": "neighbor", "neighbour": "neighbor",
    "mentor": "acquaintance", "coach": "acquaintance", "landlord": "acquaintance", "therapist": "acquaintance",
    "doctor": "acquaintance", "tutor": "acquaintance",
}  # fmt: skip
RELATION_PLURALS = {
    "kids": "child", "children": "child", "sons": "child", "daughters": "child", "brothers": "sibling",
    "sisters": "sibling", "siblings": "sibling",
}  # fmt: skip
PETS = word_set(
    "dog dogs doggo pup puppy puppies cat cats kitty kitten kittens rabbit rabbits bunny bunnies hamster "
    "hamsters "
    "parrot parrots bird birds fish goldfish turtle turtles tortoise snake snakes lizard gecko horse pony "
    "ferret "
    "iguana chinchilla hedgehog cockatiel budgie guinea-pig guinea-pigs retriever labrador poodle corgi "
    "beagle "
    "husky terrier dachshund pug collie shepherd "
    "greyhound whippet spaniel schnauzer dalmatian malamute samoyed mutt tabby chihuahua shih-tzu"
)

OCCUPATIONS = word_set(
    "accountant actor actress actuary administrator advisor agent analyst anesthesiologist animator "
    "anthropologist "
    "apprentice archaeologist architect archivist artist assistant astronaut astronomer attorney auditor "
    "author "
    "baker banker barber barista bartender biochemist biologist blogger bookkeeper bricklayer broker builder "
    "butcher buyer captain caregiver carer carpenter cashier ceo cfo chauffeur chef chemist choreographer "
    "cinematographer cleaner clerk clinician cmo columnist comedian composer conductor consultant contractor "
    "coo cook coordinator copywriter counselor counsellor cto curator dancer dentist dermatologist designer "
    "detective developer dietitian diplomat director dispatcher diver doctor drummer economist editor "
    "educator "
    "electrician engineer entrepreneur epidemiologist estimator executive farmer filmmaker firefighter "
    "fisherman "
    "florist founder freelancer gardener geologist geneticist goldsmith grocer guard hairdresser historian "
    "housekeeper housewife illustrator inspector instructor intern interpreter investigator investor janitor "
    "jeweler journalist judge laborer lawyer lecturer librarian lifeguard linguist locksmith logistician "
    "machinist "
    "magician maker manager marketer mason masseuse mathematician mechanic mediator merchandiser "
    "meteorologist "
    "microbiologist midwife miner minister model musician nanny neurologist neurosurgeon novelist nurse "
    "nutritionist officer operator optician optometrist paralegal paramedic pastor pathologist pediatrician "
    "pharmacist philosopher photographer physicist physician physiotherapist pianist pilot planner plumber "
    "poet "
    "policeman politician postdoc postman potter principal producer professor programmer psychiatrist "
    "psychologist publicist radiologist realtor receptionist recruiter repairman reporter representative "
    "researcher roofer sailor salesman salesperson scientist screenwriter sculptor secretary senator "
    "sergeant "
    "singer sociologist soldier solicitor songwriter specialist statistician steward stewardess strategist "
    "streamer student stylist superintendent supervisor surgeon surveyor tailor teacher technician teller "
    "therapist trader trainee trainer translator trucker tutor undertaker underwriter usher valet "
    "veterinarian "
    "vet videographer violinist vp waiter waitress warden watchmaker welder writer youtuber zoologist sre "
    "devops "
    "pm swe lead head driver fellow partner associate controller owner dba sysadmin tester"
)
# Heads that name an occupation only with a word before them.
VAGUE_OCCUPATIONS = word_set("lead head partner associate fellow owner model captain guard agent maker buyer "
    "trader "
                           "officer driver builder founder director minister principal operator")  # fmt: skip
EVALUATIVE = word_set(
    "big huge great good bad terrible horrible natural lucky real true total complete massive better best "
    "decent "
    "proud happy hopeless fast slow quick such fellow bit little perfect wonderful amazing awesome certified "
    "disciplined patient potential aspiring wannabe future would-be former ex retired amateur"
)

ORGANISATION_HEADS = (
    "company|startup|start-up|firm|agency|bank|hospital|clinic|school|university|college|restaurant|cafe|"
    "café|"
    "bakery|bar|shop|store|bookstore|bookshop|library|museum|gallery|studio|lab|laboratory|factory|hotel|gym|"
    "pharmacy|nonprofit|non-profit|charity|shelter|magazine|newspaper|supermarket|warehouse|consultancy|"
    "foundation|institute|ministry|nursery|kindergarten|daycare|salon|garage|farm|brewery|airline"
)

# Tools in lower case, with their concept keys. A tool may have several words.
TOOLS: dict[str, str] = {}
for _key, _names in (
    ("browser", "chrome|google chrome|firefox|mozilla firefox|safari|edge|microsoft edge|brave|opera|vivaldi|"
                "arc browser|chromium|librewolf|tor browser|internet explorer|zen browser"),
    ("editor", "vim|neovim|nvim|emacs|vs code|vscode|visual studio code|visual studio|sublime text|sublime|"
        "intellij|"
               "intellij idea|pycharm|webstorm|xcode|android studio|helix|zed|eclipse|nano|cursor|rider|"
               "goland|"
               "clion|atom|notepad++|jupyter|rstudio"),
    ("operating_system", "windows|windows 10|windows 11|macos|mac os|linux|ubuntu|debian|fedora|arch linux|"
        "arch|"
                         "nixos|linux mint|pop!_os|manjaro|freebsd|chromeos"),
    ("shell", "zsh|fish shell|bash|powershell|nushell"),
    ("search_engine", "duckduckgo|kagi|bing"),
    ("programming_language", "python|rust|golang|java|javascript|typescript|kotlin|scala|haskell|ruby|php|"
                             "c++|c#|elixir|erlang|clojure|ocaml|julia|perl|lua|zig|dart|fortran|cobol"),
    ("tech_stack", "postgres|postgresql|mysql|mariadb|sqlite|mongo|mongodb|redis|kafka|rabbitmq|cassandra|"
        "dynamodb|"
                   "elasticsearch|opensearch|clickhouse|duckdb|neo4j|oracle|sql server|cockroachdb|"
                   "pgvector|milvus|"
                   "qdrant|weaviate|pinecone|chroma|react|vue|vue.js|angular|svelte|next.js|nuxt|django|"
                   "flask|"
                   "fastapi|rails|ruby on rails|spring|spring boot|laravel|express|node|node.js|deno|bun|"
                   "docker|"
                   "kubernetes|k8s|terraform|ansible|aws|gcp|azure|google cloud|firebase|supabase|heroku|"
                   "vercel|"
                   "netlify|cloudflare|graphql|grpc|rest|faust|flink|spark|airflow|dbt|snowflake|bigquery|"
                   "tailwind|htmx|flutter|react native|pytorch|tensorflow|jax|langchain|langgraph|celery|"
                   "nats|"
                   "pulsar|memcached|nginx|caddy|traefik|istio|prometheus|grafana|jenkins|github actions|"
                   "gitlab ci|"
                   "circleci|webpack|vite|poetry|pnpm|npm|yarn|bazel|citus|timescaledb|keycloak|minio|s3|"
                   "hetzner"),
    ("tool", "notion|obsidian|slack|discord|teams|microsoft teams|zoom|trello|jira|linear|asana|figma|sketch|"
             "photoshop|illustrator|lightroom|blender|excel|google sheets|google docs|evernote|todoist|"
             "onenote|"
             "gmail|outlook|thunderbird|spotify|github|gitlab|bitbucket|whatsapp|telegram|signal|canva|miro|"
             "confluence|anki|zotero|latex|overleaf|1password|bitwarden|lastpass|dropbox|google drive|"
             "chatgpt|"
             "claude|gemini|copilot|logseq|bear|things|ynab|strava|garmin|tableau|power bi|postman|insomnia|"
             "godot|unity|unreal|unreal engine|ableton|logic pro|davinci resolve|premiere|final cut|final "
             "cut pro"),
    ("phone_model", "iphone|android|pixel|galaxy"),
):  # fmt: skip
    TOOLS.update((_name, _key) for _name in _names.split("|"))

LANGUAGES = (
    "English|Spanish|French|German|Italian|Portuguese|Dutch|Swedish|Norwegian|Danish|Finnish|Polish|Czech|"
    "Russian|"
    "Ukrainian|Greek|Turkish|Arabic|Hebrew|Persian|Farsi|Hindi|Urdu|Bengali|Tamil|Telugu|Punjabi|Thai|"
    "Vietnamese|"
    "Indonesian|Malay|Tagalog|Mandarin|Cantonese|Chinese|Japanese|Korean|Swahili|Romanian|Hungarian|"
    "Bulgarian|"
    "Croatian|Serbian|Catalan|Irish|Welsh|Icelandic|Latin|Esperanto|Taiwanese|Hokkien|Hakka"
)
SPORTS = (
    "tennis|basketball|soccer|football|baseball|volleyball|badminton|golf|squash|hockey|cricket|rugby|"
    "softball|"
    "lacrosse|ping-pong|ping pong|table tennis|pickleball|padel|racquetball|handball|"
    "snooker|billiards|darts|curling|chess|poker|go|dungeons and dragons|d&d|video "
    "games|"
    "board games|water polo|ultimate frisbee|frisbee|bridge"
)
INSTRUMENTS = (
    "piano|guitar|violin|drums|cello|flute|clarinet|saxophone|sax|trumpet|bass|ukulele|harp|banjo|viola|oboe|"
    "trombone|harmonica|accordion|keyboard|keyboards|mandolin|electric guitar|acoustic guitar|bass guitar|"
    "erhu"
)
CONDITIONS = (
    "asthma|diabetes|type 1 diabetes|type 2 diabetes|hypertension|high blood pressure|arthritis|epilepsy|"
    "migraines|"
    "chronic migraines|insomnia|anemia|celiac disease|crohn's disease|ibs|eczema|psoriasis|adhd|autism|"
    "depression|"
    "anxiety|ptsd|ocd|dyslexia|sleep apnea|gout|lupus|tinnitus|endometriosis|scoliosis|hypothyroidism|"
    "gastritis"
)
STAGE_WORDS = (
    "pre-release|prerelease|alpha|beta|planning|design|development|testing|acceptance|staging|production|"
    "launch|"
    "wrapping|maintenance|mvp|prototype|prototyping|discovery|implementation|review|qa|uat|rollout|pilot|"
    "polishing|refactoring|research|requirements|integration|migration|preview|general availability|ga|rc"
)

# Capitalised words that are no names: first words of sentences, and words of the calendar.
NOT_NAMES = word_set(
    "a about above absolutely according actually after again agreed ah aha all almost alright also "
    "although always "
    "am amazing an and another any anybody anyone anything anyway apart apparently are as aside at aw aww "
    "awesome "
    "back because been before being believe besides best better between big both but by bye can cause "
    "certainly "
    "cheers christmas clearly come congrats congratulations cool could currently dang days dear definitely "
    "did do "
    "does doing done don't each easter either else enough especially even eventually ever every everybody "
    "everyone "
    "everything everywhere exactly excited exciting few finally first for fortunately from fun funny "
    "furthermore "
    "generally getting give given glad go god going gonna good gosh got gotta great guess guys had "
    "halloween happy "
    "hard has hate have having he hello help hence her here hers hey hi his hmm honestly hopefully how "
    "however i if "
    "in indeed inside inspired instead interesting is it its it's just keep kids kind know last lately "
    "later least "
    "let lets let's life like likewise literally little lol look looking looks lots love lovely lucky "
    "luckily make "
    "making many may maybe me mean meanwhile might mine more moreover most mostly much music must my "
    "myself nah "
    "nature naturally near nearly need neither never new next nice no nobody none nope nor not nothing now "
    "obviously "
    "of off oh ok okay old omg on once one only oops or other others otherwise ouch our ours out outside "
    "over "
    "overall own part people perfect perhaps personally phew please plus possibly pretty probably quite "
    "rather "
    "really recently regarding remember right sad sadly same say see seeing seems seriously several shall "
    "she should "
    "similarly since so some somebody someone something sometimes soon sorry sounds speaking still stop "
    "such sure "
    "take taking talk tell thank thankfully thanks that thats that's the their theirs them then there "
    "these they "
    "thing things think this those though through thus time to today together tomorrow tonight too totally "
    "truly "
    "try trying two uh ugh um under unfortunately unless unlike until up upon us usually very wait wanna "
    "was way we "
    "well welcome were what whatever when whenever where wherever whether which while who whoever whole "
    "whose why "
    "will wish with within without woah wonderful work working would wow yay yeah yep yes yesterday yet yo "
    "you your "
    "yours yup january february march april june july august september october november december monday "
    "tuesday "
    "wednesday thursday friday saturday sunday spring summer autumn fall winter morning tonight thanksgiving "
    "meanwhile basically essentially technically whoa dude bro man mate team project company everyday god "
    "lord "
    "family friends mom dad mum grandma grandpa books dancing painting running reading writing playing "
    "hiking "
    "camping swimming cooking gaming photography art yoga pottery nothing english spanish french german "
    "chinese "
    "japanese korean italian doctor doctors scientists researchers teachers students parents children "
    "women men dogs "
    "cats pets pic photo image btw fyi lmao tbh imo imho todo note ps pps re hint tip question answer update "
    "correction spoiler warning ta ya ty"
)
FIRST_WORD_SUFFIXES = (
    "ing",
    "ed",
    "ly",
    "ness",
    "tion",
    "tions",
    "ment",
    "ments",
    "ful",
    "less",
    "able",
    "ous",
    "n't",
    "'ve",
)

PLACES = word_set(
    "london paris berlin madrid lisbon porto rome milan vienna zurich geneva amsterdam brussels copenhagen "
    "oslo "
    "stockholm helsinki dublin edinburgh glasgow manchester birmingham warsaw prague budapest athens "
    "istanbul moscow "
    "kyiv barcelona munich hamburg frankfurt cologne lyon marseille naples venice florence seville "
    "valencia tokyo "
    "osaka kyoto sapporo nagoya seoul busan beijing shanghai shenzhen guangzhou hangzhou chengdu taipei "
    "kaohsiung "
    "taichung tainan hsinchu taoyuan singapore bangkok hanoi jakarta manila mumbai delhi bangalore chennai "
    "dubai "
    "cairo nairobi lagos johannesburg sydney melbourne brisbane perth auckland toronto vancouver montreal "
    "ottawa "
    "calgary chicago boston seattle denver austin dallas houston miami atlanta phoenix philadelphia detroit "
    "portland minneapolis nashville orlando tampa brooklyn manhattan oakland sacramento cleveland pittsburgh "
    "baltimore england scotland wales ireland france germany spain portugal italy switzerland austria "
    "belgium "
    "netherlands sweden norway denmark finland poland greece turkey russia ukraine japan korea china taiwan "
    "thailand vietnam indonesia malaysia philippines india australia canada mexico brazil argentina chile "
    "peru "
    "colombia egypt kenya nigeria california texas florida oregon washington colorado arizona nevada "
    "michigan ohio "
    "georgia virginia alaska hawaii europe asia africa america york"
)

# Makers of cars: "bought a Volvo" is about a car, "bought a Kindle" is not.
CAR_MAKERS = word_set(
    "toyota volvo skoda škoda mazda kia renault fiat honda ford nissan bmw audi tesla hyundai vw volkswagen subaru "
    "peugeot citroen citroën mercedes mercedes-benz lexus chevrolet chevy jeep opel vauxhall porsche suzuki "
    "mitsubishi dacia polestar byd buick cadillac dodge chrysler acura infiniti genesis jaguar rivian saab vespa"
)

# Given names, for the rules that could take a person for a firm or a tool ("I left Sam").
GIVEN_NAMES = word_set(
    "aaron abby abigail adam adrian aiden alan albert alex alexa alexander alexandra alexis alice alicia "
    "alison allison amanda amber amelia amy "
    "andrea andrew andy angela anita ann anna anne annie anthony antonio april ashley audrey ava barbara "
    "becky bella ben benjamin beth betty bill "
    "billy bob bobby brad brandon brenda brian bruce bryan caleb cameron carl carla carlos carol caroline "
    "carolyn catherine charles charlie charlotte "
    "chloe chris christian christina christine christopher cindy claire clara colin connor craig crystal "
    "cynthia dan daniel danielle danny dave david "
    "dawn deborah debbie denise dennis derek diana diane diego dominic donald donna doris dorothy doug "
    "douglas dylan ed eddie edward elaine eleanor "
    "elena eli elijah elizabeth ella ellen emily emma eric erica erin ethan eva evan evelyn fiona frances "
    "frank fred gabriel gary george gerald "
    "gina gloria grace greg gregory hailey hannah harold harry heather heidi helen henry holly howard ian "
    "irene isaac isabella ivan jack jackie "
    "jackson jacob jake james jamie jan jane janet janice jason jay jean jeff jeffrey jen jenna jennifer "
    "jenny jeremy jerry jesse jessica jill jim "
    "jimmy joan joanna joe joel john johnny jon jonathan jordan jose joseph josh joshua joy joyce juan "
    "judith judy julia julian julie justin karen "
    "karl kate katherine kathleen kathy katie kayla keith kelly ken kenneth kevin kim kimberly kyle larry "
    "laura lauren leah lee leo leon lily linda "
    "lisa liz logan lori louis lucas lucy luis luke lydia madison marcus margaret maria marie marilyn "
    "mario marissa mark martha martin mary mason "
    "matt matthew max megan melanie melissa mia michael michelle miguel mike mila molly monica morgan "
    "nancy naomi natalie nate nathan neil nicholas "
    "nick nicole nina noah nora norman oliver olivia oscar owen pamela patricia patrick paul paula pedro "
    "peggy peter phil philip rachel ralph "
    "randy ray raymond rebecca rex richard rick riley rita rob robert robin roger ron ronald rosa rose roy "
    "ruby russell ruth ryan sally sam samantha "
    "samuel sandra sara sarah scott sean sharon shawn sheila shirley simon sofia sophia sophie stacy stan "
    "stanley stella stephanie stephen steve "
    "steven stuart sue susan sylvia tammy tara ted teresa terry thomas tiffany tim timothy tina todd tom "
    "tommy toni tony tracy travis tyler "
    "valerie vanessa vera veronica vicky victor victoria vincent virginia walter wanda wayne wendy will "
    "william willie zach zachary zoe"
)

# Well-known firms. A text without capitals names them too.
FIRMS = word_set(
    "google microsoft amazon netflix openai anthropic nvidia tesla ibm intel tsmc mediatek samsung sony "
    "facebook spotify stripe airbnb uber "
    "foxconn adobe salesforce oracle cisco siemens bosch ikea shopify github gitlab bytedance tencent "
    "alibaba huawei xiaomi asus acer"
)
