import assert from 'node:assert/strict';
import { ASSETS } from '../../src/core/amount.js';
import { type TestDatabase, widen } from '../support/database.js';
import { ownDatabase } from '../webhooks/support.js';

type Columns = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

describe('a migration that adds a word to an ENUM', () => {
  let db: TestDatabase;
  before(async () => {
    db = await ownDatabase('words_added');
  });
  after(() => db.remove());

  /** Every column as the server describes it, by its table and name. */
  async function columns(): Promise<Columns> {
    const rows = await db.sql(
      `SELECT CONCAT(table_name,'.',column_name) AS name, column_type AS type, is_nullable AS nullable,
         column_default AS usual, collation_name AS collation, ordinal_position AS position
       FROM information_schema.columns WHERE table_schema=DATABASE()`,
    );
    return new Map(rows.map(({ name, ...others }) => [String(name), others]));
  }

  /** What they are once these have the word. */
  function withWord(all: Columns, word: string, has: (name: string) => boolean): Columns {
    const wider = (type: unknown): string => String(type).replace(/\)$/, `,'${word}')`);
    return new Map(Array.from(all, ([name, one]) => [name, has(name) ? { ...one, type: wider(one.type) } : one]));
  }

  it('adds an asset to every column that holds one, changes nothing else, and may run again', async () => {
    const all = await columns();
    const ofAssets = `enum(${ASSETS.map((asset) => `'${asset}'`).join(',')})`;
    for (let times = 0; times < 2; times += 1) {
      await widen(db, 'XTST', 'asset');
      assert.deepEqual(
        await columns(),
        withWord(all, 'XTST', (name) => all.get(name)?.type === ofAssets),
      );
    }
  });

  it('adds it to the column of one table, which keeps its default', async () => {
    const all = await columns();
    await widen(db, 'x_robot', 'kind', ['staff']);
    assert.deepEqual(
      await columns(),
      withWord(all, 'x_robot', (name) => name === 'staff.kind'),
    );
  });

  it('refuses a column that is not an ENUM', () =>
    assert.rejects(widen(db, 'x', 'type', ['events']), /events.type is no ENUM/));
});
