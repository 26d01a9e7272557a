import assert from 'node:assert/strict';
import { z } from 'zod';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, type Json, LEAST, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { openGuarded, THRESHOLD } from '../helpers/guarded.js';
import { addStaff, proven } from '../helpers/staff.js';
import { assertLedgerSound } from '../helpers/world.js';
import { payoutBody } from '../payouts/support.js';
import { register } from '../webhooks/support.js';
import { asUuid, newId } from '../../src/core/ids.js';
import { webhookAttempts, webhookDeliveries } from '../../src/db/entities/webhooks.js';
import { insertSql } from '../../src/db/statements.js';
import { newDelivery } from '../../src/webhooks/event-reader.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { recordRemark } from '../../src/staff/remarks.js';
import { commandLine, run, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const test = await testDatabase();
const api = await startTestApi(test);
const own = await openGuarded(api);
const other = await openGuarded(api);
const people = new SignedInPeople(test);
await people.signIn('mary');
const REASON = ['--reason', 'checked, ticket 118'];
const LINES = z.array(z.record(z.string(), z.unknown()));
const tenantOf = ({ bank }: typeof own): string => bank.tenant.tenant.name;

describe('what waits, at the command line', () => {
  after(async () => {
    for (const { bank } of [own, other])
      await test.change(`DELETE FROM outbox WHERE tenant_id=${idLiteral(bank.tenant.tenant.id)}`);
    people.remove();
    await api.stop();
    await assertLedgerSound(test.database);
  });

  const { ops, one, rows, fails } = commandLine(() => people.env);
  const payout = async (): Promise<string> => {
    const body = payoutBody({ from: own.guarded, raw: THRESHOLD });
    const options = { body, token: own.tokens.creator };
    return text(answered(await own.bank.request('POST', '/v1/payouts', options), 202).json.id);
  };
  const listed = (found: readonly Json[]): unknown[][] => found.map((row) => [row.list, row.id]);

  it('is listed of all tenants as at the support desk, and of one list or tenant', async () => {
    const first = text((await own.createPending()).id);
    const second = text((await other.createPending()).id);
    const paid = await payout();
    await own.bank.sent({ from: own.guarded, to: own.receiver, raw: LEAST });
    const by = proven(await addStaff(test.database, { name: 'tess', rights: ['read'] }));
    const subject = { tenantId: own.bank.tenant.tenant.id, subjectType: 'transfer' };
    const deps = { database: test.database, clock: systemClock };
    await recordRemark(deps, 'take', { ...subject, subjectId: first }, by, '', newId());
    const all = await rows('waiting');
    for (const [list, id] of [
      ['transfers', first],
      ['transfers', second],
      ['payouts', paid],
    ])
      assert.equal(all.filter((row) => row.list === list && row.id === id).length, 1, list);
    const taken = all.find(({ id }) => id === first);
    assert.deepEqual(
      [taken?.tenant, taken?.name, taken?.amount, taken?.taken_by],
      [tenantOf(own), own.guarded.name, { raw: `${THRESHOLD}`, asset: 'COPM' }, 'tess'],
    );
    assert.match(text(taken?.expires_at), /^20.*Z$/);
    const ofOwn = words`waiting --tenant ${tenantOf(own)}`;
    assert.deepEqual(listed(await rows(...ofOwn)), [
      ['transfers', first],
      ['payouts', paid],
    ]);
    assert.deepEqual(listed(await rows(...ofOwn, '--list', 'payouts')), [['payouts', paid]]);
    const few = await ops('waiting', '--list', 'transfers', '--limit', '1');
    assert.match(few.stderr, /^The first 1 of transfers; --limit shows more\.\n$/);
    await fails(2, /--list: must be one of transfers, payouts, /, 'waiting', '--list', 'all');
  });

  it('names who requested it and the approvals it has, and with --mine only what that person can decide now', async () => {
    const id = text((await own.createPending()).id);
    const paid = await payout();
    const leo = ['--as', 'leo'];
    await people.signIn('leo', ['approve', 'adjust']);
    await people.signIn('mary');
    const tenant = ['--tenant', tenantOf(own)];
    const account = words`--account ${own.receiver.id} ${tenant} --amount 700 --asset COPM`;
    const propose = words`adjustments propose in ${account} --reference mine --reason seen --yes`;
    const proposed = await one(...(await people.withCode(propose)));
    const lines = await rows('waiting', ...tenant);
    const line = lines.find((row) => row.id === id);
    assert.deepEqual(Object.keys(line ?? {}).slice(0, 6), [
      ...['list', 'id', 'amount', 'wants', 'tenant', 'name'],
    ]);
    assert.deepEqual(
      [line?.requested_by, line?.approvals],
      ['creator', { received: 0, required: 1 }],
    );
    const adjustment = lines.find((row) => row.id === proposed.id);
    assert.deepEqual(
      [adjustment?.requested_by, adjustment?.wants, adjustment?.reason],
      ['mary', 'in', 'seen'],
    );
    assert.equal(adjustment?.since, adjustment?.created_at);
    const mine = async (...by: readonly string[]) =>
      (await rows('waiting', '--mine', ...tenant, ...by)).map((row) => row.id);
    const [ofMary, ofLeo] = [await mine(), await mine(...leo)];
    for (const [of, expected] of [
      [id, [true, true]],
      [paid, [true, true]],
      [proposed.id, [false, true]],
    ] as const)
      assert.deepEqual([ofMary.includes(of), ofLeo.includes(of)], expected);
    await people.signIn('rita', ['cancel']);
    assert.deepEqual(await mine('--as', 'rita'), []);
    await fails(2, /--as needs --mine/, 'waiting', ...leo);
    await people.signIn('mary');
    const { stdout } = await ops('waiting', ...tenant);
    assert.match(
      stdout,
      /^Transfers to approve: 2 \(--list transfers\)\nid +amount +name +to +expires at +approvals +requested by +since +taken by +status\n/,
    );
    assert.match(stdout, / 0 of 1 /);
    assert.match(
      stdout,
      /\n\nAdjustments to post: 1 \(--list adjustments\)\nid +amount +wants +name +to +reason /,
    );
    for (const [kind, of] of [
      ['transfers', id],
      ['payouts', paid],
    ])
      await one(...words`${kind ?? ''} reject ${text(of)} --yes`, ...REASON);
    const reject = words`adjustments reject ${text(proposed.id)} --yes`;
    const rejected = await ops(...(await people.withCode([...reject, ...REASON])));
    assert.match(
      rejected.stdout,
      /^The adjustment mine is rejected: put 7\.00 COPM into the account of .* \(as mary\)\.\n\nid /,
    );
  });

  it('has an expiry only while it waits, also in the list of its receiver', async () => {
    const id = text((await own.createPending()).id);
    const tenant = tenantOf(own);
    const list = words`transfers list --tenant ${tenant} --to`;
    const expiry = async () =>
      (await rows(...list, own.receiver.id)).find((row) => row.id === id)?.expires_at;
    assert.match(text(await expiry()), /^20.*Z$/);
    await own.act('reject', id, 'approver');
    assert.equal(await expiry(), null);
    assert.equal((await one('transfers', 'show', id)).expires_at, null);
    assert.deepEqual(await rows(...list, own.guarded.id), []);
    const policies = await rows(...words`policies list --tenant ${tenant}`);
    assert.deepEqual(
      policies.map((policy) => [policy.account, policy.account_id]),
      [[own.guarded.name, own.guarded.id]],
    );
    await fails(2, /give an account or --tenant/, 'policies', 'list');
    await fails(2, /unknown option '--as'/, ...list, own.receiver.id, '--as', 'mary');
  });

  it('shows what becomes of an endpoint and of its deliveries', async () => {
    const hook = await register(own.bank, ['transfer.completed']);
    const id = text(hook.id);
    const set = (changes: string) =>
      test.change(`UPDATE webhook_endpoints SET ${changes} WHERE id=${idLiteral(id)}`);
    const event = { id: newId(), type: 'transfer.completed', sequence: 1n } as const;
    const delivery = newDelivery(asUuid(id), event, 'event', 1, systemClock());
    const retrying = { ...delivery, state: 'retrying', steps: 1 } as const;
    const nextAttemptAt = instant(Date.parse('2040-01-01T00:00:00Z'));
    await test.change(insertSql(webhookDeliveries, [{ ...retrying, nextAttemptAt }]));
    const deliveries = words`webhooks deliveries ${id}`;
    const [retried] = await rows(...deliveries);
    const attempt = { endpointId: asUuid(id), deliveryId: delivery.id, id: newId() };
    const result = { status: 500, failure: null, message: null, durationMs: 12, response: 'down' };
    const tried = { ...attempt, at: systemClock(), ...result };
    await test.change(insertSql(webhookAttempts, [tried]));
    const show = words`webhooks delivery ${id}`;
    const { stdout } = await ops(...show, delivery.id.slice(0, 30));
    assert.match(stdout, /^attempts +\S+Z: answer 500, 12 ms, down$/m);
    await fails(1, /is the id of no delivery to it/, ...show, newId());
    assert.match(text(retried?.next_attempt_at), /^2040/);
    await set(`probe_at='2041-01-01', url='https://hooks.test/${id}'`);
    const [probed] = await rows(...deliveries, '--status', 'pending,retrying');
    assert.deepEqual(
      [probed?.id, probed?.next_attempt_at],
      [delivery.id, '2041-01-01T00:00:00.000Z'],
    );
    assert.deepEqual(await rows(...deliveries, '--status', 'delivered'), []);
    const shown = await one(...words`webhooks show ${id}`);
    assert.deepEqual(
      Object.keys(shown).filter((name) => name.startsWith('next')),
      ['next_attempt_at'],
    );
    assert.equal(shown.next_attempt_at, '2041-01-01T00:00:00.000Z');
    await set(`probe_at=NULL, failing_since=UTC_TIMESTAMP(3)`);
    const due = `UPDATE webhook_deliveries SET next_attempt_at='2020-01-01'`;
    await test.change(`${due} WHERE endpoint_id=${idLiteral(id)}`);
    assert.match((await ops(...words`webhooks show ${id}`)).stdout, /^next attempt at +now$/m);
    const listed = await rows(...words`webhooks list --tenant ${tenantOf(own)}`);
    assert.equal(listed.find((row) => row.id === id)?.last_error, 'answer 500');
    for (const find of ['search', 'webhooks show']) {
      const { stdout } = await ops(...find.split(' '), `https://hooks.test/${id}`, '--json');
      assert.match(stdout, new RegExp(`"id": "${id}"`));
    }
    const endpoints = words`waiting --list endpoints --tenant ${tenantOf(own)}`;
    for (const [status, changes, reason] of [
      ['failing', 'failing_since=UTC_TIMESTAMP(3)', 'answer 500'],
      ['paused', `paused_at=UTC_TIMESTAMP(3), paused_by='mary'`, 'paused by mary'],
      ['disabled', `status='disabled', disabled_reason='by_operator'`, 'by_operator'],
    ] as const) {
      await set(changes);
      const [found] = await rows(...endpoints);
      assert.deepEqual([found?.id, found?.status, found?.reason], [id, status, reason]);
    }
    assert.deepEqual(await rows(...endpoints, '--amount', '99,999'), []);
    const [kept] = await rows(...deliveries);
    assert.equal(kept?.next_attempt_at, null);
    assert.match(
      (await ops(...deliveries)).stderr,
      /^The endpoint is disabled by an operator: nothing is sent until its tenant or an operator enables it; 1 delivery to retry\.\n$/,
    );
  });

  it('of an event is sent again to one endpoint, or to each that has it', async () => {
    await own.bank.sent({ from: own.guarded, to: own.receiver, raw: LEAST });
    const list = words`events list --tenant ${tenantOf(own)} --type transfer.completed --limit 1`;
    const [event] = await rows(...list);
    for (const scope of [words`--tenant ${tenantOf(own)}`, words`--since 1h`]) {
      const found = await rows(...words`events list --type transfer.* ${scope}`);
      const types = new Set(found.map(({ type }) => text(type)));
      assert.ok(types.size > 1 && [...types].every((type) => type.startsWith('transfer.')));
      const times = found.map((row) => text(row.created_at).slice(0, 16));
      assert.deepEqual(times, times.toSorted().reverse());
    }
    await fails(
      2,
      /or all of a kind, such as 'payout\.\*'/,
      ...words`events list --type transfr.*`,
    );
    const [first] = [
      await register(own.bank, ['transfer.completed']),
      await register(own.bank, ['transfer.completed']),
    ];
    const again = words`webhooks redeliver ${text(event?.id)} --reason lost`;
    const sent = await ops(...again, '--endpoint', text(first.id));
    assert.match(
      sent.stdout,
      /^The event transfer\.completed \(.*\) is sent again to 1 webhook endpoint \(as mary\)\.\n\nevent /,
    );
    const paused = await ops(...words`webhooks pause ${text(first.id)} --yes`, ...REASON);
    assert.match(paused.stdout, /^The webhook endpoint http.* is paused \(as mary\)\.\n\ntenant /);
    assert.equal((await one(...again, '--endpoint', text(first.id))).endpoints, 1);
    assert.ok(Number((await one(...again)).endpoints) >= 2);
  });

  it('is decided by one command for several ids, each with its own line in the audit log', async () => {
    const waiting: string[] = [];
    for (let made = 0; made < 3; made += 1) waiting.push(text((await own.createPending()).id));
    const [first = '', second = '', gone = ''] = waiting;
    answered(await own.act('reject', gone, 'approver'), 200);
    const approve = [...words`transfers approve ${[first, second, first, gone]}`, ...REASON];
    await fails(
      2,
      /Approve 2 transfers, in total 20,000\.00 COPM \((?:the transfer of 10,000\.00 COPM from \S.* to \S.*(?:; |\))){2}: this cannot be undone; confirm it with --yes/,
      ...approve,
    );
    const unknown = 'there is no transfer 00000000';
    await fails(1, new RegExp(unknown), ...approve, '00000000', '--yes');
    assert.equal((await own.read(first)).status, 'pending_approval');
    const ran = await ops(...approve, '--yes', '--json');
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /1 of 3 transfers could not be decided: the list has the reasons/);
    const results = LINES.parse(JSON.parse(ran.stdout));
    assert.deepEqual(
      results.map(({ id, result, status }) => [id, result, status]),
      [
        [first, 'done', 'completed'],
        [second, 'done', 'completed'],
        [gone, 'refused', 'rejected'],
      ],
    );
    assert.match(text(results[2]?.remark), /it was rejected by approver at 20\S+Z, and waits/);
    for (const [id, lines] of [
      [first, 1],
      [second, 1],
      [gone, 0],
    ] as const) {
      const log = await rows(...words`audit-log --subject ${id} --action transfer.approve`);
      assert.equal(log.length, lines);
    }
    const again = await rows(...words`transfers approve ${first} ${second} --yes`, ...REASON);
    for (const { result, remark } of again) {
      assert.equal(result, 'done');
      assert.match(text(remark), /^Nothing was changed, because this was done/);
    }
  });

  it('says after a first approval how many more are needed, and by whom', async () => {
    const id = text((await own.createPending()).id);
    await test.change(`UPDATE transfers SET approvals_required=2 WHERE id=${idLiteral(id)}`);
    const { stdout } = await ops(...words`transfers approve ${id} --yes`, ...REASON);
    assert.match(
      stdout,
      /^Your approval of the transfer of .* is recorded; it needs 1 more approval, by a member of its account .* \(as mary\)\.\n$/,
    );
    await one(...words`transfers reject ${id} --yes`, ...REASON);
  });

  it('is decided for the ids on standard input', async () => {
    const paid = await payout();
    const reject = ['payouts', 'reject', '-', ...REASON, '--json'];
    const read = (input: string, ...more: readonly string[]) =>
      run('src/ops/main.js', [...reject, ...more], people.env, input);
    const unasked = await read(`${paid}\n`);
    assert.deepEqual([unasked.code, unasked.stdout], [2, '']);
    assert.match(unasked.stderr, /Reject 1 payout, in total .*; confirm it with --yes/);
    const { code, stdout } = await read(`\n${paid}\r\n${paid}\n`, '--yes');
    const results = LINES.parse(JSON.parse(stdout));
    assert.deepEqual(
      [code, results.map(({ id, result, status }) => [id, result, status])],
      [0, [[paid, 'done', 'rejected']]],
    );
    const none = await read('\n', '--yes');
    assert.deepEqual([none.code, none.stdout], [2, '']);
    assert.match(none.stderr, /give from 1 to 1000 ids, not 0/);
  });
});
