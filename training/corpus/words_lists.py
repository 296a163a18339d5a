# ruff: noqa: E501
"""The lists: kinds of things, the best known first, and series that have an order of their own."""

KINDS = """colors: red, blue, green, yellow, orange, purple, pink, black, white, brown, gray, gold, silver, violet, turquoise
animals: dog, cat, horse, cow, lion, tiger, elephant, bear, fox, rabbit, mouse, monkey, wolf, sheep, goat, deer, zebra
farm animals: cow, pig, horse, sheep, chicken, goat, duck, goose, donkey, turkey, rooster, lamb, pony
wild animals: lion, tiger, elephant, bear, wolf, giraffe, zebra, monkey, fox, deer, leopard, hippo, rhino, camel
pets: dog, cat, rabbit, hamster, goldfish, parrot, turtle, mouse, guinea pig, canary, pony, lizard, frog
fruits: apple, banana, orange, pear, grape, cherry, peach, plum, lemon, mango, melon, kiwi, strawberry, pineapple
berries: strawberry, blueberry, raspberry, blackberry, cranberry, gooseberry, mulberry, elderberry, cloudberry, juniper berry, bilberry, boysenberry
vegetables: carrot, potato, tomato, onion, cabbage, pea, bean, corn, pepper, cucumber, spinach, pumpkin, garlic, lettuce
birds: robin, owl, eagle, duck, crow, swan, sparrow, parrot, goose, heron, penguin, dove, pigeon, stork
flowers: rose, tulip, daisy, lily, sunflower, violet, orchid, iris, poppy, daffodil, lavender, carnation, bluebell
trees: oak, pine, maple, birch, willow, elm, ash, cedar, beech, palm, chestnut, fir, poplar
toys: ball, doll, kite, drum, puzzle, robot, train, top, blocks, teddy bear, puppet, wagon, marbles
clothes: shirt, hat, coat, shoes, socks, scarf, dress, gloves, pants, sweater, belt, jacket, skirt, boots
foods: bread, cheese, soup, rice, cake, pasta, salad, eggs, pizza, fish, butter, honey, jam, noodles
drinks: water, milk, tea, juice, coffee, lemonade, cocoa, cider, soda, coconut water, iced tea, apple juice
sweets: cake, cookie, chocolate, candy, ice cream, pie, muffin, pudding, honey, jam, donut, waffle
tools: hammer, saw, nail, rope, ladder, shovel, rake, axe, drill, wrench, brush, bucket, pliers, screwdriver
instruments: piano, guitar, violin, drum, flute, trumpet, harp, cello, bell, organ, whistle, banjo, clarinet
insects: ant, bee, butterfly, beetle, fly, moth, ladybug, cricket, wasp, firefly, dragonfly, grasshopper, mosquito
sea animals: whale, shark, crab, seal, dolphin, octopus, turtle, jellyfish, starfish, squid, lobster, seahorse, clam
fish: salmon, tuna, trout, cod, carp, shark, herring, perch, pike, eel, sardine, goldfish, mackerel
countries: France, Germany, Italy, Spain, Japan, China, India, Canada, Brazil, Mexico, Egypt, Kenya, Norway, Peru, Korea
cities: Paris, London, Rome, Berlin, Tokyo, Madrid, Cairo, Seoul, Lima, Oslo, Delhi, Vienna, Athens, Lisbon
rivers: Nile, Amazon, Danube, Rhine, Thames, Seine, Ganges, Volga, Congo, Mississippi, Yangtze, Loire
mountains: Everest, Mont Blanc, Fuji, Kilimanjaro, Matterhorn, Denali, Olympus, Elbrus, Etna, Vesuvius, Aconcagua, Snowdon
jobs: teacher, doctor, baker, farmer, sailor, painter, cook, nurse, pilot, singer, writer, carpenter, driver
sports: soccer, tennis, swimming, running, skating, rowing, hockey, golf, cycling, boxing, skiing, sailing, basketball
games: chess, tag, hide and seek, checkers, dominoes, cards, marbles, hopscotch, jump rope, darts, bingo, charades
shapes: circle, square, triangle, star, oval, heart, diamond, rectangle, cross, cube, cone, pyramid, sphere
rooms: kitchen, bedroom, bathroom, living room, hall, attic, cellar, office, library, garage, playroom, pantry
pieces of furniture: table, chair, bed, sofa, desk, shelf, cupboard, bench, stool, lamp, drawer, wardrobe, bookcase
kitchen things: spoon, fork, knife, plate, cup, bowl, pot, pan, kettle, oven, glass, teapot, whisk
kinds of weather: sun, rain, snow, wind, fog, storm, clouds, thunder, hail, frost, mist, lightning
feelings: happy, sad, angry, brave, shy, proud, calm, tired, curious, lonely, excited, afraid, surprised
body parts: head, hand, foot, arm, leg, nose, ear, eye, mouth, knee, finger, toe, shoulder, elbow
vehicles: car, bus, train, boat, plane, bicycle, truck, ship, tractor, balloon, sled, wagon, scooter
metals: iron, gold, silver, copper, tin, lead, zinc, nickel, aluminum, platinum, steel, bronze
gems: diamond, ruby, emerald, sapphire, pearl, opal, amber, jade, topaz, garnet, amethyst, turquoise
languages: English, French, German, Spanish, Italian, Chinese, Japanese, Korean, Russian, Arabic, Hindi, Greek, Latin
family members: mother, father, sister, brother, grandmother, grandfather, aunt, uncle, cousin, son, daughter, niece
school things: pencil, pen, book, ruler, eraser, paper, bag, desk, chalk, notebook, scissors, glue, crayon
school subjects: math, reading, science, history, art, music, geography, English, biology, chemistry, physics, sports
materials: wood, paper, glass, stone, metal, wool, cotton, plastic, leather, silk, clay, rubber
buildings: house, school, church, castle, barn, tower, hotel, library, hospital, museum, theater, bridge, mill
verbs: go, run, see, eat, play, jump, sing, read, write, sleep, swim, walk, laugh, dance
adjectives: big, small, red, happy, old, new, good, fast, slow, warm, cold, soft, bright, quiet
spices: salt, pepper, cinnamon, ginger, garlic, mint, basil, nutmeg, vanilla, curry, saffron, parsley
dances: waltz, tango, polka, ballet, salsa, samba, swing, foxtrot, rumba, jig, flamenco, square dance
baby animals: puppy, kitten, calf, lamb, foal, chick, duckling, cub, piglet, kid, fawn, tadpole, joey
girls' names: Anna, Emma, Mia, Lucy, Clara, Ella, Ruby, Nora, Alice, Sara, Zoe, Lily, Julia
boys' names: Tom, Ben, Max, Leo, Sam, Jack, Paul, Peter, Adam, Noah, Felix, Oscar, Henry"""

