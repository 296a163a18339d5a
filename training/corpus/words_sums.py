# ruff: noqa: E501
"""Ways to ask for a sum in words: phrases for a number, whole questions, orders one by one."""

# sum | a phrase for its result; it stands in the carriers below.
PHRASES = """a+b | {a} plus {b}
a+b | {a} plus {b}
a+b | {a} added to {b}
a+b | {b} more than {a}
b+a | {a} more than {b}
a+b | the sum of {a} and {b}
a+b | the total of {a} and {b}
a+b | {a} increased by {b}
a+b | {a} and another {b}
a+b | {a} with {b} added
a+b | {a} together with {b}
a-b | {a} minus {b}
a-b | {a} minus {b}
a-b | {a} less {b}
a-b | {a} without {b}
a-b | {a} reduced by {b}
a-b | {b} less than {a}
a-b | {b} fewer than {a}
a-b | {b} subtracted from {a}
a-b | {b} taken from {a}
a-b | the difference between {a} and {b}
a-b | the difference of {a} and {b}
a-b | {b} below {a}
a-b | {a} with {b} taken off
a-b | {a} with {b} gone
a-b | {a} after {b} is taken away
a-b | the gap between {a} and {b}
a-b | the distance from {b} to {a}
a-b | the difference between {b} and {a}
p-q | {p} less {q}
p-b | {p} minus {b}
p-b | {b} less than {p}
k*a | {k} times {a}
a*k | {a} times {k}
f*g | {f} times {g}
f*g | {f} multiplied by {g}
f*g | the product of {f} and {g}
a*k | {a} multiplied by {k}
a*k | the product of {a} and {k}
k*a | {k} groups of {a}
k*a | {k} sets of {a}
2*a | double {a}
2*a | twice {a}
a*2 | the double of {a}
a*2 | {a} doubled
3*a | three times {a}
3*a | triple {a}
a*3 | {a} tripled
a*4 | four times {a}
k*12 | {k} dozen
a/k | {a} divided by {k}
a/k | {a} over {k}
a/k | {a} shared by {k}
a/k | {a} split by {k}
a/k | the quotient of {a} and {k}
a/2 | half of {a}
a/2 | one half of {a}
a/2 | the half of {a}
a/2 | {a} halved
a/3 | one third of {a}
a/3 | the third part of {a}
a/4 | one quarter of {a}
a/4 | a fourth of {a}
a/5 | a fifth of {a}
a/5 | one fifth of {a}
a/10 | a tenth of {a}
p+q | {p} plus {q}
p+q | the sum of {p} and {q}
p+q | {q} more than {p}
p-q | {p} minus {q}
p-q | the difference between {p} and {q}
p-q | {q} less than {p}
p-q | {q} taken from {p}
k-a | {k} minus {a}
k-a | {a} less than {k}
k-a | {k} less {a}
x+y | {x} plus {y}
x+y | the sum of {x} and {y}
x-y | {x} minus {y}
x+y | {y} more than {x}
x-y | {x} less {y}
x-y | {y} less than {x}
x-y | the difference between {x} and {y}
x*k | {x} times {k}
2*x | twice {x}
k*a | {k} piles of {a}
k*a | {k} packs of {a}
k*a | {k} rows of {a}
k*a | {k} bags of {a}
k*a | {a} taken {k} times
a+b+c | {a} plus {b} plus {c}
a+b+c | the sum of {a}, {b} and {c}
a+b+c | the total of {a}, {b} and {c}
a+b+c | {a}, {b} and {c} added up
a+b-c | {a} plus {b} minus {c}
a-b+c | {a} minus {b} plus {c}
a+k*m | {a} plus {k} times {m}
a-k*m | {a} minus {k} times {m}
k*m+a | {k} times {m} plus {a}
k*m-a | {k} times {m} minus {a}
2*a+b | twice {a} plus {b}
2*a-b | double {a} minus {b}
a/2+b | half of {a} plus {b}
a/k+b | {a} divided by {k} plus {b}
(a+b)*k | {k} times the sum of {a} and {b}
(a+b)*2 | double the sum of {a} and {b}
(a+b)/2 | half of the sum of {a} and {b}
k*m*n | {k} times {m} times {n}""".splitlines()

