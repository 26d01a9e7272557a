import assert from 'node:assert/strict';
import { z } from 'zod';
import { codeAt, STEP_MS } from '../../src/staff/authenticator.js';
import { instant } from '../../src/core/instant.js';
import { type Json, text } from '../support/bank.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { type Ran, run } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const OBJECT = z.record(z.string(), z.unknown());

describe('the first who manages the staff', () => {
  let test: TestDatabase;
  let people: SignedInPeople;
  let adminUrl: string;
  const ADD = ['staff', 'add', 'ana', '--can', 'manage,approve', '--json'];

  beforeEach(async () => {
    adminUrl = process.env.TEST_MYSQL_ADMIN_URL ?? '';
    assert.ok(adminUrl, 'TEST_MYSQL_ADMIN_URL is not set');
    test = await freshDatabase(
      adminUrl,
      `money_first_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`,
    );
    people = new SignedInPeople(test);
  });
  afterEach(async () => {
    people.remove();
    await test.sql(`DROP DATABASE ${test.name}`);
    await test.sql(`DROP USER '${test.name}'@'%'`);
    await test.close();
  });

  const ops = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
    run('src/ops/main.js', args, { ...people.env, ...env });
  async function json(args: readonly string[], env: Record<string, string> = {}): Promise<Json> {
    const { code, stdout, stderr } = await ops([...args, '--json'], env);
    assert.equal(code, 0, stderr);
    return OBJECT.parse(JSON.parse(stdout));
  }
  async function fails(
    message: RegExp,
    args: readonly string[],
    env: Record<string, string> = {},
  ): Promise<void> {
    const before = await test.sql('SELECT * FROM staff');
    const { code, stderr } = await ops(args, env);
    assert.notEqual(code, 0);
    assert.match(stderr, message);
    assert.deepEqual(await test.sql('SELECT * FROM staff'), before);
  }

  it('the first manager of the staff is added by a user who can change the tables, and by nobody else', async () => {
    await fails(
      /no member of the staff has the right manage yet.*MYSQL_ADMIN_URL=… npm run ops -- staff add/,
      ADD,
    );
    await fails(/the user in MYSQL_ADMIN_URL may not change the tables/, ADD, {
      MYSQL_ADMIN_URL: test.url,
    });
    const wrong = new URL(adminUrl);
    wrong.password = 'wrong';
    await fails(/the user in MYSQL_ADMIN_URL may not change the tables/, ADD, {
      MYSQL_ADMIN_URL: wrong.href,
    });
    const unreadable = ['staff', 'add', 'ana', '--can', 'approve'];
    await fails(/the first of the staff must have manage/, unreadable, {
      MYSQL_ADMIN_URL: adminUrl,
    });
    const { secret, can } = await json(ADD, { MYSQL_ADMIN_URL: adminUrl });
    assert.deepEqual(can, ['approve', 'manage']);
    const [line] = await test.sql(
      "SELECT actor_claimed, channel FROM audit_log WHERE action='staff.set'",
    );
    assert.match(text(line?.actor_claimed), /^mysql \w+@/);
    assert.equal(line?.channel, 'ops');
    await json(['login', 'ana', '--code', codeAt(text(secret), instant(Date.now()))]);
    assert.equal((await json(['staff', 'add', 'leo', '--can', 'manage'])).name, 'leo');
  });

  it("the first manager of the staff is the last whom the administrator's database user adds", async () => {
    await json(ADD, { MYSQL_ADMIN_URL: adminUrl });
    await fails(/sign in first/, ['staff', 'add', 'eva', '--can', 'manage'], {
      MYSQL_ADMIN_URL: adminUrl,
    });
    await fails(/sign in first/, ['tenants', 'add', 'acme'], { MYSQL_ADMIN_URL: adminUrl });
  });

  it('the first manager of the staff gets a new authenticator though there was one, which may be what was lost, and is signed in nowhere', async () => {
    const { secret: lost } = await json(ADD, { MYSQL_ADMIN_URL: adminUrl });
    await json(['login', 'ana', '--code', codeAt(text(lost), instant(Date.now()))]);
    await test.sql(
      'UPDATE staff SET active=0, ops_failed_codes=9, ops_locked_until=NOW(3) + INTERVAL 1 HOUR',
    );
    const { secret } = await json(ADD, { MYSQL_ADMIN_URL: adminUrl });
    assert(typeof secret === 'string' && secret !== lost);
    await fails(/session/, ['staff', 'add', 'leo', '--can', 'manage']);
    // The code of now has the number of one that was used.
    await json(['login', 'ana', '--code', codeAt(secret, instant(Date.now() + STEP_MS))]);
    assert.equal((await json(['staff', 'add', 'leo', '--can', 'manage'])).name, 'leo');
  });

  it('the first manager of the staff may do nothing else as the administrator: no other command asks for it', async () => {
    for (const args of [
      ['tenants', 'add', 'acme'],
      ['staff', 'add-service', 'nightly', '--can', 'manage'],
      ['staff', 'deactivate', 'ana'],
    ])
      await fails(/no member of the staff has the right manage yet/, args, {
        MYSQL_ADMIN_URL: adminUrl,
      });
  });

  it('the last manager of the staff cannot be removed: somebody must remain who may manage', async () => {
    await people.signIn('ana', ['manage']);
    await test.sql("UPDATE staff SET active=0 WHERE name<>'ana'");
    const last = /ana is the last person who may manage the staff: let another one manage first/;
    await fails(last, ['staff', 'deactivate', 'ana']);
    await fails(last, ['staff', 'add', 'ana', '--can', 'approve']);
    await json(['staff', 'add', 'leo', '--can', 'manage']);
    assert.deepEqual((await json(['staff', 'add', 'ana', '--can', 'approve'])).can, ['approve']);
    await fails(/ana lacks the right to manage/, ['staff', 'deactivate', 'leo']);
  });
});
