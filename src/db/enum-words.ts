import { z } from 'zod';

/** What runs a statement and answers its rows. */
interface Runner {
  query(sql: string): Promise<unknown>;
}

const TABLES = z.array(z.object({ name: z.string() }));
const CREATED = z.tuple([z.object({ 'Create Table': z.string() })]);

/**
 * For migrations: an ENUM takes one more word, behind those that it has, in these tables or in every table that has an ENUM of this
 * name. A column that has the word already is left as it is. MariaDB changes its dictionary alone; MySQL copies a table with a CHECK
 * that reads an ENUM, whichever column is changed, and nobody writes to it meanwhile.
 */
export async function addWord(runner: Runner, word: string, column: string, tables?: readonly string[]): Promise<void> {
  for (const table of tables ?? (await tablesWith(runner, column))) {
    const [{ 'Create Table': created }] = CREATED.parse(await runner.query(`SHOW CREATE TABLE ${table}`));
    const definition = new RegExp(`^ *(\`${column}\` enum\\(.*?'\\))(.*?),?$`, 'm').exec(created);
    if (definition === null) throw new Error(`${table}.${column} is no ENUM`);
    const [, words = '', others = ''] = definition;
    if (words.includes(`'${word}'`)) continue;
    const wider = words.replace(/\)$/, `,'${word}')`);
    await runner.query(`ALTER TABLE ${table} MODIFY COLUMN ${wider}${others}`);
  }
}

async function tablesWith(runner: Runner, column: string): Promise<string[]> {
  const rows = await runner.query(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema=DATABASE() AND column_name='${column}' AND data_type='enum' ORDER BY table_name`,
  );
  return TABLES.parse(rows).map(({ name }) => name);
}
