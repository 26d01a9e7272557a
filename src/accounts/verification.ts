import { type Actor, recordAct } from '../access/audit-log.js';
import { ApiError, invalidField } from '../core/errors.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import { seal, unseal } from '../core/secret-box.js';
import type { Database, Transaction } from '../db/database.js';
import { type Verification, verifications } from '../db/entities/identity.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { literal, selectSql, updateSql, upsertSql } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/transact.js';
import { appendEvents } from '../ledger/event-log.js';

/** What is declared of the account's holder. (decisions.md, Verification) */
export interface Declaration {
  readonly type: 'person' | 'business';
  readonly legalName: string;
  readonly documentType: Verification['documentType'];
  readonly documentNumber: string;
  /** ISO 3166 alpha-2 */
  readonly country: string;
  /** Null: now. */
  readonly declaredAt: Instant | null;
}

export type VerificationAnswer = Readonly<Record<string, unknown>>;

/**
 * Stores the declaration of a locked account. The first one verifies the account and emits `account.verified`; a later one
 * replaces the data and keeps `verified_at`. Throws ApiError invalid_field {field: "type"}.
 */
export async function declareVerification(
  transaction: Transaction,
  keys: Keyring,
  account: Account,
  declared: Declaration,
  actor: Actor,
  now: Instant,
): Promise<VerificationAnswer> {
  if (declared.type !== account.type) throw new ApiError(invalidField('type', 'not_the_type_of_the_account'));
  const sealed = seal(keys, declared.documentNumber, sealContext(account.id));
  const row: Verification = {
    accountId: account.id,
    legalName: declared.legalName,
    documentType: declared.documentType,
    documentNumber: sealed.bytes,
    documentKeyId: sealed.keyId,
    documentLast4: declared.documentNumber.slice(-4),
    country: declared.country,
    declaredAt: declared.declaredAt ?? now,
    updatedAt: now,
  };
  const { accountId: _, ...columns } = row;
  await transaction.execute(upsertSql(verifications, [row], Object.keys(columns) as (keyof typeof columns)[]));
  const isFirst = account.verifiedAt === null;
  const verifiedAt = account.verifiedAt ?? now;
  if (isFirst) await transaction.execute(updateSql(accounts, { verifiedAt }, { id: account.id }));
  const { tenantId, id } = account;
  const action = isFirst ? 'account.verify' : 'account.verification_replace';
  await recordAct(transaction, actor, now, { tenantId, action, subjectType: 'account', subjectId: id });
  const answer = presentVerification({ ...account, verifiedAt }, row.documentLast4);
  if (isFirst)
    await appendEvents(transaction, [{ tenantId, type: 'account.verified', resourceId: id, object: answer }], now);
  return answer;
}

function presentVerification({ id, status, verifiedAt }: Account, documentLast4: string): VerificationAnswer {
  return {
    account_id: id,
    status: 'verified',
    can_send: status === 'active',
    verified_at: verifiedAt === null ? null : toRfc3339(verifiedAt),
    document_last4: documentLast4,
  };
}

/** A sealed number opens only beside the account that it was declared for. */
function sealContext(accountId: Uuid): string {
  return `verifications/${accountId}`;
}

const ROTATION_CHUNK = 500;

/**
 * Seals anew, under the first key, every document number that an older key sealed; answers how many. Ends when none is
 * left, so an old key may then be taken out of the configuration.
 */
export async function rotateDocumentKeys(
  database: Database,
  keys: Keyring,
  onProgress: (done: number) => void = () => undefined,
): Promise<number> {
  const [current] = keys;
  const older = `SELECT account_id FROM verifications WHERE document_key_id<>${literal(verifications, 'documentKeyId', current.id)} LIMIT ${ROTATION_CHUNK}`;
  for (let done = 0; ; onProgress(done)) {
    const rows = await database.reader.query(older);
    if (rows.length === 0) return done;
    const ids = rows.map((row) => verifications.column('accountId').column.parse(row.account_id) as Uuid);
    await transact(database, (transaction) => resealAll(transaction, keys, ids));
    done += ids.length;
  }
}

async function resealAll(transaction: Transaction, keys: Keyring, ids: readonly Uuid[]): Promise<void> {
  const locked = await transaction.query(
    selectSql(verifications, { accountId: ids }, { orderBy: ['accountId'], forUpdate: true }),
  );
  const rows = locked.map((stored) => {
    const row = parseRow(verifications, stored);
    const context = sealContext(row.accountId);
    const sealed = seal(keys, unseal(keys, { keyId: row.documentKeyId, bytes: row.documentNumber }, context), context);
    return { ...row, documentNumber: sealed.bytes, documentKeyId: sealed.keyId };
  });
  await transaction.execute(upsertSql(verifications, rows, ['documentNumber', 'documentKeyId']));
}
