import { Agent, request } from 'node:http';
import { randomUUID } from 'node:crypto';
import { latencyOf } from '../load/latency.js';
import type { Latency } from '../load/job.js';

interface BarePosts {
  readonly perSecond: number;
  readonly latency: Latency;
}

const WARM_UP_SHARE = 0.2;
const BODY_LETTERS = 700;

/** Posts bodies the size of an event to the addresses, `atOnce` at a time, and does nothing else. */
export async function postBare(
  urls: readonly string[],
  atOnce: number,
  seconds: number,
): Promise<BarePosts> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const began = performance.now();
  const countsFrom = began + seconds * WARM_UP_SHARE * 1000;
  const endsAt = began + seconds * 1000;
  const samples: number[] = [];
  try {
    await Promise.all(
      Array.from({ length: atOnce }, async (_, lane) => {
        const url = urls[lane % urls.length] ?? '';
        while (performance.now() < endsAt) {
          const sentAt = performance.now();
          await post(agent, url);
          if (sentAt >= countsFrom) samples.push(performance.now() - sentAt);
        }
      }),
    );
  } finally {
    agent.destroy();
  }
  return {
    perSecond: (samples.length * 1000) / (performance.now() - countsFrom),
    latency: latencyOf(samples),
  };
}

function post(agent: Agent, url: string): Promise<void> {
  const body = JSON.stringify({
    id: randomUUID(),
    created_at: new Date().toISOString(),
    filler: 'x'.repeat(BODY_LETTERS),
  });
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    };
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve());
      answer.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