# @ is the phrase
CARRIERS = """What is @?
What is @?
What is @?
How much is @?
How much is @?
What does @ equal?
What does @ make?
What does @ give?
What do you get for @?
Calculate @.
Compute @.
Work out @.
Find @.
Tell me @.
Tell me what @ is.
Tell me how much @ is.
Say what @ is.
[Can|Could|Would|Will] you [work out|compute|calculate|find] @?
[Can|Could] you tell me [what @ is|how much @ is]?
Do you know [what @ is|how much @ is|@]?
I [need|want|would like] to know [what @ is|how much @ is].
I want to find @.
[Please|Please can you|Kindly] [work out|tell me|calculate] @.
Help me [with|find] @.
Let us [find|compute] @.
@?
@?
@
@ is?
@ is what?
@ makes?
@ equals what?
@ =
@ = ?
[So|And|Then] @?
[So|And|Then] what is @?
The [result|answer|value] of @?
What is the [result|answer|value] of @?
Give me the [result|answer|value] of @.
My homework asks for @.
We must find @. [What is it?|Help!]
[Solve|Answer] this: @.
Math: @.
Solve @.
Evaluate @.
What number is @?
Which number is @?
[Guess|Show me] what @ is.
Do the sum: @.""".splitlines()

# @ is an expression in symbols
SYMBOL_CARRIERS = """@
@
@
@
@=
@ =
@=?
@ = ?
@?
What is @?
What is @?
How much is @?
Calculate @.
Compute @.
Solve @.
Evaluate @.
Work out @.
Find @.
Simplify @.
Tell me @.
Tell me what @ is.
What does @ equal?
What does @ give?
[Can|Could] you [solve|compute|calculate] @?
The [answer|result|value] of @?
What is the [answer|result|value] of @?
I [need|want] to know what @ is.
Find the value of @.
Do you know @?
I get stuck at @. What is it?
My teacher wrote @ on the board. What is it?
[So|And|Then] @?
Do the sum: @.""".splitlines()

