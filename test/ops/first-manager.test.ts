import assert from 'node:assert/strict';
import { codeAt, STEP_MS } from '../../src/staff/authenticator.js';
import { instant } from '../../src/core/instant.js';
import { text } from '../helpers/bank.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

describe('the first manager of the staff', () => {
  let test: TestDatabase;
  let people: SignedInPeople;
  let adminUrl: string;
  const ADD = words`staff add ana --can manage,approve`;

  beforeEach(async () => {
    adminUrl = process.env.TEST_MYSQL_ADMIN_URL ?? '';
    assert.ok(adminUrl, 'TEST_MYSQL_ADMIN_URL is not set');
    test = await ownDatabase('first');
    people = new SignedInPeople(test);
  });
  afterEach(async () => {
    people.remove();
    await test.remove();
  });

  const { ops, one: json } = commandLine(() => people.env);
  /** With this address of an administrator. */
  const by = (url: string) => commandLine(() => ({ ...people.env, MYSQL_ADMIN_URL: url }));
  async function fails(
    message: RegExp,
    args: readonly string[],
    run: typeof ops = ops,
  ): Promise<void> {
    const before = await test.sql('SELECT * FROM staff');
    const { code, stderr } = await run(...args);
    assert.notEqual(code, 0);
    assert.match(stderr, message);
    assert.deepEqual(await test.sql('SELECT * FROM staff'), before);
  }

  it('only a database user who can change the tables adds the first manager of the staff', async () => {
    await fails(
      /no member of the staff has the right manage yet.*MYSQL_ADMIN_URL=… npm run ops -- staff add/,
      ADD,
    );
    const wrong = new URL(adminUrl);
    wrong.password = 'wrong';
    for (const url of [test.url, wrong.href])
      await fails(/the user in MYSQL_ADMIN_URL may not change the tables/, ADD, by(url).ops);
    const admin = by(adminUrl);
    const mayNot = words`staff add ana --can approve`;
    await fails(/the first of the staff must have manage/, mayNot, admin.ops);
    const { secret, can } = await admin.one(...ADD);
    assert.deepEqual(can, ['approve', 'manage']);
    const [line] = await test.sql(
      "SELECT actor_claimed, channel FROM audit_log WHERE action='staff.set'",
    );
    assert.match(text(line?.actor_claimed), /^mysql \w+@/);
    assert.equal(line?.channel, 'ops');
    await json('login', 'ana', '--code', codeAt(text(secret), instant(Date.now())));
    assert.equal((await json(...words`staff add leo --can manage --yes`)).name, 'leo');
  });

  it("the administrator's database user can add only the first manager of the staff", async () => {
    const admin = by(adminUrl);
    await admin.one(...ADD);
    await fails(/sign in first/, words`staff add eva --can manage`, admin.ops);
    await fails(/sign in first/, words`tenants add acme`, admin.ops);
  });

  it('gets a new authenticator in place of a lost one, and all sessions end', async () => {
    const { secret: lost } = await by(adminUrl).one(...ADD);
    await json('login', 'ana', '--code', codeAt(text(lost), instant(Date.now())));
    await test.sql(
      'UPDATE staff SET active=0, ops_failed_codes=9, ops_locked_until=NOW(3) + INTERVAL 1 HOUR',
    );
    const { secret } = await by(adminUrl).one(...ADD);
    assert(typeof secret === 'string' && secret !== lost);
    await fails(/session/, words`staff add leo --can manage`);
    // The code of now has the number of one that was used.
    await json('login', 'ana', '--code', codeAt(secret, instant(Date.now() + STEP_MS)));
    assert.equal((await json(...words`staff add leo --can manage --yes`)).name, 'leo');
  });

  it("no command except the creation of the first manager uses the administrator's database user", async () => {
    for (const args of [
      words`tenants add acme`,
      words`staff add-service nightly --can manage`,
      words`staff deactivate ana`,
    ])
      await fails(/no member of the staff has the right manage yet/, args, by(adminUrl).ops);
  });

  it('the last manager of the staff cannot be removed', async () => {
    await people.signIn('ana', ['manage']);
    await test.sql("UPDATE staff SET active=0 WHERE name<>'ana'");
    const last = /ana is the last person who may manage the staff: let another one manage first/;
    await fails(last, ['staff', 'deactivate', 'ana', '--yes']);
    await fails(last, ['staff', 'add', 'ana', '--can', 'approve', '--yes']);
    await json(...words`staff add leo --can manage --yes`);
    assert.deepEqual((await json(...words`staff add ana --can approve --yes`)).can, ['approve']);
    await fails(/ana lacks the right to manage/, ['staff', 'deactivate', 'leo', '--yes']);
  });
});
