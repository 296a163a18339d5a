# ruff: noqa: E501
"""How stories begin and end, whatever happens in between."""

ONCE = """Once upon a time, there was {a size kind} named {N} who lived {home}.
Once upon a time, {a size kind} named {N} lived {home}.
Once upon a time, there lived {a size kind} called {N}.
Once upon a time, {home}, there lived {a kind} named {N}.
Once upon a time, there was {a trait kind} named {N}.
Once upon a time, {a trait size kind} named {N} lived {home}.
Once upon a time, there was {a size kind} whose name was {N}.
Once upon a time, {home}, lived {a trait kind} called {N}.
Once upon a time, there was {a trait size kind} named {N} who lived {home}.
Once upon a time, {hero} lived with {his} {elder} {home}.""".splitlines()

# The part of the day that the story goes on with: the opening.
ONE_DAY = """That morning: One day, {a size kind} named {N} woke up very early.
That morning: One day, {a trait kind} named {N} [jumped|hopped|climbed] out of bed with a smile.
That morning: One day, {a size kind} called {N} [ate|finished] a big breakfast of {food}.
That afternoon: One day, {a trait kind} named {N} had lunch with {his} {elder}.
That afternoon: One day, {a size kind} named {N} was resting after lunch.
That day: One day, the sun was shining, and {a size kind} named {N} was [happy|in a good mood].
That day: One day, {a trait size kind} named {N} had nothing to do.
That day: One day, {a size kind} named {N} could not sit still.
That day: One day, {home}, {a trait kind} named {N} looked up at the sky.
A little later: One day, {a size kind} named {N} was [humming|singing] a song in the kitchen.
A little later: One day, {a trait kind} named {N} was [sitting|resting] on the front step.
A little later: One day, {a size kind} called {N} was helping {his} {elder} with the dishes.""".splitlines()

OTHER = """There once was {a size kind} named {N} who lived {home}.
Long ago, {a size kind} named {N} lived {home}.
{N} was {a size kind} who lived {home}.
A long time ago, there was {a trait kind} called {N}.
Not far from here, {home}, lived {a size kind} named {N}.
This is the story of {N}, {a trait size kind} who lived {home}.
{N} was {a trait size kind}.
In a time of kings and queens, {a size kind} named {N} lived {home}.
Have you heard of {N}? {N} was {a trait kind} who lived {home}.
{Home}, there lived {a trait kind} named {N}.
Everyone {home} knew {N}, the {trait} {kind}.
Let me tell you about {N}, {a trait size kind}.
{hero} lived with {his} {elder} {home}.
Many years ago, {home}, there was {a size kind} named {N}.
When the world was younger, {a trait kind} named {N} lived {home}.
There was {a size kind} whose name was {N}, and {he} lived {home}.
In a land far away, there lived {a trait kind} named {N}.""".splitlines()

HABITS = """{N} was very {trait} and {habit}.
{N} was {trait} and {habit}.
{He} was {a trait kind} who {habit}.
{N} {habit}, because {he} was so {trait}.
All the neighbors said that {N} was {trait}, because {he} {habit}.""".splitlines()
HABITS_ONLY = """Everyone knew that {N} {habit}.
{N} {habit}.
{He} {habit}, and everyone knew it.
As everyone could see, {N} {habit}.""".splitlines()

ENDINGS = """And they all lived happily ever after.
That night, {N} fell asleep with a smile.
It was the best day of {his} life.
{N} was so happy that {he} sang all evening.
And from that day on, {N} was the happiest {kind} {around}.
And from that day on, {N} smiled every time {he} thought of it.
And if you walk by on a quiet evening, you can still hear {N} laugh.
When the stars came out, {N} was still smiling.
{N} told the story again and again, and everyone liked to hear it.
And from that day on, {N} was never sad for long.
And so the day ended well for everyone.
{N} and {his} {elder} laughed about it for many years.
That evening, {N} was tired and happy.
And {N} never forgot that day.
And from then on, every day began with a smile.""".splitlines()
CLOSINGS = ["The end.", "And that is the end of the story.", "And that was that."]
