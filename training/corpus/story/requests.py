# ruff: noqa: E501
"""How one asks for a story."""

SYSTEMS = """You are a storyteller for children.
You are a storyteller.
You tell stories.
You are a helpful assistant.
Tell stories in simple words.
You tell stories to children.
You write short stories for children.
Answer with a story.""".splitlines()
BRIEF_SYSTEMS = """Answer with one full sentence.
Use a single sentence.
Your answer is one sentence.
Answer in one sentence.
Tell every story in one sentence.
Use only one sentence.
You tell very short stories. Answer in one sentence.""".splitlines()
ANY = """Tell me a story.
Can you tell me a story?
Tell me a bedtime story.
I want to hear a story.
Please tell me a story.
Write a short story.
Make up a story for children.
A story, please.
Tell me something.
Do you know a story?
Could you tell me a story?
I would love a story.
Write me a story.
Story time!
Please write a story for me.""".splitlines()
# What else a story has, if it was used: slot: how it is asked for.
EXTRAS = {
    "toy": "{a toy}",
    "food": "{food}",
    "treat": "{a treat}",
    "treats": "{treats}",
    "flower": "{flower}",
    "drink": "{drink}",
    "gift": "{a gift}",
    "thing": "{a thing}",
    "passer": "{a passer}",
    "helper": "{a helper}",
    "game": "a game of {game}",
    "fkind": "{a fkind}",
    "F": "{F}",
}
JOINTS = """@ and +
@ and +
@ with +
@, and with + in it
@, and + should be in it
@. There should be + in it""".splitlines()
# Two things in one request: "@" and "+".
PAIRS = """@. [And|Also] +. A [tale|fairy tale|story] with [the two|these two|them], [please|now].
[Put|Get|Bring] @ and + into [a story|one tale|your tale].
[Both @ and +|@ as well as +|@, but also +] must [come up in|be part of] the [tale|story].
@ plus +: [make|invent|tell] a [tale|story].
The [tale|story] needs @ and [it needs|also] +.
[In it|In the tale] I want [to meet|to find] @ and +.
A [tale|story] [in which|where] there is @, and +.""".splitlines()
# Whole requests that speak of the hero in words of their own.
OF_HERO = """{N} is {a kind}. [Tell|Write] [me|us|] {his} story.
{N} is {a trait kind}. [What happens to {him}? Tell it|Write about {him}].
There [is|was] {a kind} [called|named] {N}. [Go on|Tell the rest|What did {he} do? Tell me].
[Use|Take] the name {N}, and make {him} {a kind}.
{N}, who is {a kind}, [must|has to] be in [it|the tale]. [Begin|Start|Go].
[The hero|The main one] is {a kind} and [has the name|is called] {N}. [Begin|Tell it|Please write].
My [nephew|cousin|brother|neighbor|friend] [is fond of|is mad about|adores] {kinds}. [A tale|Something to read] for him, [please|maybe]?
{Kinds} are [the best|my favorite animals|so nice]. [Do you have|Have you] a tale [for me|of one]?
We saw {a kind} [today|at the zoo|in a book]. Make [a story|a tale] [of it|about one].
[I like|We like|I love] {kinds}[!|.| a lot.] [A story, please|Tell me a tale|Write a story for me].
[Speak|Talk] [to me|to us|] [of|about] {a trait kind}.
[Tell|Sing to] [us|the children|the class] of {a trait kind}.
{A trait kind}. [Tell|Write] [something|a tale] [about one|of it], please.""".splitlines()
HEROES = """{a kind}
{a kind} named {N}
{a kind} named {N}
{a trait kind}
{a trait kind} named {N}
{a trait kind} named {N}
{N}
{hero}
{a size kind}
{a size kind} named {N}
{a size kind} called {N}""".splitlines()
ASKS = """Tell me a story about @.
Tell me a story about @.
Write a short story about @.
Write a story about @.
Can you tell me a story about @?
I want to hear a story about @.
Please tell me a story about @.
Make up a story about @.
Please write a short story about @.
I would like a story about @.
Tell me a short story about @.
Tell me a bedtime story about @.
Tell us a story about @.
Tell a story about @.
Please tell a story about @.
Could you tell me a story about @?
Could you write a story about @?
Will you tell me a story about @?
Would you write a little story about @?
Do you know a story about @?
I want a story about @.
I need a story about @.
I wish for a story about @.
I'd love a story about @.
Let me hear a story about @.
Let's have a story about @.
Give me a story about @.
Give me a little story about @.
Write me a story about @.
Write a tale about @.
Tell me a tale about @.
Tell me something about @.
Tell me about @.
Tell the story of @.
What is the story of @?
A story about @.
A little story about @, please.
A tale about @, please.
My son wants a story about @.
The children want to hear about @.
Make up a tale about @.
Invent a story about @.
Think of a story about @.
Now a story about @.
Another story about @.
Please, a story with @.
Tell me a story with @.
Write a story with @.
Write a story in which there is @.
A story in which we meet @.
I want to read about @.
I like stories about @.
For my little sister: a story about @.""".splitlines()
# Requests composed of parts: "[x|y]" is a choice.
COMPOSED = """[Please|Now|] [write|tell|make up|compose|think up|dream up|create|begin] [a|one|some] [short|little|nice|funny|sweet|new|] [story|tale|fairy tale|bedtime story|adventure] [about|of|with|on|around] @[, please|].
[Write|Tell|Give|Read|Send|Bring] [me|us|the children] [a|one|another] [short|little|nice|funny|sweet|new|] [story|tale|fairy tale|bedtime story|adventure] [about|of|with|on] @[, please|].
[Can|Could|Will|Would] you [write|tell|make up|compose|think up] [me|us|] [a|one] [short|little|nice|new|] [story|tale|fairy tale|bedtime story] [about|with|on] @?
[I|We] [want|need|wish for|would like|would love|ask for|hope for] [a|one|another] [short|little|nice|] [story|tale|fairy tale|bedtime story] [about|of|with|on] @.
[I|We] [want|would like|would love|wish] to [hear|read|know] [a tale|a little story|one more story|a fairy tale|more] [about|of] @.
[A fairy tale|Bedtime story|Fairy tale|A short story|One more tale|A new story|An adventure]: @.
[A fairy tale|Bedtime story|Fairy tale|One tale|A new story|An adventure] [about|with|of] @[.|!|?|]
@. [Tell|Write|Make] a story [about that|with that|of it|].
@: [tell|write] [me|us|] a [tale|story].
[A story|A tale|A fairy tale], [please|now|quick]: @.
Tell me a [story|tale]. It [is|should be|must be] about @.
Write a [story|tale]. [There must be|There should be|I want to see] @ [in it|there].
The story [is|should be|must be] about @.
The [hero|main character] [is|should be|must be] @. Now [tell|write] the story.
@ [is|should be|must be] the [hero|main character]. Tell the story.
[Do you know|Have you got|Is there] [a tale|a fairy tale|something] [about|of|with] @?
[My sister|My son|My little brother|The baby|My friend|Grandma] [likes|loves|wants|asks for] [stories|tales|a tale|a fairy tale] [about|of|with] @.
[Something|A few sentences|A little bit|Anything] about @[, please|].
[Write|Say|Make up] something [nice|short|new] about @.
[Tale|Fairy tale|Adventure|Bedtime tale|Little tale] [with|about|of] @
Today's tale: @.
[I'd|I would] [like|love|enjoy] [to hear|to read] [a tale|a little story|the tale|one more story] [with|about|of] @ [today|now|before bed|in the evening].
[What|And what] happened to @? Tell [me|us] [the tale|about it|more|a tale].
[How about|What about|Let us have|Let me have|Time for] a [tale|little story|fairy tale] [about|of|with] @?""".splitlines()
