import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { run } from './ops.js';

/**
 * The command line for the shell blocks of pages, as a function `ops`: it asks over a socket, which bash opens by itself, and the process
 * that stays does it (ops.ts). A process for each command would take longer to load than to do it. Needs OPS_PORT.
 */
export const OPS_IN_SHELL = `
ops() {
  local code length
  exec 9<>"/dev/tcp/127.0.0.1/$OPS_PORT"
  { printf '%s\\0' "$#" "$@"; env -0; printf 'end\\0'; } >&9
  read -r code length <&9
  head -c "$length" <&9
  cat <&9 >&2
  exec 9>&-
  return "$code"
}
`;

/** The program behind `ops` in shells. */
export class OpsForShells {
  private constructor(private readonly server: Server) {}

  static async open(): Promise<OpsForShells> {
    const server = createServer((socket) => {
      let asked = '';
      socket.setEncoding('utf8').on('data', (piece: string) => {
        asked += piece;
        const whole = parse(asked);
        if (whole !== null)
          answer(socket, whole).catch((fault: unknown) => socket.end(`1 0\n${String(fault)}`));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new OpsForShells(server);
  }

  /** The environment of the shell. */
  get environment(): Readonly<Record<string, string>> {
    return { OPS_PORT: (this.server.address() as AddressInfo).port.toString() };
  }

  async close(): Promise<void> {
    await new Promise((done) => this.server.close(done));
  }
}

interface Asked {
  readonly args: readonly string[];
  readonly env: Record<string, string>;
}

/** The number of arguments, these, the environment and `end`, each behind a null byte; null: it has not come whole. */
function parse(asked: string): Asked | null {
  const [count, ...words] = asked.split('\0').slice(0, -1);
  if (words.at(-1) !== 'end' || words.length <= Number(count)) return null;
  const entries = words.slice(Number(count), -1).map((word) => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  return { args: words.slice(0, Number(count)), env: Object.fromEntries(entries) };
}

/** The code, how many bytes of output there are, these, and what was said beside. */
async function answer(socket: Socket, { args, env }: Asked): Promise<void> {
  const { code, stdout, stderr } = await run('src/ops/main.js', args, env);
  socket.end(`${code ?? 1} ${Buffer.byteLength(stdout)}\n${stdout}${stderr}`);
}