# name: items in their order; a list of them begins at the first
SERIES = """days of the week: Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
months: January, February, March, April, May, June, July, August, September, October, November, December
seasons: spring, summer, autumn, winter
planets: Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune
numbers: one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve
numerals: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20
letters: A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z
small letters: a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z
notes: do, re, mi, fa, sol, la, ti
ordinal numbers: first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth
even numbers: 2, 4, 6, 8, 10, 12, 14, 16, 18, 20
odd numbers: 1, 3, 5, 7, 9, 11, 13, 15, 17, 19
tens: 10, 20, 30, 40, 50, 60, 70, 80, 90, 100
multiples of five: 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60
multiples of three: 3, 6, 9, 12, 15, 18, 21, 24, 27, 30
square numbers: 1, 4, 9, 16, 25, 36, 49, 64, 81, 100
colors of the rainbow: red, orange, yellow, green, blue, indigo, violet
meals of the day: breakfast, lunch, dinner
parts of the day: morning, noon, afternoon, evening, night
Roman numerals: I, II, III, IV, V, VI, VII, VIII, IX, X, XI, XII
units of time: second, minute, hour, day, week, month, year, century
continents by size: Asia, Africa, North America, South America, Antarctica, Europe, Australia
Greek letters: alpha, beta, gamma, delta, epsilon, zeta, eta, theta"""