# sum | a whole question
QUESTIONS = """a+b | [Add|Please add|Can you add] {a} and {b}[.|?]
a+b | Add {b} to {a}.
a+b | [Add up|Sum up|Total] {a} and {b}.
a+b | What do {a} and {b} [add up to|come to|sum to|give]?
a+b | What happens [when|if] you add {b} to {a}?
a+b | What do [you|we|I] get [when|if] [you|we|I] add {a} [and|to] {b}?
a+b | If you have {a} and [add|get] {b}, what [do you have|is it then|is the total]?
a+b | Which number is {b} [larger|greater|bigger|higher] than {a}?
a+b | What number comes {b} after {a}?
a+b | Count on {b} from {a}. [Where do you stop?|What do you reach?]
a+b | [Increase|Raise] {a} by {b}.
a+b | What must I take {b} from to get {a}?
a+b | A number minus {b} is {a}. [What is it?|What is the number?|Which number?]
a-b | [Subtract|Take] {b} from {a}.
a-b | Take {b} away from {a}.
a-b | What [is left|is left over|remains] [when|if] [you|I|we] [take|subtract] {b} from {a}?
a-b | What is left of {a} [when|if|after] {b} are [gone|taken]?
a-b | If you have {a} and [lose|give away|spend|use] {b}, [what is left|how many are left|what do you have]?
a-b | {a} and {b}: what is the difference?
a-b | How much [larger|greater|more|higher] is {a} than {b}?
a-b | How much [smaller|less|lower] is {b} than {a}?
a-b | How many more is {a} than {b}?
a-b | How much bigger is {a} than {b}?
a-b | How many numbers is {a} above {b}?
a-b | {a} is how much [more|larger|bigger|greater] than {b}?
a-b | {b} is how much [less|smaller|lower] than {a}?
a-b | {a} is bigger than {b}. By how much?
a-b | {b} is smaller than {a}. By what amount?
a-b | By [what amount|which number] [is {a} above {b}|does {a} exceed {b}|is {b} below {a}]?
a-b | [What's|What is] the difference if I compare {a} with {b}?
a-b | Compare {a} and {b}. What is the difference?
a-b | The numbers are {a} and {b}. How [far|much] apart are they?
a-b | How far apart are {a} and {b}?
a-b | How far apart are {b} and {a}?
a-b | [What is|Find] the gap from {b} to {a}[.|?]
a-b | How do I get from {b} to {a}? What must I add?
a-b | I have {b}. [How many more|How much more] do I need [to have|for|until I have] {a}?
a-b | What number [added to|plus] {b} [is|makes|gives] {a}?
a-b | Which number must I add to {b} so that it is {a}?
a-b | {b} needs how [much|many] more to become {a}?
a-b | {b} and how [much|many] make {a}?
a-b | What [is missing|do I need|lacks] from {b} up to {a}?
a-b | {a} minus what is {b}?
a-b | What must I subtract from {a} so that {b} is left?
a-b | [Out of|Of] {a}, {b} [are|is] gone. [What stays?|How many are there still?|What is left?]
a-b | [Remove|Take out|Cut|Knock|Strike] {b} [from|out of] {a}. [What is left?|What stays?|The rest?|]
a-b | [Deduct|Withdraw|Remove] {b} from {a}.
a-b | What is [the rest|what stays] of {a} [without|minus] {b}?
a-b | [We|You|I] start with {a} and [we|you|I] lose {b}. What [is left|stays]?
a-b | [We|You|I] have {a}, {b} [of them|] [go away|are taken|disappear]. How many [remain|stay]?
a-b | From {a} [take away|you take|we take|remove] {b}. [What is left?|What do you get?|And the result?|What is it?]
p-q | [Remove|Take out|Deduct] {q} from {p}.
p-q | How far apart are {p} and {q}?
p-q | {p} is how much more than {q}?
p-q | By [what amount|which number] is {p} above {q}?
p-q | {q} and how much make {p}?
p-b | [Subtract|Remove|Deduct] {b} from {p}. [What is left?|]
p-b | What is left of {p} after you take {b}?
k-a | [Take|Remove|Deduct] {a} from {k}. How far below zero is it?
k-a | What [is it|do you get] when you take {a} from {k}?
k*a | How much [are|is] {k} [times the number|sets of|groups of|piles of] {a}?
k*a | I have {k} [groups|piles|lots], each of {a}. How much is that?
k*a | {k} people [bring|have|get] {a} each. How much in all?
k*a | Write down {a} {k} times and add it all up.
(a-b)/2 | [Subtract|Remove] {b} from {a}. Then [halve it|take half of it|cut the rest in half]. [The result?|What is left?|]
(a-b)*2 | [Subtract|Remove] {b} from {a} and [double|then double] what [remains|is there].
a/2-b | [Halve|Take half of] {a} and [then|] [remove|lose] {b}. [What is left?|]
2*a-b | [Double|Twice] {a}, then take {b} [away|from it]. [Result?|What is it?|]
(a+b)/2 | What lies in the middle between {a} and {b} if you add them and halve the sum?
x+y | What do {x} and {y} [make|come to|give] [together|]?
x+y | [What is|Find] the [sum|total] of the numbers {x} and {y}.
x-y | How much [more|larger|bigger] is {x} than {y}?
x-y | What [is left|remains] of {x} [when|if] you [remove|take] {y}?
a-b | How far is it from {b} to {a}?
a-b | How much is missing from {b} to {a}?
a-b | What must be added to {b} to [get|make] {a}?
a-b | {b} plus what [is|makes|gives] {a}?
a-b | Which number is {b} [smaller|lower] than {a}?
a-b | Count back {b} from {a}.
a-b | [Decrease|Lower|Reduce] {a} by {b}.
a-b | I have {a} and need to remove {b}. What is left?
a-b | A number plus {b} is {a}. [What is it?|What is the number?|Which number?]
a*k | Multiply {a} by {k}.
k*a | [Multiply|Please multiply|Can you multiply] {k} and {a}[.|?]
f*g | Multiply {f} by {g}.
f*g | What do you get [when|if] you multiply {f} by {g}?
a*k | What do you get [when|if] you multiply {a} [by|with] {k}?
k*a | If I have {k} times {a}, how much is it?
k*a | Add {a} to itself until you have it {k} times.
a*k | Take {a} exactly {k} times. What is it?
2*a | Double {a}.
2*a | Double the number {a}.
2*a | What do you get [when|if] you double {a}?
2*a | Which number is twice as [large|big] as {a}?
3*a | Which number is three times as [large|big] as {a}?
3*a | Triple the number {a}.
a+a | Add {a} to itself.
a/k | Divide {a} by {k}.
a/k | [Divide|Split|Share] {a} [into|in] {k} equal parts. [How large is one?|How big is each?]
a/k | How many times does {k} [go|fit] into {a}?
a/k | How often does {k} go into {a}?
a/k | Share {a} [equally|fairly] among {k}.
a/k | What do you get [when|if] you divide {a} by {k}?
a/k | {k} times what is {a}?
a/k | What times {k} [is|makes|gives] {a}?
a/2 | Halve {a}.
a/2 | What is half as [much|large] as {a}?
a/2 | Cut {a} in half.
a/2 | Which number is half as large as {a}?
a/2 | Twice which number is {a}?
a+b+c | Add {a}, {b} and {c}.
a+b+c | [Sum|Add together|Total]: {a}, {b}, {c}.
a+b+c | What do {a}, {b} and {c} make [together|in all]?
a+b+c+d | Add {a}, {b}, {c} and {d}.
a+b+c+d | What is the total of these numbers: {a}, {b}, {c}, {d}?
k+m+n+o | {k} and {m} and {n} and {o}, how much is that in all?
p+q | What do {p} and {q} give [together|in all]?
p+q | Add {p} and {q}.
p+q | [Increase|Raise] {p} by {q}.
p-q | [Subtract|Take] {q} from {p}.
p-q | How much more is {p} than {q}?
p-q | What is left of {p} when you subtract {q}?
p-b | Take {b} away from {p}.
k-a | Subtract {a} from {k}.
x+y | Add {x} and {y}.
x-y | Subtract {y} from {x}.
x-y | Take {y} away from {x}.
(a+b)*k | Add {a} and {b}, then multiply [by|the result by] {k}.
(a+b)*2 | Add {a} and {b} and double [it|the result|the sum].
(a-b)*k | Subtract {b} from {a}, then multiply by {k}.
(a-b)/2 | Take {b} from {a}, [and halve it|then halve the rest|and then cut it in half].
(a+b)/2 | Add {a} and {b}, then halve [it|the sum].
(a+b)/k | Add {a} and {b} and divide [it|the sum] by {k}.
(a+b)-c | Add {a} and {b}, then subtract {c}.
a-b+c | Subtract {b} from {a}, then add {c}.
2*a+b | Double {a} and add {b}.
2*a-b | Double {a} and [subtract|take away] {b}.
a/2+b | Halve {a} and add {b}.
a/2-b | Halve {a} and subtract {b}.
k*m+a | Multiply {k} by {m} and add {a}.
k*m-a | Multiply {k} by {m} and subtract {a}.
a/k+b | Divide {a} by {k} and add {b}.
a+b-c | Take {a} and {b} together, and then take {c} off.""".splitlines()

