# ruff: noqa: E501
"""Plots out in the world: helping, a rainy day, a race, a party, a garden, learning, going astray."""

from training.corpus.story.scene import Plot

RESCUE = Plot(
    name="rescue",
    asks="""helping {a animal}
{a kind} who helps {a animal}
{a kind} named {N} and {a animal}
{a animal} in trouble
a small {animal} that needs help""",
    brief="""{hero} helped {a animal} that {trouble}, and later the {animal} helped {him} too.
{A trait kind} named {N} found {a animal} that {trouble}, and took good care of it.""",
    traits="kind gentle helpful shy curious careful quiet brave",
    tables=(
        """animal | trouble | help | back
sparrow | had a hurt wing | put a soft bandage around the wing and made a bed of wool | sang at the window every morning
hedgehog | was stuck under the fence | dug a hole under the fence until it was free | ate all the slugs in the garden
duckling | had lost its mother | carried it to the pond, where the mother was calling | came to the shore to say hello
bee | had fallen into a bucket of water | lifted it out with a leaf | brought a drop of honey
kitten | was too afraid to climb down from a tree | held out a blanket until it jumped | followed {him} everywhere
mouse | was caught in an empty jar | turned the jar over very gently | showed {him} where the best nuts were
butterfly | could not fly with wet wings | held it up to the warm sun | danced around {his} head
turtle | lay on its back and could not turn over | pushed it gently until it stood on its feet | carried {him} across the stream
fish | was stuck in a small pool that was getting dry | carried it to the river in a cup | jumped out of the water to say hello
foal | had a sharp stone in its foot | took the stone out and washed the foot | let {him} ride on its back
lamb | was caught in a thorn bush | bent the branches back, one by one | gave {him} some soft wool
puppy | had lost its way in the rain | dried it and looked for its home | barked with joy and licked {his} hand
snail | was on the middle of the road | carried it over to the other side | left a silver line on {his} door
baby bird | had fallen out of its nest | climbed up and put it back into the nest | learned to fly and sang for {him}""",
    ),
    beats="""
{Day}, {N} heard a small voice {spot}.
{Day}, {he} was walking {spot} when {he} heard a soft cry.
{Day}, {N} saw something move {spot}.

It was {a animal}. It {trouble}.
{He} looked closer and saw {a animal} that {trouble}.
There was {a animal}! The poor thing {trouble}.

?75
"Please help me," said the {animal}.
The {animal} looked at {him} with big, sad eyes.
The {animal} was shaking with fear.
"I do not know what to do," said the {animal}.

?80
"[Do not be afraid|Do not worry]," whispered {N}. "I want to help you."
"You poor little {animal}," said {N}. "Wait, I am coming."
{N} did not think twice. {He} went down on {his} knees.
"Stay still," said {N}. "I will be very careful."

?60
At first {he} did not know how. {He} had never helped {a animal} before.
{N} called {his} {elder}, but nobody heard {him}.
It was not easy, and {he} had to try three times.
{A passer} came to watch, but it could not help.

{He} {help}.
[So|And so] {N} {help}.
Very slowly and carefully, {he} {help}.

?80
"Oh, thank you," said the {animal}. "I will never forget you."
The {animal} took a deep breath. It was not afraid any more.
"There," said {N}. "Is that better?" The {animal} nodded.
The {animal} looked at {him} as if it wanted to say thank you.

?70
When {he} came home, {his} {elder} asked, "Why are you so happy?"
{N} told {his} {elder} about it, and {ehe} was proud of {him}.
That night, {N} thought of the {animal} for a [long|very long] time.
"You have a good heart," said {his} {elder} when {he} told {ehim}.

And the {animal}? It {back}.
The next week, the {animal} came back. It {back}.
The {animal} did not forget. A few days later, it {back}.

And from [that day|then] on, {N} and the {animal} were friends.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that even a small friend is a big joy.
And from [that day|then] on, all the animals knew that {N} would help them.
{N} never forgot the little {animal}.
A little help had made two hearts happy.
""",
)

