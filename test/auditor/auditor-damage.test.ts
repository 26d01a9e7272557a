import assert from 'node:assert/strict';
import type { Transfer } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';
import { uuid } from '../../src/db/columns.js';
import { asUuid, newId, type Uuid } from '../../src/core/ids.js';
import { audit } from '../../src/auditor/audit.js';
import { approveAdjustment, proposeAdjustment } from '../../src/funding/service.js';
import { type TestDatabase, freshDatabase } from '../support/database.js';
import { move, reserve, testKind } from '../support/kinds.js';
import {
  assertLedgerSound,
  makeAccount,
  makeTenant,
  openWriter,
  someone,
  type TestTenant,
  type WatchedWriter,
} from '../support/world.js';

/** What the damage is done to: an account with pay-ins, completed transfers, a pending one and an adjustment. */
interface Victim {
  readonly tenant: TestTenant;
  readonly payer: Account;
  readonly receiver: Account;
  readonly completed: Transfer;
  readonly pending: Transfer;
}

interface Damage {
  readonly name: string;
  /** Statements for the administrator; each alone. */
  readonly sql: (victim: Victim) => readonly string[];
  /** Every check that must speak, and no other. */
  readonly found: readonly string[];
}

const id = (value: Uuid): string => uuid.literal(value);
const STRANGER = newId();
/** An id that no clock will make for as long as anybody lives. */
const OF_THE_FUTURE = asUuid('ffffffff-ffff-7fff-bfff-ffffffffffff');
/** The payer's entries: 1 the pay-in, 2 and 3 transfers out, 4 the adjustment. */
const entryOf = (account: Account, seq: number): string =>
  `account_id=${id(account.id)} AND seq=${seq}`;

