# ruff: noqa: E501
"""Little stories that ask for a sum, and the words that fill them.

Each line is "sum | story". {N} and {M} are people, {he} and {his} belong to {N}; {T} are things of
one kind that can be carried, {U} another kind, {W} animals, {P} a place.
"""

GIRLS = "Mia Anna Ella Nora Clara Lucy Emma Zoe Ruby Sara Julia Eva Maya Alice Hanna Marta Lena Rosa Lily Daisy Iris Holly June Kate Polly Amina Yuki Suki Priya Fatima Elena Grace".split()
BOYS = "Tom Ben Max Leo Sam Finn Jack Theo Noah Hugo Oscar Paul Emil Adam Luca Henry George Milo Simon Toby Ivan Kenji Louis Marco Nico Omar Teddy Victor Bruno Ravi Ali David".split()
GIRL_KIN = "my sister / my mother / my grandmother / my aunt / our teacher / the queen / a girl / the old woman / the nurse / Mrs. Brown / her sister".split(
    " / "
)
BOY_KIN = "my brother / my father / my grandfather / my uncle / our neighbor / the king / a boy / the old man / the farmer / Mr. Green / the cook".split(
    " / "
)
THINGS = """apples pears plums oranges lemons cherries nuts berries carrots potatoes tomatoes eggs cookies buns cakes rolls
sandwiches chocolates sweets lollipops coins marbles stamps stickers cards postcards photos beads buttons shells stones
feathers leaves flowers roses tulips pencils pens crayons books magazines toys blocks balls dolls kites balloons candles
cups plates spoons glasses bottles boxes bags baskets keys bricks nails tickets letters hats socks shirts ribbons medals
donuts waffles crackers pies tarts biscuits mugs bowls forks knives rulers erasers folders envelopes parcels
cushions blankets towels mirrors clocks watches rings necklaces gloves boots shoes jackets belts buckets shovels
hammers screws wheels bulbs batteries cables phones posters paintings drawings maps tokens chips dice whistles
drums flutes robots trains trucks tents boats jewels pebbles acorns chestnuts olives grapes beans peppers
pumpkins melons seeds bananas peaches mangoes onions puzzles cars tiles bananas stars lamps umbrellas""".split()
ANIMALS = "ducks geese cows sheep goats pigs horses rabbits birds pigeons sparrows cats dogs fish frogs bees ants butterflies mice deer monkeys lambs ponies penguins swans turtles".split()
PLACES = "in the basket / on the table / in the box / on the shelf / in the drawer / in the kitchen / in the bag / in the jar / on the tray / in the bowl / in the cupboard / in the garden / in the cellar / on the floor / in the hall / in the shop / in the barn / in the school / under the tree / on the bench / in the room".split(
    " / "
)
OUTDOORS = "on the meadow / in the field / by the lake / on the lawn / in the yard / in the zoo / in the park / on the roof / on the hill / in the stable / by the river / in the forest / on the island / at the farm".split(
    " / "
)
# What may stand before a story; @ is the story.
BEGINNINGS = """Imagine this: @
Suppose this: @
Picture this. @
Here is a little story. @
A problem for you: @
Word problem: @
Listen: @
A riddle: @
Let's see: @
Think: @""".splitlines()
# First words that are written small in the middle of a sentence.
SMALL = "He She It They Then There The A In On At Since Each Every One Today Half From".split()
# What has no part in the sum.
IDLE = """{He} is {i} years old.
It is {i} o'clock.
It is a sunny day.
{He} lives in house number {i}.
{He} has {i} {U}, too.
{M} has {i} {U}.
It is the {i}th of May.
{He} likes {U} better.
It is cold outside.
Everyone is happy.
The bag is green.
{M} is watching.""".splitlines()

