import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addMember } from '../../src/members/members.js';
import { grantRole } from '../../src/members/roles.js';
import { lapseDueBatches } from '../../src/batches/sweeps.js';
import type { ApiError, CommandResult } from '../../src/core/errors.js';
import type { Uuid } from '../../src/core/ids.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { ROLES } from '../../src/core/permissions.js';
import type { Batch } from '../../src/db/entities/batches.js';
import type { Account, Member } from '../../src/db/entities/parties.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, LEAST, object, openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { balanceOf, TEST_ACTOR } from '../helpers/world.js';
import {
  BatchWorld,
  codeOf,
  payroll,
  readyBatch,
  rejectedBatch,
  resourceOf,
  cancelBatch,
} from './support.js';

const DAY_MS = 86_400_000;
const MANY = 1_000;

const db = await testDatabase();

describe('a batch that is ready', () => {
  let world: BatchWorld;
  let payer: Account;
  let ana: Account;
  const file = payroll([
    ['$ana', LEAST.toString(), 'COPM'],
    ['$ana', LEAST.toString(), 'COPM'],
  ]);

  beforeEach(async () => {
    world = await BatchWorld.open(db);
    ana = await world.account({ alias: '$ana' });
    payer = await world.account({ funds: { COPM: 1_000n * LEAST } });
  });

  const withdraw = (
    { id }: Pick<Batch, 'id'>,
    member: Pick<Member, 'id'> = world.tenant.owner,
  ): Promise<CommandResult<Batch>> => world.batches.withdraw(world.caller(member), id);
  const member = (name: string): Promise<Member> =>
    addMember(db.database, systemClock, world.tenant.tenant.id, name, TEST_ACTOR);

  /** The batch ended in this state, with its events, and paid no row. */
  async function assertEnded(id: Uuid, code: Batch['rejectionCode']): Promise<void> {
    const batch = await world.batch(id);
    assert.deepEqual(
      [batch.status, batch.rejectionCode, batch.rowsPaid, batch.finishedAt === null],
      ['rejected', code, 0, false],
    );
    const events = await db.sql(
      `SELECT type, body FROM events WHERE resource_id=${idLiteral(id)} ORDER BY sequence`,
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      ['bonus_batch.ready', 'bonus_batch.rejected'],
    );
    const shown = object(
      object((JSON.parse(String(events[1]!.body)) as { data: unknown }).data).object,
    );
    assert.deepEqual(
      [shown.status, shown.rejection, shown.files],
      ['rejected', { code }, { errors_url: null, result_url: null }],
    );
    assert.deepEqual(await balanceOf(db.database, payer.id), {
      available: 1_000n * LEAST,
      held: 0n,
    });
    assert.equal((await balanceOf(db.database, ana.id)).available, 0n);
  }

  it('a ready batch that is withdrawn pays no row, keeps its rows as they were, and is in the audit log', async () => {
    const batch = await world.ready(payer, file);
    assert.equal(resourceOf(await withdraw(batch)).status, 'rejected');
    await assertEnded(batch.id, 'withdrawn');
    for (const again of [await withdraw(batch), await world.execute(batch)]) {
      assert(!again.outcome.done);
      assert.deepEqual(again.outcome.refusal.details, { current: 'rejected', allowed: ['ready'] });
    }
    assert.equal(await world.pay(batch), 'over');
    assert.deepEqual(
      (await world.rows(batch.id)).map(({ status }) => status),
      ['pending', 'pending'],
    );
    const acts = await db.sql(
      `SELECT action, channel, actor_claimed FROM audit_log WHERE subject_id='${batch.id}' ORDER BY id`,
    );
    const actor = `member:${world.tenant.owner.id}`;
    assert.deepEqual(acts, [
      { action: 'bonus_batch.cancel', channel: 'api', actor_claimed: actor },
    ]);
    await assertEnded(batch.id, 'withdrawn');
  });

  it('is withdrawn by an admin or owner of its source, and by its uploader while they have a role there', async () => {
    const clerk = await member('clerk');
    for (const role of ROLES) {
      await grantRole(db.database, systemClock, clerk, payer.id, role, TEST_ACTOR);
      const batch = await world.ready(payer, file);
      const may = role === 'admin' || role === 'owner';
      assert.equal(
        codeOf(await withdraw(batch, clerk)),
        may ? undefined : 'authority_insufficient',
        role,
      );
      await db.sql(
        `UPDATE batches SET created_by=${idLiteral(clerk.id)} WHERE id=${idLiteral(batch.id)}`,
      );
      assert.equal(
        codeOf(await withdraw(batch, clerk)),
        may ? 'invalid_state' : undefined,
        `uploader, ${role}`,
      );
    }
    const batch = await world.ready(payer, file);
    await db.sql(
      `UPDATE batches SET created_by=${idLiteral(clerk.id)} WHERE id=${idLiteral(batch.id)}`,
    );
    await db.sql(`DELETE FROM member_roles WHERE member_id=${idLiteral(clerk.id)}`);
    assert.equal(codeOf(await withdraw(batch, clerk)), 'authority_insufficient');
    assert.equal((await world.batch(batch.id)).status, 'ready');
  });

  it('withdrawing another tenant\'s batch, or an unknown one, is 404; withdrawing a batch that is not ready is 409 {current, allowed: ["ready"]}', async () => {
    const stranger = await BatchWorld.open(db);
    const ready = await world.ready(payer, file);
    for (const id of [ready.id, payer.id])
      assert.equal(codeOf(await stranger.batches.withdraw(stranger.caller(), id)), 'not_found');
    assert.equal(codeOf(await withdraw({ id: payer.id })), 'not_found');
    for (const [batch, current] of [
      [await world.uploaded(payer, file), 'validating'],
      [await world.validated(payer, payroll([['$nobody', '1', 'COPM']])), 'rejected'],
      [await world.executed(payer, file), 'executing'],
      [await world.paid(payer, file), 'completed'],
    ] as const) {
      const { outcome } = await withdraw(batch);
      assert(!outcome.done);
      assert.deepEqual(
        [outcome.refusal.code, outcome.refusal.details],
        ['invalid_state', { current, allowed: ['ready'] }],
      );
      assert.equal((await world.batch(batch.id)).status, current);
    }
  });

  it('support withdraws a ready batch with a reason, and repeating it changes nothing', async () => {
    const batch = await world.ready(payer, file);
    for (let round = 0; round < 2; round += 1)
      assert.equal(
        (await cancelBatch(world.deps, batch.id, TEST_ACTOR, 'ticket 7')).status,
        'rejected',
      );
    await assertEnded(batch.id, 'withdrawn');
    const acts = await db.sql(
      `SELECT channel, details FROM audit_log WHERE subject_id='${batch.id}'`,
    );
    assert.deepEqual(
      acts.map(({ channel, details }) => [channel, object(JSON.parse(String(details))).reason]),
      [['ops', 'ticket 7']],
    );
  });

  it('lapses exactly when its time since validation has passed, and no other batch lapses', async () => {
    let now: Instant = instant(Date.parse('2031-01-01T00:00:00.000Z'));
    const dated = await BatchWorld.open(db, { clock: () => now });
    await dated.account({ alias: '$ana' });
    const source = await dated.account({ funds: { COPM: 10n * LEAST } });
    const [ready, executing] = [
      await dated.ready(source, file),
      await dated.executed(source, file),
    ];
    const open = await dated.uploaded(source, file);
    const lapse = async (): Promise<void> => {
      while ((await lapseDueBatches(dated.deps, 30 * DAY_MS, MANY)) === MANY) continue;
    };
    const states = async (): Promise<unknown[]> =>
      Promise.all([ready, executing, open].map(async ({ id }) => (await dated.batch(id)).status));
    now = instant(now + 30 * DAY_MS - 1);
    await lapse();
    assert.deepEqual(await states(), ['ready', 'executing', 'validating']);
    now = instant(now + 1);
    await Promise.all([lapse(), lapse()]);
    assert.deepEqual(await states(), ['rejected', 'executing', 'validating']);
    assert.equal((await dated.batch(ready.id)).rejectionCode, 'lapsed');
    assert.deepEqual(await dated.events(), [
      'bonus_batch.ready',
      'bonus_batch.ready',
      'bonus_batch.rejected',
    ]);
    assert.equal(codeOf(await dated.execute(ready)), 'invalid_state');
    await dated.pay(executing);
  });

  it('executing, withdrawing or canceling a batch that was ready for 30 days records the lapse and is refused, and one millisecond earlier it is not', async () => {
    let now: Instant = instant(Date.parse('2031-03-01T00:00:00.000Z'));
    const dated = await BatchWorld.open(db, { clock: () => now });
    await dated.account({ alias: '$ana' });
    const source = await dated.account({ funds: { COPM: 10n * LEAST } });
    const acts: readonly ((batch: Batch) => Promise<string | undefined>)[] = [
      (batch) => dated.execute(batch).then(codeOf),
      ({ id }) => dated.batches.withdraw(dated.caller(), id).then(codeOf),
      ({ id }) =>
        cancelBatch(dated.deps, id, TEST_ACTOR, 'ticket 7').then(
          () => undefined,
          ({ refusal }: ApiError) => refusal.code,
        ),
    ];
    for (const act of acts) {
      const [late, inTime] = [await dated.ready(source, file), await dated.ready(source, file)];
      const before = (await dated.events()).length;
      now = instant(now + 30 * DAY_MS - 1);
      assert.equal(await act(inTime), undefined);
      now = instant(now + 1);
      assert.deepEqual([await act(late), await act(late)], ['invalid_state', 'invalid_state']);
      const { status, rejectionCode, finishedAt } = await dated.batch(late.id);
      assert.deepEqual([status, rejectionCode, finishedAt], ['rejected', 'lapsed', now]);
      const ends = (await dated.events()).slice(before);
      assert(ends.every((type) => type === 'bonus_batch.rejected'));
      assert.equal(ends.length, act === acts[0] ? 1 : 2);
      if (act === acts[0]) await dated.pay(inTime);
    }
  });

  it('a ready batch that is executed, withdrawn twice and lapses at the same time has exactly one end', async () => {
    const ends = new Map<string, number>();
    for (let round = 0; round < 4; round += 1) {
      const batch = await world.ready(payer, payroll([['$ana', LEAST.toString(), 'COPM']]));
      const before = (await world.events()).length;
      const acts = [
        () => world.execute(batch).then(codeOf),
        () => withdraw(batch).then(codeOf),
        () => withdraw(batch).then(codeOf),
        () => lapseDueBatches(world.deps, 0, MANY).then(() => 'lapsed'),
      ];
      const turned = [...acts.slice(round % 4), ...acts.slice(0, round % 4)];
      const codes = await Promise.all(turned.map((act) => act()));
      const { status, rejectionCode } = await world.batch(batch.id);
      const isExecuted = status === 'executing';
      assert.equal(
        codes.filter((code) => code === undefined).length,
        rejectionCode === 'lapsed' ? 0 : 1,
      );
      assert.deepEqual(
        (await world.events()).slice(before),
        isExecuted ? [] : ['bonus_batch.rejected'],
      );
      if (isExecuted) assert.equal(await world.pay(batch), 'over');
      ends.set(rejectionCode ?? status, (ends.get(rejectionCode ?? status) ?? 0) + 1);
    }
    assert.equal(
      (await balanceOf(db.database, ana.id)).available,
      BigInt(ends.get('executing') ?? 0) * LEAST,
    );
  });

  it('withdrawing a batch over HTTP answers 200 with the batch under any key; all other batches have a null `rejection`, and only a batch with a rejected file has errors', async () => {
    const bank = await openBank(await describedApi(await startTestApi(db)));
    const from = await bank.account({ funds: { COPM: 10n * LEAST } });
    const { id } = await readyBatch(bank, from, await bank.account());
    const path = `/v1/bonus_batches/${id}`;
    const before = answered(await bank.get(path), 200).json;
    assert.equal(before.rejection, null);
    const key = randomUUID();
    const { json } = answered(await bank.request('POST', `${path}/cancel`, { key }), 200);
    assert.match(text(json.finished_at), /Z$/);
    assert.deepEqual(json, {
      ...{ ...before, status: 'rejected', rejection: { code: 'withdrawn' } },
      ...{ finished_at: json.finished_at, funding: null, can_send: null, earlier_payments: null },
      ...{ total_formatted: null, fees_formatted: null, total_debit_formatted: null },
    });
    assert.deepEqual(answered(await bank.get(path), 200).json, json);
    // The key is ignored: it binds nothing, and neither does none.
    for (const again of [key, null])
      answered(await bank.request('POST', `${path}/cancel`, { key: again }), 409, 'invalid_state');
    answered(await bank.get(`${path}/files/errors`), 404, 'not_found');
    const rows = answered(await bank.get(`${path}/rows?status=pending`), 200).json;
    assert.equal((rows.items as unknown[]).length, 1);
    const refused = `/v1/bonus_batches/${(await rejectedBatch(bank, from)).id}`;
    const shown = answered(await bank.get(refused), 200).json;
    assert.deepEqual([shown.status, shown.rejection], ['rejected', null]);
    answered(await bank.get(`${refused}/files/errors`), 200);
  });
});
