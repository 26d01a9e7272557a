import { accountAudit, type Actor, recordAction } from '../access/audit-log.js';
import type { Changer } from '../access/authority.js';
import { SealedSecrets } from '../access/sealed-secrets.js';
import { checkedText } from '../core/checked-text.js';
import { ApiError, invalidField } from '../core/errors.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import { reseal, seal } from '../core/secret-box.js';
import type { DatabaseDeps, Transaction } from '../db/database.js';
import { type Verification, verifications } from '../db/entities/identity.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { updateSql, upsertSql } from '../db/statements.js';
import { appendEvents } from '../ledger/event-log.js';
import { changeAccount } from './access.js';

interface Declaration {
  readonly type: 'person' | 'business';
  readonly legalName: string;
  readonly documentType: Verification['documentType'];
  readonly documentNumber: string;
  /** Code of ISO 3166 alpha-2. */
  readonly country: string;
  /** Null means now. */
  readonly declaredAt: Instant | null;
}

/** At least five characters, because the last four are shown. */
export const DOCUMENT_NUMBER = /^[0-9A-Za-z.-]{5,20}$/;
export const MAX_LEGAL_NAME = 120;

export interface DeclarationDeps extends DatabaseDeps {
  /** The first key encrypts. */
  readonly encryptionKeys: Keyring;
}

/** Declares the verification of an account. (docs/contract.md, Verification) */
export function declareVerification(
  { database, clock, encryptionKeys }: DeclarationDeps,
  accountId: Uuid,
  declared: Declaration,
  by: Changer,
) {
  return changeAccount(database, by, accountId, (transaction, account, actor) =>
    storeVerification(transaction, encryptionKeys, account, declared, actor, clock()),
  );
}

/** How far the tenant's clock may be ahead. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** The first declaration verifies the account and emits an event; a later one replaces the data. */
async function storeVerification(
  transaction: Transaction,
  keys: Keyring,
  account: Account,
  declared: Declaration,
  actor: Actor,
  now: Instant,
) {
  if (declared.type !== account.type)
    throw new ApiError(invalidField('type', 'not_the_type_of_the_account'));
  if (declared.declaredAt !== null && declared.declaredAt > now + MAX_CLOCK_SKEW_MS)
    throw new ApiError(invalidField('declared_at', 'in_the_future'));
  if (!DOCUMENT_NUMBER.test(declared.documentNumber))
    throw new ApiError(invalidField('document_number', 'malformed'));
  const sealed = seal(keys, declared.documentNumber, sealContext(account.id));
  const row: Verification = {
    accountId: account.id,
    legalName: checkedText('legal_name', declared.legalName, MAX_LEGAL_NAME),
    documentType: declared.documentType,
    documentNumber: sealed.bytes,
    documentKeyId: sealed.keyId,
    documentLast4: declared.documentNumber.slice(-4),
    country: declared.country,
    declaredAt: declared.declaredAt ?? now,
    updatedAt: now,
  };
  const { accountId: _, ...columns } = row;
  await transaction.execute(
    upsertSql(verifications, [row], Object.keys(columns) as (keyof typeof columns)[]),
  );
  const isFirst = account.verifiedAt === null;
  const verifiedAt = account.verifiedAt ?? now;
  if (isFirst) await transaction.execute(updateSql(accounts, { verifiedAt }, { id: account.id }));
  const { tenantId, id } = account;
  const action = isFirst ? 'account.verify' : 'account.verification_replace';
  await recordAction(transaction, actor, now, accountAudit(account, action));
  const response = {
    account_id: id,
    status: 'verified',
    can_send: account.status === 'active',
    verified_at: toRfc3339(verifiedAt),
    document_last4: row.documentLast4,
  } as const;
  const event = { tenantId, type: 'account.verified', resourceId: id } as const;
  if (isFirst) await appendEvents(transaction, [{ ...event, object: () => response }], now);
  return response;
}

/** Binds an encrypted document number to its account, without whose id it cannot be decrypted. */
export function sealContext(accountId: Uuid): string {
  return `verifications/${accountId}`;
}

export const DOCUMENT_NUMBERS = new SealedSecrets({
  label: 'document numbers',
  auditName: 'documents',
  table: verifications,
  id: 'accountId',
  keyIds: ['documentKeyId'],
  reseal: (keys, { accountId, documentKeyId: keyId, documentNumber: bytes }) => {
    const sealed = reseal(keys, { keyId, bytes }, sealContext(accountId));
    return { documentNumber: sealed.bytes, documentKeyId: sealed.keyId };
  },
});
