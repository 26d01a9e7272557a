import { setTimeout as sleep } from 'node:timers/promises';
import { commandFingerprint } from '../core/fingerprint.js';
import type { Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import {
  type BonusBatch,
  bonusBatches,
  type BonusBatchRow,
  bonusBatchRows,
} from '../db/entities/bonuses.js';
import { accounts } from '../db/entities/parties.js';
import { isUnavailable } from '../db/failures.js';
import { literal } from '../db/statements.js';
import { readLimitState } from '../accounts/reading.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import { payRowKind, type PayRowCommand } from './commands.js';
import { NOT_NOW } from './decide.js';
import { endExecution, type EndingDeps } from './ending.js';
import { MakingSuperseded } from '../spreadsheets/stored-pieces.js';
import { OthersPosting } from './others.js';
import { isPaused, isSettled, rowKey, unsettledDebit } from './rules.js';
import type { Watch } from './validation/run.js';

interface PaidGroup {
  readonly tried: number;
  readonly settled: number;
  /** Those whose result is unknown: they are still pending, or will be found settled. */
  readonly unknown: number;
}

/** `unavailable`: rows are still open, so call again later. `cut_off`: by the signal. */
export type PaymentEnd = 'over' | 'paused' | 'cut_off' | 'unavailable';

/** The most and the fewest rows that share a ledger transaction. */
export const ROWS_A_GROUP = 100;
const FEWEST_ROWS = 20;
/** How long such a group may hold its accounts, for which others wait. On a busy machine it is fewer rows. */
const HELD_MS = 20;
const LONGEST_PAUSE_MS = 100;

/** The next rows of a batch: none if it is not being paid. */
interface NextGroup {
  readonly batch: BonusBatch | undefined;
  readonly rows: readonly BonusBatchRow[];
  /** False if the remaining funds or month do not cover all rows: then earlier rows come first. */
  readonly isOrderFree: boolean;
  /** The last row of the previous group; null at the first open row. */
  readonly follows: number | null;
}

const NOTHING: PaidGroup = { tried: 0, settled: 0, unknown: 0 };

interface ExecutionDeps extends EndingDeps {
  readonly desk: PostingDesk;
  /** Absent: as the log of events says. */
  readonly others?: Pick<OthersPosting, 'areMany'>;
}

/** Pays the rows of executing batches in file order. Safe to run twice, late and concurrently. */
export class BatchExecution {
  private readonly reader: Reader;
  private readonly others: Pick<OthersPosting, 'areMany'>;

  constructor(private readonly deps: ExecutionDeps) {
    this.reader = deps.database.reader;
    this.others = deps.others ?? new OthersPosting(this.reader, deps.clock);
  }

  /** `until` lets the groups under way finish; only the signal abandons the result file. Throws DatabaseUnavailable. */
  async pay(batchId: Uuid, { signal, heartbeat }: Watch, until = signal): Promise<PaymentEnd> {
    let [settled, unknown, after] = [0, 0, 0];
    let underWay = Promise.resolve(NOTHING);
    for (;;) {
      const [next, givesWay] = await Promise.all([
        this.nextGroup(batchId, this.rowsAGroup(), after),
        this.others.areMany(),
      ]);
      const goesOn = !until.aborted && next.rows.length > 0;
      const beside = goesOn && next.isOrderFree && !givesWay ? this.payRows(next) : null;
      const began = performance.now();
      const group = await underWay;
      // While others post, the machine is theirs for as long as a group takes.
      if (goesOn && givesWay) await sleep(Math.min(performance.now() - began, LONGEST_PAUSE_MS));
      settled += group.settled;
      unknown += group.unknown;
      heartbeat(settled);
      const isInOrder = goesOn && !next.isOrderFree;
      // If the funds or the month may run out, nothing begins after a row whose result is unknown.
      if ((group.tried > 0 && group.unknown === group.tried) || (unknown > 0 && isInOrder)) {
        await beside;
        return 'unavailable';
      }
      if (isInOrder && group.settled < group.tried) {
        // Rows came before their turn, or another payer settled them: continue at the first open row.
        [underWay, after] = [Promise.resolve(NOTHING), 0];
        continue;
      }
      underWay = beside ?? (goesOn ? this.payRows(next) : Promise.resolve(NOTHING));
      if (goesOn) {
        after = next.rows.at(-1)?.number ?? after;
        continue;
      }
      if (next.batch?.status !== 'executing') return 'over';
      if (isPaused(next.batch)) return 'paused';
      if (isSettled(next.batch)) return this.end(next.batch, signal);
      if (until.aborted) return 'cut_off';
      // Nothing follows the last group: the batch has ended, or earlier rows are still open, in another payer's hands
      // or unknown.
      if (unknown > 0 || after === 0) return 'unavailable';
      after = 0;
    }
  }

  private rowsAGroup(): number {
    return Math.max(FEWEST_ROWS, Math.min(ROWS_A_GROUP, this.deps.desk.commandsWithin(HELD_MS)));
  }

  private async end(batch: BonusBatch, signal: AbortSignal): Promise<PaymentEnd> {
    try {
      await endExecution(this.deps, batch, signal);
      return 'over';
    } catch (failure) {
      if (signal.aborted) return 'cut_off';
      if (isUnavailable(failure) || failure instanceof MakingSuperseded) return 'unavailable';
      throw failure;
    }
  }

  /** Tries the next pending rows, at most `maxRows`, in one transaction. Throws DatabaseUnavailable. */
  async payNextGroup(batchId: Uuid, maxRows: number): Promise<PaidGroup> {
    return this.payRows(await this.nextGroup(batchId, maxRows, 0));
  }

  private async payRows({ batch, rows, isOrderFree, follows }: NextGroup): Promise<PaidGroup> {
    if (batch === undefined || rows.length === 0) return NOTHING;
    const commands = rows.map((row, index) =>
      commandOf(batch, row, isOrderFree ? null : (rows[index - 1]?.number ?? follows)),
    );
    const answers = await this.deps.desk.submitTogether(payRowKind, commands);
    const count = (is: (refusal: Refusal) => boolean): number =>
      answers.filter(({ outcome }) => !outcome.done && is(outcome.refusal)).length;
    const unknown = count(({ code }) => code === 'ledger_unavailable');
    return {
      tried: rows.length,
      settled: rows.length - unknown - count((refusal) => refusal === NOT_NOW),
      unknown,
    };
  }

  private async nextGroup(batchId: Uuid, most: number, after: number): Promise<NextGroup> {
    const batch = await this.reader.find(bonusBatches, { id: batchId });
    const follows = after === 0 ? null : after;
    if (batch?.status !== 'executing' || isPaused(batch))
      return { batch, rows: [], isOrderFree: false, follows };
    const [rows, isOrderFree] = await Promise.all([
      this.pendingRows(batchId, after, most),
      this.isOrderFree(batch),
    ]);
    return { batch, rows, isOrderFree, follows };
  }

  private async isOrderFree(batch: BonusBatch): Promise<boolean> {
    if (batch.canceledAt !== null) return true;
    if (!batch.isHeld) return false;
    const source = await this.reader.find(accounts, { id: batch.sourceAccountId });
    if (source === undefined) return false;
    const limits = await readLimitState(this.reader, source, this.deps.clock());
    const own = limits.find(({ asset }) => asset === batch.asset);
    return own !== undefined && own.used + unsettledDebit(batch) <= own.limits.month;
  }

  private async pendingRows(batchId: Uuid, after: number, most: number): Promise<BonusBatchRow[]> {
    // Settled rows leave dead index entries behind, so reading starts where the last group ended.
    return this.reader.list(
      bonusBatchRows,
      `FORCE INDEX (status)
       WHERE batch_id=${literal(bonusBatchRows, 'batchId', batchId)} AND status='pending' AND number>${Math.trunc(after)}
       ORDER BY number LIMIT ${Math.trunc(most)}`,
    );
  }
}

function commandOf(batch: BonusBatch, row: BonusBatchRow, follows: number | null): PayRowCommand {
  if (batch.asset === null) throw new Error('an executing batch has no asset');
  return {
    tenantId: batch.tenantId,
    key: rowKey(row.id),
    fingerprint: commandFingerprint(['batch-row', row.id]),
    batchId: batch.id,
    sourceAccountId: batch.sourceAccountId,
    number: row.number,
    follows,
    recipientAccountId: row.recipientAccountId,
    feeAccountId: batch.feeAccountId,
    asset: batch.asset,
  };
}
