import {
  type AmountRange,
  type Asset,
  ASSETS,
  isAsset,
  LISTED_ASSETS,
  MAX_RAW,
} from '../../core/amount.js';
import { firstIdAt, type Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { accounts, tenants } from '../../db/entities/parties.js';
import {
  findByNames,
  findByTerms,
  phoneWord,
  type SearchTerm,
  wordsOf,
} from '../../operations/search-words.js';
import {
  type About,
  DATED_KINDS,
  findCreatedWithin,
  recentWindow,
  type Window,
} from './operation-search.js';
import { findByText, findResources, FRESH_MS, type SearchResult, TABLES } from './search.js';

/** Finds people and operations by their words, amounts and phones, in any order, by an index. */

export interface SearchTerms {
  readonly words: readonly SearchTerm[];
  readonly amounts: readonly SearchTerm[];
  /** Asset that the text names. Null if it names none. */
  readonly asset: Asset | null;
}

/** Matches what people write right before an amount: `$25,000` or `COPM25000`. */
const MARKED = new RegExp(`(?<!\\w)(?:\\$|(${ASSETS.join('|')})\\$?)(?=[0-9])`, 'gi');

/** Returns the words of a text, and the amounts in it as people write them. */
export function termsOf(text: string): SearchTerms {
  const tokens = text.replace(MARKED, '$1 ').trim().split(/\s+/);
  const [words, amounts]: [SearchTerm[], SearchTerm[]] = [[], []];
  for (let at = 0; at < tokens.length;) {
    const length = [2, 3, 4].findLast((count) => isOneNumber(tokens.slice(at, at + count), count));
    const token = tokens.slice(at, at + (length ?? 1)).join(' ');
    const amount = amountStart(token);
    at += length ?? 1;
    if (isAsset(token.toUpperCase())) continue;
    if (amount !== null && !/^[0-9]+$/.test(token)) amounts.push([amount]);
    else if (/^\+?[0-9]+$/.test(token))
      // A number is a word of a text, an amount, or the end of a phone.
      words.push([
        ...wordsOf(token),
        ...(amount === null ? [] : [amount]),
        ...(token.length < MIN_PHONE_DIGITS ? [] : [phoneWord(token)]),
      ]);
    else words.push(...wordsOf(token).map((word) => [word]));
  }
  const named = tokens.map((token) => token.toUpperCase()).find((token) => isAsset(token));
  return { words, amounts, asset: named !== undefined && isAsset(named) ? named : null };
}

export const MIN_PHONE_DIGITS = 4;

/** Whether these words are the groups of one number, such as `25 000`. */
function isOneNumber(tokens: readonly string[], count: number): boolean {
  return (
    tokens.length === count &&
    /^[0-9]{1,3}( [0-9]{3})*( [0-9]{3}[.,][0-9]+)?$/.test(tokens.join(' '))
  );
}

/**
 * Returns the beginning of an amount's index entry for `25,000`, `25.000`, `25 000`, `1.500,00` or
 * `25000.5`. Three digits after a point or comma are a group, except after a zero. Returns null for other text.
 */
function amountStart(text: string): string | null {
  const grouped =
    /^([1-9][0-9]{0,2}(?:([.,\s])[0-9]{3})(?:\2[0-9]{3})*)(?:[.,]([0-9]{1,2}|[0-9]{4,6}))?$/.exec(
      text,
    );
  const plain = /^([0-9]+)()(?:[.,]([0-9]{1,2}|[0-9]{4,6}|(?<=^0[.,])[0-9]{3}))?$/.exec(text);
  const [, whole, , decimals = ''] = grouped ?? plain ?? [];
  if (whole === undefined) return null;
  return `$${whole.replace(/[^0-9]/g, '').replace(/^0+(?=[0-9])/, '')}.${decimals}`;
}

/**
 * Returns the amounts whose printed form begins with this text: `25,000` means 25,000.00 to
 * 25,000.99, and `25,000.5` means 25,000.50 to 25,000.59. Searches all assets unless the text or
 * `asset` names one. Returns an empty list for malformed text.
 */
export function amountsBeginning(text: string, asset: Asset | null): readonly AmountRange[] {
  const { words, amounts, asset: named } = termsOf(text);
  const starts = [...amounts, ...words].flat().filter((start) => start.startsWith('$'));
  const [start = '', ...others] = starts;
  if (start === '' || others.length > 0 || words.length + amounts.length > 1) return [];
  return rangesOf(start, named ?? asset);
}

/** Returns the amounts whose index entry begins with this. */
function rangesOf(start: string, asset: Asset | null): readonly AmountRange[] {
  const [whole = '', decimals = ''] = start.slice(1).split('.');
  return ASSETS.filter((one) => one === (asset ?? one)).flatMap((one) => {
    const { scale } = LISTED_ASSETS[one];
    if (decimals.length > scale) return [];
    const step = 10n ** BigInt(scale - decimals.length);
    const least = BigInt(whole + decimals) * step;
    const most = least + step - 1n;
    return least > MAX_RAW ? [] : [{ asset: one, least, most: most > MAX_RAW ? MAX_RAW : most }];
  });
}

/** Returns what an operation must match: an id, all of the text in one place, or each of its terms. */
export function aboutText(text: string, ids: readonly Uuid[] = []): About {
  const { words, amounts, asset } = termsOf(text);
  const terms = [...amounts, ...words].map((starts) => ({
    words: starts.filter((start) => !/^[$#]/.test(start)),
    amounts: starts
      .filter((start) => start.startsWith('$'))
      .flatMap((start) => rangesOf(start, asset)),
  }));
  return { ids, text, terms, asset };
}

/** Number of resources that one search examines. */
const MAX_EXAMINED = 300;

/** The part of a search that follows an earlier page. */
interface LaterPart {
  /** Id of the last result of the earlier page. */
  readonly before: Uuid;
  /** The only kind of results. Undefined means any. */
  readonly kind?: keyof SearchResult | undefined;
}

/**
 * Finds resources of these windows, or of all time for null. Some of the words may be in the name
 * of an account whose operation has the others and the amount. `next` is the last id that was
 * examined, or null if all were. `most` limits each kind.
 */
export async function findByWords(
  reader: Reader,
  { words, amounts, asset }: SearchTerms,
  windows: readonly Window[] | null,
  later: LaterPart | null = null,
  most?: number,
): Promise<{ readonly found: SearchResult; readonly next: Uuid | null }> {
  const kind = later?.kind;
  const range = (windows ?? later) && {
    from: firstIdAt(windows === null ? 0 : Math.min(...windows.map(({ from }) => from))),
    to: later?.before ?? firstIdAt(Math.max(...(windows ?? []).map(({ to }) => to)) + 1),
  };
  const table = kind === undefined ? {} : { table: TABLES[kind] };
  const [ids, ofPeople] = await Promise.all([
    findByTerms(reader, [...amounts, ...words], MAX_EXAMINED, { range, ...table }),
    amounts.length === 0 && words.length > 1 ? findByNames(reader, words, range) : [],
  ]);
  const sums = [...amounts, ...words].filter((term) => term.some((one) => one.startsWith('$')));
  const others = words.filter((word) => !sums.includes(word));
  const ofAmount =
    sums.length === 0 || others.length === 0
      ? []
      : await findByTerms(reader, sums, MAX_EXAMINED, { range });
  const [candidates, zones] = await Promise.all([
    findResources(reader, ofAmount),
    reader.select(tenants, {}),
  ]);
  const rows = Object.values(candidates).flat();
  const among = [...new Set(rows.flatMap(idsOf))];
  const having = await Promise.all(
    others.map((word) => findByTerms(reader, [word], among.length, { among })),
  );
  const ofNamed = rows.filter((row) =>
    having.every((found) => idsOf(row).some((id) => found.includes(id))),
  );
  const zoneOf = new Map(zones.map(({ id, timeZone }) => [id, timeZone]));
  const next = ids.length < MAX_EXAMINED ? null : (ids.at(-1) ?? null);
  const isWanted = ({ id, createdAt, tenantId, asset: of }: SearchedRow): boolean =>
    (asset === null || of === asset) &&
    (windows ?? [null]).some(
      (window) =>
        window === null ||
        (window.from <= createdAt &&
          createdAt <= window.to &&
          (window.timeZone === null || window.timeZone === zoneOf.get(tenantId ?? id))),
    );
  const found = await findResources(
    reader,
    [...ids, ...ofPeople, ...ofNamed.map(({ id }) => id)],
    // Those of other times and assets are removed below.
    windows === null && asset === null ? most : undefined,
  );
  const isExamined = ({ id }: SearchedRow): boolean => next === null || id >= next;
  const wanted = Object.entries(found).map(([of, all]) => [
    of,
    (kind ?? of) === of
      ? (all as readonly SearchedRow[]).filter((row) => isExamined(row) && isWanted(row))
      : [],
  ]);
  return { found: Object.fromEntries(wanted) as SearchResult, next };
}

/** Returns the newest accounts that have all words of the text in their names, or as the end of a phone. */
export function findAccountsNamed(reader: Reader, text: string): Promise<readonly Uuid[]> {
  const { words, amounts } = termsOf(text);
  return findByTerms(reader, [...amounts, ...words], MAX_EXAMINED, { table: accounts });
}

/**
 * Returns the newest resources that a text finds in any way: those that it names exactly, which a
 * later part omits, and those that have its words, of which `isCut` tells whether more are recent.
 * The indexes have no words of the last minutes, of which all operations are searched. `most` limits each kind.
 */
export async function findAnywhere(
  reader: Reader,
  text: string,
  now: Instant,
  later: LaterPart | null = null,
  most?: number,
) {
  const kinds = DATED_KINDS.filter((one) => one === (later?.kind ?? one));
  const fresh = { amounts: null, about: aboutText(text), kinds };
  const [exact, byWords, recent] = await Promise.all([
    later === null ? findByText(reader, text, now) : findResources(reader, []),
    findByWords(reader, termsOf(text), null, later, most),
    findCreatedWithin(reader, [recentWindow(now, FRESH_MS)], fresh, later?.before),
  ]);
  const named = mergeResults(byWords.found, recent.found);
  const isCut = (kind: string): boolean => recent.nextOf.has(kind);
  return { exact, named, found: mergeResults(exact, named), next: byWords.next, isCut };
}

interface SearchedRow {
  readonly id: Uuid;
  readonly createdAt: Instant;
  readonly tenantId?: Uuid;
  readonly asset?: Asset | null;
}

/** Returns the id of a row, and those of its accounts. */
function idsOf(row: object): readonly Uuid[] {
  return Object.entries(row).flatMap(([name, id]) =>
    /^id$|accountId$/i.test(name) && id !== null ? [id as Uuid] : [],
  );
}

/** Returns each resource of both results once, the newest first. */
export function mergeResults(one: SearchResult, other: SearchResult): SearchResult {
  const others = other as Readonly<Record<string, readonly SearchedRow[]>>;
  const all = Object.entries(one).map(([kind, rows]) => {
    const byId = new Map([...rows, ...(others[kind] ?? [])].map((row) => [row.id, row]));
    return [kind, [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1))];
  });
  return Object.fromEntries(all) as SearchResult;
}