HEADS = """A list of {kind}: {items}
A list of {kind}: {items}
A list of {kind}: {items}
A list of {kind}: {items}
Here is a list of {kind}: {items}
{Kind}: {items}
Some {kind}: {items}
Some {kind} are {items}
These are some {kind}: {items}
{count} {kind}: {items}"""
SERIES_HEADS = """A list of the {kind}: {items}
A list of {kind}: {items}
A list of {kind}: {items}
Here is a list of the {kind}: {items}
{Kind}: {items}
The {kind} are {items}
The {kind} in order: {items}"""
ASKS = """Name some {kind}.
List some {kind}.
Can you name some {kind}?
Give me a list of {kind}.
What {kind} do you know?
Please write a list of {kind}.
Write a list of {kind}.
Give me some {kind}.
Tell me some {kind}.
Which {kind} do you know?
Which {kind} are there?
What are some {kind}?
Do you know any {kind}?
Can you list some {kind}?
Could you name a few {kind}?
Name a few {kind}.
I need some {kind}.
I want a list of {kind}.
I would like to hear some {kind}.
Please name some {kind}.
Make a list of {kind}.
Write down some {kind}.
Show me a list of {kind}.
{Kind}?
Some {kind}, please.
A list of {kind}, please.
Tell me which {kind} you know.
Examples of {kind}?
A few {kind}, please.
Say some {kind}.
Think of some {kind}.
Collect some {kind}.
I am looking for {kind}.
Have you got some {kind} for me?
What would be {kind}?
Tell me names of {kind}.
Write {kind}.
Help me find {kind}.
I need ideas: {kind}.
Can you think of any {kind}?
What {kind} are known to you?
All the {kind} that you know, please.
{Kind}: which do you know?
{Kind}. Write some down.
{Kind}, please!
Which things are {kind}?
What are examples of {kind}?
A short list of {kind}.
I would like {kind}, a few of them.
{Kind}! Name some.
{Kind}! Which do you know?
{Kind}! I need a few.
Some {kind}!
Quick, a few {kind}!
{Kind}, now! Write down what you know.
Which {kind} would you name?
Which {kind} can you think of?
Which {kind} can I find?
Which {kind} do people know?
What {kind} are there?
What {kind} could you name?
What are a few {kind}?
What are the names of some {kind}?
What would you call {kind}? Name some.
What are some of the {kind} that people know?
What are some {kind} that you have heard of?
What are some good examples of {kind}?
{Kind}! Let me have some.
{Kind}! Go on.
{Kind}! As many as you can.
{Kind}! Write them down, please.
{Kind}. List a few.
{Kind}, list some of them.
{Kind}: list whichever you know.
List {kind}.
List them: {kind}.
Now {kind}! Say some.
Could I hear some {kind}?
Could I have a few {kind}?
May I have a list with {kind} in it?
Put down some {kind} for me.
Is there a list of {kind} you can give me?
Anything that belongs to {kind}?
My homework is to name {kind}. Which are there?
We collect {kind}. Which do you know?
I can't think of any {kind}. Can you?
Let us talk about {kind}. Name some.
I wonder which {kind} there are.
How about some {kind}?
{Kind} that anybody knows.
{Kind} one could see.
{Kind} people like?
{Kind} that you could find somewhere
Which {kind} would somebody look for?
Some {kind} that a boy or a girl may want.
{Kind} my friend can choose from.
The best {kind}, in your opinion?
{Kind} for a poster, please.
I am making a poster of {kind}. What goes on it?
{Kind} that start a list.
Say which {kind} there are.
Tell me what {kind} there are."""
ADJECTIVES = """common good known nice simple typical various well-known different famous \
ordinary everyday important popular interesting useful beautiful real usual main favorite musical \
classic little big modern old""".split()
COUNTED_ASKS = """Name {count} {kind}.
Name {count} {kind}.
List {count} {kind}.
Give me {count} {kind}.
Can you name {count} {kind}?
Please write a list of {count} {kind}.
Tell me {count} {kind}.
I need a list of {count} {kind}.
Please name {count} {kind}.
Could you list {count} {kind}?
Write down {count} {kind}.
Make a list of {count} {kind}.
Which {count} {kind} do you know?
Just {count} {kind}.
Give me the names of {count} {kind}.
Do you know {count} {kind}?
Think of {count} {kind}."""
SERIES_ASKS = """List the {kind}.
Name the {kind}.
Name the {kind} in order.
Give me a list of the {kind}.
What are the {kind}?
Please write a list of the {kind}.
Can you name the {kind}?
Tell me the {kind}.
Tell me all the {kind}.
Which are the {kind}?
Say the {kind} in order.
I want to know the {kind}.
The {kind}, please.
The {kind}?
List all the {kind} in order.
Write down the {kind}.
Do you know the {kind}?
Could you list the {kind}?"""
FIRST_ASKS = """Name the first {count} {kind}.
List the first {count} {kind}.
What are the first {count} {kind}?
Tell me the first {count} {kind}.
Give me the first {count} {kind}.
Which are the first {count} {kind}?"""
SYSTEMS = """Answer with a comma separated list.
Answer with a comma separated list.
Answer with a list.
You are a helpful assistant.
Keep it short."""
REPLIES = """{items}
{items}
A list of {kind}: {items}
Here are {count} {kind}: {items}"""
