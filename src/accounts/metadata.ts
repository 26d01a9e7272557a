import { accountAudit, memberActor, recordAction } from '../access/audit-log.js';
import { ApiError, invalidField } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import {
  changedMetadata,
  type Metadata,
  type MetadataChange,
  metadataFault,
} from '../core/metadata.js';
import type { Caller } from '../core/permissions.js';
import type { DatabaseDeps } from '../db/database.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { transactFor } from '../db/reader.js';
import { updateSql } from '../db/statements.js';
import { lockOwnAccount, readAccount } from './access.js';

/** Returns the changed pairs; null without pairs. Throws invalid_field if they exceed a limit. */
export function metadataAfter(before: Metadata | null, change: MetadataChange): Metadata | null {
  const metadata = changedMetadata(before, change);
  const fault = metadata === null ? null : metadataFault(metadata);
  if (fault !== null) throw new ApiError(invalidField('metadata', fault));
  return metadata;
}

/**
 * Changes the metadata of an account in any state. Throws not_found, authority_insufficient,
 * invalid_field. (docs/contract.md, Metadata)
 */
export function changeAccountMetadata(
  { database, clock }: DatabaseDeps,
  caller: Caller,
  id: Uuid,
  change: MetadataChange,
): Promise<Account> {
  return transactFor(caller, database, async (transaction) => {
    // Checked before the lock, so that no request waits for a foreign account's row.
    await readAccount(transaction, caller, id, 'shareAccount');
    const account = await lockOwnAccount(transaction, caller, id);
    const metadata = metadataAfter(account.metadata, change);
    if (JSON.stringify(metadata) === JSON.stringify(account.metadata)) return account;
    await transaction.execute(updateSql<Account>(accounts, { metadata }, { id }));
    const details = { keys: Object.keys(change).sort().join(',') };
    const entry = accountAudit(account, 'account.change_metadata', details);
    await recordAction(transaction, memberActor(caller), clock(), entry);
    return { ...account, metadata };
  });
}
