import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Exchange } from './exchange.js';
import { RequestAborted } from './request-body.js';
import type { FileAnswer } from './route.js';
import { commonHeaders } from './send.js';

const STALLED_MS = 60_000;

/** Sends in chunks, so that a client detects a missing end. Throws RequestAborted. */
export async function sendFile(
  exchange: Exchange,
  status: number,
  file: FileAnswer,
  own: Readonly<Record<string, string>>,
): Promise<void> {
  const { response, method } = exchange;
  const head = [
    ...commonHeaders(exchange, own),
    ...['Content-Type', file.contentType],
    ...['Content-Disposition', `attachment; filename="${checkedName(file.name)}"`],
    ...['Cache-Control', 'no-store'],
    ...['X-Content-Type-Options', 'nosniff'],
  ];
  const begin = (): void => {
    response.writeHead(status, head);
  };
  if (method === 'HEAD') {
    begin();
    response.end();
    return;
  }
  const out = new FileOut(response, begin);
  await file.write(out);
  if (!out.writableEnded) throw new Error('the file was not written to its end');
  // A writer may end it before all data is sent.
  await finished(out);
}

/** A name that would break the header is a bug. */
function checkedName(name: string): string {
  if (!/^[\w.-]+$/.test(name)) throw new Error('the name of the file cannot stand in a header');
  return name;
}

/** Sends the head with the first byte, so that an earlier failure is still answered. */
class FileOut extends Writable {
  private hasBegun = false;
  private waiting: ((failure?: Error) => void) | null = null;

  constructor(
    private readonly response: ServerResponse,
    private readonly begin: () => void,
  ) {
    super();
    // The client may have disconnected before a listener was added.
    this.on('error', () => {});
    if (response.destroyed) this.destroy(new RequestAborted());
    response.once('close', () => {
      if (!this.writableFinished) this.destroy(new RequestAborted());
    });
    response.on('drain', () => this.goOn());
    response.setTimeout(STALLED_MS, () => response.destroy());
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (failure?: Error) => void): void {
    this.beginOnce();
    if (this.response.write(chunk)) done();
    else this.waiting = done;
  }

  override _final(done: (failure?: Error) => void): void {
    this.beginOnce();
    this.response.end(() => done());
  }

  private beginOnce(): void {
    if (!this.hasBegun) this.begin();
    this.hasBegun = true;
  }

  private goOn(): void {
    const { waiting } = this;
    this.waiting = null;
    waiting?.();
  }
}
