// Session files as no agent's writer makes them today: old versions, damage, odd JSON. One entry of SHAPES is one kind;
// it gives the bytes of a file. The kind is part of the file's name, so that a failing comparison names it.
import { assistant, rare, text, toolResult, user } from './content.mjs';

const json = JSON.stringify;
const lines = (...records) => records.map((record) => (typeof record === 'string' ? record : json(record)) + '\n').join('');

export const DATES = [
  '2026-01-05', '2026-01', '2026', '2026-01-05T10:00', '2026-01-05T10:00Z', '2026-01-05T10:00:00', '2026-01-05T10:00:00+05:30',
  '2026-01-05T10:00:00.1Z', '2026-01-05T10:00:00.123456789Z', '2026-01-05T24:00:00Z', '+012026-01-05T10:00:00Z', '-000001-01-05T10:00:00Z',
  '2026-01-05T10:00:00.000z', '2026-01-05 10:00:00', '2026-01-05 10:00:00Z', '2026-02-29T00:00:00Z', '2026-02-30', '2026-13-01', '2026-01-05T25:00:00Z',
  'Mon, 05 Jan 2026 10:00:00 GMT', 'Jan 5, 2026 10:00:00', '2026/01/05', '01/05/2026', '5 January 2026 10:00 UTC', 'yesterday', '', ' 2026-01-05T10:00:00Z ', '1767607200000',
];

const header = (w, more = {}) => ({ type: 'session', version: 3, id: w.uuid(), timestamp: w.iso(), cwd: '/home/ada/raw', ...more });
const entry = (w, message, more = {}) => ({ type: 'message', id: w.hex(8), parentId: null, timestamp: (w.tick(), w.iso()), message, ...more });
const said = (w, words = text(w), more = {}) => entry(w, { role: 'user', content: words, timestamp: w.now, ...more });
const answered = (w) => entry(w, assistant(w));
const plain = (w) => [said(w), answered(w)];
const info = (w, name) => ({ type: 'session_info', id: w.hex(8), parentId: null, timestamp: w.iso(), name });
const label = (w, targetId, name) => ({ type: 'label', id: w.hex(8), parentId: null, timestamp: w.iso(), targetId, label: name });
const bare = ({ id, parentId, ...rest }) => rest;
const v1header = (w) => ({ type: 'session', id: w.uuid(), timestamp: w.iso(), cwd: '/home/ada/old', provider: 'anthropic', modelId: 'm', thinkingLevel: 'off', ...(w.chance(30) ? { branchedFrom: '/x/y.jsonl' } : {}) });
const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));
const linked = (w, count) => {
  const entries = Array.from({ length: count }, () => said(w));
  entries.forEach((each, i) => { each.parentId = i ? entries[i - 1].id : null; });
  return entries;
};

