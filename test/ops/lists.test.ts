import assert from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { asUuid, newId, type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { type AuditFinding, auditFindings } from '../../src/db/entities/audits.js';
import { insertSql } from '../../src/db/statements.js';
import { named } from '../../src/ops/lookups.js';
import { listOfAllTenants } from '../../src/operations/operation-list.js';
import { searchWordsSweep } from '../../src/operations/search-words.js';
import { transferList } from '../../src/transfers/service.js';
import { VERIFICATION } from '../access/matrix-endpoints.js';
import { SupplierBatches } from '../batches/payout-support.js';
import { BatchWorld, payroll, resourceOf } from '../batches/support.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  idLiteral,
  type Json,
  LEAST,
  list as items,
  object,
  text,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { addStaff } from '../helpers/staff.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound } from '../helpers/world.js';
import { accountNumber, payoutBody, railsOf } from '../payouts/support.js';
import { register } from '../webhooks/support.js';
import { noteAbout } from './notes.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const MAIN = fileURLToPath(new URL('../../src/ops/main.js', import.meta.url));

const test = await testDatabase();
const api = await startTestApi(test);
const own = await openGuarded(api);
const people = new SignedInPeople(test);
const tenant = own.bank.tenant.tenant.name;

const TIME_FORMS =
  /--since: \S+ is not a time: write a date \(2026-11-30: .* UTC\), a date and time \(.*\), or how long before now \(90s, .*\)/;

describe('a list or a search of the command line', () => {
  after(async () => {
    await test.change(`DELETE FROM outbox WHERE tenant_id=${idLiteral(own.bank.tenant.tenant.id)}`);
    people.remove();
    await api.stop();
    await assertLedgerSound(test.database);
  });

  const { ops, one, rows, fails } = commandLine(() => people.env);
  const ids = (found: readonly Json[]): unknown[] => found.map((row) => row.id);
  /** Returns a finding of a January day that is older than all others. */
  function acknowledged(id: Uuid, day: number): AuditFinding {
    const at = instant(Date.UTC(2001, 0, day));
    const seen = { firstFoundAt: at, lastFoundAt: at, acknowledgedAt: at, acknowledgedBy: 'ana' };
    return { id, checkName: 'a_check', subject: 'a', message: 'b', ...seen };
  }
  const writeNote = (type: string, id: string) =>
    noteAbout(test, own.bank.tenant.tenant.id, type, id);

  it('is restricted by time and amount, and goes on after the last row of the list before', async () => {
    const made: Json[] = [];
    for (const raw of [LEAST, 2n * LEAST, LEAST, LEAST])
      made.push(await own.bank.sent({ from: own.guarded, to: own.receiver, raw }));
    const [first, second, third, fourth] = made.map(({ id }) => text(id));
    const list = words`transfers list --tenant ${tenant} --account ${own.guarded.id}`;
    const times = made.map(({ created_at: at }) => text(at));
    assert.deepEqual(ids(await rows(...list)), [fourth, third, second, first]);
    const amount = ['--amount', LEAST.toString()];
    assert.deepEqual(ids(await rows(...list, ...amount)), [fourth, third, first]);
    assert.deepEqual(ids(await rows(...list, '--amount', '1,000')), [fourth, third, first]);
    assert.deepEqual(ids(await rows(...list, '--amount', '2.000,00 COPM')), [second]);
    await fails(2, /--amount: 1e3 is not an amount: .* such as 1,500\.00/, ...list, '--amount=1e3');
    assert.deepEqual(ids(await rows(...list, ...amount, '--limit', '2')), [fourth, third]);
    assert.match(
      (await ops(...list, '--limit', '2')).stderr,
      new RegExp(`add --cursor ${third}\n`),
    );
    assert.equal((await ops(...list, '--limit', '4')).stderr, '');
    const cursor = ['--cursor', third ?? ''];
    assert.deepEqual(ids(await rows(...list, ...cursor)), [second, first]);
    assert.deepEqual(ids(await rows(...list, ...amount, ...cursor)), [first]);
    const [since, until] = [
      ['--since', times[1] ?? ''],
      ['--until', times[3] ?? ''],
    ] as const;
    assert.deepEqual(ids(await rows(...list, ...since, ...until)), [third, second]);
    const day = times[0]?.slice(0, 10) ?? '';
    const minute = `${times[0]?.slice(0, 16).replace('T', ' ')}Z`;
    for (const early of [day, minute, '7d', 'today', 'yesterday']) {
      assert.deepEqual(ids(await rows(...list, '--since', early)), ids(made.toReversed()), early);
      assert.deepEqual(await rows(...list, '--until', early), [], early);
    }
    for (const wrong of ['2026-13-01', '2026-11-30T09:30', '1w', '99999d'])
      await fails(2, TIME_FORMS, ...list, `--since=${wrong}`);
    const completed = ['--status', 'completed'];
    assert.deepEqual(ids(await rows(...list, ...completed, ...since, ...cursor)), [second]);
    const { id: pending } = await own.createPending({ from: own.guarded });
    const both = ['--status', 'pending_approval,completed'];
    assert.deepEqual(ids(await rows(...list, ...both)).slice(0, 2), [pending, fourth]);
    assert.deepEqual(ids(await rows(...list, ...both, '--limit', '1')), [pending]);
    assert.deepEqual(ids(await rows(...list, ...both, ...amount)), [fourth, third, first]);
    const everywhere = words`transfers list --since ${times[3] ?? ''}`;
    assert.deepEqual(ids(await rows(...everywhere, ...both)), [pending, fourth]);
    await fails(
      2,
      /--status: must be one of .*, or several with commas/,
      ...list,
      '--status',
      'completed,done',
    );
    const chosen = ['id', 'fee', 'description', 'from_account_id', 'created_by'];
    const [line] = await rows(...list, ...completed, '--columns', chosen.join(','));
    assert.deepEqual(Object.keys(line ?? {}), chosen);
    assert.deepEqual([line?.id, line?.from_account_id], [fourth, own.guarded.id]);
    const [plain] = await rows(...list, ...completed);
    assert.equal(plain?.description, undefined);
    await fails(1, /the list has no/, ...list, '--cursor', randomUUID());
    for (const what of ['payouts', 'batches', 'schedules', 'adjustments', 'accounts'])
      await fails(
        1,
        /the list has no/,
        ...words`${what} list --tenant ${tenant} --cursor ${randomUUID()}`,
      );
    for (const what of ['payouts', 'batches', 'schedules', 'adjustments'])
      assert.deepEqual(
        await rows(...words`${what} list --tenant ${tenant} --since ${times[0] ?? ''} --amount 7`),
        [],
      );
    const accounts = words`accounts list --tenant ${tenant}`;
    const all = ids(await rows(...accounts));
    assert.deepEqual(ids(await rows(...accounts, '--cursor', text(all[0]))), all.slice(1));
    const { id: frozen } = await own.account();
    await test.change(`UPDATE accounts SET status='frozen' WHERE id=${idLiteral(frozen)}`);
    for (const filter of [words`--tenant ${tenant}`, []]) {
      const found = await rows(...words`accounts list --status frozen ${filter}`);
      const line = found.find(({ id }) => id === frozen);
      assert.deepEqual(
        [line?.status, line?.tenant],
        ['frozen', filter.length === 0 ? tenant : undefined],
      );
    }
    const [older] = await rows(...words`accounts list --limit 1 --cursor ${frozen}`);
    assert.ok(text(older?.id) < frozen);
  });

  it('of all tenants has the tenant of each line, is restricted like that of one, and goes on after its last line', async () => {
    const other = await openGuarded(api);
    const others = other.bank.tenant.tenant.name;
    const made: Json[] = [];
    for (const one of [own, other, own])
      made.push(await one.bank.sent({ from: one.guarded, to: one.receiver, raw: LEAST }));
    const [first = '', second, third = ''] = made.map(({ id }) => text(id));
    const list = ['transfers', 'list', '--since', text(made[0]?.created_at)];
    const found = (await rows(...list)).map((row) => [row.id, row.tenant]);
    assert.deepEqual(found, [
      [third, tenant],
      [second, others],
      [first, tenant],
    ]);
    const { stdout, stderr } = await ops(...list, '--limit', '2');
    assert.match(stdout, /^id +status .* tenant\n/);
    assert.match(stderr, new RegExp(`add --cursor ${second}\n`));
    for (const [restriction, expected] of [
      [
        ['--until', text(made[2]?.created_at)],
        [second, first],
      ],
      [
        ['--cursor', third],
        [second, first],
      ],
      [['--status', 'completed', '--limit', '1'], [third]],
      [['--status', 'held'], []],
      [
        ['--amount', '1,000'],
        [third, second, first],
      ],
      [['--amount', '1,001'], []],
      [['--account', other.guarded.id], [second]],
    ] as const)
      assert.deepEqual(ids(await rows(...list, ...restriction)), expected, restriction.join(' '));
    const from = instant(Date.parse(text(made[0]?.created_at)));
    const few = await listOfAllTenants(transferList, test.database.reader, { from }, 3, null, 1);
    assert.deepEqual(
      few.map(({ id }) => id),
      [third, second, first],
    );
    await fails(2, /--metadata needs --tenant/, ...list, '--metadata', 'invoice=A-17');
    const body = payoutBody({ from: other.guarded });
    const payout = answered(await other.bank.request('POST', '/v1/payouts', { body }), 201).json;
    const [line] = await rows('payouts', 'list', '--since', text(payout.created_at));
    assert.deepEqual([line?.id, line?.tenant], [payout.id, others]);
    for (const what of ['payouts', 'batches', 'bonuses', 'schedules', 'adjustments'])
      assert.deepEqual(await rows(what, 'list', '--since', '0s'), [], what);
  });

  it('shows the movements of an account with their signs and the total after each', async () => {
    const from = await own.account({ funds: { COPM: 10n * LEAST } });
    const made: Json[] = [];
    for (const raw of [LEAST, 2n * LEAST, LEAST])
      made.push(await own.bank.sent({ from, to: own.receiver, raw }));
    const list = words`accounts movements ${from.id}`;
    const all = await rows(...list);
    const shown = (found: readonly Json[]) =>
      found.map(({ number, kind, amount, total_after: total }) => [
        ...[number, kind, object(amount).raw, object(total).raw],
      ]);
    const [oldest, first, second, third] = [
      ['1', 'payin_in', 10n * LEAST, 10n * LEAST],
      ['2', 'transfer_out', -LEAST, 9n * LEAST],
      ['3', 'transfer_out', -2n * LEAST, 7n * LEAST],
      ['4', 'transfer_out', -LEAST, 6n * LEAST],
    ].map((one) => one.map(String));
    assert.deepEqual(shown(all), [third, second, first, oldest]);
    assert.deepEqual(
      all.map((row) => row.related_id).slice(0, 3),
      made.map(({ id }) => id).reverse(),
    );
    const amount = ['--amount', LEAST.toString()];
    assert.deepEqual(shown(await rows(...list, ...amount)), [third, first]);
    assert.match((await ops(...list, ...amount, '--limit', '1')).stderr, /add --cursor 4\n$/);
    assert.deepEqual(shown(await rows(...list, ...amount, '--cursor', '4')), [first]);
    const since = ['--since', text(made[1]?.created_at), '--until', text(made[2]?.created_at)];
    assert.deepEqual(shown(await rows(...list, ...since)), [second]);
    assert.match((await ops(...list)).stdout, / -2,000\.00 COPM /);
  });

  it('is printed as CSV, in which no text runs as a formula', async () => {
    const from = await own.account({ name: '=cmd()', funds: { COPM: 10n * LEAST } });
    const { id } = await own.bank.sent({ from, to: own.receiver, raw: LEAST });
    const list = words`transfers list --tenant ${tenant} --account ${from.id} --csv`;
    const { code, stdout } = await ops(...list);
    const [header, ...lines]: string[][] = parse(stdout);
    assert.equal(code, 0);
    assert.deepEqual(header?.slice(0, 6), ['id', 'status', 'amount', 'asset', 'from', 'to']);
    assert.deepEqual(
      lines.map((line) => line.slice(0, 6)),
      [[id, 'completed', '1000.00', 'COPM', "'=cmd()", own.receiver.name]],
    );
    const movements = await ops(...words`accounts movements ${from.id} --csv`);
    assert.match(movements.stdout, /,transfer_out,-1000\.00,COPM,.*,9000\.00,/);
    const few = await ops(...list, '--columns', 'status,amount');
    assert.deepEqual(parse(few.stdout), [
      ['status', 'amount', 'asset'],
      ['completed', '1000.00', 'COPM'],
    ]);
    await fails(2, /there is no raw, only id, status, amount, /, ...list, '--columns=raw');
    await fails(2, /--csv goes with neither --json nor --watch/, ...list, '--watch');
  });

  it('continues after a delivery or a finding', async () => {
    const { id } = await register(own.bank, ['transfer.completed']);
    for (let sent = 0; sent < 3; sent += 1)
      answered(await own.bank.request('POST', `/v1/webhook_endpoints/${text(id)}/test`), 202);
    const findings = [1, 2, 3].map((day) => acknowledged(newId(), day));
    await test.change(insertSql(auditFindings, findings));
    const found = findings.map((one) => one.id).reverse();
    const deliveries = words`webhooks deliveries ${text(id)}`;
    const delivered = ids(await rows(...deliveries)).map(text);
    for (const [list, all] of [
      [deliveries, delivered],
      [words`findings list --all`, found],
    ] as const) {
      const [first = '', second] = all;
      const next = [...list, '--cursor', first];
      assert.deepEqual(ids(await rows(...next)), all.slice(1));
      assert.match((await ops(...next, '--limit', '1')).stderr, new RegExp(`--cursor ${second}\n`));
      await fails(1, /the list has no/, ...list, '--cursor', randomUUID());
    }
  });

  it('takes the beginning of an id, and names the candidates if several resources have it', async () => {
    const { from, to } = { from: own.guarded, to: own.receiver };
    const id = text((await own.bank.sent({ from, to, raw: LEAST })).id);
    for (const beginning of [id.slice(0, 30), id.slice(0, 30).toUpperCase().replaceAll('-', '')])
      assert.equal((await one('transfers', 'show', beginning)).id, id);
    assert.equal((await one('accounts', 'show', from.id.slice(0, 30))).id, from.id);
    const { id: tenantId } = own.bank.tenant.tenant;
    assert.equal((await one('tenants', 'show', tenantId.slice(0, 30))).id, tenantId);
    await fails(1, /there is no transfer/, 'transfers', 'show', id.slice(0, 7));
    const base = randomUUID().slice(0, -1);
    const twins = [`${base}0`, `${base}1`].map((twin) => acknowledged(asUuid(twin), 1));
    await test.change(insertSql(auditFindings, twins));
    await assert.rejects(
      named.finding.parse(base.slice(0, 8)).find(test.database.reader),
      new RegExp(`is the beginning of several ids:\nid ${base}0\nid ${base}1$`),
    );
    const more = [2, 3, 4, 5].map((digit) => acknowledged(asUuid(`${base}${digit}`), 1));
    await test.change(insertSql(auditFindings, more));
    await assert.rejects(
      named.finding.parse(base.slice(0, 8)).find(test.database.reader),
      new RegExp(`of more than 5 ids: add digits. The first:\nid ${base}0\n`),
    );
  });

  it('an alias, a person or a tenant that does not exist is answered with similar names', async () => {
    const alias = text((await own.account({ alias: '$similar-anna' })).alias);
    const meant = new RegExp(`no account .similar-ana.*: did you mean.*\\${alias}`);
    for (const own of [[], ['--tenant', tenant]])
      await fails(1, meant, ...words`accounts show $similar-ana ${own}`);
    const { name } = await addStaff(test.database, { name: randomUUID(), rights: ['read'] });
    const add = words`tenants add another --as ${name.slice(1)}`;
    await fails(
      1,
      new RegExp(`no member of the staff is called .*: did you mean ${name}\\?`),
      ...add,
    );
  });

  it('says what an id of another kind is, and which names may have been meant', async () => {
    const { from, to } = { from: own.guarded, to: own.receiver };
    const id = text((await own.bank.sent({ from, to, raw: LEAST })).id);
    const account = from.id;
    for (const [given, shown, other] of [
      [id.slice(0, 30), 'accounts', `this is a transfer: .* transfers show ${id}`],
      [id, 'payouts', `this is a transfer: .* transfers show ${id}`],
      [id, 'tenants', `this is a transfer: .* transfers show ${id}`],
      [id, 'events', `this is a transfer: .* transfers show ${id}`],
      [account, 'transfers', `this is an account: .* accounts show ${account}`],
    ] as const)
      await fails(1, new RegExp(other), shown, 'show', given);
    const [event] = await rows(...words`events list --tenant ${tenant} --limit 1`);
    await fails(1, /this is an event: .* events show/, 'transfers', 'show', text(event?.id));
    const near = `${tenant}x`;
    await fails(
      1,
      new RegExp(`no tenant ${near}: did you mean ${tenant}`),
      'tenants',
      'show',
      near,
    );
    await assert.rejects(
      named.member.parse('ownr').find(test.database.reader, tenant),
      /has no member ownr: did you mean owner/,
    );
    const subject = words`audit-log --tenant ${tenant} --subject`;
    const whole = await rows(...subject, account);
    assert.ok(whole.length > 0);
    assert.deepEqual(await rows(...subject, account.slice(0, 30)), whole);
  });

  it('finds what was just created, and what the index has, by words and amounts in any order', async () => {
    const to = await own.account({ name: 'Beatriz Ocampo', type: 'person' });
    const raw = 7_654_300n;
    const description = 'Bicicleta azul';
    const id = text((await own.createPending({ raw, description, to })).id);
    const { id: other } = await own.createPending({ raw, description: 'Otra cosa' });
    const asked = ['76,543 bicicleta', 'beatriz 76.543', 'Ocampo azul', 'ocampo 76543 bici'];
    const missed = ['beatriz 76,544', 'bicicleta 76544', 'beatriz roja', 'DUSD beatriz 76,543'];
    for (const isIndexed of [false, true]) {
      if (isIndexed) await indexWords();
      for (const words of asked) {
        const found = ids(await rows('search', words));
        assert(found.includes(id), `${words}, ${isIndexed}`);
        assert(!found.includes(text(other)), `${words}, ${isIndexed}`);
      }
      assert(ids(await rows('search', 'ocampo beatriz')).includes(to.id));
      for (const words of missed) assert.deepEqual(await rows('search', words), [], words);
    }
    await fails(2, /<text>: give an id, a name, a word or an amount/, 'search', ' ');
    const few = words`transfers list --tenant ${tenant} --amount`;
    const { stderr } = await ops(...few, '76543');
    assert.match(
      stderr,
      /^76543 was read as 765\.43 COPM or 0\.076543 DUSD; for 76,543\.00 write 76,543\.00\n$/,
    );
    for (const amount of ['7654300', '76,544'])
      assert.equal((await ops(...few, amount)).stderr, '');
  });

  async function indexWords(): Promise<void> {
    await test.change(`UPDATE daily_totals_positions SET position=0 WHERE name LIKE 'words/%'`);
    const later = instant(Date.now() + 5 * 60_000);
    const { run } = searchWordsSweep({ database: test.database, clock: () => later });
    await run(new AbortController().signal);
  }

  it('finds what the support desk finds by words, amounts and the digits of a phone', async () => {
    const { id } = await own.account({
      ...{ name: 'María José Pérez Ñuflo', type: 'person', phone: '+573001239876' },
    });
    const transfer = text((await own.createPending({ raw: 4_321_000n, description: 'Renta' })).id);
    await indexWords();
    for (const [asked, expected] of [
      ['perez maría', id],
      ['1239876', id],
      ['43.210 renta', transfer],
      ['4321000', transfer],
    ] as const)
      assert(ids(await rows('search', asked)).includes(expected), asked);
    assert.deepEqual(await rows('search', 'pérez carlos'), []);
    const kind = ['--kind', 'transfer', '--tenant', tenant];
    const found = async (...restriction: readonly string[]): Promise<boolean> =>
      ids(await rows('search', '43.210', ...restriction)).includes(transfer);
    assert(await found(...kind, '--since', '1h'));
    assert(!(await found('--kind', 'payout')));
    assert(!(await found(...kind, '--since', '0s')));
    const { tenant: another } = (await openGuarded(api)).bank.tenant;
    assert(!(await found('--tenant', another.name)));
  });

  it('counts a row of a batch of payouts as paid when its payout is, and lists the payouts of a batch', async () => {
    const batches = await SupplierBatches.open(api);
    const failing = { account_number: accountNumber('01'), reference: 'INV-2' };
    const { id } = await batches.ended({ reference: 'INV-1' }, failing);
    const shown = async () => {
      const [whole, line] = [await one('batches', 'show', id), (await rows('batches', 'list'))[0]];
      assert.deepEqual(
        [line?.id, line?.paid, line?.failed, line?.pending],
        [id, whole.paid, whole.failed, whole.pending],
      );
      return [whole.paid, whole.failed, whole.pending, object(whole.payouts).failed];
    };
    assert.deepEqual(await shown(), [0, 0, 2, 0]);
    const list = words`payouts list --batch ${id} --columns id,reference,status,failure`;
    for (const payout of await rows(...list))
      await railsOf(test).submissions.submit(asUuid(text(payout.id)));
    assert.deepEqual(await shown(), [1, 1, 0, 1]);
    assert.match((await ops('batches', 'show', id)).stdout, /payouts +1 completed, 1 failed\n/);
    const [failed] = await rows(...list, '--status', 'failed');
    assert.deepEqual([failed?.reference, failed?.failure], ['INV-2', 'the account is closed']);
    assert.deepEqual(ids(await rows('search', 'INV-2')), [failed?.id, id]);
  });

  it('shows of one transfer, payout, bonus or batch its description, its deliveries and the notes of the staff', async () => {
    await register(own.bank, ['transfer.completed']);
    const { from, to } = { from: own.guarded, to: own.receiver };
    const id = text((await own.bank.sent({ from, to, raw: LEAST, description: 'Rent' })).id);
    const shown = await one('transfers', 'show', id);
    assert.equal(shown.description, 'Rent');
    const [[event], [delivery]] = [items(shown.events), items(shown.deliveries)];
    assert.deepEqual([event?.type, delivery?.event_id], ['transfer.completed', event?.id]);
    assert.match(text(delivery?.url), /^https:/);
    const { stdout } = await ops('transfers', 'show', id);
    assert.match(stdout, /transfer\.completed to https:.*: pending, 0 attempts\n/);
    assert.deepEqual([shown.notes, shown.taken_by], [[], null]);
    const body = payoutBody({ from, description: 'Salary' });
    const payoutId = text(
      answered(await own.bank.request('POST', '/v1/payouts', { body }), 201).json.id,
    );
    await writeNote('payout', payoutId);
    const payout = await one('payouts', 'show', payoutId);
    assert.deepEqual([payout.description, payout.deliveries], ['Salary', []]);
    const [note, ...others] = items(payout.notes);
    assert.deepEqual([note?.note, others], ['They called.\nTwice.', []]);
    const [transition] = items(payout.status_transitions);
    assert.deepEqual(transition, { status: payout.status, at: payout.created_at });
    const paid = await own.bank.request('POST', '/v1/bonuses', {
      body: {
        ...{ source_account: from.id, recipient: { account_id: to.id }, description: 'Thanks' },
        amount: { raw: LEAST.toString(), asset: 'COPM' },
      },
    });
    const bonusId = text(answered(paid, 201).json.id);
    await writeNote('bonus', bonusId);
    const bonus = await one('bonuses', 'show', bonusId);
    assert.deepEqual([bonus.description, bonus.to, bonus.deliveries], ['Thanks', to.name, []]);
    assert.equal(items(bonus.notes).length, 1);
    assert.deepEqual(ids(await rows(...words`bonuses list --tenant ${tenant}`)), [bonusId]);
  });

  it('of events is restricted by type and time, and goes on before a sequence', async () => {
    const world = await openGuarded(api);
    const send = (raw: bigint) => world.bank.sent({ from: world.guarded, to: world.receiver, raw });
    const sent = [await send(LEAST), await send(LEAST)].map(({ id }) => id);
    const { id: verified } = await world.bank.account({ isVerified: false });
    const path = `/v1/accounts/${verified}/verification`;
    answered(await world.bank.request('PUT', path, { body: VERIFICATION }), 200);
    const list = words`events list --tenant ${world.bank.tenant.tenant.name}`;
    const transfers = [...list, '--type', 'transfer.completed'];
    const [last, first] = await rows(...transfers);
    assert.deepEqual([first?.resource_id, last?.resource_id], sent);
    const all = await rows(...list);
    assert.deepEqual([all[0]?.resource_id, all[1]], [verified, last]);
    assert.deepEqual(
      ids(all),
      ids(all.toSorted((a, b) => Number(b.sequence) - Number(a.sequence))),
    );
    const { stderr } = await ops(...transfers, '--limit', '1');
    assert.match(stderr, new RegExp(`add --cursor ${text(last?.sequence)}\n`));
    const cursor = ['--cursor', text(last?.sequence)];
    assert.deepEqual(ids(await rows(...transfers, ...cursor)), [first?.id]);
    const until = text(first?.created_at);
    assert.deepEqual(await rows(...transfers, '--until', until), []);
    assert.deepEqual(ids(await rows(...transfers, '--since', until)), [last?.id, first?.id]);
    await fails(2, /--type: must be one of/, ...list, '--type', 'transfer.done');
    const destination = { type: 'bre_b_key', key: '3001112233' };
    const body = { ...payoutBody({ from: world.guarded }), destination };
    answered(await world.bank.request('POST', '/v1/payouts', { body }), 201);
    assert.equal((await rows(...list))[0]?.to, '****2233');
  });

  it('of events of all tenants has their tenants, amounts and parties, and goes on before an id', async () => {
    const [first, second] = [await openGuarded(api), await openGuarded(api)];
    const made: Json[] = [];
    for (const { bank, guarded, receiver } of [first, second, first])
      made.push(await bank.sent({ from: guarded, to: receiver, raw: LEAST }));
    const list = ['events', 'list', '--since', text(made[0]?.created_at)];
    const typed = [...list, '--type', 'transfer.completed'];
    const found = await rows(...typed);
    assert.deepEqual(
      found.map((row) => [row.tenant, row.resource_id, row.amount, row.from, row.to]),
      [first, second, first].map(({ bank, guarded, receiver }, index) => [
        ...[bank.tenant.tenant.name, made[2 - index]?.id],
        { raw: LEAST.toString(), asset: 'COPM' },
        ...[guarded.name, receiver.name],
      ]),
    );
    const [ofAccounts] = await rows(...typed, '--columns', 'from_account_id,to_account_id');
    assert.deepEqual(ofAccounts, {
      from_account_id: first.guarded.id,
      to_account_id: first.receiver.id,
    });
    const { stderr } = await ops(...typed, '--limit', '1');
    assert.match(stderr, new RegExp(`add --cursor ${text(found[0]?.id)}\n`));
    const cursor = ['--cursor', text(found[0]?.id)];
    assert.deepEqual(ids(await rows(...typed, ...cursor)), ids(found.slice(1)));
    await fails(2, /--type needs --since/, ...words`events list --type transfer.completed`);
    await fails(2, /--cursor: 3 is not the id of an event/, ...list, '--cursor', '3');
    await fails(2, /is not the sequence/, ...list, '--tenant', tenant, ...cursor);
    const shown = await one('events', 'show', text(found[0]?.id));
    assert.equal(object(object(shown.data).object).id, made[2]?.id);
    const { stdout } = await ops('events', 'show', text(found[0]?.id));
    assert.match(stdout, /object\.amount\.asset: COPM/);
  });

  it('of events is followed: each new one is added on a line, also as JSON', async () => {
    const { bank, guarded, receiver } = await openGuarded(api);
    const send = () => bank.sent({ from: guarded, to: receiver, raw: LEAST });
    const before = await send();
    const lists = ['', '--json'].map((option) => {
      const since = ['--since', text(before.created_at)];
      const list = words`events list --follow --tenant ${bank.tenant.tenant.name} ${since}`;
      const args = [MAIN, ...list, ...(option === '' ? [] : [option])];
      const child = spawn(process.execPath, args, { env: people.env });
      const printed = { child, text: '' };
      child.stdout.setEncoding('utf8').on('data', (piece: string) => (printed.text += piece));
      return printed;
    });
    const linesOf = ({ text: printed }: { text: string }) => printed.split('\n').slice(0, -1);
    try {
      const have = (count: number) =>
        lists.every((list, index) => linesOf(list).length === count + (index === 0 ? 1 : 0));
      await until('the first event is shown', () => have(1));
      const after = await send();
      await until('the second event is shown', () => have(2));
      const [[heading, ...lines], json] = [
        linesOf(lists[0]!),
        linesOf(lists[1]!).map((line) => JSON.parse(line)),
      ];
      assert.match(
        heading ?? '',
        /^created at  +type  +resource id  +amount  tenant  from and to$/,
      );
      const sent = [before, after].map(({ id }) => id);
      assert.deepEqual(
        json.map((event: Json) => event.resource_id),
        sent,
      );
      for (const [index, id] of sent.entries())
        assert.match(
          lines[index] ?? '',
          new RegExp(
            `^\\S+ \\S+:\\d\\dZ  transfer.completed  ${text(id)} .* 1,000\\.00 COPM  ${bank.tenant.tenant.name}  ${guarded.name} to ${receiver.name}$`,
          ),
        );
    } finally {
      for (const { child } of lists) child.kill('SIGINT');
    }
    await fails(2, /--follow goes with neither/, ...words`events list --follow --until 1h`);
    for (const more of ['--watch', '--csv', '--columns=id'])
      await fails(2, /--follow goes with none of/, ...words`events list --follow ${more}`);
  });

  it('of a range that ends before it begins is refused, as is a recovery beyond its limit; a redelivery names the number of endpoints', async () => {
    for (const list of [
      words`events list --tenant ${tenant}`,
      ['transfers', 'list'],
      ['audit-log'],
    ])
      await fails(2, /is after --until/, ...list, ...words`--since 1h --until 2h`);
    const world = await openGuarded(api);
    await world.bank.sent({ from: world.guarded, to: world.receiver, raw: LEAST });
    const of = ['--tenant', world.bank.tenant.tenant.name];
    const [event] = await rows('events', 'list', ...of, '--type', 'transfer.completed');
    const endpoint = text((await register(world.bank, ['transfer.completed'])).id);
    const tooLong = ['webhooks', 'recover', endpoint, '--since', '31d'];
    await people.signIn(`lea ${randomUUID()}`);
    await fails(2, /--since \S+ is not within the last 30 days/, ...tooLong);
    await one('webhooks', 'recover', endpoint, '--since', '30d');
    const again = await one(...words`webhooks redeliver ${text(event?.id)} --reason lost`);
    assert.deepEqual([again.queued, again.endpoints], [true, 1]);
  });

  it('shows all problems of a file, also as CSV', async () => {
    const world = await BatchWorld.open(test);
    const payer = await world.account({ funds: { COPM: 200n * LEAST } });
    const lines = Array.from({ length: 150 }, () => ['$nobody', LEAST.toString(), 'COPM'] as const);
    const { id } = resourceOf(await world.upload(payer, payroll(lines.map((line) => [...line]))));
    await world.validate(id);
    const few = await rows('batches', 'problems', id);
    assert.deepEqual([few.length, few[0]?.column], [100, 'recipient'], JSON.stringify(few[0]));
    const { stdout } = await ops('batches', 'problems', id, '--csv');
    const csv = stdout.trim().split('\r\n');
    assert.equal(csv[0], 'row,column,code,problem,value');
    assert.match(csv[1] ?? '', /,\$nobody$/);
    assert.equal(csv.length, 151);
    const listed = await ops('batches', 'problems', id, '--limit', '1');
    assert.match(listed.stdout, /^row +column +code +problem +value\n.* \$nobody\n$/);
    const batch = await one('batches', 'show', id);
    assert.deepEqual([batch.description, batch.notes], ['November', []]);
  });
});
