# ruff: noqa: E501
"""Plots about things: lost, out of reach, somebody else's, broken, built."""

from training.corpus.story.scene import Plot

LOST = Plot(
    name="lost",
    asks="""a lost {thing}
{a kind} who loses {a thing}
{a kind} named {N} and a lost {thing}
{a color thing} that was lost
looking for {a thing}""",
    brief="""{A trait kind} named {N} lost {a color thing} and found it again {place}.
{hero} looked all day for {his} {color thing}, and at last it was {place}.
When {N} lost {his} {thing}, a kind {passer} helped {him} find it {place}.""",
    traits="kind brave curious shy clever cheerful stubborn playful lonely sleepy hungry dreamy quick busy merry messy helpful",
    tables=(
        """thing | use
key | open the garden gate
bell | call the ducks
whistle | call {his} friends
compass | find the way home
coin | buy a bun at the market
spoon | eat {his} porridge
hat | keep the sun out of {his} eyes
scarf | keep warm
book | read in bed
ball | play with {his} friends
map | look for treasure
lantern | see in the dark
drum | make music
ring | remember {his} {elder}
cup | drink {his} milk
brush | paint the sky
mitten | keep {his} hand warm
basket | carry berries
button | close {his} coat
kite | play in the wind""",
        """place | reason
under the bed | It had [fallen|rolled] there in the night
behind the door | It had been there all the time
in the tall grass by the gate | It had fallen out of {his} bag
under a heap of leaves | The wind had covered it
in the garden, next to a pumpkin | {He} had put it down to pick some peas
under the kitchen table | {He} had dropped it at breakfast
on the bench by the pond | {He} had left it there to feed the ducks
in the hay in the barn | {He} had been jumping in the hay the day before
at the bottom of the toy box | {He} had put it away and forgotten it
inside {his} left boot | It had fallen in when {he} came home
beside the well | {He} had put it down to drink some water
under a blue pillow | {He} had hidden it there to keep it safe
in the old wagon | {He} had played in the wagon the day before""",
    ),
    beats="""
{N} had {a color thing} and [took it everywhere|loved it very much].
{His} favorite thing in the world was {a color thing}.
For {his} birthday, {N} got {a color thing} from {his} {elder}.
{N} had only one treasure, and it was {a color thing}.
Every day, {N} used {his} {color thing} to {use}.

{Day}, {N} wanted to {use}, but the {thing} was gone.
{Day}, {he} looked for the {thing} and could not find it.
{Day}, the {color thing} was not in its place.
But {he} was in a hurry, and {he} lost the {thing}.

?75
"Where is my {thing}?" [cried|called|shouted] {N}. "I need it to {use}!"
"[Oh no|Oh dear]!" said {N}. "Without my {thing} I cannot {use}."
{N} felt [sad|very sad|sick with worry], because {he} needed it to {use}.
"I had it yesterday," said {N}. "Where can it be?"

?75
{He} looked [in the cupboard|in the bathtub|on the shelf], but it was not there.
First {he} looked [in the kitchen|in the shed|on the roof], and then {he} looked [in the cellar|in the yard|in the attic].
{He} turned the whole house upside down, but there was no {thing}.
{He} asked {his} {elder}, but {ehe} had not seen the {thing}.
{He} found {a toy} and {a treat}, but no {thing}.

{A passer} came [by|along|past] and asked, "What are you looking for?"
"Why do you look so sad?" asked {a passer}.
Then {he} met {a passer} and asked for help.
{A passer} heard {him} and stopped. "Can I help you?" it asked.

"Think," said the {passer}. "Where did you have it last?"
"Let us look together," said the {passer}. "Four eyes see more than two."
"Close your eyes and walk through the day again," said the {passer}.
"When I lose something, I go back the way I came," said the {passer}.

{N} thought hard. Then {he} ran and looked {place}, and there was the {thing}!
[So|And so] {he} went back step by step. And there, {place}, {he} saw something {color}.
They looked and looked. At last they found the {thing} {place}.
"I know!" said {N}. {He} looked {place} and found the {thing}.

?75
{reason}.
{reason}, and nobody had seen it.

?60
"Thank you, {passer}!" said {N}. "Now I can {use} again."
"Hooray!" [cried|called|shouted] {N}, and {he} gave the {passer} {a treat}.
{N} was so [glad|happy] that {he} danced around the {passer}.

[From that day on|From then on|After that day], {N} always put the {thing} back in its place.
And from that day on, {he} kept the {color thing} [in a safe place|on a string around {his} neck|close by].
That night, the {thing} lay next to {his} pillow, and {N} slept well.
{N} never lost the {thing} again, and the {passer} became a good friend.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that it is best to stay calm and think.
""",
)

