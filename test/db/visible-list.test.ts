import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { type Instant, instant } from '../../src/core/instant.js';
import type { Page, TimePosition } from '../../src/core/page.js';
import * as column from '../../src/db/columns.js';
import type { Reader } from '../../src/db/database.js';
import { insertSql } from '../../src/db/statements.js';
import { defineTable } from '../../src/db/table.js';
import { readVisible } from '../../src/db/visible-list.js';
import { testDatabase } from '../helpers/database.js';

const START = Date.parse('2032-05-01T12:00:00.000Z');
/** More than two pages look at. */
const ROWS = 4_100;
/** Rows that move between two statements; one of them is always shown. */
const MOVING = 50;
const SHOWN_EVERY = 40;
/** More than are shown of what a page looks at. */
const LIMIT = 100;

const listed = defineTable('listed', {
  id: column.uuid,
  status: column.string,
  isShown: column.boolean,
  createdAt: column.time,
});

const db = await testDatabase();

describe('a list with rows that its caller may not see', () => {
  /** The time of the newest row. */
  let newest: Instant;
  let shown: string[];

  before(async () => {
    await db.change(
      `CREATE TABLE listed (id BINARY(16) NOT NULL PRIMARY KEY, status VARCHAR(8) NOT NULL, is_shown TINYINT(1) NOT NULL,
         created_at DATETIME(3) NOT NULL, KEY status (status, created_at, id))`,
    );
    await db.change(`GRANT SELECT ON ${db.name}.listed TO '${db.name}'@'%'`);
  });
  after(() => db.change('DROP TABLE listed'));

  beforeEach(async () => {
    await db.change('DELETE FROM listed');
    newest = instant(START);
    shown = (await add(ROWS, (index) => index % SHOWN_EVERY === 0)).reverse();
  });

  /** Newer ones than there are. Answers the ids of those that are shown, oldest first. */
  async function add(count: number, isShown: (index: number) => boolean): Promise<string[]> {
    const rows = Array.from({ length: count }, (_, index) => {
      newest = instant(newest + 1);
      return {
        id: newId(),
        status: index % 2 === 0 ? 'open' : 'waiting',
        isShown: isShown(index),
        createdAt: newest,
      };
    });
    await db.change(insertSql(listed, rows));
    return rows.filter((row) => row.isShown).map(({ id }) => id);
  }

  /** Every id that the pages show, one after the other, when this happens before each of their statements. */
  async function walk(happens: () => Promise<unknown>): Promise<string[]> {
    const { reader } = db.database;
    const query: Reader['query'] = async (sql) => (await happens(), reader.query(sql));
    const moving: Reader = { ...reader, query, searches: { ...reader, query } };
    const list = {
      ...{ table: listed, index: 'status', within: [], filters: ['l.is_shown=1'] },
      oneOf: [`t.status='open'`, `t.status='waiting'`],
    };
    const seen: string[] = [];
    let before: TimePosition | null = null;
    do {
      const page: Page<TimePosition> = await readVisible(moving, list, before, LIMIT);
      seen.push(...page.items.map(({ id }) => id));
      before = page.next;
    } while (before !== null);
    return seen;
  }

  it('a list with hidden rows shows every remaining row once while other rows disappear', async () => {
    const leave = `UPDATE listed SET status='done' WHERE status<>'done' AND is_shown=0 ORDER BY created_at DESC LIMIT ${MOVING}`;
    assert.deepEqual(await walk(() => db.change(leave)), shown);
  });

  it('a list with hidden rows shows every earlier row once while other rows appear', async () => {
    assert.deepEqual(await walk(() => add(MOVING, () => false)), shown);
  });
});
