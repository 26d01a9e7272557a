import { operationRoutes } from '../operations/routes.js';
import { creationResponse, type Api, SPENDING_REFUSALS } from '../http/route.js';
import type { Cursors } from '../http/cursor.js';
import { paymentRequest } from '../http/schemas.js';
import {
  BonusPageSchema,
  BonusQuery,
  bonusResource,
  BonusSchema,
  CreateBonusBody,
} from './schemas.js';
import { type BonusDeps, Bonuses, bonusList } from './service.js';

export function bonusRoutes(api: Api, deps: BonusDeps, cursors: Cursors): void {
  createBonusRoute(api, new Bonuses(deps));
  operationRoutes(api, deps, cursors, {
    operations: bonusList,
    nouns: 'bonuses',
    list: {
      id: 'listBonuses',
      title: 'List bonuses',
      order: 'Single bonuses and those of batches, newest first.',
    },
    get: { id: 'getBonus', title: 'Read a bonus' },
    permission: 'readBonuses',
    change: { id: 'updateBonus', permission: 'createBonus' },
    query: BonusQuery,
    page: BonusPageSchema,
    schema: BonusSchema,
    filters: { recipient_account: 'recipientAccountId' },
    present: bonusResource.present,
  });
}

function createBonusRoute(api: Api, bonuses: Bonuses): void {
  api.post('/v1/bonuses', {
    operationId: 'createBonus',
    permits: 'createBonus',
    idempotent: 'tenant',
    body: CreateBonusBody,
    responses: { 201: BonusSchema, 200: BonusSchema },
    refusals: SPENDING_REFUSALS,
    summary: 'Pay a bonus',
    description:
      "Pays one person at once and itemises the fee. The recipient is an account of your tenant or network, named by exactly one of id, alias or phone. From the source account's approval threshold up it is refused: unlike a transfer or a batch, a bonus cannot wait for another member.",
    handler: async ({ caller, requestId, body: input, idempotency }) => {
      const request = {
        recipient: input.recipient,
        reference: input.reference ?? null,
        ...paymentRequest(input),
      };
      const result = await bonuses.create(caller, requestId, request, idempotency);
      return creationResponse(result, bonusResource.present);
    },
  });
}