REACH = Plot(
    name="reach",
    asks="""{a thing} that is {where}
{a kind} who gets help from {a helper}
{a color thing} that was hard to get
{a kind} and {a helper}
{a trait kind} who needs help""",
    brief="""{hero} could not get the {color thing}, because it was {where}, so {a helper} helped.
A kind {helper} helped {a kind} named {N} to get back {a thing} that was {where}.
{A trait kind} named {N} saw {his} {thing} {where}, and {a helper} brought it back.""",
    tables=(
        """thing
ball
hat
kite
scarf
basket
toy boat
balloon
bag
shoe
doll
wooden spoon
paper star""",
        """where | how | try | way | helper
high up in a tall tree | The wind carried it away | jumped and jumped, but the branch was too high | went up to the highest branch and dropped the {thing} into the grass | squirrel/crow/monkey/sparrow/owl
in the top of an apple tree | A gust of wind took it | shook the tree, but only apples fell down | flew up and brought the {thing} down | crow/sparrow/owl/robin
in the middle of the pond | It blew into the water | held out a long stick, but it was too short | swam out and brought the {thing} back | duck/otter/frog/turtle/swan/beaver
on a rock in the river | It fell from the bridge | put one foot in the water, but it was too cold | swam to the rock and pushed the {thing} to the shore | otter/beaver/duck/swan
at the bottom of a deep hole | It slipped out of {his} hands | reached down, but the hole was too deep | crept into the hole and came up with the {thing} | mouse/mole/weasel/rabbit
under a heap of sand | A big wave of sand slid down the bank | dug until {he} was tired, but there was too much sand | dug and dug until the {thing} came out | mole/badger/puppy/rabbit
under a heavy stone | A stone rolled down the hill | pushed with all {his} might, but the stone did not move | rolled the stone away with one big push | bear/elephant/horse/ox
in a bush full of thorns | {He} dropped it when {he} ran | reached into the bush, but the thorns were too sharp | went under the thorns and pulled the {thing} out | hedgehog/mouse/weasel/lizard
on the roof of the barn | {He} threw it much too high | stood on a barrel, but the roof was too high | climbed to the roof and pushed the {thing} down | cat/squirrel/monkey/raccoon
deep inside a dark cave | It rolled down the path and into the dark | took three steps inside, but {he} could see nothing | went in without fear and came out with the {thing} | bat/badger/bear/mole""",
    ),
    beats="""
{N} had a new {thing}. It was {color}, and {he} was [very proud|so proud] of it.
{His} {elder} had made {him} {a color thing}.
{N} loved {his} {color thing} more than anything.
{N} liked to take {his} {color thing} for a walk.

{Day}, something bad happened. {how}, and soon it was {where}.
{how}! Now the {thing} was {where}.
But {he} did not take care. {how}, and it ended up {where}.

?75
"Oh dear," said {N}. "How can I get it back?"
"My {thing}!" [cried|called|shouted] {N}. "I want it back!"
{N} looked at the {thing}, and a tear rolled down {his} face.
"Do not cry," {N} told {himself}. "There must be a way."

{He} {try}.
{N} {try}.
First, {he} {try}.

{A helper} was watching. "That looks hard," said the {helper}.
[Just then|At that moment|Right then], {a helper} came [along the path|down the road|around the corner].
[After a while|Soon], {a helper} came [by|along|past] and asked, "What is wrong?"
[So|And so] {he} went to find {a helper} and told it everything.
"Can anybody help me?" called {N}. {A helper} looked up.

?75
"Please help me," said {N}. "[Of course|Gladly|Yes, of course]," said the {helper}.
"For me that is easy," said the {helper}. "Watch!"
"You are good at many things," said the {helper}, "and I am good at this."
"I will help you," said the {helper}, "if you will be my friend."

The {helper} {way}.
Then the {helper} {way}.
In no time, the {helper} {way}.
{N} held {his} breath. The {helper} {way}.

?75
"[Thank you so much|Thank you, thank you|Oh, thank you]!" said {N}, and {he} gave the {helper} {a treat}.
{N} hugged the {helper} and said thank you.
"You did it!" [cried|called|shouted] {N}. "You are the best {helper} in the world!"
{N} jumped for joy. "How can I thank you?" {he} asked. "Just play with me," said the {helper}.

?60
They shared some {treats} and talked until the sun went down.
After that, they played {game} together.
{N} was very careful with the {thing} on the way home.

[From that day on|From then on|After that day], {N} and the {helper} were best friends.
And {N} never went out without saying hello to the {helper}.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that it is good to ask for help.
That is how {a kind} and {a helper} became friends.
And from [that day|then] on, {N} took good care of the {thing}.
""",
)

