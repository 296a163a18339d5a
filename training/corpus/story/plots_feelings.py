# ruff: noqa: E501
"""Plots about feelings: fear, sharing, a quarrel, a new neighbor, the truth, a night sound."""

from training.corpus.story.scene import Plot

FEAR = Plot(
    name="fear",
    asks="""{a kind} who is afraid of {fear}
being brave
{a trait kind} who learns to be brave
{a kind} named {N} who is afraid""",
    brief="""{hero} was afraid of {fear}, but for the sake of {his} friend {F}, {he} was brave.
{A trait kind} named {N} was afraid of {fear} until {he} had to help a friend.""",
    traits="shy timid quiet gentle careful lonely dreamy kind",
    tables=(
        """fear | avoid | need | deed | lesson
the dark | never went out after sunset | was lost in the woods after sunset | took a lantern and walked into the dark | The dark is only the day with its eyes closed
deep water | never went near the pond | had fallen into the pond | jumped in and pulled {fhim} out | Water is not so bad when you kick your legs
high places | never climbed anything | sat in a tall tree and could not get down | climbed up branch by branch and helped {fhim} down | It is easier if you do not look down
thunder | hid under the bed in every storm | was alone in the storm | ran through the rain to be with {fhim} | Thunder is only noise
strangers | hid behind {his} {elder} when somebody new came | was hurt, and only a stranger could help | spoke to the stranger and asked for help | A stranger may be a friend whom you do not know yet
the big dog | always took the long way around the farm | had left {fhis} bag next to the big dog | walked up to the dog and said hello | The big dog only wanted to play
the old bridge | never crossed the river | was on the other side and needed help | crossed the bridge step by step | The old bridge is stronger than it looks
the dark cellar | never went down the cellar stairs | was shut in the cellar by mistake | went down the stairs and opened the door | There is nothing in the cellar but apples
speaking in front of others | never said a word at school | forgot all the words in the school play | stood up and said the words for {fhim} | Nobody laughs when you speak from the heart
the wind | stayed in bed when the wind blew | was on the hill, and the wind had taken {fhis} coat | ran out into the wind and caught the coat | The wind only wants to play
snow | never left the house in winter | was stuck in the deep snow | went out into the snow and dug {fhim} out | Snow is soft like a pillow""",
    ),
    beats="""
But there was one thing that {N} did not like. {He} was afraid of {fear}.
{N} was afraid of {fear}, and {he} {avoid}.
{N} {avoid}, because {he} was afraid of {fear}.
Everyone knew that {N} was afraid of {fear}.

?60
"Do not be silly," said {a passer2}, but that did not help.
Some of the others laughed at {him}, and that made {him} sad.
"One day I will be brave," {he} said every night.
{His} {elder} said, "Everybody is afraid of something."

{Day}, {he} heard that {his} friend {fintro} {need}.
{Day}, {a passer} came in a hurry. "Come quickly!" it called. {His} friend {fintro} {need}.
{Day}, {he} heard a cry for help. {His} friend {fintro} {need}.

?70
"Help me, {N}!" called {F}.
"Who will help {fhim}?" asked {N}, but nobody else was there.
{N} wanted to run away, but {he} thought of {F}.
There was no time to call {his} {elder}.

{His} knees were shaking, and {his} heart went boom, boom, boom.
"I am afraid," {N} thought, "but {F} needs me."
{N} took a [deep|very deep|long] breath and counted to three.
"I can do it," {N} said to {himself}. "I can do it."

Then {he} {deed}.
[So|And so] {N} {deed}.
{He} closed {his} eyes and opened them again. Then {he} {deed}.

"You came!" said {F}. "I thought that you were afraid of {fear}."
"Thank you, {N}," said {F}. "You are very brave."
{F} was so [glad|happy] that {fhe} hugged {N} for a [long|very long] time.
"You are my hero!" [cried|called|shouted] {F}.

?75
"I was afraid," said {N}, "but I wanted to help you."
"{lesson}," said {N}, and {he} laughed.
{N} was surprised. "{lesson}," {he} said.
"I was afraid too," said {F}. "Together it was easier."

?60
They [walked|went|danced] home [hand in hand|side by side|together].
{His} {elder} gave them {food} and {drink}.
They told {his} {elder} everything.

And from [that day|then] on, {N} was not afraid of {fear} any more.
[From that day on|From then on|After that day], nobody laughed at {N} again.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that being brave means being afraid and doing it all the same.
And from [that day|then] on, everyone called {him} {N} the Brave.
{N} was still a little afraid of {fear}, but now {he} knew what to do.
""",
)

