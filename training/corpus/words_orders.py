# ruff: noqa: E501
"""Wordings of the system prompts that ask for a form of the answer, listed and composed of parts."""

WORDINGS = {
    "word": """Answer with one word.
Answer with one word.
Answer in one word.
Use only one word.
Answer with a single word.
One word only.
Give a one-word answer.
Say only one word.
Your answer is one word long.
Only one word, please.""",
    "sentence": """Answer in one sentence.
Answer in one sentence.
Answer with a sentence.
Answer with one full sentence.
Use a single sentence.
Use exactly one sentence.
Your answer is one sentence.
Keep your reply to one sentence.
Reply with a complete sentence.""",
    "answer": """Give only the answer.
Give only the answer.
Only the answer, please.
Answer only, no other words.
Give just the answer.
Nothing but the answer.
Say the answer and nothing more.
Reply with the answer alone.
No explanations, only the answer.""",
    "lines": """Write one item on each line.
Answer with one item on each line.
Put each item on a new line.
One item per line.
List every item on its own line.
Start a new line for every item.
Use a new line for each thing.""",
    "capitals": """Answer in capital letters.
Answer in capital letters.
Use only capital letters.
Write in capitals.
Use capital letters only.
ANSWER IN CAPITALS.
Write everything in capital letters.
Reply in uppercase letters.
All of your letters are large.""",
    "steps": """Think step by step.
Think before you answer.
Show your steps, then answer.
Solve the problem step by step.
Go step by step.
Work it out one step after the other.
Take it one step at a time.
Reason step by step.
Explain your steps.""",
    "none": """You are a helpful assistant.
You are a helpful assistant.
You are a friendly assistant.
You are a small language model.
Be kind.
Help the user.
You answer questions.""",
}