LEFT = "[How many {T} are left?|How many {T} does {N} have left?|How many {T} does {he} have left?|How many {T} does {N} still have?|How many {T} does {N} have now?|How many does {he} keep?|How many are left over?|What is left?|How many {T} are there now?]"
NOW = "[How many {T} does {N} have now?|How many {T} does {he} have now?|How many {T} does {N} have in all?|How many {T} does {N} have altogether?|How many {T} is that in total?|What is the total?|How many are there now?|How many {T} does {he} have then?]"
ALL = "[How many {T} are there in all?|How many {T} is that altogether?|How many {T} are there?|How many {T} is that together?|What is the total?|How many {T} do they have together?|How many is that in all?|What is the total number of {T}?]"
EACH = "[How many {T} does each one get?|How many {T} are there for each?|How many {T} does everyone get?|How many for each?|How many does each have?|What does each one get?]"
HAD = "[has|had|owns|owned|holds|found|bought|got|collected]"
LOSE = "[gives away|gave away|loses|lost|sells|sold|uses up|uses|drops|dropped|throws away|hides|lends out|lent {M}|gives {M}|gave {M}|breaks|misplaces|donates]"
GAIN = "[gets|got|buys|bought|finds|found|wins|won|collects|receives|is given|picks up|makes|adds]"

