import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  /** The beginning of the answer, for messages. */
  readonly text: string;
}

type OnAnswer = (answer: Answer) => void;

const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_AT = 'HTTP/1.1 '.length;
const CONTENT_LENGTH = /\r\ncontent-length: (\d+)\r\n/i;
const SHOWN_LETTERS = 4_000;

/**
 * A persistent HTTP/1.1 connection with one request at a time, which reads only the status and the length. A
 * general client costs several times as much CPU per request, at the expense of what is measured.
 */
export class Connection {
  private onAnswer: OnAnswer | null = null;
  /** Bytes of a response whose head is incomplete. */
  private head: Buffer | null = null;
  private answer: Answer | null = null;
  private bodyBytesLeft = 0;

  private constructor(
    private readonly socket: Socket,
    onBroken: (reason: Error) => void,
  ) {
    socket.on('data', (chunk) => {
      try {
        this.read(chunk);
      } catch (fault) {
        onBroken(fault instanceof Error ? fault : new Error(String(fault)));
      }
    });
    socket.on('error', onBroken);
    socket.on('close', () => onBroken(new Error('the service closed a connection')));
  }

  static open(port: number, onBroken: (reason: Error) => void): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket, onBroken));
      });
    });
  }

  /** The previous request must have been answered. */
  send(request: string | Buffer, onAnswer: OnAnswer): void {
    this.onAnswer = onAnswer;
    if (typeof request === 'string') this.socket.write(request, 'latin1');
    else this.socket.write(request);
  }

  close(): void {
    this.socket.removeAllListeners('close');
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    if (this.answer === null)
      this.readHead(this.head === null ? chunk : Buffer.concat([this.head, chunk]));
    else this.bodyBytesLeft -= chunk.length;
    if (this.answer === null || this.bodyBytesLeft > 0) return;
    const { answer, onAnswer } = this;
    this.answer = null;
    this.onAnswer = null;
    if (onAnswer === null) throw new Error(`received an unexpected answer:\n${answer.text}`);
    onAnswer(answer);
  }

  private readHead(bytes: Buffer): void {
    const end = bytes.indexOf(HEAD_END);
    this.head = end === -1 ? bytes : null;
    if (end === -1) return;
    const bodyAt = end + HEAD_END.length;
    const head = bytes.toString('latin1', 0, bodyAt);
    const length = CONTENT_LENGTH.exec(head)?.[1];
    if (length === undefined) throw new Error(`an answer came without Content-Length:\n${head}`);
    this.bodyBytesLeft = Number(length) - (bytes.length - bodyAt);
    this.answer = {
      status: Number(head.slice(STATUS_AT, STATUS_AT + 3)),
      text: bytes.toString('utf8', 0, SHOWN_LETTERS),
    };
  }
}
