import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { throughServer } from './proxy.js';
import { listenAt } from './service-process.js';

/** Decides when each statement of a transaction is sent. */
export interface Gate {
  /** Resolves when the session may send its next statement. */
  turn(session: object): Promise<void>;
  /** The statement was answered. `isEnd` if it ended the transaction. */
  answered(session: object, isEnd: boolean): void;
}

/** The packets of the protocol of MySQL: 3 bytes of length, a sequence number and the payload. */
const HEADER = 4;
const COM_QUERY = 3;
const [OK, EOF, ERROR] = [0x00, 0xfe, 0xff];
/** An EOF packet is shorter than a row that begins with the same byte. */
const LONGEST_EOF = 8;
const MORE_RESULTS = 0x08;

/**
 * A TCP proxy between the service and MySQL that takes the texts of transactions apart and sends their statements one by one, each
 * when the gate allows it. The service gets the same responses as without it.
 */
export class StatementProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly target: { readonly host: string; readonly port: number },
    private readonly gate: Gate,
  ) {
    this.server = createServer((service) => this.accept(service));
  }

  /** A proxy in front of the server that the URL names. */
  static async open(url: string, gate: Gate): Promise<StatementProxy> {
    const { hostname, port } = new URL(url);
    const target = { host: hostname, port: Number.parseInt(port || '3306', 10) };
    const proxy = new StatementProxy(target, gate);
    await listenAt(proxy.server);
    return proxy;
  }

  /** The URL with the proxy's address in place of the server's. */
  through(url: string): string {
    return throughServer(this.server, url);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private accept(service: Socket): void {
    const server = connect(this.target);
    const link = new Link(service, server, this.gate);
    for (const [one, other] of [
      [service, server],
      [server, service],
    ] as const) {
      this.sockets.add(one);
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
    service.on('data', (data) => link.fromService(data));
    server.on('data', (data) => link.fromServer(data));
  }
}

/** One connection. Its texts are taken apart once it has switched to transactions. */
class Link {
  private readonly sent = new PacketReader();
  private readonly received = new PacketReader();
  private isTransactional = false;
  /** Gets the packets of the response to one statement. */
  private collect: ((packet: Buffer) => void) | null = null;

  constructor(
    private readonly service: Socket,
    private readonly server: Socket,
    private readonly gate: Gate,
  ) {}

  fromService(data: Buffer): void {
    for (const packet of this.sent.read(data)) {
      const isQuery = packet[3] === 0 && packet[HEADER] === COM_QUERY;
      if (isQuery && this.isTransactional) void this.run(packet.subarray(HEADER));
      else this.server.write(packet);
      if (isQuery && packet.includes('autocommit=0')) this.isTransactional = true;
    }
  }

  fromServer(data: Buffer): void {
    if (this.collect === null) this.service.write(data);
    else for (const packet of this.received.read(data)) this.collect(packet);
  }

  /** Sends the statements of a text, and passes on their responses as one. Nothing is sent after an error. */
  private async run(payload: Buffer): Promise<void> {
    // MySQL, unlike MariaDB, gets two numbers of attributes before the text.
    const start = payload[1] === 0 ? 3 : 1;
    const statements = statementsOf(payload.toString('utf8', start));
    let sequence = 0;
    for (const [index, statement] of statements.entries()) {
      await this.gate.turn(this);
      const packets = await this.ask(
        Buffer.concat([payload.subarray(0, start), Buffer.from(statement)]),
      );
      const isLast = index === statements.length - 1;
      const last = packets.at(-1)!;
      if (!isLast) announceMore(last);
      for (const packet of packets) packet[3] = sequence += 1;
      this.service.write(Buffer.concat(packets));
      const isFailed = last[HEADER] === ERROR;
      this.gate.answered(this, isFailed || /^(COMMIT|ROLLBACK)$/.test(statement));
      if (isFailed) return;
    }
  }

  /** Resolves to the packets of the response. */
  private ask(payload: Buffer): Promise<readonly Buffer[]> {
    const header = Buffer.alloc(HEADER);
    header.writeUIntLE(payload.length, 0, 3);
    return new Promise((resolve) => {
      const packets: Buffer[] = [];
      let ends = 0;
      this.collect = (packet) => {
        packets.push(packet);
        const first = packet[HEADER];
        if (first === EOF && packet.length - HEADER <= LONGEST_EOF) ends += 1;
        const isWhole = first === ERROR || (packets.length === 1 && first === OK) || ends === 2;
        if (!isWhole) return;
        this.collect = null;
        resolve(packets);
      };
      this.server.write(Buffer.concat([header, payload]));
    });
  }
}

/** Sets the flag in the OK or EOF packet at the end of a response. An error has no such flag. */
function announceMore(packet: Buffer): void {
  const first = packet[HEADER];
  if (first === ERROR) return;
  let at = HEADER + 1;
  if (first === EOF) at += 2;
  else for (let numbers = 0; numbers < 2; numbers += 1) at += lengthOfNumber(packet[at]!);
  packet[at]! |= MORE_RESULTS;
}

/** The bytes of a number of variable length. */
function lengthOfNumber(first: number): number {
  return { 0xfc: 3, 0xfd: 4, 0xfe: 9 }[first] ?? 1;
}

class PacketReader {
  private rest: Buffer = Buffer.alloc(0);

  /** Returns the packets that are complete with this data. */
  read(data: Buffer): Buffer[] {
    this.rest = Buffer.concat([this.rest, data]);
    const packets: Buffer[] = [];
    for (;;) {
      const length = this.rest.length < HEADER ? Infinity : HEADER + this.rest.readUIntLE(0, 3);
      if (this.rest.length < length) return packets;
      packets.push(Buffer.from(this.rest.subarray(0, length)));
      this.rest = this.rest.subarray(length);
    }
  }
}

/** Splits a text at the semicolons outside quotes. */
export function statementsOf(text: string): string[] {
  return text.match(/(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[^;'"`])+/gs) ?? [];
}
