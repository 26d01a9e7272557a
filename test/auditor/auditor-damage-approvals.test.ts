import assert from 'node:assert/strict';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { approvalsOf, openGuarded } from '../helpers/guarded.js';
import { addStaff, proven } from '../helpers/staff.js';
import { type Damages, damageTests } from './damages.js';

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

const id = idLiteral;
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

const DAMAGES: Damages<Victims> = {
  'an approval of a transfer that does not exist': [
    ({ creatorId }) => approval(newId(), creatorId),
    ['approval_resource'],
  ],
  'a transfer that waits though it has all its approvals': [
    ({ halfway }) => transfer('approvals_required=2', halfway),
    ['operation_approval'],
  ],
  'a missing approval of a completed transfer': [
    ({ completed }) => `DELETE FROM approvals WHERE resource_id=${id(completed)} LIMIT 1`,
    ['operation_approval'],
  ],
  'a missing approval of a pending transfer': [
    ({ halfway }) => `DELETE FROM approvals WHERE resource_id=${id(halfway)} LIMIT 1`,
    ['operation_approval'],
  ],
  'an approval that the transfer does not count': [
    ({ pending }) => approval(pending, newId()),
    ['operation_approval'],
  ],
  'an approval of a transfer that needed none': [
    ({ instantly }) => approval(instantly, newId()),
    ['operation_approval'],
  ],
  'an approval of a rejected transfer, dated after its end': [
    ({ rejected }) => approval(rejected, newId()),
    ['operation_approval'],
  ],
  'an approval by the creator of the transfer': [
    ({ halfway, creatorId }) =>
      `UPDATE approvals SET member_id=${id(creatorId)}, approver='member:${creatorId}' WHERE resource_id=${id(halfway)} LIMIT 1`,
    ['operation_approval'],
  ],
  'an approval by the person of the staff who proposed the transfer': [
    ({ halfway, creatorId }) =>
      `UPDATE approvals SET member_id=NULL, staff_id=${id(creatorId)}, approver='support' WHERE resource_id=${id(halfway)} LIMIT 1`,
    ['operation_approval'],
  ],
  'an approval under the name of another member than the one who gave it': [
    ({ halfway }) =>
      `UPDATE approvals SET member_id=${id(newId())} WHERE resource_id=${id(halfway)} LIMIT 1`,
    ['operation_approval'],
  ],
  'a pending transfer without the number of approvals that it needs': [
    ({ pending }) => transfer('approvals_required=NULL, approvals_received=NULL', pending),
    ['operation_approval'],
  ],
  'a rejected transfer whose amount was changed': [
    ({ rejected }) => transfer('raw=raw+1', rejected),
    ['event_body', 'operation_hold'],
  ],
  'a transfer that was completed with too few approvals': [
    ({ completed }) => transfer('approvals_required=3', completed),
    ['operation_approval'],
  ],
  'a transfer that was completed with no approval at all': [
    ({ completed }) => [
      `DELETE FROM approvals WHERE resource_id=${id(completed)}`,
      transfer('approvals_received=0', completed),
    ],
    ['operation_approval'],
  ],
  'more approvals than are needed': [
    ({ completed }) => [approval(completed, newId()), transfer('approvals_received=3', completed)],
    ['operation_approval'],
  ],
  'a missing hold of a pending transfer': [
    ({ pending }) => `DELETE FROM holds WHERE resource_id=${id(pending)}`,
    ['held_total', 'operation_hold'],
  ],
  'a hold of less than the amount of its pending transfer': [
    ({ halfway }) => `UPDATE holds SET remaining=remaining-1 WHERE resource_id=${id(halfway)}`,
    ['held_total', 'operation_hold'],
  ],
  'a hold that expires at another time than its pending transfer': [
    ({ pending }) => `UPDATE holds SET expires_at='2099-01-01' WHERE resource_id=${id(pending)}`,
    ['operation_hold'],
  ],
  'a hold that still reserves money after its transfer has ended': [
    ({ expired, accountId }) => [
      `UPDATE holds SET remaining=5 WHERE resource_id=${id(expired)}`,
      `UPDATE balances SET available=available-5, held=held+5 WHERE account_id=${id(accountId)} AND asset='COPM'`,
    ],
    ['operation_hold'],
  ],
  'a hold that was released twice': [
    ({
      rejected,
      accountId,
    }) => `UPDATE balances SET available=available+1, held=held-1 WHERE account_id=${id(accountId)} AND asset='COPM'
       AND EXISTS (SELECT 1 FROM transfers WHERE id=${id(rejected)})`,
    ['held_total'],
  ],
  'a pending transfer that counts in another month than its own': [
    ({ pending }) => transfer("limit_month='2001-01'", pending),
    ['month_total', 'month_total'],
  ],
  'a month that still counts a rejected transfer': [
    ({ accountId, rejected }) =>
      `UPDATE month_totals SET used=used+(SELECT raw FROM transfers WHERE id=${id(rejected)}) WHERE account_id=${id(accountId)}`,
    ['month_total'],
  ],
  'a month that does not count a transfer that still waits': [
    ({ accountId, pending }) =>
      `UPDATE month_totals SET used=used-(SELECT raw FROM transfers WHERE id=${id(pending)}) WHERE account_id=${id(accountId)}`,
    ['month_total'],
  ],
  'a completed transfer with the status rejected': [
    ({ completed }) => transfer("status='rejected', rejection_code='rejected'", completed),
    ['month_total', 'operation_event', 'operation_event', 'operation_posting'],
  ],
  'a pending transfer with the status expired': [
    ({ pending }) => transfer("status='expired'", pending),
    ['month_total', 'operation_event', 'operation_hold'],
  ],
  'an expired transfer with the status rejected': [
    ({ expired }) => transfer("status='rejected', rejection_code='canceled'", expired),
    ['operation_event', 'operation_event'],
  ],
  'a missing event of a rejection': [
    ({ rejected }) => `DELETE FROM events WHERE resource_id=${id(rejected)}`,
    ['event_sequence', 'operation_event'],
  ],
  'a missing event of an expiry at the end of the log': [
    ({ expired }) => `DELETE FROM events WHERE resource_id=${id(expired)}`,
    ['event_counter', 'event_head', 'operation_event'],
  ],
  'a rejection with two events': [
    (victims) => doubled(victims, victims.rejected),
    ['event_body', 'event_counter', 'event_head', 'operation_event'],
  ],
  'an expiry with two events': [
    (victims) => doubled(victims, victims.expired),
    ['event_body', 'event_counter', 'event_head', 'operation_event'],
  ],
  'an expiry whose event reports a rejection': [
    ({ expired }) => `UPDATE events SET type='transfer.rejected' WHERE resource_id=${id(expired)}`,
    ['event_body', 'event_head', 'event_head', 'operation_event', 'operation_event'],
  ],
  'an event of a final state of a transfer that still waits': [
    ({ pending, expired }) =>
      `UPDATE events SET resource_id=${id(pending)} WHERE resource_id=${id(expired)}`,
    ['event_body', 'operation_event', 'operation_event'],
  ],
};