OWNER = Plot(
    name="owner",
    asks="""{a kind} who finds {a found}
a found {found}
{a kind} named {N} who is honest
finding the owner of {a found}
{a found} that belongs to somebody else""",
    brief="""{hero} found {a color found} {spot} and gave it back to {owner}.
{A trait kind} named {N} found {a found}, looked for its owner, and made {owner} happy.""",
    traits="honest kind curious helpful gentle clever",
    tables=(
        """found | owner | need
purse | the baker | It is full of coins for the flour
glove | the old postman | My hand has been cold all day
pair of glasses | the teacher | I cannot read a word without them
violin | the music teacher | The concert is tonight
letter | the miller | It is from my son, who lives far away
pocket watch | the station master | Without it, all the trains are late
walking stick | the old farmer | I can hardly walk without it
hammer | the carpenter | I wanted to mend a roof today
ring | the queen | It was a gift from my mother
teddy bear | the little boy next door | I cannot sleep without it
doll | the girl across the street | I looked for it all night
cap | the captain | Without a cap, nobody believes that I am the captain
paint box | the painter | Now I can finish my picture
basket of eggs | the farmer | I must take them to the market
umbrella | the lady with the hats | It looks like rain
bag of seeds | the gardener | I want to plant them today""",
    ),
    beats="""
{Day}, {N} found {a color found} {spot}.
{Day}, {he} was walking home when {he} saw {a found} {spot}.
{Day}, something {spot} caught {his} eye. It was {a color found}.

?85
"What a lovely {found}!" said {N}. "I wonder whose it is."
{N} picked it up. "Somebody must miss this," {he} said.
There was nobody around, and {N} wanted to keep it.
It was so pretty that {N} wanted to take it home.

?70
But {he} knew that it was not {his} {found}.
"If I lost something, I would want it back," {he} thought.
"Finders keepers," said {a passer3}, but {N} shook {his} head.
{His} {elder} said, "Let us find out who has lost it."

{He} asked {a passer}, but the {passer} only shook its head.
First {he} asked {a passer}. "It is not mine," said the {passer}.
{N} went from door to door and asked everyone.
{He} made a sign that said, "Who has lost {a found}?"
{He} walked all over the village with the {found}.

?70
"Try the next house," said {a passer2}.
Nobody knew whose {found} it was.
{N} was tired, but {he} did not give up.
The sun was going down, and {N} was still looking.

At last, {he} met {owner}, who was looking [sad|for something|at the ground].
Then {he} came to {owner}. "Have you lost something?" asked {N}.
At the end of the street, {he} saw {owner}, who looked very sad.

"My {found}!" cried {owner}. "{need}."
"Is this yours?" asked {N}. "Yes! {need}," said {owner}.
"You have found it!" said {owner}. "{need}."

?70
"I am glad that I found you," said {N}.
"Here you are," said {N}, and {he} felt warm inside.
"You are an honest {kind}," said {owner}.
"Thank you, {N}," said {owner}. "Not everyone would bring it back."

?75
To say thank you, {owner} gave {him} {a treat}.
Then {owner} asked {him} in for {food} and {drink}.
{N} did not want any money, so {owner} gave {him} a big hug.
To say thank you, {owner} told {him} a funny story.

And {N} knew that giving it back was better than keeping it.
And from [that day|then] on, {N} had a friend in {owner}.
[From that day on|From then on|After that day], everyone knew that {N} was honest.
{N} had no {found}, but {he} had a new friend, and that was much better.
""",
)

