import { ApiError } from '../core/errors.js';
import { FairQueue } from '../core/scheduling.js';
import type { Uuid } from '../core/ids.js';
import { type Clock, instant, type Instant } from '../core/instant.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { DatabaseUnavailable } from '../db/failures.js';
import { batchStorage } from '../db/entities/batches.js';
import { tenantQuotas } from '../db/entities/identity.js';
import { knownRecipients, recipientBudgets } from '../db/entities/parties.js';
import { insertSql, updateSql, upsertSql } from '../db/statements.js';
import { type StatementOwner, transactFor } from '../db/reader.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { Recipient } from './recipients.js';

/** The token and the tenant whose budgets pay for a look-up. The token is null if unknown. */
interface BudgetOwner extends StatementOwner {
  readonly tokenKeyId: string | null;
}

/** A batch file up to `row`. Its unknown names are paid for once, even if it is read again. */
interface FilePiece {
  readonly batchId: Uuid;
  readonly row: number;
}

/** How many new people a token and its tenant may name at once. */
export interface NewRecipients {
  readonly ofToken: number;
  readonly ofTenant: number;
}

interface BudgetSize extends NewRecipients {
  /** Milliseconds after which an empty budget is full again. */
  readonly fullAfterMs: number;
}

export const RECIPIENTS_FULL_AFTER_MS = 10 * 86_400_000;
const MAX_CACHED = 100_000;

/**
 * Limits how many new people a tenant finds by alias or phone, because every response, even
 * "not found", reveals who is a customer. All processes share one budget. (docs/contract.md, Rate
 * limits)
 */
export class RecipientBudget {
  /** Recipients that a tenant knows, which cost nothing. */
  private readonly cached = new Set<string>();
  /** Runs one charge per tenant at a time, so that waiting requests hold no connection. */
  private readonly queue = new FairQueue(Number.POSITIVE_INFINITY);

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly writer: Pick<LedgerWriter, 'admit'>,
    private readonly size: BudgetSize,
  ) {}

  /**
   * Pays for the results of some names before they are revealed. If the budget does not cover all
   * of them, it pays for as many as possible, which makes these known, and throws ApiError
   * rate_limited. A null result means that no account has the name. Throws DatabaseUnavailable at
   * once if too many requests wait, DeadlinePassed after the deadline.
   */
  async charge(owner: BudgetOwner, found: readonly Recipient[], piece?: FilePiece): Promise<void> {
    const { tenantId } = owner;
    if (found.every((id) => id !== null && this.cached.has(`${tenantId} ${id}`))) return;
    await this.whileAdmitted(tenantId, async () => {
      const reader = this.database.readerFor(owner);
      const { count } = await countNewRecipients(reader, tenantId, found);
      if (count === 0) return;
      const leave = await this.queue.enter(tenantId, owner.deadline?.signal);
      await this.payForMost(owner, found, piece).finally(leave);
    });
    this.cacheKnown(tenantId, found);
  }

  /**
   * Does something that a request waits for, which counts together with the commands that wait for
   * the ledger. Throws DatabaseUnavailable at once if too many requests of the tenant wait.
   */
  async whileAdmitted<T>(tenantId: Uuid, work: () => Promise<T>): Promise<T> {
    const release = this.writer.admit(tenantId);
    if (release === null) throw new DatabaseUnavailable('too many requests of the tenant wait');
    return work().finally(release);
  }

  /** Pays for all names, or else for as many as possible by halving the list, and then throws. */
  private async payForMost(
    owner: BudgetOwner,
    found: readonly Recipient[],
    piece?: FilePiece,
  ): Promise<void> {
    try {
      await transactFor(owner, this.database, (transaction) =>
        this.pay(transaction, owner, found, piece),
      );
    } catch (refusal) {
      if (!(refusal instanceof ApiError) || found.length === 1) throw refusal;
      const middle = Math.ceil(found.length / 2);
      try {
        await this.payForMost(owner, found.slice(0, middle));
        await this.payForMost(owner, found.slice(middle));
      } catch (failure) {
        if (!(failure instanceof ApiError)) throw failure;
      }
      throw refusal;
    }
  }

  private async pay(
    transaction: Transaction,
    owner: BudgetOwner,
    found: readonly Recipient[],
    piece: FilePiece | undefined,
  ): Promise<void> {
    const { tenantId } = owner;
    // Under the lock no other request of the tenant adds known recipients.
    const budgets = await this.lock(transaction, owner);
    const { ids, count } = await countNewRecipients(transaction, tenantId, found);
    const isPaid = piece !== undefined && (await markPaid(transaction, piece));
    for (const budget of budgets) await this.take(transaction, budget, isPaid ? ids.length : count);
    if (ids.length === 0) return;
    const rows = ids.map((accountId) => ({ tenantId, accountId }));
    await transaction.execute(insertSql(knownRecipients, rows));
  }

  /** A budget without a row is full. */
  private async lock(transaction: Transaction, owner: BudgetOwner): Promise<readonly Budget[]> {
    const names = namesOf(owner);
    // Setting only the name changes nothing in an existing row, but locks it.
    for (const name of names)
      await transaction.execute(
        upsertSql(recipientBudgets, [{ name, fullAt: this.clock() }], ['name']),
      );
    const found = await transaction.select(recipientBudgets, { name: names });
    const ownSize =
      (await transaction.find(tenantQuotas, { tenantId: owner.tenantId }))?.newRecipients ?? null;
    const { ofTenant, ofToken } = this.size;
    return found.map((row) => {
      const defaultSize = row.name === tenantBudget(owner.tenantId) ? ofTenant : ofToken;
      return {
        ...row,
        size: ownSize === null ? defaultSize : Number.parseInt(ownSize.toString(), 10),
      };
    });
  }

  private async take(transaction: Transaction, { name, fullAt, size }: Budget, count: number) {
    const { fullAfterMs } = this.size;
    const now = this.clock();
    const after = Math.max(fullAt, now) + Math.ceil((count * fullAfterMs) / size);
    const waitMs = after - now - fullAfterMs;
    if (waitMs > 0) throw budgetExhausted(waitMs);
    await transaction.execute(updateSql(recipientBudgets, { fullAt: instant(after) }, { name }));
  }

  private cacheKnown(tenantId: Uuid, found: readonly Recipient[]): void {
    if (this.cached.size + found.length > MAX_CACHED) this.cached.clear();
    for (const id of found) if (id !== null) this.cached.add(`${tenantId} ${id}`);
  }
}

