import { accounts } from '../../src/db/entities/parties.js';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { Authenticator } from '../../src/access/authenticator.js';
import { systemClock } from '../../src/core/instant.js';
import { testDatabase } from '../helpers/database.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound } from '../helpers/world.js';
import { commandLine, run, runSetAhead, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const OBJECT = z.record(z.string(), z.unknown());
const MAIN = fileURLToPath(new URL('../../src/ops/main.js', import.meta.url));

const test = await testDatabase();
const people = new SignedInPeople(test);
for (const name of ['mary', 'bob']) await people.signIn(name);

describe('npm run ops', () => {
  const tenant = `ops ${randomUUID()}`;

  after(async () => {
    people.remove();
    await assertLedgerSound(test.database);
  });

  const { ops, one: json, rows, fails } = commandLine(() => people.env);

  it("dates changes by the database's clock: an account opened on a machine whose clock is ahead can receive at once", async () => {
    const { id } = await json('tenants', 'add', `ahead ${randomUUID()}`);
    const named = words`accounts open 'Ana Pérez' --tenant ${String(id)} --type person --json`;
    const { code, stdout, stderr } = await runSetAhead(2, named, people.env);
    assert.equal(code, 0, stderr);
    const account = OBJECT.parse(JSON.parse(stdout));
    const paid = ['--amount', '100000', '--asset', 'COPM', '--reference', 'first'];
    await json(
      ...words`payins record --tenant ${String(id)} --account ${String(account.id)} ${paid} --yes`,
    );
  });

  it('shows and changes the quotas of a tenant', async () => {
    const { id } = await json('tenants', 'add', `quotas ${randomUUID()}`);
    const quotas = async (...options: readonly string[]): Promise<unknown> => {
      const all = await rows('tenants', 'quotas', String(id), ...options);
      return all.map(({ quota, used, limit }) => [quota, used, limit]);
    };
    const usual = [
      ['open_batches', '0', '100'],
      ['problem_rows', '0', '2000000'],
      ['unpaid_rows', '0', '10000000'],
      ['stored_bytes', '0', '1048576000'],
      ['statement_rows', '0', '2000000'],
      ['accounts', '0', '100000'],
      ['members', '0', '1000'],
      ['tokens', '0', '1000'],
    ];
    assert.deepEqual(await quotas(), usual);
    const changed = [
      ['open_batches', '0', '7'],
      usual[1],
      ['unpaid_rows', '0', '5'],
      ['stored_bytes', '0', '0'],
      ...usual.slice(4),
    ];
    assert.deepEqual(
      await quotas('--open-batches', '7', '--unpaid-rows', '5', '--stored-bytes', '0', '--yes'),
      changed,
    );
    const back = words`--open-batches default --unpaid-rows default --stored-bytes default --yes`;
    assert.deepEqual(await quotas(...back), usual);
    await fails(
      2,
      /--open-batches: must be a number/,
      ...words`tenants quotas ${String(id)} --open-batches -1x`,
    );
  });

  it('brings a tenant to its first token, with money in its account', async () => {
    await json('tenants', 'add', tenant);
    await json('members', 'add', 'finance', '--tenant', tenant);
    const account = await json(
      ...['accounts', 'open', 'Acme Treasury', '--tenant', tenant, '--type', 'business'],
      ...['--alias', '$Treasury', '--phone', '300 555 0100', '--grant', 'finance=owner'],
      ...['--metadata', '{"region": "north", "none": null}'],
    );
    const stored = await test.database.reader.find(accounts, { alias: '$treasury' });
    assert.deepEqual(stored?.metadata, { region: 'north' });
    assert.deepEqual([account.alias, account.phone], ['$treasury', '+573005550100']);
    await json(
      ...words`accounts verify $treasury --tenant ${tenant} --legal-name 'Acme Treasury S.A.S.'`,
      ...['--document-type', 'NIT', '--document-number', '900123456-7', '--country', 'CO'],
    );
    const payIn = [
      ...['payins', 'record', '--tenant', tenant, '--account', '3005550100'],
      ...['--amount', '150000', '--asset', 'COPM', '--reference', 'first', '--yes'],
    ];
    const recorded = await json(...payIn);
    assert.deepEqual(
      [recorded.amount, recorded.recorded_by],
      [{ raw: '150000', asset: 'COPM' }, 'bob'],
    );
    assert.equal((await json(...payIn)).id, recorded.id);
    const shown = await json('accounts', 'show', String(account.id));
    assert.deepEqual(shown.COPM_available, { raw: '150000', asset: 'COPM' });
    assert.deepEqual(shown.members, [{ name: 'finance', role: 'owner' }]);

    const issued = await json(
      ...words`tokens issue server --tenant ${tenant} --member finance --scopes all`,
    );
    const authenticator = new Authenticator(test.database.reader, systemClock);
    assert.notEqual(await authenticator.authenticate(String(issued.token), '127.0.0.1'), null);
    await json('tokens', 'revoke', String(issued.key_id), '--yes');
    const { stdout } = await ops('tokens', 'list', '--tenant', tenant);
    assert.match(stdout, /revoked at/);
    assert.ok(!stdout.includes(String(issued.token).slice(-40)));
  });

  it('finds an account by an alias that no other tenant has, and shows who froze it and why', async () => {
    const alias = `$only.${randomUUID().slice(0, 8)}`;
    const open = ['accounts', 'open', 'Ana', '--type', 'person', '--alias', alias];
    const { id } = await json(...open, '--tenant', tenant);
    const freeze = words`accounts freeze ${alias} --reason 'ticket 118' --yes`;
    const frozen = `The account of Ana (${String(id)}) is frozen: it may receive, but not send (as bob).\n`;
    assert.equal((await ops(...freeze)).stdout, frozen);
    const shown = await json('accounts', 'show', alias);
    const { at, ...set } = OBJECT.parse(shown.status_set);
    assert.deepEqual(
      [shown.id, set],
      [id, { action: 'account.freeze', by: 'bob', channel: 'ops', reason: 'ticket 118' }],
    );
    assert.match(String(at), /Z$/);
    const other = `ops ${randomUUID()}`;
    await json('tenants', 'add', other);
    await json(...open, '--tenant', other);
    const several = new RegExp(`--tenant is required: \\${alias} exists in (${tenant}|${other}), `);
    await fails(2, several, 'accounts', 'show', alias);
    assert.equal((await json('accounts', 'show', alias, '--tenant', tenant)).id, id);
  });

  it('exits 2 for wrong usage, and explains it', async () => {
    for (const [args, message] of [
      [['tenant'], /unknown command 'tenant'/],
      [words`accounts open X --tenant ${tenant}`, /^error: --type is required\n\(--help shows/m],
      [
        words`limits set $treasury --tenant ${tenant} --asset COPM --maximum 1.500,00 --reason high`,
        /1\.500,00 is not an amount of COPM: write it with all decimals/,
      ],
      [words`members grant finance boss --tenant ${tenant}`, /<role>: must be one of viewer/],
      [['accounts', 'show', ''], /the account is empty: quote an alias, as in '\$ana'/],
      [['accounts', 'show'], /missing required argument 'account': quote an alias/],
      [words`help transfers refnd`, /unknown command 'refnd'\n\(Did you mean refund\?\)/],
      [words`policies show x`, /unknown command 'show'\n\(Did you mean list\?\)/],
      [words`limits list x`, /unknown command 'list'\n\(Did you mean show\?\)/],
      [words`payouts list --status stuck`, /payouts stuck lists those that are stuck/],
      [words`payouts list --status paid`, /did you mean completed\?/],
      [words`transfers list --cursor x`, /--cursor: must be an id/],
      [words`members grant finance viewer --tenant ${tenant}`, /--account or --all-accounts/],
    ] as const)
      await fails(2, message, ...args);
  });

  it('shows a list again and again with --watch, as JSON on one line each time', async () => {
    const watch = async (...options: readonly string[]): Promise<string> => {
      const child = spawn(process.execPath, [MAIN, 'tenants', 'list', '--watch', ...options], {
        env: { PATH: process.env.PATH, ...people.env },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let shown = '';
      child.stdout.setEncoding('utf8').on('data', (piece: string) => (shown += piece));
      await until('it is shown twice', () => Promise.resolve(shown.split(tenant).length > 2));
      child.kill();
      await once(child, 'close');
      return shown;
    };
    assert.match(await watch(), /^Every 2 s until Ctrl-C\. 20[-0-9T:.]+Z\n\nid .* name /);
    const lines = (await watch('--json')).split('\n').slice(0, 2);
    for (const line of lines) assert.ok(Array.isArray(JSON.parse(line)));
    await fails(2, /unknown option/, 'tenants', 'show', tenant, '--watch');
  });

  it('says in one line that MySQL is unavailable, or that MYSQL_URL is not set', async () => {
    const away = await run('src/ops/main.js', ['tenants', 'list'], {
      MYSQL_URL: 'mysql://a:b@127.0.0.1:1/x',
    });
    assert.equal(away.code, 1);
    assert.match(away.stderr, /^error: MySQL is unavailable: .*\n$/);
    const unnamed = await run('src/ops/main.js', ['tenants', 'list'], {});
    assert.equal(unnamed.code, 1);
    assert.match(unnamed.stderr, /MYSQL_URL: is not set/);
  });

  it('audits, and exits 1 when the ledger is broken', async () => {
    const sound = await ops('audit', '--tenant', tenant);
    assert.equal(sound.code, 0, sound.stderr);
    assert.match(sound.stdout, /The ledger is sound/);
    const change = (by: string): Promise<unknown> =>
      test.sql(
        `UPDATE balances b JOIN accounts a ON a.id=b.account_id JOIN tenants t ON t.id=a.tenant_id
         SET b.available=b.available${by} WHERE t.name='${tenant}' AND a.alias='$treasury' AND b.asset='COPM'`,
      );
    await change('+1');
    try {
      const broken = await ops('audit', '--tenant', tenant, '--json');
      assert.equal(broken.code, 1);
      assert.match(broken.stderr, /the audit found 1 contradiction/);
      const [finding] = z.array(OBJECT).parse(JSON.parse(broken.stdout));
      assert.equal(finding?.check, 'balance_total');
    } finally {
      await change('-1');
    }
  });
});
