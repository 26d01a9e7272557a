import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { instant, systemClock, toRfc3339 } from '../../src/core/instant.js';
import { copyMark, openRestore } from '../../src/restores/begin-restore.js';
import { findingOf, findingOfRow, skipFor, lastSkipped } from '../../src/restores/rules.js';
import { RollbackGuard } from '../../src/restores/checkpoint.js';
import { type Ran, run } from '../ops/ops.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, LEAST, list, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);

describe('the skipped sequences and the findings of a restore', () => {
  it('a restore skips more sequences than a tenant can have used, up to a round number', () => {
    assert.equal(skipFor({ restoredTo: 0, until: 600_000 }), 6_000_000n);
    assert.equal(skipFor({ restoredTo: 0, until: 1 }), 1_000_000n);
    assert.equal(lastSkipped(4_711n, 1_000_000n), 2_000_000n);
    assert.equal(lastSkipped(0n, 1_000_000n), 1_000_000n);
  });

  it('a restore finds a payment whose approval was lost, a different amount, and an order that the rail no longer knows', () => {
    const payout = { asset: 'COPM', raw: 5n, railReference: null } as const;
    const railReport = (status: 'accepted' | 'completed' | 'failed', raw = 5n) =>
      ({ status, amount: { raw, asset: 'COPM' } }) as const;
    const of = (
      status: 'pending_approval' | 'approved' | 'in_progress' | 'completed' | 'canceled',
    ) => ({
      ...payout,
      status,
    });
    assert.equal(findingOf(of('pending_approval'), railReport('completed')), 'approval_lost');
    assert.equal(findingOf(of('canceled'), railReport('accepted')), 'approval_lost');
    assert.equal(findingOf(of('pending_approval'), railReport('failed')), null);
    assert.equal(findingOf(of('approved'), railReport('completed')), 'goes_on');
    assert.equal(findingOf(of('in_progress'), railReport('completed', 6n)), 'amount');
    const inDollars = { ...of('in_progress'), asset: 'DUSD' } as const;
    assert.equal(findingOf(inDollars, railReport('completed')), 'amount');
    assert.equal(findingOf(of('completed'), railReport('completed')), null);
    assert.equal(findingOf(of('approved'), null), null);
    assert.equal(findingOf({ ...of('in_progress'), railReference: 'B-1' }, null), 'not_paid_there');
  });

  it('a payment without a payout here is lost only if it is no row of a batch that goes on', () => {
    assert.equal(findingOfRow(undefined), 'unknown_here');
    assert.equal(findingOfRow({ status: 'executing' }), 'goes_on');
    assert.equal(findingOfRow({ status: 'ready' }), 'approval_lost');
    assert.equal(findingOfRow({ status: 'validating' }), 'approval_lost');
  });
});

