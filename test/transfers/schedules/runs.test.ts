import assert from 'node:assert/strict';
import { closeAccount } from '../../../src/accounts/status.js';
import { asUuid } from '../../../src/core/ids.js';
import { instant } from '../../../src/core/instant.js';
import { runIfDue } from '../../../src/transfers/schedules/run.js';
import { startTestApi } from '../../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
} from '../../helpers/bank.js';
import { testDatabase } from '../../helpers/database.js';
import { openGuarded } from '../../helpers/guarded.js';
import { TEST_ACTOR } from '../../helpers/world.js';
import type { Account } from '../../../src/db/entities/parties.js';
import { runAll, scheduled, transfersOf } from './support.js';

const START = Date.parse('2036-03-07T15:00:00.000Z');
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FIRST = new Date(START + DAY_MS).toISOString();

const db = await testDatabase();
let now = instant(START);
const api = await startTestApi(db, {}, { clock: () => now });

/** The run, its transfer's status, and the code of its refusal. */
const outcomes = (transfers: readonly Json[]) =>
  transfers.map(({ schedule, status, rejection }) => [
    object(schedule).run,
    status,
    rejection === null ? null : object(rejection).code,
  ]);

describe('a run of a schedule', () => {
  let bank: Bank;
  let from: Account;
  let to: Account;

  beforeEach(async () => {
    now = instant(START);
    bank = await openBank(api, { timeZone: 'America/New_York' });
    from = await bank.account({ funds: { COPM: 10n * LEAST } });
    to = await bank.account();
  });

  const passDays = (days: number): void => void (now = instant(now + days * DAY_MS));
  const daily = (more: Json = {}) => scheduled(bank, { from, to, starts_at: FIRST, ...more });
  const read = async (id: unknown): Promise<Json> =>
    answered(await bank.get(`/v1/schedules/${String(id)}`), 200).json;
  const eventsOf = async (transfer: Json): Promise<unknown[]> =>
    list(answered(await bank.get('/v1/events'), 200).json.items)
      .filter(({ data }) => object(object(data).object).id === transfer.id)
      .map(({ type, data }) => [type, object(object(data).object).schedule]);

  it('happens once, even if the clock of the process that resumes the schedule is behind', async () => {
    const { id } = await daily();
    const act = async (action: string): Promise<void> =>
      void answered(await bank.request('POST', `/v1/schedules/${text(id)}/${action}`), 200);
    passDays(1);
    await runAll(bank, id);
    await act('pause');
    now = instant(now - 1_000);
    await act('resume');
    now = instant(now + 1_000);
    await runAll(bank, id);
    assert.deepEqual(outcomes(await transfersOf(bank, id)), [[1, 'completed', null]]);
  });

  it('happens once, though it was dated by other rules of the zone, and the schedule is resumed', async () => {
    const { id } = await daily();
    await db.change(
      `UPDATE schedules SET starts_at=starts_at-INTERVAL 1 DAY, next_run_at=next_run_at-INTERVAL 1 HOUR
       WHERE id=${idLiteral(text(id))}`,
    );
    now = instant(START + DAY_MS - HOUR_MS);
    await runAll(bank, id);
    for (const action of ['pause', 'resume'])
      answered(await bank.request('POST', `/v1/schedules/${text(id)}/${action}`), 200);
    now = instant(now + HOUR_MS);
    await runAll(bank, id);
    assert.deepEqual(outcomes(await transfersOf(bank, id)), [[1, 'completed', null]]);
  });

  it('does not exist before it is due', async () => {
    const { id } = await daily();
    now = instant(START + DAY_MS - 1);
    assert.equal((await runAll(bank, id)).dueInMs, 1);
    assert.deepEqual(await transfersOf(bank, id), []);
  });

  it('creates one transfer by the member who created the schedule, and makes the next due', async () => {
    const { id } = await daily({ description: 'Rent', metadata: { invoice: 'A-17' } });
    passDays(1);
    const state = await runAll(bank, id);
    const [transfer, ...others] = await transfersOf(bank, id);
    assert(transfer !== undefined && others.length === 0);
    assert.deepEqual(
      [transfer.status, transfer.description, transfer.metadata, transfer.schedule],
      ['completed', 'Rent', { invoice: 'A-17' }, { id, run: 1, due_at: FIRST }],
    );
    assert.equal(await bank.available(to), LEAST);
    const after = await read(id);
    // At nine in the morning in New York again, where summer has begun.
    assert.deepEqual([after.runs, after.next_run_at], [1, '2036-03-09T14:00:00.000Z']);
    assert.equal(state.lastResult, `Run 1: transfer ${text(transfer.id)} is completed`);
    assert.deepEqual(await eventsOf(transfer), [['transfer.completed', transfer.schedule]]);
  });

  it('happens once, however often and late its activity runs, from two processes at once', async () => {
    const second = await startTestApi(db, {}, { clock: () => now });
    const { id } = await daily({ max_runs: 2 });
    passDays(1);
    const cores = [api.core, second.core, api.core, second.core];
    const attempts = cores.map((core) => runIfDue(core, asUuid(text(id))));
    await Promise.all(attempts);
    assert.deepEqual(outcomes(await transfersOf(bank, id)), [[1, 'completed', null]]);
    passDays(5);
    await Promise.all(cores.map((core) => runIfDue(core, asUuid(text(id)))));
    await runAll(bank, id);
    await runAll(bank, id);
    assert.deepEqual(outcomes(await transfersOf(bank, id)), [
      [1, 'completed', null],
      [2, 'completed', null],
    ]);
    assert.deepEqual([(await read(id)).status, (await read(id)).next_run_at], ['completed', null]);
    assert.equal(await bank.available(to), 2n * LEAST);
  });

  it('that was missed in an outage happens late, in order', async () => {
    const { id } = await daily();
    passDays(3);
    await runAll(bank, id);
    const transfers = await transfersOf(bank, id);
    assert.deepEqual(
      transfers.map(({ schedule }) => object(schedule).due_at),
      [FIRST, '2036-03-09T14:00:00.000Z', '2036-03-10T14:00:00.000Z'],
    );
    assert.deepEqual((await read(id)).runs, 3);
  });

  it('is skipped if it is due during a pause', async () => {
    const { id } = await daily({ max_runs: 2 });
    answered(await bank.request('POST', `/v1/schedules/${text(id)}/pause`), 200);
    passDays(4);
    await runAll(bank, id);
    const { json } = answered(await bank.request('POST', `/v1/schedules/${text(id)}/resume`), 200);
    assert.deepEqual(
      [json.status, json.next_run_at, json.runs],
      ['active', '2036-03-12T14:00:00.000Z', 0],
    );
    await runAll(bank, id);
    assert.deepEqual(await transfersOf(bank, id), []);
    passDays(1);
    await runAll(bank, id);
    assert.deepEqual(outcomes(await transfersOf(bank, id)), [[1, 'completed', null]]);
  });

  it('of a schedule that runs once is lost if the schedule is resumed after it', async () => {
    const { id } = await daily({ every: null });
    answered(await bank.request('POST', `/v1/schedules/${text(id)}/pause`), 200);
    passDays(1);
    const { json } = answered(await bank.request('POST', `/v1/schedules/${text(id)}/resume`), 200);
    assert.deepEqual([json.status, json.next_run_at, json.runs], ['completed', null, 0]);
  });

  it('does not happen after the schedule was canceled', async () => {
    const { id } = await daily();
    answered(await bank.request('POST', `/v1/schedules/${text(id)}/cancel`), 200);
    passDays(2);
    await runAll(bank, id);
    assert.deepEqual(await transfersOf(bank, id), []);
  });

  it('waits for approval if the policy of that moment requires it', async () => {
    const own = await openGuarded(api);
    const { id } = await scheduled(own.bank, {
      ...{ from: own.guarded, to: own.receiver, starts_at: FIRST, max_runs: 1, raw: 10n * LEAST },
    });
    passDays(1);
    await runAll(own.bank, id);
    const [transfer] = await transfersOf(own.bank, id);
    assert.equal(transfer?.status, 'pending_approval');
    const approved = answered(await own.act('approve', transfer.id, 'approver'), 200).json;
    assert.deepEqual([approved.status, approved.schedule], ['completed', transfer.schedule]);
  });

  const REFUSALS: readonly {
    readonly why: string;
    readonly code: string;
    readonly make: () => Promise<unknown>;
  }[] = [
    {
      why: 'funds are missing',
      code: 'insufficient_funds',
      make: () => bank.sent({ from, to, raw: 10n * LEAST }),
    },
    {
      why: 'its creator has lost the role',
      code: 'authority_insufficient',
      make: () => db.change(`DELETE FROM member_roles WHERE account_id=${idLiteral(from.id)}`),
    },
    {
      why: 'the destination is closed',
      code: 'not_found',
      make: () => closeAccount(db.deps, to.id, { actor: TEST_ACTOR, reason: 'gone' }),
    },
    {
      why: 'the source is frozen',
      code: 'capability_cannot_send',
      make: () => db.change(`UPDATE accounts SET status='frozen' WHERE id=${idLiteral(from.id)}`),
    },
  ];
  for (const { why, code, make } of REFUSALS)
    it(`is recorded as rejected if ${why}, and the schedule goes on`, async () => {
      const { id } = await daily();
      await make();
      const before = await bank.api.core.database.reader.query(
        `SELECT available, held FROM balances WHERE account_id=${idLiteral(from.id)} ORDER BY asset`,
      );
      passDays(2);
      await runAll(bank, id);
      const rows = await db.sql(
        `SELECT status, rejection_code, schedule_run, fee_raw FROM transfers WHERE schedule_id=${idLiteral(text(id))} ORDER BY schedule_run`,
      );
      assert.deepEqual(
        rows.map((row) => [row.schedule_run, row.status, row.rejection_code]),
        [
          [1, 'rejected', code],
          [2, 'rejected', code],
        ],
      );
      const events = list(answered(await bank.get('/v1/events'), 200).json.items)
        .filter(({ type }) => type === 'transfer.rejected')
        .map(({ data }) => object(object(data).object));
      assert.deepEqual(
        events.map(({ rejection }) => object(rejection).code),
        [code, code],
      );
      const after = await bank.api.core.database.reader.query(
        `SELECT available, held FROM balances WHERE account_id=${idLiteral(from.id)} ORDER BY asset`,
      );
      assert.deepEqual(after, before);
      const [row] = await db.sql(
        `SELECT status, runs FROM schedules WHERE id=${idLiteral(text(id))}`,
      );
      assert.deepEqual([row?.status, row?.runs], ['active', 2]);
    });
});
