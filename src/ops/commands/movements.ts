import { searchMovements } from '../../accounts/movement-search.js';
import type { Movement } from '../../accounts/movements.js';
import { toRfc3339 } from '../../core/instant.js';
import { query } from '../command.js';
import { tenantOfAlias } from '../inputs.js';
import { named } from '../lookups.js';
import type { Fields } from '../fields.js';
import { amountHint, boundsOf, numberCursor, pageInput } from '../pages.js';

export const movementsCommand = query({
  summary: 'movements of an account, newest first, each with the total after it',
  examples: [
    "accounts movements '$ana' --tenant acme --since 7d",
    "accounts movements '$ana' --tenant acme --amount 150000 --json",
  ],
  input: {
    account: named.account,
    tenant: tenantOfAlias,
    ...pageInput,
    cursor: numberCursor('movement with this number'),
  },
  run: async ({ database: { reader }, output }, { account: { id }, limit: most, ...page }) => {
    const { amounts = null, ...times } = boundsOf(page);
    const filter = { ...times, amounts, text: '' };
    const found: Movement[] = [];
    let before = page.cursor === undefined ? null : BigInt(page.cursor);
    do {
      const count = most + 1 - found.length;
      const { items, nextBefore } = await searchMovements(reader, id, filter, before, count);
      found.push(...items);
      before = nextBefore;
    } while (before !== null && found.length <= most);
    const detailsOnly = ['id', 'related_type'];
    const hintWhenNone = amountHint(page.amount);
    const options = { detailsOnly, position: 'number', hintWhenNone };
    output.newest(found.map(movementFields), most, 'No results.', options);
  },
});

/** Shows a movement; its amount is negative if the account paid. */
function movementFields({
  entry,
  counterparty,
  relatedType,
  relatedId,
  description,
}: Movement): Fields {
  const { asset } = entry;
  return {
    number: entry.seq.toString(),
    created_at: toRfc3339(entry.createdAt),
    kind: entry.kind,
    amount: { raw: entry.raw, asset },
    with: counterparty.displayName,
    total_after: { raw: entry.totalAfter, asset },
    related_type: relatedType,
    related_id: relatedId,
    description,
    id: entry.id,
  };
}
