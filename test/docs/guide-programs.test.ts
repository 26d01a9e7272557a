import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MoneyClient } from '../../packages/client/src/index.js';
import { LiveService } from '../client/live.js';
import { assertLedgerSound } from '../helpers/world.js';
import { blocksOf, isHere } from './blocks.js';

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

    async function python(source: string): Promise<string> {
      const env = { ...process.env, SVC_URL: `${live.baseUrl}/v1`, SVC_TOKEN: live.token() };
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
