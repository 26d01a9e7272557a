import {
  type Cell,
  LAST_COLUMN,
  LAST_ROW,
  MAX_COLUMNS,
  type SheetRow,
  tooManyColumns,
  tooManyRows,
  trimmedRow,
  unreadable,
} from '../sheet.js';
import { isTrue, type PartReader, TextBuffer, type SharedStrings, unescapeText } from './xml.js';
import { type CellStyle, GENERAL, isoOfDays, isoOfText } from './styles.js';

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

export interface WorkbookFacts {
  readonly texts: SharedStrings | null;
  readonly styles: readonly CellStyle[];
  readonly is1904: boolean;
}

type Attributes = Readonly<Record<string, string>>;

/** Width in characters from which on a column is at least a pixel wide. */
const NARROWEST = 0.1;

/** Builds rows from parsing events. The caller takes them with `take` during parsing. */
export class SheetRows implements PartReader {
  private rows: SheetRow[] = [];
  private part = '';
  private hadData = false;
  private hidesOtherColumns = false;
  /** By index, for the columns that the sheet describes. */
  private readonly isColumnHidden: boolean[] = [];
  private rowNumber = 0;
  private isHidden = false;
  private cells: Cell[] | null = null;
  private column = 0;
  private type = 'n';
  private style = 0;
  private inCell = false;
  private hasValue = false;
  private hasInline = false;
  private hasFormula = false;
  private inInlineText = false;
  private inRun = false;
  private textTarget: TextBuffer | null = null;
  private readonly value = new TextBuffer();
  private readonly inline = new TextBuffer();

  constructor(private readonly book: WorkbookFacts) {}

  /** Returns the indexes of the hidden columns, which precede the rows in the file. */
  hiddenColumns(): readonly number[] {
    return Array.from({ length: MAX_COLUMNS }, (_, index) => index).filter(
      (index) => this.isColumnHidden[index] ?? this.hidesOtherColumns,
    );
  }

  take(): readonly SheetRow[] {
    const { rows } = this;
    if (rows.length > 0) this.rows = [];
    return rows;
  }

  /** Structure of a worksheet: worksheet > cols > col; sheetData > row > c > v, f, is > t or r > t */
  open(name: string, attributes: Attributes, depth: number): void {
    // Programs differ on how they read a value with an element in it.
    if (this.textTarget !== null)
      throw unreadable(`a value in row ${this.rowNumber} has an element in it`);
    if (depth === 1 && name !== 'worksheet') throw unreadable('the first sheet is not a worksheet');
    else if (depth === 2) this.openPart(name, attributes);
    else if (this.part === 'cols' && depth === 3 && name === 'col') this.openColumns(attributes);
    else if (this.part !== 'sheetData') return;
    else if (depth === 3 && name === 'row') this.openRow(attributes);
    else if (depth === 4 && name === 'c' && this.cells !== null) this.openCell(attributes);
    else if (!this.inCell) return;
    else if (depth === 5) this.openContent(name);
    else if (this.inInlineText && depth <= 7) this.openInline(name, depth);
  }

  close(name: string, depth: number): void {
    this.textTarget = null;
    if (this.part !== 'sheetData') return;
    if (depth === 4 && name === 'c') this.closeCell();
    else if (depth === 3 && name === 'row') this.closeRow();
  }

  text(piece: string): void {
    this.textTarget?.add(piece);
  }

  private openPart(name: string, { defaultColWidth }: Attributes): void {
    this.part = name;
    if (this.hadData && (name === 'sheetData' || name === 'cols'))
      throw unreadable('the first sheet has its cells in two parts, or its columns after them');
    this.hadData ||= name === 'sheetData';
    if (name === 'sheetFormatPr') this.hidesOtherColumns = isZeroWidth(defaultColWidth);
  }

  private openColumns({ min = '', max = '', hidden, width }: Attributes): void {
    const isHidden =
      isTrue(hidden) || (width === undefined ? this.hidesOtherColumns : isZeroWidth(width));
    const last = Math.min(Number.parseInt(max, 10), MAX_COLUMNS);
    for (let column = Math.max(1, Number.parseInt(min, 10)); column <= last; column += 1)
      this.isColumnHidden[column - 1] = isHidden || this.isColumnHidden[column - 1] === true;
  }

  private openRow({ r, hidden, ht }: Attributes): void {
    const number = r === undefined ? this.rowNumber + 1 : parseIndex(r);
    if (number > LAST_ROW) throw tooManyRows();
    if (number <= this.rowNumber)
      throw unreadable(`the rows after row ${this.rowNumber} are out of order`);
    this.rowNumber = number;
    this.isHidden = isTrue(hidden) || (ht !== undefined && Number.parseFloat(ht) === 0);
    this.cells = [];
    this.column = 0;
  }

