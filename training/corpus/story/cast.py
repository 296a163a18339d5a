"""Who may be in a story, and the small things that stories are full of."""

GIRLS = """Mia Anna Ella Nora Clara Lucy Emma Zoe Ruby Molly Sara Tessa Nina Julia Eva Maya Leah
Alice Hanna Ida Marta Sofia Greta Polly Wendy Kate Lena Bella Dora Yuki Amy Rosa Lily Daisy Iris
Olive Penny Holly Hazel Fern Ivy June Stella Mina Suki Amina Lulu Dina Pearl Tilly""".split()
BOYS = """Tom Ben Max Leo Sam Finn Oliver Jack Theo Noah Hugo Felix Oscar Paul Emil Peter Adam Luca
Henry George Milo Otto Simon Toby Arlo Ivan Jonas Kenji Rafi Barney Charlie Billy Danny Eddie Fred
Gus Harry Jamie Kai Louis Marco Nico Omar Pip Robin Teddy Victor Walter Bruno Ravi""".split()
ANIMALS = """fox rabbit mouse bear cat puppy frog hedgehog squirrel turtle pig lamb goat pony badger
beaver otter deer wolf lion tiger elephant penguin kitten monkey dragon raccoon koala
""".split()
_PLURALS = {"mouse": "mice", "wolf": "wolves", "deer": "deer"}
SIZES = "little little little young small".split()
PRONOUNS = {
    "girl": {"he": "she", "him": "her", "his": "her", "himself": "herself"},
    "boy": {"he": "he", "him": "him", "his": "his", "himself": "himself"},
}
GROWN_UPS = {
    "girl": "mother mother grandmother aunt".split(),
    "boy": "father father grandfather uncle".split(),
}

HOMES = """at the edge of a quiet forest
near a wide blue lake
in a village by the sea
on a green hill
beside a winding river
in a valley full of flowers
on a sunny farm
at the foot of a tall mountain
in a cottage near the woods
next to an old mill
on a windy hill
in a house with a red door
in a small yellow house
behind a big garden
near a great oak tree
on a small island
in a town with narrow streets
at the end of a long road
beside a little stream
in a house made of stone
between two round hills
not far from the sea""".splitlines()

# trait: habits that show it
TRAITS = """kind: always shared {his} food / never forgot to say thank you / helped everyone
brave: was not afraid of the dark / always walked at the front / liked to climb high
curious: asked questions all day long / looked under every stone / wanted to know everything
shy: liked to hide when strangers came by / spoke in a very quiet voice / often looked at {his} feet
clever: could solve any puzzle / always had a new plan / knew many things
cheerful: sang from morning until night / smiled even when it rained / laughed every day
patient: could wait for hours / never did things in a hurry / always took {his} time
stubborn: never gave up / always tried one more time / never liked to say sorry
gentle: walked softly so that no flower was hurt / spoke kindly to every beetle
playful: turned every walk into a game / loved to play hide and seek
honest: always told the truth / never kept what belonged to others
lonely: often watched the clouds alone / wished for a friend every night
careful: looked twice before every step / kept everything clean and tidy
sleepy: loved to nap in the sun / yawned at breakfast and at supper
hungry: was always thinking about lunch / could eat seven pancakes in a row
proud: liked to stand on the highest stone / never asked anyone for help
dreamy: told stories to the moon / forgot the time every day
quick: ran everywhere and never walked / could race the wind
quiet: liked to listen more than to talk / could sit still for a long time
busy: was always making something / never sat still
merry: hummed a little tune all day / danced on the way to the well
timid: jumped at every noise / liked to stay close to home
helpful: carried bags for the neighbors / always asked who needed a hand
messy: never put things away / had mud on {his} nose every day""".splitlines()

# What a story takes at random: slot: values.
_POOLS = """color: red, blue, green, yellow, golden, silver, purple, orange, white, brown, pink
food: bread, soup, cheese, honey, porridge, apple pie, pancakes, berry jam, warm rolls, nut cake
treat: cookie, bun, pear, plum, cake, muffin, apple, pancake, peach, honey cake
treats: cookies, buns, pears, plums, cakes, muffins, apples, pancakes, berries, nuts
baked: cookies, buns, cakes, muffins, rolls
drink: warm milk, hot cocoa, apple juice, sweet tea, lemonade, berry juice
toy: kite, drum, ball, doll, boat, train, puppet, top, robot, wagon
flower: daisies, roses, tulips, poppies, violets, sunflowers, lilies
game: hide and seek, tag, catch, jump rope, pirates, kings and queens
spot: by the pond, under the old oak, near the well, by the gate, in the meadow, on the hill
spot: by the stream, near the barn, at the market, by the bridge
passer: owl, crow, squirrel, duck, goose, mole, otter, heron, badger, magpie, hare, swan
day: One day, One morning, One sunny morning, One afternoon, One fine day, One spring day
day: One summer morning, One quiet afternoon
soon: soon, before long, in a little while, after a while
around: in the whole village, for miles around, in the valley, under the sun
gift: red scarf, small drum, wooden flute, story book, warm hat, blue kite, paint box"""
POOLS: dict[str, list[str]] = {}
for _line in _POOLS.splitlines():
    _slot, _values = _line.split(": ")
    POOLS.setdefault(_slot, []).extend(_values.split(", "))


def plural(kind: str) -> str:
    """The plural of an animal, or of a girl or boy."""
    if kind in _PLURALS:
        return _PLURALS[kind]
    if kind.endswith("y") and kind[-2] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith("x") else f"{kind}s"
