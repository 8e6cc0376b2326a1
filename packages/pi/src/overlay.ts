// What does somebody see who looks for an entry? A line to type in, and the hits below it, asked
// for anew with every key.
import type { KeybindingsManager, Theme } from "@earendil-works/pi-coding-agent";
import {
  type Focusable,
  Input,
  matchesKey,
  truncateToWidth,
  visibleWidth,
} from "@earendil-works/pi-tui";
import { age, type Found, type Hit, search } from "./search.ts";

/** A hit that was chosen, and whether a fork is to begin there. */
export interface Choice {
  hit: Hit;
  fork: boolean;
}

/** Keys that come within so many milliseconds are one question. */
const PAUSE_MS = 40;
/** Hits that are fetched. */
const MOST = 50;
/** Lines around the hits: border, query, state, keys, border. */
const FRAME = 5;

export interface Surroundings {
  theme: Theme;
  keys: KeybindingsManager;
  /** The height of the terminal. */
  height: () => number;
  render: () => void;
  done: (choice: Choice | undefined) => void;
}

export class FindOverlay implements Focusable {
  private readonly input = new Input();
  private found: Found = { hits: [], total: 0 };
  private state = "type what was said";
  private selected = 0;
  private asked = "";
  private pause?: NodeJS.Timeout;
  private running?: AbortController;

  constructor(
    private readonly around: Surroundings,
    query: string,
  ) {
    // `setValue` would leave the cursor at the beginning.
    for (const sign of query) this.input.handleInput(sign);
    this.ask(0);
  }

  get focused(): boolean {
    return this.input.focused;
  }

  set focused(value: boolean) {
    this.input.focused = value;
  }

  invalidate(): void {
    this.input.invalidate();
  }

  /** Called by pi when it is gone. */
  dispose(): void {
    clearTimeout(this.pause);
    this.running?.abort();
  }

  handleInput(data: string): void {
    const { keys } = this.around;
    if (keys.matches(data, "tui.select.cancel")) return this.around.done(undefined);
    if (matchesKey(data, "alt+enter")) return this.choose(true);
    if (keys.matches(data, "tui.select.confirm")) return this.choose(false);
    if (keys.matches(data, "tui.select.up")) return this.move(-1);
    if (keys.matches(data, "tui.select.down")) return this.move(1);
    if (keys.matches(data, "tui.select.pageUp")) return this.move(-this.rows());
    if (keys.matches(data, "tui.select.pageDown")) return this.move(this.rows());
    this.input.handleInput(data);
    this.ask(PAUSE_MS);
  }

  private choose(fork: boolean): void {
    const hit = this.found.hits[this.selected];
    if (hit) this.around.done({ hit, fork });
  }

  private move(by: number): void {
    const last = Math.max(0, this.found.hits.length - 1);
    this.selected = Math.min(last, Math.max(0, this.selected + by));
    this.around.render();
  }

  /** Asks for what stands in the line now; who was asked before need not answer any more. */
  private ask(pauseMs: number): void {
    const query = this.input.getValue().trim();
    if (query === this.asked) return;
    this.asked = query;
    clearTimeout(this.pause);
    this.running?.abort();
    if (query === "") return this.show({ hits: [], total: 0 }, "type what was said");
    this.pause = setTimeout(() => this.answer(query), pauseMs);
  }

  private async answer(query: string): Promise<void> {
    const running = new AbortController();
    this.running = running;
    try {
      const found = await search(query, MOST, running.signal);
      if (running.signal.aborted) return;
      const matches = found.total === 1 ? "1 match" : `${found.total} matches`;
      this.show(found, found.hits.length ? matches : "nothing found");
    } catch (error) {
      if (running.signal.aborted) return;
      this.show({ hits: [], total: 0 }, error instanceof Error ? error.message : String(error));
    }
  }

  private show(found: Found, state: string): void {
    this.found = found;
    this.state = plain(state).replace(/\s+/g, " ");
    this.selected = 0;
    this.around.render();
  }

  /** Hits that fit, two lines each. */
  private rows(): number {
    return Math.max(1, Math.floor((Math.min(this.around.height() * 0.7, 30) - FRAME) / 2));
  }

  render(width: number): string[] {
    const { theme } = this.around;
    const inner = Math.max(10, width - 4);
    const border = (left: string, right: string) =>
      theme.fg("border", left + "─".repeat(Math.max(0, width - 2)) + right);
    const line = (text: string) => {
      const cut = truncateToWidth(text, inner, "…");
      const rest = " ".repeat(Math.max(0, inner - visibleWidth(cut)));
      return `${theme.fg("border", "│")} ${cut}${rest} ${theme.fg("border", "│")}`;
    };
    const rows = this.rows();
    const first = Math.max(
      0,
      Math.min(this.selected - Math.floor(rows / 2), this.found.hits.length - rows),
    );
    const hits = this.found.hits.slice(first, first + rows);
    return [
      border("╭", "╮"),
      line(this.input.render(inner)[0] ?? ""),
      line(theme.fg("muted", this.state)),
      ...hits.flatMap((hit, at) => this.hit(hit, first + at === this.selected).map(line)),
      line(theme.fg("dim", "enter go there · alt+enter fork there · esc close")),
      border("╰", "╯"),
    ];
  }

  private hit(hit: Hit, isSelected: boolean): string[] {
    const { theme } = this.around;
    const title = plain(hit.title);
    const about = [hit.by, age(hit.timeMs), hit.isAside ? "another branch" : ""]
      .filter(Boolean)
      .join(" · ");
    const head = isSelected ? theme.fg("accent", `▶ ${title}`) : `  ${title}`;
    return [
      `${head}  ${theme.fg("muted", plain(about))}`,
      `    ${theme.fg("dim", plain(hit.snippet))}`,
    ];
  }
}

/** What acts instead of being shown, or is not seen: as `src/model/terminal_controls.rs` has it. */
const ACTING =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]+/gu;

/** Without what a terminal would act on, and without text that nobody sees. */
export function plain(text: string): string {
  return text.replace(ACTING, " ");
}
