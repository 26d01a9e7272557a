import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RowFailed } from '../row-failed.js';
import type { ReceiverRequest, Report, ReceiverMessage } from './protocol.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));
const POLL_MS = 100;

/** A webhook receiver on this machine, in a separate process, so that the suite's own work does not delay it. */
export class Receiver {
  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
  ) {}

  static async start(): Promise<Receiver> {
    const child = fork(MAIN, { execArgv: [] });
    const message = await nextMessage(child);
    if (!('port' in message)) throw new Error('the receiver did not report its port');
    return new Receiver(child, message.port);
  }

  /** The address of an endpoint by its number. */
  url(endpoint: number): string {
    return `http://127.0.0.1:${this.port}/${endpoint}`;
  }

  /**
   * Waits until this many different deliveries have arrived. Throws RowFailed if none arrive for `stillMs`, or if more
   * arrive than expected.
   */
  async untilArrived(deliveries: number, stillMs: number): Promise<void> {
    let seen = -1;
    for (let changedAt = performance.now(); ; await sleep(POLL_MS)) {
      const message = await this.request({ kind: 'count' });
      const distinct = 'distinct' in message ? message.distinct : 0;
      if (distinct === deliveries) return;
      if (distinct !== seen) changedAt = performance.now();
      seen = distinct;
      if (performance.now() - changedAt > stillMs)
        throw new RowFailed(
          `${distinct} of ${deliveries} deliveries arrived, and then none for ${stillMs / 1000} s`,
        );
    }
  }

  /** Latencies of events created at `since` (ms) or later. */
  async report(since: number): Promise<Report> {
    const message = await this.request({ kind: 'report', since });
    if (!('arrivals' in message)) throw new Error('the receiver sent no report');
    return message;
  }

  stop(): void {
    this.child.disconnect();
  }

  private request(request: ReceiverRequest): Promise<ReceiverMessage> {
    const response = nextMessage(this.child);
    this.child.send(request);
    return response;
  }
}

function nextMessage(child: ChildProcess): Promise<ReceiverMessage> {
  return new Promise((resolve, reject) => {
    const died = (): void => reject(new RowFailed('the webhook receiver ended'));
    child.once('exit', died);
    child.once('message', (message) => {
      child.off('exit', died);
      // The message is from our own program (main.ts).
      resolve(message as ReceiverMessage);
    });
  });
}
