import { type AddressRange, admitsAddress, parseRanges } from '../core/address-ranges.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import { sameBytes } from '../core/fingerprint.js';
import { type Clock, type Instant, instant } from '../core/instant.js';
import type { TokenHolder } from '../core/permissions.js';
import type { Database, Reader } from '../db/database.js';
import { type Token, tokens } from '../db/entities/parties.js';
import { literal, literals } from '../db/statements.js';
import { hashToken, keyIdOf } from './token-text.js';

/** Counted from the request for the token's row, so that a revocation takes effect within 5 s. */
const MAX_AGE_MS = 500;
const MAX_KNOWN = 20_000;
/** Unknown tokens have a separate cache, so that a flood of invented ones evicts no real token. */
const MAX_UNKNOWN = 20_000;
const MAX_PER_READ = 1_000;

interface LiveToken {
  readonly holder: TokenHolder;
  readonly secretHash: Buffer;
  readonly effectiveAt: Instant | null;
  readonly expiresAt: Instant | null;
  readonly ranges: readonly AddressRange[];
}

type TokensByKeyId = ReadonlyMap<string, LiveToken>;

/** One SELECT for all key ids that are requested in one turn of the event loop. */
interface SharedRead {
  readonly keyIds: Set<string>;
  readonly requestedAt: number;
  readonly found: Promise<TokensByKeyId>;
}

export class Authenticator {
  private readonly known = new ExpiringCache<LiveToken>(MAX_KNOWN, MAX_AGE_MS);
  private readonly unknown = new ExpiringCache<true>(MAX_UNKNOWN, MAX_AGE_MS);
  private readonly running = new Map<string, SharedRead>();
  private nextRead: SharedRead | null = null;

  constructor(
    private readonly reader: Reader,
    private readonly clock: Clock,
  ) {}

  /** Returns the holder, or null for an invalid token; synchronously if the token is cached. */
  authenticate(token: string, address: string): TokenHolder | null | Promise<TokenHolder | null> {
    const keyId = keyIdOf(token);
    if (keyId === null) return null;
    const now = performance.now();
    if (this.unknown.get(keyId, now) === true) return null;
    const known = this.known.get(keyId, now);
    if (known !== undefined) return this.holderOf(known, token, address);
    return this.lookUp(keyId, now).then((live) =>
      live === undefined ? null : this.holderOf(live, token, address),
    );
  }

  private holderOf(live: LiveToken, token: string, address: string): TokenHolder | null {
    if (!sameBytes(hashToken(token), live.secretHash)) return null;
    if (live.effectiveAt !== null && this.clock() < live.effectiveAt) return null;
    if (live.expiresAt !== null && this.clock() >= live.expiresAt) return null;
    return admitsAddress(live.ranges, address) ? live.holder : null;
  }

  private async lookUp(keyId: string, now: number): Promise<LiveToken | undefined> {
    const running = this.running.get(keyId);
    const read =
      running !== undefined && now - running.requestedAt <= MAX_AGE_MS
        ? running
        : this.joinNextRead(keyId, now);
    return (await read.found).get(keyId);
  }

  private joinNextRead(keyId: string, now: number): SharedRead {
    let next = this.nextRead;
    if (next === null || next.keyIds.size >= MAX_PER_READ) {
      const keyIds = new Set<string>();
      const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() =>
        this.read(read),
      );
      const read: SharedRead = { keyIds, requestedAt: now, found };
      next = this.nextRead = read;
    }
    next.keyIds.add(keyId);
    this.running.set(keyId, next);
    return next;
  }

  private async read(read: SharedRead): Promise<TokensByKeyId> {
    if (this.nextRead === read) this.nextRead = null;
    const keyIds = [...read.keyIds];
    try {
      const rows = await this.reader.select(tokens, { keyId: keyIds });
      const found = new Map(
        rows.filter((row) => row.revokedAt === null).map((row) => [row.keyId, liveToken(row)]),
      );
      // Dated by the request, so that no entry is used longer than MAX_AGE_MS after it.
      for (const keyId of keyIds) this.cache(keyId, found.get(keyId), read.requestedAt);
      return found;
    } finally {
      for (const keyId of keyIds) if (this.running.get(keyId) === read) this.running.delete(keyId);
    }
  }

  private cache(keyId: string, live: LiveToken | undefined, requestedAt: number): void {
    if (live === undefined) {
      this.known.delete(keyId);
      this.unknown.set(keyId, true, requestedAt);
    } else {
      this.unknown.delete(keyId);
      this.known.set(keyId, live, requestedAt);
    }
  }
}

function liveToken(row: Token): LiveToken {
  const { tenantId, memberId, keyId, scopes, secretHash, effectiveAt, expiresAt } = row;
  const holder = { tenantId, memberId, tokenKeyId: keyId, scopes };
  return { holder, secretHash, effectiveAt, expiresAt, ranges: parseRanges(row.cidrs) };
}

/** Minimum interval between two records of a token's use, across all processes. */
const RECORD_EVERY_MS = 5 * 60_000;
const WRITE_AFTER_MS = 10_000;
const MAX_CACHED_USES = 20_000;

/**
 * Records when tokens were last used, with a delay of minutes. A killed process loses the last
 * uses.
 */
export class TokenUses {
  private readonly recordedAt = new Map<string, Instant>();
  private pending = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Pick<Database, 'withTransaction'>,
    private readonly clock: Clock,
  ) {}

  record(keyId: string): void {
    const now = this.clock();
    const before = this.recordedAt.get(keyId);
    if (before !== undefined && now - before < RECORD_EVERY_MS) return;
    if (this.recordedAt.size >= MAX_CACHED_USES) this.recordedAt.clear();
    this.recordedAt.set(keyId, now);
    this.pending.add(keyId);
    this.timer ??= setTimeout(() => void this.write(), WRITE_AFTER_MS).unref();
  }

  /** Writes the pending uses. Never throws, because a later use repeats a failed write. */
  async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const keyIds = [...this.pending].sort();
    if (keyIds.length === 0) return;
    this.pending = new Set();
    const now = this.clock();
    const recordedBefore = literal(tokens, 'lastUsedAt', instant(now - RECORD_EVERY_MS));
    const sql = `UPDATE tokens SET last_used_at=${literal(tokens, 'lastUsedAt', now)}
      WHERE key_id IN (${literals(tokens, 'keyId', keyIds)}) AND (last_used_at IS NULL OR last_used_at<${recordedBefore})`;
    try {
      await this.database.withTransaction((transaction) => transaction.execute(sql));
    } catch {
      for (const keyId of keyIds) this.recordedAt.delete(keyId);
    }
  }
}
