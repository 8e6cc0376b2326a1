// A client of `sessionary serve` for Node 20 and later, without dependencies.
//
//   import { Sessionary } from './sessionary.mjs'
//   const sessions = await Sessionary.start()
//   const found = await sessions.ask('search', { query: 'linker error' })
//   sessions.close()
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** The version of the protocol that this client speaks. */
export const PROTOCOL = 1

/** A request that was refused: `code`, `message`, and `data` with `kind` and `hints`. */
export class Refused extends Error {
  constructor({ code, message, data }) {
    super(message)
    Object.assign(this, { name: 'Refused', code, data })
  }
}

export class Sessionary {
  #child
  #open = new Map()
  #ended = null
  #last = 0
  /** Once you `ask('subscribe')`: called with a change of a session, `{ missed: true }` or
   * `{ ended: why }`. */
  onChange = () => {}

  /** Starts the program, and agrees with it on the version. */
  static async start({ program = 'sessionary', args = [], ...options } = {}) {
    const client = new Sessionary()
    client.#listen(spawn(program, ['serve', ...args], { ...options, stdio: ['pipe', 'pipe', 'inherit'] }))
    try {
      client.server = await client.ask('hello', { protocol: PROTOCOL, client: 'node' })
    } catch (error) {
      // Nobody else could end it.
      client.#child.kill()
      throw error
    }
    return client
  }

  /** What the method answers; `signal` calls it off. */
  ask(method, params = {}, { signal } = {}) {
    if (this.#ended) return Promise.reject(this.#ended)
    if (signal?.aborted) return Promise.reject(signal.reason)
    const id = ++this.#last
    const cancel = () => this.#send({ method: 'cancel', params: { id } })
    signal?.addEventListener('abort', cancel, { once: true })
    const answer = new Promise((resolve, reject) => this.#open.set(id, { resolve, reject }))
    this.#send({ id, method, params })
    return answer.finally(() => signal?.removeEventListener('abort', cancel))
  }

  /** The program ends with its input. */
  close() {
    this.#child.stdin.end()
  }

  #listen(child) {
    this.#child = child
    const end = (why) => {
      this.#ended ??= why
      for (const { reject } of this.#open.values()) reject(this.#ended)
      this.#open.clear()
    }
    child.on('error', end)
    child.on('close', (code) => end(new Error(`sessionary serve has ended (${code})`)))
    child.stdin.on('error', () => {})
    createInterface({ input: child.stdout }).on('line', (line) => {
      let message
      try {
        message = JSON.parse(line)
      } catch {
        end(new Error(`this is not sessionary serve: ${line.slice(0, 80)}`))
        return child.kill()
      }
      this.#take(message)
    })
  }

  #take({ id, method, params, result, error }) {
    if (method === 'change') return this.onChange(params)
    // Of a line that could not be read nobody knows which request it was: all are refused.
    for (const known of id === null ? [...this.#open.keys()] : [id]) {
      const open = this.#open.get(known)
      this.#open.delete(known)
      if (error) open?.reject(new Refused(error))
      else open?.resolve(result)
    }
  }

  #send(message) {
    this.#child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
  }
}
