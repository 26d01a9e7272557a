import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, toRfc3339 } from '../core/instant.js';
import { type CellKind, csvLines } from '../spreadsheets/writing/cells.js';
import { escapeInvisible } from '../core/text.js';
import {
  cellOf,
  choose,
  csvFields,
  type Fields,
  isAmount,
  isEmpty,
  textOf,
  toJson,
  type Value,
} from './fields.js';
import { Canceled, OpsError, UsageError } from './failures.js';
import {
  GAP,
  headingOf,
  isWithin,
  renderTable,
  tableWithin,
  wrapText,
  wrapWords,
} from './table-text.js';

interface ListOptions {
  /** No text is cut and no column is left out: a list that does not fit is shown field by field. */
  readonly isWhole?: boolean;
  /** The column with the content, whose texts are not cut: they go on in the next lines. */
  readonly wraps?: string;
  readonly detailsOnly?: readonly string[];
  /** Fields that are shown only if they are chosen, also as JSON and CSV. */
  readonly whenChosen?: readonly string[];
  /** The field after whose last value --cursor continues the list: by default `id`. */
  readonly position?: string;
  /** A remark on an empty list. */
  readonly hintWhenNone?: string | undefined;
  /** The table shows times with seconds. */
  readonly hasSeconds?: boolean;
  /** CSV shows amounts as raw integers, for rows that name the asset. */
  readonly rawInCsv?: boolean;
}

interface OutputOptions {
  readonly json: boolean;
  readonly csv?: boolean;
  /** Fields that lists show, in this order; empty for all. */
  readonly columns?: readonly string[];
  readonly yes: boolean;
}

/** Writes results to standard output and remarks to standard error, with escapes. */
export class Output {
  /** Name of the user who acts, which questions state. */
  private actor: string | null = null;
  /** Throws unless the user still has the right after confirming. */
  assertStillAuthorised: () => Promise<void> = () => Promise.resolve();

  /** Written before the next result, to clear the screen. */
  private prefix = '';
  private indent: number | undefined = 2;
  private isWatched = false;

  /** `width`: the terminal's columns; undefined, if it is not a terminal, folds no line. */
  constructor(
    private readonly options: OutputOptions,
    private readonly width: number | undefined = process.stdout.isTTY
      ? process.stdout.columns
      : undefined,
  ) {}

  actsAs(name: string, assertStillAuthorised = this.assertStillAuthorised): void {
    this.actor = name;
    this.assertStillAuthorised = assertStillAuthorised;
  }

  /** Writes a resource field by field, without the fields that have no value. JSON: all fields. */
  one(fields: Fields): void {
    if (this.options.json) return this.json(toJson(fields));
    this.line(this.details(fields));
  }

  /**
   * Writes resources as a table, most important fields first, because a narrow terminal leaves out the last ones. Field by field
   * if the terminal is too narrow even for the first. The table has neither the fields in `detailsOnly` nor columns without any value.
   * JSON: an array of all fields. CSV: a line with all fields for each resource. Throws UsageError
   * if no row has a chosen column.
   */
  list(all: readonly Fields[], whenNone: string, options: ListOptions = {}): void {
    const { columns = [] } = this.options;
    const rows = choose(all, columns, options.whenChosen);
    if (rows.length === 0 && options.hintWhenNone !== undefined) this.more(options.hintWhenNone);
    if (this.options.json) return this.json(rows.map(toJson));
    if (this.options.csv === true) return this.csv(rows, options);
    const { detailsOnly = [] } = options;
    const [first] = rows;
    if (first === undefined) return this.line(whenNone);
    const names = Object.keys(first).filter(
      (name) =>
        columns.includes(name) ||
        (!detailsOnly.includes(name) && rows.some((row) => !isEmpty(row[name] ?? null))),
    );
    const cells = rows.map((row) =>
      names.map((name) => cellOf(row[name] ?? null, options.hasSeconds)),
    );
    const isWhole = columns.length > 0 || options.isWhole === true;
    const width = this.width ?? Infinity;
    const table = tableWithin(width, { names, rows: cells }, isWhole, options.wraps);
    this.line(table?.text ?? rows.map((row) => this.details(row)).join('\n\n'));
    const leftOut = table?.leftOut.map(headingOf).join(', ') ?? '';
    if (leftOut !== '') this.say(`Not shown: ${leftOut} (wider terminal, or --json)`);
  }

