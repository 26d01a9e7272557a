import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { type LedgerTransaction, ledgerTransactions } from '../../db/entities/ledger.js';
import { postingFact } from '../facts.js';
import type { AuditRun, Check } from '../run.js';
import { sourceOf } from '../sources/index.js';
import { ROWS_A_SLICE, walkTable } from '../walk.js';

/** Every ledger transaction belongs to an operation of its tenant. Whether to the right one: crossing.ts. */
export const transactionChecks: Check = {
  tables: ['ledger_transactions'],
  run: (audit) =>
    walkTable(audit, ledgerTransactions, ROWS_A_SLICE, async (reader, slice) => {
      audit.counted('ledger_transactions', slice.length);
      for (const [type, own] of groupBy(slice, (transaction) => transaction.relatedType)) {
        const ids = own.map((transaction) => transaction.relatedId);
        const owners = await sourceOf(type)?.owners(reader, ids);
        for (const transaction of own) {
          const { relatedId, description } = transaction;
          checkOperation(audit, transaction, owners?.get(relatedId));
          if (audit.isInTime(relatedId))
            audit.tally.add(relatedId, postingFact(type, description), -1);
        }
      }
    }),
};

function checkOperation(
  audit: AuditRun,
  transaction: LedgerTransaction,
  tenantId: Uuid | undefined,
): void {
  const subject = `ledger transaction ${transaction.id}`;
  const of = `${transaction.relatedType} ${transaction.relatedId}`;
  if (tenantId === undefined) audit.report('transaction_resource', subject, `there is no ${of}`);
  else if (tenantId !== transaction.tenantId)
    audit.report('transaction_resource', subject, `${of} is another tenant's`);
}
