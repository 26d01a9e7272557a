import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { listenAt } from './service-process.js';

/**
 * The fate of a piece of data that the service sends. `cut_before`: both sides are cut, MySQL does not receive it.
 * `cut_after`: MySQL receives it, and the service is cut off before the answer. `cut_racing`: MySQL receives it and the
 * service is cut off at once. `stall`: this and all later data of the connection waits for `resume`.
 */
export type Fate = Cut | 'pass' | 'stall';
export type Cut = 'cut_before' | 'cut_after' | 'cut_racing';

const COMMIT = Buffer.from('COMMIT');

interface Link {
  readonly service: Socket;
  readonly server: Socket;
  readonly waiting: (() => void)[];
  isStalled: boolean;
  isCutAtAnswer: boolean;
}

/** The URL with the address of a server of this process in place of its own. */
export function throughServer(server: Server, url: string): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen');
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = address.port.toString();
  return proxied.href;
}

/** A TCP proxy between the service and MySQL that can do what networks do. */
export class Proxy {
  /** Asked for every piece of data from the service. */
  fateOf: (data: Buffer) => Fate = () => 'pass';
  delayMs = 0;
  cuts = 0;
  private readonly server: Server;
  private readonly links = new Set<Link>();
  private target: { readonly host: string; readonly port: number };
  private isStalled = false;
  private isRefusing = false;

  private constructor(target: { host: string; port: number }) {
    this.target = target;
    this.server = createServer((service) => this.accept(service));
  }

  /** A proxy in front of the server that the URL names. */
  static async open(url: string): Promise<Proxy> {
    const { hostname, port } = new URL(url);
    const proxy = new Proxy({ host: hostname, port: Number.parseInt(port || '3306', 10) });
    await listenAt(proxy.server);
    return proxy;
  }

  /** The URL with the proxy's address in place of the server's. */
  through(url: string): string {
    return throughServer(this.server, url);
  }

  /** New connections go to another server on this machine. */
  leadTo(port: number): void {
    this.target = { host: '127.0.0.1', port };
  }

  /** Nothing passes any more, in either direction, and no connection ends. */
  stall(): void {
    this.isStalled = true;
  }

  /** Passes on what was kept back. */
  resume(): void {
    this.isStalled = false;
    for (const link of this.links) {
      link.isStalled = false;
      link.waiting.splice(0).forEach((pass) => pass());
    }
  }

  /** Ends every connection and takes no new one. */
  refuse(): void {
    this.isRefusing = true;
    this.cutAll();
  }

  /** Takes connections again. */
  allow(): void {
    this.isRefusing = false;
  }

  cutAll(): void {
    for (const link of this.links) this.cut(link);
  }

  async close(): Promise<void> {
    this.cutAll();
    this.server.close();
    await once(this.server, 'close');
  }

  private accept(service: Socket): void {
    if (this.isRefusing) {
      service.on('error', () => undefined);
      service.resetAndDestroy();
      return;
    }
    const server = connect(this.target);
    const link: Link = { service, server, waiting: [], isStalled: false, isCutAtAnswer: false };
    this.links.add(link);
    service.setNoDelay(true);
    server.setNoDelay(true);
    service.on('data', (data) => this.fromService(link, data));
    server.on('data', (data) => {
      if (link.isCutAtAnswer) this.cut(link);
      else this.pass(link, () => service.write(data));
    });
    for (const [one, other] of [
      [service, server],
      [server, service],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('end', () => this.pass(link, () => other.end()));
      one.on('close', () => {
        if (one === service || this.links.has(link)) other.end();
        this.links.delete(link);
      });
    }
  }

  private fromService(link: Link, data: Buffer): void {
    const fate = this.fateOf(data);
    if (fate === 'cut_before') return this.cut(link);
    if (fate === 'cut_racing') {
      // FIN behind the data, so that MySQL reads it; the service hears nothing.
      link.server.end(data);
      this.cuts += 1;
      link.service.resetAndDestroy();
      return;
    }
    link.isCutAtAnswer = fate === 'cut_after';
    link.isStalled ||= fate === 'stall';
    this.pass(link, () => link.server.write(data));
  }

  private pass(link: Link, send: () => void): void {
    if (this.isStalled || link.isStalled || link.waiting.length > 0) link.waiting.push(send);
    else if (this.delayMs > 0) setTimeout(send, this.delayMs);
    else send();
  }

  private cut(link: Link): void {
    this.cuts += 1;
    this.links.delete(link);
    link.service.resetAndDestroy();
    link.server.destroy();
  }
}

/** Whether the data is a COMMIT, alone or behind the statements that go with it. */
export function isCommit(data: Buffer): boolean {
  return data.subarray(-COMMIT.length).equals(COMMIT);
}

/**
 * Every second COMMIT meets the fate. Tells of a key whether MySQL never saw the text that binds it: any other that is
 * unknown may have happened, since a MySQL that stands still leaves keys unknown too.
 */
export function cutEverySecondCommit(proxy: Proxy, fate: Cut): (key: string) => boolean {
  const unseen: Buffer[] = [];
  let commit = 0;
  proxy.fateOf = (data) => {
    if (!isCommit(data) || (commit += 1) % 2 !== 0) return 'pass';
    if (fate === 'cut_before') unseen.push(data);
    return fate;
  };
  return (key) => unseen.some((text) => text.includes(key));
}