SHARE = Plot(
    name="share",
    asks="""sharing
{a kind} who learns to share
{a kind} who does not want to share
{a kind} named {N} and {a basket}
two friends who share {a basket}""",
    brief="""{hero} did not want to share {his} {goods}, but then {he} saw how sad {F} was.
{A trait kind} named {N} learned that {goods} taste better when you share them with a friend.""",
    traits="proud hungry stubborn lonely playful quick messy busy",
    tables=(
        """basket | goods | one
basket of berries | berries | handful of berries
bag of nuts | nuts | handful of nuts
plate of cookies | cookies | cookie
jar of honey | honey cakes | honey cake
box of plums | plums | plum
bowl of cherries | cherries | handful of cherries
basket of apples | apples | apple
tray of buns | buns | bun
bag of pears | pears | pear
pile of pancakes | pancakes | pancake""",
        """trouble
sat alone on the steps, and a cold wind blew
ate so many that {his} stomach hurt
had nobody to laugh with
felt so alone that nothing tasted good
sat in a corner alone and was not happy at all""",
    ),
    beats="""
{Day}, {N} got {a basket} from {his} {elder}.
{Day}, {N} came home with {a basket}.
{Day}, there was {a basket} on the table, and it was all for {N}.

{His} friend {fintro} came [by|along|past]. "May I have {a one}?" asked {F}.
"That smells so good," said {his} friend {fintro}. "Can I have some?"
{His} friend {fintro} was hungry and asked for {a one}.
At the gate stood {his} friend {fintro}, who had no lunch that day.

"No," said {N}. "They are all mine."
But {N} wanted to keep all the {goods}. "Go away," {he} said.
"I do not have enough," said {N}, but that was not true.
{N} hid the {goods} behind {his} back.

{F} said nothing and walked away with {fhis} head down.
"All right," said {F}, but {fhis} eyes were full of tears.
So {F} went home, and it was very quiet.
"I always share with you," said {F}, and {fhe} went away.

{N} ate and ate. But {he} {trouble}.
Now {N} had everything, but {he} {trouble}.
{N} took the {goods} to a secret place. There {he} {trouble}.

?75
{He} remembered how {F} had shared {fhis} {treats} last week.
"What have I done?" thought {N}. "{F} is my best friend."
{A passer} said, "A thing that you share is twice as good."
{N} thought of {F} and felt [bad|sorry|ashamed].

[So|And so] {he} took the best {goods} that {he} could find and ran to {F}.
Then {he} ran after {F} as fast as {he} could.
{He} put the rest of the {goods} on a plate and knocked at the door of {F}.

"I am sorry," said {N}. "Please eat with me."
"Half of it is for you," said {N}. "I was not nice."
"Will you share with me?" asked {N}. "I am sorry."

"Thank you," said {F}, and {fhe} smiled again.
{F} laughed. "Let us eat together," {fhe} said.
"I am not angry any more," said {F}. "And look, I have some {drink}."

?60
They sat {spot} and ate until they were full.
They ate [together|side by side], and everything tasted [wonderful|better than before|sweet].
One for {N}, one for {F}, one for {N}, one for {F}, until all was gone.

And from [that day|then] on, {N} always shared with {F}.
[From that day on|From then on|After that day], {N} and {F} shared everything.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that {goods} taste better with a friend.
And both friends went home with a full stomach and a glad heart.
""",
)