RAINY = Plot(
    name="rainy",
    asks="""a rainy day
{a kind} on a rainy day
a rainy day with {F}
{a kind} named {N} who has to stay inside""",
    brief="""It rained on the day of the {trip}, but {hero} and {his} friend {F} {played} instead.
Because of the rain, {a trait kind} named {N} and {his} friend {F} {played}, and it was better than any {trip}.""",
    tables=(
        """trip | reason
picnic | The bread was in the basket, and the blanket was ready
swim in the lake | The towels were in the bag
boat ride | The little boat was waiting at the shore
walk to the castle | {He} had looked forward to it all week
visit to the fair | The coins were already in {his} pocket
game of ball | The whole team wanted to come
trip to the beach | {He} had a new bucket and a new shovel""",
        """idea | played | joy
build a castle out of pillows | built a castle out of pillows | Inside the castle, they were king and queen of the sofa
make a play with socks as puppets | made a play with socks as puppets | The blue sock was the hero, and the green one was the dragon
have the picnic on the floor | had a picnic on the floor | They sat on the carpet and said that it was grass
sail paper boats in the bathtub | sailed paper boats in the bathtub | The smallest boat won every race
paint the sun on a big sheet of paper | painted the sun on a big sheet of paper | They put it up on the wall, and the whole room looked bright
bake cookies | baked cookies | There was flour on the floor and on every nose
dance in the kitchen | danced in the kitchen | The pots were the drums, and the spoons were the sticks
look for treasure in the attic | looked for treasure in the attic | They found an old hat, a map and a box of buttons
tell stories under a blanket | told stories under a blanket | Each story was a little funnier than the one before
put on boots and jump into every puddle | put on boots and jumped into every puddle | They were wet from head to foot, and they laughed the whole time""",
    ),
    beats="""
It was the day of the {trip}. {reason}.
{N} had counted the days until the {trip}. {reason}.
[At last|Finally|In the end] the day of the {trip} had come. {reason}.

But when {N} looked out of the window, it was raining.
Then a [dark|big gray|black] cloud came, and it [began|started] to rain.
But drip, drop, drip, drop! Rain was falling on the roof.
Just then, the sky turned [gray|dark|black], and the rain [came down|began to fall].

?70
"Rain, rain, go away!" called {N}, but the rain did not listen.
"This is the worst day ever," said {N}.
{N} pressed {his} nose against the cold window and sighed.
"Maybe it will stop soon," said {N}, but it did not stop.
{N} waited for an hour, but the rain fell harder and harder.

Then somebody knocked at the door. It was {his} friend {fintro}, with {a color} umbrella.
{His} friend {fintro} came in and shook off the water.
At that moment, {his} friend {fintro} arrived with wet feet and a [big|wide] smile.

?70
"No {trip} today," said {N} sadly. "What can we do?"
"Why do you look so sad?" asked {F}.
"I hate the rain," said {N}. "I like it," said {F}. "It sounds like music."
{N} told {F} how sad {he} was.

"I have an idea," said {F}. "Let us {idea}!"
{His} {elder} smiled and said, "Why do you not {idea}?"
{N} looked around. Suddenly {he} had [an|a good|a clever] idea. "We could {idea}!"
"Let us {idea}," said {F}. "We do not need the sun for that."

So they {played}.
And that is what they did. They {played}.
They {played}, and they forgot the time.

{joy}.
{joy}, and nobody thought of the rain.

?60
{His} {elder} brought them {drink} and {treats}.
When they were hungry, they ate {food}.
{A passer} looked in at the window and wanted to join them.

?75
When they looked out again, the rain [had stopped|was over], and there was a rainbow [in the sky|over the hill|above the trees].
"Look," said {F}, "the sun is back!" But they did not want to stop.
In the [evening|afternoon] the rain was over, but nobody [had noticed|had seen it|cared].

"I hope that it will rain again tomorrow," said {N}, and {F} laughed.
And from [that day|then] on, {N} liked rainy days almost as much as sunny days.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that a good friend is better than good weather.
It was the best rainy day of all.
And from [that day|then] on, they had a special plan for every rainy day.
""",
)