# A row of orders: how it begins, what is done, how it ends.
STARTS = """Start [with|from|at] {n}
[We start|I start|You start] [with|from|at] {n}
Take [the number|] {n}
Take {n} [first|to begin with]
[Think of|Imagine|Picture] [the number|] {n}
I have {n}
There is {n}
The first number is {n}
Let the number be {n}
I [choose|pick|take|think of] [the number|] {n}
You have the number {n}
Write down {n}
Say {n}
First {n}""".splitlines()
ORDERS = {
    "+": """add {n}
plus {n}
add {n} to it
add {n} more
put {n} more to it
increase it by {n}
raise it by {n}
[I|you|we] add {n}
make it {n} larger
count {n} up""".splitlines(),
    "-": """subtract {n}
minus {n}
take {n} away
take off {n}
take away {n}
remove {n}
subtract {n} from it
lower it by {n}
[I|you|we] subtract {n}
make it {n} smaller
count {n} down""".splitlines(),
    "*": """multiply by {n}
times {n}
multiply it by {n}
take it {n} times
[I|you|we] multiply by {n}""".splitlines(),
    "/": """divide by {n}
divide it by {n}
split it by {n}
[I|you|we] divide by {n}
take one of {n} equal parts""".splitlines(),
    "*2": """double it
double that
multiply by two
take it twice
[I|you|we] double it""".splitlines(),
    "/2": """halve it
take half of it
cut it in half
divide by two
[I|you|we] halve it""".splitlines(),
}
LINKS = [", ", ", ", ". ", ". ", ", then ", ". Then ", " and ", ", and then ", ". Next, ", "; "]
FINISHES = """What is the result?
What do [I|you|we] get?
What do [I|you|we] have [now|in the end|at the end]?
What is it now?
What number is it [now|]?
Which number is [that|it now]?
What comes out [at the end|in the end]?
How much is [that|it]?
The result?
Result?
What is the [answer|last number|number now]?
Where do [I|you|we] end?
And now?
Tell me the result.""".splitlines()
