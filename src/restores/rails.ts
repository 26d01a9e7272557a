import { formatAmount } from '../core/amount.js';
import { compareText, groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { string, time, uuid } from '../db/columns.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import type { Batch } from '../db/entities/batches.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { type Restore, type RestoreFinding, restoreFindings } from '../db/entities/restores.js';
import { literal, literals, upsertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import {
  type ListedPayment,
  type Rail,
  type RailPage,
  type Rails,
  RailUnresponsive,
} from '../payouts/rails/rail.js';
import { openPayoutBatches } from '../batches/row-storage.js';
import { UNFINISHED } from '../payouts/rules.js';
import { railsOfWorkers } from '../payouts/recovery.js';
import { describeRow, type FindingKind, findingOf, findingOfRow, isLossy } from './rules.js';

/** Compares the payouts with what the rails report after a restore. (docs/operations/backup.md) */

/** Largest difference assumed between the clocks of a rail and the database. */
const CLOCKS_APART_MS = 300_000;
const SLICE = 500;
const STATUS_REQUESTS_AT_ONCE = 20;

/** Returns the rails of payouts that have not ended. */
export async function railsInUse(reader: Reader): Promise<readonly string[]> {
  const rows = await reader.query(
    `SELECT DISTINCT rail FROM payouts FORCE INDEX (expiring)
     WHERE status IN (${literals(payouts, 'status', UNFINISHED)}) ORDER BY rail`,
  );
  return rows.map((row) => string.parse(row.rail));
}

/** Returns the rails of any payout, and those that workers have served. */
export async function railsEverSeen(reader: Reader): Promise<readonly string[]> {
  const rails: string[] = [];
  for (;;) {
    // Reads one rail at a time, because DISTINCT may read the whole index.
    const [next] = await reader.query(
      `SELECT rail FROM payouts FORCE INDEX (polling) WHERE rail>${literal(payouts, 'rail', rails.at(-1) ?? '')}
       ORDER BY rail LIMIT 1`,
    );
    if (next === undefined) break;
    rails.push(string.parse(next.rail));
  }
  return [...new Set([...rails, ...(await railsOfWorkers(reader))])].sort(compareText);
}

interface RailReconciliation extends DatabaseDeps {
  readonly restore: Restore;
  readonly onProgress: (rail: string, checked: number) => void;
}

/**
 * Asks each rail for the payments it received since the moment of the restore, and for the outcome
 * of every payout that has not ended here. Stores the findings. Returns the rails that cannot list
 * payments. Throws RailUnresponsive.
 */
export async function queryRails(
  deps: RailReconciliation,
  rails: Rails,
): Promise<readonly string[]> {
  const cannotList: string[] = [];
  for (const [name, rail] of rails) {
    await compareUnfinished(deps, name, rail);
    if (!(await compareList(deps, name, rail))) cannotList.push(name);
  }
  return cannotList;
}

async function compareList(deps: RailReconciliation, name: string, rail: Rail): Promise<boolean> {
  const { restoredTo } = deps.restore;
  const since: Instant = instant((restoredTo ?? deps.restore.beganAt) - CLOCKS_APART_MS);
  const batchOf = await openPayoutBatches(deps.database.reader);
  let seen = 0;
  let after: Uuid | null = null;
  do {
    const page: RailPage | null = await rail.list(since, after);
    if (page === null) return false;
    await compareListed(deps, name, page.items, batchOf);
    seen += page.items.length;
    deps.onProgress(name, seen);
    if (after !== null && page.next !== null && page.next <= after)
      throw new RailUnresponsive(
        `${name} lists no payments after ${after}, but reports that there are more`,
      );
    after = page.next;
  } while (after !== null);
  return true;
}

async function compareListed(
  deps: RailReconciliation,
  rail: string,
  listed: readonly ListedPayment[],
  batchOf: (rowId: Uuid) => Batch | undefined,
): Promise<void> {
  const keys = listed.map(({ key }) => key);
  const known = await readCurrent(deps, rail, keys);
  const found = listed.flatMap((item) => {
    const payout = known.get(item.key);
    const batch = payout === undefined ? batchOf(item.key) : undefined;
    const kind = payout === undefined ? findingOfRow(batch) : findingOf(payout, item);
    const here = payout?.status ?? describeRow(batch);
    return kind === null ? [] : [newFinding(deps, kind, rail, item.key, here, reportText(item))];
  });
  await storeFindings(deps, found);
}

async function compareUnfinished(
  deps: RailReconciliation,
  name: string,
  rail: Rail,
): Promise<void> {
  let seen = 0;
  for await (const slice of readUnfinished(deps.database.reader, name)) {
    for (let from = 0; from < slice.length; from += STATUS_REQUESTS_AT_ONCE) {
      const some = slice.slice(from, from + STATUS_REQUESTS_AT_ONCE);
      const responses = await Promise.all(some.map((payout) => statusOf(rail, payout)));
      const ids = some.map(({ id }) => id);
      const now = await readCurrent(deps, name, ids);
      const found = some.flatMap((before, index) => {
        const response = responses[index] ?? null;
        const payout = now.get(before.id) ?? before;
        const kind = findingFor(deps.restore, before, payout, response);
        return kind === null
          ? []
          : [newFinding(deps, kind, name, payout.id, payout.status, responseText(response))];
      });
      await storeFindings(deps, found);
      seen += some.length;
      deps.onProgress(name, seen);
    }
  }
}

/** Reads the payouts again, because they may have changed while the rail was queried. */
async function readCurrent(
  { database }: RailReconciliation,
  rail: string,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, Payout>> {
  return new Map(
    (await database.current.select(payouts, { id: ids, rail })).map((payout) => [
      payout.id,
      payout,
    ]),
  );
}

function findingFor(
  restore: Restore,
  before: Payout,
  now: Payout,
  response: RailResponse,
): FindingKind | null {
  // The payout may have been submitted in the time that the restore lost.
  if (response === 'no answer')
    return isLossy(restore) && now.createdAt < (restore.finishedAt ?? Infinity) ? 'goes_on' : null;
  // The rail may have received the payout since it responded that it does not know it.
  return findingOf(response === null ? before : now, response);
}

/**
 * Returns `no answer` if the rail does not respond about an approved payout, because the payout's
 * workflow polls again. Throws RailUnresponsive for a payout that waits for approval.
 */
async function statusOf(rail: Rail, payout: Payout): Promise<RailResponse> {
  try {
    return await rail.status(payout.id);
  } catch (failure) {
    if (failure instanceof RailUnresponsive && payout.status !== 'pending_approval')
      return 'no answer';
    throw failure;
  }
}

async function* readUnfinished(reader: Reader, rail: string): AsyncGenerator<readonly Payout[]> {
  let after: Uuid | null = null;
  do {
    const afterSql: string = after === null ? '' : ` AND id>${uuid.literal(after)}`;
    const found = await reader.list(
      payouts,
      `FORCE INDEX (expiring)
       WHERE status IN (${literals(payouts, 'status', UNFINISHED)}) AND rail=${literal(payouts, 'rail', rail)}${afterSql}
       ORDER BY id LIMIT ${SLICE}`,
    );
    if (found.length > 0) yield found;
    after = found.length < SLICE ? null : (found.at(-1)?.id ?? null);
  } while (after !== null);
}

type RailResponse = Awaited<ReturnType<Rail['status']>> | 'no answer';

function responseText(response: RailResponse): string {
  if (response === 'no answer') return response;
  return response === null
    ? 'unknown'
    : `${response.status}, reference ${response.reference ?? 'none'}`;
}

function reportText({ status, reference, amount }: ListedPayment): string {
  return `${status}, ${formatAmount(amount)}, reference ${reference ?? 'none'}`;
}

function newFinding(
  { restore, clock }: RailReconciliation,
  kind: FindingKind,
  rail: string,
  payoutId: Uuid,
  here: string,
  there: string,
): RestoreFinding {
  return { restoreId: restore.id, kind, rail, payoutId, here, there, foundAt: clock() };
}

async function storeFindings(
  { database }: RailReconciliation,
  found: readonly RestoreFinding[],
): Promise<void> {
  if (found.length === 0) return;
  const sql = upsertSql(restoreFindings, found, ['here', 'there', 'foundAt']);
  await transact(database, (transaction) => transaction.execute(sql));
}

export function findingsOf(reader: Reader, restoreId: Uuid): Promise<readonly RestoreFinding[]> {
  return reader.select(restoreFindings, { restoreId }, { orderBy: ['rail', 'payoutId'] });
}

/** Returns the findings of a restore, and those made since it began for earlier restores. */
export async function findingsSince(
  reader: Reader,
  { id, beganAt }: Restore,
): Promise<readonly RestoreFinding[]> {
  const all = await reader.list(
    restoreFindings,
    `WHERE restore_id=${uuid.literal(id)} OR found_at>=${time.literal(beganAt)} ORDER BY rail, payout_id, found_at`,
  );
  const distinct = new Map(all.map((one) => [`${one.kind} ${one.rail} ${one.payoutId}`, one]));
  const { goes_on: continuing = [], ...contradictions } = Object.fromEntries(
    groupBy([...distinct.values()], ({ kind }) => kind),
  );
  return [...Object.values(contradictions).flat(), ...continuing];
}
