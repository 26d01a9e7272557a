import { amountJson } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import type { Statement } from '../db/entities/statements.js';
import type { z } from '../http/zod.js';
import type { StatementSchema } from './schemas.js';

/**
 * Returns the Statement as responses show it. `baseUrl` is the address of the API for tenants.
 * (docs/contract.md, Statements)
 */
export function presentStatement(
  statement: Statement,
  baseUrl: string,
): z.output<typeof StatementSchema> {
  const { id, asset, status } = statement;
  const urlOf = (format: string): string | null =>
    status === 'ready' ? `${baseUrl}/v1/statements/${id}/file?format=${format}` : null;
  return {
    id,
    status,
    account_id: statement.accountId,
    asset,
    from: toRfc3339(statement.fromAt),
    to: toRfc3339(statement.toAt),
    opening_balance: amountJson({ raw: statement.openingRaw, asset }),
    closing_balance: amountJson({ raw: statement.closingRaw, asset }),
    movements: statement.movementCount,
    files: { csv_url: urlOf('csv'), xlsx_url: urlOf('xlsx') },
    created_at: toRfc3339(statement.createdAt),
  };
}