TALES = """a-b | {N} HAD {a} {T}. [Then|] {he} LOSE {b}. LEFT
a-b | {N} HAD {a} {T} and LOSE {b}. LEFT
a-b | {N} HAD {a} {T} and LOSE {b} of them. LEFT
a-b | {N} HAD {a} {T}, but {he} LOSE {b}. LEFT
a-b | After {N} LOSE {b} of {his} {a} {T}, how many {T} are left?
a-b | If {N} has {a} {T} and LOSE {b}, how many {T} does {he} have?
a-b | {N} LOSE {b} of {his} {a} {T}. LEFT
a-b | {N} had {a} {T}. {M} [took|ate|borrowed|broke|hid] {b} [of them|]. LEFT
a-b | There [are|were] {a} {T} {P}. {N} takes {b} [away|of them|]. [How many {T} are left {P}?|How many are left?|How many {T} are still there?]
a-b | There [are|were] {a} {T} {P}. {b} of them [are|were] [broken|gone|red|sold|old]. [How many are not?|How many others are there?]
a-b | {P} [are|were] {a} {T}, and {N} removes {b}. How many {T} are left there?
a-b | {a} {W} are {O}. {b} [run|go|fly|walk|swim] away. [How many {W} are left?|How many {W} stay there?|How many are still there?]
a-b | {a} {W} were {O} and {b} left. How many {W} are there now?
a-b | Of {a} {W} {O}, {b} are [asleep|sleeping|white|brown|young]. How many are [not|awake]?
a-b | {N} has {a} {T}. {M} has {b} fewer. How many {T} does {M} have?
a-b | {M} has {b} {T} less than {N}, who has {a}. How many {T} does {M} have?
a-b | {N} has {a} {T} and {M} has {b}. How many more {T} does {N} have [than {M}|]?
a-b | {N} has {a} {T}, {M} has {b} {T}. [How many fewer does {M} have?|What is the difference?]
a-b | {N} wants {a} {T} and has {b} [already|so far]. How many [more|] {T} does {he} [need|lack]?
a-b | {N} needs {a} {T} but has only {b}. How many are missing?
a-b | {N} and {M} have {a} {T} together. {M} has {b}. How many {T} does {N} have?
a-b | {N} had some {T} and got {b} more. Now {he} has {a}. How many did {he} have at first?
a-b | There are {a} [people|guests|children] [at the party|in the hall|on the boat]. {b} [go home|leave]. How many [stay|are left|are still there]?
a-b | {a} children are in a class, {b} of them are girls. How many boys are there?
a-b | A [class|group|team] has {a} children, and {b} are ill today. How many are [there|in school|not ill]?
a-b | The [road|path|river|trail] is {a} [kilometers|miles] long. {N} has gone {b}. How [far|many] is it still?
a-b | A [rope|string|plank|stick|pipe] is {a} [meters|feet|inches] long, and {N} cuts off {b}. How long is [the rest|it now]?
a-b | A [tank|barrel|bucket|pool] holds {a} liters. {b} liters [run|leak|flow] out. How many liters are left?
a-b | A [toy|ticket|coat|lamp|chair] costs {a} dollars, but now it is {b} dollars cheaper. What does it cost [now|]?
a-b | {N} has {a} dollars and [spends|pays] {b} [dollars|] for a [book|ball|hat|cake|ticket]. How [much money|many dollars|much] [does {he} have left|is left|is left over]?
a-b | {N} pays a {b} dollar [lamp|bag|book|bill] with {a} dollars. How much [money does {he} get back|change is that]?
a-b | {N} is {a} years old and {M} is {b} years younger. How old is {M}?
a-b | {N} is {a}. How old was {he} {b} years ago?
a-b | {N} is {a} years old, {M} is {b}. How many years older is {N}?
a-b | A [candle|tree|tower|plant] was {a} [cm|meters] tall and is {b} [cm|meters] shorter now. How tall is it [now|]?
a-b | A [box|bag|sack] with [sand|flour|rice|fruit] weighs {a} kilos. The [box|bag|sack] alone weighs {b}. What does the rest weigh?
a-b | {N} has to [write|learn|read] {a} words and has done {b}. How many are left to do?
a-b | The game lasts {a} minutes, and {b} minutes are over. How many minutes are left?
a+b | {N} HAD {a} {T}. [Then|] {he} GAIN {b} more. NOW
a+b | {N} HAD {a} {T} and GAIN {b} more. NOW
a+b | {N} HAD {a} {T} and GAIN another {b}. NOW
a+b | {N} HAD {a} {T}. {M} gives {him} {b} [more|]. NOW
a+b | If {N} has {a} {T} and GAIN {b} more, how many {T} does {he} have?
a+b | {N} has {a} {T} and {M} has {b}. ALL
a+b | {N} has {a} {T}, {M} has {b} {T}. ALL
a+b | {N} has {a} {T}. {M} has {b} more [than {N}|]. How many {T} does {M} have?
a+b | {M} has {b} {T} more than {N}, who has {a}. How many {T} does {M} have?
a+b | {N} has {a} {T} and {b} {U}. [How many things is that?|How many things does {he} have?|How many is that in all?]
a+b | There are {a} {T} {P} and {b} {T} {P2}. ALL
a+b | {P} are {a} {T}. {N} puts {b} more there. [How many {T} are there now?|How many is that?]
a+b | {a} {W} are {O}. {b} more [come|arrive|join them]. [How many {W} are there now?|How many are they now?]
a+b | {O} live {a} {W} and {b} {X}. How many animals [live there|is that|are there]?
a+b | {a} {W} and {b} {X} are {O}. How many animals are [there|that] [in all|]?
a+b | {N} [picked|found|made|sold|baked|counted] {a} {T} [yesterday|in the morning|on Friday|before lunch|in May] and {b} [today|in the evening|on Sunday|after lunch|in June]. ALL
a+b | {N} [ran|walked|swam|rode] {a} [kilometers|miles|minutes] [yesterday|on Sunday] and {b} [today|on Friday]. How many is that [in all|together|]?
a+b | {N} gave away {b} {T} and has {a} left. How many {T} did {he} have [before|at first]?
a+b | After {N} ate {b} {T}, {a} were left. How many were there [before|at first]?
a+b | {a} [boys|women|men] and {b} [girls|children] are [in the room|on the train|in the choir|at the party]. How many people is that?
a+b | There are {a} children [on the bus|in the class|in the pool]. {b} more [get on|come|join]. How many [are there now|children is that]?
a+b | A [book|bag|cup|hat] costs {a} dollars and a [pen|ball|plate|scarf] {b} dollars. What do [they|both] cost [together|]?
a+b | {N} buys a [coat|lamp|game] for {a} dollars and a [cap|book|plant] for {b}. How much [does {he} pay|is that|does {he} spend]?
a+b | {N} is {a} years old. {M} is {b} years older. How old is {M}?
a+b | {N} is {a}. How old will {he} be in {b} years?
a+b | A [tree|plant|wall|tower] is {a} [meters|feet|cm] high and grows by {b}. How high is it then?
a+b | The [trip|film|lesson|walk] takes {a} minutes, and the way home {b}. How many minutes is that?
a+b | One [sack|stone|pumpkin|dog] weighs {a} kilos, the other [one|] {b}. What do they weigh together?
a+b | {N} had {a} points and scored {b} more. How many points [does {he} have|is that]?
a+b | {N} has {a} dollars and earns {b} [dollars|more]. How [much money|many dollars] does {he} have?
a+b+c | {N} has {a} {T}, {M} has {b} and {L} has {c}. ALL
a+b+c | {N} [picked|found|sold|made] {a} {T} on Sunday, {b} on Tuesday and {c} on Thursday. ALL
a+b+c | There are {a} red, {b} blue and {c} green {T} {P}. ALL
a+b+c | {O} are {a} {W}, {b} {X} and {c} [bees|donkeys]. How many animals is that?
a+b-c | {N} HAD {a} {T}. {He} GAIN {b} more and LOSE {c}. NOW
a+b-c | {N} HAD {a} {T}, GAIN {b} and [then|later] LOSE {c}. LEFT
a+b-c | There were {a} {T} {P}. {N} put in {b} more, and {M} took {c}. How many are there now?
a+b-c | {a} [people|children] are on a [boat|train|tram]. {b} get on and {c} get off. How many are on it now?
a+b-c | {a} {W} are {O}. {b} come and {c} go. How many {W} are there?
a-b+c | {N} HAD {a} {T}. {He} LOSE {b} and [then|later] GAIN {c}. NOW
a-b+c | {N} HAD {a} {T}. {He} LOSE {b}. Then {he} GAIN {c} more. NOW
a-b+c | {a} [people|children] are on a [boat|train|tram]. {b} get off and {c} get on. How many are [there|on it] now?
a-b+c | {a} {W} are {O}. {b} leave, but {c} come back. How many are there?
a-b-c | {N} HAD {a} {T}. {He} LOSE {b} and {M} takes {c}. LEFT
a-b-c | {N} HAD {a} {T}. {He} gives {b} to {M} and {c} to {L}. LEFT
a-b-c | {N} has {a} dollars. A [ball|book] costs {b} and a [cap|pen] costs {c}. How much is left if {he} buys both?
k*a | {N} has {k} [boxes|bags|baskets|packs|jars] with {a} {T} [in each|each]. ALL
k*a | There are {k} [boxes|bags|baskets|packs|shelves] with {a} {T} each. ALL
k*a | In each of {k} [boxes|bags|jars|drawers] are {a} {T}. ALL
k*a | {k} [children|people|friends] have {a} {T} each. ALL
k*a | Each of {k} [children|people|friends] [has|brings|gets] {a} {T}. ALL
k*a | Every [child|guest] gets {a} {T}, and there are {k} [children|guests]. How many {T} are needed?
k*a | {N} [buys|has|fills] {k} bags. In every bag are {a} {T}. ALL
k*a | {k} {W} eat {a} {T} each. How many {T} do they eat?
k*a | {M} has {a} {T} and {N} has {k} times as many. How many {T} does {N} have?
k*a | A [room|garden|wall|hall] has {k} rows with {a} {T} in [a|each] row. ALL
k*a | {N} plants {k} rows of {a} [flowers|trees|carrots]. How many is that?
k*a | One [ticket|book|cake|ball|shirt] costs {a} dollars. What do {k} cost?
k*a | What do {k} [tickets|books|balls|hats] cost if one costs {a} dollars?
k*a | {N} buys {k} [tickets|books|hats|lamps] for {a} dollars each. [What does {he} pay|How much is that|What do they cost together]?
k*a | {N} earns {a} dollars an hour. How much does {he} earn in {k} hours?
k*a | {N} [runs|walks|swims] {a} [miles|kilometers] [a|every|each] day. How far is that in {k} days?
k*a | {N} reads {a} pages [a day|an hour|every evening]. How many pages does {he} read in {k} [days|evenings]?
k*a | A car drives {a} kilometers in an hour. How far does it drive in {k} hours?
k*4 | How many legs do {k} [dogs|cows|cats|horses|tables] have [together|in all|]?
k*2 | How many [legs do {k} birds have|wings do {k} birds have|eyes do {k} children have|wheels do {k} bicycles have]?
k*7 | How many days are {k} weeks?
k*12 | How many eggs are {k} dozen?
2*a | {M} has {a} {T}. {N} has twice as many. How many {T} does {N} have?
2*a | {N} has {a} {T}, and {M} has double [that|as many]. How many does {M} have?
2*a | Two [boxes|trays|bags] hold {a} {T} each. ALL
3*a | {M} has three times as many {T} as {N}, who has {a}. How many {T} does {M} have?
f*g | There are {f} [boxes|rows|shelves] with {g} {T} each. ALL
f*g | A [wall|floor|sheet] has {f} rows of {g} [tiles|squares|dots]. How many is that?
f*g | {f} [people|children] pay {g} dollars each. How much is that [in all|together]?
f*g | One [chair|book|ticket] costs {g} dollars. How much are {f} of them?
a/k | {N} shares {a} {T} among {k} [children|friends|people]. EACH
a/k | {k} [children|friends|people|brothers] share {a} {T}. EACH
a/k | {N} puts {a} {T} into {k} [boxes|bags|rows], as many in each. How many {T} are in one?
a/k | {a} {T} are [put|packed] in [boxes|bags|packs] of {k}. How many [boxes|bags|packs] are [needed|filled|there]?
a/k | {N} has {a} {T} and gives {k} to every child. How many children get some?
a/k | {a} children [make|form] [groups|teams|rows] of {k}. How many [groups|teams|rows] are there?
a/k | {N} divides {a} {T} fairly between {k} {W}. EACH
a/k | {k} [tickets|books|cakes|balls] cost {a} dollars. What does one cost?
a/k | {N} reads {a} pages in {k} days, the same every day. How many pages a day is that?
a/k | A [rope|ribbon|board] of {a} [meters|feet|cm] is cut into {k} equal pieces. How long is one [piece|]?
a/k | {a} {W} live in {k} [stables|houses|cages], the same number in each. How many are in one?
a/2 | {N} has {a} {T} and [gives away|sells|loses|eats] half [of them|]. LEFT
a/2 | {N} and {M} share {a} {T} equally. EACH
a/2 | {N} has {a} {T}. {M} has half as many. How many {T} does {M} have?
a/3 | A third of the {a} {T} {P} are red. How many are red?
a/4 | {N} eats one quarter of {a} {T}. How many does {he} eat?
k*a+b | {N} has {k} [boxes|bags] with {a} {T} each and {b} [more|single] {T}. ALL
k*a+b | {N} buys {k} [books|hats] for {a} dollars each and a [cup|pen] for {b} dollars. How much [is that|does {he} pay]?
k*a-b | {N} has {k} [boxes|bags|trays] with {a} {T} each. {He} LOSE {b}. LEFT
k*a-b | There are {k} rows of {a} chairs, and {b} chairs are [taken|broken]. How many are [free|not]?
k*a-b | {k} friends have {a} {T} each. They [lose|sell|eat|give away|drop] {b} [in all|]. LEFTALL
a-k*m | {N} has {a} dollars. {He} buys {k} [books|pens|buns|cups] for {m} dollars each. How much [money is left|does {he} have left]?
a-k*m | {N} had {a} {T} and gave {m} to each of {k} friends. LEFT
a-k*m | {N} pays with {a} dollars for {k} [cakes|cards] at {m} dollars each. How much does {he} get back?
(a+b)*k | {N} and {M} each [fill|pack] {k} bags. Every bag has {a} {T} and {b} {U}. How many things does {N} pack?
(a+b)*k | Every day {N} [eats|finds|sells] {a} {T} in the morning and {b} at night. How many is that in {k} days?
(a-b)*k | Each of {k} boxes had {a} {T}, but {b} were taken out of each. ALL
(a+b)/2 | {N} has {a} {T} and {M} has {b}. They share them [all|] equally. EACH
(a+b)/k | {a} red and {b} green {T} are shared by {k} children. EACH
(a-b)/2 | {N} had {a} {T}, ate {b} and gave half of the rest to {M}. How many did {M} get?
a/k+b | {N} shares {a} {T} with some others, so that all {k} have the same. Then {he} finds {b} more. NOW
2*a+b | {M} has {a} {T}, {N} has {b} more than twice as many. How many {T} does {N} have?
a+2*a | {N} has {a} {T} and {M} has twice as many. How many do they have together?
a+b+a | {N} has {a} {T} and {M} has {b} more. How many do they have together?
p+q | A [shop|farm|school|village|library] has {p} [books|chairs|lamps|plates] and gets {q} more. How many is that?
p+q | {p} people live in one [village|street|house] and {q} in another. How many people is that?
p+q | {N} has {p} dollars and gets {q} [dollars|more]. How [much|many dollars] does {he} have now?
p+q | {N} counted {p} {T} in one room and {q} in the other. ALL
p+q | A [train|truck|ship] drives {p} kilometers and then another {q}. How far is that?
p-q | A [shop|farm|school|library] had {p} {T} and sold {q}. How many {T} are left?
p-q | {N} has {p} dollars and spends {q}. How much is left?
p-q | A [lamp|bike|phone|table] costs {p} dollars. {N} has {q} dollars. How much is missing?
p-q | Of {p} people [on the ship|in the hall], {q} leave. How many stay?
p-q | The way is {p} kilometers long, and {N} has driven {q}. How far is it still?
x+y | {N} [buys|has] {x} kilos of {T} and {y} kilos of {U}. How many kilos is that?
x+y | {N} ran {x} kilometers yesterday and {y} today. How far is that in all?
x+y | A [stick|rope|board] is {x} meters long, another {y} meters. How long are they together?
x+y | A [cup|pen|bun] costs {x} dollars, a [plate|ball|cake] {y} dollars. What do they cost together?
x-y | A [stick|board|string] is {x} meters long. {N} cuts off {y} meters. How long is the rest?
x-y | {N} has {x} liters of milk and drinks {y}. How much is left?
x-y | {N} has {x} dollars and spends {y}. How much is left?
k+m | It [is|was] {k} degrees [at dawn|at night] and gets {m} degrees warmer. How many degrees is it [then|now]?
k-m | It [is|was] {k} degrees [in the evening|today], and at night it [is|was] {m} degrees colder. How [cold|many degrees] is it at night?
k-m | At noon it is {k} degrees. It gets {m} degrees colder. What is the temperature then?
k-m | The thermometer shows {k} degrees, then it drops by {m}. What does it show [then|]?
k-m | {N} stands on step {k} and goes {m} steps down. On which step is {he}?
k-m | [The water|The lake|The air|The room] [is|was] {k} degrees [warm|] and cools [down|] by {m} degrees. [How warm is it then|What temperature has it]?
k-m | In the [morning|evening] it was {k} degrees. Since then it became {m} degrees colder. [How cold is it?|What does it show?]
k-m | {N} has {k} dollars and [owes|has to pay] {m} dollars. How much is that when all is paid?
k-m | A lift is on floor {k} and goes down {m} floors. On which floor [is it|does it stop]?
k-m | The temperature sinks from {k} degrees by {m} degrees. What is it [at the end|then]?
a-b | {N} borrowed {a} dollars from {M} and has already returned {b}. How much must {he} still [pay|give] back?
a-b | {N} owes {M} {a} dollars. {He} [returns|gives back|pays] {b}. [How much debt is left?|What is still open?|How much does {he} owe then?]
p-q | {N} borrowed {p} dollars and has returned {q}. How much must {he} still pay?
p-q | {N} owes the bank {p} dollars and pays {q}. [What is still open?|How much debt is left?]
p-q | The [school|theater|stadium|hotel] has {p} [beds|places|lockers]. {q} are [used|full|booked]. How many are [empty|still open|not used]?
a-b | [A|The] [bus|plane|ship|room|hotel] has {a} [seats|beds|places|rooms], and {b} are [full|used|booked|occupied]. [How many are empty?|How many are still open?|How many are not?]
a-b | {b} of the {a} [lockers|rooms|places|desks] in the [school|hotel|station] are in use. How many are [empty|unused|open]?
a-b | {a} [guests|people|pupils|players] were [invited|expected], but {b} did not come. How many were there?
a-b | {a} [tickets|meals|places] were [bought|ordered|paid], but {b} [people|guests] stayed at home. How many [were there|came]?
a-b | [A|The] [film|race|walk|flight|lesson] should last {a} minutes, but it was {b} minutes shorter. How long did it last?
a+b | [A|The] [film|race|walk|flight|lesson] should last {a} minutes, but it was {b} minutes longer. How long did it last?
a+b | [A|The] [bus|boat|plane] needs {a} minutes as a rule. Today it was {b} minutes late. How many minutes did it need?
a+b | {N} slept {a} minutes longer than {M}, who slept {b} minutes. How long did {N} sleep?
a+b | {N} got {a} points in the first [game|round|test] and {b} in the [next|last|other] one. [How many is that?|What did {he} get in all?|How many points is that together?]
a+b | In the first [week|hour|round|month] {N} [sold|counted|wrote|made] {a} {T}, in the second {b}. ALL
a+b | {N} [read|wrote|learned|typed] {a} [lines|words|letters|chapters] [at breakfast|on Sunday|in May] and {b} [at supper|on Monday|in June]. How many is that [in all|together]?
a+b | On [Wednesday|Sunday|Friday] {N} [made|sold|saw|drew] {a} {T}, on [Thursday|Tuesday] {b}. ALL
a+b | {a} {T} in the [morning|first hour|first bag], {b} [in the evening|in the next hour|in the other bag]: ALL
a+b | [Yesterday|Last week|First] {N} [ate|saw|used] {a} {T}, [today|this week|then] {b}. ALL
a+b | It is {a} degrees. It [gets|becomes] {b} degrees hotter. How hot is it?
a+b | The sun warms the [sea|stone|wall] from {a} degrees by another {b} degrees. How warm is it now?
p+q | On [Monday|Wednesday] the [cinema|museum|market] had {p} guests, on [Tuesday|Thursday] {q}. [How many guests is that?|How many came in all?|What is the sum?]
p+q | {N} earned {p} dollars in [May|March] and {q} in [June|April]. [How much is that in all?|What did {he} earn together?]
a+b+c | {N} keeps {a} {W}, {b} {X} and {c} [dogs|cats|geese]. How many animals [does {he} keep|are there|is that]?
k*a | [In the hall|In the school|In the garden|In the kitchen] [are|stand] {k} [shelves|benches|cupboards|boxes] with {a} {T} [on each|in each|at every one]. ALL
k*a | There are {k} [shelves|benches|wagons|cupboards], and [on each of them|in each one|in every one] are {a} {T}. ALL
k*a | [On|At|In] every one of the {k} [benches|desks|tents|boats] [sit|are|wait] {a} [children|pupils|people|cats]. How many [is that|are there|are they]?
k*a | {k} [boats|cars|rooms|tents] have room for {a} children each. How many [children|of them] fit in?
k*a | {k} [trees|bushes|plants] [grow|stand] {O}. [Each|Every one] [has|carries] {a} [leaves|flowers|plums|nests]. How many is that?
k*a | A [tree|bush|plant] has {k} twigs, and [each one|every twig] [has|carries] {a} [leaves|flowers|berries]. How many is that?
k*a | {N} is {a} years old. {M} is {k} times as old. How old is {M}?
k*a | {M} is {k} times older than {N}, who is {a}. What is {M}'s age?
k*a | A [kiosk|market|baker|store] sells {T} at {a} dollars [each|a piece|for one]. [How much are|What must {N} pay for] {k} [of them|]?
k*a | One of the {T} costs {a} dollars. {N} [takes|wants|buys] {k}. [How much is it?|What is the price?|How much must {he} pay?]
k*a | {N} wants {k} {T}, which cost {a} dollars [each|apiece]. How much [money|] does {he} need?
k*a | [If|When] one of the {T} costs {a} dollars, [how much|what] do {k} of them cost?
k*a | {N} puts aside {a} dollars [a|every|each] month. How much [is it|has {he} saved] after {k} months?
k*a | {N} [trains|sings|plays] {a} minutes [a|every] day. How many minutes is that in {k} days?
k*a | A [cook|painter|worker] makes {a} {T} in an hour. How many are made in {k} hours?
k*8 | How many legs have {k} [spiders|octopuses]?
k*6 | How many legs have {k} [ants|bees|beetles]?
k*5 | How many fingers are on {k} hands?
k*3 | How many wheels have {k} tricycles?
2*k*m | {N} [runs|rides|swims] {k} [miles|kilometers] to the [lake|market|station] and the same way home, and does so on {m} days. How [far|many] is that in all?
2*a | The way to the [lake|market|school] is {a} minutes long. How many minutes does {N} need there and back?
a/k | {a} {T} must go into bags that hold {k} each. How many bags does {N} need?
a/k | {N} needs {a} {T}. A pack has {k} of them. How many packs must {he} buy?
a/k | [Bottles|Cups|Rolls|Eggs] are sold in packs of {k}. {N} needs {a}. How many packs is that?
a/k | {k} [brothers|sisters|friends|cousins] [split|divide] {a} {T} fairly. EACH
a/k | {k} [brothers|sisters|neighbors] [found|won|got] {a} {T} and [split|divide] them into equal shares. EACH
a/k | {k} [bags|sacks|boxes|stones], all equal, weigh {a} kilos [in all|together]. [What does one weigh?|What is the weight of one?]
a/k | {k} [bags|sacks] of [rice|sand|sugar] have {a} kilos in all. How much is in each?
a/k | {a} [pupils|players|people] go in {k} cars, as many in each. How many are in one [car|of them]?
a/k | {N} has {a} dollars. One [ticket|book|pizza|ball] costs {k}. How many can {he} buy?
a/k | {N} paid {a} dollars for {k} [tickets|hats|lamps] of one price. What did each cost?
a/k | A [train|cyclist|snail] goes {a} [kilometers|meters] in {k} hours. How far is that in one hour?
a/2 | {N} [gives|hands|sells] half of {his} {a} {T} to {M}. [How many stay with {him}?|How many does {M} get?|How many are left?]
a/2 | Half of the {a} {T} {P} are [old|new|broken|blue]. How many is that?
a/2 | {N} had {a} {T}. Half of them [got lost|broke|were sold]. [How many are still there?|How many stay?]
a/3 | {N} gives a third of {a} {T} to {M}. How many does {M} get?
a-k*m | {N} buys {k} {T} at {m} dollars each and hands over {a} dollars. [How much comes back?|What change is that?|How much does {he} get back?]
a-k*m | {k} {T} cost {m} dollars each. {N} pays with {a} dollars. [How much comes back?|What is the change?]
a-k*m | {N} gets {a} dollars. {k} {T} for {m} dollars apiece are what {he} buys. What is left [of the money|]?
k*m-a | {k} [benches|wagons|boats] carry {m} people each. {a} [people|of them] get off. How many [stay|are still there]?
k*m-a | [On|In] each of {k} [shelves|nests|boxes] are {m} [eggs|cups|mice]. {a} [break|fall down|disappear]. How many are [left|still there]?
k*a+b | {N} wants {k} {T} for {a} dollars each and one [lamp|coat|cake] for {b} dollars. What [must {he} pay|does all of it cost]?
k*a+b | A soup costs {a} dollars and a juice costs {b}. What are {k} soups and one juice?
k*a+m*b | {N} buys {k} {T} for {a} dollars each and {m} {U} for {b} dollars each. How much is it?
k*a+m*b | There are {k} bags with {a} {T} and {m} bags with {b} {T}. ALL
2*a+b | A [ticket|book|meal] costs {a} dollars and a [bag|map|drink] {b}. {N} wants two of the first and one of the second. How much is that?
a-b | {N}, who is {i} years old, [has|had] {a} {T} and LOSE {b}. LEFT
a-b | {N} lives at number {i} and [has|had] {a} {T}. {He} LOSE {b} [of them|]. LEFT
a-b | {i} people watch how {N} LOSE {b} of {his} {a} {T}. LEFT
a+b | {N}, who is {i}, HAD {a} {T} and GAIN {b} more. NOW
a+b | In room {i} are {a} {T} and {b} {U}. How many things is that?
a+b | At {i} o'clock {N} has {a} {T} and GAIN {b} more. NOW
k*a | {N}, {i} years old, has {k} bags with {a} {T} each. ALL
x-y | A [board|cable|scarf|wire] is {x} meters long and gets {y} meters shorter. [How long is it then?|What length is that?]
x-y | A [rope|string|board] has {x} meters. {y} meters are cut [away|from it]. How [long is it|many meters stay]?
x-y | From {x} [kilos|liters] of [flour|milk|rice|water], {N} uses {y}. What is left?
x-y | {N} has {x} kilos of {T} and eats {y} kilos. How many kilos are left?
x-y | {N} [jumps|throws] {x} meters, {M} {y} meters. What is the difference?
x+y | {N} is {x} kilometers from home and goes another {y} away. How far is that?
x+y | A [plant|tower|wall] of {x} meters gets {y} meters higher. How high is it now?
x+y | A [bag|box] weighs {x} kilos and [gets|becomes] {y} kilos heavier. What does it weigh now?
x*k | One [board|step|box] is {x} meters high. How high are {k} of them?
x*k | A [bun|pen|card] costs {x} dollars. What do {k} cost?""".splitlines()
MARKS = {"HAD": HAD, "LOSE": LOSE, "GAIN": GAIN, "LEFTALL": "How many {T} are left?", "LEFT": LEFT,
         "NOW": NOW, "ALL": ALL, "EACH": EACH}  # fmt: skip
