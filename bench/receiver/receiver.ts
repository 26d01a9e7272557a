import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RowFailed } from '../row-failed.js';
import type { Asked, Report, Told } from './protocol.js';

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
    const told = await answerOf(child);
    if (!('port' in told)) throw new Error('the receiver told no port');
    return new Receiver(child, told.port);
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
      const told = await this.ask({ ask: 'count' });
      const distinct = 'distinct' in told ? told.distinct : 0;
      if (distinct === deliveries) return;
      if (distinct !== seen) changedAt = performance.now();
      seen = distinct;
      if (performance.now() - changedAt > stillMs)
        throw new RowFailed(
          `${distinct} of ${deliveries} deliveries came, and then none for ${stillMs / 1000} s`,
        );
    }
  }

  /** Latencies of events created at `since` (ms) or later. */
  async report(since: number): Promise<Report> {
    const told = await this.ask({ ask: 'report', since });
    if (!('arrivals' in told)) throw new Error('the receiver told no report');
    return told;
  }

  stop(): void {
    this.child.disconnect();
  }

  private ask(asked: Asked): Promise<Told> {
    const answer = answerOf(this.child);
    this.child.send(asked);
    return answer;
  }
}

function answerOf(child: ChildProcess): Promise<Told> {
  return new Promise((resolve, reject) => {
    const died = (): void => reject(new RowFailed('the webhook receiver ended'));
    child.once('exit', died);
    child.once('message', (told) => {
      child.off('exit', died);
      // The message is from our own program (main.ts).
      resolve(told as Told);
    });
  });
}
