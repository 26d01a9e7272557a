import { latencyOf } from '../load/latency.js';
import type { Latency } from '../load/job.js';
import { closeAll, openMany } from './driver.js';

interface BareReads {
  readonly perSecond: number;
  readonly latency: Latency;
}

const WARM_UP_SHARE = 0.2;

/** Sends single reads by the bare driver, over as many connections as the service has, each waiting for its answer. */
export async function replayReads(
  url: string,
  statements: readonly string[],
  connections: number,
  seconds: number,
): Promise<BareReads> {
  const readers = await openMany(url, 'reads', connections);
  const began = performance.now();
  const countsFrom = began + seconds * WARM_UP_SHARE * 1000;
  const endsAt = began + seconds * 1000;
  const samples: number[] = [];
  let next = 0;
  try {
    await Promise.all(
      readers.map(async (reader) => {
        while (performance.now() < endsAt) {
          const sentAt = performance.now();
          await reader.query(statements[next++ % statements.length] ?? '');
          if (sentAt >= countsFrom) samples.push(performance.now() - sentAt);
        }
      }),
    );
  } finally {
    await closeAll(readers);
  }
  return {
    perSecond: (samples.length * 1000) / (performance.now() - countsFrom),
    latency: latencyOf(samples),
  };
}
