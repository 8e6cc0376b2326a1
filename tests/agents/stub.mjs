// A model that says what the prompt asks for, in the words of four vendors' interfaces.
//
//   node stub.mjs LEDGER        listens on a free port of the loopback, and prints it
//
// The last prompt that holds a plan decides. A plan stands between [[ and ]]: one step for each
// answer, separated by ||; a step's parts are separated by &&:
//
//   [[think: hmm && tool:bash:{"command":"ls"} || text: That was all.]]
//   [[http:400]]                an answer that is an error
//   [[wait:5000 && text: late]] time to interrupt it
//
// In the input of a tool, ADDRESS stands for the first address in what the tool before it told of an
// assistant.
//
// After the last step, and without a plan, it says a sentence. Every answer is a line of LEDGER: what
// tools had told it since the one before, its id, texts, thoughts, calls, and what it says was spent.
import http from "node:http";
import { appendFileSync } from "node:fs";

const ledger = process.argv[2];
const SPENT = { input: 80, cacheRead: 20, cacheWrite: 10, output: 25, reasoning: 5 };
let answers = 0;

// What a message says, or in it a tool, which each vendor puts elsewhere.
const textOf = (content) =>
  typeof content === "string"
    ? content
    : (Array.isArray(content) ? content : [])
        .map((part) => part.text ?? textOf(part.content ?? part.functionResponse?.response.output))
        .join("\n");

// What to say next to `messages`: `{by: "user" | "model" | "tool", text}` each.
function next(messages, told) {
  const planned = messages.findLastIndex(({ by, text }) => by === "user" && /\[\[[^]*\]\]/.test(text));
  if (planned < 0) return [{ kind: "text", text: "The frobnicator is mended." }];
  const steps = messages[planned].text.match(/\[\[([^]*)\]\]/)[1].split("||");
  const said = messages.slice(planned + 1).filter(({ by }) => by === "model").length;
  return (steps[said] ?? "text: All of it is done.").split("&&").map((step) => part(step, told));
}

function part(written, told) {
  const [, kind, rest] = written.trim().match(/^(\w+):\s*([^]*)$/) ?? [null, "text", written];
  if (kind !== "tool") return { kind, text: rest };
  const [, name, plan] = rest.match(/^([^:]+):([^]*)$/);
  const [, address] = told.match(/^(\S+:\S+) · assistant/m) ?? [];
  const input = plan.replace("ADDRESS", address);
  // OpenCode hands the prompt on as a quoted string.
  return { kind, name, input: JSON.parse(input.includes('\\"') ? input.replaceAll('\\"', '"') : input) };
}

// Anthropic's messages.
function anthropic(request, say) {
  const asTool = (message) =>
    Array.isArray(message.content) && message.content.some((part) => part.type === "tool_result");
  const messages = (request.messages ?? []).map((message) => ({
    by: message.role === "assistant" ? "model" : asTool(message) ? "tool" : "user",
    text: textOf(message.content),
  }));
  return say(messages, (id, parts) => {
    const blocks = parts.map((part, at) =>
      part.kind === "tool"
        ? { type: "tool_use", id: `toolu_${id}${at}`, name: part.name, input: part.input }
        : part.kind === "think"
          ? { type: "thinking", thinking: part.text, signature: "c2lnbmF0dXJl" }
          : { type: "text", text: part.text },
    );
    const usage = {
      input_tokens: SPENT.input,
      cache_read_input_tokens: SPENT.cacheRead,
      cache_creation_input_tokens: SPENT.cacheWrite,
      output_tokens: SPENT.output + SPENT.reasoning,
    };
    const stop_reason = blocks.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";
    const message = { id: `msg_${id}`, type: "message", role: "assistant", model: request.model };
    if (!request.stream) return { json: { ...message, content: blocks, stop_reason, usage } };
    const events = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } },
    ];
    blocks.forEach((block, index) => {
      const empty = { text: { text: "" }, thinking: { thinking: "", signature: "" }, tool_use: { input: {} } };
      const deltas = {
        text: () => [{ type: "text_delta", text: block.text }],
        thinking: () => [
          { type: "thinking_delta", thinking: block.thinking },
          { type: "signature_delta", signature: block.signature },
        ],
        tool_use: () => [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }],
      }[block.type]();
      events.push({ type: "content_block_start", index, content_block: { ...block, ...empty[block.type] } });
      events.push(...deltas.map((delta) => ({ type: "content_block_delta", index, delta })));
      events.push({ type: "content_block_stop", index });
    });
    events.push({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: usage.output_tokens } });
    events.push({ type: "message_stop" });
    return { events: events.map((event) => [event.type, event]) };
  });
}

