import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { bigint, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import type { ResourceType } from '../../db/entities/ledger.js';
import { metadataPairs } from '../../db/entities/metadata.js';
import { accounts, FEE_OPERATIONS } from '../../db/entities/parties.js';
import { equalsSql } from '../../db/statements.js';
import type { Expectation, ExpectedEntry } from '../operation-source.js';
import { type AuditRun, readOwners } from '../scan.js';
import { SOURCE_OF } from '../sources.js';
import { refundKey } from './metadata.js';

/**
 * Checks that refunds go back between the parties of their originals, and that the sums of these
 * operations are those of their refunds.
 */
export async function checkRefunds(
  audit: AuditRun,
  reader: Reader,
  resourceType: ResourceType,
  operations: readonly Expectation[],
): Promise<void> {
  const refunded = operations.filter(hasSums);
  const originals = new Map(refunded.map((one) => [`${resourceType} ${one.id}`, one]));
  const refunds = operations.flatMap((refund) =>
    refund.refundOf === null ? [] : [{ refund, ...refund.refundOf }],
  );
  for (const [type, own] of groupBy(refunds, (one) => one.type)) {
    const ids = own.map(({ id }) => id);
    const known = await SOURCE_OF[type].expectations(reader, ids);
    for (const { refund, id } of own) {
      const [original, subject] = [known.get(id), `${type} ${id}`];
      const isRight = original !== undefined && sendsBack(refund, original);
      const message = `it does not send back what ${subject} moved`;
      audit.report('refund_original', `transfer ${refund.id}`, !isRight && message);
      // An original with sums is checked in its own slice.
      if (original !== undefined && !hasSums(original)) originals.set(subject, original);
    }
  }
  await checkSums(audit, reader, originals);
}

/** Checks that a refund of a fee gives the payer at most what its operation has charged. */
export async function checkFeeRefunds(
  audit: AuditRun,
  reader: Reader,
  operations: readonly Expectation[],
): Promise<void> {
  const refunds = operations.flatMap(({ id, feeRefund }) =>
    feeRefund === null ? [] : [{ id, ...feeRefund }],
  );
  if (refunds.length === 0) return;
  const ids = refunds.map(({ operationId }) => operationId);
  const charged = new Map<Uuid, ExpectedEntry>();
  for (const type of FEE_OPERATIONS)
    for (const [id, { postings }] of await SOURCE_OF[type].expectations(reader, ids))
      for (const entry of postings.flat()) if (entry.kind === 'fee_out') charged.set(id, entry);
  for (const { id, operationId, accountId, asset, raw } of refunds) {
    const fee = charged.get(operationId);
    const isRight = fee?.account === accountId && fee.asset === asset && raw <= -fee.raw;
    const message = `it gives ${raw} to ${accountId}, which is more than ${operationId} charged it`;
    audit.report('fee_refund', `adjustment ${id}`, !isRight && message);
  }
}

function hasSums({ refunds }: Expectation): boolean {
  return refunds !== null && (refunds.refunded !== 0n || refunds.refunding !== 0n);
}

function sendsBack(refund: Expectation, original: Expectation): boolean {
  const [payer, receiver] = original.accounts;
  const isReversed = refund.accounts[0] === receiver && refund.accounts[1] === payer;
  return isReversed && refund.refunds?.asset === original.refunds?.asset && refund.fee.raw === 0n;
}

/** Short enough for the optimizer to read the refunds of each original by the primary key. */
const ORIGINALS_PER_STATEMENT = 100;

async function checkSums(
  audit: AuditRun,
  reader: Reader,
  originals: ReadonlyMap<string, Expectation>,
): Promise<void> {
  const all = [...originals];
  const receivers = all.flatMap(([, { accounts: parties }]) => parties[1] ?? []);
  const owners = await readOwners(reader, accounts, receivers);
  for (let from = 0; from < all.length; from += ORIGINALS_PER_STATEMENT) {
    const some = all.slice(from, from + ORIGINALS_PER_STATEMENT);
    const sums = await readSums(
      reader,
      some.map(([, operation]) => operation),
      owners,
    );
    for (const [subject, { id, refunds }] of some) {
      const { received = 0n, refunded = 0n, refunding = 0n } = refunds ?? {};
      const { completed, waiting } = sums.get(id) ?? { completed: 0n, waiting: 0n };
      audit.report(
        'refund_sums',
        subject,
        refunded !== completed && `${refunded} are refunded, but its refunds sum to ${completed}`,
        refunding !== waiting && `${refunding} are reserved, but ${waiting} wait`,
        refunded + refunding > received && `${refunded + refunding} are refunded of ${received}`,
      );
    }
  }
}

interface Sums {
  readonly completed: bigint;
  readonly waiting: bigint;
}

async function readSums(
  reader: Reader,
  originals: readonly Expectation[],
  owners: ReadonlyMap<Uuid, Uuid>,
): Promise<ReadonlyMap<Uuid, Sums>> {
  const conditions = originals.flatMap(({ id, accounts: [, receiver] }) => {
    const tenantId = receiver === undefined ? undefined : owners.get(receiver);
    if (tenantId === undefined) return [];
    const pair = { tenantId, resourceType: 'transfer', ...refundKey(id) } as const;
    return [`(${equalsSql(metadataPairs, pair)})`];
  });
  if (conditions.length === 0) return new Map();
  const sumOf = (status: string): string =>
    `CAST(SUM(IF(t.status='${status}', t.raw, 0)) AS CHAR) AS ${status}`;
  const rows = await reader.query(
    `SELECT t.refund_of_id, ${sumOf('completed')}, ${sumOf('pending_approval')}
     FROM (SELECT id FROM metadata_pairs WHERE ${conditions.join(' OR ')}) p
     STRAIGHT_JOIN transfers t ON t.id=p.id WHERE t.refund_of_id IS NOT NULL GROUP BY t.refund_of_id`,
  );
  return new Map(
    rows.map((row) => [
      uuid.parse(row.refund_of_id),
      { completed: bigint.parse(row.completed), waiting: bigint.parse(row.pending_approval) },
    ]),
  );
}
