// A model on the loopback that speaks OpenAI's chat completions: it calls one tool, and repeats
// nothing. What it was sent is kept.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

/** Starts it, and makes it the model of a home. `call`: the tool call that answers a question. */
export async function startStub(place, call) {
  const requests = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", () => {
      const asked = JSON.parse(body);
      requests.push(asked);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const isAnswered = asked.messages.at(-1).role === "tool";
      const delta = isAnswered
        ? { role: "assistant", content: "Noted." }
        : {
            role: "assistant",
            tool_calls: [
              {
                index: 0,
                id: "call_1",
                type: "function",
                function: { name: call.name, arguments: JSON.stringify(call.arguments) },
              },
            ],
          };
      const about = { id: "stub", object: "chat.completion.chunk", created: 0, model: "stub" };
      const chunk = (choice, more = {}) =>
        response.write(`data: ${JSON.stringify({ ...about, choices: [choice], ...more })}\n\n`);
      chunk({ index: 0, delta, finish_reason: null });
      chunk(
        { index: 0, delta: {}, finish_reason: isAnswered ? "stop" : "tool_calls" },
        { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
      );
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  const models = [
    {
      id: "stub",
      name: "stub",
      reasoning: false,
      input: ["text"],
      contextWindow: 100_000,
      maxTokens: 1000,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    },
  ];
  const providers = { stub: { baseUrl, api: "openai-completions", apiKey: "made-up", models } };
  writeFileSync(join(place.home, ".pi/agent/models.json"), JSON.stringify({ providers }));
  return { requests, close: () => server.close() };
}
