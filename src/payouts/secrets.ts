import { SealedSecrets } from '../access/sealed-secrets.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import { seal, unseal } from '../core/secret-box.js';
import { type PayoutSecrets, payoutSecrets } from '../db/entities/payouts.js';
import type { BankAccount } from './rails/rail.js';

/** The parts that only the rail reads in clear text. (docs/contract.md, Secrets and personal data) */
type ClearSecrets = Pick<BankAccount, 'accountNumber' | 'holderDocument'>;

/** Seals secrets for one payout. They cannot be opened with another id. */
export function sealSecrets(keys: Keyring, id: Uuid, clear: ClearSecrets): PayoutSecrets {
  const number = seal(keys, clear.accountNumber, contextOf(id, 'account_number'));
  const document = seal(keys, clear.holderDocument, contextOf(id, 'holder_document'));
  return { id, accountNumber: number.bytes, holderDocument: document.bytes, keyId: number.keyId };
}

/** Throws UnknownKey, and any other error if the bytes belong to another payout. */
export function openSecrets(keys: Keyring, sealed: PayoutSecrets): ClearSecrets {
  const { id, keyId, accountNumber, holderDocument } = sealed;
  const open = (bytes: Buffer, what: Parameters<typeof contextOf>[1]): string =>
    unseal(keys, { keyId, bytes }, contextOf(id, what));
  return {
    accountNumber: open(accountNumber, 'account_number'),
    holderDocument: open(holderDocument, 'holder_document'),
  };
}

export const BANK_ACCOUNTS = new SealedSecrets({
  what: 'bank accounts of payouts',
  counted: 'payouts',
  table: payoutSecrets,
  id: 'id',
  keyIds: ['keyId'],
  reseal: (keys, row) => sealSecrets(keys, row.id, openSecrets(keys, row)),
});

function contextOf(id: Uuid, what: 'account_number' | 'holder_document'): string {
  return `payouts/${id}/${what}`;
}
