import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { instant } from '../../src/core/instant.js';
import { type Staff, STAFF_RIGHTS, type StaffRight } from '../../src/db/entities/staff.js';
import { setService } from '../../src/staff/people.js';
import { asksForCode, STAFF_ACTIONS } from '../../src/staff/rules.js';
import { signIn } from '../../src/staff/sessions.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { idLiteral, type Json } from '../helpers/bank.js';
import { testDatabase, type TestDatabase } from '../helpers/database.js';
import { codeOf, staffPartsOf } from '../helpers/staff.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';
import {
  type ActionCommands,
  type ActionName,
  makeStaffActionWorld,
} from './staff-action-world.js';
import { type Ran, run, TEST_KEYS, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const ACTS = Object.keys(STAFF_ACTIONS).filter(
  (act) => !act.startsWith('restore.'),
) as ActionName[];
/** The tables that actions change. Of the staff only the columns of a reset: wrong codes are counted. */
const CHANGED = [
  ...words`accounts adjustments approvals balances batches entries events holds pay_ins`,
  ...words`outbox payout_rail_events payout_resolutions payouts staff_factor_resets transfers webhook_endpoints`,
];
const WRONG = '000000';

/** Every action of the staff by the command line, with each right and each proof: who may, does; who may not leaves a line. */
/** Actions whose commands name the resource by a reference or a name, and not by its id. */
const BY_NAME: readonly string[] = [
  'adjustment.approve',
  'adjustment.reject',
  'staff.reset_propose',
  'staff.reset_approve',
];

describe('staff actions on the command line', () => {
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
  async function addService(wanted: Parameters<typeof setService>[1]): Promise<void> {
    const { key } = await setService(staffPartsOf(test.database), wanted, TEST_ACTOR);
    keys.set(wanted.name, key);
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
      await addService(wanted);
    }
    await addService({ name: 'robot', rights: STAFF_RIGHTS });
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
      'SELECT action, actor_claimed AS actor, channel, subject_id, HEX(tenant_id) AS tenant FROM audit_log ORDER BY id',
    );
  const state = async (): Promise<Json[]> => [
    ...(await test.sql(`CHECKSUM TABLE ${CHANGED.join(',')}`)),
    ...(await test.sql('SELECT id, rights, active, factor_secret FROM staff ORDER BY id')),
  ];
  const forgive = () => test.change('UPDATE staff SET ops_failed_codes=0, ops_locked_until=NULL');

  /** Asserts that nothing changed, and that a named person left a line: `actor`. */
  async function refused(act: ActionName, given: Given): Promise<void> {
    const [recorded, before] = [await lines(), await state()];
    const args = [...commands[act], ...(given.args ?? [])];
    const { code, stdout, stderr } = await ops(args, given.env);
    const how = `${act}: ${given.how}: ${stderr}`;
    assert.deepEqual([code, stdout], [given.code ?? 1, ''], how);
    assert.match(stderr, given.says, how);
    assert.deepEqual(await state(), before, how);
    const left = (await lines()).slice(recorded.length);
    assert.deepEqual(
      left.map(({ action, actor, channel }) => [action, actor, channel]),
      given.actor === null ? [] : [[`${act}_refused`, given.actor, 'ops']],
      how,
    );
    const subject = String(left[0]?.subject_id);
    const isNamed = commands[act].includes(subject) || BY_NAME.includes(act);
    if (given.actor !== null) assert.ok(isNamed, how);
    await forgive();
  }

  interface Given {
    readonly how: string;
    readonly env: Record<string, string>;
    readonly args?: readonly string[];
    readonly says: RegExp;
    /** The person whom the line names; null without a line. */
    readonly actor: string | null;
    /** The exit code (default: 1). */
    readonly code?: number;
  }

  const service = (key: string) => ({
    MYSQL_URL: test.url,
    ENCRYPTION_KEYS: TEST_KEYS,
    OPS_KEY: key,
  });

  function withoutProof(act: ActionName): Given[] {
    const { right } = STAFF_ACTIONS[act];
    const says = /has ended: npm run ops -- login/;
    const advice = `staff add no-${right} --can (\\S+,)?${right}(,\\S+)?\n`;
    const lacks = new RegExp(`no-${right} lacks the right to ${right}; .*${advice}`);
    const key = keys.get(`service-no-${right}`)!;
    const elsewhere = { ...envOf('able'), OPS_SESSIONS: '/nonexistent/sessions' };
    const serviceSays = asksForCode(act, 'ops') ? /never counts as a person/ : /lacks the right/;
    const given = (how: string, env: Given['env'], says: RegExp, actor: string | null): Given => ({
      ...{ how, env, says, actor },
    });
    return [
      given('a person without the right', envOf(`no-${right}`), lacks, `no-${right}`),
      given('an old session', envOf('over'), says, 'over'),
      given('a revoked session', envOf('revoked'), says, 'revoked'),
      given('a session of somebody who is no longer active', envOf('gone'), says, 'gone'),
      given('a file that others can read', envOf('open'), /other users can read/, null),
      given('nobody', elsewhere, /sign in first/, null),
      given('no key', service('ssk_none'), /not the key of an active service/, null),
      given('a service without the right', service(key), serviceSays, `service-no-${right}`),
    ];
  }

  async function withoutCode(): Promise<Given[]> {
    const able = personOf('able');
    const used = await machines.get('able')!.code(able);
    const deps = staffPartsOf(test.database);
    const place = { channel: 'support', place: 'test' } as const;
    assert.ok('session' in (await signIn(deps, { name: able.name, code: used, ...place })));
    const by = (how: string, code: string, says: RegExp): Given => ({
      ...{ how, env: envOf('able'), says, actor: 'able', args: ['--code', code] },
    });
    const noCode = { how: 'no code', env: envOf('able'), code: 2, actor: null };
    const robot = { how: 'a service', env: service(keys.get('robot')!), actor: 'robot' };
    return [
      { ...noCode, says: /--code is required without a terminal/ },
      by('an empty code', '', /no code was given; give what the authenticator shows now/),
      by('a wrong code', WRONG, /the code is wrong; give what the authenticator shows now/),
      by('a code that is none', "1' OR '1", /the code is wrong/),
      by('a used code', used, /the code was used before/),
      by('an old code', codeOf(able, instant(Date.now() - 10 * 60_000)), /the code is wrong/),
      by("somebody else's code", codeOf(personOf('second')), /the code is wrong/),
      { ...robot, says: /never counts as a person.*--as/ },
    ];
  }

  for (const act of ACTS) {
    it(`the command line refuses ${act} without the right or without a proof, with a line in the audit log`, async () => {
      for (const given of withoutProof(act)) await refused(act, given);
      if (asksForCode(act, 'ops'))
        for (const given of await withoutCode()) await refused(act, given);
    });
  }

  for (const act of ACTS)
    it(`the command line does ${act} for a person who has the right${asksForCode(act, 'ops') ? ' and gives a code' : ''}`, async () => {
      const needsCode = asksForCode(act, 'ops');
      const machine = machines.get('able')!;
      const before = (await lines()).length;
      const args = needsCode ? await machine.withCode(commands[act]) : commands[act];
      const { code, stderr } = await ops(args, machine.env);
      assert.equal(code, 0, stderr);
      const left = (await lines()).slice(before);
      const own = left.find(({ action }) => action === act);
      assert.deepEqual([own?.actor, own?.channel], ['able', 'ops'], JSON.stringify(left));
      for (const refusal of (await lines()).filter(({ action }) => action === `${act}_refused`))
        assert.deepEqual(
          [refusal.tenant, BY_NAME.includes(act) ? refusal.subject_id : null],
          [own?.tenant, BY_NAME.includes(act) ? own?.subject_id : null],
          `${act} refused: of the tenant, and about the resource, of the action`,
        );
    });

  it('the command line lets a service do, by its key, everything that one person may do alone', async () => {
    const env = service(keys.get('robot')!);
    const { code, stderr } = await ops(['aliases', 'reserve', '$matrix'], env);
    assert.equal(code, 0, stderr);
    assert.deepEqual((await lines()).at(-1)?.actor, 'robot');
  });
});
