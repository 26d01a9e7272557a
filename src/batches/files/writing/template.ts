import { buffer } from 'node:stream/consumers';
import { zipStream } from '../zip/zip-stream.js';
import { xmlText } from './cells.js';
import type { Column } from './columns.js';
import { csvHead, csvLine } from './table.js';
import { headerXml, part, relationships, rowXml, sheetStart, workbookParts } from './xlsx-parts.js';

/** The empty file that a person fills in. (docs/contract.md, Upload) */

interface TemplateColumn extends Column {
  readonly example: string;
  readonly note: string;
}

const LAST_ROW = 100_001;

/** What stands in each column, in words for whoever fills it in. */
export const TEMPLATE_COLUMNS: readonly TemplateColumn[] = [
  {
    name: 'recipient',
    kind: 'party',
    width: 40,
    // No account has this alias, so a forgotten example is refused and pays nobody.
    example: '$example-delete-this-row',
    note: 'Who gets the bonus: an alias ($ana), a phone (+573001112233) or an account id.',
  },
  {
    name: 'amount',
    kind: 'text',
    width: 24,
    example: '150000',
    note: 'A whole number in the smallest unit, without points or commas: 150000 COPM are 1,500.00 pesos; 1000000 DUSD are 1 dollar.',
  },
  { name: 'asset', kind: 'text', width: 10, example: 'COPM', note: 'COPM or DUSD. One file has one asset.' },
  {
    name: 'description',
    kind: 'text',
    width: 44,
    example: 'Bonus for November',
    note: 'May be empty. The recipient sees it; at most 140 characters.',
  },
  {
    name: 'reference',
    kind: 'text',
    width: 24,
    example: 'NOV-0001',
    note: 'May be empty. Your own number for the row; no two rows may have the same.',
  },
];

const EXAMPLE = TEMPLATE_COLUMNS.map(({ example }) => example);

/** With notes on the header, columns formatted as text (phones and long numbers stay as typed) and a list for the asset. */
export function templateXlsx(): Promise<Buffer> {
  const sheet =
    `${sheetStart(TEMPLATE_COLUMNS)}${headerXml(TEMPLATE_COLUMNS)}${rowXml(TEMPLATE_COLUMNS, EXAMPLE, 2)}</sheetData>` +
    '<dataValidations count="1"><dataValidation type="list" allowBlank="1" showErrorMessage="1" ' +
    `errorTitle="asset" error="COPM or DUSD" sqref="C2:C${LAST_ROW}"><formula1>"COPM,DUSD"</formula1></dataValidation>` +
    '</dataValidations><legacyDrawing r:id="rId2"/></worksheet>';
  return buffer(
    zipStream([
      ...workbookParts('Bonuses', NOTE_TYPES),
      { name: 'xl/worksheets/sheet1.xml', content: [Buffer.from(sheet)] },
      part(
        'xl/worksheets/_rels/sheet1.xml.rels',
        relationships([
          ['rId1', 'comments', '../comments1.xml'],
          ['rId2', 'vmlDrawing', '../drawings/vmlDrawing1.vml'],
        ]),
      ),
      part('xl/comments1.xml', notesXml()),
      { name: 'xl/drawings/vmlDrawing1.vml', content: [Buffer.from(noteShapes())] },
    ]),
  );
}

export function templateCsv(): Buffer {
  return Buffer.from(csvHead(TEMPLATE_COLUMNS) + csvLine(TEMPLATE_COLUMNS, EXAMPLE));
}

const NOTE_TYPES =
  '<Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>' +
  '<Override PartName="/xl/comments1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.comments+xml"/>';

function notesXml(): string {
  const notes = TEMPLATE_COLUMNS.map(
    ({ note }, index) =>
      `<comment ref="${'ABCDE'[index]}1" authorId="0"><text><r><t xml:space="preserve">${xmlText(note)}</t></r></text></comment>`,
  );
  return (
    '<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><authors><author/></authors>' +
    `<commentList>${notes.join('')}</commentList></comments>`
  );
}

/** Where the notes appear: Excel shows none without a shape in its old drawing language. */
function noteShapes(): string {
  const shapes = TEMPLATE_COLUMNS.map(
    (_, index) =>
      `<v:shape id="note${index}" type="#note" style="position:absolute;width:240pt;height:70pt;visibility:hidden" ` +
      'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><x:ClientData ObjectType="Note"><x:MoveWithCells/>' +
      `<x:SizeWithCells/><x:Anchor>${index + 1}, 15, 0, 2, ${index + 3}, 15, 4, 4</x:Anchor><x:AutoFill>False</x:AutoFill>` +
      `<x:Row>0</x:Row><x:Column>${index}</x:Column></x:ClientData></v:shape>`,
  );
  return (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" ' +
    'xmlns:x="urn:schemas-microsoft-com:office:excel"><v:shapetype id="note" coordsize="21600,21600" o:spt="202" ' +
    `path="m,l,21600r21600,l21600,xe"><v:stroke joinstyle="miter"/></v:shapetype>${shapes.join('')}</xml>`
  );
}