BROKEN = Plot(
    name="broken",
    asks="""a broken {toything}
{a kind} who mends {a toything}
a broken toy
{a kind} named {N} and a broken {toything}""",
    brief="""When {his} {toything} broke, {hero} mended it with {glue}.
{hero} was sad about a broken {toything}, but {his} {elder} showed {him} how to mend it.""",
    traits="kind brave curious shy clever cheerful stubborn playful lonely dreamy quick busy merry messy patient",
    tables=(
        """toything | part | glue | again
kite | The tail came off | a ribbon and a knot | flew higher than before
wagon | A wheel fell off | a new nail | rolled down the path again
doll | One arm came off | a needle and thread | could wave again
drum | There was a hole in the side | a piece of strong paper | sounded better than before
toy boat | The sail was torn | a piece of an old shirt | sailed across the pond
robot | It did not walk any more | a small spring | walked around the table
teddy bear | One ear came off | a needle and thread | had two ears again
toy train | The front wheel was bent | a little hammer | ran around the room again
puppet | The strings were in a knot | a lot of time | danced again
music box | It did not play any more | one drop of oil | played its song again
rocking horse | A leg was loose | some good glue | rocked as fast as the wind
sled | One board was broken | two nails and a board | raced down the hill
paper lantern | The side was torn | paste and red paper | shone brighter than before""",
        """cause
{N} stepped on it by mistake
It fell from the table
The wind threw it against the fence
{N} pulled too hard
It got stuck under the door
{N} left it out in the rain
It fell down the stairs""",
    ),
    beats="""
{N} had {a color toything} and played with it every day.
Of all {his} toys, {N} liked the {color toything} best.
{N} and {his} {color toything} were always together.

{Day}, there was a loud crack. {cause}. {part}.
{Day}, {N} played too wildly. {cause}, and it broke. {part}.
{Day}, something sad happened. {cause}. {part}.

?80
"[Oh no|Oh dear], I have broken it!" [cried|called|shouted] {N}.
{N} looked at the poor {toything} and [began|started] to cry.
"Now it is no good any more," said {N}.
{N} wanted to hide it under the bed and tell nobody.

{His} {elder} heard {him} and came into the room.
{He} showed it to {his} {elder}.
At first {he} was afraid to tell {his} {elder}, but then {he} did.
{A passer} at the window asked, "Why are you crying?" So {N} told it, and then {he} told {his} {elder}.

"It is only a toy," said {his} {elder}, "but I know that you love it. Let us look."
"Do not throw it away," said {his} {elder}. "Broken things can be mended."
"I think that we can mend it," said {his} {elder}. "We need {glue}."
"Shall we buy a new one?" asked {his} {elder}. "No," said {N}. "I want this one."

They took {glue} and sat down at the table.
{N} held the {toything}, and {his} {elder} worked with {glue}.
{His} {elder} showed {him} what to do with {glue}.

?70
It was slow work, but {N} did not stop.
The [first|second] time it did not hold, so they tried [again|once more].
"Slowly, slowly," said {his} {elder}. "Good work takes time."
{N} was so careful that {he} forgot to breathe.

[At last|Finally|In the end] it was done, and the {toything} {again}.
When they were ready, the {toything} {again}.
And what do you think? The {toything} {again}!

?70
"It is even better now!" said {N}.
"Thank you," said {N}, and {he} hugged {his} {elder}.
{N} laughed and clapped {his} hands.
"You mended it yourself," said {his} {elder}. "I only helped."

[From that day on|From then on|After that day], {N} was careful with {his} toys.
And from [that day|then] on, {N} mended the toys of all {his} friends.
The {toything} had a small mark, but {N} loved it even more.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that not everything that breaks is lost.
That night, the {toything} slept next to {N}.
""",
)

