import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listAuditRows } from '../../../src/access/audit-log.js';
import { asUuid, newId } from '../../../src/core/ids.js';
import { instant } from '../../../src/core/instant.js';
import type { Role } from '../../../src/core/permissions.js';
import { schedules } from '../../../src/db/entities/schedules.js';
import { insertSql } from '../../../src/db/statements.js';
import { nullsOf } from '../../../src/db/table.js';
import { actAsStaff } from '../../../src/transfers/schedules/actions.js';
import { startTestApi } from '../../helpers/api.js';
import {
  answered,
  idLiteral,
  LEAST,
  object,
  openBank,
  text,
  transferBody,
  walk,
} from '../../helpers/bank.js';
import { testDatabase } from '../../helpers/database.js';
import { describedApi } from '../../helpers/described.js';
import { proven } from '../../helpers/staff.js';
import { hire, REASON } from '../../helpers/temporal-world.js';
import { schedule, scheduled } from './support.js';

const START = Date.parse('2036-05-10T12:00:00.000Z');
const DAY_MS = 86_400_000;
const at = (days: number): string => new Date(START + days * DAY_MS).toISOString();

const db = await testDatabase();
let now = instant(START);
const api = await describedApi(await startTestApi(db, {}, { clock: () => now }));
const bank = await openBank(api);
const [from, to] = [await bank.account(), await bank.account()];

