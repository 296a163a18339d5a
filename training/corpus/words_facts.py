"""The facts: for each category its pairs, how one asks, how one states them.

In every pattern "@" is the thing asked about and "#" the answer. The two "held" questions of a
category are never in the training text: the evaluation asks them.
"""

from typing import NamedTuple


class Category(NamedTuple):
    """Facts of one kind: "thing: answer" a line, and the patterns to ask and to state them."""

    name: str
    rows: str
    asks: str
    held: str
    states: str


CAPITALS = Category(
    "capital",
    """France: Paris
Germany: Berlin
Italy: Rome
Spain: Madrid
Portugal: Lisbon
Austria: Vienna
Switzerland: Bern
Belgium: Brussels
the Netherlands: Amsterdam
Denmark: Copenhagen
Norway: Oslo
Sweden: Stockholm
Finland: Helsinki
Iceland: Reykjavik
Ireland: Dublin
England: London
Scotland: Edinburgh
Poland: Warsaw
the Czech Republic: Prague
Hungary: Budapest
Greece: Athens
Romania: Bucharest
Bulgaria: Sofia
Serbia: Belgrade
Croatia: Zagreb
Ukraine: Kyiv
Russia: Moscow
Turkey: Ankara
Egypt: Cairo
Morocco: Rabat
Algeria: Algiers
Tunisia: Tunis
Libya: Tripoli
Kenya: Nairobi
Ethiopia: Addis Ababa
Ghana: Accra
Nigeria: Abuja
Senegal: Dakar
Uganda: Kampala
Zambia: Lusaka
Iraq: Baghdad
Iran: Tehran
Syria: Damascus
Lebanon: Beirut
Jordan: Amman
Saudi Arabia: Riyadh
India: New Delhi
Pakistan: Islamabad
Nepal: Kathmandu
Bangladesh: Dhaka
Thailand: Bangkok
Vietnam: Hanoi
Indonesia: Jakarta
the Philippines: Manila
China: Beijing
Mongolia: Ulaanbaatar
Japan: Tokyo
South Korea: Seoul
Australia: Canberra
New Zealand: Wellington
Canada: Ottawa
the United States: Washington
Mexico: Mexico City
Cuba: Havana
Jamaica: Kingston
Colombia: Bogota
Venezuela: Caracas
Peru: Lima
Chile: Santiago
Argentina: Buenos Aires
Uruguay: Montevideo
Brazil: Brasilia""",
    """What is the capital of @?
What is the capital city of @?
Which city is the capital of @?
What city is the capital of @?
Do you know the capital of @?
Can you tell me what the capital of @ is?
Tell me the capital of @.
What is the name of the capital of @?
Name the capital city of @.""",
    """Can you name the capital of @?
Which city is the capital city of @?""",
    """The capital of @ is #.
# is the capital of @.
The capital city of @ is #.""",
)
SYMBOLS = Category(
    "symbol",
    """Au: gold
Ag: silver
Fe: iron
Cu: copper
Pb: lead
Sn: tin
Zn: zinc
Al: aluminum
Na: sodium
K: potassium
Ca: calcium
H: hydrogen
He: helium
C: carbon
N: nitrogen
O: oxygen
Ne: neon
Mg: magnesium
Si: silicon
S: sulfur
Cl: chlorine
Ni: nickel
Hg: mercury
Pt: platinum
I: iodine
H2O: water
CO2: carbon dioxide
NaCl: salt
NH3: ammonia
CH4: methane
O3: ozone
H2O2: hydrogen peroxide""",
    """What is @?
In chemistry, what is @?
What does @ stand for?
What does @ mean in chemistry?
What do chemists mean by @?
Which substance is @?
Which substance has the formula @?
Tell me what @ stands for.""",
    """In chemistry, what does @ stand for?
Which substance do chemists mean by @?""",
    """In chemistry, @ is #.
@ stands for #.
@ is the formula of #.""",
)
ELEMENTS = Category(
    "formula",
    """gold: Au
silver: Ag
iron: Fe
copper: Cu
lead: Pb
tin: Sn
zinc: Zn
sodium: Na
hydrogen: H
helium: He
carbon: C
oxygen: O
water: H2O
carbon dioxide: CO2
salt: NaCl""",
    """What is the formula of @?
What is the chemical formula of @?
What is the symbol for @ in chemistry?
Which formula does @ have?
How do chemists write @?
Tell me the chemical formula of @.
Do you know the formula of @?""",
    """Which chemical formula does @ have?
Can you tell me the formula of @?""",
    """The formula of @ is #.
The chemical formula of @ is #.
Chemists write @ as #.""",
)
AUTHORS = Category(
    "author",
    """1984: George Orwell
Romeo and Juliet: William Shakespeare
Oliver Twist: Charles Dickens
Pride and Prejudice: Jane Austen
Frankenstein: Mary Shelley
Dracula: Bram Stoker
Treasure Island: Robert Louis Stevenson
The Jungle Book: Rudyard Kipling
Alice in Wonderland: Lewis Carroll
Peter Pan: J. M. Barrie
Moby Dick: Herman Melville
Tom Sawyer: Mark Twain
Robinson Crusoe: Daniel Defoe
Don Quixote: Miguel de Cervantes
War and Peace: Leo Tolstoy
Crime and Punishment: Fyodor Dostoevsky
The Little Prince: Antoine de Saint-Exupéry
The Three Musketeers: Alexandre Dumas
Les Misérables: Victor Hugo
Around the World in Eighty Days: Jules Verne
The Time Machine: H. G. Wells
Jane Eyre: Charlotte Brontë
Wuthering Heights: Emily Brontë
Little Women: Louisa May Alcott
Pinocchio: Carlo Collodi
Heidi: Johanna Spyri
Faust: Johann Wolfgang von Goethe
The Divine Comedy: Dante Alighieri
The Odyssey: Homer
Gulliver's Travels: Jonathan Swift
The Hobbit: J. R. R. Tolkien
The Secret Garden: Frances Hodgson Burnett
Black Beauty: Anna Sewell
The Wind in the Willows: Kenneth Grahame
Mrs Dalloway: Virginia Woolf
Ulysses: James Joyce""",
    """Who wrote @?
Who is the author of @?
Who was the author of @?
Which author wrote @?
Who wrote the book @?
By whom is the book @?
Tell me who wrote @.
Do you know who wrote @?""",
    """Can you tell me who wrote @?
Who is the author of the book @?""",
    """@ was written by #.
# wrote @.
The author of @ is #.""",
)
YOUNG = Category(
    "young",
    """a cat: a kitten
a dog: a puppy
a cow: a calf
a horse: a foal
a sheep: a lamb
a goat: a kid
a pig: a piglet
a duck: a duckling
a goose: a gosling
a hen: a chick
a bear: a cub
a lion: a cub
a deer: a fawn
a frog: a tadpole
a kangaroo: a joey
a swan: a cygnet
an owl: an owlet
an eagle: an eaglet
a butterfly: a caterpillar
an elephant: a calf
a wolf: a pup
a rabbit: a bunny""",
    """What is the young of @ called?
What do you call the young of @?
What is the baby of @ called?
What do we call the baby of @?
What is the name for the young of @?
How do you call the baby of @?
Tell me the name of the young of @.
What is the child of @ called?""",
    """What do we call the young of @?
What do you call the baby of @?""",
    """The young of @ is called #.
The baby of @ is called #.
The young of @ is #.""",
)
SOUNDS = Category(
    "sound",
    """a cat: meow
a dog: woof
a cow: moo
a sheep: baa
a duck: quack
a pig: oink
a lion: roar
a horse: neigh
a frog: ribbit
an owl: hoot
a bee: buzz
a snake: hiss
a mouse: squeak
a hen: cluck
a donkey: hee-haw
a crow: caw
a wolf: howl
a bear: growl
a turkey: gobble
a chick: cheep""",
    """What does @ say?
What sound does @ make?
What is the sound of @?
Which sound does @ make?
What noise does @ make?
How does @ sound?
Tell me the sound of @.
Do you know what @ says?""",
    """Which noise does @ make?
Can you tell me what sound @ makes?""",
    """@ says "#".
The sound of @ is "#".
@ makes the sound "#".""",
)
LEGS = Category(
    "legs",
    """a dog: four
a cat: four
a horse: four
a cow: four
an elephant: four
a chicken: two
a duck: two
an owl: two
a person: two
an ant: six
a bee: six
a beetle: six
a butterfly: six
a spider: eight
a scorpion: eight
a crab: ten
a lobster: ten
a snake: zero
a fish: zero
a worm: zero""",
    """How many legs does @ have?
What number of legs does @ have?
Tell me how many legs @ has.
On how many legs does @ walk?
How many legs has @ got?
Count the legs of @. How many are there?
Do you know how many legs @ has?""",
    """Can you tell me how many legs @ has?
How many legs are there on @?""",
    """@ has # legs.
The number of legs of @ is #.""",
)
HOMES = Category(
    "home",
    """a bird: a nest
a bee: a hive
a spider: a web
a fox: a den
a rabbit: a burrow
a dog: a kennel
a horse: a stable
a pig: a sty
a bear: a cave
a beaver: a lodge
an ant: an anthill
a chicken: a coop
a king: a palace
a snail: a shell
a cow: a barn
a fish: water""",
    """Where does @ live?
In what does @ live?
What is the home of @?
What is the home of @ called?
Where is the home of @?
Tell me where @ lives.
Do you know where @ lives?""",
    """Can you tell me where @ lives?
What do you call the home of @?""",
    """@ lives in #.
The home of @ is #.""",
)
OPPOSITES = Category(
    "opposite",
    """hot: cold
big: small
fast: slow
high: low
long: short
old: new
happy: sad
light: dark
day: night
up: down
left: right
open: closed
full: empty
wet: dry
hard: soft
loud: quiet
early: late
strong: weak
rich: poor
clean: dirty
good: bad
near: far
first: last
front: back
inside: outside
true: false
thick: thin
heavy: light
young: old
begin: end
push: pull
give: take
win: lose
buy: sell
love: hate
come: go
black: white
north: south
east: west
summer: winter
always: never
yes: no
easy: difficult
wide: narrow
deep: shallow
sweet: sour
awake: asleep
remember: forget
brave: afraid
sharp: blunt""",
    """What is the opposite of @?
What is the opposite of the word @?
Which word is the opposite of @?
Which word means the opposite of @?
Tell me the opposite of @.
Give me the opposite of @.
Name the opposite of @.
What word is the opposite of @?""",
    """Can you tell me the opposite of @?
Which word is the opposite of the word @?""",
    """The opposite of @ is #.
# is the opposite of @.""",
)
COLORS = Category(
    "color",
    """the sky: blue
grass: green
snow: white
blood: red
the sun: yellow
a banana: yellow
a lemon: yellow
a strawberry: red
a tomato: red
a carrot: orange
an orange: orange
chocolate: brown
milk: white
coal: black
a crow: black
a swan: white
an elephant: gray
a frog: green
a flamingo: pink
a plum: purple
an emerald: green
a ruby: red
a sapphire: blue
a polar bear: white
a cucumber: green
the sea: blue
a leaf: green
salt: white
a pumpkin: orange
the night: black""",
    """What color is @?
Which color is @?
What is the color of @?
Tell me the color of @.
Which color does @ have?
What color does @ have?
Do you know the color of @?
Of what color is @?""",
    """Can you tell me the color of @?
Which is the color of @?""",
    """The color of @ is #.
@ is #.
@ has the color #.""",
)
SENSES = Category(
    "sense",
    """see: eyes
hear: ears
smell: the nose
taste: the tongue
walk: legs
hold things: hands
think: the brain
breathe: the lungs
chew: teeth
pump blood: the heart
feel things: the skin
bend an arm: the elbow
bend a leg: the knee""",
    """With what do we @?
What do we use to @?
Which part of the body do we use to @?
What do people use to @?
With which part of the body do we @?
What do you need to @?
Tell me what we use to @.""",
    """With what do people @?
Which part of the body do people use to @?""",
    """To @, we use #.
We use # to @.""",
)
NUMBERS = Category(
    "number",
    """days in a week: seven
months in a year: twelve
hours in a day: twenty-four
minutes in an hour: sixty
seconds in a minute: sixty
weeks in a year: fifty-two
days in a year: three hundred sixty-five
seasons in a year: four
days in January: thirty-one
days in April: thirty
days in June: thirty
days in September: thirty
days in December: thirty-one
days in March: thirty-one
letters in the alphabet: twenty-six
sides in a triangle: three
sides in a square: four
sides in a hexagon: six
corners in a rectangle: four
colors in a rainbow: seven
planets in the solar system: eight
continents in the world: seven
years in a century: one hundred
years in a decade: ten
centimeters in a meter: one hundred
meters in a kilometer: one thousand
grams in a kilogram: one thousand
eggs in a dozen: twelve
strings on a violin: four
strings on a guitar: six
keys on a piano: eighty-eight
players in a soccer team: eleven
wheels on a bicycle: two
wheels on a car: four
wheels on a tricycle: three
fingers on a hand: five
teeth in the mouth of an adult: thirty-two
arms on an octopus: eight
cards in a deck: fifty-two
squares on a chess board: sixty-four""",
    """How many @?
How many @ are there?
What is the number of @?
Tell me the number of @.
Do you know how many @ there are?
Tell me how many @ there are.
Count the @. How many are there?""",
    """Can you tell me how many @ there are?
Do you know the number of @?""",
    """The number of @ is #.
There are # @.""",
)
AFTER = Category(
    "after",
    """Monday: Tuesday
Tuesday: Wednesday
Wednesday: Thursday
Thursday: Friday
Friday: Saturday
Saturday: Sunday
Sunday: Monday
January: February
February: March
March: April
April: May
May: June
June: July
July: August
August: September
September: October
October: November
November: December
December: January
spring: summer
summer: autumn
autumn: winter
winter: spring
morning: noon
Mercury: Venus
Venus: Earth
Earth: Mars
Mars: Jupiter
Jupiter: Saturn
Saturn: Uranus
Uranus: Neptune""",
    """What comes after @?
What comes next after @?
What follows @?
What is next after @?
Tell me what comes after @.
What is the next one after @?
Do you know what comes after @?""",
    """Can you tell me what comes after @?
Do you know what follows @?""",
    """After @ comes #.
# comes after @.
# follows @.""",
)
BEFORE = Category(
    "before",
    """Monday: Sunday
Tuesday: Monday
Wednesday: Tuesday
Thursday: Wednesday
Friday: Thursday
Saturday: Friday
Sunday: Saturday
February: January
March: February
April: March
May: April
June: May
July: June
August: July
September: August
October: September
November: October
December: November
summer: spring
autumn: summer
winter: autumn""",
    """What comes before @?
What comes just before @?
Tell me what comes before @.
What is right before @?
Do you know what comes before @?
What do we have before @?""",
    """Can you tell me what comes before @?
Do you know what comes just before @?""",
    """Before @ comes #.
# comes before @.""",
)
SCIENCE = Category(
    "science",
    """the largest planet: Jupiter
the smallest planet: Mercury
the red planet: Mars
the closest star to Earth: the Sun
the largest ocean: the Pacific Ocean
the highest mountain: Mount Everest
the largest animal: the blue whale
the tallest animal: the giraffe
the fastest land animal: the cheetah
the largest land animal: the elephant
the largest bird: the ostrich
the hardest natural material: diamond
the lightest gas: hydrogen
the largest continent: Asia
the smallest continent: Australia
the coldest continent: Antarctica
the largest country: Russia
the smallest country: Vatican City
the largest desert of sand: the Sahara
the king of animals: the lion
the planet with the big rings: Saturn
the center of the solar system: the Sun
the gas that we breathe to live: oxygen
the force that pulls things down: gravity
frozen water: ice
melted ice: water
the star that gives us light: the Sun
the animal with the long trunk: the elephant
the largest part of the air: nitrogen
the shortest month: February
the first month of the year: January
the last month of the year: December
the first letter of the alphabet: A
the last letter of the alphabet: Z
the smallest prime number: two""",
    """What is @?
What is @ called?
What do we call @?
Can you name @?
Name @.
Tell me what @ is.
What is the name of @?
Do you know what @ is?""",
    """Can you tell me what @ is?
Do you know the name of @?""",
    """# is @.
@ is #.""",
)
MAKERS = Category(
    "maker",
    """honey: bees
milk: cows
eggs: hens
wool: sheep
silk: silkworms
webs: spiders
bread: bakers
shoes: shoemakers
paintings: painters
clothes: tailors
chairs: carpenters
pots: potters
books: writers
songs: composers
meals: cooks""",
    """Who makes @?
Who gives us @?
From whom do we get @?
Who is it that makes @?
Tell me who makes @.
Do you know who makes @?
Who gives people @?""",
    """Can you tell me who makes @?
From whom do people get @?""",
    """# make @.
# give us @.
We get @ from #.""",
)
ORIGINS = Category(
    "origin",
    """bread: flour
cheese: milk
butter: milk
paper: wood
glass: sand
wine: grapes
chocolate: cocoa beans
a raisin: grapes
jam: fruit
tofu: soybeans
a snowman: snow
a brick: clay
a candle: wax
a sweater: wool
a book: paper
a tire: rubber
a window: glass
ketchup: tomatoes""",
    """What is @ made of?
What is @ made from?
From what is @ made?
Of what is @ made?
What do people use to make @?
Tell me what @ is made of.
What do you need to make @?""",
    """Can you tell me what @ is made of?
Do you know what @ is made from?""",
    """@ is made of #.
@ is made from #.""",
)
LANGUAGES = Category(
    "language",
    """France: French
Germany: German
Italy: Italian
Spain: Spanish
Portugal: Portuguese
Brazil: Portuguese
England: English
Australia: English
the United States: English
Mexico: Spanish
Argentina: Spanish
Peru: Spanish
China: Chinese
Japan: Japanese
South Korea: Korean
Russia: Russian
Poland: Polish
Greece: Greek
Turkey: Turkish
Egypt: Arabic
Sweden: Swedish
Norway: Norwegian
Denmark: Danish
Finland: Finnish
Hungary: Hungarian
the Netherlands: Dutch
Vietnam: Vietnamese
Thailand: Thai
Austria: German
Iran: Persian""",
    """Which language do people speak in @?
What language do people speak in @?
What language is spoken in @?
Which language is spoken in @?
What is the language of @?
Tell me the language of @.
Which language do you hear in @?""",
    """Can you tell me the language of @?
Do you know which language is spoken in @?""",
    """People in @ speak #.
The language of @ is #.
In @, people speak #.""",
)
CATEGORIES = (
    CAPITALS, SYMBOLS, ELEMENTS, AUTHORS, YOUNG, SOUNDS, LEGS, HOMES, OPPOSITES, COLORS, SENSES,
    NUMBERS, AFTER, BEFORE, SCIENCE, MAKERS, ORIGINS, LANGUAGES,
)  # fmt: skip

# "Tell me the ..." is also said so; "@" is the rest of the question.
WISHES = """Tell me @.
Tell me @.
Please tell me @.
Could you tell me @?
I would like to know @."""

WORD_SYSTEMS = """Answer with one word.
Answer with one word.
Use only one word.
Answer in one word."""
SHORT_SYSTEMS = """Give only the answer.
Answer in a few words.
Only the answer, please."""
SENTENCE_SYSTEMS = """Answer with a sentence.
Answer in a full sentence.
You are a helpful assistant.
You are a helpful assistant."""
