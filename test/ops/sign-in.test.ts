import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { STAFF_RIGHTS } from '../../src/db/entities/staff.js';
import { openSession } from '../../src/staff/sessions.js';
import { codeAt } from '../../src/staff/authenticator.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { idLiteral, type Json, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { addStaff, codeOf, forgetCodes, proven, staffPartsOf } from '../helpers/staff.js';
import { commandLine, type Ran, run, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const HOUR_MS = 3_600_000;

const test = await testDatabase();
const maria = await addStaff(test.database, { name: 'María Gómez', rights: ['approve', 'manage'] });

describe('signing in on the command line', () => {
  let people: SignedInPeople;

  beforeEach(async () => {
    people = new SignedInPeople(test);
    await forgetCodes(test.sql);
    await test.change('UPDATE staff SET ops_failed_codes=0, ops_locked_until=NULL');
  });
  afterEach(() => people.remove());

  const ops = (
    args: readonly string[],
    env: Record<string, string> = {},
    input = '',
  ): Promise<Ran> => run('src/ops/main.js', args, { ...people.env, ...env }, input);
  const own = commandLine(() => people.env);
  const { one: json, rows } = own;
  const fails = (message: RegExp, args: readonly string[]): Promise<void> =>
    own.fails(1, message, ...args);
  const lines = async (): Promise<Json[]> =>
    test.sql(
      'SELECT action, actor_claimed AS actor, subject_id, details FROM audit_log ORDER BY id',
    );
  /** The lines that were recorded meanwhile. */
  async function recorded(work: () => Promise<unknown>): Promise<Json[]> {
    const before = (await lines()).length;
    await work();
    return (await lines()).slice(before);
  }

  it('accepts a code as an option or from standard input, and lasts 8 hours', async () => {
    const signedIn = await json('login', 'maria  gomez', '--code', codeOf(maria));
    assert.deepEqual([signedIn.name, signedIn.can], ['María Gómez', ['approve', 'manage']]);
    const lasts = Date.parse(text(signedIn.expires_at)) - Date.now();
    assert.ok(lasts > 7.9 * HOUR_MS && lasts <= 8 * HOUR_MS);
    assert.equal(statSync(people.path).mode & 0o777, 0o600);
    await forgetCodes(test.sql);
    const again = await ops(['login', 'MARÍA GÓMEZ'], {}, ` ${codeOf(maria)}\n`);
    assert.equal(again.code, 0, again.stderr);
    assert.equal(people.file.list().length, 1);
    const silent = await ops(['login', 'maria gomez']);
    assert.deepEqual([silent.code, /--code is required/.test(silent.stderr)], [2, true]);
  });

  it('stores its token in a private file, and only a hash in the database', async () => {
    await json('login', maria.name, '--code', codeOf(maria));
    const token = people.file.find()?.token ?? '';
    assert.match(token, /^sst_[\w-]{43}$/);
    const rows = await test.sql('SELECT * FROM staff_sessions');
    assert.ok(!JSON.stringify(rows).includes(token));
    for (const args of [['whoami'], ['whoami', '--json'], ['staff', 'sessions', '--json']])
      assert.ok(!(await ops(args)).stdout.includes(token));
  });

  it('shows the current and other signed-in people, and --as chooses one', async () => {
    await people.signIn('leo', ['read']);
    await json('login', maria.name, '--code', codeOf(maria));
    const shown = await json('whoami');
    assert.deepEqual([shown.name, shown.kind, shown.others], [maria.name, 'person', ['leo']]);
    assert.deepEqual((await json('whoami', '--as', 'LEO')).can, ['read']);
    const called = /no member of the staff is called lea: did you mean leo\?/;
    await fails(called, ['whoami', '--as', 'lea']);
    people.file.drop('leo');
    await fails(/leo is not signed in here: npm run ops -- login leo\n/, ['whoami', '--as', 'LEO']);
  });

  it('with a wrong code, a used code or an unknown name is refused and recorded once', async () => {
    const code = codeOf(maria);
    await json('login', maria.name, '--code', code);
    const wrong = codeAt('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', instant(Date.now()));
    for (const [name, given, message] of [
      [maria.name, code, /the code was used before; each code works once/],
      [maria.name, wrong, /the code is wrong/],
      [maria.name, codeOf(maria, instant(Date.now() - 10 * 60_000)), /the code is wrong/],
      ['nobody', wrong, /not active staff\n/],
    ] as const) {
      const [refused, ...more] = await recorded(() =>
        fails(message, ['login', name, '--code', given]),
      );
      assert.deepEqual(
        [refused?.action, refused?.actor, more],
        ['staff.sign_in_refused', name, []],
      );
    }
    assert.equal(people.file.list().length, 1);
  });

  it('is locked after wrong codes, even for a right code, and the list of the staff shows until when', async () => {
    for (let count = 0; count < 5; count += 1)
      await fails(/the code is wrong|locked until/, ['login', maria.name, '--code', '000000']);
    await fails(/is locked for [0-9]+ (seconds?|minutes)/, [
      'login',
      maria.name,
      '--code',
      codeOf(maria),
    ]);
    const listed = (await rows('staff', 'list')).find(({ name }) => name === maria.name);
    assert.ok(Date.parse(text(listed?.ops_locked_until)) > Date.now());
  });

  it('a session of the command line ends by logout, on one machine or everywhere, and logging out again is not an error', async () => {
    const other = new SignedInPeople(test);
    try {
      await other.signIn(maria.name, maria.rights);
      await people.signIn(maria.name, maria.rights);
      const ended = { name: maria.name, ended_sessions: 1, acts_now: null };
      assert.deepEqual(await json('logout'), ended);
      await fails(/nobody is signed in/, ['logout']);
      assert.equal((await run('src/ops/main.js', ['whoami'], other.env)).code, 0);
      await people.signIn(maria.name, maria.rights);
      assert.ok(Number((await json('logout', '--everywhere')).ended_sessions) >= 2);
      assert.match((await run('src/ops/main.js', ['whoami'], other.env)).stderr, /has ended/);
      const late = await run('src/ops/main.js', ['logout', '--json'], other.env);
      assert.deepEqual(JSON.parse(late.stdout), { ...ended, ended_sessions: 0 });
      assert.equal(other.file.find(), undefined);
    } finally {
      other.remove();
    }
  });

  it("a session of the command line is ended by a manager of the staff: one session, or all of a person's", async () => {
    await people.signIn('leo', ['read']);
    await people.signIn('boss', ['manage']);
    const session = (await rows('staff', 'sessions')).find(({ name }) => name === 'leo');
    assert.deepEqual([session?.channel, session?.place], ['ops', 'test']);
    const revoked = await json('staff', 'revoke-session', text(session?.id));
    assert.deepEqual(revoked, { ended_sessions: 1 });
    await fails(/the session of leo has ended/, ['whoami', '--as', 'leo']);
    assert.ok(
      !z
        .array(z.string())
        .parse((await json('whoami')).others)
        .includes('leo'),
    );
    await people.signIn('leo', ['read']);
    const boss = await people.signIn('boss', ['manage']);
    const { stdout } = await ops(['logout', '--as', 'leo']);
    assert.match(stdout, new RegExp(`^leo has signed out; ${boss.name} acts from now on\\.\n`));
    await people.signIn('leo', ['read']);
    await people.signIn('boss', ['manage']);
    assert.ok(Number((await json('staff', 'revoke-session', 'LEO')).ended_sessions) >= 1);
    assert.deepEqual(await json('staff', 'revoke-session', 'leo'), { ended_sessions: 0 });
  });

  it('a session of the command line ends once it has expired or the person is no longer active, and a session of the support desk is none', async () => {
    const leo = await people.signIn('leo', ['manage']);
    const act = ['aliases', 'reserve', '$signed-in'];
    await test.change(
      `UPDATE staff_sessions SET expires_at=NOW(3) WHERE staff_id=${idLiteral(leo.id)}`,
    );
    await fails(/the session of leo has ended: npm run ops -- login leo\n/, act);
    await people.signIn('leo', ['manage']);
    await test.change(`UPDATE staff SET active=0 WHERE id=${idLiteral(leo.id)}`);
    await fails(/the session of leo has ended/, act);
    const boss = await people.signIn('boss', ['manage']);
    const byDesk = proven(boss, 'support');
    const desk = await openSession(staffPartsOf(test.database), byDesk, 'support', 'browser');
    people.file.keep({ ...people.file.find()!, token: desk.token }, systemClock());
    await fails(/the session of boss has ended/, act);
    assert.deepEqual(await test.sql("SELECT 1 FROM reserved_aliases WHERE alias='$signed-in'"), []);
  });

  it('is required for commands that change something, but not for reading', async () => {
    await fails(/^error: sign in first: npm run ops -- login NAME\n$/, words`tenants add nobody`);
    assert.equal((await ops(['tenants', 'list'])).code, 0);
    await people.signIn('leo');
    chmodSync(people.path, 0o644);
    await fails(/other users can read .*: chmod 600/, ['tenants', 'add', 'nobody']);
    assert.equal((await ops(['tenants', 'list'])).code, 0);
  });

  it('is not needed by programs: an active service acts by its key, which is shown once', async () => {
    await people.signIn('boss', STAFF_RIGHTS);
    const made = await json('staff', 'add-service', 'nightly', '--can', 'manage', '--yes');
    const key = text(made.key);
    assert.match(key, /^ssk_/);
    const env = { OPS_KEY: key, OPS_SESSIONS: `${people.path}.none` };
    const reserve = (name: string, more: Record<string, string> = env) =>
      ops(['aliases', 'reserve', name], more);
    const [line] = await recorded(async () => assert.equal((await reserve('$by-nightly')).code, 0));
    assert.deepEqual([line?.action, line?.actor], ['alias.reserve', 'nightly']);
    const service = commandLine(() => ({ ...people.env, ...env }));
    assert.equal((await service.one('whoami')).kind, 'service');
    assert.equal((await reserve('$by-boss', { OPS_KEY: key })).code, 0);
    const byBoss = await recorded(() =>
      ops(['aliases', 'unreserve', '$by-boss', '--as', 'boss', '--yes'], { OPS_KEY: key }),
    );
    assert.equal(byBoss[0]?.actor, 'boss');
    const noPerson = /not active staff|names a service|lacks|no authenticator/;
    await fails(noPerson, words`login nightly --code 123456`);
    const renewed = text(
      (await json('staff', 'add-service', 'nightly', '--can', 'manage', '--yes')).key,
    );
    assert.match((await reserve('$old-key')).stderr, /OPS_KEY is not the key of an active service/);
    await json('staff', 'deactivate', 'nightly', '--yes');
    assert.match(
      (await reserve('$gone', { ...env, OPS_KEY: renewed })).stderr,
      /OPS_KEY is not the key of an active service/,
    );
    assert.ok(!readFileSync(people.path, 'utf8').includes('ssk_'));
  });

  it('the secret of a new authenticator is shown once: for the app, for typing and as a QR code', async () => {
    await people.signIn('boss', STAFF_RIGHTS);
    const added = await json('staff', 'add', 'zoë', '--can', 'read', '--yes');
    const url = new URL(text(added.otpauth_url));
    assert.deepEqual([url.protocol, url.searchParams.get('secret')], ['otpauth:', added.secret]);
    const code = codeAt(text(added.secret), instant(Date.now()));
    const signedIn = await json(...words`login zoe --code ${code}`);
    assert.deepEqual([signedIn.name, signedIn.can], ['zoë', ['read']]);
    const again = await json(
      'staff',
      'add',
      'ZOE',
      '--can',
      'read,cancel',
      '--as',
      'boss',
      '--yes',
    );
    assert.deepEqual(
      [again.name, again.can, 'secret' in again],
      ['zoë', ['read', 'cancel'], false],
    );
    const shown = await ops(['staff', 'add', 'max', '--can', 'read', '--as', 'boss', '--yes']);
    assert.match(shown.stdout, /otpauth:\/\/totp\/[^]*secret[^]*[▀▄█]{20}/);
    assert.match(shown.stderr, /shown only now/);
    const everything = JSON.stringify(await test.sql('SELECT * FROM audit_log'));
    assert.ok(!everything.includes(text(added.secret)));
  });
});
