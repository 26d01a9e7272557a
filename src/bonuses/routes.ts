import { answerOf } from '../http/answer.js';
import type { Api } from '../http/api.js';
import { answerPage, type Cursors } from '../http/cursor.js';
import { operationFilter } from '../http/operation-query.js';
import { answers, body, idempotent, named, pathId, permits, query, refusesSpending, summary } from '../http/route.js';
import { presentBonus } from './presenter.js';
import { BonusPageSchema, BonusQuery, BonusSchema, CreateBonusBody } from './schemas.js';
import type { Bonuses } from './service.js';

export function bonusRoutes(api: Api, bonuses: Bonuses, cursors: Cursors): void {
  create(api, bonuses);
  listAndRead(api, bonuses, cursors);
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
    async ({ caller, requestId, body: wanted, idempotency }) => {
      const request = {
        sourceAccountId: wanted.source_account,
        recipient: wanted.recipient,
        amount: wanted.amount,
        description: wanted.description ?? null,
        reference: wanted.reference ?? null,
      };
      const answer = await bonuses.create(caller, requestId, request, idempotency);
      return answerOf(answer, (bonus, replayed) => ({ status: replayed ? 200 : 201, body: presentBonus(bonus) }));
    },
  );
}

function listAndRead(api: Api, bonuses: Bonuses, cursors: Cursors): void {
  api.get(
    '/v1/bonuses',
    named('listBonuses'),
    permits('readBonuses'),
    query(BonusQuery),
    answers({ 200: BonusPageSchema }),
    summary(
      'List bonuses',
      'Single bonuses and those of batches, newest first. With `idempotency_key`, what that key created; an empty list does not rule out that it appears later.',
    ),
    (request) => {
      const { caller, query: wanted } = request;
      const filter = {
        ...operationFilter(wanted),
        destination: { recipientAccountId: wanted.recipient_account },
      };
      return answerPage(cursors, request, (before, limit) => bonuses.list(caller, filter, before, limit), presentBonus);
    },
  );

  api.get(
    '/v1/bonuses/{id}',
    named('getBonus'),
    permits('readBonuses'),
    answers({ 200: BonusSchema }),
    summary('Read a bonus'),
    async (request) => ({
      status: 200,
      body: presentBonus(await bonuses.read(request.caller, pathId(request, 'id'))),
    }),
  );
}
