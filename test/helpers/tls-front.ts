import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { createServer, type SecureContextOptions, type Server } from 'node:tls';
import { listenAt } from './service-process.js';

/** TLS before a server that has none, as a mesh puts it there: asks every client for a certificate. */
export class TlsFront {
  /** Who has connected, by the names in their certificates. */
  readonly peers = new Set<string>();
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** Before `target`, which is a port of this machine. `protocols` as in ALPN. */
  static async open(
    target: number,
    context: SecureContextOptions,
    protocols: string[],
  ): Promise<TlsFront> {
    const server = createServer({
      ...context,
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: protocols,
    });
    const front = new TlsFront(server, await listenAt(server));
    server.on('tlsClientError', () => undefined);
    server.on('connection', (socket) => front.sockets.add(socket));
    server.on('secureConnection', (socket) => {
      front.peers.add(String(socket.getPeerCertificate().subject.CN));
      const behind = connect(target, '127.0.0.1');
      for (const [one, other] of [
        [socket, behind],
        [behind, socket],
      ] as const) {
        one.on('error', () => other.destroy());
        one.pipe(other);
      }
    });
    return front;
  }

  /** Other certificates from now on, and every connection has to be made anew. */
  become(context: SecureContextOptions): void {
    this.server.setSecureContext(context);
    this.cutAll();
  }

  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  async close(): Promise<void> {
    this.cutAll();
    this.server.close();
    await once(this.server, 'close');
  }
}
