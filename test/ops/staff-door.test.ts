import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { instant } from '../../src/core/instant.js';
import { type Staff, STAFF_RIGHTS, type StaffRight } from '../../src/db/entities/staff.js';
import { setService } from '../../src/staff/people.js';
import { asksForCode, STAFF_ACTIONS } from '../../src/staff/rules.js';
import { signIn } from '../../src/staff/sessions.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { idLiteral, type Json } from '../support/bank.js';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { codeOf, staffPartsOf } from '../support/staff.js';
import { assertLedgerSound, TEST_ACTOR } from '../support/world.js';
import {
  type ActionCommands,
  type ActionName,
  makeStaffActionWorld,
} from './staff-action-world.js';
import { type Ran, run, TEST_KEYS } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const ACTS = Object.keys(STAFF_ACTIONS).filter(
  (act) => !act.startsWith('restore.'),
) as ActionName[];
/** What acts change. Of the staff what a reset changes: wrong codes are counted. */
const CHANGED = [
  ...[
    'accounts',
    'adjustments',
    'approvals',
    'balances',
    'bonus_batches',
    'entries',
    'events',
    'holds',
    'pay_ins',
  ],
  ...[
    'outbox',
    'payout_resolutions',
    'payouts',
    'staff_factor_resets',
    'transfers',
    'webhook_endpoints',
  ],
];
const WRONG = '000000';

