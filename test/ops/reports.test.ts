import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ASSETS } from '../../src/core/amount.js';
import { parse } from 'csv-parse/sync';
import { addMember } from '../../src/members/members.js';
import { addTenant, DEFAULT_TIME_ZONE } from '../../src/accounts/tenants.js';
import { openAccount } from '../../src/accounts/open-accounts.js';
import {
  type Instant,
  instant,
  monthOf,
  parseMonth,
  systemClock,
  toRfc3339,
} from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import type { Json } from '../helpers/bank.js';
import { testDatabase, type TestDatabase } from '../helpers/database.js';
import { move, testKind } from '../helpers/kinds.js';
import { fund, openWriter, TEST_ACTOR, type WatchedWriter } from '../helpers/world.js';
import { commandLine, runSetAhead, words } from './ops.js';

describe('npm run ops -- reports', () => {
  let db: TestDatabase;
  let now: Instant;
  let writer: WatchedWriter['writer'];
  /** Of two tenants of a network. */
  let own: Account[];
  const names = [`first ${randomUUID()}`, `=second ${randomUUID()}`] as const;
  /** Two months ago, and its last moment, by the zone that is usual. */
  const month = toRfc3339(instant(Date.now() - 62 * 86_400_000)).slice(0, 7);
  const inMonth = (day: number): Instant =>
    instant(Date.parse(`${month}-${String(day).padStart(2, '0')}T12:00:00Z`));

  before(async () => {
    db = await testDatabase();
    now = instant(inMonth(1) - 40 * 86_400_000);
    writer = openWriter(db.database, {}, () => now).writer;
    own = [];
    for (const name of names) {
      const described = { name, network: 'reports', timeZone: 'America/Bogota' };
      const tenant = await addTenant(db.database, () => now, described, TEST_ACTOR);
      const owner = await addMember(db.database, () => now, tenant.id, 'owner', TEST_ACTOR);
      const wanted = {
        tenantId: tenant.id,
        type: 'business',
        name: 'A',
        alias: null,
        phone: null,
      } as const;
      const grants = [{ memberId: owner.id, role: 'owner' as const }];
      own.push(
        await openAccount(
          { database: db.database, clock: () => now },
          { ...wanted, grants },
          TEST_ACTOR,
        ),
      );
    }
    const deps = { database: db.database, writer };
    await fund(deps, own[0]!, { raw: 1_000n, asset: 'COPM' });
    const { startsAt, endsAt } = parseMonth(month, DEFAULT_TIME_ZONE)!;
    now = startsAt;
    await pay(100n);
    now = inMonth(10);
    await fund(deps, own[1]!, { raw: 9_007_199_254_740_993n, asset: 'DUSD' });
    await pay(200n);
    now = endsAt;
    await pay(200n);
    now = systemClock();
  });

  async function pay(raw: bigint): Promise<void> {
    const { outcome } = await writer.submit(testKind, move({ from: own[0]!, to: own[1]!, raw }));
    assert(outcome.done);
  }

  const { ops, rows, fails } = commandLine(() => ({ MYSQL_URL: db.url }));
  const json = (...args: readonly string[]): Promise<Json[]> => rows('reports', ...args);
  const rawOf = (amount: unknown): string => (amount as { raw: string }).raw;
  /** `accounts COPM` and what it is, of one tenant or of all. */
  const totals = (lines: readonly Json[], tenant: string, name: string): Record<string, string> =>
    Object.fromEntries(
      lines
        .filter((line) => line.tenant === tenant)
        .map((line) => [`${String(line.accounts)} ${String(line.asset)}`, rawOf(line[name])]),
    );

  const nothing = Object.fromEntries(ASSETS.map((asset) => [`all ${asset}`, '0']));

  it('trial-balance shows the totals of each tenant, and that all tenants sum to zero', async () => {
    const lines = await json('trial-balance');
    assert.deepEqual(totals(lines, names[0], 'total'), {
      'accounts COPM': '500',
      'pay_in COPM': '-1000',
      'all COPM': '-500',
    });
    assert.deepEqual(totals(lines, names[1], 'total'), {
      'accounts COPM': '500',
      'all COPM': '500',
      'accounts DUSD': '9007199254740993',
      'pay_in DUSD': '-9007199254740993',
      'all DUSD': '0',
    });
    assert.deepEqual(totals(lines, 'all tenants', 'total'), nothing);
  });

  it('trial-balance --at shows the same for a past moment', async () => {
    const lines = await json('trial-balance', '--at', toRfc3339(instant(inMonth(1) - 86_400_000)));
    assert.deepEqual(totals(lines, names[0], 'total'), {
      'accounts COPM': '1000',
      'pay_in COPM': '-1000',
      'all COPM': '0',
    });
    assert.deepEqual(totals(lines, names[1], 'total'), {});
    const present = await json('trial-balance', '--at', toRfc3339(instant(systemClock() - 20_000)));
    assert.deepEqual(present, await json('trial-balance'));
  });

  it('closing shows the totals at the beginning and the end of the month', async () => {
    const lines = await json('closing', '--month', month);
    const of = (name: string): Record<string, string> => totals(lines, names[0], name);
    assert.deepEqual(of('opening'), {
      'accounts COPM': '1000',
      'pay_in COPM': '-1000',
      'all COPM': '0',
    });
    assert.deepEqual(of('change'), {
      'accounts COPM': '-300',
      'pay_in COPM': '0',
      'all COPM': '-300',
    });
    assert.deepEqual(of('closing'), {
      'accounts COPM': '700',
      'pay_in COPM': '-1000',
      'all COPM': '-300',
    });
    for (const name of ['opening', 'change', 'closing'])
      assert.deepEqual(totals(lines, 'all tenants', name), nothing);
  });

  it('closing shows the month of the named zone, which begins and ends later in Pago Pago', async () => {
    const lines = await json('closing', '--month', month, '--time-zone', 'Pacific/Pago_Pago');
    const of = (name: string) => totals(lines, names[0], name)['accounts COPM'];
    assert.deepEqual(['opening', 'change', 'closing'].map(of), ['900', '-400', '500']);
  });

  it('reports print only one tenant, as a table, or as CSV in which no formula runs', async () => {
    const lines = await json('trial-balance', '--tenant', names[1]);
    assert.deepEqual([...new Set(lines.map(({ tenant }) => tenant))], [names[1]]);
    const { code, stdout } = await ops('reports', 'trial-balance', '--tenant', names[1], '--csv');
    assert.equal(code, 0);
    const [header, ...rows]: string[][] = parse(stdout);
    assert.deepEqual(header, ['tenant', 'tenant_id', 'asset', 'accounts', 'total']);
    assert.deepEqual(
      rows.map(([tenant, , asset, accounts, total]) => [tenant, asset, accounts, total]),
      [
        [`'${names[1]}`, 'COPM', 'accounts', '500'],
        [`'${names[1]}`, 'COPM', 'all', '500'],
        [`'${names[1]}`, 'DUSD', 'accounts', '9007199254740993'],
        [`'${names[1]}`, 'DUSD', 'pay_in', '-9007199254740993'],
        [`'${names[1]}`, 'DUSD', 'all', '0'],
      ],
    );
    const table = await ops('reports', 'closing', '--month', month);
    assert.equal(table.code, 0, table.stderr);
    assert.match(table.stdout, /all tenants/);
  });

  it('reports fail if the totals do not sum to zero', async () => {
    const damage = (raw: number): Promise<number> =>
      db.change(
        `UPDATE balances SET available=available+(${raw}) WHERE asset='COPM' AND overdraft=0 LIMIT 1`,
      );
    await damage(1);
    const { code, stderr } = await ops('reports', 'trial-balance');
    await damage(-1);
    assert.deepEqual([code, /not zero/.test(stderr)], [1, true]);
  });

  it('reports show no money at a moment before the first account', async () => {
    const lines = await json('trial-balance', '--at', '2001-01-01');
    assert.deepEqual(totals(lines, names[0], 'total'), {});
    assert.deepEqual(totals(lines, 'all tenants', 'total'), nothing);
  });

  for (const [args, message] of [
    [['closing'], /--month is required/],
    [['closing', '--month', '2026-13'], /2026-13 is not a month/],
    [['closing', '--month', '2999-01'], /2999-01 is not over yet/],
    [
      ['closing', '--month', '2026-01', '--time-zone', 'Mars/Olympus'],
      /is not a time zone: use a name of the IANA database/,
    ],
    [['trial-balance', '--at', '2026-13-01'], /is not a time/],
    [['trial-balance', '--at', '2999-01-01T00:00:00Z'], /at least 15 seconds ago/],
  ] as const)
    it(`reports refuse ${args.join(' ')}`, () => fails(2, message, 'reports', ...args));

  it("reports refuse the current month by the database's clock, not the machine's", async () => {
    const { name } = monthOf(systemClock(), DEFAULT_TIME_ZONE);
    for (const args of [
      ['closing', '--month', name],
      ['trial-balance', '--at', toRfc3339(instant(systemClock() + 3_600_000))],
    ]) {
      const { code, stderr, stdout } = await runSetAhead(40 * 24, ['reports', ...args], {
        MYSQL_URL: db.url,
      });
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, /is not over yet|at least 15 seconds ago/);
    }
  });

  it('reports report an unknown tenant', () =>
    fails(1, /there is no tenant nobody/, ...words`reports trial-balance --tenant nobody`));
});