RACE = Plot(
    name="race",
    asks="""a race
{a kind} who runs in a race
a race between {a kind} and {a fkind}
{a kind} named {N} who wants to win
{a kind} who stops to help in a race""",
    brief="""{hero} could have won the {race}, but {he} stopped to help {F}.
In the big {race}, {a trait kind} named {N} helped {his} friend {F}, and they crossed the line together.""",
    traits="kind brave curious clever cheerful stubborn playful proud merry helpful patient honest gentle busy",
    tables=(
        """race | prize | to
race around the pond | a golden cup | the old bridge
race up the hill | a big cake | the top of the hill
sled race | a warm scarf | the frozen stream
race along the beach | a silver bell | the big rock
race through the woods | a basket of pears | the great oak tree
sack race | a jar of honey | the red flag
race to the mill | a new hat | the mill""",
        """mishap | help
fell and hurt {fhis} knee | tied a cloth around the knee
got stuck in the mud | pulled with both arms until {F} was free
lost {fhis} way and began to cry | took {fhim} by the hand
slipped and could not get up | helped {fhim} to stand up again
had no strength left | gave {fhim} some water and waited
lost a shoe | went back and found the shoe""",
    ),
    beats="""
{Day}, there was a {race}. The prize was {prize}.
{Day}, {he} saw a sign: "Big {race} on Saturday! The winner gets {prize}."
Every year there was a {race}, and the winner got {prize}.

{N} wanted to win more than anything. {His} friend {fintro} wanted to win too.
"This time I will win," said {N}. "Or I will," said {his} friend {fintro}, and they trained every day.
"You are too small to win," said {fnew}. {N} said nothing.
{His} friend {fintro} wanted to run too. "May the best one win," said {F}.

All the animals came to watch. "Ready, steady, go!" called {a passer}.
"Three, two, one, go!" shouted {a passer}, and they were off.
{A passer} rang a bell, and the race began.

?75
At first, {F} was in front, and {N} was right behind {fhim}.
{N} was slow at first, but {he} did not stop.
{N} started too fast and soon was out of breath, but {he} went on.
Some were fast and some were slow, and {N} was somewhere in the middle.

Near {to}, {F} {mishap}.
[But then|Then|And then] something happened. Not far from {to}, {F} {mishap}.
They were almost at {to} when {F} {mishap}.

Now {N} could be the first! {He} could already see {to}.
"Go on, {N}!" shouted the others. "You can win!"
{N} looked at {to}, and then {he} looked back at {F}.
{N} thought of the prize. Then {he} thought of {F}.

But {N} stopped. {He} {help}.
{He} turned around at once. {He} {help}.
"Winning is not everything," said {N}. {He} {help}.

?75
"Why did you stop?" asked {F}. "Because you are my friend," said {N}.
"You will lose because of me," said {F}. "I do not mind," said {N}.
"Thank you, {N}," said {F}. "Now let us go on together."

Side by side, they came to the end, and everyone [cheered|clapped|threw hats into the air].
They were the last ones, but [the people|all the others|everyone] clapped [louder than ever|for a long time].
[Hand in hand|Side by side|Laughing], they crossed the line at the [very same moment|same time].
Another runner was first, but everyone was looking at {N} and {F}.

?70
The {passer} gave a prize to both of them.
"We have two winners today," said the {passer}.
The winner came over and said, "You are the real winners."
{His} {elder} hugged {him} and said, "I am proud of you."

[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that a good heart is faster than quick feet.
And from [that day|then] on, {N} and {F} always ran together.
{N} did not have the prize, but {he} had a friend for life.
And that was better than {prize}.
""",
)

