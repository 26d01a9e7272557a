import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { MoneyClient } from '../../packages/client/src/index.js';
import { LiveService } from '../client/live.js';
import { assertLedgerSound } from '../helpers/world.js';
import { blockOf, isHere } from './blocks.js';
import { LossyGateway } from './lossy-gateway.js';

const IDEMPOTENCY = 'docs/guides/idempotency.md';
const RECONCILIATION = 'docs/guides/reconciliation.md';
const BOOKS = z.object({
  cursor: z.string(),
  movements: z.array(z.looseObject({ raw: z.string() })).min(1),
});
/** Balances of a moment need a moment that is at least 15 seconds ago. */
const TOO_RECENT_MS = 16_000;
const run = promisify(execFile);

/** A language of the programs. The books are those of the program of reconciliation. */
interface Language {
  readonly fence: 'ts' | 'python';
  readonly isMissing: boolean;
  readonly run: (source: string, env?: NodeJS.ProcessEnv) => Promise<string>;
  readonly countMovements: () => Promise<number>;
  /** Makes the program fail while it stores a page, and returns a part of its message. */
  readonly interrupt: () => Promise<RegExp>;
  readonly endInterruption: () => Promise<unknown>;
  readonly falsifyMovement: () => Promise<unknown>;
}

describe('the programs in the text of guides', () => {
  let live: LiveService;
  let owner: MoneyClient;
  let past: { readonly at: number; readonly total: bigint };

  before(async () => {
    live = await LiveService.start();
    owner = new MoneyClient({ baseUrl: live.baseUrl, token: live.token() });
    past = { at: Date.now(), total: await treasury() };
  });
  after(async () => {
    await assertLedgerSound(live.db.database);
    await live.stop();
  });

  const start = async (program: string, args: readonly string[], own: NodeJS.ProcessEnv = {}) => {
    const env = { SVC_URL: `${live.baseUrl}/v1`, SVC_TOKEN: live.token(), ...own };
    return (await run(program, args, { cwd: live.folder, env: { ...process.env, ...env } })).stdout;
  };
  const python = (source: string, env?: NodeJS.ProcessEnv) => start('python3', ['-c', source], env);
  const sql = (statement: string): Promise<string> =>
    python(
      `import sqlite3\nbooks = sqlite3.connect("books.db", isolation_level=None)\nprint(*books.execute("""${statement}""").fetchone() or [])`,
    );
  const booksFile = (): string => join(live.folder, 'books.json');
  const readBooks = () => BOOKS.parse(JSON.parse(readFileSync(booksFile(), 'utf8')));

  const LANGUAGES: Readonly<Record<string, Language>> = {
    TypeScript: {
      fence: 'ts',
      isMissing: false,
      run: (source, env) => start(process.execPath, [live.module('program.mjs', source)], env),
      countMovements: () => Promise.resolve(readBooks().movements.length),
      interrupt: () => {
        mkdirSync(`${booksFile()}.new`);
        return Promise.resolve(/EISDIR/);
      },
      endInterruption: () => Promise.resolve(rmdirSync(`${booksFile()}.new`)),
      falsifyMovement: () => {
        const books = readBooks();
        const [first, ...others] = books.movements;
        const movements = [{ ...first, raw: `${BigInt(first?.raw ?? 0) + 1n}` }, ...others];
        return Promise.resolve(writeFileSync(booksFile(), JSON.stringify({ ...books, movements })));
      },
    },
    Python: {
      fence: 'python',
      isMissing: !isHere('python3'),
      run: python,
      countMovements: async () => Number(await sql('SELECT COUNT(*) FROM movements')),
      interrupt: async () => {
        const refusal = "BEGIN SELECT RAISE(ABORT, 'interrupted'); END";
        await sql(`CREATE TRIGGER stop BEFORE INSERT ON cursors ${refusal}`);
        return /interrupted/;
      },
      endInterruption: () => sql('DROP TRIGGER stop'),
      falsifyMovement: () => sql('UPDATE movements SET raw = raw + 1 WHERE rowid = 1'),
    },
  };

  async function treasury(): Promise<bigint> {
    const answer = await owner.getBalances(live.account('treasury'));
    return answer.balances.find(({ asset }) => asset === 'COPM')?.total ?? 0n;
  }

  async function transfers(): Promise<string[]> {
    const { items } = await owner.listTransfers({ limit: 100 }).page();
    const own = items.filter(({ description }) => /^A-\d$/.test(description ?? ''));
    return own.map(({ description, amount }) => `${description} ${amount.raw}`).sort();
  }

  let languagesPaid = 0;
  for (const [name, language] of Object.entries(LANGUAGES)) {
    const test = language.isMissing ? it.skip : it;

    test(`in ${name} pay each row once, whatever is lost, interrupted, refused and run again`, async () => {
      const program = blockOf(IDEMPOTENCY, language.fence);
      const file = join(live.folder, 'payments.csv');
      const rows = blockOf(IDEMPOTENCY, 'csv');
      const gateway = await LossyGateway.start(live.baseUrl);
      const pay = (): Promise<string> => language.run(program, { SVC_URL: `${gateway.url}/v1` });
      writeFileSync(file, rows.replace('175000', '1'));

      gateway.refusesRepeats = true;
      await assert.rejects(pay(), { code: 1, stderr: /A-1\b[^]*unauthorized/ });
      gateway.refusesRepeats = false;
      await assert.rejects(pay(), { code: 1, stderr: /A-2\b[^]*below_minimum/ });
      writeFileSync(file, rows);
      const printed = await pay();
      assert.match(printed, /^A-1 [0-9a-f-]{36}\nA-2 [0-9a-f-]{36}\nA-3 [0-9a-f-]{36}\n$/);
      const count = gateway.posts.length;
      assert.equal(await pay(), printed);
      await gateway.stop();

      languagesPaid += 1;
      const once = ['A-1 150000', 'A-2 175000', 'A-3 200000'];
      const expected = once.flatMap((row) => Array<string>(languagesPaid).fill(row));
      assert.deepEqual(await transfers(), expected);
      assert.equal(gateway.posts.length, count);
      // The refused row has a new key once it is corrected.
      assert.equal(new Set(gateway.posts.map(({ key }) => key)).size, 4);
    });

    test(`in ${name} apply each movement once, with the cursor or not at all`, async () => {
      const { countMovements } = language;
      const program = blockOf(RECONCILIATION, language.fence);
      const compare = (env = {}): Promise<string> => language.run(program, env);
      assert.match(await compare(), new RegExp(`^COPM ${await treasury()}$`, 'm'));
      await sleep(Math.max(0, past.at + TOO_RECENT_MS - Date.now()));
      const AT = new Date(past.at).toISOString();
      assert.match(await compare({ AT }), new RegExp(`^COPM ${past.total}$`, 'm'));
      const counted = await countMovements();
      const amount = { raw: 150_000n, asset: 'COPM' } as const;
      await owner.createTransfer({
        source_account: live.account('treasury'),
        destination: { type: 'account', account_id: live.account('ana') },
        amount,
      });

      const stderr = await language.interrupt();
      await assert.rejects(compare(), { code: 1, stderr });
      assert.equal(await countMovements(), counted);
      await language.endInterruption();

      const totals = await compare();
      assert.match(totals, new RegExp(`^COPM ${await treasury()}$`, 'm'));
      assert.equal(await countMovements(), counted + 1);
      assert.equal(await compare(), totals);
      await language.falsifyMovement();
      await assert.rejects(compare(), { code: 1, stderr: /in the books, \d+ in the ledger/ });
    });
  }
});
