"""More ways to ask for the facts: noun phrases, whole questions, statements to fill or to judge.

"@" is the thing asked about, "#" the answer, as in `words_facts`. A category has "of" (what stands
after "What is"), "asks" (whole questions), "states" (statements that are true with the answer; the
answer may be a gap), "checks" (questions that have yes or no for an answer), and "back" (questions
for the thing, by its answer; only where an answer belongs to one thing).
"""

from typing import NamedTuple


class Wording(NamedTuple):
    """How one asks for the facts of a category."""

    of: str
    asks: str
    states: str
    checks: str
    back: str = ""


WORDINGS = {
    "capital": Wording(
        """the capital of @
the capital city of @
@'s capital city
the capital in @""",
        """Which city is @'s capital?
What city do people in @ call their capital?
[In which|Which] city is the government of @?
Which city rules @?
What is the [main|chief] city of @, its capital?
@ has which capital?
@ has what capital city?
Of @, which city is the capital?
Where is the capital of @, and what is it called?
Which is the capital of @?
What [do you call|do we call|is] the capital of @?
capital city of @
capital city: @
Name me the capital that @ has.
In @, which city is the capital?
I plan a trip to @. What is its capital called?
The people of @ call which city their capital?""",
        """@'s capital is #.
The capital city of @ is #.
@ has the capital #.
In @, the capital is #.
@ is ruled from #.""",
        """Is # the capital city of @?
Is the capital of @ #?
Is @'s capital #?
Is it true that # is the capital of @?
Does @ have the capital #?
Has @ the capital #?
Would # be the capital of @?
Is the capital city of @ called #?
Do people in @ call # their capital?
Is @ ruled from #?""",
        """Which country has the capital #?
# is the capital of what?
Which country's capital is #?
What country has # as its capital?
# is which country's capital?
Whose capital is #?
For which country is # the capital city?
# is the capital of which land?
# - which country is that the capital of?
The capital # belongs to which country?
To which country does the capital # belong?
# is a capital. Of which country?
Which land is ruled from #?
If # is the capital, what is the country?
I am in #, the capital. Which country is that?
I stand in the capital #. In which land am I?
[Name|Tell me] the country with the capital #.
Where is # the capital?""",
    ),
    "symbol": Wording(
        """the meaning of @
@ in chemistry
the substance @
the thing that chemists call @""",
        """What is meant by @?
What is the substance @ called?
@ stands for what?
@ means what in chemistry?
What do the letters @ mean in chemistry?
Which thing has the symbol @?
What does the symbol @ mean?
Which element or substance is @?
@, what is that in chemistry?
@ - which substance?
I read @ in my chemistry book. What is it?
@ in chemistry?
What kind of stuff is @?
meaning of @ in chemistry""",
        """@ stands for #.
In chemistry, @ is #.
The symbol @ means #.
@ is the sign for #.""",
        """Does @ stand for #?
In chemistry, is @ #?
Does @ mean #?
Would @ be #?
Do chemists mean # by @?
Is @ the symbol of #?
Is @ a sign for #?""",
    ),
    "formula": Wording(
        """the formula of @
the formula for @
the chemical formula for @
the symbol of @
the sign for @
@'s formula
@'s chemical symbol""",
        """How is @ written in chemistry?
How do you write @ as a formula?
What do chemists write for @?
Which symbol does @ have?
Which letters stand for @ in chemistry?
@ has which formula?
formula of @
[Tell me|Write] the formula that @ has.""",
        """The formula of @ is #.
The symbol of @ is #.
In chemistry, @ is written as #.
Chemists write @ as #.""",
        """Is # the formula of @?
Is the symbol of @ #?
Do chemists write @ as #?
Does @ have the formula #?
Has @ the symbol #?
Would # be the formula of @?""",
    ),
    "author": Wording(
        """the author of @
the writer of the book @
@'s author
the man or woman who wrote @
the person behind @""",
        """Who was it that wrote @?
@ was written by whom?
By whom was @ written?
@ is by whom?
Who is @ by?
Whose work is @?
Whose novel is @?
From whose pen is @?
Which person wrote @?
What writer wrote @?
Who made up the story @?
Who has written @?
The book @, who wrote it?
Who thought of @?
What is the name of the author of @?
The author of @?
@: who is the author?
author of @
I like @. Who has written it?
We read @ at school. Which writer is it by?
Do you know who wrote @?""",
        """@ was written by #.
The author of @ is #.
# wrote @.
# wrote the book @.
@ is a book by #.
The book @ is by #.
The writer of @ was #.""",
        """Was @ written by #?
Is # the author of @?
Is @ by #?
Was it # who wrote @?
Has # written @?
Was it # that wrote @?
Did # pen @?
Is @ the work of #?
Is the book @ by #?
Was the author of @ #?
Was # the author of @?
Is # the writer of @?
Did the author # make up @?
Does the book @ come from #?""",
        """What book did # write?
Which book did # write?
Name a book by #.
What is a book by #?
What is # known for?
Which work is by #?
Which famous book is # the author of?
Which story did # tell?
What has # written?
Which novel comes from #?
What is the title of a book by #?
[Name|Tell me] the title of the famous work of #.
# wrote which book?
# is the author of what?
For which book do people know #?
I want to read something by #. Which book?
#'s best known book?
Which book made # famous?""",
    ),
    "young": Wording(
        """the young of @
the name of the young of @
the word for the young of @
the baby of @
the name of the baby of @""",
        """What is the young one of @?
What is the little one of @ called?
How do people call the young of @?
What name has the baby of @?
What does one call the child of @?
What baby does @ have?
The baby of @ is called what?
The young of @ is what?
When @ has a baby, what is it?
What is @ called when it is little?
What was @ before it grew up?
young of @
name of the young of @
name for the child of @
baby of @: name?
What do we call a little one of @?
The child of @, what is it called?
@ as a baby is what?""",
        """The young of @ is called #.
The young of @ is #.
The baby of @ is called #.
The baby of @ is #.
The child of @ is called #.""",
        """Is the young of @ called #?
Is the baby of @ #?
Is # the young of @?
Is # the baby of @?
Does one call the young of @ #?
Do people call the baby of @ #?
Would # be the child of @?
Is a young of @ called #?
Is the child of @ #?
Does @ have # as its baby?""",
        """What does # grow into?
# grows up to be what?
What will # become?
Which animal has # as its baby?
# is the young of what?""",
    ),
    "sound": Wording(
        """the sound of @
the noise of @
the voice of @
the sound that @ makes
the sound made by @
the noise that @ makes""",
        """What do you hear from @?
What does @ sound like?
How does @ go?
What sound comes from @?
@ makes what sound?
@ says what?
What is the cry of @?
What sound has @?
What do we hear when @ calls?
sound of @
@ sound?
I hear @. What does it say?
Which noise comes from @?""",
        """@ says "#".
The sound of @ is "#".
@ makes "#".
@ goes "#".
The noise of @ is "#".""",
        """Does @ say "#"?
Is "#" the sound of @?
Does @ make the sound "#"?
Does @ go "#"?
Would @ say "#"?
Do you hear "#" from @?
Is it @ that says "#"?
Does "#" come from @?
Can you hear @ say "#"?""",
        """Which animal says "#"?
What animal makes the sound "#"?
Who says "#"?
"#" is the sound of which animal?
Which animal goes "#"?""",
    ),
    "legs": Wording(
        """the number of legs of @
the number of legs that @ has
the number of @'s legs""",
        """How many legs belong to @?
How many legs are on @?
@ has how many legs?
@ walks on how many legs?
What is the count of @'s legs?
How many legs do you see on @?
With how many legs does @ go?
Legs of @: how many?
If you see @, how many legs does it have?
legs of @
how many legs on @""",
        """@ has # legs.
The number of legs of @ is #.
@ walks on # legs.
You can count # legs on @.""",
        """Does @ have # legs?
Has @ got # legs?
Are there # legs on @?
Is # the number of legs of @?
Do you count # legs on @?
Are # legs right for @?
Would @ have # legs?
Has @ # legs?
Does @ walk on # legs?
Does @ own # legs?
Is it true that @ has # legs?
Can you see # legs on @?""",
    ),
    "home": Wording(
        """the home of @
the house of @
the place where @ lives
the name of the home of @""",
        """Where does @ sleep?
Where does @ stay?
In which place does @ live?
@ lives where?
@ lives in what?
Where is @ at home?
Where would you look for @?
What does @ live in?
What kind of home has @?
home of @
@ at home: where?""",
        """@ lives in #.
The home of @ is #.
@ is at home in #.
You find @ in #.""",
        """Does @ live in #?
Is # the home of @?
Is @ at home in #?
Would you find @ in #?
Do you find @ in #?
Does @ sleep in #?
Is it true that @ lives in #?
Has @ its home in #?""",
        """What lives in #?
Who lives in #?
Which animal lives in #?
For whom is # a home?""",
    ),
    "opposite": Wording(
        """the opposite of @
the opposite word of @
the opposite of the word "@"
the word that is the opposite of @
the counterpart of @
the other side of @""",
        """@ is the opposite of what?
@: what is the opposite?
What word means the opposite of @?
What is not @ but the opposite?
Opposite of @?
If it is not @, then it is the opposite. Which word is that?
Which word stands against @?
Say the opposite of "@".
What do you call the opposite of @?
What would be the opposite of @?
opposite of @
The opposite word to @?""",
        """The opposite of @ is #.
The opposite of "@" is "#".
@ is the opposite of #.
@ and # are opposites.""",
        """Is # the opposite of @?
Are @ and # opposites?
Does # mean the opposite of @?
Would # be the opposite of @?
Does the word # mean the opposite of @?
Is # not the opposite of @, or is it?
Does @ have the opposite #?
Has @ the opposite #?
Is it true that @ is the opposite of #?
Do @ and # mean opposite things?""",
    ),
    "color": Wording(
        """the color of @
the colour of @
@'s color
the color that @ has
the usual color of @""",
        """What color does @ usually have?
What color is @ usually?
How is @ colored?
@ has what color?
@ has which color?
In what color do you paint @?
Which color do you see when you look at @?
Which crayon do you need for @?
What colour does @ have?
Which colour is @?
color of @
colour of @
What's the color of @ as a rule?
Tell me how @ is colored.
@ has a color. Which one?
Which color do people give to @?""",
        """The color of @ is #.
@ is #.
@ has the color #.
The usual color of @ is #.""",
        """Is # the color of @?
Is the color of @ #?
Does @ have the color #?
Would you say that @ is #?
Is it true that @ is #?
Is @ of # color?
Has @ the color #?
Should I paint @ #?
Do people say that @ is #?
Is @ usually #?""",
    ),
    "sense": Wording(
        """the part of the body that we use to @
what we use to @
what people need to @""",
        """Which part of us do we use to @?
How do people @?
What helps us to @?
What lets you @?
What is it that we @ with?
What do we @ with?
What do people @ with?
What part of the body do you @ with?
Which part of the body is there to @?
To @, what do we need?
I want to @. What do I use?""",
        """To @, we use #.
We @ with #.
People use # to @.
You need # to @.""",
        """Do we use # to @?
Do we @ with #?
Do people use # to @?
Do you @ with #?
Is it # that we @ with?
Can we @ with #?
Does one use # to @?""",
    ),
    "number": Wording(
        """the number of @
the count of @""",
        """What is the count of @?
How many are the @?
@: how many are there?
@, how many?
Of @, how many do we have?
How many @ do we count?
How many @ do you know of?
How many @ do people count?
What number of @ is there?
I want to know how many @ there are.
Say how many @ there are.
Give the number of @.
number of @
count of @
Are there many @? How many?""",
        """There are # @.
The number of @ is #.
We count # @.""",
        """Are there # @?
Is # the number of @?
Is the number of @ #?
Do we count # @?
Would # be the number of @?
Is it true that there are # @?
Should I count # @?
Are the @ # in number?""",
    ),
    "after": Wording(
        """the one after @
the next one after @
what comes after @
what follows @""",
        """What comes [directly|right|just] after @?
@, and then?
@ is followed by what?
What is the next after @?
Which one comes after @?
Which one is next after @?
First @, and what next?
What do we have after @?
When @ is over, what comes?
What is behind @ in the row?
Next after @?
What stands after @?""",
        """@ is followed by #.
# comes after @.
First comes @, then #.
The next after @ is #.""",
        """Does # come after @?
Is # next after @?
Does # follow @?
Is @ followed by #?
Would # be the next after @?
Is it # that follows @?
Do we have # after @?
Is the one after @ #?
Does @ come before #?""",
    ),
    "before": Wording(
        """the one before @
what comes before @
the last one before @""",
        """What comes [directly|right|shortly] before @?
Which one comes before @?
Which one is before @?
What stands before @?
What was there before @?
What ends when @ begins?
@ comes after what?
What goes before @?
What is the one just before @?""",
        """Before @ comes #.
# comes before @.
The one before @ is #.
# is right before @.""",
        """Does # come before @?
Is # right before @?
Is # the one before @?
Would # be the one before @?
Do we have # before @?
Is the one before @ #?
Does @ come after #?
Does @ follow #?""",
    ),
    "science": Wording(
        """@
the name of @
the word for @""",
        """What would you call @?
What do people call @?
What do you call @?
Who or what is @?
I am looking for @. What is it?
Which one is @?
What is meant by "@"?
Please name @.
Do you know @?
@ is called what?
@ is what?
[Can|Could] you say what @ is?
Which is @?
What do you know as @?
I want to know what @ is.
What thing is @?""",
        """# is @.
@ is #.
We call @ #.
@ is called #.""",
        """Is # @?
Is @ #?
Is it true that # is @?
Do we call @ #?
Would # be @?
Do people say # for @?
Is the name of @ #?""",
    ),
    "maker": Wording(
        """the maker of @
the ones who make @
the name of those who make @""",
        """By whom is @ made?
By whom are @ made?
Who are the makers of @?
@ comes from whom?
Whom do we thank for @?
Where do we get @ from?
Who produces @?
Which people or animals make @?
Who is known for making @?
Who has made @?""",
        """# make @.
# give us @.
We get @ from #.
@ come from #.""",
        """Do # make @?
Do # give us @?
Do we get @ from #?
Does @ come from #?
Would # make @?
Can # make @?
Is it # who make @?""",
    ),
    "origin": Wording(
        """the stuff that @ is made of
the material of @
what @ is made of
what @ is made from""",
        """What is inside @? I mean what it is made of.
What material is @?
From which material is @?
Which material do you need for @?
What does one make @ from?
How is @ made, from what?
@ is made of what?
@ comes from what?
What becomes @?
What do we make @ from?
What do we turn into @?
From what do people make @?
material of @
[Which stuff|What stuff|Which material|Which thing] [makes up|is in|gives us] @?
I want to make @. What do I need?
Of what is @ [made|built]?
@ consists of what?""",
        """@ is made of #.
@ is made from #.
We make @ from #.
@ comes from #.
People use # to make @.""",
        """Is @ made of #?
Is @ made from #?
Do people use # to make @?
Does @ come from #?
Would you make @ from #?
Does one need # for @?
Is # in @?
Is it # that @ is made of?
Can # become @?""",
    ),
    "language": Wording(
        """the language of @
the language in @
the language that people speak in @
@'s language
the main language of @""",
        """What language do the people of @ speak?
Which language do the people in @ use?
What language do you need in @?
What is spoken in @?
In @, what language do you hear?
What language does one speak in @?
How do people talk in @, in which language?
If you go to @, which language should you learn?
@ has which language?
What tongue do people speak in @?
language of @
main language in @
I fly to @. What language will I hear?
What is the tongue of @?""",
        """People in @ speak #.
The language of @ is #.
In @, people speak #.
In @ you hear #.""",
        """Do people in @ speak #?
Is # the language of @?
Is # spoken in @?
Do you hear # in @?
Would people in @ speak #?
Does one speak # in @?
Is the language of @ #?
Can I speak # in @?
Do they talk # in @?""",
    ),
}

