import { ApiError, invalidField } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Database, Reader } from '../db/database.js';
import { accounts, type SystemRole } from '../db/entities/parties.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { CommandResult } from '../ledger/writer/types.js';

export interface FundingDeps {
  readonly database: Database;
  readonly desk: LedgerWriter;
}

export interface FundingResult<Row> {
  readonly resource: Row;
  /** The command repeats an earlier one and changed nothing. */
  readonly replayed: boolean;
}

const REFERENCE = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * The idempotency key of an operator's command. A reference has no slash, so keys never collide.
 */
export function opsKey(reference: string, step?: 'post' | 'reject'): string {
  if (!REFERENCE.test(reference)) throw new ApiError(invalidField('reference', 'pattern'));
  return step === undefined ? `ops/${reference}` : `ops/${reference}/${step}`;
}

/** Throws a refusal, worded for a command with a reference. */
export function resultOf<Row>(
  { outcome, replayed }: CommandResult<Row>,
  reference: string,
): FundingResult<Row> {
  if (outcome.done) return { resource: outcome.resource, replayed };
  const { refusal } = outcome;
  if (refusal.code === 'idempotency_key_reused')
    throw new ApiError({
      ...refusal,
      message: `the reference ${reference} was already used in this tenant, for something else`,
    });
  if (refusal.code === 'ledger_unavailable')
    throw new ApiError({
      ...refusal,
      message: `the ledger did not answer, so the result is unknown; repeat the same command with the reference ${reference}: it moves money at most once`,
    });
  throw new ApiError(refusal);
}

export function assertPositive(raw: bigint): void {
  if (raw <= 0n) throw new ApiError(invalidField('amount.raw', 'must_be_positive'));
}

export async function systemAccountId(
  reader: Reader,
  tenantId: Uuid,
  systemRole: SystemRole,
): Promise<Uuid> {
  const account = await reader.find(accounts, { tenantId, systemRole });
  if (account === undefined)
    throw new ApiError({ code: 'not_found', message: 'the tenant does not exist' });
  return account.id;
}
