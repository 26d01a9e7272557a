import { ApiError, invalidField, notFound } from '../core/errors.js';
import { asUuid } from '../core/ids.js';
import { type Api, pathId, creationResponse } from '../http/route.js';
import { MetadataBody } from '../http/schemas.js';
import { respondWithNumberedPage, respondWithPage, type Cursors } from '../http/cursor.js';
import { assertMayShow, readAccount } from './access.js';
import { parseAliasOrThrow, releaseAlias, setAlias } from './alias.js';
import { Balances, type ReadingDeps, readPastBalances } from './balances.js';
import { changeAccountMetadata } from './metadata.js';
import { presentMovement, readMovements, readMovementsAfter } from './movements.js';
import { openOwnAccount } from './open-accounts.js';
import { listAccounts } from './read-accounts.js';
import type { RecipientBudget } from './recipient-budget.js';
import { AliasLookup, lookUpPhone, parsePhone } from './recipients.js';
import {
  AccountPageSchema,
  AccountQuery,
  accountResource,
  AccountSchema,
  AliasBody,
  AliasSchema,
  BalancesQuery,
  BalancesResponse,
  LookupQuery,
  LookupSchema,
  OpenAccountBody,
  VerificationBody,
  VerificationSchema,
} from './schemas.js';
import { MovementPageSchema, MovementQuery } from './schemas-movements.js';
import { type DeclarationDeps, declareVerification } from './verification.js';

export function accountRoutes(api: Api, deps: ReadingDeps, cursors: Cursors): void {
  accountReadRoutes(api, deps, cursors);
  accountWriteRoutes(api, deps);
  balanceAndMovementRoutes(api, deps, cursors);
}

function accountReadRoutes(api: Api, { database }: ReadingDeps, cursors: Cursors) {
  api.get('/v1/accounts', {
    operationId: 'listAccounts',
    permits: 'showAccounts',
    query: AccountQuery,
    responses: { 200: AccountPageSchema },
    summary: 'List accounts',
    description: "The accounts in which the token's member has a role, newest first.",
    handler: (request) => {
      const { type, status } = request.query;
      return respondWithPage(
        cursors,
        request,
        async (before, limit) => {
          const reader = database.readerFor(request.caller);
          await assertMayShow(reader, request.caller);
          return listAccounts(reader, request.caller, { type, status }, before, limit);
        },
        accountResource.present,
      );
    },
  });

  api.get('/v1/accounts/{account_id}', {
    operationId: 'getAccount',
    permits: 'showAccounts',
    responses: { 200: AccountSchema },
    summary: 'Read an account',
    handler: async (request) => {
      const { caller } = request;
      const reader = database.readerFor(caller);
      const id = pathId(request, 'account_id');
      const account = await readAccount(reader, caller, id, 'showAccounts');
      await assertMayShow(reader, caller);
      return { status: 200, body: accountResource.present(account) };
    },
  });
}

function accountWriteRoutes(api: Api, deps: ReadingDeps): void {
  api.post('/v1/accounts', {
    operationId: 'openAccount',
    permits: 'manageAccess',
    idempotent: 'tenant',
    body: OpenAccountBody,
    responses: { 201: AccountSchema, 200: AccountSchema },
    refusals: [
      'alias_reserved',
      'alias_taken',
      'alias_in_quarantine',
      'phone_taken',
      'quota_exceeded',
    ],
    summary: 'Open an account',
    description: 'Active and unverified, with zero in every asset. The member becomes its owner.',
    handler: async ({ caller, body, idempotency }) => {
      const { type, name, alias = null, phone = null, metadata = null } = body;
      const request = { type, name, alias, phone, metadata };
      const result = await openOwnAccount(deps, caller, request, idempotency);
      return creationResponse(result, accountResource.present);
    },
  });

  api.patch('/v1/accounts/{account_id}', {
    operationId: 'updateAccount',
    permits: 'shareAccount',
    body: MetadataBody,
    responses: { 200: AccountSchema },
    summary: 'Change the metadata of an account',
    description: 'Sets these pairs, and removes those whose value is null. All others stay.',
    handler: async (request) => {
      const id = pathId(request, 'account_id');
      const { metadata } = request.body;
      const account = await changeAccountMetadata(deps, request.caller, id, metadata);
      return { status: 200, body: accountResource.present(account) };
    },
  });
}