# Other words for the same: word: words.
SYNONYMS = """largest: biggest, greatest, most large
smallest: tiniest, littlest
highest: tallest, greatest
fastest: quickest, swiftest
closest: nearest
opposite: opposite, antonym, contrary, reverse
author: writer, novelist
book: novel, story, work
wrote: penned, created, invented
written: penned
color: colour, shade
called: named
young: little one, offspring
baby: young, little one
sound: noise, call
home: house, dwelling
language: tongue
formula: symbol
speak: talk, use
make: produce
makes: gives
comes: is, stands
made of: made out of, produced from
made from: made out of
people: they, folks
use: take, need
city: town""".splitlines()

# @ is a noun phrase
CARRIERS = """What is @?
What is @?
What is @?
What's @?
What was @ again?
Tell me @.
Name @.
Say @.
Do you know @?
Do you happen to know @?
Can you give me @?
Could you tell me @?
Would you tell me @?
Could you name @?
I want to know @.
I need to know @.
I'd like to know @.
I would like to learn @.
I am looking for @.
I forgot @.
I can't remember @. What is it?
Please tell me @.
Please name @.
Give me @.
Give me the name of @.
@?
@?
@ is?
@ is what?
What do you say is @?
What would you say is @?
Help me with @.
Remind me of @.
[So|And|Now] what is @?
And @?
My question is about @. What is it?
Let me hear @.
[Any idea what|Guess what|Explain what] @ is?
Are you able to name @?""".splitlines()

GAPS = """___
____
_____
...
[...]
…
?
what
(gap)""".splitlines()
# @ is a statement with a gap
GAP_CARRIERS = """@
@
@
Fill the gap: @
Fill in the gap: @
Fill in: @
Complete the sentence: @
Finish this: @
Finish the sentence. @
What is missing? @
Which word is missing? @
What belongs in the gap? @
Which word fits? @
Put in the missing word: @
Go on: @""".splitlines()
# @ is a statement that may be true
CHECKS = """True or false: @
Is this true? @
Is this right? @
Is it right to say this? @
Right or wrong: @
@ Is that true?
@ Is that right?
@ Yes or no?""".splitlines()
