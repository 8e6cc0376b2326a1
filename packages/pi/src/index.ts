// What does pi gain? Its own session lists, made by sessionary; a search that leads to an entry;
// and tools by which the model remembers. Each stands in a file of its own.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { registerFind } from "./find.ts";
import { registerShow } from "./show.ts";
import { takeOver } from "./take-over.ts";
import { registerTool } from "./tool.ts";

export default function sessionary(pi: ExtensionAPI): void {
  takeOver();
  registerFind(pi);
  registerTool(pi);
  registerShow(pi);
}