function balanceAndMovementRoutes(api: Api, deps: ReadingDeps, cursors: Cursors): void {
  const { database } = deps;
  const balances = new Balances(database.reader);
  api.get('/v1/accounts/{account_id}/balances', {
    operationId: 'getBalances',
    permits: 'readAccount',
    query: BalancesQuery,
    responses: { 200: BalancesResponse },
    summary: 'Read the balances of an account',
    description:
      'Held funds are part of the total but cannot be spent. With `at`, the exact totals at a past moment, which never change.',
    handler: async (request) => {
      const { caller, query: input } = request;
      const accountId = pathId(request, 'account_id');
      if (input.at !== undefined)
        return { status: 200, body: await readPastBalances(deps, caller, accountId, input.at) };
      return { status: 200, body: await balances.read(caller, accountId) };
    },
  });

  api.get('/v1/accounts/{account_id}/movements', {
    operationId: 'listMovements',
    permits: 'readAccount',
    query: MovementQuery,
    responses: { 200: MovementPageSchema },
    summary: 'List the movements of an account',
    description:
      'Newest first. With `order=asc`, oldest first: `next_cursor` is then never null, and gets newer movements later. A cursor whose movement a restore of the service has lost gets 400 with the reason `expired`.',
    handler: (request) =>
      respondWithNumberedPage(cursors, request, async (position, limit, mark) => {
        const { caller, query: input } = request;
        const filter = {
          asset: input.asset,
          kind: input.kind,
          from: input['created_at[gte]'],
          to: input['created_at[lte]'],
        };
        const accountId = pathId(request, 'account_id');
        const reader = database.readerFor(caller);
        await readAccount(reader, caller, accountId, 'readAccount');
        if (input.order === 'asc') {
          const after =
            position === null || mark === undefined ? null : { seq: position, id: asUuid(mark) };
          const page = await readMovementsAfter(reader, accountId, filter, after, limit);
          const items = page.items.map(presentMovement);
          return page.last === null
            ? { items, next: 0n }
            : { items, next: page.last.seq, mark: page.last.id };
        }
        const page = await readMovements(reader, accountId, filter, position, limit);
        return { items: page.items.map(presentMovement), next: page.nextBefore };
      }),
  });
}

interface IdentityDeps extends DeclarationDeps {
  readonly recipientBudget: RecipientBudget;
}

export function identityRoutes(api: Api, deps: IdentityDeps): void {
  lookupRoute(api, deps);
  aliasRoutes(api, deps);
  verificationRoute(api, deps);
}

function lookupRoute(api: Api, { database, recipientBudget }: IdentityDeps): void {
  const aliases = new AliasLookup(database.reader);
  api.get('/v1/accounts/lookup', {
    operationId: 'lookUpAccount',
    permits: 'lookUp',
    rateClass: 'lookup',
    query: LookupQuery,
    responses: { 200: LookupSchema },
    refusals: ['missing_query', 'not_found'],
    summary: 'Look up a recipient',
    description:
      'Finds an account by exactly one of alias and phone. An alias is looked for in your tenant only; a phone also in your network, where only a single match counts. Returns only what a payer needs to recognise the recipient.',
    handler: async ({ caller, query: { alias, phone } }) => {
      // An empty text is refused, even next to the other parameter.
      if ((alias === undefined) === (phone === undefined) || alias === '' || phone === '') {
        const message = 'exactly one of alias or phone is needed';
        throw new ApiError({ code: 'missing_query', message });
      }
      const found =
        alias === undefined
          ? await lookUpPhone(
              database.readerFor(caller),
              caller.tenantId,
              parsePhoneOrThrow(phone ?? ''),
            )
          : await aliases.find(caller.tenantId, parseAliasOrThrow(alias));
      // Charged first, because even "not found" reveals who is a customer.
      await recipientBudget.charge(caller, [found?.account_id ?? null]);
      if (found === null) throw notFound(alias === undefined ? 'phone' : 'alias');
      return { status: 200, body: found };
    },
  });
}

function parsePhoneOrThrow(text: string): string {
  const phone = parsePhone(text);
  if (phone === null) throw new ApiError(invalidField('phone', 'malformed'));
  return phone;
}

function aliasRoutes(api: Api, deps: IdentityDeps): void {
  api.put('/v1/accounts/{account_id}/alias', {
    operationId: 'setAlias',
    permits: 'manageAccount',
    body: AliasBody,
    responses: { 200: AliasSchema },
    refusals: ['invalid_state', 'alias_reserved', 'alias_taken', 'alias_in_quarantine'],
    summary: 'Set the alias of an account',
    description: 'Releases the previous one, which nobody can take for 90 days.',
    handler: async (request) => {
      const { caller, body: input } = request;
      const id = pathId(request, 'account_id');
      const { alias } = await setAlias(deps, id, input.alias, caller);
      return { status: 200, body: { account_id: id, alias } };
    },
  });

  api.delete('/v1/accounts/{account_id}/alias', {
    operationId: 'deleteAlias',
    permits: 'manageAccount',
    responses: { 204: null },
    refusals: ['invalid_state'],
    summary: 'Release the alias of an account',
    description: 'Nobody can take it for 90 days.',
    handler: async (request) => {
      await releaseAlias(deps, pathId(request, 'account_id'), request.caller);
      return { status: 204 };
    },
  });
}

function verificationRoute(api: Api, deps: IdentityDeps): void {
  api.put('/v1/accounts/{account_id}/verification', {
    operationId: 'declareVerification',
    permits: 'manageAccount',
    body: VerificationBody,
    responses: { 200: VerificationSchema },
    refusals: ['invalid_state'],
    summary: 'Declare the verification of an account',
    description: 'From then on the account can send. Declaring it again replaces the data.',
    handler: async (request) => {
      const { caller, body: input } = request;
      const id = pathId(request, 'account_id');
      const declared = {
        type: input.type,
        legalName: input.legal_name,
        documentType: input.document_type,
        documentNumber: input.document_number,
        country: input.country,
        declaredAt: input.declared_at ?? null,
      };
      return { status: 200, body: await declareVerification(deps, id, declared, caller) };
    },
  });
}
