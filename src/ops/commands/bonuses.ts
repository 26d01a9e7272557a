import { bonusList } from '../../bonuses/service.js';
import { toRfc3339 } from '../../core/instant.js';
import { type Bonus, bonuses } from '../../db/entities/bonuses.js';
import { listNewest } from '../../operations/operation-list.js';
import { type Names, namesOf } from '../../support/reading/transfers.js';
import { query } from '../command.js';
import { PROGRAM } from '../help.js';
import { historyFields, readHistoryOf } from '../history.js';
import { tenant } from '../inputs.js';
import { named } from '../lookups.js';
import { type Fields, rowFields } from '../output.js';
import { amountHint, boundsOf, fromAccount, pageInput, positionOf } from '../pages.js';
import { EXAMPLE_ID } from './approvals.js';

function lineOf(bonus: Bonus, names: Names): Fields {
  const { id, tenantId, sourceAccountId, recipientAccountId, raw, asset, createdAt } = bonus;
  return {
    id,
    from: names.account(sourceAccountId),
    to: names.account(recipientAccountId, tenantId),
    amount: { raw, asset },
    created_at: toRfc3339(createdAt),
  };
}

export const bonusCommands = {
  list: query({
    summary: "a tenant's bonuses, newest first",
    examples: ['bonuses list --tenant acme --since 7d'],
    input: { tenant, account: fromAccount, ...pageInput },
    run: async (ops, { tenant: { id: tenantId }, account, ...page }) => {
      const { reader } = ops.database;
      const { cursor, limit: most } = page;
      const before = await positionOf(reader, bonuses, { tenantId }, cursor);
      const filter = { tenantId, sourceAccountId: account?.id, ...boundsOf(page) };
      const found = await listNewest(bonusList, reader, filter, most + 1, before);
      const names = await namesOf(reader, found);
      const rows = found.map((bonus) => lineOf(bonus, names));
      ops.output.newest(rows, most, 'No results.', { hintWhenNone: amountHint(page.amount) });
    },
  }),
  'show <id>': query({
    summary: 'one bonus: its parties, its refunds, its webhooks and the notes of the staff',
    examples: [`bonuses show ${EXAMPLE_ID}`],
    input: { id: named.bonus },
    run: async ({ database: { reader }, clock, output }, { id: bonus }) => {
      const { tenantId, asset, createdAt } = bonus;
      const [names, history] = await Promise.all([
        namesOf(reader, [bonus]),
        readHistoryOf(reader, bonus, [createdAt], clock()),
      ]);
      output.one({
        ...lineOf(bonus, names),
        tenant: names.tenant(tenantId),
        ...rowFields(bonuses, bonus, 'tenantId sourceAccountId recipientAccountId'),
        fee: { raw: bonus.feeRaw, asset },
        refunded: { raw: bonus.refundedRaw, asset },
        refunds_waiting: { raw: bonus.refundingRaw, asset },
        ...rowFields(bonuses, bonus, 'description reference batchId batchRow'),
        created_by: names.person(bonus.createdBy),
        ...historyFields(history),
      });
      output.say(`Send it back: ${PROGRAM} transfers refund ${bonus.id} --reason TEXT`);
    },
  }),
};
