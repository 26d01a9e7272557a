import { memberActor, recordAction } from '../access/audit-log.js';
import { assertFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { MetadataChange } from '../core/metadata.js';
import type { Caller, Operation } from '../core/permissions.js';
import type { DatabaseDeps } from '../db/database.js';
import { changeSql } from '../db/metadata-index.js';
import { transactFor } from '../db/reader.js';
import type { Where } from '../db/statements.js';
import { lockOwnAccount, readAccount } from '../accounts/access.js';
import { metadataAfter } from '../accounts/metadata.js';
import type { LabelledOperation, OperationList } from './operation-list.js';

/**
 * Changes the metadata of an operation in any state. The lock on the source account guards its row.
 * Throws not_found, authority_insufficient, invalid_field. (docs/contract.md, Metadata)
 */
export async function changeMetadata<Row extends LabelledOperation>(
  { table, resourceType }: OperationList<Row>,
  { database, clock }: DatabaseDeps,
  caller: Caller,
  operation: Operation,
  id: Uuid,
  change: MetadataChange,
): Promise<Row> {
  const own = { id, tenantId: caller.tenantId } as Where<Row>;
  return transactFor(caller, database, async (transaction) => {
    const { sourceAccountId } = assertFound(await transaction.find(table, own));
    await readAccount(transaction, caller, sourceAccountId, operation);
    await lockOwnAccount(transaction, caller, sourceAccountId);
    const row = assertFound(await transaction.find(table, own));
    const metadata = metadataAfter(row.metadata, change);
    if (JSON.stringify(metadata) === JSON.stringify(row.metadata)) return row;
    await transaction.all(changeSql(table, row, metadata));
    // Values may be personal data, so the audit log has only the keys.
    const details = { keys: Object.keys(change).sort().join(',') };
    const subject = { tenantId: caller.tenantId, subjectType: resourceType, subjectId: id };
    const action = `${resourceType}.change_metadata` as const;
    await recordAction(transaction, memberActor(caller), clock(), { ...subject, action, details });
    return { ...row, metadata };
  });
}