describe('schedules', () => {
  const act = (id: unknown, action: string, token = bank.token) =>
    bank.request('POST', `/v1/schedules/${String(id)}/${action}`, { token });

  it('a schedule shows what it was created with, and when it runs next', async () => {
    const answer = await schedule(bank, {
      ...{ from, to, starts_at: '2036-05-11T07:00:00-05:00', every: { unit: 'month', count: 3 } },
      ...{ ends_at: at(300), description: 'Rent', metadata: { invoice: 'A-17' } },
    });
    const { json } = answered(answer, 201);
    assert.deepEqual(json, {
      id: json.id,
      status: 'active',
      transfer: {
        ...transferBody({ from, to, raw: LEAST }),
        description: 'Rent',
        metadata: { invoice: 'A-17' },
      },
      starts_at: at(1),
      every: { unit: 'month', count: 3 },
      ends_at: at(300),
      max_runs: null,
      next_run_at: at(1),
      runs: 0,
      created_at: json.created_at,
    });
    assert.deepEqual(answered(await bank.get(`/v1/schedules/${text(json.id)}`), 200).json, json);
  });

  it('a repeated key returns the first schedule as it is now, and another content is refused', async () => {
    const key = randomUUID();
    const wanted = { from, to, starts_at: at(1) };
    const first = answered(await schedule(bank, wanted, { key }), 201).json;
    answered(await act(first.id, 'pause'), 200);
    now = instant(START + 2 * DAY_MS);
    const again = answered(
      await schedule(bank, { ...wanted, metadata: {}, ends_at: null }, { key }),
      200,
    );
    assert.deepEqual([again.json.id, again.json.status], [first.id, 'paused']);
    answered(
      await schedule(bank, { ...wanted, every: null }, { key }),
      409,
      'idempotency_key_reused',
    );
    now = instant(START);
  });

  it('the request is found by its id', async () => {
    now = instant(Date.now());
    const answer = await schedule(bank, { from, to });
    const { json } = answered(
      await bank.get(`/v1/requests/${text(answered(answer, 201).json.id)}`),
      200,
    );
    assert.deepEqual([json.path, object(json.resource).type], ['/v1/schedules', 'schedule']);
    now = instant(START);
  });

  const INVALID: readonly (readonly [field: string, reason: string, wanted: object])[] = [
    ['starts_at', 'not_in_the_future', { starts_at: at(0) }],
    ['starts_at', 'out_of_range', { starts_at: at(367) }],
    ['starts_at', 'not_a_date_time', { starts_at: '2036-05-11' }],
    ['max_runs', 'needs_every', { every: null, max_runs: 1 }],
    ['ends_at', 'needs_every', { every: null, ends_at: at(9) }],
    ['max_runs', 'not_with_ends_at', { ends_at: at(9), max_runs: 2 }],
    ['ends_at', 'before_from', { ends_at: at(0.5) }],
    ['transfer.amount.raw', 'out_of_range', { raw: 0n }],
    ['transfer.capture', 'unknown', { capture: 'manual' }],
    ['transfer.metadata.Invoice', 'malformed', { metadata: { Invoice: 'A' } }],
  ];
  for (const [field, reason, wanted] of INVALID)
    it(`${field} is refused as ${reason}`, async () => {
      const { details } = answered(
        await schedule(bank, { from, to, starts_at: at(1), ...wanted }),
        400,
        'invalid_field',
      );
      assert.deepEqual([details?.field, details?.reason], [field, reason]);
    });

  it('the bounds themselves are accepted', async () => {
    for (const wanted of [
      { starts_at: new Date(START + 1).toISOString(), every: null },
      { starts_at: at(366), every: { unit: 'month', count: 366 }, max_runs: 1_000 },
      { starts_at: at(1), ends_at: at(1) },
    ])
      await scheduled(bank, { from, to, ...wanted });
  });

  it('the same account, an unknown and a closed one are refused as for a transfer', async () => {
    const closed = await bank.account();
    await db.change(`UPDATE accounts SET status='closed' WHERE id=${idLiteral(closed.id)}`);
    const foreign = await (await openBank(api)).account();
    const wanted = { from, to, starts_at: at(1) };
    answered(await schedule(bank, { ...wanted, to: from }), 400, 'invalid_field');
    const missing = async (parties: object): Promise<unknown> =>
      answered(await schedule(bank, { ...wanted, ...parties }), 404, 'not_found').details?.field;
    for (const other of [{ id: newId() }, foreign])
      assert.equal(await missing({ from: other, to: closed }), 'transfer.source_account');
    for (const other of [{ id: newId() }, foreign, closed])
      assert.equal(await missing({ to: other }), 'transfer.destination');
  });

  it('limits and funds are not checked before a run', async () => {
    await scheduled(bank, { from, to, starts_at: at(1), raw: 1n });
  });

  it('the actions are possible in exactly the states of the contract', async () => {
    const wanted = { from, to, starts_at: at(1) };
    const states: Readonly<Record<string, readonly string[]>> = {
      active: ['pause', 'cancel'],
      paused: ['resume', 'cancel'],
      canceled: [],
      completed: [],
    };
    for (const [status, allowed] of Object.entries(states))
      for (const action of ['pause', 'resume', 'cancel']) {
        const { id } = await scheduled(bank, wanted);
        await db.change(
          `UPDATE schedules SET status='${status}', next_run_at=IF('${status}'='active', starts_at, NULL) WHERE id=${idLiteral(text(id))}`,
        );
        const answer = await act(id, action);
        if (allowed.includes(action)) answered(answer, 200);
        else assert.equal(answered(answer, 409, 'invalid_state').details?.current, status);
      }
  });

  it('an action of the staff that is repeated acts once, and one that was refused stays refused', async () => {
    const id = asUuid(text((await scheduled(bank, { from, to, starts_at: at(10) })).id));
    const keeper = proven(await hire(db.database), 'support');
    const [paused, refused] = [newId(), newId()];
    const keep = async (action: 'pause' | 'resume', actionId = newId()): Promise<string> =>
      (await actAsStaff(api.core, id, action, keeper, REASON, actionId)).status;
    assert.equal(await keep('pause', paused), 'paused');
    assert.equal(await keep('pause', paused), 'paused');
    assert.equal(await keep('resume'), 'active');
    assert.equal(await keep('pause', paused), 'active');
    await assert.rejects(keep('resume', refused), /it is active/);
    assert.equal(await keep('pause'), 'paused');
    await assert.rejects(keep('resume', refused), /it is active/);
    const rows = await listAuditRows(db.database.reader, { subjectId: id }, 10);
    assert.deepEqual(
      rows.map(({ action }) => action).sort(),
      ['pause', 'pause', 'resume', 'resume_refused'].map((action) => `schedule.${action}`),
    );
  });

  it('a creator may act in any role, and others in a creating role', async () => {
    const own = await openBank(api);
    const roles: Role[] = ['viewer', 'operator', 'approver', 'admin'];
    const members = await Promise.all(roles.map((role) => own.member(role)));
    const source = await own.account({
      roles: members.map(({ id }, index) => ({ memberId: id, role: roles[index] as Role })),
    });
    const target = await own.account();
    const [viewer = '', operator = '', approver = '', admin = ''] = await Promise.all(
      members.map((member) => own.issue(member)),
    );
    const wanted = { from: source, to: target, starts_at: at(1) };
    for (const token of [viewer, approver])
      answered(await schedule(own, wanted, { token }), 403, 'authority_insufficient');
    const { id } = answered(await schedule(own, wanted, { token: operator }), 201).json;
    for (const token of [viewer, approver])
      answered(await act(id, 'pause', token), 403, 'authority_insufficient');
    answered(await act(id, 'pause', admin), 200);
    await db.change(
      `UPDATE member_roles SET role='viewer' WHERE account_id=${idLiteral(source.id)} AND role='operator'`,
    );
    answered(await act(id, 'resume', operator), 200);
    answered(await act(id, 'cancel', own.token), 200);
  });

  it('are listed newest first, by status and source account', async () => {
    const own = await openBank(api);
    const [one, two, target] = [await own.account(), await own.account(), await own.account()];
    const ids: unknown[] = [];
    for (const source of [one, two, one])
      ids.unshift((await scheduled(own, { from: source, to: target, starts_at: at(1) })).id);
    answered(await own.request('POST', `/v1/schedules/${String(ids[0])}/pause`), 200);
    const listed = async (query: string): Promise<unknown[]> =>
      (await walk(own, `/v1/schedules?limit=1${query}`)).map(({ id }) => id);
    assert.deepEqual(await listed(''), ids);
    assert.deepEqual(await listed('&status=paused'), [ids[0]]);
    assert.deepEqual(await listed(`&source_account=${one.id}`), [ids[0], ids[2]]);
    assert.deepEqual(await listed(`&source_account=${one.id}&status=active`), [ids[2]]);
    assert.deepEqual(await listed(`&source_account=${from.id}`), []);
  });

  it('a tenant has at most 10,000 schedules that are active or paused', async () => {
    const own = await openBank(api);
    const wanted = { from: await own.account(), to: await own.account(), starts_at: at(1) };
    const first = await scheduled(own, wanted);
    const [row] = await db.database.reader.select(schedules, { id: asUuid(text(first.id)) });
    assert(row !== undefined);
    const rows = Array.from({ length: 9_999 }, (_, index) => ({
      ...row,
      ...(index % 2 === 0 ? nullsOf(schedules) : {}),
      id: newId(),
      ...(index % 2 === 0 ? ({ status: 'paused' } as const) : {}),
    }));
    for (let from = 0; from < rows.length; from += 1_000)
      await db.change(insertSql(schedules, rows.slice(from, from + 1_000)));
    const key = randomUUID();
    const { details } = answered(await schedule(own, wanted, { key }), 422, 'quota_exceeded');
    assert.deepEqual(details, { quota: 'schedules', used: '10000', limit: '10000' });
    answered(await own.request('POST', `/v1/schedules/${text(first.id)}/cancel`), 200);
    answered(await schedule(own, wanted, { key }), 201);
  });
});
