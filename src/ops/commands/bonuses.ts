import { bonusList } from '../../bonuses/service.js';
import { toRfc3339 } from '../../core/instant.js';
import { type Bonus, bonuses } from '../../db/entities/bonuses.js';
import { type Names, namesOf } from '../../support/reading/transfers.js';
import { query } from '../command.js';
import { PROGRAM } from '../help.js';
import { historyFields, readHistoryOf } from '../history.js';
import { named } from '../lookups.js';
import { type Fields, rowFields } from '../fields.js';
import { EXAMPLE_ID } from './approvals.js';
import { operationListCommand } from './operation-list.js';

function lineOf(bonus: Bonus, names: Names): Fields {
  const { id, tenantId, sourceAccountId, recipientAccountId, raw, asset, createdAt } = bonus;
  return {
    id,
    amount: { raw, asset },
    from: names.account(sourceAccountId),
    to: names.account(recipientAccountId, tenantId),
    created_at: toRfc3339(createdAt),
  };
}

export const bonusCommands = {
  list: operationListCommand('bonuses', {
    list: bonusList,
    examples: ['bonuses list --tenant acme --since 7d'],
    present: lineOf,
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
