# ruff: noqa: E501
"""Plots of small adventures: astray, trading, a present, a show, a letter, an egg, a star, a bed."""

from training.corpus.story.scene import Plot

ASTRAY = Plot(
    name="astray",
    asks="""{a kind} who gets lost
{a kind} named {N} who cannot find the way home
getting lost in {weather}
{a kind} and {a guide}
the way home""",
    brief="""{hero} got lost in {weather}, but {a guide} showed {him} the way home.
{A trait kind} named {N} went {trip}, got lost, and came home with the help of {a guide}.""",
    tables=(
        """trip | bring
into the forest to pick berries | a few berries
over the hills to look for wild strawberries | some strawberries
along the river to look for smooth stones | three white stones
across the fields to follow a butterfly | some flowers
through the woods to gather mushrooms | a basket of mushrooms
to the market to buy some honey | a jar of honey
down to the beach to collect shells | a bag of shells""",
        """weather | mishap
the fog | thick fog rolled in and hid the path
the snow | snow began to fall and covered every path
the rain | heavy rain washed the path away
the dark | the sun went down and it grew very dark
a storm | a storm came up and broke the little bridge""",
        """guide | way
firefly | glowed like a tiny star and flew ahead
shepherd | knew every path and took {him} by the hand
crow | flew above the trees and called out which way to go
stag | walked slowly in front and waited at every turn
watchman | held up a lamp and led the way
goose | honked loudly so that {N} could follow
old dog | put its nose to the ground and followed the trail
fisherman | knew the land well and took {him} home
white horse | let {him} ride on its back
bat | could see in any weather and flew from tree to tree""",
    ),
    beats="""
{Day}, {N} went {trip}.
{Day}, {he} put on {his} boots and went {trip}.
"I am big enough to go alone," said {N}, and {he} went {trip}.

?70
"Be home for supper," said {his} {elder}.
{His} {elder} gave {him} {a treat} for the way. "Do not go too far," {ehe} said.
The birds were singing, and {N} sang with them.
{N} had so much fun that {he} forgot the time.

[But then|Then|And then] {mishap}.
[Suddenly|All at once|All of a sudden] {mishap}.
On the way back, {mishap}.

?75
Now {N} did not know which way to go.
"Which way is home?" asked {N}, but nobody was there.
{N} went left, and {he} went right, but nothing looked the same.
Every tree looked like the one before, and {N} was lost.

?75
{He} sat down under a tree and ate {his} last {treat}.
"Hello!" called {N}. "Can anyone hear me?"
{N} was cold, and {he} wanted to be at home with {his} {elder}.
"I will not cry," said {N}, but {he} cried a little.
{He} held on to {bring} and tried to be brave.

[After a while|Soon], {he} heard a sound. It was {a guide}.
Then {a guide} came out between the trees.
"Who is crying there?" asked {a guide}.
[Just then|At that moment|Right then], {a guide} found {him}.

?75
"I am lost," said {N}. "Then I will bring you home," said the {guide}.
"[Do not be afraid|Do not worry]," said the {guide}. "Home is not far."
"Can you show me the way?" asked {N}. "I can," said the {guide}.
"Follow me," said the {guide}, "and stay close."

The {guide} {way}.
So they went together. The {guide} {way}.
{N} did what the {guide} said. The {guide} {way}.

[At last|Finally|In the end] {he} saw a light. It was the window of {his} home!
{Soon} {N} could smell {food}. {He} was home!
And there, at the end of the path, stood {his} {elder} with a lamp.

?80
"I was so worried!" said {his} {elder}, and {ehe} held {him} tight.
{His} {elder} ran to meet {him}. "There you are at last!"
"Thank you for bringing {him} home," said {his} {elder} to the {guide}.

?70
{He} still had {bring}, and {he} gave half to the {guide}.
They all ate {food}, and the {guide} ate with them.
{N} showed {bring} to {his} {elder} and told the whole story.

And from [that day|then] on, {N} always told {his} {elder} where {he} was going.
And from [that day|then] on, {N} knew the way by heart.
And {N} never forgot the kind {guide}.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that home is the best place of all.
""",
)