// OpenAI's responses.
function responses(request, say) {
  const messages = (request.input ?? []).map((item) =>
    item.role
      ? { by: item.role === "assistant" ? "model" : item.role, text: textOf(item.content) }
      : { by: item.type.endsWith("call") ? "model" : "tool", text: textOf(item.output) },
  );
  return say(messages, (id, parts) => {
    const items = parts.map((part, at) => {
      if (part.kind === "think") {
        const summary = [{ type: "summary_text", text: part.text }];
        return { type: "reasoning", id: `rs_${id}${at}`, summary, encrypted_content: "Z0FBQUE=" };
      }
      if (part.kind === "tool") {
        const [name, namespace] = part.name.split("/").reverse();
        const call = { id: `fc_${id}${at}`, call_id: `call_${id}${at}`, arguments: JSON.stringify(part.input) };
        return { type: "function_call", ...call, ...(namespace ? { namespace } : {}), name };
      }
      const content = [{ type: "output_text", text: part.text }];
      return { type: "message", id: `msg_${id}${at}`, role: "assistant", content };
    });
    const usage = {
      input_tokens: SPENT.input + SPENT.cacheRead,
      input_tokens_details: { cached_tokens: SPENT.cacheRead },
      output_tokens: SPENT.output + SPENT.reasoning,
      output_tokens_details: { reasoning_tokens: SPENT.reasoning },
      total_tokens: SPENT.input + SPENT.cacheRead + SPENT.output + SPENT.reasoning,
    };
    const events = [{ type: "response.created", response: { id: `resp_${id}` } }];
    items.forEach((item, output_index) => {
      events.push({ type: "response.output_item.added", output_index, item: item.content ? { ...item, content: [] } : item });
      events.push({ type: "response.output_item.done", output_index, item });
    });
    events.push({ type: "response.completed", response: { id: `resp_${id}`, usage } });
    return { events: events.map((event) => [event.type, event]) };
  });
}

// OpenAI's chat completions.
function completions(request, say) {
  const messages = (request.messages ?? []).map((message) => ({
    by: message.role === "assistant" ? "model" : message.role,
    text: textOf(message.content),
  }));
  return say(messages, (id, parts) => {
    const usage = {
      prompt_tokens: SPENT.input + SPENT.cacheRead,
      prompt_tokens_details: { cached_tokens: SPENT.cacheRead },
      completion_tokens: SPENT.output + SPENT.reasoning,
      completion_tokens_details: { reasoning_tokens: SPENT.reasoning },
      total_tokens: SPENT.input + SPENT.cacheRead + SPENT.output + SPENT.reasoning,
    };
    const tools = parts.filter((part) => part.kind === "tool").map((part, index) => ({
      index,
      id: `call_${id}${index}`,
      type: "function",
      function: { name: part.name, arguments: JSON.stringify(part.input) },
    }));
    const finish_reason = tools.length ? "tool_calls" : "stop";
    const whole = { id: `c${id}`, created: 1, model: request.model ?? "m1" };
    const text = parts.filter((part) => part.kind === "text").map((part) => part.text).join("");
    if (!request.stream) {
      const message = { role: "assistant", content: text };
      return { json: { ...whole, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage } };
    }
    const thought = parts.filter((part) => part.kind === "think").map((part) => part.text).join("");
    const deltas = [
      ...(thought ? [{ role: "assistant", reasoning_content: thought }] : []),
      ...(text ? [{ role: "assistant", content: text }] : []),
      ...tools.map((tool) => ({ role: "assistant", tool_calls: [tool] })),
    ];
    const chunk = (delta, finish_reason, more) => [
      null,
      { ...whole, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], ...more },
    ];
    const events = [...deltas.map((delta) => chunk(delta, null)), chunk({}, finish_reason, { usage })];
    return { events, done: "[DONE]" };
  });
}

