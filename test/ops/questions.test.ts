import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startTestApi } from '../helpers/api.js';
import { LEAST, text } from '../helpers/bank.js';
import { testDatabase, type TestDatabase } from '../helpers/database.js';
import { outputOf, type Ran } from '../helpers/child-output.js';
import { openGuarded } from '../helpers/guarded.js';
import { assertLedgerSound } from '../helpers/world.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const MAIN = fileURLToPath(new URL('../../src/ops/main.js', import.meta.url));

describe('the questions of the command line', () => {
  let test: TestDatabase;
  let people: SignedInPeople;
  const tenant = `questions ${randomUUID()}`;
  const ANA = ['$ask.ana', '--tenant', tenant];
  const FREEZE = words`accounts freeze ${ANA} --reason 'ticket 118'`;
  const { ops, one, rows, fails } = commandLine(() => people.env);

  before(async () => {
    test = await testDatabase();
    people = new SignedInPeople(test);
    await people.signIn('maria');
    await one('tenants', 'add', tenant);
    await one(...words`accounts open Ana --tenant ${tenant} --type person --alias $ask.ana`);
    await one(...words`policies set ${ANA} --asset COPM --threshold 500000`);
  });
  after(async () => {
    people.remove();
    await assertLedgerSound(test.database);
  });

  /** Runs a command at a terminal, where these keys answer its first question after `meanwhile`, and Ctrl-D its second. */
  async function atTerminal(
    args: readonly string[],
    keys: string,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
    columns = 500,
  ): Promise<Ran> {
    const line = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ');
    const sized = `stty cols ${columns}; ${line}`;
    const child = spawn('script', ['-qec', sized, '/dev/null'], {
      env: { PATH: process.env.PATH, ...people.env, TERM: 'xterm' },
    });
    let answers = 0;
    let shown = '';
    child.stdout.on('data', (piece: Buffer) => {
      shown += piece.toString();
      const questions = shown.match(/\[y\/N\] |Document number|Reason,.*: |Code of .*: /g) ?? [];
      if (questions.length <= answers) return;
      answers = questions.length;
      if (answers > 1) child.stdin.write('\u0004');
      else void meanwhile().finally(() => child.stdin.write(keys));
    });
    return outputOf(child);
  }

  for (const [name, key] of [
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ] as const)
    it(`${name} at a question cancels the command, which then has changed nothing`, async () => {
      const freeze = await atTerminal(FREEZE, key);
      assert.match(freeze.stdout, /canceled, nothing was changed/);
      assert.doesNotMatch(freeze.stdout, /MySQL|error/);
      assert.equal(freeze.code, 130);
      assert.equal((await one('accounts', 'show', ...ANA)).status, 'active');
      const verify = words`accounts verify ${ANA} --legal-name Ana --document-type CC --country CO`;
      assert.equal((await atTerminal(verify, key)).code, 130);
    });

  it('what weakens or stops something asks first, and names who acts and what follows', async () => {
    const endpoint = 'Deactivate leo: their sessions end now';
    await one('staff', 'add', 'leo', '--can', 'read', '--yes');
    const limits = words`limits set ${ANA} --asset COPM --maximum 200000 --reason high`;
    const remove = words`policies remove ${ANA} --asset COPM --reason low`;
    const of = ['--tenant', tenant];
    const fee = words`--tenant ${tenant} --operation payout --asset COPM`;
    await one(...words`accounts open Fees ${of} --type business --alias $ask.fees`);
    await one('tenants', 'set-fee-account', tenant, '$ask.fees');
    await one('fees', 'set', ...fee, '--flat', '100');
    await one('members', 'add', 'payroll', ...of);
    await one(...words`members grant payroll viewer ${ANA.slice(1)} --account $ask.ana --yes`);
    await one('tenants', 'policy-delay', tenant, '--seconds', '60');
    for (const [args, question] of [
      [
        words`policies set ${ANA} --asset COPM --threshold 600000`,
        /threshold from 5,000\.00 COPM to 6,000\.00 COPM: what weakens it takes effect in 1 minute/,
      ],
      [
        words`policies set ${ANA} --asset COPM --expires-in 24h`,
        /expiry from 7 days to 1 day: it takes effect at once/,
      ],
      [['tenants', 'policy-delay', tenant, '--none'], /seconds from 60 to 0: the next change/],
      [
        words`members grant payroll owner ${of} --account $ask.ana`,
        /Grant payroll the role owner in Ana; before: viewer: a wider role waits for the delay/,
      ],
      [
        words`members grant payroll viewer ${of} --all-accounts`,
        /in every account of the tenant; before: viewer/,
      ],
      [['members', 'remove-role', 'payroll', ...of, '--all-accounts'], /no longer act there/],
      [
        words`staff add zoe --can read,manage`,
        /Add zoe to the staff: rights from none to read, manage/,
      ],
      [words`staff add leo --can cancel`, /Set the rights of leo: rights from read to cancel/],
      [['fees', 'remove', ...fee], /flat from 1\.00 COPM to none.*: it is free from now on/],
      [words`fees set ${fee} --flat 200`, /flat from 1\.00 COPM to 2\.00 COPM: it applies/],
      [FREEZE, /may receive, but not send/],
      [['staff', 'deactivate', 'leo'], new RegExp(endpoint)],
      [
        words`limits set ${ANA} --asset COPM --maximum 2,000.00 --reason high`,
        /maximum from [\d,.]+ COPM to 2,000\.00 COPM: they apply/,
      ],
      [
        words`policies set ${ANA} --asset COPM --threshold 6,000.00`,
        /threshold from 5,000\.00 COPM to 6,000\.00 COPM: what weakens it/,
      ],
      [words`fees set ${fee} --flat 2.00`, /flat from 1\.00 COPM to 2\.00 COPM: it applies/],
      [
        limits,
        /maximum from [\d,.]+ COPM to 2,000\.00 COPM: they apply from its next operation on/,
      ],
      [
        remove,
        /from 5,000\.00 COPM on: after the tenant's delay of 1 minute payments of any amount leave it without/,
      ],
    ] as const)
      await fails(2, new RegExp(`${question.source}.*; confirm it with --yes`), ...args);
    const [policy] = await rows('policies', 'list', ...ANA);
    assert.deepEqual(policy?.threshold, { raw: '500000', asset: 'COPM' });
    await one('tenants', 'policy-delay', tenant, '--none', '--yes');
    const asked = await atTerminal(remove, 'y\r');
    assert.match(asked.stdout, /5,000\.00 COPM on, in the name of maria\. From now on payments/);
    assert.equal(asked.code, 0);
    assert.deepEqual(await rows('policies', 'list', ...ANA), []);
    const set = await ops(...limits, '--yes');
    assert.match(
      set.stdout,
      /^The limits of Ana are set: maximum from [\d,.]+ COPM to 2,000\.00 COPM \(as maria\)\.\n\nminimum /,
    );
  });

  it('an answer that is neither y nor n is asked for again', async () => {
    const { code, stdout } = await atTerminal(FREEZE, 'x\r');
    assert.match(stdout, /x is not an answer, only y and n are\. Go on\? \[y\/N\] /);
    assert.equal(code, 130);
  });

  it('breaks between words at the width of the terminal', async () => {
    const { stdout } = await atTerminal(FREEZE, 'n\r', undefined, 60);
    assert.match(
      stdout,
      /Freeze the account of Ana \s+\([0-9a-f-]{36}\), in the name of \s+maria\. /,
    );
  });

  it('a reason that is missing is asked for at a terminal, and required without one', async () => {
    const propose = words`adjustments propose in --account $ask.ana --tenant ${tenant} --amount 700 --asset COPM --reference asked`;
    await fails(2, /--reason is required/, ...propose);
    const { stdout } = await atTerminal(propose, 'ticket 7\r');
    assert.match(stdout, /Reason, in the name of maria: /);
    assert.match(stdout, /Propose to put 7\.00 COPM into the account of Ana of .* \(ticket 7\)/);
    for (const args of [
      words`accounts freeze ${ANA}`,
      words`accounts unfreeze ${ANA}`,
      words`limits set ${ANA} --asset COPM --maximum 200000`,
      words`policies remove ${ANA} --asset COPM`,
      words`staff reset-factor leo`,
    ])
      await fails(2, /--reason is required/, ...args, '--yes');
    const freeze = await atTerminal(words`accounts freeze ${ANA}`, '\u0003');
    assert.match(freeze.stdout, /Reason, in the name of maria: /);
    const wrong = await atTerminal(words`accounts freeze ${ANA}`, `${'x'.repeat(141)}\r`);
    assert.match(
      wrong.stdout,
      /The reason: at most 140 characters\. Reason, in the name of maria: /,
    );
    assert.equal(wrong.code, 130);
  });

  it('a wrong code is followed by a question for another, at a terminal, and what is refused anyway asks for none', async () => {
    const begin = words`restore begin --nothing-lost --reason moved --yes`;
    const { stdout } = await atTerminal(begin, '000000\r');
    assert.match(
      stdout,
      /The code is wrong\. Code of maria's authenticator, in .*: .*nothing was/s,
    );
    const failed = await ops('login', 'maria', '--code', '000000');
    assert.match(failed.stderr, /the code is wrong; give what the authenticator shows now\n/);
    const login = await atTerminal(['login', 'maria'], '000000\r');
    assert.match(login.stdout, /The code is wrong\. Code of maria's authenticator: /);
    const approve = words`staff reset-factor leo --approve`;
    await fails(1, /no new authenticator of leo is proposed/, ...approve);
  });

  it('a "no" neither asks for a code nor does anything; the code is asked for after a "yes"', async () => {
    const begin = ['restore', 'begin', '--nothing-lost', '--reason', 'moved'];
    const refused = await atTerminal(begin, 'n\r');
    assert.match(refused.stdout, /Close the ledger.*nothing was done/s);
    assert.doesNotMatch(refused.stdout, /authenticator/);
    assert.equal(refused.code, 1);
    const asked = await atTerminal(begin, 'y\r');
    assert.match(asked.stdout, /Go on\?.*Code of maria's authenticator.*nothing was changed/s);
    assert.equal(asked.code, 130);
    await fails(2, /--code is required without a terminal/, ...begin, '--yes');
    assert.deepEqual(await rows('restore', 'status'), []);
  });

  it('a pay-in with a wrong amount or reference is refused before the question', async () => {
    const record = words`payins record --account ${ANA} --asset COPM`;
    await fails(1, /positive/, ...record, ...words`--amount 0 --reference r-1`);
    await fails(1, /reference/, ...record, ...words`--amount 1 --reference a/b`);
  });

  it('a refund of all that is left proposes the sum of the question, even if another refund ends meanwhile', async () => {
    const api = await startTestApi(test);
    try {
      const { bank, guarded, receiver } = await openGuarded(api);
      const { id } = await bank.sent({ from: guarded, to: receiver, raw: 3n * LEAST });
      const refund = words`transfers refund ${text(id)} --reason 'ticket 8'`;
      const part = [...refund, '--amount', LEAST.toString(), '--yes'];
      const first = await one(...(await people.withCode(part)));
      const cancel = words`transfers cancel ${text(first.id)} --reason 'ticket 8' --yes`;
      const { code, stdout } = await atTerminal(await people.withCode(refund), 'y\r', () =>
        one(...cancel),
      );
      assert.equal(code, 0, stdout);
      assert.match(stdout, /Propose to send 2,000\.00 COPM back/);
      assert.match(
        stdout,
        /The refund of 2,000\.00 COPM from .* to .* is proposed \(as maria\)\.\s+id /,
      );
      const [proposed] = await rows(
        ...words`transfers list --tenant ${bank.tenant.tenant.name} --status pending_approval`,
      );
      assert.deepEqual(proposed?.amount, { raw: String(2n * LEAST), asset: 'COPM' });
    } finally {
      await api.stop();
    }
  });

  it('a policy keeps what is not named when it is set again', async () => {
    const set = (...change: readonly string[]) =>
      one('policies', 'set', ...ANA, '--asset', 'DUSD', ...change, '--yes');
    const named = words`--threshold 500 --approvals 2 --expires-in 24h --refuses-batches`;
    const first = await set(...named);
    assert.deepEqual(await set('--threshold', '500'), first);
    const { threshold, approvals, expires_in_s, refuses_batches } = await set('--accepts-batches');
    assert.deepEqual(
      [threshold, approvals, expires_in_s, refuses_batches],
      [{ raw: '500', asset: 'DUSD' }, 2, 86_400, false],
    );
    await one('tenants', 'policy-delay', tenant, '--seconds', '60');
    await set('--threshold', '1,000.000000');
    const { stdout } = await ops('policies', 'list', ...ANA);
    assert.match(stdout, / threshold: 1,000\.000000 DUSD; /);
    await one('tenants', 'policy-delay', tenant, '--none', '--yes');
  });

  it('a refused option names the limit or the valid values', async () => {
    await fails(2, /--reason is required/, 'accounts', 'freeze', ...ANA);
    const long = 'x'.repeat(141);
    const name = 'y'.repeat(200);
    await fails(
      2,
      /--reason: at most 140 characters/,
      'accounts',
      'freeze',
      ...ANA,
      '--reason',
      long,
    );
    await fails(1, /name is not valid: at most \d+ characters/, 'tenants', 'add', name);
    for (const [zone, message] of [
      ['Bogota', /Bogota is not a time zone: did you mean America\/Bogota\?/],
      ['Mars', /use a name of the IANA database, such as America\/Bogota/],
    ] as const)
      await fails(2, message, 'tenants', 'add', 'nowhere', '--time-zone', zone);
  });

  it('a command goes on only for the person who was asked', async () => {
    const { stdout } = await atTerminal(FREEZE, 'y\n', () => people.signIn('nora'));
    assert.match(stdout, /another person has signed in here meanwhile: nothing was done/);
    assert.equal((await one('accounts', 'show', ...ANA)).status, 'active');
  });

  it('the audit log has a row for each entry, with details in full, on terminals of 80 and 100 columns', async () => {
    const long = 'x'.repeat(100);
    await one(...words`accounts freeze ${ANA} --yes --reason`, long);
    await one(...words`accounts unfreeze ${ANA} --yes --reason`, long);
    const log = ['audit-log', '--tenant', tenant, '--action'];
    for (const columns of [80, 100]) {
      const { stdout } = await atTerminal([...log, 'account.freeze'], '', undefined, columns);
      const [heading = '', line = ''] = stdout.split('\r\n');
      assert.match(heading, /^at +by +action +subject +details/);
      assert.match(line, /Z  nora +account\.freeze +\S.* {2}reason:/);
      assert.ok(
        stdout.split('\r\n').every((one) => one.length <= columns),
        stdout,
      );
      assert.equal(stdout.match(/x/g)?.length, 100);
    }
  });
});