  /** Writes the newest `most` of the rows. One row more shows that older ones follow. */
  newest(rows: readonly Fields[], most: number, whenNone: string, options: ListOptions = {}): void {
    const shown = rows.slice(0, most);
    this.list(shown, whenNone, options);
    const last = shown.at(-1)?.[options.position ?? 'id'] ?? null;
    if (rows.length > most)
      this.more(`The newest ${most}. For older ones add --cursor ${textOf(last)}`);
  }

  /** Writes a remark on a list, unless the list is shown again and again. */
  more(text: string): void {
    if (!this.isWatched) this.say(text);
  }

  private details(fields: Fields): string {
    const rows = Object.entries(fields)
      .filter(([, value]) => !isEmpty(value))
      .map(([name, value]) => [headingOf(name), textOf(value)]);
    const text = renderTable(rows);
    if (this.width === undefined || isWithin(text, this.width)) return text;
    const names = Math.max(...rows.map(([name = '']) => name.length)) + GAP;
    const most = Math.max(MIN_VALUE, this.width - names);
    return renderTable(rows.map(([name = '', value = '']) => [name, wrapWords(value, most)]));
  }

  /** Writes rows as CSV that no spreadsheet runs as a formula, with the names of the JSON as header. */
  private csv(rows: readonly Fields[], { rawInCsv = false }: ListOptions): void {
    if (rows.length === 0) return;
    const lines = rows.map((row) => csvFields(row, rawInCsv));
    const names = [...new Set(lines.flatMap(Object.keys))];
    const kindOf = (name: string): CellKind => {
      const isNumber = rows.some(({ [name]: value = null }) => isAmount(value));
      return isNumber ? 'number' : PARTIES.includes(name) ? 'party' : 'text';
    };
    const cells = lines.map((line) => names.map((name) => line[name] ?? null));
    process.stdout.write(csvLines([names]) + csvLines(cells, names.map(kindOf)));
  }

  /** Writes one item of an endless list on one line: the text, or JSON. */
  each(fields: Fields, text: string): void {
    this.line(
      this.options.json ? escapeInvisible(JSON.stringify(toJson(fields))) : escapeInvisible(text),
    );
  }

  /** Writes one sentence about a change, before its details. JSON has only the details. */
  happened(sentence: string): void {
    this.picture(`${this.asActor(sentence)}\n`);
  }

  /** Writes one sentence about a change; with --json, what `show` writes. */
  async done(sentence: string, show: () => Promise<void> | void): Promise<void> {
    if (this.options.json) return show();
    this.line(this.asActor(sentence));
  }

  /** Writes a remark, which is not part of the result. */
  say(text: string): void {
    process.stderr.write(`${forTerminal(escapeInvisible(text))}\n`);
  }

  /** Shows the progress of long work, updated in place on a terminal. */
  progress(what: string, done: number, total: number): void {
    if (!process.stderr.isTTY) return;
    const filled =
      total === 0 ? BAR_WIDTH : Math.min(BAR_WIDTH, Math.floor((done / total) * BAR_WIDTH));
    const bar = '#'.repeat(filled).padEnd(BAR_WIDTH, '.');
    process.stderr.write(`\r${what} [${bar}] ${done}/${total}${done >= total ? '\n' : ''}`);
  }

  /** Writes lines that JSON leaves out, such as a QR code. */
  picture(lines: string): void {
    if (!this.options.json) this.line(linesWithEscapes(lines));
  }

  /** Writes a script or CSV unchanged. Throws UsageError if JSON is requested. */
  verbatim(text: string): void {
    if (this.options.json) throw new UsageError('this command prints no JSON: leave out --json');
    process.stdout.write(text);
  }

  /** Repeats `work` every 2 seconds until the output is closed. JSON: one line each time. */
  watch(work: () => Promise<void>): Promise<never> {
    this.indent = undefined;
    this.isWatched = true;
    return this.repeat(async () => {
      const at = `Every ${WATCH_MS / 1000} s until Ctrl-C. ${toRfc3339(systemClock())}\n\n`;
      if (!this.options.json) this.prefix = process.stdout.isTTY ? CLEAR + at : at;
      await work();
    });
  }

