import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { once } from 'node:events';
import { listenAt } from './service-process.js';

/** A delivery as it came over HTTP. */
export interface Arrived {
  readonly path: string;
  /** The header `webhook-id`. */
  readonly id: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
  /** Of performance.now(). */
  readonly at: number;
}

/** A receiver of webhooks, on 127.0.0.1 unless said, which goes down and comes back on its port. */
export class HttpReceiver {
  readonly arrived: Arrived[] = [];
  /** True if the receiver must act on each request at once, because there are many. */
  keepsNothing = false;
  /** The status of the answer, or what it waits for. */
  reply: (delivery: Arrived) => number | Promise<number> = () => 200;
  private server: Server | undefined;
  private port = 0;

  constructor(private readonly host = '127.0.0.1') {}

  /** Listens where it did before, if it did. */
  async open(): Promise<this> {
    const server = createServer((request, response) => {
      // Who sends may end in the middle.
      this.take(request, response).catch(() => response.destroy());
    });
    this.port = await listenAt(server, this.host, this.port);
    this.server = server;
    return this;
  }

  /** Closes all connections, and answers nothing until it is opened again. */
  async close(): Promise<void> {
    const server = this.server;
    if (server === undefined) return;
    const closed = once(server.close(), 'close');
    server.closeAllConnections();
    await closed;
  }

  url(path: string): string {
    return `http://${this.host}:${this.port}${path}`;
  }

  at(path: string): Arrived[] {
    return this.arrived.filter((one) => one.path === path);
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { headers, url: path = '' } = request;
    const body = Buffer.concat(pieces).toString('utf8');
    const delivery = {
      path,
      id: String(headers['webhook-id']),
      body,
      headers,
      at: performance.now(),
    };
    if (!this.keepsNothing) this.arrived.push(delivery);
    response.writeHead(await this.reply(delivery)).end();
  }
}
