// A small world in which the real agents write the same bytes twice: seeded chance, a clock that only moves when
// it is told to, and ids drawn from both. Import this before any agent.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const RealDate = Date;

export class World {
  constructor(seed, start = RealDate.UTC(2026, 0, 5, 9)) {
    this.state = [seed >>> 0, 0x9e3779b9, 0x243f6a88, 0xb7e15162];
    for (let i = 0; i < 20; i++) this.next();
    this.now = start;
    this.round = 0;
    this.rounds = 0;
  }

  /** sfc32: 32 random bits. */
  next() {
    const s = this.state;
    const t = (s[0] + s[1] + s[3]++) | 0;
    s[0] = s[1] ^ (s[1] >>> 9);
    s[1] = (s[2] + (s[2] << 3)) | 0;
    s[2] = ((s[2] << 21) | (s[2] >>> 11)) + t | 0;
    return t >>> 0;
  }
  int(n) { return this.next() % n; }
  between(low, high) { return low + this.int(high - low + 1); }
  /** Takes the members of a list one after the other, round by round, and notes how many rounds that needs. */
  turn(list) {
    this.rounds = Math.max(this.rounds, list.length);
    return list[this.round % list.length];
  }
  chance(percent) { return this.int(100) < percent; }
  pick(list) { return list[this.int(list.length)]; }
  hex(digits) { return Array.from({ length: digits }, () => this.int(16).toString(16)).join(''); }
  tick(milliseconds = this.between(1, 90_000)) { this.now += milliseconds; return this.now; }
  iso() { return new RealDate(this.now).toISOString(); }

  fill(bytes) {
    const view = new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
    for (let i = 0; i < view.length; i++) view[i] = this.next() & 255;
    return bytes;
  }
  uuid() {
    const h = this.hex(32);
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20)}`;
  }

  /** Puts this world's clock and chance in the place of the process's own. */
  install() {
    const world = this;
    globalThis.Date = class extends RealDate {
      constructor(...given) { super(...(given.length ? given : [world.now])); }
      static now() { return world.now; }
    };
    crypto.randomUUID = () => world.uuid();
    crypto.randomFillSync = (bytes) => world.fill(bytes);
    crypto.randomBytes = (n) => world.fill(Buffer.alloc(n));
    crypto.webcrypto.getRandomValues = (bytes) => world.fill(bytes);
    crypto.webcrypto.randomUUID = () => world.uuid();
    Math.random = () => world.next() / 2 ** 32;
    syncBuiltinESMExports();
    return this;
  }
}

/** The agents by the names they are installed under, oldest first. */
export const AGENTS = ['pi-0.73', 'pi-0.74', 'pi-0.87'];

/** The session manager module of an installed agent. Its package does not export it; its path does. */
export function sessionManager(folder) {
  return import(pathToFileURL(join(folder, 'dist/core/session-manager.js')));
}