BUILD = Plot(
    name="build",
    asks="""building {a made}
{a kind} who builds {a made}
{a kind} named {N} who wants {a made}
two friends who build {a made}""",
    brief="""{hero} and {his} friend {F} built {a made} out of {stuff}.
{A trait kind} named {N} and {his} friend {F} did not give up, and in the end they had a fine {made}.""",
    tables=(
        """made | stuff | trouble | fix | then
tree house | old boards | the floor was not straight | put a stone under the ladder and a beam under the floor | sat high up and looked over the whole valley
boat | planks and rope | water came in through a hole | closed the hole with wax | sailed around the pond
hut | branches and leaves | the roof fell in | put a strong pole in the middle | sat inside and listened to the rain
snowman | three big balls of snow | the head rolled off | put a stick through the middle | gave him a hat and a carrot nose
sand castle | wet sand and shells | a wave washed the wall away | dug a deep ditch around it | put a flag on the highest tower
bridge | logs and stones | the first log rolled away | tied the logs together with rope | walked across the stream without wet feet
bird house | small boards | the door was too small for any bird | made the hole bigger | watched a robin move in
swing | a board and a rope | the knot came loose | tied a better knot | took turns and flew up to the sky
cart | a box and four wheels | the wheels would not turn | put some oil on the wheels | rolled all the way down the hill
kite | paper and thin sticks | it was too heavy and would not fly | used thinner sticks and a longer tail | watched it dance among the clouds
tent | a blanket and two poles | the wind blew it down | put heavy stones on the corners | slept in it all night
raft | logs and rope | it leaned to one side | put one more log on the other side | floated down the slow river""",
    ),
    beats="""
{Day}, {N} had a plan. "I want to build {a made}," {he} said.
{Day}, {N} saw a picture of {a made} and wanted to have one too.
More than anything, {N} wanted to have {a made}.
"I wish that I had {a made}," said {N}.

{He} asked {his} friend {fintro} to help. "Yes!" said {F}. "I love to build."
{His} friend {fintro} came to help.
"That is too much work for one," said {his} friend {fintro}. "Let us do it together."
{N} ran to {his} friend {fintro} and told {fhim} about the plan.

They looked for {stuff} and carried everything [up the hill|to the garden|to a good place].
From {his} {elder} they got {stuff}.
They made a drawing and brought {stuff}.
First they needed {stuff}, and it took them all morning to get it.

?70
They worked [all day|all morning|for hours] until they were [hot|hungry|thirsty] and tired.
{N} held everything still, and {F} did the rest.
{F} sang a song, and the work went quickly.
Bit by bit, the {made} grew.

[But then|Then|And then] {trouble}.
It looked good, but {trouble}.
Just when they were ready, {trouble}.

?70
"It is no use," said {F}. "We will never do it."
"What now?" asked {F}.
"All that work for nothing!" [cried|called|shouted] {N}.
{F} wanted to go home, but {N} said, "Wait!"

?70
"Let us think," said {N}. They sat down and ate {treats}.
{N} walked around the {made} and looked at it for a [long|very long] time.
{A passer} called, "Do not give up!"
{His} {elder} came [by|along|past] and gave them a little hint.

[Then|Suddenly|At last] {N} had [an|a good] idea. They {fix}.
"I know what to do!" said {F}. They {fix}.
They tried again, and this time they {fix}.

Now the {made} was [strong|perfect|ready]. They {then}.
"It works!" they cried, and they {then}.
When all was done, they {then}.

And from [that day|then] on, it was their favorite place to meet.
And when it was time to go home, they were already planning the next thing to build.
"[We did it|Look, we did it] together," said {N}, and {F} smiled.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that the second try is often the best.
{N} and {F} were [very proud|so proud], and everyone came to see the {made}.
""",
)

PLOTS = (LOST, REACH, OWNER, BROKEN, BUILD)