/** Every action of the staff by the command line, with each right and each proof: who may, does; who may not leaves a line. */
describe('the command line as a door of the staff', () => {
  let test: TestDatabase;
  let api: TestApi;
  let commands: ActionCommands;
  const open: SignedInPeople[] = [];
  /** Each signed in from a machine of their own. */
  const machines = new Map<string, SignedInPeople>();
  const people = new Map<string, Staff>();
  const keys = new Map<string, string>();

  async function signedIn(name: string, rights: readonly StaffRight[]): Promise<void> {
    const machine = new SignedInPeople(test);
    open.push(machine);
    machines.set(name, machine);
    people.set(name, await machine.signIn(name, rights));
  }
  const without = (right: StaffRight): StaffRight[] => STAFF_RIGHTS.filter((one) => one !== right);
  const personOf = (name: string): Staff => people.get(name)!;
  const envOf = (name: string): Record<string, string> => machines.get(name)!.env;

  before(async () => {
    test = await testDatabase();
    api = await startTestApi(test);
    for (const name of ['able', 'second', 'over', 'revoked', 'gone', 'open'])
      await signedIn(name, STAFF_RIGHTS);
    for (const right of STAFF_RIGHTS) await signedIn(`no-${right}`, without(right));
    for (const right of STAFF_RIGHTS) {
      const wanted = { name: `service-no-${right}`, rights: without(right) };
      keys.set(
        wanted.name,
        (await setService(staffPartsOf(test.database), wanted, TEST_ACTOR)).key,
      );
    }
    const robot = { name: 'robot', rights: STAFF_RIGHTS };
    keys.set('robot', (await setService(staffPartsOf(test.database), robot, TEST_ACTOR)).key);
    await test.change(
      `UPDATE staff_sessions SET expires_at=NOW(3) WHERE staff_id=${idLiteral(personOf('over').id)}`,
    );
    const revoked = `UPDATE staff_sessions SET revoked_at=NOW(3) WHERE staff_id=${idLiteral(personOf('revoked').id)}`;
    await test.change(revoked);
    await test.change(`UPDATE staff SET active=0 WHERE id=${idLiteral(personOf('gone').id)}`);
    chmodSync(machines.get('open')!.path, 0o644);
    commands = await makeStaffActionWorld(test, api, personOf('second'));
  });
  after(async () => {
    for (const machine of open) machine.remove();
    await api.stop();
    await assertLedgerSound(test.database);
  });

  const ops = (args: readonly string[], env: Record<string, string>): Promise<Ran> =>
    run('src/ops/main.js', [...args, '--yes'], env);
  const lines = (): Promise<Json[]> =>
    test.sql(
      'SELECT action, actor_claimed AS actor, channel, subject_id FROM audit_log ORDER BY id',
    );
  const state = async (): Promise<Json[]> => [
    ...(await test.sql(`CHECKSUM TABLE ${CHANGED.join(',')}`)),
    ...(await test.sql('SELECT id, rights, active, factor_secret FROM staff ORDER BY id')),
  ];
  const forgive = () => test.change('UPDATE staff SET ops_failed_codes=0, ops_locked_until=NULL');

  /** It changes nothing, and leaves a line where somebody was named: `actor`. */
  async function refused(act: ActionName, given: Given): Promise<void> {
    const [recorded, before] = [await lines(), await state()];
    const { code, stdout, stderr } = await ops(
      [...commands[act], ...(given.args ?? [])],
      given.env,
    );
    const how = `${act}: ${given.how}: ${stderr}`;
    assert.deepEqual([code, stdout], [1, ''], how);
    assert.match(stderr, given.says, how);
    assert.deepEqual(await state(), before, how);
    const left = (await lines()).slice(recorded.length);
    assert.deepEqual(
      left.map(({ action, actor, channel }) => [action, actor, channel]),
      given.actor === null ? [] : [[`${act}_refused`, given.actor, 'ops']],
      how,
    );
    if (given.actor !== null) assert.ok(commands[act].includes(String(left[0]?.subject_id)), how);
    await forgive();
  }

  interface Given {
    readonly how: string;
    readonly env: Record<string, string>;
    readonly args?: readonly string[];
    readonly says: RegExp;
    /** Whom the line names; null: there is none. */
    readonly actor: string | null;
  }

  const service = (key: string) => ({
    MYSQL_URL: test.url,
    ENCRYPTION_KEYS: TEST_KEYS,
    OPS_KEY: key,
  });

  function withoutProof(act: ActionName): Given[] {
    const { right } = STAFF_ACTIONS[act];
    const says = /has ended: npm run ops -- login/;
    const named = (how: string, name: string, message: RegExp): Given => ({
      ...{ how, env: envOf(name), says: message, actor: name },
    });
    const key = keys.get(`service-no-${right}`)!;
    return [
      named(
        'a person without the right',
        `no-${right}`,
        new RegExp(`no-${right} lacks the right to ${right}; .*--can`),
      ),
      named('an old session', 'over', says),
      named('a revoked session', 'revoked', says),
      named('a session of somebody who is no longer active', 'gone', says),
      {
        how: 'a file that others can read',
        env: envOf('open'),
        says: /other users can read/,
        actor: null,
      },
      {
        how: 'nobody',
        env: { ...envOf('able'), OPS_SESSIONS: '/nonexistent/sessions' },
        says: /sign in first/,
        actor: null,
      },
      {
        how: 'no key of a service',
        env: service('ssk_none'),
        says: /not the key of an active service/,
        actor: null,
      },
      {
        ...{ how: 'a service without the right', env: service(key), actor: `service-no-${right}` },
        says: asksForCode(act, 'ops') ? /never counts as a person/ : /lacks the right/,
      },
    ];
  }

  async function withoutCode(): Promise<Given[]> {
    const able = personOf('able');
    const used = await machines.get('able')!.code(able);
    const deps = staffPartsOf(test.database);
    assert.ok(
      'session' in
        (await signIn(deps, { name: able.name, code: used, door: 'support', place: 'test' })),
    );
    const by = (how: string, code: string | null, says: RegExp): Given => ({
      ...{
        how,
        env: envOf('able'),
        says,
        actor: 'able',
        ...(code === null ? {} : { args: ['--code', code] }),
      },
    });
    return [
      by('no code', null, /no code was given; .*with --code/),
      by('a wrong code', WRONG, /the code is wrong; .*with --code/),
      by('a code that is none', "1' OR '1", /the code is wrong/),
      by('a used code', used, /the code was used before/),
      by('an old code', codeOf(able, instant(Date.now() - 10 * 60_000)), /the code is wrong/),
      by("somebody else's code", codeOf(personOf('second')), /the code is wrong/),
      {
        how: 'a service',
        env: service(keys.get('robot')!),
        says: /never counts as a person.*--as/,
        actor: 'robot',
      },
    ];
  }

  for (const act of ACTS) {
    it(`the command line refuses ${act} without the right and without a proof, and leaves a line`, async () => {
      for (const given of withoutProof(act)) await refused(act, given);
      if (asksForCode(act, 'ops'))
        for (const given of await withoutCode()) await refused(act, given);
    });
  }

  for (const act of ACTS)
    it(`the command line does ${act} for whoever has the right${asksForCode(act, 'ops') ? ' and gives a code' : ''}`, async () => {
      const needsCode = asksForCode(act, 'ops');
      const machine = machines.get('able')!;
      const before = (await lines()).length;
      const { code, stderr } = await ops(
        needsCode ? await machine.withCode(commands[act]) : commands[act],
        machine.env,
      );
      assert.equal(code, 0, stderr);
      const left = (await lines()).slice(before);
      assert.ok(
        left.some(
          ({ action, actor, channel }) => action === act && actor === 'able' && channel === 'ops',
        ),
        JSON.stringify(left),
      );
    });

  it('the command line lets a service do what one person may, by its key', async () => {
    const { code, stderr } = await ops(
      ['aliases', 'reserve', '$matrix'],
      service(keys.get('robot')!),
    );
    assert.equal(code, 0, stderr);
    assert.deepEqual((await lines()).at(-1)?.actor, 'robot');
  });

  it('the command line counts a code once, when two sessions race with it', async () => {
    const again = new SignedInPeople(test);
    open.push(again);
    await again.signIn('able');
    const propose = commands['adjustment.propose'];
    for (let round = 0; round < 5; round += 1) {
      const code = await again.code(personOf('able'));
      const as = (env: Record<string, string>, reference: string) =>
        ops(
          propose
            .map((word, at) => (propose[at - 1] === '--reference' ? reference : word))
            .concat('--code', code),
          env,
        );
      const ended = await Promise.all([
        as(envOf('able'), `race-${round}-a`),
        as(again.env, `race-${round}-b`),
      ]);
      assert.deepEqual(ended.map((ran) => ran.code).sort(), [0, 1]);
      const loser = ended.find((ran) => ran.code === 1);
      assert.match(loser?.stderr ?? '', /the code was used before/);
      const made = await test.sql(
        `SELECT 1 FROM adjustments WHERE reference LIKE 'race-${round}-%'`,
      );
      assert.equal(made.length, 1);
      await forgive();
    }
  });

  it('the command line never takes one person for two, under other names or in other sessions', async () => {
    const again = new SignedInPeople(test);
    open.push(again);
    await again.signIn('Able');
    assert.equal(again.file.find('able')?.name, 'Able');
    const propose = commands['adjustment.propose'];
    const mine = propose.map((word, at) => (propose[at - 1] === '--reference' ? 'alone' : word));
    const machine = machines.get('able')!;
    assert.equal((await ops(await machine.withCode(mine), machine.env)).code, 0);
    const approve = [
      'adjustments',
      'approve',
      'alone',
      '--tenant',
      commands['adjustment.approve'].at(-1)!,
    ];
    const before = await state();
    for (const name of ['able', 'ABLE', 'áble', 'ａｂｌｅ', 'аble']) {
      const code = await machine.code(personOf('able'));
      const { code: ended, stderr } = await ops(
        [...approve, '--as', name, '--code', code],
        again.env,
      );
      assert.equal(ended, 1);
      assert.match(stderr, /a second person does/);
      const added = await ops(
        ['staff', 'add', name, '--can', STAFF_RIGHTS.join(','), '--json'],
        envOf('second'),
      );
      assert.deepEqual(
        Object.keys(JSON.parse(added.stdout) as Json).includes('secret'),
        false,
        name,
      );
    }
    assert.deepEqual(await state(), before);
    const other = machines.get('second')!;
    const posted = await ops(await other.withCode(approve), other.env);
    assert.equal(posted.code, 0, posted.stderr);
  });
});
