import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import getRawBody from 'raw-body';
import type { Keyring } from '../../src/core/fingerprint.js';
import type { Uuid } from '../../src/core/ids.js';
import type { Clock } from '../../src/core/instant.js';
import {
  type RailCallback,
  readCallback,
  type Verdict,
  verify,
} from '../../src/payouts/rails/wire.js';

/** A callback as it arrived. */
export interface Arrival {
  readonly path: string;
  readonly verdict: Verdict;
  /** Null if it is not a callback. */
  readonly callback: RailCallback | null;
  readonly answered: number;
}

const MAX_BODY_BYTES = 64 * 1024;

/**
 * Receives the callbacks of the gateway under test. It accepts each on its second arrival: the
 * first is answered 503.
 */
export class CallbackListener {
  readonly arrivals: Arrival[] = [];
  readonly path: string;
  private readonly server: Server;

  constructor(
    name: string,
    private readonly keys: Keyring,
    private readonly clock: Clock,
  ) {
    this.path = `/rails/${name}/callbacks`;
    this.server = createServer((request, response) => {
      // An interrupted request has not arrived.
      this.receive(request, response).catch(() => response.destroy());
    });
  }

  /** Rejects with Node's error if the port is not available. */
  async listen(port: number): Promise<void> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  /** Callbacks about a payment, oldest first, genuine or not. */
  about(key: Uuid): readonly Arrival[] {
    return this.arrivals.filter(({ callback }) => callback?.key === key);
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await getRawBody(request, { limit: MAX_BODY_BYTES });
    const path = request.url ?? '';
    // A proxy may add a prefix; what is signed is the path in the protocol.
    const message = { method: 'POST', path: this.path, body } as const;
    const verdict = verify(this.keys, request.headers, message, this.clock());
    const callback = readCallback(body.toString('utf8'));
    const answered =
      verdict !== 'genuine' ? 401 : callback === null ? 400 : this.isNew(callback) ? 503 : 200;
    this.arrivals.push({ path, verdict, callback, answered });
    response.writeHead(answered).end();
  }

  private isNew({ callbackId }: RailCallback): boolean {
    return !this.arrivals.some(
      ({ callback, verdict }) => verdict === 'genuine' && callback?.callbackId === callbackId,
    );
  }
}
