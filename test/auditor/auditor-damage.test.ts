import assert from 'node:assert/strict';
import type { Transfer } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';
import { uuid } from '../../src/db/columns.js';
import { asUuid, newId, type Uuid } from '../../src/core/ids.js';
import { approveAdjustment, proposeAdjustment } from '../../src/funding/service.js';
import type { TestDatabase } from '../helpers/database.js';
import { move, reserve, testKind } from '../helpers/kinds.js';
import { makeAccount, makeTenant, openWriter, someone, type TestTenant } from '../helpers/world.js';
import { type Damages, damageTests } from './damages.js';

/** The damaged world: an account with pay-ins, completed transfers, a pending one and an adjustment. */
interface Victims {
  readonly tenantId: Uuid;
  readonly tenant: TestTenant;
  readonly payer: Account;
  readonly receiver: Account;
  readonly completed: Transfer;
  readonly pending: Transfer;
}

const id = (value: Uuid): string => uuid.literal(value);
const STRANGER = newId();
/** An id that no clock will make for as long as anybody lives. */
const OF_THE_FUTURE = asUuid('ffffffff-ffff-7fff-bfff-ffffffffffff');
/** The payer's entries: 1 the pay-in, 2 and 3 transfers out, 4 the adjustment. */
const entryOf = (account: Account, seq: number): string =>
  `account_id=${id(account.id)} AND seq=${seq}`;