PARTY = Plot(
    name="party",
    asks="""a surprise party
{a kind} who plans a surprise
a birthday surprise for {F}
{a kind} named {N} and a secret party
{a kind} who thinks that everyone forgot {his} birthday""",
    brief="""{hero} thought that everyone had forgotten {his} birthday, but there was a surprise party {hidden}.
All the friends of {hero} had a secret, and it was a birthday party.""",
    tables=(
        """hidden | sign
in the barn | a light in the window of the barn
in the garden behind the house | a balloon above the hedge
under the old oak | paper stars in the branches
at the pond | small boats with candles on the water
in the kitchen | a sweet smell from the kitchen
on the hill | a long row of lanterns on the hill""",
        """excuse
I have to wash my socks
I must help my uncle
I have no time today
I am very, very busy
I have to count my spoons
I must wait for the mailman""",
    ),
    beats="""
It was {his} birthday, and {N} was very excited.
{Day}, {N} jumped out of bed. It was {his} birthday!
{N} had counted the days, and now it was {his} birthday at last.

?80
But nobody said [anything|a word] about it [at breakfast|all morning].
{He} went outside and waited, but nobody said "Happy birthday."
{His} {elder} only said, "Eat your {food}."
There were no [cards|flowers|candles] and no presents on the table.

[So|And so] {N} went to see {his} friend {fintro}. "{excuse}," said {F}.
"Do you want to play?" {N} asked {his} friend {fintro}. "{excuse}," said {F}, and {fhe} ran away.
On the road {he} met {his} friend {fintro}. "Sorry," said {F}. "{excuse}."

Then {he} met {a passer} with a big box, but the {passer} hid it quickly.
Then {he} went to see {a passer}, but the door was closed.
"What day is it today?" {N} asked {a passer}. "A day like any other," said the {passer}.

?80
"They have all forgotten me," thought {N}, and {he} walked home [slowly|alone|very slowly].
{N} sat down on a stone, and a tear ran down {his} nose.
"Nobody likes me," said {N}, and {his} heart felt heavy.
It was the longest afternoon of {his} life.

?60
"Come with me," said {his} {elder}. "I need your help with something."
In the evening, {his} {elder} sent {him} out to get some wood.
When the sun went down, there was a letter at the door. It said, "Come {hidden}."

Then {he} saw {sign}.
But what was that? There was {sign}.
{N} looked up. {He} saw {sign}.

{He} went to look, and everybody jumped up. "Surprise!" they shouted.
"Surprise!" called twenty voices at once. All {his} friends were there, {hidden}.
Step by step, {he} came nearer. "Surprise!" shouted {F} and all the others.

"We did not forget you," said {F}. "It was so hard to keep the secret!"
"Now you know why I had no time," said {F}, and {fhe} laughed.
"I thought that you had forgotten," said {N}. "Never!" said {F}.
The {passer} was there too and had brought a [big|round|sweet] cake.

{F} gave {him} {a gift}, and everyone sang.
They ate {treats}, played {game}, and danced until the moon came up.
There were candles everywhere, and {N} made a wish.
{His} {elder} gave {him} {a gift}, and {N} jumped for joy.

[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that true friends do not forget.
It was the best birthday of all.
And from [that day|then] on, {N} loved surprises.
"Do you have a wish?" asked {F}. "No," said {N}. "I already have everything."
""",
)

