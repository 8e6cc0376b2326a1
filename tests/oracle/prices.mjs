// Prints the price table of `sessionary report`, US dollars per million tokens, from pi-ai's model
// list: prices.mjs. Only what makers of models ask themselves: what others charge for the same
// model is another price.
import { readFileSync } from 'node:fs'

const at = new URL('./node_modules/pi-0.87/node_modules/@earendil-works/pi-ai/', import.meta.url)
const { version } = JSON.parse(readFileSync(new URL('package.json', at), 'utf8'))
const { MODELS } = await import(new URL('dist/models.generated.js', at))
const makers = ['anthropic', 'deepseek', 'google', 'meta', 'minimax', 'mistral', 'moonshotai', 'openai', 'xai', 'xiaomi', 'zai']

console.log(`# @earendil-works/pi-ai ${version}, of 2026-09-22: model, then US dollars per million tokens of input, output, cache read and cache write`)
const lines = new Map()
for (const maker of makers) {
  for (const { id, cost } of Object.values(MODELS[maker])) {
    const prices = [cost.input, cost.output, cost.cacheRead, cost.cacheWrite]
    if (prices.some((price) => price > 0)) lines.set(id, [id, ...prices].join('\t'))
  }
}
for (const id of [...lines.keys()].sort()) console.log(lines.get(id))