describe('a restore', () => {
  let people: SignedInPeople;

  before(async () => {
    people = new SignedInPeople(db);
    await people.signIn('maria', ['manage']);
    await people.signIn('leo', ['manage']);
    await people.signIn('eva', ['adjust', 'resolve']);
  });
  after(async () => {
    people.remove();
  });

  const ops = (...args: readonly string[]): Promise<Ran> => people.ops(...args);
  const verify = async (): Promise<void> => void answered(await verification(), 200);
  /** Makes an event. */
  const verification = async () => {
    const account = await bank.account({ isVerified: false });
    const body = {
      type: 'business',
      legal_name: 'Of a test',
      document_type: 'NIT',
      document_number: '900123456',
      country: 'CO',
    };
    return bank.request('PUT', `/v1/accounts/${account.id}/verification`, { body });
  };
  const begin = (...more: readonly string[]): Promise<Ran> =>
    ops('restore', 'begin', '--reason', 'a test', '--as', 'maria', ...more);
  const finishesOnlyWithCode = async (): Promise<void> => {
    const args = ['restore', 'finish', '--as', 'leo', '--yes'];
    const { code, stderr } = await run('src/ops/main.js', args, people.env);
    assert.deepEqual([code, /--code is required/.test(stderr)], [2, true], stderr);
  };
  const own = () => idLiteral(bank.tenant.tenant.id);

  it('is begun by a manager, at a moment that fits the data, and once', async () => {
    const [from, to] = [await bank.account({ funds: { COPM: 10n * LEAST } }), await bank.account()];
    answered(await bank.send({ from, to, raw: LEAST }), 201);
    const refused = async (
      pattern: RegExp,
      code: number,
      ...args: readonly string[]
    ): Promise<void> => {
      const ran = await ops('restore', 'begin', '--reason', 'a test', ...args);
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stderr, pattern);
      assert.equal(await openRestore(db.database.reader), undefined);
    };
    const now = toRfc3339(systemClock());
    await refused(/lacks the right to manage/, 1, '--to', now, '--as', 'eva');
    await refused(/give either --to or --nothing-lost/, 2, '--as', 'maria');
    await refused(
      /--until and --skip need --to/,
      2,
      '--nothing-lost',
      '--skip',
      '5',
      '--as',
      'maria',
    );
    await refused(
      /was restored to that time or later/,
      1,
      '--to',
      '2026-01-01T00:00:00Z',
      '--as',
      'maria',
    );
    await refused(/until/, 1, '--to', now, '--until', '2030-01-01T00:00:00Z', '--as', 'maria');
    await refused(
      /restored_to|after/,
      1,
      '--to',
      now,
      '--until',
      '2026-01-01T00:00:00Z',
      '--as',
      'maria',
    );
    const nothing = await ops('restore', 'finish', '--as', 'leo');
    assert.deepEqual(
      [nothing.code, /never restored/.test(nothing.stderr)],
      [1, true],
      nothing.stderr,
    );
  });

  it('closes the ledger for every process, and the person who began it cannot open it', async () => {
    await verify();
    assert.equal((await begin('--to', toRfc3339(systemClock()), '--skip', '10')).code, 0);
    assert.equal((await begin('--nothing-lost')).code, 1);
    const second = await ops(
      'restore',
      'begin',
      ...['--reason', 'too', '--nothing-lost'],
      '--as',
      'leo',
    );
    assert.deepEqual([second.code, /was begun at/.test(second.stderr)], [1, true], second.stderr);
    const [from, to] = [await bank.account(), await bank.account()];
    const moved = await bank.send({ from, to, raw: LEAST });
    assert.deepEqual([moved.status, moved.code], [503, 'ledger_unavailable']);
    // An event would take a number that was seen before.
    assert.equal((await verification()).code, 'ledger_unavailable');
    assert.equal(await (await fetch(`${api.adminUrl}/readyz`)).text(), 'not ready\n');
    const alone = await ops('restore', 'finish', '--as', 'maria');
    assert.equal(alone.code, 1, alone.stderr);
    await finishesOnlyWithCode();
    const without = await ops('restore', 'finish', '--as', 'leo', '--leave-out', 'http:nowhere');
    assert.deepEqual(
      [without.code, /no rail http:nowhere/.test(without.stderr)],
      [2, true],
      without.stderr,
    );
  });

  it('is finished by another person: the log continues after the gap, which is announced, and so does the audit log', async () => {
    const before = await heads();
    const finished = await ops('restore', 'finish', '--as', 'leo', '--json');
    assert.deepEqual([finished.code, finished.stdout.trim()], [0, '[]'], finished.stderr);
    await finishesOnlyWithCode();
    assert.equal((await ops('restore', 'finish', '--as', 'leo')).code, 0);
    await verify();
    const { items, gaps } = answered(await bank.get('/v1/events?order=asc'), 200).json;
    const all = list(items);
    const [gap] = list(gaps);
    assert.equal(list(gaps).length, 1);
    assert.deepEqual([Number(gap?.after), Number(gap?.before)], [before.events, 1_000_001]);
    assert.deepEqual(
      all.slice(-2).map(({ sequence, restores }) => [sequence, restores]),
      [
        [before.events, undefined],
        [1_000_001, 1],
      ],
    );
    const after = await heads();
    assert.ok(after.acts > 1_000_000 && before.acts < 1_000_000);
    const proven = await run('src/ops/main.js', ['audit-log', '--verify'], people.env);
    assert.equal(proven.code, 0, proven.stderr);
    assert.equal(await (await fetch(`${api.adminUrl}/readyz`)).text(), 'ready\n');
  });

  it('keeps the log in order of time: time bounds find the events before and after the gap', async () => {
    const [row] = await db.sql(
      `SELECT announced_at AS at FROM event_gaps WHERE tenant_id=${own()}`,
    );
    const at = Date.parse(`${String(row?.at).replace(' ', 'T')}Z`);
    const count = async (query: string): Promise<number> =>
      list((await bank.get(`/v1/events?${query}`)).json.items).length;
    const all = await count('limit=100');
    const [lower, upper] = ['created_at[gte]', 'created_at[lte]'];
    const time = (ms: number): string => encodeURIComponent(toRfc3339(instant(ms)));
    assert.equal(await count(`${lower}=${time(0)}`), all);
    assert.equal(await count(`${upper}=${time(at + 3_600_000)}`), all);
    assert.equal(await count(`${lower}=${time(at)}`), 1);
    assert.equal(await count(`${upper}=${time(at - 1)}`), all - 1);
    assert.equal(await count(`${lower}=${time(at + 3_600_000)}`), 0);
  });

  it('is detected on a loaded copy and by processes whose rows disappear, and can be ended if nothing was lost', async () => {
    for (const statement of copyMark(systemClock, db.name)
      .split(/;\n/)
      .filter((text) => text.trim() !== ''))
      await db.sql(statement);
    assert.equal((await openRestore(db.database.reader))?.noticedBy, 'copy');
    const early = await ops('restore', 'finish', '--as', 'leo');
    assert.deepEqual(
      [early.code, /the restore has not begun/.test(early.stderr)],
      [1, true],
      early.stderr,
    );
    assert.equal((await begin('--nothing-lost')).code, 0);
    const finished = await ops('restore', 'finish', '--as', 'leo');
    assert.equal(finished.code, 0, finished.stderr);
    const noticed: number[] = [];
    const processes = [1, 2].map(
      (number) =>
        new RollbackGuard({
          ...{ database: db.database, clock: systemClock },
          onRolledBack: () => noticed.push(number),
        }),
    );
    const check = () => Promise.all(processes.map((process) => process.check()));
    const later = `UNHEX('${randomUUID().replaceAll('-', '').replace(/^./, 'f')}')`;
    await check();
    await db.change(
      `INSERT INTO ledger_transactions SELECT ${later}, tenant_id, related_type, related_id, description, created_at FROM ledger_transactions LIMIT 1`,
    );
    await check();
    assert.equal(await openRestore(db.database.reader), undefined);
    await db.change(`DELETE FROM ledger_transactions WHERE id=${later}`);
    await check();
    assert.deepEqual(
      [noticed.length, (await openRestore(db.database.reader))?.noticedBy],
      [1, 'worker'],
    );
    const [open] = await db.sql('SELECT COUNT(*) AS n FROM restores WHERE finished_at IS NULL');
    assert.equal(Number(open?.n), 1);
    assert.equal((await begin('--nothing-lost')).code, 0);
    await check();
    assert.equal((await ops('restore', 'finish', '--as', 'leo')).code, 0);
    await check();
    assert.equal(await openRestore(db.database.reader), undefined);
    await verify();
  });

  async function heads(): Promise<{ readonly events: number; readonly acts: number }> {
    const [row] = await db.sql(
      `SELECT (SELECT last_sequence FROM event_counters WHERE tenant_id=${own()}) AS events,
        (SELECT last_sequence FROM audit_chains WHERE chain_id=${own()}) AS acts`,
    );
    return { events: Number(row?.events), acts: Number(row?.acts) };
  }
});