/** MariaDB and MySQL: a CHECK of the table refuses the row. */
const CHECK_REFUSED = [4025, 3819];

describe('the auditor, for operations with approvals', () => {
  const opened = damageTests(DAMAGES, {
    name: 'damage_approvals',
    makeVictims,
    // What belongs to nothing belongs to no tenant.
    ofNoTenant: ['approval_resource'],
  });

  for (const [name, set, which] of [
    ['a rejected transfer without a code', 'rejection_code=NULL', 'rejected'],
    [
      'a rejection code of a transfer that was not rejected',
      "rejection_code='rejected'",
      'expired',
    ],
    ['a pending transfer without an expiry', 'approval_expires_at=NULL', 'pending'],
  ] as const)
    it(`the database refuses ${name}, so the auditor need not find it`, async () => {
      const { db, victims } = opened();
      const refused: unknown = await db
        .change(transfer(set, victims[which]))
        .catch((error: unknown) => error);
      assert(refused instanceof Error && 'errno' in refused, String(refused));
      assert(CHECK_REFUSED.includes(Number(refused.errno)), String(refused.errno));
    });

  it('the database refuses two approvals of one member for one transfer, so the auditor need not find them', async () => {
    const { db, victims } = opened();
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
});

async function makeVictims(db: TestDatabase): Promise<Victims> {
  let late = 0;
  const api = await startTestApi(db, {}, { clock: () => instant(systemClock() + late) });
  // Rows that disappear would close the ledger.
  api.core.rollbackGuard.stop();
  const own = await openGuarded(api, { approvals: 2 });
  const made = async (): Promise<string> => text((await own.createPending()).id);
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