TRADE = Plot(
    name="trade",
    asks="""baking {a dish}
{a kind} who needs {missing}
{a kind} named {N} who wants to bake {a dish}
neighbors who help each other""",
    brief="""{hero} needed {missing} for {a dish}, and {he} got it by helping {his} neighbors.
For a bit of {missing}, {a trait kind} named {N} helped everyone in the street.""",
    traits="helpful kind clever hungry cheerful busy patient merry",
    tables=(
        """dish | missing | keeper
cake | eggs | the hen
apple pie | butter | the cow
plum cake | sugar | the grocer
nut cake | nuts | the squirrel
honey cake | honey | the bear
loaf of bread | flour | the miller
pudding | milk | the goat
pizza | cheese | the farmer""",
        """wish | owner | errand | pay
a feather for my hat | the goose | find my lost egg | looked under every bush until {he} found the egg
a ball of wool | the sheep | tell me a story | told the sheep a funny story
a bag of hay | the horse | brush my back | brushed the horse until it was shining
a basket of apples | the gardener | water the roses | carried water to all the roses
a bunch of flowers | the bees | sing us a song | sang a song in front of the hive
a new broom | the broom maker | carry the sticks | carried sticks all morning
a pot of paint | the painter | hold the ladder | held the ladder until the wall was done
a blue feather | the magpie | guess my riddle | guessed the riddle at the second try
some warm soup | the cook | wash the dishes | washed a mountain of dishes""",
    ),
    beats="""
{Day}, {N} wanted to bake {a dish} for {his} {elder}.
{Day}, {he} was hungry for {a dish}.
It was the birthday of {his} {elder}, and {N} wanted to make {a dish}.

{He} had everything but one thing. There was no {missing}.
{He} looked in the cupboard, but the {missing} was all gone.
"[Oh no|Oh dear]," said {N}. "I have no {missing}!"

[So|And so] {he} went to {keeper}. "Please give me some {missing}," said {N}.
{N} took {a color} basket and walked to {keeper}. "May I have some {missing}?" {he} asked.
"Who can give me {missing}?" thought {N}. {He} went to {keeper} and asked.

"You can have it," said {keeper}, "if you bring me {wish}."
"I will give you some," said {keeper}, "but first I need {wish}."
"Gladly," said {keeper}, "but I would like {wish}."

{N} thought, "Who has that?" Then {he} ran to {owner}.
[So|And so] {N} went to {owner} and asked for help.
Off went {N} to find {owner}.

"I have that," said {owner}, "but you must {errand}."
"First {errand}," said {owner}, "and then I will help you."
"I will give it to you," said {owner}, "if you {errand}."

That was not too hard. {N} {pay}.
"Nothing is easier," said {N}, and {he} {pay}.
{N} was in a hurry, but {he} did it well. {He} {pay}.

?80
"Well done!" said {owner}, and {N} got what {he} wanted.
"Thank you, {N}," said {owner}. "Here it is."
{N} said thank you and ran back with it.

{Keeper} was happy and gave {him} the {missing}.
"You are quick," said {keeper}. "Here is your {missing}."
And so {N} got the {missing} at last.

Then {he} went home and made the best {dish} in the world.
At home, {he} began to work, and soon the kitchen smelled wonderful.
One hour later, the {dish} was ready.

?60
{N} cut it into pieces, and everybody who had helped got some.
{His} {elder} took a bite and said, "I have never eaten anything so good."
{Keeper} and {owner} came too, and they all ate together.

[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that one good deed leads to the next.
And from [that day|then] on, all the neighbors helped each other.
And not a crumb was left.
"It tastes so good," said {N}, "because so many of us helped."
""",
)

