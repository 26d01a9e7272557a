import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import getRawBody from 'raw-body';
import { type ReceivedDelivery, tellEvent } from './delivery-output.js';
import { verifySignatures } from './signatures.js';

interface ReceiverOptions {
  readonly secret: string;
  /** The status with which a valid delivery is answered. */
  readonly answer: number;
  readonly delayMs: number;
}

const MAX_BODY_BYTES = 4 * 1_024 * 1_024;
/** Arrivals are remembered for this many events. */
const REMEMBERED = 10_000;
const UNAUTHORIZED = 401;

/**
 * A receiver of deliveries on this machine, like a tenant's: checks each, shows what it found,
 * answers.
 */
export class WebhookReceiver {
  private readonly server: Server;
  private readonly arrivals = new Map<string, number>();

  constructor(
    private readonly options: ReceiverOptions,
    private readonly tell: (delivery: ReceivedDelivery) => void,
  ) {
    this.server = createServer((request, response) => {
      // An interrupted request has not arrived.
      this.receive(request, response).catch(() => response.destroy());
    });
  }

  /**
   * Listens on 127.0.0.1 and resolves with the port. Rejects with Node's error if the port is not
   * available.
   */
  async listen(port: number): Promise<number> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    const address = this.server.address();
    return address !== null && typeof address === 'object' ? address.port : port;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await getRawBody(request, { limit: MAX_BODY_BYTES });
    const at = new Date();
    const { secret, answer, delayMs } = this.options;
    const nowS = Math.floor(at.getTime() / 1_000);
    const checks = verifySignatures({ body, headers: singles(request) }, secret, nowS);
    const answered = checks.every(({ problem }) => problem === null) ? answer : UNAUTHORIZED;
    if (delayMs > 0) await sleep(delayMs);
    response.writeHead(answered).end();
    this.tell({ at, body, checks, arrivals: this.counted(body), answered });
  }

  private counted(body: Buffer): number {
    const { id } = tellEvent(body);
    if (id === null) return 1;
    const count = (this.arrivals.get(id) ?? 0) + 1;
    this.arrivals.delete(id);
    this.arrivals.set(id, count);
    const [oldest] = this.arrivals.keys();
    if (this.arrivals.size > REMEMBERED && oldest !== undefined) this.arrivals.delete(oldest);
    return count;
  }
}

function singles({ headers }: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value?.toString()]),
  );
}
