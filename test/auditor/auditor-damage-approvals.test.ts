import assert from 'node:assert/strict';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { audit } from '../../src/auditor/audit.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, idLiteral, text } from '../support/bank.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { approvalsOf, type GuardedBank, openGuarded } from '../support/guarded.js';
import { assertLedgerSound } from '../support/world.js';
import { addStaff, proven } from '../support/staff.js';

/** One transfer of each kind that approvals make, each as the service made it. */
interface Victims {
  readonly tenantId: Uuid;
  readonly accountId: string;
  readonly creatorId: string;
  readonly pending: string;
  /** Has two of three approvals. */
  readonly halfway: string;
  /** By two members. */
  readonly completed: string;
  readonly rejected: string;
  readonly expired: string;
  readonly instantly: string;
}

interface Damage {
  readonly name: string;
  /** Statements for the administrator; each alone. */
  readonly sql: (victims: Victims) => readonly string[];
  /** Every check that must speak, and no other. */
  readonly found: readonly string[];
}

const id = idLiteral;
/** All that is damaged: each is put back after its test. */
const TABLES = ['transfers', 'approvals', 'holds', 'balances', 'month_totals', 'events'];
const transfer = (set: string, which: string): string =>
  `UPDATE transfers SET ${set} WHERE id=${id(which)}`;
const approval = (which: string, memberId: string): string =>
  `INSERT INTO approvals VALUES (${id(newId())}, 'transfer', ${id(which)}, 'member:${memberId}', ${id(memberId)},
   NULL, 'member:${memberId}', 'api', NOW(3))`;
/** Once more the last event about it, as the next of the log. */
const doubled = ({ tenantId }: Victims, which: string): string =>
  `INSERT INTO events SELECT e.tenant_id, c.last_sequence+1, ${id(newId())}, e.type, e.resource_id, e.body, c.last_at, NULL
   FROM events e JOIN event_counters c ON c.tenant_id=e.tenant_id
   WHERE e.tenant_id=${id(tenantId)} AND e.resource_id=${id(which)}`;

/** What belongs to nothing belongs to no tenant. */
const OF_NO_TENANT = ['approval_resource'];