GIFT = Plot(
    name="gift",
    asks="""a present for {F}
{a kind} who makes a present
{a kind} named {N} who has no money
{a present} made by hand""",
    brief="""{hero} had no money for a present, so {he} made {a present}, and {F} loved it.
{F} got many presents, but the best one was {a present} from {a trait kind} named {N}.""",
    tables=(
        """present | from | use
necklace | shells and a string | wore it every day
picture | old paint and a piece of wood | hung it over the bed
warm hat | wool from an old sweater | put it on at once
little boat | half a nut shell and a leaf | let it swim in a bowl of water
book | paper and a needle | read it three times on that day
song | nothing but a few good words | wanted to hear it again and again
bird house | some boards and nails | put it up in the garden
puppet | a sock and two buttons | made it dance on the table
candle | the wax of old candles | lit it at supper
whistle | a piece of willow | blew it so loudly that everyone laughed
paper star | silver paper from a box | hung it in the window""",
        """dear
a golden ring in the window of a shop
a big box of sweets at the market
a music box that cost ten coins
a silver cup in the shop
a toy horse that was as big as a dog""",
    ),
    beats="""
{Day}, {N} heard that it was almost the birthday of {his} friend {fintro}.
The birthday of {his} friend {fintro} was coming soon.
In three days, it was the birthday of {his} friend {fintro}.

{N} saw {dear}, but {he} had only one coin.
"I want to give {fhim} something fine," said {N}. {He} saw {dear}, but it was too dear.
{N} looked at {dear}. Then {he} looked into {his} empty purse.

?75
"I have no money," {he} told {his} {elder}.
"What can I give without money?" {he} asked.
{N} went home with {his} head down.
"Then I cannot give {fhim} anything," said {N} sadly.

"The best presents are made by hand," said {his} {elder}.
"You have two hands and a good head," said {his} {elder}.
{A passer} heard {him} and said, "Why do you not make something?"

{N} looked around and found {from}.
[Then|Suddenly|At last] {N} had [an|a good] idea. {He} took {from} and shut the door.
All {he} could find was {from}, but that was enough.

?75
{He} worked all evening, and {his} fingers got tired.
{He} worked in secret for three days.
The first try was [no good|too crooked|too big|too small], but the second one was better.
{He} sang as {he} worked, and {he} thought of {F}.

[At last|Finally|In the end] it was ready. It was {a present}.
In the end, {he} had {a present}.
And what was it? It was {a present}!

?75
But the others had big boxes with {color} ribbons, and {N} felt small.
On the big day, {N} was a little afraid. "What if {fhe} does not like it?" {he} thought.
{N} hid the {present} behind {his} back. "It is only a small thing," {he} said.

{F} looked at it, and {fhis} eyes began to shine.
{F} was silent for a moment. Then {fhe} smiled from ear to ear.
"Did you make this yourself?" asked {F}. {N} nodded.

"It is the best present of all," said {F}, "because you made it for me."
"Thank you!" [cried|called|shouted] {F}. "Nobody else in the world has one like this."
"I love it," said {F}, and {fhe} hugged {N}.

{F} {use}.
Then {F} {use}, and {N} was [very happy|so happy|full of joy].

[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that love makes a small thing big.
And from [that day|then] on, {N} made all {his} presents by hand.
And {F} kept the {present} for many, many years.
All the other presents were soon forgotten, but the {present} was not.
""",
)

