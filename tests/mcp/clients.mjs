// Calls the tools with the official clients of both eras: clients.mjs NODE_MODULES. Prints what
// came of it.
import { pathToFileURL } from 'node:url'

const modules = process.argv[2]
const of = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/${path}`).href)
const server = { command: process.env.PROGRAM, args: ['mcp'], env: { HOME: process.env.HOME }, stderr: 'inherit' }
const me = { name: 'test', version: '1' }
const query = { query: 'trailing newline of the tokenizer' }

async function talk(client, transport, version) {
  await client.connect(transport)
  const tools = (await client.listTools()).tools.map((tool) => tool.name)
  const text = async (name, args) => (await client.callTool({ name, arguments: args })).content[0].text
  const found = await text('search_sessions', query)
  const wrong = await client.callTool({ name: 'sql', arguments: {} }).catch((error) => error.code)
  const spoken = version()
  await client.close()
  return { version: spoken, tools, found, wrong }
}

async function roots(client, transport, method) {
  client.setRequestHandler(method, async () => ({ roots: [{ uri: `file://${process.env.HOME}/code/other` }] }))
  await client.connect(transport)
  const { content } = await client.callTool({ name: 'list_sessions', arguments: {} })
  await client.close()
  return content[0].text
}

const offers = { capabilities: { roots: {} } }
const old = await of('sdk/dist/esm/client/index.js')
const oldStdio = await of('sdk/dist/esm/client/stdio.js')
const { ListRootsRequestSchema } = await of('sdk/dist/esm/types.js')
const transport = () => new oldStdio.StdioClientTransport(server)
let spoken
const seen = transport()
const legacy = new old.Client(me)
seen.setProtocolVersion = (version) => (spoken = version)
const first = await talk(legacy, seen, () => spoken)
first.other = await roots(new old.Client(me, offers), transport(), ListRootsRequestSchema)

const now = await of('client/dist/index.mjs')
const nowStdio = await of('client/dist/stdio.mjs')
const options = { versionNegotiation: { mode: 'auto' } }
const modern = new now.Client(me, options)
const second = await talk(modern, new nowStdio.StdioClientTransport(server), () => modern.getNegotiatedProtocolVersion())
const rooted = new now.Client(me, { ...options, ...offers })
second.other = await roots(rooted, new nowStdio.StdioClientTransport(server), 'roots/list')

console.log(JSON.stringify([first, second]))
