import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { Authenticator } from '../../src/access/authenticator.js';
import { DEFAULT_QUOTAS, readQuotas } from '../../src/access/quotas.js';
import { asUuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { feeSchedules, tenants } from '../../src/db/entities/parties.js';
import { staff, STAFF_RIGHTS } from '../../src/db/entities/staff.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { forgetCodes } from '../helpers/staff.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound, balanceOf } from '../helpers/world.js';
import { run, TEST_KEYS, words } from './ops.js';

const account = z.strictObject({
  id: z.uuid(),
  alias: z.string().nullable(),
  phone: z.string().nullable(),
  type: z.enum(['person', 'business']),
  display_name: z.string(),
});
const tenant = z.strictObject({
  id: z.uuid(),
  accounts: z.record(z.string(), account),
  tokens: z.record(z.string(), z.string()),
});
const shape = z.strictObject({
  tenants: z.strictObject({ acme: tenant, globex: tenant, initech: tenant, hooli: tenant }),
});
type World = z.infer<typeof shape>;

describe('the demo world', () => {
  let test: TestDatabase;
  let folder: string;
  let tokensFile: string;
  let staffFile: string;
  let world: World;

  before(async () => {
    test = await ownDatabase('demo');
    folder = mkdtempSync(join(tmpdir(), 'demo-world-'));
    tokensFile = join(folder, 'tokens.json');
    staffFile = join(folder, 'staff.json');
    world = await make();
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await test.remove();
  });

  async function make(): Promise<World> {
    const ran = await run('scripts/demo-world.js', [], {
      MYSQL_URL: test.url,
      DEMO_TOKENS_FILE: tokensFile,
      DEMO_STAFF_FILE: staffFile,
      ENCRYPTION_KEYS: TEST_KEYS,
    });
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(ran.stdout.trimEnd().split('\n').length, 1);
    return shape.parse(JSON.parse(ran.stdout));
  }

  const caller = (token: string | undefined) =>
    new Authenticator(test.database.reader, systemClock).authenticate(token ?? '', '127.0.0.1');

  it('has the accounts that docs/demo-world.md lists, with their money, all of them verified but carla', async () => {
    const expected = {
      acme: [
        ['treasury', '$acme-treasury', 'business', 50_000_000_000n, 5_000_000_000n],
        ['ana', '$ana', 'person', 500_000_000n, 500_000_000n],
        ['bruno', '$bruno', 'person', 0n, 0n],
        ['carla', '$carla', 'person', 100_000_000n, 0n],
        ['guarded', '$acme-guarded', 'business', 5_000_000_000n, 0n],
        ['fees', null, 'business', 0n, 0n],
      ],
      globex: [
        ['treasury', '$globex-treasury', 'business', 50_000_000_000n, 5_000_000_000n],
        ['dora', '$dora', 'person', 0n, 0n],
      ],
      initech: [
        ['treasury', '$initech-treasury', 'business', 50_000_000_000n, 5_000_000_000n],
        ['emil', '$emil', 'person', 0n, 0n],
      ],
      hooli: [
        ['treasury', '$hooli-treasury', 'business', 50_000_000_000n, 5_000_000_000n],
        ['gavin', '$gavin', 'person', 0n, 0n],
        ['fees', null, 'business', 0n, 0n],
      ],
    };
    const totalOf = async (id: string, asset: 'COPM' | 'DUSD'): Promise<bigint> => {
      const { available, held } = await balanceOf(test.database, asUuid(id), asset);
      return available + held;
    };
    for (const [name, of] of Object.entries(world.tenants)) {
      const found = Object.entries(of.accounts).map(async ([account, { id, alias, type }]) => [
        ...[account, alias, type, await totalOf(id, 'COPM'), await totalOf(id, 'DUSD')],
      ]);
      assert.deepEqual(await Promise.all(found), expected[name as keyof World['tenants']]);
    }
    const { ana } = world.tenants.acme.accounts;
    assert.deepEqual([ana?.phone, ana?.display_name], ['+573001112233', 'Ana M. P.']);
    const unverified = await test.sql(
      "SELECT name FROM accounts WHERE type<>'system' AND verified_at IS NULL",
    );
    assert.deepEqual(unverified, [{ name: 'Carla Gómez' }]);
    await assertLedgerSound(test.database);
  });

  const openBatches = async (): Promise<bigint[]> => {
    const all = Object.values(world.tenants).map(({ id }) =>
      readQuotas(test.database.reader, asUuid(id)),
    );
    return (await Promise.all(all)).map(({ limits }) => limits.openBatches);
  };

  it('the owners of the demo world hold the scope access, and no token of a single scope does', async () => {
    for (const of of Object.values(world.tenants))
      assert.ok((await caller(of.tokens.owner))?.scopes.includes('access'));
    assert.deepEqual(
      [world.tenants.acme.tokens.access, (await caller(world.tenants.acme.tokens.read))?.scopes],
      [undefined, ['read']],
    );
  });

  it('the next start of the demo world replaces a token that lacks a scope of its plan', async () => {
    await test.sql("UPDATE tokens SET scopes='read' WHERE name='demo viewer'");
    const before = world.tenants.acme.tokens.viewer;
    world = await make();
    assert.notEqual(world.tenants.acme.tokens.viewer, before);
    assert.ok((await caller(world.tenants.acme.tokens.viewer))?.scopes.includes('access'));
  });

  it('charges in COPM for bonuses and payouts of acme, and for transfers of hooli', async () => {
    for (const { id, accounts } of [world.tenants.acme, world.tenants.hooli]) {
      const row = await test.database.reader.find(tenants, { id: asUuid(id) });
      assert.equal(row?.feeAccountId, accounts.fees?.id);
    }
    const rows = await test.database.reader.select(feeSchedules, {}, { orderBy: ['operation'] });
    assert.deepEqual(
      rows.map((fee) => [
        fee.operation,
        fee.asset,
        fee.flatRaw,
        fee.basisPoints,
        fee.floorRaw,
        fee.capRaw,
      ]),
      [
        ['transfer', 'COPM', 0n, 10n, 100n, null],
        ['bonus', 'COPM', 0n, 10n, 100n, 500_000n],
        ['payout', 'COPM', 0n, 10n, 100n, 500_000n],
      ],
    );
  });

  it('the next start of the demo world keeps it, including changes made by people', async () => {
    await test.sql("UPDATE accounts SET alias='$anita', status='frozen' WHERE alias='$ana'");
    await test.sql('UPDATE fee_schedules SET basis_points=20');
    await test.sql('UPDATE tenant_quotas SET open_batches=7');
    await test.sql("UPDATE member_roles SET role='admin' WHERE role='viewer'");
    const before = await counts();
    const again = await make();
    assert.deepEqual(await counts(), before);
    const { ana } = world.tenants.acme.accounts;
    assert.ok(ana !== undefined);
    world.tenants.acme.accounts.ana = { ...ana, alias: '$anita' };
    assert.deepEqual(again, world);
    assert.deepEqual(await test.sql('SELECT DISTINCT basis_points AS points FROM fee_schedules'), [
      { points: '20' },
    ]);
    assert.deepEqual(await test.sql("SELECT 1 FROM member_roles WHERE role='viewer'"), []);
    assert.deepEqual(await openBatches(), [7n, 7n, 7n, 7n]);
  });

  it('the missing parts of the demo world are created again', async () => {
    await test.sql("DELETE FROM fee_schedules WHERE operation='bonus'");
    await test.sql("DELETE FROM member_roles WHERE role='operator'");
    await test.sql('DELETE FROM tenant_quotas');
    assert.deepEqual(await make(), world);
    assert.ok((await openBatches()).every((most) => most === 100n * DEFAULT_QUOTAS.openBatches));
    assert.equal((await test.sql("SELECT 1 FROM member_roles WHERE role='operator'")).length, 6);
    assert.equal((await test.sql('SELECT 1 FROM fee_schedules')).length, 3);
  });

  it('has new tokens when their file was lost, and the old ones are revoked', async () => {
    assert.equal(statSync(tokensFile).mode & 0o777, 0o600, 'others can read the tokens');
    rmSync(tokensFile);
    const again = await make();
    for (const [name, of] of Object.entries(world.tenants))
      for (const [key, token] of Object.entries(of.tokens)) {
        const fresh = again.tenants[name as keyof World['tenants']].tokens[key];
        assert.notEqual(fresh, token);
        assert.notEqual(await caller(fresh), null);
        assert.equal(await caller(token), null);
      }
    assert.ok(readFileSync(tokensFile, 'utf8').includes(again.tenants.acme.tokens.owner ?? 'none'));
    await assertLedgerSound(test.database);
  });

  describe('the staff of the demo world', () => {
    const ENV = () => ({
      MYSQL_URL: test.url,
      DEMO_STAFF_FILE: staffFile,
      ENCRYPTION_KEYS: TEST_KEYS,
    });
    async function printed(name: string): Promise<string> {
      const { code, stdout, stderr } = await run('scripts/demo-code.js', [name], ENV());
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^\d{6}\n$/);
      return stdout.trim();
    }
    const login = async (name: string): Promise<number | null> => {
      const env = { ...ENV(), OPS_SESSIONS: join(folder, 'sessions.json') };
      return (await run('src/ops/main.js', ['login', name, '--code', await printed(name)], env))
        .code;
    };

    it('are two people with every right and an authenticator, and the service that made it', async () => {
      const rows = await test.database.reader.select(staff, {}, { orderBy: ['name'] });
      assert.deepEqual(
        rows.map(({ name, kind, active, rights, factorSecret }) => [
          name,
          kind,
          active,
          rights,
          factorSecret !== null,
        ]),
        [
          ['demo-lead', 'person', true, STAFF_RIGHTS, true],
          ['demo-setup', 'service', true, ['adjust'], false],
          ['demo-support', 'person', true, STAFF_RIGHTS, true],
        ],
      );
      const made = await test.sql('SELECT DISTINCT actor_claimed AS actor, channel FROM audit_log');
      assert.deepEqual(made, [{ actor: 'demo-setup', channel: 'ops' }]);
      assert.equal(statSync(staffFile).mode & 0o777, 0o600);
    });

    it('sign in by the codes that demo:code prints, one after the other within half a minute', async () => {
      assert.deepEqual(
        [await login('demo-lead'), await login('demo-lead'), await login('demo-support')],
        [0, 0, 0],
      );
    });

    it('have the same code until it is used, and unknown names have no code', async () => {
      await forgetCodes(test.sql);
      // Another half minute may begin in between.
      let before = await printed('demo-support');
      await until(
        'the same code is printed again',
        async () => before === (before = await printed('demo-support')),
      );
      for (const args of [['nobody'], [], ['demo-lead', 'demo-support']]) {
        const { code, stdout, stderr } = await run('scripts/demo-code.js', args, ENV());
        assert.deepEqual([code, stdout], [2, ''], stderr);
        assert.match(stderr, /name one of demo-support, demo-lead/);
      }
    });

    it('get authenticators in a world that has none, and new ones if their secrets are lost', async () => {
      await test.sql(
        "UPDATE staff SET factor_secret=NULL, factor_key_id=NULL, rights='approve' WHERE name='demo-lead'",
      );
      await make();
      assert.equal(await login('demo-lead'), 0);
      const [lead] = await test.database.reader.select(staff, { name: 'demo-lead' });
      assert.deepEqual(lead?.rights, STAFF_RIGHTS);
      rmSync(staffFile);
      await make();
      for (const name of ['demo-lead', 'demo-support']) assert.equal(await login(name), 0);
    });

    it('the next start of the demo world does not change its staff, including deactivated ones', async () => {
      await test.sql("UPDATE staff SET rights='read' WHERE name='demo-support'");
      await test.sql("UPDATE staff SET active=0 WHERE name='demo-lead'");
      const before = await test.sql('SELECT * FROM staff ORDER BY name');
      await make();
      assert.deepEqual(await test.sql('SELECT * FROM staff ORDER BY name'), before);
    });
  });

  async function counts(): Promise<unknown> {
    const names = words`tenants accounts members member_roles tokens pay_ins entries fee_schedules`;
    return Promise.all(
      names.map(async (name) => [name, await test.sql(`SELECT COUNT(*) AS count FROM ${name}`)]),
    );
  }
});