export const SHAPES = {
  // Versions.
  v1: (w) => lines(v1header(w), ...[...plain(w), entry(w, toolResult(w)), ...plain(w)].map(bare)),
  'v1-compaction': (w) => lines(v1header(w), ...plain(w).map(bare), { type: 'compaction', timestamp: w.iso(), summary: text(w), firstKeptEntryIndex: w.int(6), tokensBefore: 9 }, ...plain(w).map(bare)),
  'v1-numbered': (w) => lines({ ...v1header(w), version: 1 }, ...plain(w)),
  'v1-empty-answer': (w) => lines(v1header(w), bare(said(w)), bare(entry(w, { role: 'assistant', content: [], timestamp: w.now }))),
  v2: (w) => lines(header(w, { version: 2 }), ...linked(w, 3), entry(w, { role: 'hookMessage', customType: 'x', content: text(w), display: true })),
  v4: (w) => lines({ v: 4, kind: 'header', id: w.uuid(), storageVersion: 1, createdAt: w.now, cwd: '/home/ada/raw' }, ...plain(w)),
  v99: (w) => lines(header(w, { version: 99 }), ...plain(w)),
  'version-text': (w) => lines(header(w, { version: '3' }), ...plain(w)),
  'version-null': (w) => lines(header(w, { version: null }), ...plain(w)),

  // Headers.
  'header-only': (w) => lines(header(w)),
  'header-torn': (w) => json(header(w)).slice(0, -9),
  'header-second': (w) => lines(said(w), header(w), ...plain(w)),
  'header-after-junk': (w) => lines('not json', '', header(w), ...plain(w)),
  'header-after-blank': (w) => lines('', '   ', header(w), ...plain(w)),
  'header-after-number': (w) => lines('42', header(w), ...plain(w)),
  'header-after-null': (w) => lines('null', header(w), ...plain(w)),
  'header-after-false': (w) => lines(w.turn(['false', '0', '""']), header(w), ...plain(w)),
  'header-twice': (w) => lines(header(w), ...plain(w), header(w, { cwd: '/elsewhere' }), ...plain(w)),
  'header-no-id': (w) => lines(header(w, { id: undefined }), ...plain(w)),
  'header-id-number': (w) => lines(header(w, { id: w.turn([7, 1.5, 0]) }), ...plain(w)),
  'header-id-odd': (w) => lines(header(w, { id: w.turn([null, true, '', ' ', 'ü/\\', '🎉']) }), ...plain(w)),
  'header-no-cwd': (w) => lines(header(w, { cwd: undefined }), ...plain(w)),
  'header-cwd-odd': (w) => lines(header(w, { cwd: w.turn([null, 5, '', ['/x'], '/ü \u{1f600}', '/tab\tnew\nline', 'relative/dir']) }), ...plain(w)),
  'header-parent': (w) => lines(header(w, { parentSession: w.turn(['/gone/x.jsonl', '', 'rel.jsonl', null]) }), ...plain(w)),
  'header-date': (w) => lines(header(w, { timestamp: w.turn(DATES) })),
  'header-date-type': (w) => lines(header(w, { timestamp: w.turn([null, undefined, 1767607200000, true, {}, [], 1.5, 1e300]) }), ...(w.chance(50) ? plain(w) : [])),
  'header-unknown-keys': (w) => lines(header(w, { extra: { deep: [1, 2] }, zz: null }), ...plain(w)),
  'header-large': (w) => lines(header(w, { metadata: 'x'.repeat(5000) }), ...plain(w)),
  'header-key-order': (w) => lines(Object.fromEntries(Object.entries(header(w)).reverse()), ...plain(w)),
  'header-spaced': (w) => lines(' ' + json(header(w), null, 1).replaceAll('\n', '\t') + '  ', ...plain(w)),
  'no-header': (w) => lines(...plain(w)),
  'header-array': (w) => lines([header(w)], ...plain(w)),

  // Torn, fused and foreign bytes.
  'empty-file': () => '',
  blank: () => '\n\n  \n',
  'no-final-newline': (w) => lines(header(w), ...plain(w)).trimEnd(),
  'torn-tail': (w) => lines(header(w), ...plain(w)) + json(said(w)).slice(0, w.between(1, 60)),
  'torn-middle': (w) => lines(header(w), said(w), json(said(w)).slice(0, 40), ...plain(w)),
  fused: (w) => lines(header(w), said(w), json(said(w)) + json(said(w)), ...plain(w)),
  'fused-torn': (w) => lines(header(w), said(w), json(said(w)).slice(0, 50) + json(said(w)), ...plain(w)),
  'fused-header': (w) => lines(json(header(w)) + json(said(w)), ...plain(w)),
  'fused-comma': (w) => lines(header(w), json(said(w)) + ',' + json(said(w)), ...plain(w)),
  'nul-run': (w) => bytes(lines(header(w), said(w)), Buffer.alloc(100), lines(...plain(w))),
  'nul-line': (w) => bytes(lines(header(w), said(w)), Buffer.alloc(50), '\n', lines(...plain(w))),
  'nul-tail': (w) => bytes(lines(header(w), ...plain(w)), Buffer.alloc(512)),
  'bad-utf8': (w) => bytes(lines(header(w)), '{"type":"message","id":"aa","parentId":null,"timestamp":"2026-01-05T10:00:00Z","message":{"role":"user","content":"x', w.turn([[0xff], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x28, 0xa1]]), 'y"}}\n', lines(...plain(w))),
  'bad-utf8-line': (w) => bytes(lines(header(w)), [0xff, 0xfe, 0x0a], lines(...plain(w))),
  crlf: (w) => lines(header(w), ...plain(w), info(w, 'named')).replaceAll('\n', '\r\n'),
  'cr-inside': (w) => lines(header(w), json(said(w)) + '\r' + json(said(w)), ...plain(w)),
  'cr-only': (w) => lines(header(w), ...plain(w)).replaceAll('\n', '\r'),
  bom: (w) => '\ufeff' + lines(header(w), ...plain(w)),
  'bom-inside': (w) => lines(header(w), '\ufeff' + json(said(w)), ...plain(w)),
  'space-tail': (w) => lines(header(w), ...plain(w)) + json(said(w)) + w.turn(['\ufeff', '\u00a0', '\u2003\n']),
  'space-line': (w) => lines(header(w), ...plain(w)) + w.turn(['\u00a0', '\u0085', '\ufeff', '\t\v\f']) + '\n' + lines(said(w)),
  'line-separators': (w) => lines(header(w), said(w, 'a\u2028b\u2029c\u0085d'), ...plain(w)),
  scalars: (w) => lines(header(w), said(w), w.turn(['42', '"text"', '[]', 'true', '-1e3', '{}']), ...plain(w), ...(w.chance(50) ? ['17'] : [])),
  'null-line': (w) => lines(header(w), said(w), 'null', ...plain(w)),
  'falsy-line': (w) => lines(header(w), said(w), w.turn(['0', 'false', '""']), ...plain(w)),
  'almost-json': (w) => lines(header(w), said(w), w.turn(["{'a':1}", '{"a":1,}', 'NaN', '[1,]', '{"a":01}', '{"a":"\t"}', '"\\x41"', '{"a":1}}', '\u00a0{}', '+1', '1.', '.5', '{"a":\u00a01}', 'undefined', '"\\u12"', '-', '/*c*/{}']), ...plain(w)),

  // JSON that JavaScript reads in its own way.
  'lone-surrogates': (w) => lines(header(w), said(w, 'a \ud83d b \ude00 c \ud83d\ude00'), info(w, '\udead name'), ...plain(w)),
  'surrogate-escapes': (w) => lines(header(w), '{"type":"message","id":"s","parentId":null,"timestamp":"2026-01-05T10:00:00Z","message":{"role":"user","content":"\\ud83d\\ude00 \\uD83D \\u00e9 \\u0000 \\/"}}', ...plain(w)),
  'huge-number': (w) => lines(header(w), '{"type":"compaction","id":"c","parentId":null,"timestamp":"2026-01-05T10:00:00Z","summary":"s","firstKeptEntryId":"x","tokensBefore":1e400}', '{"type":"custom","customType":"n","data":[1e400,-1e400,123456789012345678901234567890,0.1e-400,-0],"id":"d","parentId":"c","timestamp":"2026-01-05T10:00:00Z"}', ...plain(w)),
  'key-twice': (w) => lines(header(w), '{"type":"custom","type":"message","id":"1","id":"2","parentId":null,"timestamp":"2026-01-05T10:00:00Z","message":{"role":"assistant","role":"user","content":"first","content":"last","timestamp":1,"timestamp":1767607200123}}', '{"type":"session_info","name":"one","name":"two","id":"n","parentId":"2","timestamp":"2026-01-05T10:00:00Z"}'),
  'key-twice-header': (w) => lines('{"type":"x","type":"session","version":1,"version":3,"id":"a","id":"b","timestamp":"2026-01-05T10:00:00Z","cwd":"/a","cwd":"/b"}', ...plain(w)),
  'key-escaped': (w) => lines(header(w), '{"\\u0074ype":"\\u006dessage","id":"e","parentId":null,"timestamp":"2026-01-05T10:00:00Z","message":{"r\\u006fle":"us\\u0065r","content":"escaped keys"}}', ...plain(w)),
  'key-proto': (w) => lines(header(w), '{"type":"message","__proto__":{"a":1},"id":"p","parentId":null,"timestamp":"2026-01-05T10:00:00Z","message":{"role":"user","content":"proto","__proto__":null,"constructor":1}}', ...plain(w)),
  deep: (w) => { const depth = w.turn([200, 3000, 20000]); return lines(header(w), `{"type":"custom","customType":"deep","data":${'['.repeat(depth)}${']'.repeat(depth)},"id":"d","parentId":null,"timestamp":"2026-01-05T10:00:00Z"}`, ...plain(w)); },
  'deep-message': (w) => { const depth = w.turn([150, 2000]); return lines(header(w), `{"type":"message","id":"d","parentId":null,"timestamp":"2026-01-05T10:00:00Z","message":{"role":"toolResult","content":[],"details":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}}`, ...plain(w)); },

  // Messages.
  'content-null': (w) => lines(header(w), said(w), entry(w, { role: w.turn(['user', 'assistant']), content: null }), ...plain(w)),
  'content-null-tool': (w) => lines(header(w), said(w), entry(w, { role: w.turn(['toolResult', 'custom', 'system']), content: null }), ...plain(w)),
  'content-missing': (w) => lines(header(w), entry(w, { role: 'user', timestamp: w.now + 1e9 }), ...plain(w)),
  'content-odd': (w) => lines(header(w), said(w), entry(w, { role: 'user', content: w.turn([5, {}, true, { length: 0 }, 0, false]) }), ...plain(w)),
  'block-odd': (w) => lines(header(w), said(w), entry(w, { role: 'user', content: [{ type: 'text', text: 'before' }, w.turn([null, 5, 'text', [], {}, true]), { type: 'text', text: 'after' }] }), ...plain(w)),
  'block-text-odd': (w) => lines(header(w), entry(w, { role: 'user', content: [{ type: 'text', text: w.turn([5, -0.5, 1e21, 1e-7, null, true, undefined, [1, [2, null]], {}, ['a', 'b']]) }, { type: 'text', text: 'end' }] }), ...plain(w)),
  'message-missing': (w) => lines(header(w), said(w), { type: 'message', id: w.hex(8), parentId: null, timestamp: w.iso() }, ...plain(w)),
  'message-null': (w) => lines(header(w), said(w), entry(w, null), ...plain(w)),
  'message-scalar': (w) => lines(header(w), entry(w, w.turn(['text', 5, true, [], {}])), ...plain(w)),
  'role-odd': (w) => lines(header(w), entry(w, { role: w.turn([null, 5, '', 'USER', undefined]), content: 'never shown' }), ...plain(w)),
  'roles-only-tools': (w) => lines(header(w), entry(w, toolResult(w)), entry(w, rare(w))),
  'first-empty': (w) => lines(header(w), said(w, ''), entry(w, { role: 'user', content: [] }), said(w, ' '), said(w, 'third')),
  'message-date': (w) => lines(header(w, { timestamp: '2020-01-01T00:00:00Z' }), said(w, 'dated', { timestamp: undefined }), entry(w, { role: 'user', content: 'x' }, { timestamp: w.turn(DATES) })).replace(/"timestamp":"20[^"]*",("message":{"role":"user","content":"dated")/, '"timestamp":"2019-01-01T00:00:00Z",$1'),
  'message-date-type': (w) => lines(header(w, { timestamp: '2020-01-01T00:00:00Z' }), entry(w, { role: 'user', content: 'x' }, { timestamp: w.turn([1767607200000, null, true, undefined, {}, 1e300, 1.5]) })),
  'message-time-odd': (w) => lines(header(w, { timestamp: '2020-01-01T00:00:00Z' }), entry(w, { role: 'user', content: 'x', timestamp: w.turn([0, -5, 1.5, 0.4, 8.64e15, '1767607200000', null, true, 1767607200000.999]) })),
  'no-date-at-all': (w) => lines(header(w, { timestamp: w.turn([undefined, 'never', 17]) }), bare(entry(w, { role: 'toolResult', content: [] }))),
  'late-tool': (w) => lines(header(w), ...plain(w), entry(w, { role: 'toolResult', content: [], timestamp: w.now + 1e10 })),

  // Names, labels, trees.
  'name-odd': (w) => lines(header(w), ...plain(w), info(w, 'old'), info(w, w.turn([null, undefined, '', ' \ufeff\u2003', '\u0085x\u0085', '\u180e', '\u200b', 'multi\nline', '名前 🎉'])) ),
  'name-type': (w) => lines(header(w), ...plain(w), info(w, w.turn([5, true, {}, [], 0, false]))),
  'name-before-header': (w) => lines(info(w, 'early'), header(w), ...plain(w)),
  'labels-odd': (w) => { const [a, b] = linked(w, 2); return lines(header(w), a, b, label(w, a.id, 'one'), label(w, a.id, w.turn([null, '', undefined, 'two'])), label(w, 'nowhere', 'lost'), label(w, b.id, 'b')); },
  'entry-unknown': (w) => lines(header(w), ...linked(w, 2), { type: w.turn(['future', 'active_tools_change', 'usage', 'context_edit']), id: w.hex(8), parentId: null, timestamp: w.iso(), payload: { a: [1] } }),
  'entry-type-odd': (w) => lines(header(w), { type: w.turn([null, 5, ['message'], undefined, '']), id: w.hex(8), message: { role: 'user', content: 'no' } }, ...plain(w)),
  'id-odd': (w) => lines(header(w), said(w), ...[5, null, true, '', 'ü'].map((id) => said(w, text(w), {})).map((each, i) => ({ ...each, id: [5, null, true, '', 'ü'][i] }))),
  'id-twice': (w) => { const [a, b, c] = linked(w, 3); return lines(header(w), a, b, { ...c, id: a.id }, said(w)); },
  'id-twice-rewritten': (w) => { const all = [header(w), ...linked(w, 2)]; return lines(...all, ...all, answered(w)); },
  cycle: (w) => { const [a, b, c] = linked(w, 3); a.parentId = b.id; return lines(header(w), a, b, c, ...(w.chance(50) ? [said(w)] : [])); },
  'self-parent': (w) => { const [a, b] = linked(w, 2); a.parentId = a.id; return lines(header(w), a, b, said(w)); },
  'parent-missing': (w) => { const [a, b, c] = linked(w, 3); b.parentId = 'gone'; delete c.parentId; return lines(header(w), a, b, c); },
  'child-first': (w) => { const [a, b, c] = linked(w, 3); return lines(header(w), c, b, a); },
  'children-by-time': (w) => { const [a, ...rest] = linked(w, 5); rest.forEach((each, i) => { each.parentId = a.id; each.timestamp = w.turn(['2026-01-05T10:00:00Z', '2026-01-04T10:00:00Z', '2026-01-06T10:00:00+09:00', each.timestamp]); }); return lines(header(w), a, ...rest); },
  roots: (w) => lines(header(w), ...Array.from({ length: 4 }, () => said(w))),
  'long-chain': (w) => lines(header(w), ...linked(w, 300)),
  'long-line': (w) => lines(header(w), entry(w, { role: 'toolResult', content: [{ type: 'text', text: 'tool output '.repeat(20_000) }] }), ...plain(w)),
  'chunk-edges': (w) => lines(header(w), ...Array.from({ length: 6 }, () => said(w, 'é漢🎉'.repeat(w.between(3000, 9000))))),
};

/** Names of files that come with the same times, for the order among equals. */
export const TIED_NAMES = ['abc', 'ABC', 'aBc', 'abd', 'ab', 'a-b', 'a_b', 'a.b', 'a1', 'a10', 'a2', 'b', 'B', 'Z', '0', '9'];

/** A session whose modified time is the same as that of others of its group. */
export const tied = (w, time) => lines(header(w, { cwd: '/home/ada/ties' }), entry(w, { role: 'user', content: text(w, 3), timestamp: time }));

/** A session for special places (links, odd names). */
export const ordinary = (w, cwd = '/home/ada/places') => lines(header(w, { cwd }), ...plain(w));
