// OpenAI's JavaScript client: chat whole and streamed, and a response.
import assert from "node:assert";
import OpenAI from "openai";

const [baseURL, model] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "none" });
const messages = [{ role: "user", content: "What is 3 + 4?" }];
const answer = await client.chat.completions.create({ model, messages, temperature: 0 });
assert.equal(answer.choices[0].message.content, "The answer is 7.");
let text = "";
const options = { model, messages, temperature: 0, stream: true };
for await (const part of await client.chat.completions.create(options)) {
  text += part.choices[0]?.delta?.content ?? "";
}
assert.equal(text, "The answer is 7.");
const response = await client.responses.create({ model, input: "What is 3 + 4?", temperature: 0 });
assert.equal(response.output_text, "The answer is 7.");
