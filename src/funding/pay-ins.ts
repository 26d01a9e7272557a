import type { Amount } from '../core/amount.js';
import { checkedText, MAX_DESCRIPTION } from '../core/checked-text.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import { type PayIn, payIns } from '../db/entities/operations.js';
import { type CommandKind, naming } from '../ledger/writer/types.js';
import { assertMayAct, type StaffIdentity } from '../staff/rules.js';
import {
  assertPositive,
  type FundingDeps,
  opsKey,
  type FundingResult,
  resultOf,
  systemAccountId,
} from './reference.js';
import { decidePayIn, type RecordPayIn } from './decide.js';

export interface NewPayIn {
  readonly tenantId: Uuid;
  readonly accountId: Uuid;
  readonly amount: Amount;
  /** The operator's reference, unique in the tenant: `^[A-Za-z0-9._-]{1,64}$`. */
  readonly reference: string;
  /** Up to 140 characters, shown to the account's owner. */
  readonly description: string | null;
  readonly by: StaffIdentity;
}

const payInKind: CommandKind<RecordPayIn, PayIn> = {
  name: 'record pay-in',
  resourceType: 'payin',
  table: payIns,
  accounts: naming(({ accountId, systemAccountId: system }) => [accountId, system]),
  needs: () => [],
  decide: decidePayIn,
};

/** Credits money from outside. The same reference with the same content moves it once. */
export async function recordPayIn(
  { database, desk }: FundingDeps,
  wanted: NewPayIn,
): Promise<FundingResult<PayIn>> {
  const { tenantId, accountId, amount, reference } = wanted;
  const key = opsKey(reference);
  assertMayAct('payin.record', wanted.by);
  assertPositive(amount.raw);
  const description =
    wanted.description === null
      ? null
      : checkedText('description', wanted.description, MAX_DESCRIPTION);
  const answer = await desk.submit(payInKind, {
    ...wanted,
    key,
    // The operator's name is not part of the request, so another operator may repeat it.
    fingerprint: commandFingerprint([
      'payin',
      accountId,
      amount.asset,
      amount.raw.toString(),
      description ?? '',
    ]),
    payInId: newId(),
    auditId: newId(),
    systemAccountId: await systemAccountId(database.reader, tenantId, 'pay_in'),
    description,
  });
  return resultOf(answer, reference);
}