QUARREL = Plot(
    name="quarrel",
    asks="""a quarrel
two friends who quarrel
{a kind} and {a fkind} who make up
a quarrel about {a issue}
{a kind} named {N} who says sorry""",
    brief="""{A trait kind} named {N} and {his} friend {F} quarreled about {a issue}, but soon they missed each other and made up.
{hero} was angry with {his} friend {F}, but saying sorry made everything good again.""",
    tables=(
        """issue | want | peace
swing | Both of them wanted to be first on the swing | counted to twenty and took turns
red pencil | Both of them wanted to draw with the red pencil | broke a new pencil in two and drew one big picture
game | {N} wanted to play tag, and {F} wanted to play chess | played tag before lunch and chess after lunch
big cake | Each of them wanted the bigger half | let one of them cut it and the other one choose
ball | Both of them pulled at the ball until it burst | made a new ball out of old socks
song | {N} wanted to sing loudly, and {F} wanted to sing softly | sang a song that was loud at first and soft at the end
window seat | Both of them wanted to sit at the window | pushed two chairs to the window
boat | Both of them wanted to be the captain | made one the captain of the morning and the other one the captain of the afternoon
story book | {N} wanted to read the end first, but {F} did not | began again at page one and read it together
joke | {F} laughed at {N}, and {N} did not like it | promised to laugh with each other and never at each other
path | {N} wanted to go left, and {F} wanted to go right | went left that day and right the next day""",
    ),
    beats="""
{N} had a good friend, {fnew}.
{His} best friend was {fnew}.
{N} and {his} friend {fintro} played together every day.

{Day}, they had a quarrel about {a issue}. {want}.
{Day}, something went wrong. {want}.
{Day}, the two friends were angry about {a issue}. {want}.

?75
"You are not fair!" shouted {N}. "You are not fair!" shouted {F}.
"I will never play with you again!" said {F}.
"Go home!" said {N}. "I will," said {F}.
"You always want to have your way," said {N}.

{F} walked away, and {N} sat down alone.
{N} [ran|hurried|went] home and shut the door with a bang.
They turned their backs and did not [speak|say a word|look at each other].
Each of them went home [by another road|alone|without a word].

At first, {N} was glad. But playing alone was no fun.
{N} tried to play {game} alone, but that does not work.
The next [day|morning|afternoon] was [long|gray|slow] and quiet, and nobody [knocked at the door|came to play|rang the bell].
{N} looked at the empty place next to {him} and sighed.

?70
"Why are you so sad?" asked {his} {elder}. "I miss {F}," said {N}.
{His} {elder} asked, "What is more important, {a issue} or a friend?"
"Somebody has to be the first to say sorry," said {his} {elder}.
"It is hard to say sorry," {N} told {his} {elder}. "Yes," said {ehe}, "but it helps."

[So|And so] {N} went to the house of {F}. Halfway, {he} met {F}, who was coming to see {him}.
{N} picked some {flower} and went to look for {F}.
{N} wrote a letter with one word in it: "Sorry."
[The next morning|The next day|Early in the morning], {F} stood at the door and looked at {fhis} feet.

"I am sorry," said {N}. "I am sorry too," said {F}.
"I was wrong," said {N}. "No, I was wrong," said {F}, and they both laughed.
"Can we be friends again?" asked {N}. "We always were," said {F}.

Then they {peace}.
And what did they do? They {peace}.
This time they were wiser. They {peace}.

And from [that day|then] on, they talked before they got angry.
And from [that day|then] on, they never let a quarrel last until bedtime.
They were friends again, and everything was good.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that a friend is worth more than {a issue}.
[From that day on|From then on|After that day], {N} and {F} were better friends than ever.
""",
)

