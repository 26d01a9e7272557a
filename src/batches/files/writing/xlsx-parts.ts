import type { ZipContent } from '../zip/zip-stream.js';
import { xmlText } from './cells.js';
import type { Column, TableRow } from './columns.js';

/** The few parts that a workbook with one sheet is made of. */

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const SHEET_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Styles by index: 0 as it comes, 1 text (what is typed stays as typed), 2 the header. */
const TEXT_STYLE = 1;
const HEADER_STYLE = 2;

export const SHEET_END = '</sheetData></worksheet>';

export function part(name: string, xml: string): ZipContent {
  return { name, content: [Buffer.from(DECLARATION + xml)] };
}

/** All but the sheet itself, which is xl/worksheets/sheet1.xml. `more` are overrides of content types. */
export function workbookParts(sheetName: string, more = ''): ZipContent[] {
  return [
    part(
      '[Content_Types].xml',
      `<Types xmlns="${PACKAGE}/content-types">` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        '<Default Extension="xml" ContentType="application/xml"/>' +
        `<Override PartName="/xl/workbook.xml" ContentType="${SHEET_TYPE}.sheet.main+xml"/>` +
        `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SHEET_TYPE}.worksheet+xml"/>` +
        `<Override PartName="/xl/styles.xml" ContentType="${SHEET_TYPE}.styles+xml"/>${more}</Types>`,
    ),
    part('_rels/.rels', relationships([['rId1', 'officeDocument', 'xl/workbook.xml']])),
    part(
      'xl/workbook.xml',
      `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheets>` +
        `<sheet name="${sheetName}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    part(
      'xl/_rels/workbook.xml.rels',
      relationships([
        ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
        ['rId2', 'styles', 'styles.xml'],
      ]),
    ),
    part('xl/styles.xml', STYLES),
  ];
}

export function relationships(all: readonly (readonly [id: string, type: string, target: string])[]): string {
  const each = all.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${each.join('')}</Relationships>`;
}

// Format 49 is text. A workbook must have the fills none and gray125, a font, a border and a style of each kind.
const STYLES =
  `<styleSheet xmlns="${MAIN}">` +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>' +
  '<fill><patternFill patternType="solid"><fgColor rgb="FFE8EEF7"/></patternFill></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>' +
  '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>' +
  '<xf numFmtId="49" fontId="1" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1"/></cellXfs>' +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

/** The sheet up to its rows: the header stays in view, every column is text. */
export function sheetStart(columns: readonly Column[]): string {
  const widths = columns.map(({ width, kind }, index) => {
    const style = kind === 'number' ? 0 : TEXT_STYLE;
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" style="${style}" customWidth="1"/>`;
  });
  return (
    `${DECLARATION}<worksheet xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
    `<cols>${widths.join('')}</cols><sheetData>`
  );
}

export function headerXml(columns: readonly Column[]): string {
  return `<row r="1">${columns.map(({ name }, index) => textXml(index, 1, name, HEADER_STYLE)).join('')}</row>`;
}

/** Row numbers are numbers; all other cells, amounts too, are text and stay as they are to the last digit. */
export function rowXml(columns: readonly Column[], row: TableRow, number: number): string {
  let xml = `<row r="${number}">`;
  for (let index = 0; index < columns.length; index += 1) {
    const text = row[index];
    if (text === null || text === undefined) continue;
    if (columns[index]?.kind === 'number') xml += `<c r="${LETTERS[index]}${number}"><v>${text}</v></c>`;
    else xml += textXml(index, number, text, TEXT_STYLE);
  }
  return `${xml}</row>`;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

function textXml(index: number, row: number, text: string, style: number): string {
  const cell = `<c r="${LETTERS[index]}${row}" s="${style}" t="inlineStr">`;
  return `${cell}<is><t xml:space="preserve">${xmlText(text)}</t></is></c>`;
}