const DAMAGES: readonly Damage[] = [
  {
    name: 'a changed balance',
    sql: ({ payer }) => [
      `UPDATE balances SET available=available+1 WHERE account_id=${id(payer.id)} AND asset='COPM'`,
    ],
    found: ['balance_total'],
  },
  {
    name: 'money moved from available to held without a hold',
    sql: ({ payer }) => [
      `UPDATE balances SET available=available-1, held=held+1 WHERE account_id=${id(payer.id)} AND asset='COPM'`,
    ],
    found: ['held_total'],
  },
  {
    name: 'a missing balance row',
    sql: ({ payer }) => [`DELETE FROM balances WHERE account_id=${id(payer.id)} AND asset='COPM'`],
    found: ['balance_total', 'held_total'],
  },
  {
    name: 'an account of a client that may be overdrawn',
    sql: ({ payer }) => [
      `UPDATE balances SET overdraft=1 WHERE account_id=${id(payer.id)} AND asset='COPM'`,
    ],
    found: ['overdraft'],
  },
  {
    name: 'a changed amount of an entry',
    sql: ({ payer }) => [`UPDATE entries SET raw=raw-1 WHERE ${entryOf(payer, 2)}`],
    found: ['entry_total', 'transaction_legs', 'transaction_sum'],
  },
  {
    name: 'a changed total of an entry',
    sql: ({ payer }) => [`UPDATE entries SET total_after=total_after+1 WHERE ${entryOf(payer, 2)}`],
    found: ['entry_total', 'entry_total'],
  },
  {
    name: 'a changed total of the last entry',
    sql: ({ payer }) => [`UPDATE entries SET total_after=total_after+1 WHERE ${entryOf(payer, 4)}`],
    found: ['balance_total', 'entry_total'],
  },
  {
    name: 'a deleted entry in the middle',
    sql: ({ payer }) => [`DELETE FROM entries WHERE ${entryOf(payer, 2)}`],
    found: ['entry_seq', 'entry_total', 'transaction_legs', 'transaction_sum'],
  },
  {
    name: 'a deleted last entry',
    sql: ({ payer }) => [`DELETE FROM entries WHERE ${entryOf(payer, 4)}`],
    found: ['account_seq', 'balance_total', 'transaction_legs', 'transaction_sum'],
  },
  {
    name: 'money from nowhere, posted for a transfer whose id is of a time that has not come',
    sql: ({ completed, receiver }) => [
      `UPDATE transfers SET id=${id(OF_THE_FUTURE)} WHERE id=${id(completed.id)}`,
      `UPDATE ledger_transactions SET related_id=${id(OF_THE_FUTURE)} WHERE related_id=${id(completed.id)}`,
      `UPDATE events SET resource_id=${id(OF_THE_FUTURE)}, body=REPLACE(body, '${completed.id}', '${OF_THE_FUTURE}')
       WHERE resource_id=${id(completed.id)}`,
      `UPDATE idempotency_keys SET resource_id=${id(OF_THE_FUTURE)} WHERE resource_id=${id(completed.id)}`,
      `UPDATE entries SET raw=raw+5, total_after=total_after+5 WHERE ${entryOf(receiver, 2)}`,
      `UPDATE balances SET available=available+5 WHERE account_id=${id(receiver.id)} AND asset='COPM'`,
    ],
    found: ['transaction_legs', 'transaction_sum'],
  },
  {
    name: 'an entry of another kind',
    sql: ({ payer }) => [`UPDATE entries SET kind='bonus_out' WHERE ${entryOf(payer, 2)}`],
    found: ['transaction_legs'],
  },
  {
    name: 'an entry with another counterparty',
    sql: ({ payer }) => [
      `UPDATE entries SET counterparty_account_id=${id(newId())} WHERE ${entryOf(payer, 2)}`,
    ],
    found: ['transaction_legs'],
  },
  {
    name: 'an entry of an account that does not exist',
    sql: ({ payer }) => [
      `UPDATE entries SET account_id=${id(newId())}, seq=1, total_after=raw WHERE ${entryOf(payer, 4)}`,
    ],
    found: ['account_seq', 'balance_total', 'entry_account', 'transaction_legs'],
  },
  {
    name: 'an entry of a ledger transaction that does not exist',
    sql: ({ payer }) => [
      `UPDATE entries SET transaction_id=${id(newId())} WHERE ${entryOf(payer, 2)}`,
    ],
    found: ['entry_transaction', 'transaction_legs', 'transaction_sum'],
  },
  {
    name: 'an entry dated before the one that it follows',
    sql: ({ payer }) => [`UPDATE entries SET created_at='2001-01-01' WHERE ${entryOf(payer, 2)}`],
    found: ['entry_time', 'transaction_time'],
  },
  {
    name: 'an account whose last posting is before its last entry',
    sql: ({ payer }) => [
      `UPDATE accounts SET last_posted_at='2001-01-01' WHERE id=${id(payer.id)}`,
    ],
    found: ['account_clock'],
  },
  {
    name: 'an account whose seq ran ahead',
    sql: ({ payer }) => [`UPDATE accounts SET seq=seq+1 WHERE id=${id(payer.id)}`],
    found: ['account_seq'],
  },
  {
    name: 'a ledger transaction without entries',
    sql: ({ tenant }) => [
      `INSERT INTO ledger_transactions SELECT ${id(newId())}, id, 'bonus', ${id(newId())}, NULL, created_at FROM tenants
       WHERE id=${id(tenant.tenant.id)}`,
    ],
    found: ['transaction_entries', 'transaction_resource'],
  },
  {
    name: 'a completed transfer without its ledger transaction',
    sql: ({ completed }) => [
      `DELETE FROM entries WHERE transaction_id IN (SELECT id FROM ledger_transactions WHERE related_id=${id(completed.id)})`,
      `DELETE FROM ledger_transactions WHERE related_id=${id(completed.id)}`,
    ],
    // The entries are gone from both accounts, the first in the middle, the other at the end.
    found: ['account_seq', 'balance_total', 'entry_seq', 'entry_total', 'operation_posting'],
  },
  {
    name: 'a transfer posted twice',
    sql: ({ completed, pending }) => [
      `UPDATE ledger_transactions SET related_id=${id(completed.id)} WHERE related_id<>${id(completed.id)}
       AND related_type='transfer' AND tenant_id=${id(pending.tenantId)} LIMIT 1`,
    ],
    found: ['operation_posting', 'operation_posting', 'transaction_legs'],
  },
  {
    name: 'a transfer that is completed but never moved',
    sql: ({ pending }) => [`UPDATE transfers SET status='completed' WHERE id=${id(pending.id)}`],
    found: ['operation_approval', 'operation_event', 'operation_hold', 'operation_posting'],
  },
  {
    name: 'a hold that is not there for what is pending',
    sql: ({ pending }) => [`DELETE FROM holds WHERE resource_id=${id(pending.id)}`],
    found: ['held_total', 'operation_hold'],
  },
  {
    name: 'a hold with another rest than what is pending',
    sql: ({ pending }) => [
      `UPDATE holds SET remaining=remaining-1 WHERE resource_id=${id(pending.id)}`,
    ],
    found: ['held_total', 'operation_hold'],
  },
  {
    name: 'an open hold of a settled transfer',
    sql: ({ completed, payer }) => [
      `INSERT INTO holds VALUES (${id(completed.id)}, 'transfer', ${id(payer.id)}, 'COPM', 5, 5, NOW(3), NULL)`,
    ],
    found: ['held_total', 'operation_hold'],
  },
  {
    name: 'a hold of nothing',
    sql: ({ payer }) => [
      `INSERT INTO holds VALUES (${id(newId())}, 'transfer', ${id(payer.id)}, 'COPM', 5, 0, NOW(3), NULL)`,
    ],
    found: ['hold_resource'],
  },
  {
    name: 'a month total that is off by one',
    sql: ({ payer }) => [`UPDATE month_totals SET used=used+1 WHERE account_id=${id(payer.id)}`],
    found: ['month_total'],
  },
  {
    name: 'a month total that was forgotten',
    sql: ({ payer }) => [`DELETE FROM month_totals WHERE account_id=${id(payer.id)}`],
    found: ['month_total'],
  },
  {
    name: 'a transfer moved into another month',
    sql: ({ completed }) => [
      `UPDATE transfers SET limit_month='2026-12' WHERE id=${id(completed.id)}`,
    ],
    found: ['month_total', 'month_total'],
  },
  {
    name: 'a missing event at the end of the log',
    sql: ({ tenant }) => [
      `DELETE FROM events WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=2`,
    ],
    found: ['event_counter', 'operation_event'],
  },
  {
    name: 'a gap in the log',
    sql: ({ tenant }) => [
      `DELETE FROM events WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ],
    found: ['event_sequence', 'operation_event'],
  },
  {
    name: 'an event that is there twice',
    sql: ({ tenant }) => [
      `INSERT INTO events SELECT tenant_id, 3, ${id(newId())}, type, resource_id, body, created_at, NULL FROM events
       WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=2`,
    ],
    found: ['event_body', 'event_counter', 'operation_event'],
  },
  {
    name: 'a changed body of an event',
    sql: ({ tenant }) => [
      `UPDATE events SET body=REPLACE(body, '"sequence":1', '"sequence":7') WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ],
    found: ['event_body'],
  },
  {
    name: 'a body of an event that is no JSON',
    sql: ({ tenant }) => [
      `UPDATE events SET body='{' WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ],
    found: ['event_body'],
  },
  {
    name: 'an event dated before the one that it follows',
    sql: ({ tenant }) => [
      `UPDATE events SET created_at='2001-01-01' WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=2`,
    ],
    found: ['event_body', 'event_time'],
  },
  {
    name: 'an account that was verified twice',
    sql: ({ tenant, payer }) => [
      `UPDATE events SET type='account.verified', resource_id=${id(payer.id)} WHERE tenant_id=${id(tenant.tenant.id)}`,
    ],
    found: ['account_verified', 'event_body', 'event_body', 'operation_event', 'operation_event'],
  },
  {
    name: 'an event about nothing',
    sql: ({ tenant }) => [
      `UPDATE events SET resource_id=${id(newId())} WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ],
    found: ['event_body', 'event_resource', 'operation_event'],
  },
  {
    name: 'a counter of events that ran ahead',
    sql: ({ tenant }) => [
      `UPDATE event_counters SET last_sequence=9 WHERE tenant_id=${id(tenant.tenant.id)}`,
    ],
    found: ['event_counter'],
  },
  {
    name: 'an idempotency key that names nothing',
    sql: ({ completed }) => [
      `UPDATE idempotency_keys SET resource_id=${id(newId())} WHERE resource_id=${id(completed.id)}`,
    ],
    found: ['key_resource', 'operation_key'],
  },
  {
    name: 'a transfer whose key is gone, so that a repetition would be a second one',
    sql: ({ completed }) => [`DELETE FROM idempotency_keys WHERE resource_id=${id(completed.id)}`],
    found: ['operation_key'],
  },
  {
    name: 'a pay-in whose key is gone',
    sql: ({ tenant }) => [
      `DELETE FROM idempotency_keys WHERE tenant_id=${id(tenant.tenant.id)} AND resource_type='payin'`,
    ],
    found: ['operation_key'],
  },
  {
    name: 'a fee that nobody got',
    sql: ({ completed }) => [`UPDATE transfers SET fee_raw=7 WHERE id=${id(completed.id)}`],
    found: ['event_body', 'operation_fee'],
  },
  {
    name: 'an account for a fee that there is none of',
    sql: ({ completed, payer }) => [
      `UPDATE transfers SET fee_account_id=${id(payer.id)} WHERE id=${id(completed.id)}`,
    ],
    found: ['operation_fee', 'transaction_legs'],
  },
  {
    name: "an account that has become another tenant's",
    sql: ({ payer }) => [
      `INSERT INTO tenants (id, name, time_zone, policy_delay_s, created_at) VALUES (${id(STRANGER)}, 'stranger', 'UTC', 0, NOW(3))`,
      `INSERT INTO event_counters VALUES (${id(STRANGER)}, 0, NOW(3), 0)`,
      `UPDATE accounts SET tenant_id=${id(STRANGER)} WHERE id=${id(payer.id)}`,
    ],
    // Its owner's role, and each of its transfers, its pay-in and its adjustment.
    found: ['account_member', ...Array.from({ length: 5 }, () => 'operation_account')],
  },
  {
    name: "an account that only receives and has become another tenant's",
    sql: ({ receiver }) => [
      `INSERT INTO tenants (id, name, time_zone, policy_delay_s, created_at) VALUES (${id(STRANGER)}, 'stranger', 'UTC', 0, NOW(3))`,
      `INSERT INTO event_counters VALUES (${id(STRANGER)}, 0, NOW(3), 0)`,
      `UPDATE accounts SET tenant_id=${id(STRANGER)} WHERE id=${id(receiver.id)}`,
    ],
    found: ['account_member'],
  },
  {
    name: 'a tenant that is gone',
    sql: ({ tenant }) => [`DELETE FROM tenants WHERE id=${id(tenant.tenant.id)}`],
    // Every account, and the system's.
    found: Array.from({ length: 5 }, () => 'account_tenant'),
  },
  {
    name: 'a tenant whose fees go to a stranger',
    sql: ({ tenant }) => [
      `UPDATE tenants SET fee_account_id=${id(newId())} WHERE id=${id(tenant.tenant.id)}`,
    ],
    found: ['tenant_fee_account'],
  },
  {
    name: 'a movement that is described otherwise than its transfer',
    sql: ({ completed }) => [
      `UPDATE ledger_transactions SET description='rent' WHERE related_id=${id(completed.id)}`,
    ],
    found: ['transaction_description'],
  },
  {
    name: 'an event that shows another amount than was moved',
    sql: ({ tenant }) => [
      `UPDATE events SET body=REPLACE(body, '"raw":"10"', '"raw":"11"') WHERE tenant_id=${id(tenant.tenant.id)} AND sequence=1`,
    ],
    found: ['event_body'],
  },
  {
    name: 'a hold of another amount than its transfer',
    sql: ({ pending }) => [`UPDATE holds SET raw=raw+1 WHERE resource_id=${id(pending.id)}`],
    found: ['operation_hold'],
  },
  {
    name: 'an adjustment that one person proposed and posted under two names',
    sql: ({ tenant }) => [
      `UPDATE adjustments SET decided_by_id=proposed_by_id WHERE tenant_id=${id(tenant.tenant.id)}`,
    ],
    found: ['operation_people'],
  },
  {
    name: 'a pay-in without its ledger transaction',
    sql: ({ tenant }) => [
      `UPDATE ledger_transactions SET related_id=${id(newId())} WHERE related_type='payin' AND tenant_id=${id(tenant.tenant.id)}`,
    ],
    found: ['operation_posting', 'transaction_resource'],
  },
  {
    name: 'a posted adjustment that says it was rejected',
    sql: ({ tenant }) => [
      `UPDATE adjustments SET status='rejected' WHERE tenant_id=${id(tenant.tenant.id)}`,
    ],
    found: ['operation_posting'],
  },
  {
    name: 'a transfer to an account that does not exist',
    sql: ({ pending }) => [
      `UPDATE transfers SET destination_account_id=${id(newId())} WHERE id=${id(pending.id)}`,
    ],
    found: ['operation_account'],
  },
  {
    name: 'a role in an account that does not exist',
    sql: ({ tenant }) => [
      `INSERT INTO member_roles VALUES (${id(newId())}, ${id(tenant.owner.id)}, 'viewer')`,
    ],
    found: ['row_account'],
  },
];