NEIGHBOR = Plot(
    name="neighbor",
    asks="""a new neighbor
{a kind} who moves in next door
{a kind} and a new friend
{a kind} named {N} and the new neighbor""",
    brief="""{hero} brought {treats} to the new neighbor, {fnew}, and they became friends.
{A trait kind} named {N} said hello to the new neighbor, {fnew}, and soon they were friends.""",
    tables=(
        """worry | proof
{F} was not friendly | {F} was only shy
{F} did not like anyone | {F} only missed {fhis} old home
{F} was too loud | {F} only sang because {fhe} was alone
{F} was a little strange | {F} only came from a faraway land
{F} never slept | {F} only watched the stars at night
{F} was very proud | {F} only did not know what to say
{F} never came out | {F} only had a bad cold""",
        """show | fun
how to make a boat out of paper | sailed boats on the stream
how to bake flat bread | baked bread over a small fire
how to speak to birds | whistled with the birds
a box full of stones from the sea | put the stones in a row, from small to big
a dance from {fhis} old home | danced until they fell over
how to find the North Star | looked at the sky until bedtime
a very old map | played that they were looking for gold
how to play the flute | made music for the whole street""",
    ),
    beats="""
{Day}, a wagon full of boxes stopped in front of the house next door.
{Day}, somebody moved into the empty house across the road.
{Day}, there was smoke over the old house by the hill. Somebody new was living there.

The new neighbor was {fnew}.
It was {fnew}, and {fhe} had {a color} door painted at once.
"{N}, this is {F}," said {his} {elder}. {F} was {a fkind} with very big eyes.

But {F} did not say hello, and some people said that {worry}.
"Be careful," said {a passer}. Everybody thought that {worry}.
The others did not go near, because they thought that {worry}.
{N} looked through the fence and was not sure. Perhaps {worry}.

?70
"How would you feel in a new place?" asked {his} {elder}.
{N} thought, "I would be glad if somebody came to see me."
"You can only know if you ask," said {his} {elder}.
{N} wanted to see for {himself}.

[So|And so] {N} baked some {baked} and knocked at the door.
[So|And so] {N} picked some {flower} and walked over.
{N} wrote "Welcome!" on a big sheet of paper and carried it over.
With a pot of {food} in {his} hands, {N} rang the bell.

?75
[For a while|At first] nothing happened. Then the door opened [a little|slowly|just a bit].
"Hello," said {N}. "I live next door."
"Who is there?" asked a small voice. "It is {N} from next door," said {N}.

"You are the first one who comes to see me," said {F}.
"Are those for me?" asked {F}, and {fhe} began to smile.
"Please come in," said {F}. "I have been so alone."

Now {N} understood. {proof}.
So it was not true what the others said. {proof}.
It was all very simple. {proof}.

{F} showed {him} {show}, and they {fun}.
Inside, {F} showed {him} {show}. Then they {fun}.
"I want to show you something," said {F}. Then {fhe} showed {him} {show}, and they {fun}.

And from [that day|then] on, the two neighbors were friends.
[The next day|The next morning|A day later], {N} took {F} to meet all the others, and nobody was alone any more.
And from [that day|then] on, there was a hole in the fence, so that they could visit each other quickly.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that it is good to knock at a new door.
""",
)

TRUTH = Plot(
    name="truth",
    asks="""telling the truth
{a kind} who breaks {a vase}
{a kind} who learns to be honest
{a kind} named {N} and a broken {vase}""",
    brief="""{hero} broke {a vase} and wanted to hide it, but then {he} told the truth.
{A trait kind} named {N} broke {a vase}, told {his} {elder} the truth, and felt much better.""",
    traits="playful messy busy quick curious dreamy merry cheerful stubborn",
    tables=(
        """vase | made | amends
blue vase | playing ball in the kitchen | glued it together piece by piece
teapot | running around the table | painted a new teapot
window | throwing stones at a can | cleaned all the other windows
flower pot | dancing on the wall | planted the flower in a new pot
jar of jam | looking for something sweet | washed the floor and picked new berries
big mirror | jumping on the bed | gave all {his} coins for a new one
lamp | playing with a long stick | made a new shade out of paper
clock | looking inside to see how it works | put the wheels back one by one
plate | doing tricks with the dishes | washed the dishes for a week
picture | waving a broom like a sword | drew a new picture""",
        """hide
under the carpet
behind the curtain
in a box
under the bed
in the shed""",
    ),
    beats="""
{Day}, {N} was {made}, and that was not allowed.
{Day}, {N} was alone at home. {He} was {made}.
{Day}, {his} {elder} went out to get some milk, and {N} was {made}.

Crash! The {vase} fell down and broke.
Then there was a crash. The {vase} was broken!
[Suddenly|All at once|All of a sudden] {he} slipped, and the {vase} broke with a crash.

?60
{N} was so frightened that {he} could not move.
"[Oh no|Oh dear]," whispered {N}. "What now?"
{His} face turned as white as milk.

Quickly, {he} hid the pieces {hide}.
"Nobody must know," {he} thought, and {he} hid everything {hide}.
{He} pushed the pieces {hide} and sat down with a book.

When {his} {elder} came home, {ehe} asked, "Where is the {vase}?"
"Something is different here," said {his} {elder}.
Soon {his} {elder} came home. "Have you seen the {vase}?" {ehe} asked.

"Maybe the cat did it," said {N}, and {his} ears turned red.
"I do not know," said {N}, and {he} looked away.
{N} said nothing and ate {his} {food}, but it did not taste good.
"Maybe it was the wind," said {N} in a small voice.

?70
All evening, {N} had a heavy feeling, as if {he} had eaten a stone.
That night, {he} could not sleep. The lie was too heavy.
{He} thought of it at supper, and {he} thought of it in bed.
The longer {he} waited, the worse {he} felt.

[At last|Finally|In the end] {he} got up. "It was me," said {N}. "I was {made}."
Then {he} could not bear it any longer. "I broke the {vase}," {he} said, and {he} [began|started] to cry.
"I have to tell you something," said {N}. "I broke the {vase}, and I did not tell the truth."

"Thank you for telling me," said {his} {elder}. "That was brave."
"I am sad about the {vase}," said {his} {elder}, "but I am glad that you told me."
{His} {elder} put an arm around {him}. "Things can break," {ehe} said, "but the truth must stay whole."

?80
[The next day|The next morning|A day later], {N} {amends}.
To make it good again, {N} {amends}.
Together they made a plan, and {N} {amends}.

And from [that day|then] on, {N} always told the truth, even when it was hard.
{N} felt as light as a feather and slept very well.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that a lie is heavier than a broken {vase}.
[From that day on|From then on|After that day], everyone could believe what {N} said.
""",
)

