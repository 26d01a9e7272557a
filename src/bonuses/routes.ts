import { type OperationReader, operationRoutes } from '../accounts/routes-operations.js';
import { answerOf } from '../http/answer.js';
import type { Api } from '../http/api.js';
import type { Cursors } from '../http/cursor.js';
import {
  answers,
  body,
  idempotent,
  named,
  permits,
  refusesSpending,
  summary,
} from '../http/route.js';
import {
  BonusPageSchema,
  BonusQuery,
  bonusResource,
  BonusSchema,
  CreateBonusBody,
} from './schemas.js';
import type { Bonuses } from './service.js';
import { bonusList } from './service.js';

export function bonusRoutes(
  api: Api,
  bonuses: Bonuses,
  reader: OperationReader,
  cursors: Cursors,
): void {
  create(api, bonuses);
  operationRoutes(api, reader, cursors, {
    operations: bonusList,
    nouns: 'bonuses',
    list: {
      id: 'listBonuses',
      title: 'List bonuses',
      order: 'Single bonuses and those of batches, newest first.',
    },
    get: { id: 'getBonus', title: 'Read a bonus' },
    permission: 'readBonuses',
    query: BonusQuery,
    page: BonusPageSchema,
    schema: BonusSchema,
    filter: (query) => ({ destination: { recipientAccountId: query.recipient_account } }),
    present: bonusResource.present,
  });
}

function create(api: Api, bonuses: Bonuses): void {
  api.post(
    '/v1/bonuses',
    named('createBonus'),
    permits('createBonus'),
    idempotent,
    body(CreateBonusBody),
    answers({ 201: BonusSchema, 200: BonusSchema }),
    refusesSpending,
    summary(
      'Pay a bonus',
      "Pays one person at once and itemises the fee. The recipient is an account of your tenant or network, named by exactly one of id, alias or phone. From the source account's approval threshold up it is refused: unlike a transfer or a batch, a bonus cannot wait for another member.",
    ),
    async ({ caller, requestId, body: input, idempotency }) => {
      const request = {
        sourceAccountId: input.source_account,
        recipient: input.recipient,
        amount: input.amount,
        description: input.description ?? null,
        reference: input.reference ?? null,
      };
      const answer = await bonuses.create(caller, requestId, request, idempotency);
      return answerOf(answer, (bonus, replayed) => ({
        status: replayed ? 200 : 201,
        body: bonusResource.present(bonus),
      }));
    },
  );
}