interface Budget {
  readonly name: string;
  readonly fullAt: number;
  readonly size: number;
}

/** Returns a tenant's own budget (null: the default), and when it is full again (null: full). */
export async function readOwnBudget(
  reader: Reader,
  tenantId: Uuid,
): Promise<{ readonly newRecipients: bigint | null; readonly fullAt: Instant | null }> {
  const own = await reader.find(tenantQuotas, { tenantId });
  const budget = await reader.find(recipientBudgets, { name: tenantBudget(tenantId) });
  return { newRecipients: own?.newRecipients ?? null, fullAt: budget?.fullAt ?? null };
}

const tenantBudget = (tenantId: Uuid): string => `tenant/${tenantId}`;

function namesOf({ tenantId, tokenKeyId }: BudgetOwner): readonly string[] {
  return [tenantBudget(tenantId), ...(tokenKeyId === null ? [] : [`token/${tokenKeyId}`])];
}

/** Marks the file as paid for up to the row. Returns true if it already was. */
async function markPaid(transaction: Transaction, { batchId, row }: FilePiece): Promise<boolean> {
  const storage = await transaction.find(batchStorage, { batchId }, { forUpdate: true });
  if (storage === undefined) return false;
  if (storage.chargedRow >= row) return true;
  await transaction.execute(updateSql(batchStorage, { chargedRow: row }, { batchId }));
  return false;
}

function budgetExhausted(waitMs: number): ApiError {
  const retryAfterS = Math.max(1, Math.ceil(waitMs / 1_000));
  const message = `too many recipients whom the tenant has not named before: retry in ${retryAfterS} s`;
  return new ApiError({ code: 'rate_limited', message }, { 'Retry-After': String(retryAfterS) });
}

/** Returns the accounts that are new to the tenant, and their number plus that of unknown names. */
async function countNewRecipients(reader: Reader, tenantId: Uuid, found: readonly Recipient[]) {
  // Unknown names are queried too, with an id of no account, so that both cases take equally long.
  const accountIds = [...new Set(found.map((id) => id ?? tenantId))];
  const rows = await reader.select(knownRecipients, { tenantId, accountId: accountIds });
  const known = new Set(rows.map(({ accountId }) => accountId));
  const ids = [...new Set(found)].filter((id): id is Uuid => id !== null && !known.has(id));
  return { ids, count: ids.length + found.filter((id) => id === null).length };
}