SHOW = Plot(
    name="show",
    asks="""a show
{a kind} who is nervous before a show
{a kind} named {N} on the stage
a school play
{a kind} who forgets {his} words""",
    brief="""{hero} was {part} in the show, and when {wrong}, {he} {saved}.
Before the show, {a trait kind} named {N} was nervous, but {F} helped {him}.""",
    traits="shy timid quiet cheerful playful merry busy curious gentle dreamy",
    tables=(
        """part | wrong | saved
the moon | the moon fell from {his} head | caught it and said, "Even the moon gets tired"
the king | the crown slipped over {his} eyes | walked around like a blind king and made everyone laugh
a tree | {he} had to sneeze | called, "What a windy day!" and shook all {his} leaves
the singer | {he} forgot the second line | sang the first line twice, and it sounded right
the dancer | one shoe flew off | threw the other one after it and danced without shoes
the clown | the trick with the eggs went wrong | bowed and said, "That is how to make pancakes"
the storyteller | the end of the story was gone from {his} head | asked the children, "How does it end?" and they all knew an end
a star | the light went out | lit a candle and said, "Now you can see a real star"
the drummer | a stick broke | played on with {his} bare hands
the dragon | the tail came off | looked at it and roared, "Who took my tail?\"""",
    ),
    beats="""
There was going to be a show, and {N} was {part}.
{Day}, the teacher said, "We will make a show, and {N} will be {part}."
On Friday there was a big show in the village, and {N} had to be {part}.

?75
{He} practiced every day in front of the mirror.
{He} practiced at breakfast, in the bathtub, and in bed.
{His} {elder} made {him} a costume with {color} buttons.
Every evening, {his} {elder} had to listen to {him}.

But on the evening of the show, {his} stomach felt strange.
Then the evening came, and {his} hands were shaking.
But when {N} saw all the people, {he} wanted to run away.

"I cannot do it," {he} whispered to {his} friend {fintro}.
"There are so many eyes," {he} said to {his} friend {fintro}.
"What if I do something wrong?" {he} asked {his} friend {fintro}.

"Look at me," said {F}. "I will sit in the first row."
"Then we will laugh, and that is all," said {F}.
{F} held {his} hand. "Take a deep breath," {fhe} said.
"Everyone is nervous," said {F}. "Even I am."

?75
The curtain opened, and {N} walked out into the light.
The [music began|lamps were lit|bell rang], and there was no way back.
{N} counted to three and stepped onto the stage.

At first, everything went well. But then {wrong}.
It was going fine until {wrong}.
But oh dear! In the middle of the show, {wrong}.

?70
It was so quiet that one could hear [a mouse|the clock|a pin drop].
For a moment, nobody [said a word|moved|knew what to do].
{N} looked at {F}, and {F} nodded.

[Then|Suddenly|At last] {N} had [an|a good] idea. {He} {saved}.
But {N} did not stop. {He} {saved}.
{N} took a [deep|very deep|long] breath. {He} {saved}.

The people laughed and clapped [for a long time|and stamped their feet|until their hands were red].
"Bravo!" called {F}, and everyone stood up.
They clapped so [hard|loudly] that the [lamps|chairs|windows] were shaking.

?70
"That was the best part of the show," said {his} {elder}.
"Was that planned?" asked the teacher. {N} only smiled.
"I did it wrong," said {N}. "You did it just right," said {F}.

[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that a mistake is not the end.
And from [that day|then] on, {N} was not so nervous any more.
And from [that day|then] on, {N} wanted to be in every show.
"When is the next show?" asked {N} on the way home.
""",
)

LETTER = Plot(
    name="letter",
    asks="""a message in a bottle
{a kind} who finds a letter
{a kind} named {N} who has a friend far away
{a kind} who writes a letter""",
    brief="""{hero} found a letter in a bottle, wrote back, and got a friend far away.
A letter in a bottle brought {hero} and {fintro} together.""",
    tables=(
        """from | life
on an island with a tall lighthouse | lights the lamp every night
on a ship with white sails | has seen a hundred whales
in a house on the other side of the sea | counts the waves before sleeping
far up the river, near the mountains | knows every stone in the river
in a hut beside a waterfall | has to shout because the water is so loud
on a small island with one tree | waters the tree every morning""",
        """token | back
{color} shell | pressed flower
drawing of the sea | drawing of the village
smooth black stone | smooth white stone
long gray feather | {color} ribbon
silver button | poem about the rain
piece of an old map | old coin""",
    ),
    beats="""
{Day}, {N} was playing at the water when {he} saw a bottle.
{Day}, something was shining in the water. It was a green bottle.
{Day}, a wave put an old bottle at {his} feet.

There was a letter in it, and {a token} too.
It was closed with wax. Inside, there was a letter and {a token}.
{N} pulled out the cork. Out fell a letter and {a token}.

"Dear finder," said the letter, "my name is {F}. I live {from}."
The letter said, "Hello! I am {fintro}, and I live {from}."
{N} read it aloud. "My name is {F}. I live {from}, and I am a little lonely."

?75
"I have nobody to [talk to|play with|laugh with]," it said. "Will you be my friend?"
At the [end|bottom] it said, "[Please write back|Please answer me|I am waiting for your answer]."
The last line was, "I hope that [somebody|a friend|a kind heart] will find [this|me|this letter]."

?60
{N} read the letter again and again.
{N} [ran|hurried|went] home and showed it to {his} {elder}.
"Somebody far away is waiting for me," said {N}.

"You must answer," said {his} {elder}.
{N} took a pen and wrote, "Dear {F}, I have found your letter."
{He} sat down at once and wrote about {his} home and {his} {elder}.

{He} put {a back} into the bottle and threw it far out into the water.
With the letter, {he} sent {a back}. Then {he} waited.
{He} also put in {a back}, closed the bottle, and let it swim away.

[Days went by, and weeks went by|A week went by, and then another one|The moon grew full two times], but no answer came.
Every morning, {N} went to the water to look, but there was nothing.
"Maybe the bottle got lost," said {N}, but {he} did not give up.

Then, one [sunny|cold|windy] morning, a boat came to the shore.
[In the summer|One evening|Before winter|Many weeks later], somebody knocked at the door.
Then, when {N} was not even looking, a small boat came.

Somebody climbed out. "Are you {N}?" asked {a fkind}. "I am {F}."
There stood {a fkind} with a bottle in one hand. "I am {F}," said the {fkind}.
It was {a fkind}. "I wanted to bring my answer myself," said the {fkind}. It was {F}!

?70
{N} could not believe it. {He} laughed and danced.
"You came!" [cried|called|shouted] {N}. They talked until late at night.
They sat down and ate {food} and had a thousand things to tell.

And from [that day|then] on, the two friends wrote to each other every week.
And from [that day|then] on, {F} was not lonely any more, and {N} was not, either.
[And {N} learned|{N} had learned|Now {N} knew|So {N} learned] that a friend can be very far away and still be near.
The old bottle still stands in the window of {N}.
""",
)

