import { ApiError, invalidField } from '../core/errors.js';
import type { Api } from '../http/api.js';
import { answers, body, limitedAs, named, pathId, permits, query, refuses, summary } from '../http/route.js';
import { readAlias } from './alias.js';
import { parsePhone } from './identifiers.js';
import { AliasBody, AliasSchema, LookupQuery, LookupSchema, VerificationBody, VerificationSchema } from './schemas.js';
import type { Accounts } from './service.js';

/** Who holds an account, and what it is called. */
export function identityRoutes(api: Api, accounts: Accounts): void {
  lookup(api, accounts);
  alias(api, accounts);
  verification(api, accounts);
}

function lookup(api: Api, accounts: Accounts): void {
  api.get(
    '/v1/accounts/lookup',
    named('lookUpAccount'),
    permits('lookUp'),
    limitedAs('lookup'),
    query(LookupQuery),
    answers({ 200: LookupSchema }),
    refuses('missing_query', 'not_found'),
    summary('Look up a recipient', 'By exactly one of alias or phone; returns only what a sender needs.'),
    async ({ caller, query: { alias: aliasText, phone: phoneText } }) => {
      // An empty text counts as absent.
      if ((aliasText === undefined) === (phoneText === undefined) || aliasText === '' || phoneText === '')
        throw new ApiError({ code: 'missing_query', message: 'exactly one of alias or phone is needed' });
      if (aliasText !== undefined)
        return { status: 200, body: await accounts.lookUpAlias(caller, readAlias(aliasText)) };
      const wanted = parsePhone(phoneText ?? '');
      if (wanted === null) throw new ApiError(invalidField('phone', 'malformed'));
      return { status: 200, body: await accounts.lookUpPhone(caller, wanted) };
    },
  );
}

function alias(api: Api, accounts: Accounts): void {
  api.put(
    '/v1/accounts/{account_id}/alias',
    named('setAlias'),
    permits('manageAccount'),
    body(AliasBody),
    answers({ 200: AliasSchema }),
    refuses('invalid_state', 'alias_reserved', 'alias_taken', 'alias_in_quarantine'),
    summary('Set the alias of an account', 'Releases the previous one, which nobody can take for 90 days.'),
    async (request) => {
      const wanted = readAlias(request.body.alias);
      const account = await accounts.setAlias(request.caller, pathId(request, 'account_id'), wanted);
      return { status: 200, body: { account_id: account.id, alias: account.alias } };
    },
  );

  api.delete(
    '/v1/accounts/{account_id}/alias',
    named('deleteAlias'),
    permits('manageAccount'),
    answers({ 204: null }),
    refuses('invalid_state'),
    summary('Release the alias of an account', 'Nobody can take it for 90 days.'),
    async (request) => {
      await accounts.releaseAlias(request.caller, pathId(request, 'account_id'));
      return { status: 204 };
    },
  );
}

function verification(api: Api, accounts: Accounts): void {
  api.put(
    '/v1/accounts/{account_id}/verification',
    named('declareVerification'),
    permits('manageAccount'),
    body(VerificationBody),
    answers({ 200: VerificationSchema }),
    refuses('invalid_state'),
    summary(
      'Declare the verification of an account',
      'From then on the account can send. Declaring it again replaces the data.',
    ),
    async (request) => {
      const declared = request.body;
      const answer = await accounts.declareVerification(request.caller, pathId(request, 'account_id'), {
        type: declared.type,
        legalName: declared.legal_name,
        documentType: declared.document_type,
        documentNumber: declared.document_number,
        country: declared.country,
        declaredAt: declared.declared_at ?? null,
      });
      return { status: 200, body: answer };
    },
  );
}
