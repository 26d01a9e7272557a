import { SealedSecrets } from '../access/sealed-secrets.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import { seal, unseal } from '../core/secret-box.js';
import { type PayoutSecrets, payoutSecrets } from '../db/entities/payouts.js';

/** The parts of a payout that only the rail reads in clear text. (docs/contract.md, Secrets and personal data) */
export interface ClearSecrets {
  readonly accountNumber: string;
  readonly holderDocument: string;
}

/** Sealed for this payout: they cannot be opened with another. */
export function sealSecrets(keys: Keyring, id: Uuid, clear: ClearSecrets): PayoutSecrets {
  const accountNumber = seal(keys, clear.accountNumber, contextOf(id, 'account_number'));
  const holderDocument = seal(keys, clear.holderDocument, contextOf(id, 'holder_document'));
  return {
    id,
    accountNumber: accountNumber.bytes,
    holderDocument: holderDocument.bytes,
    keyId: accountNumber.keyId,
  };
}

/** Throws UnknownKey; any other error if the bytes are another payout's. */
export function openSecrets(
  keys: Keyring,
  { id, keyId, accountNumber, holderDocument }: PayoutSecrets,
): ClearSecrets {
  return {
    accountNumber: unseal(keys, { keyId, bytes: accountNumber }, contextOf(id, 'account_number')),
    holderDocument: unseal(
      keys,
      { keyId, bytes: holderDocument },
      contextOf(id, 'holder_document'),
    ),
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
