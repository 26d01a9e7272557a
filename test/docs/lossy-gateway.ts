import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenAt } from '../helpers/service-process.js';

/** Passes requests on, and loses the first response to each POST. */
export class LossyGateway {
  /** The ending of the paths of which all requests are refused. */
  refused: string | null = null;
  /** Whether a POST that is repeated is refused. */
  refusesRepeats = false;
  url = '';
  readonly posts: { readonly key: string; readonly path: string }[] = [];
  private readonly server = createServer((request, response) => {
    this.pass(request, response).catch(() => response.destroy());
  });

  private constructor(private readonly target: string) {}

  static async start(target: string): Promise<LossyGateway> {
    const gateway = new LossyGateway(target);
    gateway.url = `http://127.0.0.1:${await listenAt(gateway.server)}`;
    return gateway;
  }

  async stop(): Promise<void> {
    this.server.close();
    await once(this.server, 'close');
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const body = await buffer(request);
    const isPost = method === 'POST';
    const key = String(headers['idempotency-key']);
    const isRepeat = this.posts.some((post) => post.key === key && post.path === path);
    const isRefused = this.refused !== null && path.endsWith(this.refused);
    if (isRefused || (isRepeat && this.refusesRepeats)) {
      response.writeHead(401).end('unauthorized');
      return;
    }
    const sent = ['authorization', 'content-type', 'idempotency-key'].map(
      (name): [string, string] => [name, String(headers[name] ?? '')],
    );
    const answer = await fetch(this.target + path, {
      method,
      headers: sent.filter(([, value]) => value !== ''),
      ...(isPost ? { body } : {}),
    });
    if (isPost) this.posts.push({ key, path });
    if (isPost && !isRepeat) response.destroy();
    else response.writeHead(answer.status).end(await answer.text());
  }
}
