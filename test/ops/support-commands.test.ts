import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { asUuid } from '../../src/core/ids.js';
import { events } from '../../src/db/entities/events.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, type Json, LEAST, list as items, text } from '../helpers/bank.js';
import { outputOf } from '../helpers/child-output.js';
import { testDatabase } from '../helpers/database.js';
import { openGuarded, THRESHOLD } from '../helpers/guarded.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound } from '../helpers/world.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const MAIN = fileURLToPath(new URL('../../src/ops/main.js', import.meta.url));
const OBJECT = z.record(z.string(), z.unknown());

/** Support staff with every right and new names. */
const mary = `mary ${randomUUID()}`;
const test = await testDatabase();
const api = await startTestApi(test);
const own = await openGuarded(api, { approvals: 2 });
const tenant = own.bank.tenant.tenant.name;
const people = new SignedInPeople(test);
await people.signIn(mary);

describe('the commands of operators for support', () => {
  // What this tenant has in the outbox would be found by others' sweepers.
  afterEach(() =>
    test.change(`DELETE FROM outbox WHERE tenant_id=${idLiteral(own.bank.tenant.tenant.id)}`),
  );
  after(async () => {
    people.remove();
    await api.stop();
    await assertLedgerSound(test.database);
  });

  const { ops, one, rows, fails } = commandLine(() => people.env);

  const createPending = async (): Promise<string> => text((await own.createPending()).id);
  const outboxOf = (id: string): Promise<Json[]> =>
    test.sql(
      `SELECT attempts, last_error, due_at<=NOW(3) AS due FROM outbox WHERE resource_id=${idLiteral(id)}`,
    );

  it('the command line lists pending operations by tenant, status and account, with the display names of the parties', async () => {
    const id = await createPending();
    const small = text(
      (await own.bank.sent({ from: own.guarded, to: own.receiver, raw: THRESHOLD - 1n })).id,
    );
    const waiting = await rows(
      ...words`transfers list --tenant ${tenant} --status pending_approval`,
    );
    assert.deepEqual(
      waiting.map((row) => [row.id, row.status, row.from, row.amount]),
      [[id, 'pending_approval', own.guarded.name, { raw: `${THRESHOLD}`, asset: 'COPM' }]],
    );
    const list = words`transfers list --tenant ${tenant}`;
    const labelled = { body: { metadata: { invoice: 'A=17' } } };
    for (const one of [small, id])
      answered(await own.bank.request('PATCH', `/v1/transfers/${one}`, labelled), 200);
    const pair = ['--metadata', 'invoice=A=17'];
    const ids = (found: readonly Json[]) => found.map((row) => row.id);
    assert.deepEqual(ids(await rows(...list, ...pair)), [small, id]);
    const pending = ['--status', 'pending_approval'];
    assert.deepEqual(ids(await rows(...list, ...pair, ...pending)), [id]);
    assert.deepEqual(ids(await rows(...list, '--metadata', 'invoice=A')), []);
    await fails(2, /A=17 is not a pair of metadata/, ...list, '--metadata', 'A=17');
    const leaving = (await rows(...list, '--account', own.guarded.id)).map((row) => row.id);
    assert.deepEqual(leaving, [small, id]);
    const both = words`--account ${own.receiver.id} --status pending_approval`;
    assert.deepEqual(await rows(...list, ...both), []);
    assert.equal((await rows(...list, '--limit', '1')).length, 1);
    await one('transfers', 'cancel', id, '--reason', 'the end of a test', '--yes');
  });

  it('the command line shows what holds money of an account, describes its movements, and describes the candidates of an id', async () => {
    const id = await createPending();
    const sent = await own.bank.sent({ from: own.guarded, to: own.receiver, raw: LEAST });
    const { holds } = await one('accounts', 'show', own.guarded.id);
    const amount = { raw: `${THRESHOLD}`, asset: 'COPM' };
    assert.deepEqual(items(holds), [
      { held: amount, kind: 'transfer', id, amount, status: 'pending_approval' },
    ]);
    const { stdout } = await ops('accounts', 'show', own.guarded.id);
    const line = `transfer ${id}: 10,000.00 COPM, pending_approval, ${own.guarded.name} to `;
    assert.ok(stdout.includes(`10,000.00 COPM by ${line}`), stdout);
    const [movement] = await rows('accounts', 'movements', own.guarded.id);
    assert.equal(movement?.description, sent.description);
    await fails(
      1,
      /beginning of .* ids.*\n(transfer [-0-9a-f]{36}: [\d,.]+ COPM, \w+, .* to .*\n)+/,
      ...['transfers', 'show', id.slice(0, 8)],
    );
    await one('transfers', 'cancel', id, '--reason', 'the end of a test', '--yes');
  });

  it('the command line finds the addresses of a resource by its id or alias, and of its workflow if it has one', async () => {
    const id = await createPending();
    const small = text(
      (await own.bank.sent({ from: own.guarded, to: own.receiver, raw: THRESHOLD - 1n })).id,
    );
    const [desk, temporal] = ['https://desk.example.com', 'https://temporal.example.com'];
    const linked = commandLine(() => ({
      ...people.env,
      SUPPORT_URL: `${desk}/`,
      SUPPORT_TEMPORAL_UI_URL: temporal,
    }));
    const amount = { raw: LEAST.toString(), asset: 'COPM' };
    const recipient = { account_id: own.receiver.id };
    const body = { source_account: own.guarded.id, recipient, amount };
    const paid = answered(await own.bank.request('POST', '/v1/bonuses', { body }), 201).json;
    for (const [of, path, workflow] of [
      [id, 'transfers', `${temporal}/namespaces/default/workflows/transfer%2F${id}`],
      [small, 'transfers', null],
      [text(paid.id), 'bonuses', null],
      [own.guarded.id, 'accounts', null],
      [own.bank.tenant.tenant.id, 'tenants', null],
    ] as const) {
      const [found, ...others] = await linked.rows('open', of);
      assert.deepEqual(
        [found?.desk, found?.temporal, others],
        [`${desk}/${path}/${of}`, workflow, []],
      );
    }
    const [event] = await test.database.reader.select(events, { resourceId: asUuid(small) });
    assert.deepEqual(
      (await linked.rows('open', text(event?.id))).map((row) => row.desk),
      [`${desk}/transfers/${small}`, `${desk}/events/${event?.id}`],
    );
    await fails(1, /^error: nothing has the id, .* "nobody"\n$/, 'open', 'nobody');
    await one('transfers', 'cancel', id, '--reason', 'the end of a test', '--yes');
  });

  it('the command line opens the page of a resource in the browser of a terminal', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'browser-'));
    const file = join(folder, 'opened');
    for (const name of ['xdg-open', 'open'])
      writeFileSync(join(folder, name), `#!/bin/sh\necho "$1" >'${file}'\n`, { mode: 0o755 });
    const env = { ...people.env, PATH: `${folder}:${process.env.PATH}`, TERM: 'xterm' };
    const line = `'${process.execPath}' '${MAIN}' open ${own.guarded.id}`;
    const SUPPORT_URL = 'https://desk.example.com';
    const child = spawn('script', ['-qec', line, '/dev/null'], { env: { ...env, SUPPORT_URL } });
    assert.equal((await outputOf(child)).code, 0);
    const read = (): string => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '');
    const opened = await until('the browser has the address', () => read() || null);
    assert.equal(opened, `${SUPPORT_URL}/accounts/${own.guarded.id}`);
    rmSync(folder, { recursive: true });
  });

  it('the command line shows who approved a transfer, what it waits for, and where its workflow is', async () => {
    const id = await createPending();
    await own.act('approve', id, 'approver');
    const shown = await one('transfers', 'show', id);
    assert.deepEqual(
      [shown.status, shown.tenant, shown.from, shown.created_by, shown.workflow_id],
      ['pending_approval', tenant, own.guarded.name, 'creator', `transfer/${id}`],
    );
    assert.match(
      text(shown.waits_for),
      /^1 more approval: by support, or by a member of its account who may approve and did not create it/,
    );
    const [given] = items(shown.approvals);
    assert.deepEqual([given?.by, given?.channel], ['approver', 'api']);
    const entries = items(shown.outbox);
    assert.deepEqual(
      entries.map(({ dead_since: dead }) => dead),
      [null, null],
    );
    const asText = (await ops('transfers', 'show', id)).stdout;
    assert.equal(asText.match(/written .*, next attempt from/g)?.length, 2, asText);
    const settled = await one(
      ...words`transfers approve ${id} --reason 'asked for in ticket 1' --yes`,
    );
    assert.deepEqual(
      [settled.status, settled.waits_for],
      ['completed', 'nothing: it is completed'],
    );
    const channels = items(settled.approvals).map(({ by, channel }) => [by, channel]);
    assert.deepEqual(channels.at(-1), [`support: ${mary}`, 'ops']);
    const { stdout } = await ops('transfers', 'show', id);
    assert.match(stdout, /waits for/);
    await fails(1, /^error: there is no transfer nothing\n$/, 'transfers', 'show', 'nothing');
    await fails(
      1,
      /no transfer abc: give at least 8 digits of its id\n$/,
      ...words`transfers show abc`,
    );
    const [known] = await rows('tenants', 'list');
    const tenantId = String(known?.id);
    const elsewhere = new RegExp(`this is a tenant: npm run ops -- tenants show ${tenantId}\n`);
    await fails(1, elsewhere, 'transfers', 'show', tenantId);
  });

  it('the command line finds what the desk finds, by an id, a name and a part of a description', async () => {
    const id = await createPending();
    const kinds = async (asked: string): Promise<unknown[]> =>
      (await rows('search', asked)).map((row) => [row.kind, row.id]);
    assert.deepEqual(await kinds(id), [['transfer', id]]);
    assert.deepEqual(await kinds(own.guarded.id), [['account', own.guarded.id]]);
    assert.deepEqual(await kinds('nothing has this name'), []);
    await one('transfers', 'cancel', id, '--reason', 'the end of a test', '--yes');
  });

  it("the command line counts support's approval once, and says so", async () => {
    const id = await createPending();
    const approve = ['transfers', 'approve', id, '--reason', 'ticket 2', '--yes'];
    const first = await one(...approve);
    assert.match(text(first.waits_for), /^1 more approval: .*support has approved already/);
    const again = await ops(...approve);
    assert.equal(again.code, 0);
    assert.match(
      again.stderr,
      /^Nothing was changed, because this was done: support has approved it already/,
    );
    assert.equal((await own.read(id)).status, 'pending_approval');
    const cancel = ['transfers', 'cancel', id, '--reason', 'the end of a test', '--yes'];
    await one(...cancel);
    assert.match(
      (await ops(...cancel)).stderr,
      new RegExp(`^Nothing was changed, because this was done: it was canceled by ${mary} at 20`),
    );
    const refused = ['audit-log', '--subject', id, '--action'];
    for (const action of ['transfer.approve_refused', 'transfer.cancel_refused'])
      assert.deepEqual(await rows(...refused, action), [], action);
    // What is refused in any case is not asked about.
    await fails(1, /it was canceled by mary/, ...words`transfers reject ${id} --reason late`);
    assert.equal((await rows(...refused, 'transfer.reject_refused')).length, 1);
    const close = words`accounts close ${own.guarded.id} --reason over`;
    await fails(1, /cannot be closed: its balances/, ...close);
  });

  it('the command line requires a reason of at most 140 characters, and a confirmation before it cancels or rejects', async () => {
    const id = await createPending();
    const long = 'x'.repeat(141);
    const unasked =
      /Reject the transfer of .* from .* \([-0-9a-f]{13} of .*\): this cannot be undone; confirm it/;
    await fails(2, /--reason is required/, 'transfers', 'approve', id);
    await fails(
      2,
      /--reason: at most 140 characters/,
      ...words`transfers approve ${id} --yes --reason ${long}`,
    );
    await fails(2, unasked, ...words`transfers reject ${id} --reason unasked`);
    assert.equal((await own.read(id)).status, 'pending_approval');
    await one('transfers', 'cancel', id, '--reason', 'the end of a test', '--yes');
  });

  it('the command line shows outbox entries that Temporal has not accepted, and makes them due again', async () => {
    const id = await createPending();
    const other = await createPending();
    const failed = `UPDATE outbox SET attempts=3, last_error='no such namespace', due_at=NOW() + INTERVAL 1 HOUR`;
    await test.change(`${failed} WHERE resource_id IN (${idLiteral(id)}, ${idLiteral(other)})`);
    const state = await one('outbox', 'status');
    assert.ok(
      Number(state.entries) >= 2 &&
        Number(state.refused) >= 2 &&
        Number(OBJECT.parse(state.by_type).transfer) >= 2,
    );
    assert.ok(Number(state.oldest_age_s) >= 0 && text(state.oldest_at).endsWith('Z'));
    assert.match(String(state.last_errors), /\d+ × no such namespace/);
    const listed = await rows('outbox', 'list', '--tenant', tenant);
    assert.deepEqual(
      listed.map((entry) => [entry.resource_id, entry.attempts, entry.last_error]),
      [
        [id, 3, 'no such namespace'],
        [other, 3, 'no such namespace'],
      ],
    );
    assert.equal((await rows('outbox', 'list', '--resource', id)).length, 1);
    await fails(2, /give a resource id/, 'outbox', 'release');
    await fails(2, /give a resource id/, 'outbox', 'release', id, '--all');
    await fails(2, /nothing is not the id/, 'outbox', 'release', 'nothing');
    assert.deepEqual(await one('outbox', 'release', id), { released: 1 });
    const free = { attempts: 0, last_error: null, due: 1 };
    const shape = ([row]: Json[]): unknown => ({
      ...row,
      due: Number(row?.due),
      attempts: Number(row?.attempts),
    });
    assert.deepEqual(shape(await outboxOf(id)), free);
    assert.deepEqual(shape(await outboxOf(other)), {
      attempts: 3,
      last_error: 'no such namespace',
      due: 0,
    });
    assert.deepEqual(await one('outbox', 'release', '--tenant', tenant), { released: 2 });
    assert.deepEqual(shape(await outboxOf(other)), free);
    assert.ok(Number((await one('outbox', 'release', '--all')).released) >= 2);
    for (const each of [id, other])
      await one('transfers', 'cancel', each, '--reason', 'the end of a test', '--yes');
  });

  it('the command line writes one outbox entry for each waiting resource', async () => {
    const [lost, known] = [await createPending(), await createPending()];
    await test.change(`DELETE FROM outbox WHERE resource_id=${idLiteral(lost)}`);
    const first = (await rows('outbox', 'rebuild')).find((row) => row.resource_type === 'transfer');
    assert.ok(Number(first?.waiting) >= 2 && Number(first?.entries_written) >= 1);
    assert.deepEqual([(await outboxOf(lost)).length, (await outboxOf(known)).length], [1, 1]);
    const [second] = await rows('outbox', 'rebuild');
    assert.deepEqual([second?.waiting, second?.entries_written], [first?.waiting, 0]);
    for (const id of [lost, known])
      await one('transfers', 'cancel', id, '--reason', 'the end of a test', '--yes');
    assert.equal((await own.row(asUuid(lost))).status, 'rejected');
  });
});
