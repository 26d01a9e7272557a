import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MoneyClient } from '../../packages/client/src/index.js';
import { LiveService } from '../client/live.js';
import { assertLedgerSound } from '../helpers/world.js';
import { blocksOf, isHere } from './blocks.js';
import { LossyGateway } from './lossy-gateway.js';

const IDEMPOTENCY = 'docs/guides/idempotency.md';
const RECONCILIATION = 'docs/guides/reconciliation.md';
const run = promisify(execFile);
const here = isHere('python3');
const title = 'the Python programs in the text of guides';

/** Returns the only block of the page in this language. */
function blockOf(page: string, language: string): string {
  const [block, ...others] = blocksOf(page).filter((one) => one.language === language);
  assert.ok(block !== undefined && others.length === 0);
  return block.text;
}

(here ? describe : describe.skip)(
  here ? title : `${title} (there is no python3 on this machine)`,
  () => {
    let live: LiveService;
    let owner: MoneyClient;

    before(async () => {
      live = await LiveService.start();
      owner = new MoneyClient({ baseUrl: live.baseUrl, token: live.token() });
    });
    after(async () => {
      await assertLedgerSound(live.db.database);
      await live.stop();
    });

    async function python(source: string, baseUrl = live.baseUrl): Promise<string> {
      const env = { ...process.env, SVC_URL: `${baseUrl}/v1`, SVC_TOKEN: live.token() };
      return (await run('python3', ['-c', source], { cwd: live.folder, env })).stdout;
    }

    /** Runs a statement on the database of a program. */
    const sql = (file: string, statement: string): Promise<string> =>
      python(
        `import sqlite3\nbooks = sqlite3.connect("${file}", isolation_level=None)\nprint(*books.execute("""${statement}"""))`,
      );

    async function treasury(): Promise<bigint> {
      const answer = await owner.getBalances(live.account('treasury'));
      return answer.balances.find(({ asset }) => asset === 'COPM')?.total ?? 0n;
    }

    async function transfers(): Promise<string[]> {
      const { items } = await owner.listTransfers({ limit: 100 }).page();
      const own = items.filter(({ description }) => /^A-\d$/.test(description ?? ''));
      return own.map(({ description, amount }) => `${description} ${amount.raw}`).sort();
    }

    it('pay each row once, whatever is lost, interrupted, refused and run again', async () => {
      const program = blockOf(IDEMPOTENCY, 'python');
      const file = join(live.folder, 'payments.csv');
      const rows = blockOf(IDEMPOTENCY, 'csv');
      const gateway = await LossyGateway.start(live.baseUrl);
      const pay = (): Promise<string> => python(program, gateway.url);
      writeFileSync(file, rows.replace('175000', '1'));

      gateway.refusesRepeats = true;
      await assert.rejects(pay(), { code: 1, stderr: /A-1: unauthorized/ });
      gateway.refusesRepeats = false;
      await assert.rejects(pay(), { code: 1, stderr: /A-2: .*below_minimum/ });
      writeFileSync(file, rows);
      const printed = await pay();
      assert.match(printed, /^A-1 [0-9a-f-]{36}\nA-2 [0-9a-f-]{36}\nA-3 [0-9a-f-]{36}\n$/);
      const count = gateway.posts.length;
      assert.equal(await pay(), printed);
      await gateway.stop();

      assert.deepEqual(await transfers(), ['A-1 150000', 'A-2 175000', 'A-3 200000']);
      assert.equal(gateway.posts.length, count);
      // The refused row has a new key once it is corrected.
      assert.equal(new Set(gateway.posts.map(({ key }) => key)).size, 4);
    });

    it('apply each movement once, with the cursor or not at all', async () => {
      const program = blockOf(RECONCILIATION, 'python');
      const movements = (): Promise<string> => sql('books.db', 'SELECT COUNT(*) FROM movements');
      assert.match(await python(program), new RegExp(`^COPM ${await treasury()}$`, 'm'));
      const counted = await movements();
      const amount = { raw: 150_000n, asset: 'COPM' } as const;
      await owner.createTransfer({
        source_account: live.account('treasury'),
        destination: { type: 'account', account_id: live.account('ana') },
        amount,
      });

      const refusal = "BEGIN SELECT RAISE(ABORT, 'interrupted'); END";
      await sql('books.db', `CREATE TRIGGER stop BEFORE INSERT ON cursors ${refusal}`);
      await assert.rejects(python(program), { code: 1, stderr: /interrupted/ });
      assert.equal(await movements(), counted);
      await sql('books.db', 'DROP TRIGGER stop');

      const totals = await python(program);
      assert.match(totals, new RegExp(`^COPM ${await treasury()}$`, 'm'));
      assert.notEqual(await movements(), counted);
      assert.equal(await python(program), totals);
      await sql('books.db', 'UPDATE movements SET raw = raw + 1 WHERE rowid = 1');
      await assert.rejects(python(program), { code: 1, stderr: /in the books, \d+ in the ledger/ });
    });
  },
);
