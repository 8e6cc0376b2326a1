// What generated people, models and tools say.

const WORDS = `the parser fails on nested config please fix tests run again why does readFileSync return undefined
src/index.ts HTTPServer getUserById snake_case_name kebab-case v1.2.3-rc.1 0xdeadbeef 4f3a9c café naïve Ångström
straße ΣΊΣΥΦΟΣ Привет мир 日本語 の テスト 中文测试 한국어 مرحبا שלום ไทย 👩‍💻 🎉 é e\u0301 ﬁ ½ Ⅷ don't a=b "quoted" \\n
C:\\\\Users\\\\me {"json":true} <xml/> \`code\` # heading * item $HOME ~/x foo::bar a/b/c.rs error warning TODO`
  .split(/\s+/);
const ODD = ['\u2028', '\u2029', '\u0085', '\u00a0', '\ufeff', '\t', '\n', '\r\n', '\r', '\u0000', '\u001b[31m', '\ud83d', '\udc00', '\u200b', '/', '\u{1f600}'];
const TOOLS = ['bash', 'read', 'edit', 'write', 'grep', 'my_tool', 'ツール'];
const MODELS = [['anthropic', 'claude-opus-4-5'], ['openai', 'gpt-5.1-codex'], ['local', 'qwen3:8b'], ['', '']];

export function text(w, most = 20) {
  const words = [];
  for (let n = w.between(1, most); n > 0; n--) words.push(w.chance(4) ? w.pick(ODD) : w.pick(WORDS));
  return words.join(w.chance(10) ? '\n' : ' ');
}

const textBlock = (w, most) => ({ type: 'text', text: text(w, most) });
const image = (w) => ({ type: 'image', data: Buffer.from(w.hex(64)).toString('base64'), mimeType: 'image/png' });

/** The message's own time: mostly now, sometimes absent, of another type, or equal to another session's. */
function stamp(w) {
  const roll = w.int(100);
  if (roll < 80) return { timestamp: w.now };
  if (roll < 88) return {};
  if (roll < 91) return { timestamp: 1767700000000 + w.int(3) };
  if (roll < 93) return { timestamp: new Date(w.now - 5000).toISOString() };
  if (roll < 95) return { timestamp: w.now + 0.75 };
  if (roll < 97) return { timestamp: w.pick([0, -1, -1e12, null]) };
  return { timestamp: w.now - w.int(1e9) };
}

export function user(w) {
  const roll = w.int(100);
  let content;
  if (roll < 40) content = text(w);
  else if (roll < 65) content = [textBlock(w)];
  else if (roll < 78) content = [textBlock(w, 5), textBlock(w, 5), textBlock(w, 3)];
  else if (roll < 86) content = [image(w), textBlock(w)];
  else if (roll < 90) content = [image(w)];
  else if (roll < 93) content = '';
  else if (roll < 95) content = [];
  else if (roll < 97) content = [{ type: 'text', text: '' }, { type: 'text', text: '' }];
  else content = w.pick(['   ', '\n', [{ type: 'text' }], [{ type: 'text', text: 5 }, { type: 'text', text: null }], [{ type: 'other', text: 'no' }]]);
  return { role: 'user', content, ...stamp(w) };
}

export function usage(w) {
  const input = w.int(5000), output = w.int(900);
  return {
    input, output, cacheRead: w.int(100), cacheWrite: 0, totalTokens: input + output,
    cost: { input: input / 1e6, output: output / 1e5, cacheRead: 0, cacheWrite: 0, total: input / 1e6 + output / 1e5 },
  };
}

export function model(w) { return w.pick(MODELS); }

export function assistant(w) {
  const content = [];
  if (w.chance(30)) content.push({ type: 'thinking', thinking: text(w), ...(w.chance(50) ? { thinkingSignature: w.hex(40) } : {}) });
  if (w.chance(80)) content.push(textBlock(w));
  while (w.chance(35)) {
    content.push({ type: 'toolCall', id: `call_${w.hex(8)}`, name: w.pick(TOOLS), arguments: { command: text(w, 6), path: 'src/a.rs', n: w.int(9), deep: { list: [text(w, 2), null, true] } } });
  }
  if (w.chance(20)) content.push(textBlock(w, 4));
  const [provider, name] = model(w);
  const stopReason = w.pick(['stop', 'stop', 'stop', 'toolUse', 'length', 'error', 'aborted']);
  return {
    role: 'assistant', content, api: 'messages', provider, model: name, usage: usage(w), stopReason,
    ...(stopReason === 'error' ? { errorMessage: text(w, 5) } : {}), ...stamp(w),
  };
}

export function toolResult(w) {
  return {
    role: 'toolResult', toolCallId: `call_${w.hex(8)}`, toolName: w.pick(TOOLS),
    content: w.chance(10) ? [image(w)] : [textBlock(w, w.chance(3) ? 3000 : 30)],
    ...(w.chance(40) ? { details: { diff: text(w), lines: w.int(50) } } : {}), isError: w.chance(15), ...stamp(w),
  };
}

export function bash(w) {
  return {
    role: 'bashExecution', command: text(w, 4), output: w.chance(10) ? '' : text(w, 30),
    ...(w.chance(90) ? { exitCode: w.pick([0, 0, 1, 127]) } : {}), cancelled: w.chance(10), truncated: w.chance(10),
    ...(w.chance(10) ? { excludeFromContext: true } : {}), ...stamp(w),
  };
}

/** Roles that the agents write seldom, or only in some versions. */
export function rare(w) {
  const role = w.pick(['custom', 'system', 'hookMessage', 'branchSummary', 'compactionSummary', 'somethingNew', 'User', '']);
  return { role, customType: 'note', content: w.chance(50) ? text(w) : [textBlock(w)], summary: text(w, 4), display: true, ...stamp(w) };
}

export function name(w) {
  return w.pick([
    () => text(w, 4), () => text(w, 4), () => text(w, 4), () => '', () => '   ', () => '\u0085', () => '\ufeff x \ufeff',
    () => '日本語の名前 🎉', () => '\u00a0padded\u2003', () => 'two\nlines', () => 'crlf\r\n\r\nhere', () => 'e\u0301\u200b',
  ])();
}

export const blocks = (w) => (w.chance(50) ? text(w) : [textBlock(w, 6), ...(w.chance(20) ? [image(w)] : [])]);
