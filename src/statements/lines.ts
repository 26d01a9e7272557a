import { toRfc3339 } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import type { Statement } from '../db/entities/statements.js';
import { type Movement, rangesWithin, readMovementsOf } from '../accounts/movements.js';
import type { Column, TableRow } from '../spreadsheets/writing/cells.js';

/** The lines of a statement's files, with one page in memory. (docs/contract.md, Statements) */

export const STATEMENT_COLUMNS: readonly Column[] = [
  { name: 'created_at', kind: 'text', width: 26 },
  { name: 'kind', kind: 'text', width: 18 },
  { name: 'amount_in', kind: 'text', width: 22 },
  { name: 'amount_out', kind: 'text', width: 22 },
  { name: 'balance', kind: 'text', width: 22 },
  { name: 'asset', kind: 'text', width: 8 },
  { name: 'counterparty', kind: 'text', width: 30 },
  { name: 'counterparty_alias', kind: 'text', width: 22 },
  { name: 'counterparty_account_id', kind: 'text', width: 38 },
  { name: 'description', kind: 'text', width: 44 },
  { name: 'movement_id', kind: 'text', width: 38 },
  { name: 'related_type', kind: 'text', width: 14 },
  { name: 'related_id', kind: 'text', width: 38 },
];

const ENTRIES_A_PAGE = 1_000n;
const LINES_A_PIECE = 100;

export class StatementLines {
  movements = 0;

  constructor(
    private readonly reader: Reader,
    private readonly statement: Statement,
  ) {}

  /** Throws if the movements do not lead from the opening to the closing balance. */
  async *pieces(): AsyncGenerator<readonly TableRow[]> {
    const { openingRaw, closingRaw, fromAt, toAt } = this.statement;
    yield [this.balanceLine('opening_balance', fromAt, openingRaw)];
    let balance = openingRaw;
    for await (const movements of this.pages()) {
      balance = movements.reduce((sum, { entry }) => sum + entry.raw, balance);
      this.movements += movements.length;
      for (let from = 0; from < movements.length; from += LINES_A_PIECE)
        yield movements.slice(from, from + LINES_A_PIECE).map(movementLine);
    }
    if (balance !== closingRaw)
      throw new Error(`the movements of statement ${this.statement.id} do not add up`);
    yield [this.balanceLine('closing_balance', toAt, closingRaw)];
  }

  private async *pages(): AsyncGenerator<readonly Movement[]> {
    const { accountId, asset, fromAt: from, toAt: to } = this.statement;
    for (const { first, last } of await rangesWithin(this.reader, accountId, { from, to }))
      for (let page = first; last !== null && page <= last; page += ENTRIES_A_PAGE) {
        const end = page + ENTRIES_A_PAGE - 1n;
        yield await readMovementsOf(this.reader, accountId, asset, {
          first: page,
          last: end < last ? end : last,
        });
      }
  }

  private balanceLine(kind: string, at: Statement['fromAt'], raw: bigint): TableRow {
    const rest = STATEMENT_COLUMNS.slice(6).map(() => null);
    return [toRfc3339(at), kind, null, null, raw.toString(), this.statement.asset, ...rest];
  }
}

function movementLine({
  entry,
  counterparty,
  description,
  relatedType,
  relatedId,
}: Movement): TableRow {
  const { raw } = entry;
  return [
    toRfc3339(entry.createdAt),
    entry.kind,
    raw > 0n ? raw.toString() : null,
    raw < 0n ? (-raw).toString() : null,
    entry.totalAfter.toString(),
    entry.asset,
    counterparty.displayName,
    counterparty.alias,
    counterparty.accountId,
    description,
    entry.id,
    relatedType,
    relatedId,
  ];
}
