import { firstIdAt, type Uuid } from '../core/ids.js';
import { nullable, oneOf, uuid } from '../db/columns.js';
import type { Reader, StoredRow } from '../db/database.js';
import type { Asset } from '../core/amount.js';
import type { EntryKind, ResourceType } from '../db/entities/ledger.js';
import { SYSTEM_ROLES, type SystemRole } from '../db/entities/parties.js';
import type { Expectation, ExpectedEntry } from './operation-source.js';

/** `role` and `tenantId` are set for system accounts. */
interface Party {
  readonly id: Uuid;
  readonly tenantId: Uuid | null;
  readonly role: SystemRole | null;
}

interface PostedLeg {
  readonly kind: EntryKind;
  readonly raw: bigint;
  readonly asset: Asset;
  readonly account: Party;
  readonly counterparty: Party | null;
}

const role = nullable(oneOf(SYSTEM_ROLES));

/** Returns the account whose `tenant_id` and `system_role` were selected with this prefix. */
export function partyOf(id: Uuid, row: StoredRow, prefix: string): Party {
  const tenantId = nullable(uuid).parse(row[`${prefix}tenant_id`]);
  return { id, tenantId, role: role.parse(row[`${prefix}system_role`]) };
}

export function describeExpected(leg: ExpectedEntry): string {
  const { account, asset, raw, kind, counterparty } = leg;
  return `${kind} ${raw} ${asset} on ${account} with ${counterparty}`;
}

/** Describes an entry in the words of `describeExpected`, for an operation of this tenant. */
export function describePosted(leg: PostedLeg, tenantId: Uuid): string {
  const { kind, raw, asset, account, counterparty } = leg;
  const name = (party: Party | null): string => {
    if (party === null) return 'no account';
    return party.role !== null && party.tenantId === tenantId ? party.role : party.id;
  };
  return `${kind} ${raw} ${asset} on ${name(account)} with ${name(counterparty)}`;
}

export const postingFact = (type: ResourceType, description: string | null): string =>
  `${type} is posted ${JSON.stringify(description)}`;
export const eventFact = (type: string): string => `event ${type}`;
export const KEY_FACT = 'key';

/** Returns all facts that must exist for an operation outside of its own table. */
export function factsOf(
  type: ResourceType,
  { postings, description, events, isKeyed }: Expectation,
): { money: string[]; events: string[] } {
  const legs = postings.flat().map((leg) => `${type} ${describeExpected(leg)}`);
  const posted = postings.map(() => postingFact(type, description));
  return {
    money: [...posted, ...legs, ...(isKeyed ? [KEY_FACT] : [])],
    events: events.map(eventFact),
  };
}

/** Two 32-bit sums of hashes with different seeds are as good as one of 64 bits. */
const LANES = 2;
const SEEDS = [0x811c9dc5, 0x2f0b4c47] as const;
/** Operations of a table in one range, whose rows are in memory while they are compared. */
const OPERATIONS_PER_RANGE = 5_000;
/** Ids further ahead than this were made by a process with a wrong clock. */
const FAR_AHEAD_MS = 90 * 86_400_000;

/**
 * Compares facts about operations in different tables without an index between them: one scan adds
 * each fact to a 64-bit sum for the range of the operation's id, another subtracts it. A range
 * whose sum is not zero differs.
 */
export class Totals {
  private readonly sums: Int32Array;
  /** Operations created during the audit. Not compared, because scans see different parts of them. */
  private readonly lateRange: number;

  /** `bounds` are the first ids of all ranges except the first, in order. */
  private constructor(
    private readonly bounds: readonly Uuid[],
    firstLate: Uuid,
  ) {
    this.sums = new Int32Array((bounds.length + 1) * LANES);
    this.lateRange = this.rangeOf(firstLate);
  }

  /** Divides the ids of all operations in these tables into ranges. */
  static async read(reader: Reader, tables: readonly string[], now: number): Promise<Totals> {
    const [firstLate, firstAhead] = [firstIdAt(now + 1), firstIdAt(now + FAR_AHEAD_MS)];
    const bounds = [firstLate, firstAhead];
    for (const table of tables)
      for (let from: Uuid | null = null; ;) {
        const after: string = from === null ? '' : ` WHERE id>=${uuid.literal(from)}`;
        const [row] = await reader.query(
          `SELECT id FROM ${table} FORCE INDEX (PRIMARY)${after} ORDER BY id
           LIMIT 1 OFFSET ${OPERATIONS_PER_RANGE}`,
        );
        if (row === undefined) break;
        from = uuid.parse(row.id);
        if (from < firstLate || from > firstAhead) bounds.push(from);
      }
    return new Totals([...new Set(bounds)].sort(), firstLate);
  }

  add(id: Uuid, fact: string, times: number): void {
    const at = this.rangeOf(id) * LANES;
    for (let lane = 0; lane < LANES; lane += 1) {
      const sum = this.sums[at + lane] ?? 0;
      this.sums[at + lane] = sum + Math.imul(hash(id, hash(fact, SEEDS[lane] ?? 0)), times);
    }
  }

  /** Returns for each range that differs a function that gives the SQL condition for a column. */
  differing(): ((column: string) => string)[] {
    const ranges = Array.from({ length: this.bounds.length + 1 }, (_, range) => range);
    const differs = (range: number): boolean =>
      this.sums[range * LANES] !== 0 || this.sums[range * LANES + 1] !== 0;
    return ranges
      .filter((range) => range !== this.lateRange && differs(range))
      .map((range) => {
        const [from, to] = [this.bounds[range - 1], this.bounds[range]];
        return (column) =>
          [
            ...(from === undefined ? [] : [`${column}>=${uuid.literal(from)}`]),
            ...(to === undefined ? [] : [`${column}<${uuid.literal(to)}`]),
          ].join(' AND ');
      });
  }

  /** Binary search for the number of bounds that are not greater than the id. */
  private rangeOf(id: Uuid): number {
    let [low, high] = [0, this.bounds.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.bounds[middle] ?? '') <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** FNV-1a with the final mixing of Murmur3. */
function hash(text: string, seed: number): number {
  let mixed = seed;
  for (let at = 0; at < text.length; at += 1)
    mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