STAR = Plot(
    name="star",
    asks="""a star that fell from the sky
{a kind} who helps a star
{a kind} named {N} and a little star
a wish""",
    brief="""{hero} found a little star in the {place} and helped it to get back to the sky.
A star fell into the {place}, and {a trait kind} named {N} brought it home.""",
    tables=(
        """place | way
grass | climbed the highest hill and threw the star up with all {his} might
pond | asked an eagle, and the eagle carried the star up above the clouds
haystack | tied the star to a big balloon and let it go
snow | sat down on a swing with the star and swung higher and higher until it could jump
well | put the star on the tail of a kite and let the kite fly
garden | built a tall tower of boxes, and the star hopped from the top into the sky
old boat | waited for the big wind that blows up to the moon""",
        """wish | granted
wished for a friend | the next day {fnew} moved in next door
wished for nothing, because {he} was happy | the star danced for joy
wished that {his} {elder} would be well again | in the morning {his} {elder} was singing in the kitchen
wished for a light in the dark | from then on there was always a light at {his} window
wished that {he} could sing | the next morning {he} sang like a bird""",
    ),
    beats="""
One night, {N} saw a light fall from the sky.
One clear night, {N} could not sleep and looked out of the window. A star fell down.
One evening, {N} was counting the stars. One of them was missing.

In the {place}, something was shining. It was a very small star.
{He} ran outside. There, in the {place}, lay a little star.
{He} followed the light and found a tiny star in the {place}.

"I fell down," said the star, "and I cannot [get up again|fly back|find the way back]."
The star was crying tears of [silver|golden] light. "I want to go [home|back to the sky]," it said.
"It is [cold|dark|lonely] down here," said the star in a [small|thin|sad] voice.

"Do not cry," said {N}, and {he} put {his} {color} scarf around it.
{N} warmed it in {his} hands. "I will help you," {he} said.
"You can stay with me," said {N}. "No," said the star, "my mother is waiting."

?75
First {he} stood on the roof, but the roof was not high enough.
{He} jumped as high as {he} could, but the sky was too far away.
{He} tried a ladder, but the ladder was too short.
{He} asked {a passer}, but the {passer} could not fly so high.

?70
"[Hurry|Please hurry|Quickly]," said the star. "When the sun comes up, my light will go out."
[Slowly, the|Little by little, the|The] light of the star grew [weaker and weaker|smaller and smaller].
"Think, think," {N} told {himself}. There was not much time.

[Then|Suddenly|At last] {N} had [an|a good] idea. {He} {way}.
But {N} did not give up. {He} {way}.
[At last|Finally|In the end] {N} knew what to do. {He} {way}.

Up, up, up it went, until it was [in its place|with its mother|between its sisters] again.
The star rose higher and higher. "[Thank you|Thank you, {N}|I will never forget you]!" it called.
And there it was, back in the sky, [and it was brighter than before|right next to the moon|brighter than all the others].

"Make a wish," said the star. {N} {wish}.
"Because you helped me, you have one wish," called the star. {N} {wish}.
{N} closed {his} eyes and {wish}.

And what do you think? {Granted}.
You may believe it or not, but {granted}.

And from [that day|then] on, one star winked at {N} every night.
And {N} never felt alone under the wide sky again.
And if you look up tonight, you may see it too.
Then {N} went to bed and slept until noon.
And when {N} told {his} {elder}, {ehe} only smiled.
""",
)