GARDEN = Plot(
    name="garden",
    asks="""a garden
{a kind} who plants {a seed}
{a kind} named {N} and {a seed}
{a kind} who learns to wait
growing {a plant}""",
    brief="""{hero} planted {a seed} and waited, and at last {he} had {a plant}.
{A trait kind} named {N} learned to wait, because {a seed} needs time.""",
    traits="busy playful curious cheerful hungry messy merry quick stubborn",
    tables=(
        """seed | plant | good
pumpkin seed | great orange pumpkin | made soup for the whole street
sunflower seed | sunflower as tall as the house | gave the seeds to the birds in winter
bean | bean plant that climbed up to the roof | cooked a big pot of beans
apple seed | little apple tree | hung a small swing on it, years later
tulip bulb | bright red tulip | took it to {his} {elder} as a present
strawberry plant | row of sweet strawberries | made jam for all the friends
carrot seed | carrot as long as an arm | needed three friends to pull it out
pea | row of fat green peas | ate them with a friend, one by one
rose bush | hundred white roses | gave one rose to everyone in the street
cabbage seed | cabbage as big as a chair | shared it with a hungry rabbit
melon seed | sweet green melon | cut it into twelve pieces""",
        """danger | fix
a snail wanted to eat the first leaf | carried it to another place
it did not rain for two weeks | carried water from the well every day
the wind bent the stem | tied it to a stick
weeds grew all around it | pulled the weeds out, one after the other
it was a very cold night | put a warm blanket over it
a crow wanted to pick it out | made a scarecrow with an old hat
the goat next door put its head through the fence | mended the fence""",
    ),
    beats="""
{Day}, {N} got {a seed} from {his} {elder}.
{Day}, {N} found {a seed} in {his} pocket.
{A passer} gave {him} {a seed}. "Take good care of it," it said.

?75
"What can I do with such a small thing?" asked {N}. "Plant it and wait," said {his} {elder}.
"It looks like nothing," said {his} {elder}, "but there is something big in it."
{N} knew just the right place for it, and that was beside the wall.

{He} dug a hole, put it in, and gave it some water.
{N} put it into the ground and covered it with soft, dark earth.
With a small shovel, {he} made a hole and planted it.

[The next morning|The next day|Early in the morning], {he} ran out to look, but there was nothing.
{He} sat down next to it and waited all day, but nothing happened.
"Grow!" said {N}, but it did not grow.
One day went by, and then another one, and {he} saw nothing but earth.

?75
"Why does it take so long?" asked {N}. "Good things need time," said {his} {elder}.
{N} wanted to dig it out again, but {his} {elder} said, "You must wait."
{N} sang a song for it every evening.
"Maybe it is asleep," thought {N}, and {he} was very quiet.

Then, after [a warm rain|a warm night|many days], there was a [tiny|small] green leaf.
On the [sixth|seventh|eighth|ninth|tenth] day, something [green|small and green] came out of the ground.
But one morning, {N} cried, "Look! There it is!" A small green tip was in the sun.

[But then|Then|And then] {danger}, so {N} {fix}.
There was one more worry: {danger}. {N} {fix}.
It was not easy. When {danger}, {N} {fix}.

?60
[Week after week|Day after day], it grew a little [more|taller].
{N} did not forget it for a single day.
The sun shone, the rain fell, and it grew [and grew|every day|a little more each day].

At the end of summer, {N} had {a plant}.
And in the end, there it was: {a plant}!
When autumn came, everyone came to see it. It was {a plant}.

{N} {good}.
And what did {N} do? {He} {good}.
{He} was [so|very] proud. Then {he} {good}.

[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that good things need time.
"Next year I will plant two," said {N}.
And from [that day|then] on, {N} was the gardener of the family.
And from [that day|then] on, {N} had a little more patience every year.
""",
)