const DAMAGES: Damages<Victims> = {
  'a pair of metadata that its index lacks': [
    ({ completed }) => `UPDATE transfers SET metadata='{"a":"b"}' WHERE id=${id(completed.id)}`,
    ['operation_metadata'],
  ],
  'a row of the index of metadata that is no pair of its operation': [
    ({ completed }) =>
      `INSERT INTO metadata_pairs SELECT tenant_id, 'transfer', UNHEX(LEFT(SHA2('b',256),32)), 'a', created_at, id FROM transfers WHERE id=${id(completed.id)}`,
    ['operation_metadata'],
  ],
  'a changed balance': [
    ({ payer }) =>
      `UPDATE balances SET available=available+1 WHERE account_id=${id(payer.id)} AND asset='COPM'`,
    ['balance_total'],
  ],
  'money moved from available to held without a hold': [
    ({ payer }) =>
      `UPDATE balances SET available=available-1, held=held+1 WHERE account_id=${id(payer.id)} AND asset='COPM'`,
    ['held_total'],
  ],
  'a missing balance row': [
    ({ payer }) => `DELETE FROM balances WHERE account_id=${id(payer.id)} AND asset='COPM'`,
    ['account_clock', 'account_seq', 'balance_total', 'held_total'],
  ],
  'an account of a client that may be overdrawn': [
    ({ payer }) =>
      `UPDATE balances SET overdraft=1 WHERE account_id=${id(payer.id)} AND asset='COPM'`,
    ['overdraft'],
  ],
  'a changed amount of an entry': [
    ({ payer }) => `UPDATE entries SET raw=raw-1 WHERE ${entryOf(payer, 2)}`,
    ['entry_total', 'transaction_legs', 'transaction_sum'],
  ],
  'a changed total of an entry': [
    ({ payer }) => `UPDATE entries SET total_after=total_after+1 WHERE ${entryOf(payer, 2)}`,
    ['entry_total', 'entry_total'],
  ],
  'a changed total of the last entry': [
    ({ payer }) => `UPDATE entries SET total_after=total_after+1 WHERE ${entryOf(payer, 4)}`,
    ['balance_total', 'entry_total'],
  ],
  'a deleted entry in the middle': [
    ({ payer }) => `DELETE FROM entries WHERE ${entryOf(payer, 2)}`,
    ['entry_seq', 'entry_total', 'transaction_legs', 'transaction_sum'],
  ],
  'a deleted last entry': [
    ({ payer }) => `DELETE FROM entries WHERE ${entryOf(payer, 4)}`,
    ['account_seq', 'balance_total', 'transaction_legs', 'transaction_sum'],
  ],
  'money without a source, posted for a transfer whose id has a time in the future': [
    ({ completed, receiver }) => [
      `UPDATE transfers SET id=${id(OF_THE_FUTURE)} WHERE id=${id(completed.id)}`,
      `UPDATE ledger_transactions SET related_id=${id(OF_THE_FUTURE)} WHERE related_id=${id(completed.id)}`,
      `UPDATE events SET resource_id=${id(OF_THE_FUTURE)}, body=REPLACE(body, '${completed.id}', '${OF_THE_FUTURE}')
       WHERE resource_id=${id(completed.id)}`,
      `UPDATE idempotency_keys SET resource_id=${id(OF_THE_FUTURE)} WHERE resource_id=${id(completed.id)}`,
      `UPDATE entries SET raw=raw+5, total_after=total_after+5 WHERE ${entryOf(receiver, 2)}`,
      `UPDATE balances SET available=available+5 WHERE account_id=${id(receiver.id)} AND asset='COPM'`,
    ],
    ['transaction_legs', 'transaction_sum'],
  ],
  'an entry of another kind': [
    ({ payer }) => `UPDATE entries SET kind='bonus_out' WHERE ${entryOf(payer, 2)}`,
    ['transaction_legs'],
  ],
  'an entry with another counterparty': [
    ({ payer }) =>
      `UPDATE entries SET counterparty_account_id=${id(newId())} WHERE ${entryOf(payer, 2)}`,
    ['transaction_legs'],
  ],
  'an entry of an account that does not exist': [
    ({ payer }) =>
      `UPDATE entries SET account_id=${id(newId())}, seq=1, total_after=raw WHERE ${entryOf(payer, 4)}`,
    ['account_seq', 'balance_total', 'entry_account', 'transaction_legs'],
  ],
  'an entry of a ledger transaction that does not exist': [
    ({ payer }) => `UPDATE entries SET transaction_id=${id(newId())} WHERE ${entryOf(payer, 2)}`,
    ['entry_transaction', 'transaction_legs', 'transaction_sum'],
  ],
  'an entry dated before the previous entry': [
    ({ payer }) => `UPDATE entries SET created_at='2001-01-01' WHERE ${entryOf(payer, 2)}`,
    ['entry_time', 'transaction_time'],
  ],
  'an account whose last posting is before its last entry': [
    ({ payer }) =>
      `UPDATE balances SET last_posted_at='2001-01-01' WHERE account_id=${id(payer.id)}`,
    ['account_clock'],
  ],
  'a balance whose seq is ahead of its entries': [
    ({ payer }) =>
      `UPDATE balances SET seq=seq+1 WHERE account_id=${id(payer.id)} AND asset='COPM'`,
    ['account_seq'],
  ],
  'a balance whose seq is that of an entry in another asset': [
    ({ payer }) => `UPDATE balances SET seq=4 WHERE account_id=${id(payer.id)} AND asset='DUSD'`,
    ['account_seq'],
  ],
  'a ledger transaction without entries': [
    ({
      tenant,
    }) => `INSERT INTO ledger_transactions SELECT ${id(newId())}, id, 'bonus', ${id(newId())}, NULL, created_at FROM tenants
       WHERE id=${id(tenant.tenant.id)}`,
    ['transaction_entries', 'transaction_resource'],
  ],
  // The entries are gone from both accounts, the first in the middle, the other at the end.
  'a completed transfer without its ledger transaction': [
    ({ completed }) => [
      `DELETE FROM entries WHERE transaction_id IN (SELECT id FROM ledger_transactions WHERE related_id=${id(completed.id)})`,
      `DELETE FROM ledger_transactions WHERE related_id=${id(completed.id)}`,
    ],
    ['account_seq', 'balance_total', 'entry_seq', 'entry_total', 'operation_posting'],
  ],
  'a transfer posted twice': [
    ({
      completed,
      pending,
    }) => `UPDATE ledger_transactions SET related_id=${id(completed.id)} WHERE related_id<>${id(completed.id)}
       AND related_type='transfer' AND tenant_id=${id(pending.tenantId)} LIMIT 1`,
    ['operation_posting', 'operation_posting', 'transaction_legs'],
  ],
  'a completed transfer without entries': [
    ({ pending }) => `UPDATE transfers SET status='completed' WHERE id=${id(pending.id)}`,
    ['operation_approval', 'operation_event', 'operation_hold', 'operation_posting'],
  ],
  'a missing hold of a pending transfer': [
    ({ pending }) => `DELETE FROM holds WHERE resource_id=${id(pending.id)}`,
    ['held_total', 'operation_hold'],
  ],
  'a hold with another remaining amount than its pending transfer': [
    ({ pending }) => `UPDATE holds SET remaining=remaining-1 WHERE resource_id=${id(pending.id)}`,
    ['held_total', 'operation_hold'],
  ],
  'an open hold of a settled transfer': [
    ({ completed, payer }) =>
      `INSERT INTO holds VALUES (${id(completed.id)}, 'transfer', ${id(payer.id)}, 'COPM', 5, 5, NOW(3), NULL)`,
    ['held_total', 'operation_hold'],
  ],
  'a hold of nothing': [
    ({ payer }) =>
      `INSERT INTO holds VALUES (${id(newId())}, 'transfer', ${id(payer.id)}, 'COPM', 5, 0, NOW(3), NULL)`,
    ['hold_resource'],
  ],
  'a month total that is off by one': [
    ({ payer }) => `UPDATE month_totals SET used=used+1 WHERE account_id=${id(payer.id)}`,
    ['month_total'],
  ],
  'a missing month total': [
    ({ payer }) => `DELETE FROM month_totals WHERE account_id=${id(payer.id)}`,
    ['month_total'],
  ],
  'a transfer moved into another month': [
    ({ completed }) => `UPDATE transfers SET limit_month='2026-12' WHERE id=${id(completed.id)}`,
    ['month_total', 'month_total'],
  ],
  'a missing event at the end of the log': [
    ({ tenant }) => `DELETE FROM events WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=2`,
    ['event_counter', 'event_head', 'operation_event'],
  ],
  'a gap in the log': [
    ({ tenant }) => `DELETE FROM events WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ['event_sequence', 'operation_event'],
  ],
  'a duplicated event': [
    ({
      tenant,
    }) => `INSERT INTO events SELECT tenant_id, 3, ${id(newId())}, type, resource_id, body, created_at, NULL FROM events
       WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=2`,
    ['event_body', 'event_counter', 'event_head', 'operation_event'],
  ],
  'a changed body of an event': [
    ({ tenant }) =>
      `UPDATE events SET body=REPLACE(body, '"sequence":1', '"sequence":7') WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ['event_body'],
  ],
  'a body of an event that is not JSON': [
    ({ tenant }) =>
      `UPDATE events SET body='{' WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ['event_body'],
  ],
  'an event of a type that this version does not know': [
    ({ tenant }) =>
      `UPDATE events SET type='transfer.melted' WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ['event_head', 'event_type', 'operation_event'],
  ],
  'an event dated before the previous event': [
    ({ tenant }) =>
      `UPDATE events SET created_at='2001-01-01' WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=2`,
    ['event_body', 'event_time'],
  ],
  'an account that was verified twice': [
    ({ tenant, payer }) =>
      `UPDATE events SET type='account.verified', resource_id=${id(payer.id)} WHERE tenant_id=${id(tenant.tenant.id)}`,
    [
      'account_verified',
      'event_body',
      'event_body',
      'event_head',
      'event_head',
      'operation_event',
      'operation_event',
    ],
  ],
  'an event of a missing resource': [
    ({ tenant }) =>
      `UPDATE events SET resource_id=${id(newId())} WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ['event_body', 'event_resource', 'operation_event'],
  ],
  'an event counter that is ahead of the events': [
    ({ tenant }) =>
      `UPDATE event_counters SET last_sequence=9 WHERE tenant_id=${id(tenant.tenant.id)}`,
    ['event_counter'],
  ],
  'an event head that is too low, so that webhooks skip events': [
    ({ tenant }) =>
      `UPDATE event_heads SET last_sequence=last_sequence-1 WHERE tenant_id=${id(tenant.tenant.id)}`,
    ['event_head'],
  ],
  'an event head that is too high, so that the dispatcher never rests': [
    ({ tenant }) =>
      `UPDATE event_heads SET last_sequence=99 WHERE tenant_id=${id(tenant.tenant.id)} LIMIT 1`,
    ['event_head'],
  ],
  'a missing event head': [
    ({ tenant }) => `DELETE FROM event_heads WHERE tenant_id=${id(tenant.tenant.id)} LIMIT 1`,
    ['event_head'],
  ],
  'an idempotency key of a missing resource': [
    ({ completed }) =>
      `UPDATE idempotency_keys SET resource_id=${id(newId())} WHERE resource_id=${id(completed.id)}`,
    ['key_resource', 'operation_key'],
  ],
  'a transfer whose key is missing, so that a repeated request would make a second transfer': [
    ({ completed }) => `DELETE FROM idempotency_keys WHERE resource_id=${id(completed.id)}`,
    ['operation_key'],
  ],
  'a pay-in whose key is missing': [
    ({ tenant }) =>
      `DELETE FROM idempotency_keys WHERE tenant_id=${id(tenant.tenant.id)} AND resource_type='payin'`,
    ['operation_key'],
  ],
  'a fee that no account received': [
    ({ completed }) => `UPDATE transfers SET fee_raw=7 WHERE id=${id(completed.id)}`,
    ['event_body', 'operation_fee'],
  ],
  'a fee account of a transfer without a fee': [
    ({ completed, payer }) =>
      `UPDATE transfers SET fee_account_id=${id(payer.id)} WHERE id=${id(completed.id)}`,
    ['operation_fee', 'transaction_legs'],
  ],
  'a captured amount that is not what moved': [
    ({ completed }) =>
      `UPDATE transfers SET capture_within_s=60, captured_raw=raw-1, captured_fee_raw=0 WHERE id=${id(completed.id)}`,
    ['month_total', 'transaction_legs'],
  ],
  'a held transfer without its hold': [
    ({ completed }) =>
      `UPDATE transfers SET status='held', capture_within_s=60, capture_expires_at=NOW(3) WHERE id=${id(completed.id)}`,
    ['operation_event', 'operation_hold', 'operation_posting'],
  ],
  // Its owner's role, and each of its transfers, its pay-in and its adjustment.
  "an account that has become another tenant's": [
    ({ payer }) => [
      `INSERT INTO tenants (id, name, time_zone, policy_delay_s, created_at) VALUES (${id(STRANGER)}, 'stranger', 'UTC', 0, NOW(3))`,
      `INSERT INTO event_counters VALUES (${id(STRANGER)}, 0, NOW(3), 0)`,
      `UPDATE accounts SET tenant_id=${id(STRANGER)} WHERE id=${id(payer.id)}`,
    ],
    ['account_member', ...Array.from({ length: 5 }, () => 'operation_account')],
  ],
  "an account that only receives and has become another tenant's": [
    ({ receiver }) => [
      `INSERT INTO tenants (id, name, time_zone, policy_delay_s, created_at) VALUES (${id(STRANGER)}, 'stranger', 'UTC', 0, NOW(3))`,
      `INSERT INTO event_counters VALUES (${id(STRANGER)}, 0, NOW(3), 0)`,
      `UPDATE accounts SET tenant_id=${id(STRANGER)} WHERE id=${id(receiver.id)}`,
    ],
    ['account_member'],
  ],
  // Every account, and the system's.
  'a missing tenant': [
    ({ tenant }) => `DELETE FROM tenants WHERE id=${id(tenant.tenant.id)}`,
    Array.from({ length: 5 }, () => 'account_tenant'),
  ],
  'a tenant whose fees go to a stranger': [
    ({ tenant }) =>
      `UPDATE tenants SET fee_account_id=${id(newId())} WHERE id=${id(tenant.tenant.id)}`,
    ['tenant_fee_account'],
  ],
  'a movement whose description differs from that of its transfer': [
    ({ completed }) =>
      `UPDATE ledger_transactions SET description='rent' WHERE related_id=${id(completed.id)}`,
    ['transaction_description'],
  ],
  'an event that shows another amount than the one that was moved': [
    ({ tenant }) =>
      `UPDATE events SET body=REPLACE(body, '"raw":"10"', '"raw":"11"') WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ['event_body'],
  ],
  'an event that shows another value of a column than its transfer': [
    ({ tenant }) =>
      `UPDATE events SET body=JSON_SET(body, '$.data.object.limit_month', '2001-01') WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ['event_body'],
  ],
  'a hold of another amount than its transfer': [
    ({ pending }) => `UPDATE holds SET raw=raw+1 WHERE resource_id=${id(pending.id)}`,
    ['operation_hold'],
  ],
  'an adjustment that one person proposed and posted under two names': [
    ({ tenant }) =>
      `UPDATE adjustments SET decided_by_id=proposed_by_id WHERE tenant_id=${id(tenant.tenant.id)}`,
    ['operation_people'],
  ],
  'a pay-in without its ledger transaction': [
    ({ tenant }) =>
      `UPDATE ledger_transactions SET related_id=${id(newId())} WHERE related_type='payin' AND tenant_id=${id(tenant.tenant.id)}`,
    ['operation_posting', 'transaction_resource'],
  ],
  'a posted adjustment with the status rejected': [
    ({ tenant }) =>
      `UPDATE adjustments SET status='rejected' WHERE tenant_id=${id(tenant.tenant.id)}`,
    ['operation_posting'],
  ],
  'a transfer to an account that does not exist': [
    ({ pending }) =>
      `UPDATE transfers SET destination_account_id=${id(newId())} WHERE id=${id(pending.id)}`,
    ['operation_account'],
  ],
  'a role in an account that does not exist': [
    ({ tenant }) =>
      `INSERT INTO member_roles VALUES (${id(newId())}, ${id(tenant.owner.id)}, 'viewer')`,
    ['row_account'],
  ],
};

describe('the auditor', () => {
  damageTests(DAMAGES, {
    name: 'damage',
    makeVictims,
    // What belongs to no tenant any more.
    ofNoTenant: [
      ...['account_member', 'account_tenant', 'entry_account', 'row_account'],
      'tenant_fee_account',
    ],
  });
});

async function makeVictims({ database }: TestDatabase): Promise<Victims> {
  const { writer } = openWriter(database);
  const deps = { database, writer };
  const tenant = await makeTenant(database);
  const payer = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
  const receiver = await makeAccount(deps, tenant);
  const done = async (
    command: Parameters<typeof move>[0],
    isPending = false,
  ): Promise<Transfer> => {
    const { outcome } = await writer.submit(testKind, isPending ? reserve(command) : move(command));
    assert(outcome.done);
    return outcome.resource;
  };
  await done({ from: payer, to: receiver, raw: 10n });
  const completed = await done({ from: payer, to: receiver, raw: 20n });
  const pending = await done({ from: payer, to: receiver, raw: 30n }, true);
  const wanted = {
    tenantId: tenant.tenant.id,
    accountId: payer.id,
    amount: { raw: 5n, asset: 'COPM' },
  } as const;
  const proposed = await proposeAdjustment(deps, {
    ...wanted,
    direction: 'in',
    reference: 'correction',
    reason: 'a test',
    by: someone('one'),
  });
  await approveAdjustment(deps, proposed.resource, someone('two'));
  return { tenantId: tenant.tenant.id, tenant, payer, receiver, completed, pending };
}