describe('the auditor finds damage', () => {
  let db: TestDatabase;
  let watched: WatchedWriter;

  before(async () => {
    const admin = process.env.TEST_MYSQL_ADMIN_URL ?? '';
    db = await freshDatabase(
      admin,
      `money_damage_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`,
    );
    watched = openWriter(db.database);
  });

  after(() => db.remove());

  beforeEach(async () => {
    const tables = await db.sql(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema='${db.name}' AND table_name<>'schema_migrations'`,
    );
    for (const { name } of tables) await db.sql(`DELETE FROM ${String(name)}`);
  });

  it('the auditor finds damage and nothing where there is none', async () => {
    await makeVictim(db, watched);
    await assertLedgerSound(db.database);
  });

  for (const { name, sql, found } of DAMAGES)
    it(`the auditor finds damage: ${name}`, async () => {
      const victim = await makeVictim(db, watched);
      let touched = 0;
      for (const statement of sql(victim)) touched += await db.change(statement);
      assert(touched > 0, 'nothing was damaged');
      const { findings } = await audit(db.database);
      const checks = findings.map((finding) => finding.check).sort();
      assert.deepEqual(checks, [...found], JSON.stringify(findings, null, 1));
      // The same from the tenant's own audit, but for what belongs to no tenant any more.
      const own = await audit(db.database, { tenantId: victim.tenant.tenant.id });
      const ownerless = [
        'account_member',
        'account_tenant',
        'entry_account',
        'row_account',
        'tenant_fee_account',
      ];
      assert.deepEqual(
        own.findings.map((finding) => finding.check).sort(),
        found.filter((check) => !ownerless.includes(check)),
      );
    });
});

async function makeVictim({ database }: TestDatabase, { writer }: WatchedWriter): Promise<Victim> {
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
  return { tenant, payer, receiver, completed, pending };
}