  private openCell({ r, t, s }: Attributes): void {
    const column = r === undefined ? this.column + 1 : columnOf(r, this.rowNumber);
    if (column > LAST_COLUMN) throw tooManyColumns(`row ${this.rowNumber}`);
    if (column <= this.column)
      throw unreadable(`the cells of row ${this.rowNumber} are out of order`);
    this.column = column;
    this.inCell = true;
    this.type = t ?? 'n';
    this.style = s === undefined ? 0 : parseIndex(s);
    this.hasValue = false;
    this.hasInline = false;
    this.hasFormula = false;
  }

  /** Refuses a cell with two values, because programs differ on which one they show. */
  private openContent(name: string): void {
    this.inInlineText = name === 'is';
    if ((name === 'v' && this.hasValue) || (this.inInlineText && this.hasInline))
      throw unreadable(`a cell in row ${this.rowNumber} has two values`);
    this.hasInline ||= this.inInlineText;
    if (name === 'f') this.hasFormula = true;
    else if (name === 'v') {
      this.hasValue = true;
      this.textTarget = this.value;
    }
  }

  /** Ignores phonetic hints, which are in runs with another name. */
  private openInline(name: string, depth: number): void {
    if (name === 't' && (depth === 6 || this.inRun)) this.textTarget = this.inline;
    else if (depth === 6) this.inRun = name === 'r';
  }

  private closeCell(): void {
    this.inCell = false;
    const value = this.value.take();
    const inline = this.inline.take();
    const cell = this.cellOf(value, inline);
    if (cell === null || this.cells === null) return;
    while (this.cells.length < this.column - 1) this.cells.push(null);
    this.cells.push(cell);
  }

  private closeRow(): void {
    if (this.cells === null) return;
    const row = trimmedRow(this.rowNumber, this.cells);
    this.cells = null;
    if (row.cells.length === 0) return;
    this.rows.push(this.isHidden ? { ...row, isHidden: true } : row);
  }

  private cellOf(value: string, inline: string): Cell {
    const cell = this.displayed(value, inline);
    if (this.hasFormula) return { kind: 'formula', text: cell?.text ?? '' };
    return cell;
  }

  private displayed(value: string, inline: string): Cell {
    switch (this.type) {
      case 's':
        return value === '' ? null : this.textCell(this.sharedText(value));
      case 'inlineStr':
        return this.textCell(unescapeText(inline));
      case 'str':
        return this.textCell(unescapeText(value));
      case 'b':
        return value === ''
          ? null
          : { kind: 'boolean', text: value.trim() === '0' ? 'FALSE' : 'TRUE' };
      case 'e':
        return value === '' ? null : { kind: 'error', text: value };
      case 'd':
        return value === '' ? null : dateCell(isoOfText(value.trim()), value);
      default:
        return this.number(value.trim());
    }
  }

  private number(text: string): Cell {
    if (text === '') return null;
    if (!DECIMAL.test(text))
      throw unreadable(`a cell in row ${this.rowNumber} has an invalid number`);
    const { styles, is1904 } = this.book;
    const style = styles[this.style];
    if (style === undefined)
      throw unreadable(`a number in row ${this.rowNumber} has a style that the workbook lacks`);
    const { view, format } = style;
    if (view !== 'number') return dateCell(isoOfDays(text, view, is1904), text);
    return format === null ? { kind: 'number', text } : { kind: 'number', text, format };
  }

  private textCell(text: string): Cell {
    if (text === '') return null;
    const { showsText, format } = this.book.styles[this.style] ?? GENERAL;
    return showsText || format === null ? { kind: 'text', text } : { kind: 'text', text, format };
  }

  private sharedText(value: string): string {
    const { texts } = this.book;
    if (texts === null) throw unreadable('the workbook lacks its texts');
    return texts.at(parseIndex(value.trim()));
  }
}

function isZeroWidth(width: string | undefined): boolean {
  return width !== undefined && Number.parseFloat(width) < NARROWEST;
}

/** Spreadsheets show an error (`#####`) for a number that is not a date. */
function dateCell(iso: string | null, stored: string): Cell {
  return iso === null ? { kind: 'error', text: stored } : { kind: 'date', text: iso };
}

function parseIndex(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw unreadable('the workbook has an invalid row, style or text number');
  return Number.parseInt(text, 10);
}

/** Returns the column of a reference such as `AB12`, from 1. Refuses references to another row. */
function columnOf(reference: string, row: number): number {
  let column = 0;
  let at = 0;
  for (; at < reference.length; at += 1) {
    const letter = reference.charCodeAt(at) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
    if (column > LAST_COLUMN) return column;
  }
  if (at === 0 || parseIndex(reference.slice(at)) !== row)
    throw unreadable(`a cell in row ${row} has the reference of another row`);
  return column;
}
