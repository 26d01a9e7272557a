import type { PayoutCounts } from '../../batches/payout-counts.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import type { Where } from '../../db/statements.js';
import { hasMetadataIndex } from '../../db/metadata-index.js';
import {
  type AccountOperation,
  listNewest,
  type NewestList,
} from '../../operations/operation-list.js';
import { type Names, namesOf } from '../../support/reading/transfers.js';
import { type CommandDefinition, query } from '../command.js';
import { UsageError } from '../failures.js';
import { onlyTenant, option, optionalText, pair, severalStatuses } from '../inputs.js';
import type { Fields } from '../fields.js';
import { named } from '../lookups.js';
import { amountHint, boundsOf, fromAccount, pageInput, positionOf, toAccount } from '../pages.js';

export interface ListedOperations<Row extends AccountOperation> {
  readonly list: NewestList<Row>;
  readonly examples: readonly [string, ...string[]];
  /** Returns a line of the list, without the tenant. */
  readonly present: (row: Row, names: Names, payouts: PayoutCounts | undefined) => Fields;
  readonly readPayouts?: (
    reader: Reader,
    batches: readonly Row[],
  ) => Promise<ReadonlyMap<Uuid, PayoutCounts>>;
  readonly detailsOnly?: readonly string[];
  /** Advice on words that some people take for a status. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Fields that only --columns shows. */
  readonly whenChosen?: readonly string[];
}

/** Lists operations, of all tenants or of one, as `nouns` names them. */
export function operationListCommand<Row extends AccountOperation>(
  nouns: string,
  listed: ListedOperations<Row>,
): CommandDefinition {
  const { list, examples, present, detailsOnly = [], whenChosen = [] } = listed;
  const { table, statuses, idsOlderByMs } = list;
  const has = (property: string) => table.columns.some((column) => column.property === property);
  const receiver = ['destinationAccountId', 'recipientAccountId'].find(has);
  const ofFile = `Without --tenant, the ${nouns} of a file stand where it was validated.`;
  return query({
    summary: `${nouns} of all tenants or of one, newest first`,
    explanation: idsOlderByMs === undefined ? undefined : ofFile,
    examples,
    input: {
      tenant: onlyTenant,
      // An input without a description is not an option.
      status: statuses.length === 0 ? optionalText : severalStatuses(statuses, listed.elsewhere),
      account: fromAccount,
      to: receiver === undefined ? named.account.optional() : toAccount,
      batch: has('batchId')
        ? option('<batch> only those of this batch', named.batch.optional())
        : named.batch.optional(),
      metadata: hasMetadataIndex(table)
        ? option('<key=value> only those with this pair of metadata', pair.optional())
        : pair.optional(),
      ...pageInput,
    },
    run: async ({ database: { reader }, output }, { tenant, account, to, batch, ...given }) => {
      const { status, metadata, limit: most, ...page } = given;
      const tenantId = tenant?.id ?? account?.tenantId ?? batch?.tenantId;
      if (metadata !== undefined && tenantId === undefined)
        throw new UsageError('--metadata needs --tenant');
      const own = (tenantId === undefined ? {} : { tenantId }) as Where<Row>;
      const before = await positionOf(reader, table, own, page.cursor);
      const of = { tenantId, sourceAccountId: account?.id, batchId: batch?.id };
      const columns = to && { [receiver ?? '']: to.id };
      const by = { ...of, status, pair: metadata, columns };
      const found = await listNewest(list, reader, { ...by, ...boundsOf(page) }, most + 1, before);
      const names = await namesOf(reader, found);
      const payouts = await listed.readPayouts?.(reader, found);
      const rows = found.map((row) => ({
        ...present(row, names, payouts?.get(row.id)),
        tenant: names.tenant(row.tenantId),
      }));
      output.newest(rows, most, 'No results.', {
        detailsOnly: tenantId === undefined ? detailsOnly : [...detailsOnly, 'tenant'],
        hintWhenNone: amountHint(page.amount),
        whenChosen,
      });
    },
  });
}
