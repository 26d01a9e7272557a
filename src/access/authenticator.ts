import { sameBytes } from '../core/fingerprint.js';
import type { Clock, Instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import { type Token, tokens } from '../db/entities/parties.js';
import { type AddressRange, admitsAddress, parseRanges } from '../core/address-ranges.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import { hashOfToken, keyIdOf } from './token-format.js';

/** From the moment a token's read was sent. A revocation takes effect within 5 s in all. */
const MAX_AGE_MS = 500;
const MAX_KNOWN = 20_000;
/** A cache of their own: a flood of invented tokens does not evict real ones. */
const MAX_UNKNOWN = 20_000;
const MAX_READ_AT_ONCE = 1_000;

interface LiveToken {
  readonly caller: Caller;
  readonly secretHash: Buffer;
  readonly expiresAt: Instant | null;
  readonly ranges: readonly AddressRange[];
}

type Found = ReadonlyMap<string, LiveToken>;

/** Reads all key ids requested in one turn of the event loop with one SELECT. */
interface SharedRead {
  readonly keyIds: Set<string>;
  readonly askedAt: number;
  readonly found: Promise<Found>;
}

/** A token read less than half a second ago is not read again. */
export class Authenticator {
  private readonly known = new ExpiringCache<LiveToken>(MAX_KNOWN, MAX_AGE_MS);
  private readonly unknown = new ExpiringCache<true>(MAX_UNKNOWN, MAX_AGE_MS);
  private readonly running = new Map<string, SharedRead>();
  private gathering: SharedRead | null = null;

  constructor(
    private readonly reader: Reader,
    private readonly clock: Clock,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** Returns the caller, or null for an invalid token; synchronously if the token is cached. */
  authenticate(token: string, address: string): Caller | null | Promise<Caller | null> {
    const keyId = keyIdOf(token);
    if (keyId === null) return null;
    const now = this.elapsed();
    if (this.unknown.get(keyId, now) === true) return null;
    const known = this.known.get(keyId, now);
    if (known !== undefined) return this.callerOf(known, token, address);
    return this.lookUp(keyId, now).then((live) =>
      live === undefined ? null : this.callerOf(live, token, address),
    );
  }

  private callerOf(live: LiveToken, token: string, address: string): Caller | null {
    if (!sameBytes(hashOfToken(token), live.secretHash)) return null;
    if (live.expiresAt !== null && this.clock() >= live.expiresAt) return null;
    return admitsAddress(live.ranges, address) ? live.caller : null;
  }

  private async lookUp(keyId: string, now: number): Promise<LiveToken | undefined> {
    const running = this.running.get(keyId);
    const read =
      running !== undefined && now - running.askedAt <= MAX_AGE_MS
        ? running
        : this.joinNextRead(keyId, now);
    return (await read.found).get(keyId);
  }

  private joinNextRead(keyId: string, now: number): SharedRead {
    let next = this.gathering;
    if (next === null || next.keyIds.size >= MAX_READ_AT_ONCE) {
      const keyIds = new Set<string>();
      const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() =>
        this.read(read),
      );
      const read: SharedRead = { keyIds, askedAt: now, found };
      next = this.gathering = read;
    }
    next.keyIds.add(keyId);
    this.running.set(keyId, next);
    return next;
  }

  private async read(read: SharedRead): Promise<Found> {
    if (this.gathering === read) this.gathering = null;
    const keyIds = [...read.keyIds];
    try {
      const rows = await this.reader.select(tokens, { keyId: keyIds });
      const found = new Map(
        rows.filter((row) => row.revokedAt === null).map((row) => [row.keyId, liveToken(row)]),
      );
      // A result that a newer read has overtaken is not used.
      for (const keyId of keyIds) this.remember(keyId, found.get(keyId), read.askedAt);
      return found;
    } finally {
      for (const keyId of keyIds) if (this.running.get(keyId) === read) this.running.delete(keyId);
    }
  }

  private remember(keyId: string, live: LiveToken | undefined, askedAt: number): void {
    if (live === undefined) {
      this.known.delete(keyId);
      this.unknown.set(keyId, true, askedAt);
    } else {
      this.unknown.delete(keyId);
      this.known.set(keyId, live, askedAt);
    }
  }
}

function liveToken(row: Token): LiveToken {
  const { tenantId, memberId, keyId, scopes, secretHash, expiresAt } = row;
  const caller = { tenantId, memberId, tokenKeyId: keyId, scopes };
  return { caller, secretHash, expiresAt, ranges: parseRanges(row.cidrs) };
}
