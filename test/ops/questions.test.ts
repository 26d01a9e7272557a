import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { testDatabase, type TestDatabase } from '../helpers/database.js';
import { outputOf, type Ran } from '../helpers/child-output.js';
import { assertLedgerSound } from '../helpers/world.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const MAIN = fileURLToPath(new URL('../../src/ops/main.js', import.meta.url));

describe('the questions of the command line', () => {
  let test: TestDatabase;
  let people: SignedInPeople;
  const tenant = `questions ${randomUUID()}`;
  const ANA = ['$ask.ana', '--tenant', tenant];
  const { one, rows, fails } = commandLine(() => people.env);

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

  /** Runs a command at a terminal, where these keys answer its first question. */
  async function atTerminal(args: readonly string[], keys: string): Promise<Ran> {
    const line = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ');
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      env: { PATH: process.env.PATH, ...people.env, TERM: 'xterm' },
    });
    let isAnswered = false;
    let shown = '';
    child.stdout.on('data', (piece: Buffer) => {
      shown += piece.toString();
      if (isAnswered || !/\[y\/N\]|Document number/.test(shown)) return;
      isAnswered = true;
      child.stdin.write(keys);
    });
    return outputOf(child);
  }

  for (const [name, key] of [
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ] as const)
    it(`${name} at a question cancels the command, which then has changed nothing`, async () => {
      const freeze = await atTerminal(['accounts', 'freeze', ...ANA], key);
      assert.match(freeze.stdout, /canceled, nothing was changed/);
      assert.doesNotMatch(freeze.stdout, /MySQL|error/);
      assert.equal(freeze.code, 130);
      assert.equal((await one('accounts', 'show', ...ANA)).status, 'active');
      const verify = words`accounts verify ${ANA} --legal-name Ana --document-type CC --country CO`;
      assert.equal((await atTerminal(verify, key)).code, 130);
    });

  it('what weakens or stops something asks first, and names who acts and what follows', async () => {
    const endpoint = 'Deactivate leo: their sessions end now';
    await one('staff', 'add', 'leo', '--can', 'read');
    const limits = words`limits set ${ANA} --asset COPM --maximum 200000`;
    const remove = ['policies', 'remove', ...ANA, '--asset', 'COPM'];
    for (const [args, question] of [
      [['accounts', 'freeze', ...ANA], /may receive, but not send/],
      [['staff', 'deactivate', 'leo'], new RegExp(endpoint)],
      [
        limits,
        /maximum from [\d,.]+ COPM to 2,000\.00 COPM: they apply from its next operation on/,
      ],
      [remove, /from 5,000\.00 COPM on: from now on payments of any amount leave it without/],
    ] as const)
      await fails(1, new RegExp(`${question.source}.*; confirm it with --yes`), ...args);
    assert.equal((await rows('policies', 'list', ...ANA)).length, 1);
    const asked = await atTerminal(remove, 'y\r');
    assert.match(asked.stdout, /5,000\.00 COPM on, in the name of maria\. From now on payments/);
    assert.equal(asked.code, 0);
    assert.deepEqual(await rows('policies', 'list', ...ANA), []);
  });

  it('a refused option names the limit or the valid values', async () => {
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
});
