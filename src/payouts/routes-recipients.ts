import { ApiError, invalidField } from '../core/errors.js';
import { UnknownKey } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import { instant } from '../core/instant.js';
import type { CursorBinding, Cursors } from '../http/cursor.js';
import type { Api } from '../http/route.js';
import type { HolderCheck, ReadHolderCheck } from './destination.js';
import type { PayoutRecipients } from './recipients.js';
import { isKeyText, RecipientQuery, RecipientSchema } from './schemas.js';

const PATH = '/v1/payout_recipients';

/** Seals what a look-up has shown, for one tenant and one key, as page cursors are sealed. */
export class HolderChecks {
  constructor(private readonly cursors: Cursors) {}

  write(tenantId: Uuid, key: string, { rail, holder, expiresAt }: HolderCheck): string {
    return this.cursors.encode(bindingOf(tenantId, key), [rail, holder, String(expiresAt)]);
  }

  read(tenantId: Uuid, key: string, text: string): ReadHolderCheck {
    try {
      const [rail, holder, expiresAt] = this.cursors.decode(bindingOf(tenantId, key), text);
      if (rail === undefined || holder === undefined || expiresAt === undefined) return 'forged';
      return { rail, holder, expiresAt: instant(Number.parseInt(expiresAt, 10)) };
    } catch (failure) {
      if (failure instanceof UnknownKey) return 'unknown_key';
      if (failure instanceof ApiError) return 'forged';
      throw failure;
    }
  }
}

function bindingOf(tenantId: Uuid, key: string): CursorBinding {
  return { tenantId, endpoint: PATH, filters: { key } };
}

export function recipientRoute(api: Api, recipients: PayoutRecipients, checks: HolderChecks): void {
  api.get(PATH, {
    operationId: 'lookUpPayoutRecipient',
    permits: 'lookUpPayoutRecipient',
    rateClass: 'lookup',
    query: RecipientQuery,
    responses: { 200: RecipientSchema },
    refusals: ['not_found', 'rail_unavailable'],
    summary: 'Look up the holder of a Bre-B key',
    description:
      'Asks the rail who holds the key now. Counts against the budget of new recipients, unless the tenant has looked up the key before. `503 rail_unavailable`: the rail did not say it, so nothing is known.',
    handler: async ({ caller, query: { key } }) => {
      if (key === undefined) throw new ApiError(invalidField('key', 'required'));
      if (!isKeyText(key)) throw new ApiError(invalidField('key', 'malformed'));
      const { keyType, holderName, bankCode, accountType, check } = await recipients.find(
        caller,
        key,
      );
      const holder = { key_type: keyType, holder_name: holderName };
      const account = { bank_code: bankCode, account_type: accountType };
      const holderCheck = checks.write(caller.tenantId, key, check);
      return { status: 200, body: { ...holder, ...account, holder_check: holderCheck } };
    },
  });
}