const DAMAGES: readonly Damage[] = [
  {
    name: 'an approval of a transfer that does not exist',
    sql: ({ creatorId }) => [approval(newId(), creatorId)],
    found: ['approval_resource'],
  },
  {
    name: 'a transfer that waits though it has all its approvals',
    sql: ({ halfway }) => [transfer('approvals_required=2', halfway)],
    found: ['operation_approval'],
  },
  {
    name: 'an approval that is counted and not there',
    sql: ({ completed }) => [`DELETE FROM approvals WHERE resource_id=${id(completed)} LIMIT 1`],
    found: ['operation_approval'],
  },
  {
    name: 'an approval of a pending one that is counted and not there',
    sql: ({ halfway }) => [`DELETE FROM approvals WHERE resource_id=${id(halfway)} LIMIT 1`],
    found: ['operation_approval'],
  },
  {
    name: 'an approval that is there and not counted',
    sql: ({ pending }) => [approval(pending, newId())],
    found: ['operation_approval'],
  },
  {
    name: 'an approval of a transfer that needed none',
    sql: ({ instantly }) => [approval(instantly, newId())],
    found: ['operation_approval'],
  },
  {
    name: 'an approval of a rejected one that came after its end',
    sql: ({ rejected }) => [approval(rejected, newId())],
    found: ['operation_approval'],
  },
  {
    name: 'an approval by whoever created it',
    sql: ({ halfway, creatorId }) => [
      `UPDATE approvals SET member_id=${id(creatorId)}, approver='member:${creatorId}' WHERE resource_id=${id(halfway)} LIMIT 1`,
    ],
    found: ['operation_approval'],
  },
  {
    name: 'an approval that counts as given by another member than gave it',
    sql: ({ halfway }) => [
      `UPDATE approvals SET member_id=${id(newId())} WHERE resource_id=${id(halfway)} LIMIT 1`,
    ],
    found: ['operation_approval'],
  },
  {
    name: 'one that waits and does not say for how many',
    sql: ({ pending }) => [transfer('approvals_required=NULL, approvals_received=NULL', pending)],
    found: ['operation_approval'],
  },
  {
    name: 'a rejected transfer whose amount was changed',
    sql: ({ rejected }) => [transfer('raw=raw+1', rejected)],
    found: ['event_body', 'operation_hold'],
  },
  {
    name: 'a transfer that was completed with too few approvals',
    sql: ({ completed }) => [transfer('approvals_required=3', completed)],
    found: ['operation_approval'],
  },
  {
    name: 'a transfer that was completed with no approval at all',
    sql: ({ completed }) => [
      `DELETE FROM approvals WHERE resource_id=${id(completed)}`,
      transfer('approvals_received=0', completed),
    ],
    found: ['operation_approval'],
  },
  {
    name: 'more approvals than are needed',
    sql: ({ completed }) => [
      approval(completed, newId()),
      transfer('approvals_received=3', completed),
    ],
    found: ['operation_approval'],
  },
  {
    name: 'a hold of a pending one that is gone',
    sql: ({ pending }) => [`DELETE FROM holds WHERE resource_id=${id(pending)}`],
    found: ['held_total', 'operation_hold'],
  },
  {
    name: 'a hold of a pending one that holds less',
    sql: ({ halfway }) => [
      `UPDATE holds SET remaining=remaining-1 WHERE resource_id=${id(halfway)}`,
    ],
    found: ['held_total', 'operation_hold'],
  },
  {
    name: 'a hold of a pending one that expires at another time, which the sweeper would go by',
    sql: ({ pending }) => [
      `UPDATE holds SET expires_at='2099-01-01' WHERE resource_id=${id(pending)}`,
    ],
    found: ['operation_hold'],
  },
  {
    name: 'a hold that holds on after its end, with the money',
    sql: ({ expired, accountId }) => [
      `UPDATE holds SET remaining=5 WHERE resource_id=${id(expired)}`,
      `UPDATE balances SET available=available-5, held=held+5 WHERE account_id=${id(accountId)} AND asset='COPM'`,
    ],
    found: ['operation_hold'],
  },
  {
    name: 'a hold that was released twice',
    sql: ({ rejected, accountId }) => [
      `UPDATE balances SET available=available+1, held=held-1 WHERE account_id=${id(accountId)} AND asset='COPM'
       AND EXISTS (SELECT 1 FROM transfers WHERE id=${id(rejected)})`,
    ],
    found: ['held_total'],
  },
  {
    name: 'a pending one that counts in another month than its own',
    sql: ({ pending }) => [transfer("limit_month='2001-01'", pending)],
    found: ['month_total', 'month_total'],
  },
  {
    name: 'a month that was not given back',
    sql: ({ accountId, rejected }) => [
      `UPDATE month_totals SET used=used+(SELECT raw FROM transfers WHERE id=${id(rejected)}) WHERE account_id=${id(accountId)}`,
    ],
    found: ['month_total'],
  },
  {
    name: 'a month that was given back for what still waits',
    sql: ({ accountId, pending }) => [
      `UPDATE month_totals SET used=used-(SELECT raw FROM transfers WHERE id=${id(pending)}) WHERE account_id=${id(accountId)}`,
    ],
    found: ['month_total'],
  },
  {
    name: 'a completed one that says it was rejected',
    sql: ({ completed }) => [transfer("status='rejected', rejection_code='rejected'", completed)],
    found: ['month_total', 'operation_event', 'operation_event', 'operation_posting'],
  },
  {
    name: 'a pending one that says it expired',
    sql: ({ pending }) => [transfer("status='expired'", pending)],
    found: ['month_total', 'operation_event', 'operation_hold'],
  },
  {
    name: 'an expired one that says it was rejected',
    sql: ({ expired }) => [transfer("status='rejected', rejection_code='canceled'", expired)],
    found: ['operation_event', 'operation_event'],
  },
  {
    name: 'an event of a rejection that is missing',
    sql: ({ rejected }) => [`DELETE FROM events WHERE resource_id=${id(rejected)}`],
    found: ['event_sequence', 'operation_event'],
  },
  {
    name: 'an event of an expiry that is missing, at the end of the log',
    sql: ({ expired }) => [`DELETE FROM events WHERE resource_id=${id(expired)}`],
    found: ['event_counter', 'operation_event'],
  },
  {
    name: 'a rejection that is told twice',
    sql: (victims) => [doubled(victims, victims.rejected)],
    found: ['event_body', 'event_counter', 'operation_event'],
  },
  {
    name: 'an expiry that is told twice',
    sql: (victims) => [doubled(victims, victims.expired)],
    found: ['event_body', 'event_counter', 'operation_event'],
  },
  {
    name: 'an expiry that is told as a rejection',
    sql: ({ expired }) => [
      `UPDATE events SET type='transfer.rejected' WHERE resource_id=${id(expired)}`,
    ],
    found: ['event_body', 'operation_event', 'operation_event'],
  },
  {
    name: 'an event about what still waits',
    sql: ({ pending, expired }) => [
      `UPDATE events SET resource_id=${id(pending)} WHERE resource_id=${id(expired)}`,
    ],
    found: ['event_body', 'operation_event', 'operation_event'],
  },
];

