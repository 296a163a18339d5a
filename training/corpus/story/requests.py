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
