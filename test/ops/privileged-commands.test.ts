import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { Authenticator } from '../../src/access/authenticator.js';
import { systemClock } from '../../src/core/instant.js';
import { buildProgram } from '../../src/ops/program.js';
import { startTestApi } from '../helpers/api.js';
import { BatchWorld, payroll } from '../batches/support.js';
import { answered, idLiteral, LEAST, openBank, text } from '../helpers/bank.js';
import { testDatabase, type TestDatabase } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { assertLedgerSound } from '../helpers/world.js';
import { needsOf } from '../../src/ops/staff/authorisation.js';
import { ASKING } from './asking.js';
import { type Ran, run, TEST_KEYS, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const OBJECT = z.record(z.string(), z.unknown());
/** Looked at beside what they do: test/payouts/ops.test.ts, test/restores, test/ops/schedules.test.ts, test/funding/fee-refunds.test.ts. */
const ELSEWHERE = /^(payouts|restore|schedules) |^(fees refund|webhooks redeliver)$/;

function leaves(command: Command, path = ''): [string, Command][] {
  const own = command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`));
  return command.commands.length === 0 ? [[path.trim(), command]] : own;
}

describe('the privileged commands of operators', () => {
  let test: TestDatabase;
  let folder: string;
  let people: SignedInPeople;
  const tenant = `privileged ${randomUUID()}`;
  const IN = ['--tenant', tenant];
  /** The commands that were seen in the audit log. */
  const recorded = new Set<string>();

  before(async () => {
    test = await testDatabase();
    folder = mkdtempSync(join(tmpdir(), 'privileged-'));
    people = new SignedInPeople(test);
    for (const name of ['mary', 'bob']) await people.signIn(name);
    people.file.keep(people.file.find('bob')!, systemClock());
  });
  after(async () => {
    people.remove();
    rmSync(folder, { recursive: true });
    await assertLedgerSound(test.database);
  });

  const ops = (args: readonly string[], keys = TEST_KEYS, input = ''): Promise<Ran> =>
    run('src/ops/main.js', args, { ...people.env, ENCRYPTION_KEYS: keys }, input);

  async function done(
    args: readonly string[],
    keys?: string,
    input?: string,
  ): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await ops([...args, '--json'], keys, input);
    assert.equal(code, 0, stderr);
    const parsed: unknown = JSON.parse(stdout);
    return Array.isArray(parsed) ? { items: parsed } : OBJECT.parse(parsed);
  }

  /** Does it, and sees that the newest line of the audit log is about it and names the operator. */
  async function acts(
    action: string,
    ...args: readonly string[]
  ): Promise<Record<string, unknown>> {
    const before = await newest();
    await asksFirst(args);
    const mayAsk = ASKING[args.slice(0, 2).join(' ')] !== 'never';
    const result = await done(mayAsk ? [...args, '--yes'] : args);
    const after = await newest();
    assert.notEqual(after.id, before.id, `${args.join(' ')} left no line`);
    assert.deepEqual(
      [after.action, after.actor_claimed, after.channel],
      [action, args.includes('mary') ? 'mary' : 'bob', 'ops'],
    );
    recorded.add(args.slice(0, 2).join(' '));
    return result;
  }
  /** A command that asks does nothing without a terminal. A code works once, so a command with one is not tried. */
  async function asksFirst(args: readonly string[]): Promise<void> {
    const asking = ASKING[args.slice(0, 2).join(' ')];
    if (asking !== 'always' || args.includes('--code')) return;
    const before = await newest();
    const { code, stdout, stderr } = await ops(args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, /confirm it with --yes/, args.join(' '));
    assert.deepEqual(await newest(), before);
  }
  const newest = async (): Promise<Record<string, unknown>> =>
    (
      await test.sql(
        'SELECT HEX(id) AS id, action, actor_claimed, channel FROM audit_log ORDER BY id DESC LIMIT 1',
      )
    )[0] ?? {};

  it('the command line opens, names, verifies, limits, freezes and closes accounts, each with a line in the audit log', async () => {
    await acts('tenant.add', 'tenants', 'add', tenant);
    await acts('member.add', 'members', 'add', 'clerk', ...IN);
    const ana = words`accounts open 'Ana Pérez' ${IN} --type person --phone '+57 318 555 0001'`;
    await acts('account.open', ...ana);
    const path = join(folder, 'people.csv');
    writeFileSync(path, 'type,name,alias,phone\nbusiness,Acme,$priv-acme,\n');
    await acts('account.open', 'accounts', 'import', path, ...IN);
    await acts('alias.set', 'accounts', 'set-alias', '+573185550001', '$Priv.Ana', ...IN);
    const verified = await acts(
      'account.verify',
      ...words`accounts verify $priv.ana ${IN} --legal-name 'Ana María Pérez' --document-type CC`,
      ...['--document-number', '1020304050', '--country', 'CO'],
    );
    assert.deepEqual([verified.status, verified.document_last4], ['verified', '4050']);
    const limited = await acts(
      'limits.set',
      ...words`limits set $priv.ana ${IN} --asset COPM --maximum 200000 --reason 'ticket 5'`,
    );
    const [copm, dusd] = z.array(OBJECT).parse(limited.items);
    assert.deepEqual(
      [copm?.maximum, copm?.set_for],
      [{ raw: '200000', asset: 'COPM' }, 'this account'],
    );
    assert.equal(dusd?.set_for, 'its type');
    await acts('limits.clear', ...words`limits clear $priv.ana ${IN} --asset COPM --reason over`);
    await acts('account.freeze', 'accounts', 'freeze', '$priv.ana', ...IN, '--reason', 'ticket 1');
    await acts('account.unfreeze', ...words`accounts unfreeze $priv.ana ${IN} --reason over`);
    await acts('alias.release', 'accounts', 'release-alias', '$priv.ana', ...IN);
    const { id: opened } = await done(['accounts', 'show', '$priv-acme', ...IN]);
    const dated = `UPDATE balances SET last_posted_at=last_posted_at + INTERVAL 1 DAY WHERE asset='COPM' AND account_id=${idLiteral(text(opened))}`;
    assert.equal(await test.change(dated), 1);
    const reset = await acts(
      'account.reset_clock',
      ...words`accounts reset-clock ${text(opened)} --reason 'ticket 3'`,
    );
    assert.equal(reset.reset, true);
    const closed = await acts(
      'account.close',
      ...words`accounts close +573185550001 ${IN} --reason 'ticket 2'`,
    );
    assert.deepEqual([closed.status, closed.phone], ['closed', null]);
  });

  it('the command line grants roles, and issues, rotates and revokes tokens, each with a line in the audit log', async () => {
    await acts('role.grant', ...words`members grant clerk viewer ${IN} --account $priv-acme`);
    await acts('role.remove', 'members', 'remove-role', 'clerk', ...IN, '--account', '$priv-acme');
    const issue = ['tokens', 'issue', 'server', ...IN, '--member', 'clerk', '--scopes', 'read'];
    const issued = await acts('token.issue', ...issue);
    const rotated = await acts(
      'token.rotate',
      ...words`tokens rotate ${String(issued.key_id)} --grace 1h`,
    );
    assert.deepEqual(
      [rotated.name, rotated.scopes, rotated.replaces],
      ['server', ['read'], issued.key_id],
    );
    const authenticator = new Authenticator(test.database.reader, systemClock);
    for (const { token } of [issued, rotated])
      assert.notEqual(await authenticator.authenticate(String(token), '127.0.0.1'), null);
    await acts('token.revoke', 'tokens', 'revoke', String(issued.key_id));
    await done(words`members add leaver ${IN}`);
    await acts('member.remove', ...words`members remove leaver ${IN}`);
  });

  it('the command line moves money and sets fees, each with a line', async () => {
    const account = ['--account', '$priv-acme', ...IN];
    const money = ['--amount', '150000', '--asset', 'COPM'];
    await acts('payin.record', 'payins', 'record', ...account, ...money, '--reference', 'p1');
    const propose = words`adjustments propose out ${account} ${money} --reason twice --reference`;
    const [unasked, wrong] = [
      await ops([...propose, 'a1']),
      await ops([...propose.map((word) => (word === '150000' ? '0' : word)), 'a1']),
    ];
    assert.match(
      unasked.stderr,
      /Propose to take 1,500\.00 COPM out of the account of Acme of .* \(twice\): nothing moves/,
    );
    assert.match(wrong.stderr, /amount\.raw is not valid/);
    await acts('adjustment.propose', ...(await people.withCode([...propose, 'a1'])));
    await acts('adjustment.propose', ...(await people.withCode([...propose, 'a2'])));
    await acts(
      'adjustment.reject',
      ...(await people.withCode(words`adjustments reject a2 ${IN} --reason 'paid once'`)),
    );
    const { id } = await done(words`adjustments show a1 ${IN}`);
    const approve = words`adjustments approve ${text(id).slice(0, 13)} --reason seen --as mary`;
    const { stderr } = await ops(await people.withCode(approve));
    const question = `Take 1,500.00 COPM out of the account of Acme of ${tenant} (twice), proposed by bob`;
    assert.match(stderr, new RegExp(question.replace(/[().]/g, '\\$&')));
    await acts('adjustment.approve', ...(await people.withCode(approve)));
    const log = words`audit-log --subject $priv-acme ${IN} --action`;
    const [rejection] = z.array(OBJECT).parse((await done([...log, 'adjustment.reject'])).items);
    assert.equal(OBJECT.parse(rejection?.details).why, 'paid once');
    const last = await newest();
    for (const code of [[], words`--code 000000`]) {
      const again = await ops([...approve, ...code]);
      assert.equal(again.code, 0, again.stderr);
      assert.match(again.stderr, /^No money was moved: the adjustment was posted before by mary/);
      const late = await ops(words`adjustments reject a1 ${IN} ${code}`);
      const why = 'error: the adjustment is already posted, by mary (invalid_state)\n';
      assert.deepEqual([late.code, late.stderr], [1, why]);
    }
    assert.deepEqual(await newest(), last, 'nothing is recorded of a repetition');
    const shown = await done(words`adjustments show a1 ${IN}`);
    assert.deepEqual([shown.tenant, shown.account, shown.status], [tenant, 'Acme', 'posted']);
    assert.deepEqual(await done(['adjustments', 'show', text(shown.id)]), shown);
    const alone = await ops(['adjustments', 'show', 'a1']);
    assert.match(alone.stderr, /there is no adjustment a1.*; a reference needs --tenant/);
    const lines = z.array(OBJECT).parse((await done(log.slice(0, -1))).items);
    for (const action of ['payin.record', 'adjustment.propose', 'adjustment.approve']) {
      const line = lines.find((one) => one.action === action);
      assert.match(text(line?.subject), /^1,500\.00 COPM \((?:p1|a1|a2)\)$/);
    }
    await acts('tenant.set_quotas', 'tenants', 'quotas', tenant, '--open-batches', '50');
    await acts('tenant.set_quotas', 'tenants', 'recipient-budget', tenant, '--size', '500');
    await acts('tenant.set_policy_delay', 'tenants', 'policy-delay', tenant, '--seconds', '60');
    await acts('tenant.set_fee_account', 'tenants', 'set-fee-account', tenant, '$priv-acme');
    const fee = [...IN, '--operation', 'payout', '--asset', 'COPM'];
    await acts('fees.set', 'fees', 'set', ...fee, '--flat', '100');
    await acts('fees.remove', 'fees', 'remove', ...fee);
  });

  it('the command line reserves aliases and rotates keys, each with a line', async () => {
    const alias = `$r${randomUUID().slice(0, 8)}x`;
    await acts('alias.reserve', 'aliases', 'reserve', alias);
    const listed = await done(['aliases', 'list']);
    const reserved = z.array(OBJECT).parse(listed.items);
    assert.ok(reserved.some((row) => row.alias === alias && row.reserved_by === 'bob'));
    await acts('alias.unreserve', 'aliases', 'unreserve', alias);
    const both = `next:${Buffer.alloc(32, 9).toString('base64')},${TEST_KEYS}`;
    const sealed = await done(['keys', 'list'], both);
    const used = z.array(OBJECT).parse(sealed.items);
    assert.ok(used.some((row) => row.key_id === 'test'));
    try {
      const { key_id: keyId, documents } = await done(['keys', 'rotate'], both);
      assert.equal(keyId, 'next');
      assert.ok(Number(documents) > 0);
      assert.deepEqual((await newest()).action, 'keys.rotate');
      recorded.add('keys rotate');
    } finally {
      // Other tests of this database open what they declared with their own key.
      await done(['keys', 'rotate'], both.split(',').reverse().join(','));
    }
  });

  it('the command line manages staff and policies, decides waiting operations, and releases stuck ones, each with a line in the audit log', async () => {
    const api = await startTestApi(test);
    try {
      const { guarded, receiver, createPending, bank } = await openGuarded(api);
      await acts('staff.set', 'staff', 'add', 'zoe', '--can', 'approve,cancel');
      await acts('staff.set', 'staff', 'add-service', 'nightly', '--can', 'resolve');
      for (const action of ['approve', 'reject', 'cancel'])
        await acts(
          `transfer.${action}`,
          ...words`transfers ${action} ${text((await createPending()).id)} --reason 'ticket 3'`,
        );
      const { id } = await bank.sent({ from: guarded, to: receiver, raw: LEAST });
      const refund = words`transfers refund ${text(id)} --reason 'ticket 3'`;
      const tooMuch = await ops([...refund, '--amount', String(2n * LEAST)]);
      const numbers = /2,000\.00 COPM were requested, 1,000\.00 COPM can still be refunded/;
      assert.match(tooMuch.stderr, numbers);
      const unasked = await ops(refund);
      const question = `Propose to send 1,000.00 COPM back from ${receiver.name} to ${guarded.name} (ticket 3): nothing moves until another person approves it; confirm it with --yes`;
      assert.deepEqual(
        [unasked.code, unasked.stderr.includes(question)],
        [2, true],
        unasked.stderr,
      );
      const proposed = await acts('transfer.refund', ...(await people.withCode(refund)));
      assert.deepEqual(
        [proposed.status, proposed.refund_of, proposed.created_by],
        ['pending_approval', { type: 'transfer', id }, 'support: bob'],
      );
      const original = await done(['transfers', 'show', text(id)]);
      assert.deepEqual(
        z
          .array(OBJECT)
          .parse(original.pending_refunds)
          .map((one) => one.id),
        [proposed.id],
      );
      await acts('outbox.release', 'outbox', 'release', '--tenant', bank.tenant.tenant.name);
      await acts('outbox.rebuild', 'outbox', 'rebuild');
      const finding = randomUUID();
      await test.sql(
        `INSERT INTO audit_findings VALUES (${idLiteral(finding)}, 'planted', 'nothing', 'nothing is wrong', NOW(3), NOW(3), NULL, NULL)`,
      );
      await acts(
        'finding.acknowledge',
        ...words`findings acknowledge ${finding} --reason 'planted by a test'`,
      );
      const policy = [guarded.id, '--asset', 'DUSD'];
      await acts('approval_policy.set', 'policies', 'set', ...policy, '--threshold', '1');
      await acts('approval_policy.remove', ...words`policies remove ${policy} --reason over`);
      const reset = ['staff', 'reset-factor', 'zoe'];
      await acts('staff.reset_propose', ...(await people.withCode([...reset, '--reason', 'lost'])));
      await acts(
        'staff.reset_approve',
        ...(await people.withCode([...reset, '--approve', '--as', 'mary'])),
      );
      await people.signIn('zoe', ['read']);
      people.file.keep(people.file.find('bob')!, systemClock());
      await acts('staff.session_revoke', 'staff', 'revoke-session', 'zoe');
      assert.equal(
        await test.change("UPDATE staff SET subject_hash=REPEAT(X'01', 32) WHERE name='zoe'"),
        1,
      );
      await acts('staff.unbind', 'staff', 'unbind', 'zoe');
      await acts('staff.deactivate', 'staff', 'deactivate', 'zoe');
    } finally {
      await api.stop();
    }
  });

  it('the command line pauses, retries, recovers, disables and enables webhook endpoints, each with a line', async () => {
    const api = await startTestApi(test);
    const bank = await openBank(api);
    await bank.account();
    const body = { url: 'https://example.com/hook', events: ['account.verified'] };
    const id = text(
      answered(await bank.request('POST', '/v1/webhook_endpoints', { body }), 201).json.id,
    );
    await api.stop();
    const state = async (...args: readonly string[]): Promise<string> =>
      String((await acts(`webhook.${args[1]!.replace('-', '_')}`, ...args)).waits_for);
    assert.match(
      await state(...words`webhooks pause ${id} --reason 'ticket 118'`),
      /^paused by bob since \d\d:\d\d UTC: nothing is sent until it is resumed$/,
    );
    assert.equal((await done(['webhooks', 'show', id])).status, 'paused');
    assert.equal(await state(...words`webhooks resume ${id} --reason over`), 'no events to send');
    await state(...words`webhooks retry-now ${id} --reason over`);
    await state('webhooks', 'recover', id, '--since', new Date(Date.now() - 60_000).toISOString());
    assert.match(
      await state(...words`webhooks disable ${id} --reason 'ticket 118'`),
      /^disabled by an operator since .* UTC: nothing is sent until its tenant or an operator enables it$/,
    );
    const listed = z.array(OBJECT).parse((await done(['webhooks', 'list'])).items);
    const own = listed.find((row) => row.id === id);
    assert.equal(own?.disabled_reason, 'by_operator');
    assert.match(text(own.tenant), /^tenant .* of a test$/);
    assert.equal(await state(...words`webhooks enable ${id} --reason over`), 'no events to send');
    assert.deepEqual((await done(['webhooks', 'deliveries', id])).items, []);
    const { code, stderr } = await ops(['webhooks', 'show', randomUUID()]);
    assert.deepEqual([code, /there is no webhook endpoint/.test(stderr)], [1, true]);
  });

  it('the command line sets how long events are kept, at least 30 days, with a line', async () => {
    const { code, stderr } = await ops(['events', 'retention', 'set', '29', '--yes']);
    assert.deepEqual(
      [code, /days is not valid: it is below the minimum or above/.test(stderr)],
      [1, true],
    );
    for (const [days, kept] of [
      ['36500', 36_500],
      ['forever', null],
    ] as const) {
      const set = await acts('events.set_retention', 'events', 'retention', 'set', days);
      assert.equal(set.kept_days, kept);
    }
    const [{ details } = {}] = await test.sql(
      "SELECT details FROM audit_log WHERE action='events.set_retention' ORDER BY id DESC LIMIT 1",
    );
    assert.deepEqual(JSON.parse(String(details)), { days: null, previous: 36_500 });
    assert.equal((await done(['events', 'retention', 'show'])).kept, 'forever');
    recorded.add('events retention set');
  });

  it('the command line pauses, resumes and cancels batches, and deletes their bytes, each with a line in the audit log', async () => {
    const world = await BatchWorld.open(test);
    await world.account({ alias: '$ana' });
    const payer = await world.account({ funds: { COPM: 10n * LEAST } });
    const row = ['$ana', LEAST.toString(), 'COPM'];
    const { id } = await world.executed(payer, payroll([row, row]));
    const why = ['--reason', 'ticket 9'];
    const paused = await acts('bonus_batch.pause', 'batches', 'pause', id, ...why);
    assert.deepEqual(
      [paused.status, paused.pending, paused.paused_by, paused.pause_reason, paused.funds_held],
      ['executing', 2, 'bob', 'ticket 9', true],
    );
    const resumed = await acts('bonus_batch.resume', 'batches', 'resume', id, ...why);
    assert.deepEqual([resumed.paused_at, resumed.pause_reason], [null, null]);
    await world.execution.payNextGroup(id, 1);
    const ready = await world.ready(payer, payroll([row]));
    const withdrawn = await acts('bonus_batch.cancel', 'batches', 'cancel', ready.id, ...why);
    assert.deepEqual(
      [withdrawn.status, withdrawn.rejection, withdrawn.pending],
      ['rejected', 'withdrawn', 1],
    );
    const canceled = await acts('bonus_batch.cancel', 'batches', 'cancel', id, ...why);
    assert.deepEqual([canceled.paid, canceled.pending, canceled.funds_held], [1, 1, false]);
    await world.pay({ id });
    const shown = await done(['batches', 'show', id]);
    assert.deepEqual([shown.status, shown.paid, shown.failed], ['partially_failed', 1, 1]);
    const { items } = await done(
      words`batches list --tenant ${world.tenant.tenant.id} --status partially_failed`,
    );
    const ended = z.array(OBJECT).parse(items);
    assert.deepEqual(
      ended.map((one) => one.id),
      [id],
    );
    await test.change(
      `UPDATE batches SET validated_at='2020-01-01' WHERE id=X'${id.replaceAll('-', '')}'`,
    );
    const removed = await acts(
      'bonus_batch.delete_upload',
      ...words`batches remove-uploads --older-than 90d`,
    );
    assert.equal(removed.removed, 1);
    const { code, stderr } = await ops(['batches', 'pause', id, ...why, '--yes']);
    assert.deepEqual(
      [code, /partially_failed; this is possible only while it is executing/.test(stderr)],
      [1, true],
    );
    assert.match((await ops(['batches', 'show', 'x'])).stderr, /there is no batch x/);
  });

  it('every command that changes something is recorded in the audit log', () => {
    const changing = leaves(buildProgram()).filter(
      ([path, command]) => Array.isArray(needsOf(command)) && !ELSEWHERE.test(path),
    );
    assert.deepEqual(
      changing.map(([path]) => path).filter((path) => !recorded.has(path)),
      [],
    );
  });

  it('every command that changes something declares whether it asks first', () => {
    const changing = leaves(buildProgram()).filter(([, command]) =>
      Array.isArray(needsOf(command)),
    );
    assert.deepEqual(Object.keys(ASKING).sort(), changing.map(([path]) => path).sort());
  });

  it('the command line reads the audit log by tenant, subject and action, newest first', async () => {
    const rows = async (...args: readonly string[]) =>
      z.array(OBJECT).parse((await done(['audit-log', ...args])).items);
    const all = await rows(...IN);
    assert.ok(all.length > 15 && all.every((row) => row.tenant_id === all[0]?.tenant_id));
    const times = all.map(({ at }) => String(at));
    assert.deepEqual(times, [...times].sort().reverse());
    const frozen = await rows(...IN, '--action', 'account.freeze');
    assert.deepEqual(
      frozen.map(({ details }) => details),
      [{ reason: 'ticket 1' }],
    );
    const about = await rows('--subject', String(frozen[0]?.subject_id));
    assert.ok(about.length >= 8 && about.every((row) => row.subject_id === frozen[0]?.subject_id));
    const [newestRow, second] = await rows(...IN, '--limit', '2');
    assert.deepEqual(await rows(...IN, '--limit', '1', '--cursor', text(newestRow?.id)), [second]);
    const from = ['--since', text(all[4]?.at), '--until', text(all[1]?.at)];
    const between = (await rows(...IN, ...from)).map(({ at }) => text(at));
    assert.ok(between.length > 0);
    assert.ok(between.every((at) => at >= text(all[4]?.at) && at < text(all[1]?.at)));
    assert.equal((await rows(...IN, '--action', 'tenant.add'))[0]?.subject, tenant);
    const { stdout } = await ops(['audit-log', ...IN, '--action', 'account.freeze']);
    assert.match(stdout, /reason: ticket 1/);
  });

  it('the command line asks for confirmation before a final action, and refuses it without a terminal', async () => {
    await done(['accounts', 'open', 'Careful', ...IN, '--type', 'person', '--alias', '$priv-care']);
    const issued = await done(words`tokens issue careful ${IN} --member clerk --scopes read`);
    const before = await newest();
    for (const args of [
      words`accounts close $priv-care ${IN} --reason over`,
      ['accounts', 'release-alias', '$priv-care', ...IN],
      ['accounts', 'set-alias', '$priv-care', '$priv-other', ...IN],
      ['tokens', 'rotate', String(issued.key_id)],
      ['tokens', 'revoke', String(issued.key_id)],
    ]) {
      const { code, stdout, stderr } = await ops(args);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, /confirm it with --yes/);
    }
    assert.deepEqual(await newest(), before);
  });

  it('the command line takes a document number from standard input, and never prints an invalid one', async () => {
    const verify = words`accounts verify $priv-care ${IN} --legal-name Ana --document-type CC --country CO`;
    const verified = await done(
      [...verify, '--document-number-stdin'],
      TEST_KEYS,
      ' 5566778899 \n',
    );
    assert.equal(verified.document_last4, '8899');
    for (const [args, input, message] of [
      [[...verify, '--document-number-stdin'], 'no number 5566\n', /must be 5 to 20 letters/],
      [[...verify, '--document-number', '55 66 77'], '', /must be 5 to 20 letters/],
      [
        [...verify, '--document-number', '556677', '--document-number-stdin'],
        '556677',
        /give either/,
      ],
      [verify, '', /is required without a terminal/],
    ] as const) {
      const { code, stderr } = await ops(args, TEST_KEYS, input);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /5566|55 66/);
    }
    const unset = await ops([...verify, '--document-number', '5566778899'], '');
    assert.equal(unset.code, 1);
    assert.match(unset.stderr, /^error: ENCRYPTION_KEYS is not set.*\n$/);
  });
});
