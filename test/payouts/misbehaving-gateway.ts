import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Kind = 'submission' | 'inquiry' | 'void';

interface Gate {
  /** Resolves when a request of the kind waits at it. */
  readonly arrived: Promise<void>;
  open(): void;
}

interface HeldGate extends Gate {
  readonly arrive: () => void;
  readonly opened: Promise<void>;
}

/**
 * A gateway of the protocol of docs/payout-rail.md that misbehaves on purpose: it pays each order that it is handed, however
 * often that is, and hangs, loses or keeps silent where it is told to. It keeps its word on voids alone.
 */
export class MisbehavingGateway {
  /** The key of each order that reached it, as often as it did. */
  readonly given: string[] = [];
  /** The key of each payment that it made. */
  readonly paid: string[] = [];
  readonly voided = new Set<string>();
  canVoid = true;
  private readonly gates = new Map<Kind, HeldGate>();
  private readonly silent = new Set<Kind>();
  private readonly server = createServer((request, response) => void this.serve(request, response));

  static async start(): Promise<MisbehavingGateway> {
    const gateway = new MisbehavingGateway();
    gateway.server.listen(0, '127.0.0.1');
    await once(gateway.server, 'listening');
    return gateway;
  }

  get url(): string {
    // Listening on a TCP port, so it has this kind of address.
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** The next request of the kind waits until the gate is opened. */
  hold(kind: Kind): Gate {
    let [arrive, open] = [() => undefined as void, () => undefined as void];
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const opened = new Promise<void>((resolve) => (open = resolve));
    const gate = { arrived, opened, arrive, open };
    this.gates.set(kind, gate);
    return gate;
  }

  /** The next request of the kind is lost on its way: neither acted on nor answered. */
  loseNext(kind: Kind): void {
    this.silent.add(kind);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString('utf8');
    const path = (request.url ?? '').split('/');
    const kind = request.method === 'GET' ? 'inquiry' : path[3] === 'void' ? 'void' : 'submission';
    const key = kind === 'submission' ? (JSON.parse(body) as { key: string }).key : path[2]!;
    if (kind === 'submission') this.given.push(key);
    if (this.silent.delete(kind)) return void request.socket.destroy();
    const gate = this.gates.get(kind);
    this.gates.delete(kind);
    gate?.arrive();
    await gate?.opened;
    const { status, said } = this.answer(kind, key);
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ key, ...said }));
  }

  private answer(kind: Kind, key: string): { status: number; said: object } {
    const wasPaid = this.paid.includes(key);
    if (kind === 'void' && !this.canVoid) return { status: 501, said: { status: 'cannot_void' } };
    if (kind === 'void' && !wasPaid) this.voided.add(key);
    if (this.voided.has(key)) return { status: 200, said: { status: 'voided', reference: null } };
    if (kind === 'submission') this.paid.push(key);
    else if (!wasPaid) return { status: 404, said: { status: 'unknown' } };
    return { status: 200, said: { status: 'completed', reference: 'R-1' } };
  }
}