NIGHT = Plot(
    name="night",
    asks="""a strange sound at night
{a kind} who hears a noise
{a kind} who cannot sleep
{a kind} named {N} and a night sound""",
    brief="""{hero} heard a strange sound at night, but it was only {source}.
One night, {a trait kind} named {N} followed a strange sound and found {source}.""",
    traits="curious shy timid careful dreamy gentle clever quiet playful",
    tables=(
        """sound | source | where | end
tap, tap, tap | a branch that knocked at the window | at the window | tied the branch back with a string
scratch, scratch | a little mouse looking for crumbs | behind the cupboard | gave the mouse a piece of cheese
whoo, whoo | a young owl that could not find its mother | in the old tree | held up a lamp until the mother owl came
drip, drip, drip | a tap that was not closed | in the kitchen | turned the tap until it was quiet
meow, meow | a wet kitten in front of the door | at the front door | dried the kitten with a towel
bang, bang | a window that was open in the wind | in the attic | closed the window
squeak, squeak | the old gate in the wind | in the garden | put a drop of oil on the gate
hum, hum, hum | {his} {elder}, who was baking a cake in secret | down in the kitchen | got the very first piece of cake
rumble, rumble | {his} own empty stomach | very, very near | ate a slice of bread and drank some milk
snuffle, snuffle | a hedgehog that was eating a pear | under the window | put out one more pear
clip, clop | a lost pony that was looking for its stable | on the road | led the pony back to its stable
rustle, rustle | a bag of leaves with a frog in it | on the porch | carried the frog to the pond
snore, snore | the old dog, who was sleeping in the wrong bed | under the blanket | moved over and made room for the dog""",
    ),
    beats="""
One night, {N} lay in bed and heard a strange sound.
It was late, and the whole house was asleep. But {N} was awake.
One dark night, something woke {N} up.
The moon was high, and {N} could not sleep.

"{Sound}," it went. "{Sound}."
{Sound}! What was that?
There it was again: {sound}!

?75
{N} pulled the blanket over {his} head.
"Is that a monster?" whispered {N}.
{His} heart beat very fast.
"Go away," said {N}, but the sound did not go away.

?70
"There are no monsters," {he} said to {himself}. "There must be a reason."
{He} wanted to call {his} {elder}, but {his} voice was gone.
{He} counted to ten, but the sound was still there.
"If I do not look, I will never know," thought {N}.

[So|And so] {N} took a candle and got out of bed.
Very slowly, {he} put one foot on the cold floor.
{N} took {his} pillow under one arm and opened the door.
On the tips of {his} toes, {N} went to look.

?75
The [floor creaked|stairs creaked|wind blew], and the shadows were [long|dark|deep].
The sound came from somewhere {where}. {Sound}!
Step by step, {he} came nearer. It was {where}.
A cloud went over the moon, and it was very dark. But the sound was {where}.

{He} held {his} breath and looked. It was only {source}!
And what did {he} see? It was {source}!
Then {N} began to laugh. It was {source}!

?75
"So it was you!" said {N}.
"And I was so afraid!" said {N}.
"What a silly {kind} I am," said {N}.
"That is not a monster at all," said {N}.

Then {N} {end}.
{N} was not afraid any more, and {he} {end}.
{He} {end}, and then everything was good.

Then {he} went back to bed and slept until the sun came up.
In the morning, {N} told {his} {elder}, and they laughed together.
And from [that day|then] on, {N} was not afraid of sounds in the night.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that most monsters are very small when you look at them.
After that, the night was quiet, and {N} had a lovely dream.
""",
)

PLOTS = (FEAR, SHARE, QUARREL, NEIGHBOR, TRUTH, NIGHT)
