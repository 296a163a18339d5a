"""How one asks for a story."""

SYSTEMS = """You are a storyteller for children.
You are a storyteller.
You tell stories.
You are a helpful assistant.
Tell stories in simple words.
You tell stories to children.
You write short stories for children.
Answer with a story.""".splitlines()
BRIEF_SYSTEMS = """Answer in one sentence.
Tell every story in one sentence.
Use only one sentence.
You tell very short stories. Answer in one sentence.""".splitlines()
ANY = """Tell me a story.
Can you tell me a story?
Tell me a bedtime story.
I want to hear a story.
Please tell me a story.
Write a short story.
Make up a story for children.""".splitlines()
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
Tell me a bedtime story about @.""".splitlines()