// Google's generateContent.
function google(request, say, url) {
  const messages = (request.contents ?? []).map(({ role, parts = [] }) => ({
    by: role === "model" ? "model" : parts.some((part) => part.functionResponse) ? "tool" : "user",
    text: textOf(parts),
  }));
  return say(messages, (id, said) => {
    const parts = said.map((part) =>
      part.kind === "tool"
        ? { functionCall: { name: part.name, args: part.input } }
        : { text: part.text, ...(part.kind === "think" ? { thought: true } : {}) },
    );
    const usageMetadata = {
      promptTokenCount: SPENT.input + SPENT.cacheRead,
      cachedContentTokenCount: SPENT.cacheRead,
      candidatesTokenCount: SPENT.output,
      thoughtsTokenCount: SPENT.reasoning,
      totalTokenCount: SPENT.input + SPENT.cacheRead + SPENT.output + SPENT.reasoning,
    };
    const candidates = [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }];
    const json = { candidates, usageMetadata, modelVersion: request.model ?? "stub", responseId: `r${id}` };
    return url.includes("stream") ? { events: [[null, json]] } : { json };
  });
}

const DOORS = [
  [/\/messages(\?|$)/, anthropic],
  [/\/responses(\?|$)/, responses],
  [/\/chat\/completions/, completions],
  [/[gG]enerateContent/, google],
];

const server = http.createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  const send = (status, json) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(json));
  };
  if (/count_tokens|countTokens/.test(request.url)) return send(200, { input_tokens: 10, totalTokens: 10 });
  const door = DOORS.find(([path]) => path.test(request.url))?.[1];
  if (!door) return send(404, {});
  const asked = JSON.parse(body || "{}");
  // What an agent asks without tools is not the conversation: a title, a summary.
  const is_aside = !(asked.tools ?? []).length;
  const say = async (messages, answer) => {
    const since = messages.slice(messages.findLastIndex(({ by }) => by === "model") + 1);
    const told = since.filter(({ by }) => by === "tool").map(({ text }) => text).join("\n");
    const parts = is_aside ? [{ kind: "text", text: "A short title" }] : next(messages, told);
    const wait = parts.find((part) => part.kind === "wait");
    if (wait) await new Promise((done) => setTimeout(done, Number(wait.text)));
    const status = parts.find((part) => part.kind === "http");
    if (status) return { status: Number(status.text) };
    const said = parts.filter((part) => part.kind !== "wait");
    const id = `${Date.now().toString(36)}${++answers}`;
    const of = (kind) => said.filter((part) => part.kind === kind);
    const line = {
      id,
      path: request.url,
      is_aside,
      told,
      texts: of("text").map(({ text }) => text),
      thoughts: of("think").map(({ text }) => text),
      calls: of("tool").map(({ name, input }) => ({ name, input })),
      spent: SPENT,
    };
    appendFileSync(ledger, `${JSON.stringify(line)}\n`);
    return answer(id, said);
  };
  const answer = await door(asked, say, request.url);
  if (answer.status) return send(answer.status, { error: { message: "the stub refuses", type: "stub" } });
  if (answer.json) return send(200, answer.json);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [name, event] of answer.events) {
    response.write(`${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(answer.done ? `data: ${answer.done}\n\n` : undefined);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