  /** Repeats `work`, which adds lines by `each`, every 2 seconds until the output is closed. */
  async repeat(work: () => Promise<void>): Promise<never> {
    process.stdout.once('error', () => process.exit());
    for (;;) {
      await work();
      await sleep(WATCH_MS);
    }
  }

  /** True if results are tables and texts. */
  get isText(): boolean {
    return !this.options.json && this.options.csv !== true;
  }

  /** True if a person reads the results. */
  get isOnTerminal(): boolean {
    return process.stdout.isTTY && this.isText;
  }

  get canAsk(): boolean {
    return process.stdin.isTTY && !process.stdin.readableEnded;
  }

  /** Asks a question. Without a terminal, throws UsageError with the text `otherwise`. */
  ask(question: string, otherwise: string): Promise<string> {
    if (!this.canAsk) throw new UsageError(otherwise);
    return this.prompt(`${question}${this.inName}: `);
  }

  /**
   * Asks before an action that ends, moves or weakens something. `follows`: its consequence. Throws
   * OpsError if the answer is "no", and UsageError without a terminal.
   */
  async confirm(what: string, follows = 'this cannot be undone'): Promise<void> {
    if (this.options.yes) return;
    if (!this.canAsk) throw new UsageError(`${what}: ${follows}; confirm it with --yes`);
    let question = `${what}${this.inName}. ${capitalised(follows)}. Go on? [y/N] `;
    for (let answer = ''; !/^y(es)?$/i.test(answer);) {
      answer = await this.prompt(question);
      if (/^(no?)?$/i.test(answer)) throw new OpsError('nothing was done');
      question = `${answer} is not an answer, only y and n are. Go on? [y/N] `;
    }
    await this.assertStillAuthorised();
  }

  /** Asks before a change, with each field that changes before and after. */
  async confirmChange(what: string, before: Fields, after: Fields, follows: string): Promise<void> {
    const shown = (value: Value = null): string => (value === null ? 'none' : cellOf(value));
    const changes = Object.entries(after).flatMap(([name, value]) => {
      const [from, to] = [shown(before[name]), shown(value)];
      return from === to ? [] : [`${headingOf(name)} from ${from} to ${to}`];
    });
    if (changes.length > 0) await this.confirm(`${what}: ${changes.join(', ')}`, follows);
  }

  /** Names who acted at the end of a sentence. Only our own line breaks break it. */
  private asActor(sentence: string): string {
    const by = this.actor === null ? '.' : ` (as ${this.actor}).`;
    return wrapText(escapeInvisible(sentence.replace(/\.$/, by)), this.width ?? Infinity);
  }

  private get inName(): string {
    return this.actor === null ? '' : `, in the name of ${this.actor}`;
  }

  /** Throws Canceled after Ctrl-C or Ctrl-D, which close the prompt. */
  private async prompt(text: string): Promise<string> {
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    const closed = new AbortController();
    prompt.once('close', () => closed.abort());
    try {
      return (await prompt.question(forTerminal(escapeInvisible(text)), closed)).trim();
    } catch (failure) {
      throw closed.signal.aborted ? new Canceled() : failure;
    } finally {
      prompt.close();
    }
  }

  private json(value: unknown): void {
    this.line(linesWithEscapes(JSON.stringify(value, null, this.indent)));
  }

  private line(text: string): void {
    process.stdout.write(`${this.prefix}${text}\n`);
    this.prefix = '';
  }
}

export function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Breaks a remark, question or error between words, if standard error is a terminal. */
export function forTerminal(text: string): string {
  return process.stderr.isTTY ? wrapText(text, process.stderr.columns || Infinity) : text;
}

/** Escapes a text that has line breaks of our own. */
export function linesWithEscapes(text: string): string {
  return text.split('\n').map(escapeInvisible).join('\n');
}

const BAR_WIDTH = 30;
const WATCH_MS = 2_000;
const CLEAR = '\u001b[2J\u001b[H';
const MIN_VALUE = 12;

/** Fields that may have a phone, whose `+` begins no formula. */
const PARTIES: readonly string[] = ['phone', 'value'];
