import { type Answer, Connection } from './connection.js';
import type { LoadJob, LoadResult } from './job.js';
import { latencyOf } from './latency.js';
import { type NextRequest, requestSource, type RequestSource } from './request-source.js';

/** Sends the job's requests and measures. Throws if a connection breaks. */
export async function generateLoad(job: LoadJob): Promise<LoadResult> {
  let fail: (reason: Error) => void = () => undefined;
  const broken = new Promise<never>((_, reject) => (fail = reject));
  const connections = await Promise.all(
    Array.from({ length: job.connections }, (_, index) =>
      Connection.open(job.ports[index % job.ports.length] ?? job.ports[0], (reason) =>
        fail(reason),
      ),
    ),
  );
  const measurement = new Measurement(job);
  const source = requestSource(job);
  const work =
    job.perSecond === null
      ? sendOneByOne(connections, source, measurement)
      : sendAtRate(1000 / job.perSecond, connections, source, measurement);
  await Promise.race([work, broken]);
  for (const connection of connections) connection.close();
  return measurement.result();
}

/** Sends the request, and any request that follows from its answer. */
function sendRequest(
  connection: Connection,
  request: NextRequest,
  sinceMs: number,
  measurement: Measurement,
  done: () => void,
): void {
  connection.send(request.wire, (answer) => {
    measurement.answered(request, answer, sinceMs);
    const followUp = request.followUp?.(answer) ?? null;
    if (followUp === null) done();
    else sendRequest(connection, followUp, performance.now(), measurement, done);
  });
}

/** Each connection sends its next request when the last one is answered. */
async function sendOneByOne(
  connections: readonly Connection[],
  source: RequestSource,
  measurement: Measurement,
): Promise<void> {
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((done) => {
          const next = (): void => {
            const request = measurement.isOver() ? null : source();
            if (request === null) return done();
            sendRequest(connection, request, performance.now(), measurement, next);
          };
          next();
        }),
    ),
  );
}

/**
 * Sends at a steady rate, however slow the service is. If every connection is busy, a request waits, and its latency
 * includes the wait.
 */
async function sendAtRate(
  everyMs: number,
  connections: readonly Connection[],
  source: RequestSource,
  measurement: Measurement,
): Promise<void> {
  const idle = [...connections];
  const waiting: { readonly request: NextRequest; readonly dueAt: number }[] = [];
  const began = performance.now();
  let due = 0;
  const dispatch = (): void => {
    while (idle.length > 0 && waiting.length > 0) {
      // Uses connections in turn, because the service closes a connection that is idle for long.
      const connection = idle.shift();
      const first = waiting.shift();
      if (connection === undefined || first === undefined) return;
      sendRequest(connection, first.request, first.dueAt, measurement, () => {
        idle.push(connection);
        dispatch();
      });
    }
  };
  await new Promise<void>((done) => {
    const tick = (): void => {
      const now = performance.now();
      for (; due <= (now - began) / everyMs && !measurement.isOver(); due += 1) {
        const request = source();
        if (request !== null) waiting.push({ request, dueAt: now });
      }
      dispatch();
      if (measurement.isOver() && idle.length === connections.length) done();
      else setTimeout(tick, Math.max(1, began + due * everyMs - now));
    };
    tick();
  });
}

/** Counts the answers between the end of the warm-up and the end of the measured time. */
class Measurement {
  private readonly beginsAt: number;
  private readonly endsAt: number;
  private readonly samples: number[] = [];
  private readonly byLabel = new Map<string, number[]>();
  private answers = 0;
  private answersInTime = 0;
  private lastAnswerAt = 0;
  private unexpected = 0;
  private firstUnexpected: string | null = null;
  private cpuAtBeginning = process.cpuUsage();

  constructor(private readonly job: LoadJob) {
    this.beginsAt = performance.now() + job.warmUpS * 1000;
    this.endsAt = this.beginsAt + job.seconds * 1000;
    setTimeout(() => (this.cpuAtBeginning = process.cpuUsage()), job.warmUpS * 1000);
  }

  isOver(): boolean {
    return performance.now() >= this.endsAt;
  }

  answered(
    { wire, labels, expectedStatus }: NextRequest,
    { status, text }: Answer,
    sentAt: number,
  ): void {
    const now = performance.now();
    this.answers += 1;
    if (status !== (expectedStatus ?? this.job.expectedStatus)) {
      this.unexpected += 1;
      this.firstUnexpected ??= `${/^.*/.exec(wire.toString())?.[0]}\n${text}`;
    }
    if (now >= this.beginsAt && now < this.endsAt) {
      this.answersInTime += 1;
      this.lastAnswerAt = now;
    }
    if (sentAt < this.beginsAt) return;
    this.samples.push(now - sentAt);
    for (const label of labels) {
      const own = this.byLabel.get(label) ?? [];
      own.push(now - sentAt);
      this.byLabel.set(label, own);
    }
  }

  result(): LoadResult {
    const { user, system } = process.cpuUsage(this.cpuAtBeginning);
    const seconds = (Math.min(this.endsAt, this.lastAnswerAt) - this.beginsAt) / 1000;
    return {
      perSecond: this.answersInTime / seconds,
      answered: this.answers,
      latency: latencyOf(this.samples),
      byLabel: Object.fromEntries(
        Array.from(this.byLabel, ([label, own]) => [label, latencyOf(own)]),
      ),
      unexpected: this.unexpected,
      firstUnexpected: this.firstUnexpected,
      generatorUsPerRequest: (user + system) / Math.max(1, this.answersInTime),
    };
  }
}
