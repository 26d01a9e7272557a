import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Uuid } from '../../src/core/ids.js';
import { payoutSecrets } from '../../src/db/entities/payouts.js';
import { openSecrets } from '../../src/payouts/service.js';
import { type Ran, run, TEST_KEYS } from '../ops/ops.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { startTestApi, TEST_KEYRING } from '../helpers/api.js';
import { answered, idLiteral, type Json, LEAST, list, object, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { balanceOf } from '../helpers/world.js';
import {
  accountNumber,
  assertSameStory,
  DOCUMENT,
  openPayoutBank,
  payoutBody,
  type PayoutBank,
  railsOf,
  rowOf,
} from './support.js';

const RESOLVE = ['payouts', 'resolve'] as const;

const db = await testDatabase();
const api = await startTestApi(db);
const people = new SignedInPeople(db);
for (const name of ['leo', 'maria']) await people.signIn(name);

describe('the commands of operators for payouts', () => {
  let own: PayoutBank;

  beforeEach(async () => {
    own = await openPayoutBank(api);
  });

  after(async () => {
    people.remove();
  });

  /** Actions of two people need a code. */
  const ops = async (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
    run('src/ops/main.js', args.includes('resolve') ? await people.withCode(args) : args, {
      ...people.env,
      ...env,
    });
  const json = async (...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await ops([...args, '--json', '--yes']);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Json;
  };
  const propose = (id: Uuid, outcome: string, reason: string) =>
    json(...RESOLVE, id, '--outcome', outcome, '--reason', reason, '--as', 'maria');
  const decide = (id: Uuid, decision: 'approve' | 'reject', who: string) =>
    json(...RESOLVE, id, `--${decision}`, '--reason', 'checked', '--as', who);
  const refused = async (message: RegExp, ...args: string[]): Promise<void> => {
    const { code, stderr } = await ops([...args, '--yes']);
    assert.notEqual(code, 0);
    assert.match(stderr, message);
  };
  /** The lines of the audit log about the payout: the action and the actor, in their order. */
  const actsOn = async (id: string): Promise<string[]> => {
    const rows = await db.sql(
      `SELECT action, actor_claimed FROM audit_log WHERE subject_id='${id}' ORDER BY id`,
    );
    return rows.map(({ action, actor_claimed: actor }) => `${String(action)} ${String(actor)}`);
  };
  const silent = async (): Promise<Uuid> => {
    const id = await own.pay('03');
    await railsOf(db).submissions.submit(id);
    return id;
  };

  it('operators cannot retry a payout without the address of its rail, and nothing is counted', async () => {
    const id = await own.pay();
    await db.change(`UPDATE payouts SET rail='http:gone' WHERE id=${idLiteral(id)}`);
    await refused(
      /the rail http:gone is not configured here/,
      'payouts',
      'retry',
      id,
      '--reason',
      'late',
    );
    const { status, attempts } = await rowOf(db, id);
    assert.deepEqual([status, attempts, await actsOn(id)], ['approved', 0, []]);
  });

  it('operators see whether each rail answers and which payouts wait for it, also by the command `rails` alone', async () => {
    await db.change('DELETE FROM rail_breakers');
    const { submissions } = railsOf(db, { breaker: { opensAfter: 1, probeAfterMs: 600_000 } });
    await submissions.submit(await own.pay('03'));
    await own.pay();
    const rails = (await json('rails')) as unknown as Json[];
    assert.deepEqual(await json('rails', 'list'), rails);
    const rail = rails.find((one) => one.rail === 'simulated')!;
    assert.deepEqual([rail.state, rail.failures, rail.probes], ['open', 1, 0]);
    assert.equal(rail.last_failure, 'the rail gave no answer');
    assert(Number(rail.approved) >= 1 && Number(rail.in_progress) >= 1);
    assert(Date.parse(String(rail.next_probe_at)) > Date.now());
    await db.change('DELETE FROM rail_breakers');
    const { code, stderr } = await ops(['rails', 'no-such-command']);
    assert.equal(code, 2, stderr);
  });

  it('operators see which payouts are stuck and why, without secrets', async () => {
    const id = await silent();
    await railsOf(db).stuck.flagSilent(-1_000, 1_000);
    const stuck = await ops(['payouts', 'stuck', '--json']);
    const found = (JSON.parse(stuck.stdout) as Json[]).find((one) => one.id === id);
    assert.equal(found?.stuck_because, 'the rail has not reported the outcome');
    const shown = await ops(['payouts', 'show', id, '--json']);
    assert.equal((JSON.parse(shown.stdout) as Json).status, 'in_progress');
    for (const { stdout } of [stuck, shown])
      assert(!stdout.includes(accountNumber('03')) && !stdout.includes(DOCUMENT));
  });

  it('operators see of a key its end alone', async () => {
    const destination = { type: 'bre_b_key', key: '3001112203' };
    const body = { ...payoutBody({ from: own.source }), destination };
    const created = await own.bank.request('POST', '/v1/payouts', { body });
    const id = text(answered(created, 201).json.id);
    const shown = await ops(['payouts', 'show', id, '--json']);
    assert.equal((JSON.parse(shown.stdout) as Json).to, 'Bre-B phone ****2203');
    assert(!shown.stdout.includes('3001112203'));
  });

  it('operators resolve a payout as completed with a second person, with the same effects as a report of the rail', async () => {
    const id = await silent();
    await propose(id, 'completed', 'on the statement');
    assert.equal((await rowOf(db, id)).status, 'in_progress');
    const shown = JSON.parse((await ops(['payouts', 'show', id, '--json'])).stdout) as Json;
    assert.match(text(shown.waits_for), /^a second person/);
    await refused(
      /a second person does/,
      ...RESOLVE,
      id,
      '--approve',
      '--reason',
      'checked',
      '--as',
      'maria',
    );
    await refused(
      /already proposed/,
      ...RESOLVE,
      id,
      '--outcome',
      'failed',
      '--reason',
      'x',
      '--as',
      'leo',
    );
    const unasked = await ops([...RESOLVE, id, '--approve', '--reason', 'checked', '--as', 'leo']);
    assert.match(
      unasked.stderr,
      /is in_progress: completed, proposed by maria: on the statement: this cannot be undone/,
    );
    const after = await decide(id, 'approve', 'leo');
    assert.equal(after.status, 'completed');
    assert.deepEqual(await balanceOf(db.database, own.source.id), {
      available: 9_999n * LEAST,
      held: 0n,
    });
    const again = await ops([...RESOLVE, id, '--approve', '--as', 'leo']);
    assert.deepEqual([again.code, /Nothing was changed.*completed/.test(again.stderr)], [0, true]);
    assert.deepEqual(await actsOn(id), [
      'payout.resolve_propose maria',
      'payout.resolve_approve leo',
    ]);
    await assertSameStory(own, id);
  });

  it('operators see contradicting reports of a rail, poll it again, and resolve a payout as paid after all', async () => {
    const id = await own.pay('01');
    const { submissions, callbacks } = railsOf(db);
    await submissions.submit(id);
    const report = { status: 'completed', reference: 'R-77', failureCode: null } as const;
    assert.equal(
      await callbacks.report('simulated', { key: id, ...report, callbackId: `late-${id}` }),
      'conflict',
    );
    const stuck = JSON.parse((await ops(['payouts', 'stuck', '--json'])).stdout) as Json[];
    const {
      stuck_because: why,
      contradictions,
      last_message: last,
    } = stuck.find((one) => one.id === id)!;
    assert.equal(object(last).effect, 'conflict');
    const { stdout: shown } = await ops(['payouts', 'show', id]);
    assert.match(shown, /^failure +\w+: \w.*$/m);
    assert.equal(why, 'the rail contradicts its earlier report or our records');
    const [{ kind, reported, effect, rail_reference: reference } = {}] = list(contradictions);
    assert.deepEqual(
      [kind, reported, effect, reference],
      ['callback', 'completed', 'conflict', 'R-77'],
    );
    assert.equal(
      (await json('payouts', 'retry', id, '--reason', 'late', '--as', 'leo')).status,
      'failed',
    );
    await propose(id, 'completed', 'on the statement');
    assert.equal((await decide(id, 'approve', 'leo')).status, 'completed');
    assert.deepEqual(await balanceOf(db.database, own.source.id), {
      available: 9_999n * LEAST,
      held: 0n,
    });
    await assertSameStory(own, id);
  });

  it('operators poll a rail at once, and approve or reject pending payouts', async () => {
    const lost = await own.pay('07');
    await railsOf(db).submissions.submit(lost);
    assert.equal(
      (await json('payouts', 'retry', lost, '--reason', 'late', '--as', 'leo')).status,
      'completed',
    );
    assert.deepEqual(await actsOn(lost), ['payout.retry leo']);
    const unanswered = await silent();
    await own.guard(1);
    const [approved, rejected] = [await own.createPending(), await own.createPending()];
    const by = ['--reason', 'asked for'];
    assert.equal((await json('payouts', 'approve', approved, ...by)).status, 'approved');
    assert.equal((await json('payouts', 'cancel', approved, ...by)).status, 'canceled');
    assert.equal((await json('payouts', 'reject', rejected, ...by)).status, 'rejected');
    assert.deepEqual(await actsOn(approved), ['payout.approve maria', 'payout.cancel maria']);
    // Without --yes, because what is refused in any case is not asked about.
    const late = await ops(['payouts', 'cancel', unanswered, ...by, '--as', 'leo']);
    assert.match(late.stderr, /it is in_progress, and can no longer be canceled/);
    await refused(
      /no member of the staff is called nobody/,
      'payouts',
      'cancel',
      await own.createPending(),
      '--as',
      'nobody',
      ...by,
    );
  });

  it("payouts reconcile shows every difference between a day and the rail's statement, and no other line", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const [done, failed, open] = [await own.pay(), await own.pay('01'), await silent()];
    for (const id of [done, failed]) await railsOf(db).submissions.submit(id);
    const folder = await mkdtemp(join(tmpdir(), 'money-statement-'));
    try {
      const file = join(folder, 'statement.csv');
      const told = ['rails', 'statement', '--date', today];
      const statement = (await run('development/ops.js', told, people.env)).stdout;
      const compare = async (lines: readonly string[]) => {
        await writeFile(file, `${lines.join('\n')}\n`);
        const args = ['--rail', 'simulated', '--date', today, '--statement', file, '--json'];
        const delay = { PAYOUT_RAIL_STATEMENT_DELAY_S: 'simulated=0' };
        const { code, stdout } = await ops(['payouts', 'reconcile', ...args], delay);
        const found = JSON.parse(stdout) as Json[];
        assert.equal(code, found.length === 0 ? 0 : 1);
        return found.filter(({ payout_id: id }) =>
          [done, failed, open, strange].includes(String(id)),
        );
      };
      const strange = 'aaaaaaaa-0000-7000-8000-000000000001';
      const lines = statement.trim().split('\n');
      assert.deepEqual(await compare(lines), []);
      const changed = lines
        .filter((line) => !line.startsWith(failed))
        .map((line) =>
          line.startsWith(done) ? line.replace(`,${LEAST},`, `,${LEAST + 1n},`) : line,
        );
      const more = [
        `${open},completed,${LEAST},COPM,R,`,
        `${strange},completed,1,COPM,R,`,
        `${strange},completed,1,COPM,R,`,
      ];
      const found = await compare([...changed, ...more]);
      assert.deepEqual(
        found.map(({ difference, payout_id: id }) => `${String(difference)} ${String(id)}`).sort(),
        [
          `amount ${done}`,
          `missing_here ${strange}`,
          `missing_there ${failed}`,
          `state ${open}`,
          `twice ${strange}`,
        ],
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('operators seal account numbers under a new key, and the numbers can still be opened', async () => {
    const id = await own.pay();
    const next = `next:${Buffer.alloc(32, 8).toString('base64')}`;
    const { code, stderr } = await ops(['keys', 'rotate', '--json'], {
      ENCRYPTION_KEYS: `${next},${TEST_KEYS}`,
    });
    assert.equal(code, 0, stderr);
    const secrets = await db.database.reader.find(payoutSecrets, { id });
    assert(secrets !== undefined);
    assert.equal(secrets.keyId, 'next');
    const ring = [{ id: 'next', secret: Buffer.alloc(32, 8) }] as const;
    const clear = { accountNumber: accountNumber(), holderDocument: DOCUMENT };
    assert.deepEqual(openSecrets(ring, secrets), clear);
    const back = await ops(['keys', 'rotate', '--json'], {
      ENCRYPTION_KEYS: `${TEST_KEYS},${next}`,
    });
    assert.equal(back.code, 0, back.stderr);
    const again = await db.database.reader.find(payoutSecrets, { id });
    assert(again !== undefined);
    assert.deepEqual(openSecrets(TEST_KEYRING, again), clear);
  });
});