SLEEP = Plot(
    name="sleep",
    asks="""{a kind} who cannot sleep
bedtime
{a kind} named {N} who does not want to go to bed
{a kind} who is not tired""",
    brief="""{hero} could not sleep until {he} {helped}.
{A trait kind} named {N} was not tired at all, but after some {drink} {he} fell asleep.""",
    traits="curious clever cheerful playful dreamy quick busy merry timid stubborn",
    tables=(
        """reason | tried | helped
The moon was too bright | closed the curtain, but then it was too dark | gave the moon a friendly nod and turned to the wall
{He} was thinking of tomorrow | counted sheep, but the sheep would not stand still | told all {his} thoughts to {his} pillow, one by one
The bed was too cold | put on two pairs of socks, but they were scratchy | got a warm stone from {his} {elder} and put it at {his} feet
It was too quiet | sang a song, but that made {him} more awake | opened the window and listened to the wind
{He} missed {his} toy bear | hugged a shoe, but a shoe is not soft | found the bear behind the bed and held it tight
{He} was not tired at all | jumped up and down, but that only made {him} hungry | lay down and tried to stay awake as long as {he} could
{He} had a bad dream | hid under the blanket, but there was no air | told the dream to {his} {elder}, and it sounded funny
The wind was howling | put cotton in {his} ears, but it tickled | thought that the wind was singing a song for {him}""",
    ),
    beats="""
It was bedtime, but {N} could not sleep.
The clock struck nine, and {N} was still awake.
One night, {N} lay in bed with open eyes.
"Good night," said {his} {elder}, but {N} was not ready to sleep.

{reason}.
{reason}, and {he} turned from one side to the other.

"I cannot sleep," called {N}. {His} {elder} came in with a lamp.
{N} went down to {his} {elder}. "Why are you not in bed?" {ehe} asked.
{He} tiptoed to the kitchen, where {his} {elder} was drinking tea.

"Drink some {drink}," said {his} {elder}. {N} drank it, but it did not help.
{His} {elder} gave {him} {drink} and tucked {him} in again.
"Close your eyes and think of something nice," said {his} {elder}.

?75
{N} tried. {He} thought of {treats}, but then {he} was hungry.
{N} closed {his} eyes. They opened again by themselves.
{N} tried to think of {color} clouds, but the clouds became dragons.

?80
[So|And so] {he} {tried}.
Then {he} {tried}.
Next, {he} {tried}.

Outside, {a passer} was sitting in the moonlight. "Still awake?" it asked.
{A passer} looked in at the window. "What is wrong?" it asked.
At the window, {he} saw {a passer}. "You cannot sleep?" it asked.

?75
"No," said {N}. "What do you do when you cannot sleep?"
"I have tried everything," said {N}.
{N} told the {passer} all about it.

"I listen to my own breath," said the {passer}. "In and out, in and out."
"I think of the best thing of the day," said the {passer}.
"The night is long," said the {passer}. "There is no hurry. Sleep will find you."

{N} thought about that. Then {he} {helped}.
"I see," said {N}. {He} {helped}.
[So|And so] {N} {helped}.

?75
In and out, in and out went {his} breath, slower and slower.
{His} eyes became heavy, and {his} head became light.
{He} wanted to say thank you, but {he} had to yawn.

And before {he} could count to five, {he} was asleep.
And when {his} {elder} looked in again, {N} was fast asleep.
And from [that day|then] on, {N} knew how to fall asleep.
And {he} dreamed of {color2} boats on a silver sea.
Good night, {N}. Sleep well until the morning.
""",
)

PLOTS = (ASTRAY, TRADE, GIFT, SHOW, LETTER, STAR, SLEEP)