/** MariaDB and MySQL: a CHECK of the table refuses the row. */
const CHECK_REFUSED = [4025, 3819];

describe('the auditor finds damage to approvals', () => {
  let db: TestDatabase;
  let api: TestApi;
  let victims: Victims;
  let late: number;

  before(async () => {
    const admin = process.env.TEST_MYSQL_ADMIN_URL ?? '';
    db = await freshDatabase(
      admin,
      `money_damage_a_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`,
    );
    late = 0;
    api = await startTestApi(db, {}, { clock: () => instant(systemClock() + late) });
    // Rows that disappear would close the ledger.
    api.core.rollbacks.stop();
    victims = await makeVictims(await openGuarded(api, { approvals: 2 }));
    for (const table of TABLES)
      await db.sql(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
  });

  after(async () => {
    await db.remove();
  });

  afterEach(async () => {
    for (const table of TABLES) {
      await db.sql(`DELETE FROM ${table}`);
      await db.sql(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
    }
  });

  it('the auditor finds damage to approvals and nothing where there is none', async () => {
    await assertLedgerSound(db.database);
  });

  for (const { name, sql, found } of DAMAGES)
    it(name, async () => {
      for (const statement of sql(victims))
        assert((await db.change(statement)) > 0, `nothing was damaged: ${statement}`);
      const { findings } = await audit(db.database);
      assert.deepEqual(
        findings.map(({ check }) => check).sort(),
        [...found],
        JSON.stringify(findings, null, 1),
      );
      // The same from the tenant's own audit.
      const own = await audit(db.database, { tenantId: victims.tenantId });
      const seen = found.filter((check) => !OF_NO_TENANT.includes(check));
      assert.deepEqual(own.findings.map(({ check }) => check).sort(), seen);
    });

  for (const [name, set, which] of [
    ['a rejected one without a code', 'rejection_code=NULL', 'rejected'],
    ['a code of what was not rejected', "rejection_code='rejected'", 'expired'],
    ['what waits without an expiry', 'approval_expires_at=NULL', 'pending'],
  ] as const)
    it(`the auditor finds damage to approvals: ${name} is not even taken by the database`, async () => {
      const refused: unknown = await db
        .change(transfer(set, victims[which]))
        .catch((error: unknown) => error);
      assert(refused instanceof Error && 'errno' in refused, String(refused));
      assert(CHECK_REFUSED.includes(Number(refused.errno)), String(refused.errno));
    });

  it('two approvals of one member for one transfer are not even taken by the database', async () => {
    const [row] = await db.sql(
      `SELECT LOWER(HEX(member_id)) AS hex FROM approvals WHERE resource_id=${id(victims.halfway)}`,
    );
    const hex = text(row?.hex);
    const member = [8, 12, 16, 20].reduceRight(
      (made, at) => `${made.slice(0, at)}-${made.slice(at)}`,
      hex,
    );
    await assert.rejects(db.change(approval(victims.halfway, member)), /Duplicate/);
  });

  async function makeVictims(own: GuardedBank): Promise<Victims> {
    const made = async (): Promise<string> => text((await own.pend()).id);
    const approve = async (
      which: string,
      people: readonly ('approver' | 'second')[],
    ): Promise<void> => {
      for (const person of people) answered(await own.act('approve', which, person), 200);
    };
    await own.bank.sent({ from: own.guarded, to: own.receiver, raw: 100_000n });
    const instantly = text(
      (await own.bank.sent({ from: own.guarded, to: own.receiver, raw: 100_000n })).id,
    );
    const completed = await made();
    await approve(completed, ['approver', 'second']);
    const rejected = await made();
    await approve(rejected, ['approver']);
    answered(await own.act('reject', rejected, 'second'), 200);
    const canceled = await made();
    const sofia = proven(
      await addStaff(db.database, { name: 'sofia', rights: ['approve', 'cancel'] }),
    );
    const { outcome } = await approvalsOf(api).performByStaff(
      await own.row(canceled),
      'cancel',
      sofia,
      'asked for',
    );
    assert(outcome.done);
    await own.setPolicy({ approvals: 1, expiresInS: 60 });
    const expired = await made();
    await own.setPolicy({ approvals: 3, expiresInS: 2_592_000 });
    const [pending, halfway] = [await made(), await made()];
    await approve(halfway, ['approver', 'second']);
    late = 60_000;
    assert.equal((await approvalsOf(api).expire(expired)).status, 'expired');
    const { tenantId, id: accountId } = own.guarded;
    const creatorId = own.members.creator.id;
    return {
      tenantId,
      accountId,
      creatorId,
      pending,
      halfway,
      completed,
      rejected,
      expired,
      instantly,
    };
  }
});