_SAY = "[Write|Answer|Reply|Respond|Speak|Talk]"
_ALWAYS = "[Please|Always|You always|You must|You should|You have to|I want you to|From now on,|]"
# Wordings composed of parts, for more than a list can hold: "[x|y]" is a choice.
COMPOSED = {
    "word": f"""{_ALWAYS} [write|answer|reply|respond|speak] [in|with|by|using] [one word|one word only|only one word|a single word|just one word|exactly one word|no more than one word]
[One|A single|Just one|Only one|Exactly one] word[, nothing else|, nothing more|, no more|, no sentence|, no list]
[One|A single|Just one|Exactly one|Not more than one] word[, please| is enough| will do|, nothing more| as an answer|]
[Say|Use|Write|Give me|Type|Choose] [one word|a single word|only one word|just one word|exactly one word] [and stop|and nothing more|and no other|per answer|for an answer|]
[The|Your|Every|Each] [answer|reply] [is|has|must be|must have|should have] [one|a single|just one] word
[Keep|Make] [it|the answer|your answer] [to one word|as short as one word|one word long]""",
    "sentence": f"""{_ALWAYS} [write|answer|reply|respond|speak] [in|with|using] [one|a single|just one|exactly one|one whole|one complete|one full|one short] sentence
[One|A single|Just one|Only one|Exactly one] [whole|full|complete|short|] sentence[, nothing else|, nothing more|, no more|, no list]
[One|A single|Just one|Exactly one] [whole|full|complete|short|] sentence[, please| is enough| will do| as an answer|]
[Say|Put|Give] [it|the answer] in [one|a single|just one] [full|whole|] sentence
[The|Every|Each] [answer|reply] [is|must be|should be] [one|a single|just one] [full|whole|complete|] sentence""",
    "answer": """[Only|Just|Nothing but|No more than] the [answer|bare answer|solution|result][, please|, no sentence|, no words around it|, without a sentence|, and no more|]
[Say|Give|Write|Tell me|State|Print|Return|Show|Send] [only|just|nothing but|no more than] the [bare answer|answer itself|answer|solution|result] [please|and stop|without a sentence|and no explanation|and nothing around it|]
[Answer|Reply|Respond] [with just|only with|with only|with nothing but|with no more than] the [answer|bare answer|answer itself|solution|result]
[No|Leave out the|Without] [explanation|explanations|extra words|sentences|talk|other words|chatter]: [only|just] the [answer|result|solution]
I [only want|just want|only need|just need|want nothing but] the [answer|result|solution]
[Be|Keep it] [brief|short]: [only|just] the answer
[Only|Just|Nothing but] the [answer|result|solution|number or word|bare answer|word or number that answers], [nothing|no word|not a word] [more|around it|besides|beside it|but that|before or after it|extra]
[Only|Just] the [result|solution|bare answer|answer itself|word or number asked for], [nothing else|and nothing else|no more than that|that is all]
The [answer|result|solution], [nothing else|nothing more|and nothing but that|no sentence|only that]
[Answer|Reply|Respond], but [say nothing else|nothing more|with nothing around it|without a sentence]
[A number|The number|A name or a number|A word or a number] is enough, [nothing else|no sentence|nothing more]
Nothing else than the [answer|result|solution]
[Do not|Don't] [explain|talk|write a sentence|say more], [only|just] [answer|give the answer]""",
    "lines": f"""{_ALWAYS} [write|put|list|give] [each|every|one] [thing|item|word|entry|name] [on|in] [a line|a new line|a separate line|one line|its line|a line of its own]
[Each|Every|One] [thing|item|word|entry|name] [on|in|has|gets|goes on|belongs on] [a line|a new line|a separate line|one line|a line of its own]
[Use|Write|Take|Begin] [a|one|a new|a separate] line [for|with] [each|every] [item|thing|word|entry|name]
[Line by line|One by one, each on a new line|No commas, but a new line for each|A line break after each item]
[The|Your] list has [one item|one thing|one word|one entry] [a|per|in each|on every] line""",
    "capitals": f"""{_SAY} [only|] [in|with|using] [CAPITALS|ALL CAPS|capitals|capital letters|upper case|upper-case letters|uppercase|uppercase letters|big letters|large letters|block letters|block capitals|all caps|caps]
{_ALWAYS} [write|answer|reply|respond|speak|shout] [only|] [in|with|using] [capitals|capital letters|upper case|upper-case letters|uppercase|uppercase letters|big letters|large letters|block letters|all caps|caps]
[Put|Say|Print|Type|Give] [all|it all|all words|every word|your answer|your answers|your whole reply|each letter|the answer] in [capitals|capital letters|upper case|uppercase|uppercase letters|big letters|large letters|block letters|all caps|caps]
[Your|The|Every|Each] [answer|reply|response|word|text] [is|must be|should be|comes|has to be] [written|] in [capitals|capital letters|upper case|uppercase|uppercase letters|big letters|large letters|block letters|all caps|caps]
[Only|Just|Nothing but] [capitals|capital letters|uppercase letters|big letters|large letters|caps][, please| allowed| in your answer|, no small letters|]
[No|Never use|Do not use|Don't write|Avoid] [small|lowercase|lower-case|little] letters
[CAPS LOCK|Caps lock] [is on|on]
[Make|Keep] [all letters|every letter|each word|your words] [large|big|capital|uppercase]
[Capitals|Capital letters|Uppercase|All caps|Big letters] [only|please|everywhere|for all words]
I [only read|want|need|can only read] [capitals|capital letters|uppercase letters|big letters]""",
    "steps": f"""{_ALWAYS} [think|reason|work|solve it|explain|calculate|go] [step by step|in steps|in small steps|one step after another|slowly, in steps|step for step]
[Show|Write|Give|Write down|Explain] [each|every|all the|your|the] [step|steps|single step|small steps] [first|before the answer|on the way|]
[First|At first] [think|reason|work it out], then [answer|give the answer|say the result]
[Let us|Let's] [think|work|go] [step by step|in steps|slowly]""",
    "none": """You are [a|an honest|a kind|a patient|a clever|a polite|a calm] [assistant|helper|teacher|friend|model|companion]
[Be|Stay|Always be] [polite|friendly|nice|helpful|honest|calm]
[Help|Answer|Assist|Serve] [the user|people|everyone|me|children]
You [help|like to help|talk with|teach] [people|children|pupils|everyone]""",
}