SKILL = Plot(
    name="skill",
    asks="""{a kind} who learns to {skill}
{a kind} named {N} who wants to {skill}
{a kind} who does not give up
learning to {skill}
{a helper} who teaches {a kind} to {skill}""",
    brief="""{hero} could not {skill}, but with the help of {a helper}, {he} learned it.
{A trait kind} named {N} tried to {skill} every day until {he} {success}.""",
    tables=(
        """skill | failed | helper | advice | success
swim | swallowed a lot of water | otter/duck/frog/turtle | Kick your legs | swam across the lake
sing | only squeaked | sparrow/blackbird/robin | Take a deep breath | sang a lovely song
dance | stepped on {his} own feet | crane/deer/pony | Count to four | danced all evening
paint | spilled the paint on the floor | painter/artist | Begin with the sky | painted the whole sea
bake bread | burned it | baker/cook | Watch the oven | baked a warm loaf for everyone
skate | slipped on the ice | penguin/seal | Bend your knees | skated around the lake
climb | slid back down the trunk | squirrel/monkey/goat | Hold on tight | climbed to the very top
whistle | only blew air | robin/parrot/sailor | Make your lips round | whistled a merry tune
read | mixed up all the letters | teacher/owl/librarian | Say each letter aloud | read a long book
juggle | dropped all the apples | clown/seal/monkey | Look up and not down | juggled five apples
fish | caught only an old boot | heron/fisherman/otter | Sit very still | caught a big silver fish
knit | made a hat full of holes | spider/shepherd/tailor | Count every stitch | knitted a long scarf
ride a bicycle | fell off | postman/clown/farmer | Look straight ahead | rode all the way down the hill
jump over the stream | landed in the water | frog/hare/deer | Run first and then jump | jumped right over the stream
play the flute | made a terrible noise | blackbird/shepherd/cricket | Blow softly | played a song for the sheep
tie a good knot | got {his} fingers stuck in the rope | sailor/spider/fisherman | Go around twice | tied the best knot in the harbor""",
    ),
    beats="""
More than anything, {N} wanted to {skill}.
"I wish I could {skill}," said {N}.
All {his} friends could {skill}, but {N} could not.
Every night, {he} dreamed that {he} could {skill}.
{Day}, {N} wanted to learn to {skill}.

{He} tried it alone, but {he} {failed}.
The first time, {he} {failed}.
{He} tried it for three days, but {he} {failed} every time.
But when {he} tried, {he} {failed}, and somebody laughed.

?75
"I will never learn it," said {N}.
{N} sat down and hid {his} face.
"Everyone can do it but me," {he} said sadly.
{N} was angry and kicked a stone.
"Nobody is born with it," said {his} {elder}. "Try again."

{A helper} saw {him} and came nearer.
Then {he} met {a helper} who was very good at it.
[So|And so] {he} went to {a helper} and asked for help.
Not far away, {a helper} was watching.

?75
"It took me a long time too," said the {helper}.
"Do not give up," said the {helper}. "I will show you."
"What are you doing?" asked the {helper}. "I want to {skill}," said {N}, "but I cannot."
"May I show you how I do it?" asked the {helper}.

"{advice}," said the {helper}, "and try again."
"{advice}," the {helper} said. "And do not be afraid."
The {helper} showed {him} how. "{advice}," said the {helper}.
"It is not so hard," said the {helper}. "{advice}."

?75
{N} tried again. It was a little better, but not much.
The second time was [bad|not good], and the third time was [better|a little better].
"{advice}," {N} said to {himself}, again and again.
They worked together every [day|morning|evening|afternoon].
Some days were good and some days were bad, but {N} went on.

And then it happened: {he} {success}!
After seven days, {N} {success}.
{He} did as the {helper} said, and {soon} {he} {success}.
One fine morning, {he} {success}.

?75
"I can do it!" [cried|called|shouted] {N}. "I can {skill}!"
"Did you see that?" {N} asked. "I did," said the {helper}, "and I am proud of you."
{N} laughed and ran to tell {his} {elder}.
The {helper} clapped. "I knew that you could do it."

[From that day on|From then on|After that day], {N} showed the little ones how to {skill}.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that you only lose when you stop trying.
And from [that day|then] on, nobody could stop {N}.
And when something was hard, {N} always said, "{advice}!"
And every evening, {N} and the {helper} met to {skill} together.
""",
)

PLOTS = (RESCUE, RAINY, RACE, PARTY, GARDEN, SKILL)
