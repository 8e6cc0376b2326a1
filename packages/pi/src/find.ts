// How does somebody get back to what was said? `/find WORDS`: a hit is chosen, pi switches to its
// session and goes to its entry, or forks there.
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { binary, MISSING } from "./binary.ts";
import { type Choice, FindOverlay, plain } from "./overlay.ts";
import { age, type Hit, search } from "./search.ts";

/** Hits that a dialog offers: whoever answers it sees all of them. */
const OFFERED = 20;
/** What an entry is called that has no id. */
const LINE = /^L\d+$/;

export function registerFind(pi: ExtensionAPI): void {
  pi.registerCommand("find", {
    description: "Search all of pi's sessions and go to a hit; Alt-Enter forks there",
    handler: async (args, ctx) => {
      if (!ctx.hasUI) return;
      if (!binary()) return ctx.ui.notify(MISSING, "error");
      try {
        const choice = await (ctx.mode === "tui" ? onScreen(args, ctx) : byDialog(args, ctx));
        if (choice) await go(choice, ctx);
      } catch (error) {
        ctx.ui.notify(`find: ${error instanceof Error ? error.message : error}`, "error");
      }
    },
  });
}

function onScreen(query: string, ctx: ExtensionCommandContext): Promise<Choice | undefined> {
  return ctx.ui.custom<Choice | undefined>(
    (tui, theme, keys, done) => {
      const height = () => tui.terminal.rows;
      return new FindOverlay(
        { theme, keys, height, render: () => tui.requestRender(), done },
        query,
      );
    },
    { overlay: true, overlayOptions: { anchor: "center", width: "90%", maxHeight: "80%" } },
  );
}

async function byDialog(args: string, ctx: ExtensionCommandContext): Promise<Choice | undefined> {
  const query = args.trim() || (await ctx.ui.input("Find in all sessions", "words"))?.trim();
  if (!query) return undefined;
  const { hits } = await search(query, OFFERED, ctx.signal);
  if (hits.length === 0) {
    ctx.ui.notify(`Nothing found for ${query}`, "info");
    return undefined;
  }
  const offers = hits.map((hit, at) => `${at + 1}. ${offer(hit)}`);
  const chosen = await ctx.ui.select(`Hits for ${query}`, offers);
  const hit = hits[offers.indexOf(chosen ?? "")];
  return hit && { hit, fork: false };
}

function offer(hit: Hit): string {
  const about = [plain(hit.title), hit.by, age(hit.timeMs)].filter(Boolean).join(" · ");
  return `${about}: ${plain(hit.snippet).slice(0, 120)}`;
}

/** Switches to the hit's session, and goes to its entry. */
async function go({ hit, fork }: Choice, ctx: ExtensionCommandContext): Promise<void> {
  await ctx.waitForIdle();
  if (hit.path === ctx.sessionManager.getSessionFile()) return land(hit, fork, ctx);
  await ctx.switchSession(hit.path, { withSession: (switched) => land(hit, fork, switched) });
}

/** What stands in a session that was switched to. The context of before is of no use any more. */
async function land(hit: Hit, fork: boolean, ctx: ExtensionCommandContext): Promise<void> {
  try {
    if (LINE.test(hit.entry)) {
      // pi has given ids to what had none, and nobody else knows them.
      return ctx.ui.notify(
        "This session was of an old version: its entries had no ids to go to",
        "info",
      );
    }
    if (fork) await ctx.fork(hit.entry, { position: "at" });
    else await ctx.navigateTree(hit.entry);
  } catch (error) {
    ctx.ui.notify(`find: ${error instanceof Error ? error.message : error}`, "error");
  }
}
