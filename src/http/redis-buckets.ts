import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';
import type { BucketResult } from './rate-limit.js';
import type { BucketStore } from './shared-rate-limit.js';

/**
 * TokenBuckets on Redis's own clock. Numbers are text, since Redis would truncate them. A time too
 * far ahead counts as an empty bucket.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local refill, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = tonumber(redis.call('GET', KEYS[1]) or now)
full = math.min(math.max(full, now), now + burst * refill)
local after = full + refill
local over = after - now - burst * refill
local missing = full - now
if over <= 0.01 then
  missing = after - now
  redis.call('SET', KEYS[1], string.format('%.4f', after), 'PX', math.ceil(missing))
end
return { over <= 0.01 and 1 or 0, string.format('%.4f', missing), string.format('%.4f', over) }
`;
const SHA1 = createHash('sha1').update(SCRIPT).digest('hex');

const CONNECT_MS = 1_000;
const LONGEST_PAUSE_MS = 2_000;

/** Buckets shared by processes. Connects in the background. */
export class RedisBuckets implements BucketStore {
  private readonly client;

  /** `url` is `redis://user:password@host:port/database`; `rediss:` for TLS. */
  constructor(url: string) {
    this.client = createClient({
      url,
      // A request is decided without the store if it cannot be sent now.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: CONNECT_MS,
        reconnectStrategy: (retries: number) =>
          Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(retries, 10)),
      },
    });
    // An unhandled event would end the process.
    this.client.on('error', () => undefined);
    this.client.connect().catch(() => undefined);
  }

  get isThere(): boolean {
    return this.client.isReady;
  }

  async take(bucket: string, burst: number, refillMs: number): Promise<BucketResult> {
    const given = { keys: [bucket], arguments: [String(refillMs), String(burst)] };
    const answer: unknown = await this.client.evalSha(SHA1, given).catch((failure: unknown) => {
      // Not loaded yet, or Redis was restarted.
      if (failure instanceof Error && failure.message.startsWith('NOSCRIPT'))
        return this.client.eval(SCRIPT, given);
      throw failure;
    });
    if (!Array.isArray(answer)) throw new TypeError('Redis answered something else');
    const [allowed, missingMs, overMs] = answer.map(Number);
    if (missingMs === undefined || overMs === undefined)
      throw new TypeError('Redis answered too little');
    return { allowed: allowed === 1, missingMs, overMs };
  }

  /** Abandons commands under way. */
  close(): void {
    if (this.client.isOpen) this.client.destroy();
  }
}
