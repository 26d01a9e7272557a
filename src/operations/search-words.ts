import { type Amount, formatAmount } from '../core/amount.js';
import { asUuid, firstIdAt, timeOfId, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { integer, string, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader } from '../db/database.js';
import { batches } from '../db/entities/batches.js';
import { bonuses } from '../db/entities/bonuses.js';
import { adjustments, payIns, transfers } from '../db/entities/operations.js';
import { accounts, tenants } from '../db/entities/parties.js';
import { payouts } from '../db/entities/payouts.js';
import { searchWords } from '../db/entities/search.js';
import { dailyTotalsPositions as positions } from '../db/entities/sweeps.js';
import { transact } from '../db/reader.js';
import { deleteSql, updateSql, upsertSql } from '../db/statements.js';
import type { Table } from '../db/table.js';
import type { Sweep } from '../temporal/sweeper.js';

const EVERY_MS = 5_000;
/** Rows of each table that one run indexes, so that a burst of postings is not slowed down. */
const ROWS_PER_RUN = 2_000;
/** Time after which every row with an older id has been committed. */
const LAG_MS = 60_000;
const MAX_WORD = 40;
const MAX_WORDS = 24;

/** Returns the words of a text in lower case and without accents, each once. */
export function wordsOf(text: string | null): readonly string[] {
  const plain = (text ?? '').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  return [...new Set(words.map((word) => [...word].slice(0, MAX_WORD).join('')))];
}

/** Returns what is stored for an amount: any beginning of its digits finds it. */
function amountWord(amount: Amount): string {
  return `$${(formatAmount(amount).split(' ')[0] ?? '').replaceAll(',', '')}`;
}

/** Returns what is stored for a phone, which is found by its last digits. */
export function phoneWord(phone: string): string {
  return `#${[...phone.replace(/\D/g, '')].reverse().join('')}`;
}

interface Indexed {
  readonly id: Uuid;
  readonly words: readonly string[];
}

/** A table whose rows are found by words. */
interface Source {
  readonly name: string;
  /** Returns rows in the order of their ids, with their words. */
  read(reader: Reader, where: string, limit: number): Promise<readonly Indexed[]>;
}

function source<Row extends { readonly id: Uuid }>(
  table: Table<Row>,
  words: (row: Row) => readonly string[],
): Source {
  return {
    name: table.name,
    read: async (reader, where, limit) => {
      const rows = await reader.list(
        table,
        `FORCE INDEX (PRIMARY) WHERE ${where} ORDER BY id LIMIT ${limit}`,
      );
      return rows.map((row) => ({ id: row.id, words: words(row) }));
    },
  };
}

const PAYOUTS = source(payouts, (row) => [
  amountWord(row),
  ...wordsOf(row.description),
  ...wordsOf(row.holderName),
]);

const SOURCES = [
  source(accounts, ({ type, name, phone }) => [
    ...(type === 'system' ? [] : wordsOf(name)),
    ...(phone === null ? [] : [phoneWord(phone)]),
  ]),
  source(tenants, ({ name }) => wordsOf(name)),
  source(transfers, (row) => [amountWord(row), ...wordsOf(row.description)]),
  PAYOUTS,
  source(bonuses, (row) => [amountWord(row), ...wordsOf(row.description)]),
  source(adjustments, (row) => [amountWord(row), ...wordsOf(row.reason)]),
  source(payIns, (row) => [amountWord(row), ...wordsOf(row.description)]),
  source(batches, ({ description }) => wordsOf(description)),
];

/** Adds the words of new rows to the index, about a minute after their creation. */
export function searchWordsSweep({ database, clock }: DatabaseDeps): Sweep {
  return {
    name: 'search words',
    everyMs: EVERY_MS,
    run: async (signal) => {
      for (const one of SOURCES) if (!signal.aborted) await addRows(database, one, clock());
      await addBatches(database, signal);
      return false;
    },
  };
}

async function addRows(database: Database, source: Source, now: Instant): Promise<void> {
  const { reader } = database;
  const name = `words/${source.name}`;
  const from = (await reader.find(positions, { name }))?.position ?? 0n;
  const until = instant(now - LAG_MS);
  const start = `id>=${uuid.literal(firstIdAt(Number(from)))}`;
  const [next] = await reader.query(
    `SELECT id FROM ${source.name} FORCE INDEX (PRIMARY) WHERE ${start} AND id<${uuid.literal(firstIdAt(until))}
     ORDER BY id LIMIT 1 OFFSET ${ROWS_PER_RUN}`,
  );
  // All ids of a millisecond are in one run.
  const to = next === undefined ? until : Math.max(timeOfId(uuid.parse(next.id)), Number(from) + 1);
  if (BigInt(to) <= from) return;
  await addRange(database, source, Number(from), to);
  await transact(database, async (transaction) => {
    await transaction.execute(upsertSql(positions, [{ name, position: 0n }], ['name']));
    await transaction.execute(
      updateSql(positions, { position: BigInt(to) }, { name, position: from }),
    );
  });
}

/** Indexes the rows whose ids have these times. Only some are in memory, because a millisecond may have any number. */
async function addRange(database: Database, source: Source, from: number, to: number) {
  const end = uuid.literal(firstIdAt(to));
  for (let after: string | null = `id>=${uuid.literal(firstIdAt(from))}`; after !== null;)
    after = await addPart(database, source, `${after} AND id<${end}`);
}

const BATCH = 'words/batch/';
const BATCHES_PER_RUN = 20;

/**
 * Returns a statement that has the payouts of an ended batch indexed. Their ids have the time of the
 * batch's id, which the sweep has passed.
 */
export function indexBatchSql(batchId: Uuid): string {
  return upsertSql(positions, [{ name: `${BATCH}${batchId}`, position: 0n }], ['name']);
}

async function addBatches(database: Database, signal: AbortSignal): Promise<void> {
  const ended = await database.reader.list(
    positions,
    `WHERE name LIKE '${BATCH}%' ORDER BY name LIMIT ${BATCHES_PER_RUN}`,
  );
  for (const { name } of ended) {
    if (signal.aborted) return;
    const at = timeOfId(asUuid(name.slice(BATCH.length)));
    await addRange(database, PAYOUTS, at, at + 1);
    await transact(database, (transaction) => transaction.execute(deleteSql(positions, { name })));
  }
}

/** Indexes the first of these rows. Returns the condition for those that follow; null if none does. */
async function addPart(database: Database, source: Source, where: string): Promise<string | null> {
  const rows = await source.read(database.reader, where, ROWS_PER_RUN);
  const found = rows.flatMap(({ id, words }) =>
    [...new Set(words)].slice(0, MAX_WORDS).map((word) => ({ id, word })),
  );
  // Words that another process has written are written again.
  if (found.length > 0)
    await transact(database, (transaction) =>
      transaction.execute(upsertSql(searchWords, found, ['word'])),
    );
  const last = rows[ROWS_PER_RUN - 1];
  return last === undefined ? null : `id>${uuid.literal(last.id)}`;
}

/** Beginnings of words, of which a resource has at least one. */
export type SearchTerm = readonly string[];

export interface IdRange {
  readonly from: Uuid;
  /** Exclusive. */
  readonly to: Uuid;
}

/** Number of index entries at which the rarest word of a search is no longer counted. */
const MAX_COUNTED = 1_000;
const MAX_EXAMINED = 4_000;

/**
 * Returns the newest resources that match every term, at most `limit`. Reads the entries of the
 * rarest term, newest first, and looks up the others. `among` and `table` restrict the resources.
 */
export async function findByTerms(
  reader: Reader,
  terms: readonly SearchTerm[],
  limit: number,
  {
    range = null,
    among = null,
    table,
  }: {
    range?: IdRange | null;
    among?: readonly Uuid[] | null;
    table?: { readonly name: string };
  } = {},
): Promise<readonly Uuid[]> {
  if (terms.length === 0 || among?.length === 0) return [];
  const conditions = new Map(
    await Promise.all(
      terms.map(async (term) => {
        const words = range === null || among !== null ? null : await wordsBeginning(reader, term);
        return [term, words === null ? beginsSql('word', term) : wordsSql(words)] as const;
      }),
    ),
  );
  const within = [
    ...(range === null ? [] : [`id>=${uuid.literal(range.from)}`, `id<${uuid.literal(range.to)}`]),
    ...(among === null ? [] : [`id IN (${among.map((id) => uuid.literal(id)).join(',')})`]),
  ];
  const entriesOf = (term: SearchTerm, most: number): string => {
    const where = [conditions.get(term), ...within].join(' AND ');
    return `SELECT id FROM search_words FORCE INDEX (${among === null ? 'word' : 'PRIMARY'}) WHERE ${where}
      ORDER BY word DESC, id DESC LIMIT ${most}`;
  };
  const counts = await Promise.all(
    // A single term is the rarest, however many entries it has.
    (terms.length === 1 ? [] : terms).map(async (term) => {
      const [row] = await reader.query(
        `SELECT COUNT(*) AS found FROM (${entriesOf(term, MAX_COUNTED)}) few`,
      );
      return integer.parse(row?.found);
    }),
  );
  const rarest = Math.max(counts.indexOf(Math.min(...counts)), 0);
  const others = terms
    .filter((_, index) => index !== rarest)
    .map(
      (term) =>
        ` AND EXISTS (SELECT 1 FROM search_words o FORCE INDEX (PRIMARY) WHERE o.id=w.id AND ${beginsSql('o.word', term)})`,
    );
  if (table !== undefined)
    others.push(
      ` AND EXISTS (SELECT 1 FROM ${table.name} t FORCE INDEX (PRIMARY) WHERE t.id=w.id)`,
    );
  const rows = await reader.query(
    `SELECT DISTINCT w.id FROM (${entriesOf(terms[rarest] ?? [], MAX_EXAMINED)}) w
     WHERE TRUE${others.join('')} ORDER BY w.id DESC LIMIT ${limit}`,
  );
  return rows.map((row) => uuid.parse(row.id));
}

/** Number of words from which the entries below a beginning are read instead of those of each word. */
const MAX_COMPLETE = 16;

/**
 * Returns all words that begin with the term, because the index has the ids of a range side by side only within one word.
 * Null if there are many.
 */
async function wordsBeginning(reader: Reader, term: SearchTerm): Promise<readonly string[] | null> {
  const words: string[] = [];
  for (let after = ''; words.length < MAX_COMPLETE;) {
    const [next] = await reader.query(
      `SELECT word FROM search_words FORCE INDEX (word) WHERE ${beginsSql('word', term)} AND word>${string.literal(after)} ORDER BY word LIMIT 1`,
    );
    if (next === undefined) return words;
    after = string.parse(next.word);
    words.push(after);
  }
  return null;
}

function wordsSql(words: readonly string[]): string {
  return words.length === 0
    ? 'FALSE'
    : `word IN (${words.map((word) => string.literal(word)).join(',')})`;
}

/** Number of people whose operations one search reads, and of movements and transfers of each. */
const MAX_PEOPLE = 10;
const MAX_OF_EACH = 200;
const MAX_FOUND = 300;

/** Returns operations that have in their own text the words that a person's name lacks. Only the newest of a person are examined. */
export async function findByNames(
  reader: Reader,
  words: readonly SearchTerm[],
  range: IdRange | null,
): Promise<readonly Uuid[]> {
  const named = await Promise.all(
    words.map((word) => findByTerms(reader, [word], MAX_FOUND, { table: accounts })),
  );
  const lackedBy = (id: Uuid): readonly SearchTerm[] =>
    words.filter((_, index) => named[index]?.includes(id) !== true);
  const people = [...new Set(named.flat())]
    .filter((id) => lackedBy(id).length > 0)
    .sort((one, other) => lackedBy(one).length - lackedBy(other).length);
  const newest = `DESC LIMIT ${MAX_OF_EACH}`;
  const found = people.slice(0, MAX_PEOPLE).map(async (id) => {
    const account = uuid.literal(id);
    const rows = await reader.query(
      `(SELECT t.related_id AS id FROM (SELECT transaction_id FROM entries FORCE INDEX (PRIMARY)
        WHERE account_id=${account} ORDER BY seq ${newest}) e STRAIGHT_JOIN ledger_transactions t ON t.id=e.transaction_id)
       UNION (SELECT id FROM transfers FORCE INDEX (source) WHERE source_account_id=${account} ORDER BY created_at DESC, id ${newest})`,
    );
    const among = rows.map((row) => uuid.parse(row.id));
    return findByTerms(reader, lackedBy(id), MAX_FOUND, { range, among });
  });
  return (await Promise.all(found)).flat();
}

function beginsSql(column: string, term: SearchTerm): string {
  const patterns = term.map((start) => `${start.replace(/[\\%_]/g, '\\$&')}%`);
  return `(${patterns.map((pattern) => `${column} LIKE ${string.literal(pattern)}`).join(' OR ')})`;
}
