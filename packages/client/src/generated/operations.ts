// Made from the OpenAPI document by `npm run docs:client`. Do not edit.

import { type CallOptions, Calls } from '../calls.js';
import type { List } from '../list.js';
import { segment } from '../segment.js';
import type { BodyOf, FormOf, ParamOf, QueryOf, ResultOf } from '../shapes.js';

/** Every operation of the API, by its name. */
export class Operations extends Calls {
  /**
   * List accounts.
   * Those in which the member of the token has a role, newest first.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  listAccounts(query: QueryOf<'listAccounts'> = {}, options?: CallOptions): List<ResultOf<'listAccounts'>> {
    return this.list(
      { operation: 'listAccounts', method: 'GET', path: '/v1/accounts', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Read an account.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  getAccount(accountId: ParamOf<'getAccount', 'account_id'>, options?: CallOptions): Promise<ResultOf<'getAccount'>> {
    return this.send(
      { operation: 'getAccount', method: 'GET', path: `/v1/accounts/${segment(accountId)}`, repeats: 'freely' },
      options,
    ) as Promise<ResultOf<'getAccount'>>;
  }

  /**
   * Read the limits of an account.
   * Of one operation, and of the month with what it has used.
   * Scope: `read` or `transfers`. Role in the account: viewer, operator, approver, admin, owner.
   */
  getLimits(accountId: ParamOf<'getLimits', 'account_id'>, options?: CallOptions): Promise<ResultOf<'getLimits'>> {
    return this.send(
      { operation: 'getLimits', method: 'GET', path: `/v1/accounts/${segment(accountId)}/limits`, repeats: 'freely' },
      options,
    ) as Promise<ResultOf<'getLimits'>>;
  }

  /**
   * Read the balances of an account.
   * Held funds are part of the total but cannot be spent. With `at`, the totals of a past moment: exact, and for ever the same.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  getBalances(
    accountId: ParamOf<'getBalances', 'account_id'>,
    query: QueryOf<'getBalances'> = {},
    options?: CallOptions,
  ): Promise<ResultOf<'getBalances'>> {
    return this.send(
      {
        operation: 'getBalances',
        method: 'GET',
        path: `/v1/accounts/${segment(accountId)}/balances`,
        repeats: 'freely',
        query,
      },
      options,
    ) as Promise<ResultOf<'getBalances'>>;
  }

  /**
   * List the movements of an account.
   * Newest first.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  listMovements(
    accountId: ParamOf<'listMovements', 'account_id'>,
    query: QueryOf<'listMovements'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listMovements'>> {
    return this.list(
      {
        operation: 'listMovements',
        method: 'GET',
        path: `/v1/accounts/${segment(accountId)}/movements`,
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Look up a recipient.
   * By exactly one of alias or phone; shows the least that a sender needs.
   * Scope: `lookup`.
   */
  lookUpAccount(query: QueryOf<'lookUpAccount'> = {}, options?: CallOptions): Promise<ResultOf<'lookUpAccount'>> {
    return this.send(
      { operation: 'lookUpAccount', method: 'GET', path: '/v1/accounts/lookup', repeats: 'freely', query },
      options,
    ) as Promise<ResultOf<'lookUpAccount'>>;
  }

  /**
   * Set the alias of an account.
   * Releases the one it had, which nobody may take for 90 days.
   * Scope: `transfers`. Role in the account: admin, owner.
   */
  setAlias(
    accountId: ParamOf<'setAlias', 'account_id'>,
    body: BodyOf<'setAlias'>,
    options?: CallOptions,
  ): Promise<ResultOf<'setAlias'>> {
    return this.send(
      {
        operation: 'setAlias',
        method: 'PUT',
        path: `/v1/accounts/${segment(accountId)}/alias`,
        repeats: 'by_itself',
        body,
      },
      options,
    ) as Promise<ResultOf<'setAlias'>>;
  }

  /**
   * Release the alias of an account.
   * Nobody may take it for 90 days.
   * Scope: `transfers`. Role in the account: admin, owner.
   */
  deleteAlias(
    accountId: ParamOf<'deleteAlias', 'account_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'deleteAlias'>> {
    return this.send(
      {
        operation: 'deleteAlias',
        method: 'DELETE',
        path: `/v1/accounts/${segment(accountId)}/alias`,
        repeats: 'by_itself',
      },
      options,
    ) as Promise<ResultOf<'deleteAlias'>>;
  }

  /**
   * Declare the verification of an account.
   * The account may send from then on. Repeated, it replaces the data.
   * Scope: `transfers`. Role in the account: admin, owner.
   */
  declareVerification(
    accountId: ParamOf<'declareVerification', 'account_id'>,
    body: BodyOf<'declareVerification'>,
    options?: CallOptions,
  ): Promise<ResultOf<'declareVerification'>> {
    return this.send(
      {
        operation: 'declareVerification',
        method: 'PUT',
        path: `/v1/accounts/${segment(accountId)}/verification`,
        repeats: 'by_itself',
        body,
      },
      options,
    ) as Promise<ResultOf<'declareVerification'>>;
  }

  /**
   * Send a transfer.
   * Moves money from one of your accounts to an account of your tenant or of your network. 202: the amount reaches the threshold of the source's approval policy, so it is held until other members approve.
   * Scope: `transfers`. Role in source: operator, admin, owner.
   */
  createTransfer(body: BodyOf<'createTransfer'>, options?: CallOptions): Promise<ResultOf<'createTransfer'>> {
    return this.send(
      { operation: 'createTransfer', method: 'POST', path: '/v1/transfers', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'createTransfer'>>;
  }

  /**
   * List transfers.
   * Newest first. With `idempotency_key`, what that key made; an empty list is no proof that it will not appear yet.
   * Scope: `read` or `transfers`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
   */
  listTransfers(query: QueryOf<'listTransfers'> = {}, options?: CallOptions): List<ResultOf<'listTransfers'>> {
    return this.list(
      { operation: 'listTransfers', method: 'GET', path: '/v1/transfers', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Read a transfer.
   * Scope: `read` or `transfers`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
   */
  getTransfer(id: ParamOf<'getTransfer', 'id'>, options?: CallOptions): Promise<ResultOf<'getTransfer'>> {
    return this.send(
      { operation: 'getTransfer', method: 'GET', path: `/v1/transfers/${segment(id)}`, repeats: 'freely' },
      options,
    ) as Promise<ResultOf<'getTransfer'>>;
  }

  /**
   * Approve a transfer.
   * Never by whoever created it. With the last approval it needs, the source is checked once more: the transfer is `completed`, or `rejected` with the code of the rule that stood against it. A second approval by the same member changes nothing. Answers the transfer in its new state. One whose time is over is settled as expired, and answers 409.
   * Scope: `transfers`. Role in source: approver, admin, owner, not the creator.
   */
  approveTransfer(id: ParamOf<'approveTransfer', 'id'>, options?: CallOptions): Promise<ResultOf<'approveTransfer'>> {
    return this.send(
      { operation: 'approveTransfer', method: 'POST', path: `/v1/transfers/${segment(id)}/approve`, repeats: 'by_key' },
      options,
    ) as Promise<ResultOf<'approveTransfer'>>;
  }

  /**
   * Reject a transfer.
   * Never by whoever created it, who cancels it instead. Answers the transfer in its new state. One whose time is over is settled as expired, and answers 409.
   * Scope: `transfers`. Role in source: approver, admin, owner, not the creator.
   */
  rejectTransfer(
    id: ParamOf<'rejectTransfer', 'id'>,
    body: BodyOf<'rejectTransfer'>,
    options?: CallOptions,
  ): Promise<ResultOf<'rejectTransfer'>> {
    return this.send(
      {
        operation: 'rejectTransfer',
        method: 'POST',
        path: `/v1/transfers/${segment(id)}/reject`,
        repeats: 'never',
        body,
      },
      options,
    ) as Promise<ResultOf<'rejectTransfer'>>;
  }

  /**
   * Cancel a transfer.
   * By whoever created it, or an admin or owner of the source. Answers the transfer in its new state. One whose time is over is settled as expired, and answers 409.
   * Scope: `transfers`. Role in source: admin, owner, the creator.
   */
  cancelTransfer(id: ParamOf<'cancelTransfer', 'id'>, options?: CallOptions): Promise<ResultOf<'cancelTransfer'>> {
    return this.send(
      { operation: 'cancelTransfer', method: 'POST', path: `/v1/transfers/${segment(id)}/cancel`, repeats: 'never' },
      options,
    ) as Promise<ResultOf<'cancelTransfer'>>;
  }

  /**
   * Read an approval policy.
   * Of an account and asset. 404 where nothing of it needs approval.
   * Scope: `read` or `transfers`. Role in the account: viewer, operator, approver, admin, owner.
   */
  getApprovalPolicy(
    accountId: ParamOf<'getApprovalPolicy', 'account_id'>,
    asset: ParamOf<'getApprovalPolicy', 'asset'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getApprovalPolicy'>> {
    return this.send(
      {
        operation: 'getApprovalPolicy',
        method: 'GET',
        path: `/v1/accounts/${segment(accountId)}/approval_policies/${segment(asset)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getApprovalPolicy'>>;
  }

  /**
   * Set an approval policy.
   * From `threshold` on, what leaves the account in this asset waits for approvals. What is pending keeps what it was created with. Where the tenant has a delay, what this lowers comes later and is shown in `pending`: a higher threshold, fewer approvals, a longer time. What is stricter counts at once. Setting what is in force withdraws what was to come.
   * Scope: `transfers`. Role in the account: admin, owner.
   */
  setApprovalPolicy(
    accountId: ParamOf<'setApprovalPolicy', 'account_id'>,
    asset: ParamOf<'setApprovalPolicy', 'asset'>,
    body: BodyOf<'setApprovalPolicy'>,
    options?: CallOptions,
  ): Promise<ResultOf<'setApprovalPolicy'>> {
    return this.send(
      {
        operation: 'setApprovalPolicy',
        method: 'PUT',
        path: `/v1/accounts/${segment(accountId)}/approval_policies/${segment(asset)}`,
        repeats: 'by_itself',
        body,
      },
      options,
    ) as Promise<ResultOf<'setApprovalPolicy'>>;
  }

  /**
   * Remove an approval policy.
   * Nothing new needs approval, at once or after the delay of the tenant: GET then shows when. What is pending goes on waiting.
   * Scope: `transfers`. Role in the account: admin, owner.
   */
  deleteApprovalPolicy(
    accountId: ParamOf<'deleteApprovalPolicy', 'account_id'>,
    asset: ParamOf<'deleteApprovalPolicy', 'asset'>,
    options?: CallOptions,
  ): Promise<ResultOf<'deleteApprovalPolicy'>> {
    return this.send(
      {
        operation: 'deleteApprovalPolicy',
        method: 'DELETE',
        path: `/v1/accounts/${segment(accountId)}/approval_policies/${segment(asset)}`,
        repeats: 'by_itself',
      },
      options,
    ) as Promise<ResultOf<'deleteApprovalPolicy'>>;
  }

  /**
   * Pay a bonus.
   * Pays one person at once and itemises the fee. The recipient is an account of your tenant or network, named by exactly one of its id, alias or phone. From the approval threshold of the source account on it is refused: a bonus cannot wait for another member, a transfer or a batch can.
   * Scope: `bonuses`. Role in source: operator, admin, owner.
   */
  createBonus(body: BodyOf<'createBonus'>, options?: CallOptions): Promise<ResultOf<'createBonus'>> {
    return this.send(
      { operation: 'createBonus', method: 'POST', path: '/v1/bonuses', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'createBonus'>>;
  }

  /**
   * List bonuses.
   * Single ones and those of batches, newest first. With `idempotency_key`, what that key made; an empty list is no proof that it will not appear yet.
   * Scope: `read` or `bonuses`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
   */
  listBonuses(query: QueryOf<'listBonuses'> = {}, options?: CallOptions): List<ResultOf<'listBonuses'>> {
    return this.list(
      { operation: 'listBonuses', method: 'GET', path: '/v1/bonuses', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Read a bonus.
   * Scope: `read` or `bonuses`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
   */
  getBonus(id: ParamOf<'getBonus', 'id'>, options?: CallOptions): Promise<ResultOf<'getBonus'>> {
    return this.send(
      { operation: 'getBonus', method: 'GET', path: `/v1/bonuses/${segment(id)}`, repeats: 'freely' },
      options,
    ) as Promise<ResultOf<'getBonus'>>;
  }

  /**
   * List batches.
   * Newest first. With `idempotency_key`, what that key made; an empty list is no proof that it will not appear yet.
   * Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
   */
  listBonusBatches(query: QueryOf<'listBonusBatches'> = {}, options?: CallOptions): List<ResultOf<'listBonusBatches'>> {
    return this.list(
      { operation: 'listBonusBatches', method: 'GET', path: '/v1/bonus_batches', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Upload a batch of bonuses.
   * An XLSX or CSV file, at most 10 MiB and 100,000 rows, as `GET /v1/bonus_batches/template` gives it. It is validated after; no money moves before it is executed.
   * Scope: `bonuses`. Role in source: operator, admin, owner.
   */
  uploadBonusBatch(form: FormOf<'uploadBonusBatch'>, options?: CallOptions): Promise<ResultOf<'uploadBonusBatch'>> {
    return this.send(
      { operation: 'uploadBonusBatch', method: 'POST', path: '/v1/bonus_batches', repeats: 'by_key', form },
      options,
    ) as Promise<ResultOf<'uploadBonusBatch'>>;
  }

  /**
   * Read a batch.
   * While it is `ready`, with what a person reviews before money moves.
   * Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
   */
  getBonusBatch(
    batchId: ParamOf<'getBonusBatch', 'batch_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getBonusBatch'>> {
    return this.send(
      { operation: 'getBonusBatch', method: 'GET', path: `/v1/bonus_batches/${segment(batchId)}`, repeats: 'freely' },
      options,
    ) as Promise<ResultOf<'getBonusBatch'>>;
  }

  /**
   * List the rows of a batch.
   * In the order of the file, once it is accepted.
   * Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
   */
  listBonusBatchRows(
    batchId: ParamOf<'listBonusBatchRows', 'batch_id'>,
    query: QueryOf<'listBonusBatchRows'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listBonusBatchRows'>> {
    return this.list(
      {
        operation: 'listBonusBatchRows',
        method: 'GET',
        path: `/v1/bonus_batches/${segment(batchId)}/rows`,
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Execute a batch.
   * Money leaves from now on, row after row. If the funds cover the whole debit they are held at once; if not, each row is tried in the order of the file. From the approval threshold of the source account on, another member than the uploader executes it.
   * Scope: `bonuses`. Role in source: approver, admin, owner.
   */
  executeBonusBatch(
    batchId: ParamOf<'executeBonusBatch', 'batch_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'executeBonusBatch'>> {
    return this.send(
      {
        operation: 'executeBonusBatch',
        method: 'POST',
        path: `/v1/bonus_batches/${segment(batchId)}/execute`,
        repeats: 'by_key',
      },
      options,
    ) as Promise<ResultOf<'executeBonusBatch'>>;
  }

  /**
   * Withdraw a batch.
   * While it is `ready`, by whoever uploaded it, or an admin or owner of the source. It ends as `rejected` with `rejection` {code: "withdrawn"}, and pays nobody.
   * Scope: `bonuses`. Role in source: admin, owner, the uploader.
   */
  cancelBonusBatch(
    batchId: ParamOf<'cancelBonusBatch', 'batch_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'cancelBonusBatch'>> {
    return this.send(
      {
        operation: 'cancelBonusBatch',
        method: 'POST',
        path: `/v1/bonus_batches/${segment(batchId)}/cancel`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'cancelBonusBatch'>>;
  }

  /**
   * Download an empty file to fill in.
   * With an example row. `format`: xlsx, or csv unless said.
   * Scope: `read` or `bonuses`.
   */
  downloadBonusBatchTemplate(query: QueryOf<'downloadBonusBatchTemplate'> = {}, options?: CallOptions): Promise<Blob> {
    return this.download(
      {
        operation: 'downloadBonusBatchTemplate',
        method: 'GET',
        path: '/v1/bonus_batches/template',
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Download the errors file.
   * Every problem of a rejected file, a line each: row, column, code, message, value. CSV, or XLSX with `format=xlsx`.
   * Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
   */
  downloadBonusBatchErrors(
    batchId: ParamOf<'downloadBonusBatchErrors', 'batch_id'>,
    query: QueryOf<'downloadBonusBatchErrors'> = {},
    options?: CallOptions,
  ): Promise<Blob> {
    return this.download(
      {
        operation: 'downloadBonusBatchErrors',
        method: 'GET',
        path: `/v1/bonus_batches/${segment(batchId)}/files/errors`,
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Download the result file.
   * What became of each row of an executed batch. CSV, or XLSX with `format=xlsx`.
   * Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
   */
  downloadBonusBatchResult(
    batchId: ParamOf<'downloadBonusBatchResult', 'batch_id'>,
    query: QueryOf<'downloadBonusBatchResult'> = {},
    options?: CallOptions,
  ): Promise<Blob> {
    return this.download(
      {
        operation: 'downloadBonusBatchResult',
        method: 'GET',
        path: `/v1/bonus_batches/${segment(batchId)}/files/result`,
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Pay out to a bank account.
   * Holds the amount and its fee, and sends it over the operator's rail for the country. 201: it is `approved` and on its way. 202: the amount reaches the threshold of the source's approval policy, so it waits until other members approve. `400 invalid_field` with reason `not_supported`: no rail goes to this country.
   * Scope: `payouts`. Role in source: operator, admin, owner.
   */
  createPayout(body: BodyOf<'createPayout'>, options?: CallOptions): Promise<ResultOf<'createPayout'>> {
    return this.send(
      { operation: 'createPayout', method: 'POST', path: '/v1/payouts', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'createPayout'>>;
  }

  /**
   * List payouts.
   * Newest first. With `idempotency_key`, what that key made; an empty list is no proof that it will not appear yet.
   * Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
   */
  listPayouts(query: QueryOf<'listPayouts'> = {}, options?: CallOptions): List<ResultOf<'listPayouts'>> {
    return this.list(
      { operation: 'listPayouts', method: 'GET', path: '/v1/payouts', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Read a payout.
   * What it is now, and by `status_transitions` all that it was: its state can be rebuilt from this alone.
   * Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
   */
  getPayout(id: ParamOf<'getPayout', 'id'>, options?: CallOptions): Promise<ResultOf<'getPayout'>> {
    return this.send(
      { operation: 'getPayout', method: 'GET', path: `/v1/payouts/${segment(id)}`, repeats: 'freely' },
      options,
    ) as Promise<ResultOf<'getPayout'>>;
  }

  /**
   * Approve a payout.
   * Never by whoever created it. With the last approval it needs, the source is checked once more: the payout is `approved`, or `rejected` with the code of the rule that stood against it. A second approval by the same member changes nothing. Answers the payout in its new state. One whose time is over is settled as canceled, and answers 409.
   * Scope: `payouts`. Role in source: approver, admin, owner, not the creator.
   */
  approvePayout(id: ParamOf<'approvePayout', 'id'>, options?: CallOptions): Promise<ResultOf<'approvePayout'>> {
    return this.send(
      { operation: 'approvePayout', method: 'POST', path: `/v1/payouts/${segment(id)}/approve`, repeats: 'by_key' },
      options,
    ) as Promise<ResultOf<'approvePayout'>>;
  }

  /**
   * Reject a payout.
   * Never by whoever created it, who cancels it instead. Answers the payout in its new state. One whose time is over is settled as canceled, and answers 409.
   * Scope: `payouts`. Role in source: approver, admin, owner, not the creator.
   */
  rejectPayout(
    id: ParamOf<'rejectPayout', 'id'>,
    body: BodyOf<'rejectPayout'>,
    options?: CallOptions,
  ): Promise<ResultOf<'rejectPayout'>> {
    return this.send(
      { operation: 'rejectPayout', method: 'POST', path: `/v1/payouts/${segment(id)}/reject`, repeats: 'never', body },
      options,
    ) as Promise<ResultOf<'rejectPayout'>>;
  }

  /**
   * Cancel a payout.
   * By whoever created it, or an admin or owner of the source, while it is `pending_approval` or `approved`: what is `in_progress` may have left. Answers the payout in its new state. One whose time is over is settled as canceled, and answers 409.
   * Scope: `payouts`. Role in source: admin, owner, the creator.
   */
  cancelPayout(id: ParamOf<'cancelPayout', 'id'>, options?: CallOptions): Promise<ResultOf<'cancelPayout'>> {
    return this.send(
      { operation: 'cancelPayout', method: 'POST', path: `/v1/payouts/${segment(id)}/cancel`, repeats: 'never' },
      options,
    ) as Promise<ResultOf<'cancelPayout'>>;
  }

  /**
   * List the events of the tenant.
   * Newest first. With `order=asc` the log is followed upward: `next_cursor` is then never null, ask again with it for what came since. A cursor before `first_sequence` is 400 with the reason `expired`. `gaps` says where a restore of the service has left sequences out.
   * Scope: `read` or `webhooks`.
   */
  listEvents(query: QueryOf<'listEvents'> = {}, options?: CallOptions): List<ResultOf<'listEvents'>> {
    return this.list({ operation: 'listEvents', method: 'GET', path: '/v1/events', repeats: 'freely', query }, options);
  }

  /**
   * Read an event.
   * Scope: `read` or `webhooks`.
   */
  getEvent(id: ParamOf<'getEvent', 'id'>, options?: CallOptions): Promise<ResultOf<'getEvent'>> {
    return this.send(
      { operation: 'getEvent', method: 'GET', path: `/v1/events/${segment(id)}`, repeats: 'freely' },
      options,
    ) as Promise<ResultOf<'getEvent'>>;
  }

  /**
   * Deliver an event again.
   * To every enabled endpoint that is subscribed to its type, signed like the original and with the same event id.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  redeliverEvent(id: ParamOf<'redeliverEvent', 'id'>, options?: CallOptions): Promise<ResultOf<'redeliverEvent'>> {
    return this.send(
      { operation: 'redeliverEvent', method: 'POST', path: `/v1/events/${segment(id)}/redeliver`, repeats: 'never' },
      options,
    ) as Promise<ResultOf<'redeliverEvent'>>;
  }

  /**
   * Register a webhook endpoint.
   * It is told of every event of its types from now on. The answer holds the signing secret, this once: a replay shows the endpoint without it, and a secret that was lost is rotated. At most 16 for a tenant.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  createWebhookEndpoint(
    body: BodyOf<'createWebhookEndpoint'>,
    options?: CallOptions,
  ): Promise<ResultOf<'createWebhookEndpoint'>> {
    return this.send(
      { operation: 'createWebhookEndpoint', method: 'POST', path: '/v1/webhook_endpoints', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'createWebhookEndpoint'>>;
  }

  /**
   * List the webhook endpoints.
   * Newest first.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  listWebhookEndpoints(
    query: QueryOf<'listWebhookEndpoints'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listWebhookEndpoints'>> {
    return this.list(
      { operation: 'listWebhookEndpoints', method: 'GET', path: '/v1/webhook_endpoints', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Read a webhook endpoint.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  getWebhookEndpoint(
    id: ParamOf<'getWebhookEndpoint', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getWebhookEndpoint'>> {
    return this.send(
      {
        operation: 'getWebhookEndpoint',
        method: 'GET',
        path: `/v1/webhook_endpoints/${segment(id)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getWebhookEndpoint'>>;
  }

  /**
   * Change a webhook endpoint.
   * What is on its way goes to a new `url`. Deliveries of a type that is removed end; a type that is added starts with the next event. Enabled again, it gets what was not delivered since 5 days before it was disabled.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  updateWebhookEndpoint(
    id: ParamOf<'updateWebhookEndpoint', 'id'>,
    body: BodyOf<'updateWebhookEndpoint'>,
    options?: CallOptions,
  ): Promise<ResultOf<'updateWebhookEndpoint'>> {
    return this.send(
      {
        operation: 'updateWebhookEndpoint',
        method: 'PATCH',
        path: `/v1/webhook_endpoints/${segment(id)}`,
        repeats: 'by_itself',
        body,
      },
      options,
    ) as Promise<ResultOf<'updateWebhookEndpoint'>>;
  }

  /**
   * Delete a webhook endpoint.
   * Nothing more is sent to it. Repeating it is no error.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  deleteWebhookEndpoint(
    id: ParamOf<'deleteWebhookEndpoint', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'deleteWebhookEndpoint'>> {
    return this.send(
      {
        operation: 'deleteWebhookEndpoint',
        method: 'DELETE',
        path: `/v1/webhook_endpoints/${segment(id)}`,
        repeats: 'by_itself',
      },
      options,
    ) as Promise<ResultOf<'deleteWebhookEndpoint'>>;
  }

  /**
   * Rotate the signing secret.
   * The new secret signs from now on, and is shown here and never again. For 24 hours `Svc-Signature-Previous` carries the signature of the one before.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  rotateWebhookSecret(
    id: ParamOf<'rotateWebhookSecret', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'rotateWebhookSecret'>> {
    return this.send(
      {
        operation: 'rotateWebhookSecret',
        method: 'POST',
        path: `/v1/webhook_endpoints/${segment(id)}/rotate_secret`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'rotateWebhookSecret'>>;
  }

  /**
   * Send a test.
   * A signed body of type `webhook.test`, sent at once and once, also to a disabled endpoint. What came of it is among the deliveries, under the `id` that is answered here as `event_id`.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  testWebhookEndpoint(
    id: ParamOf<'testWebhookEndpoint', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'testWebhookEndpoint'>> {
    return this.send(
      {
        operation: 'testWebhookEndpoint',
        method: 'POST',
        path: `/v1/webhook_endpoints/${segment(id)}/test`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'testWebhookEndpoint'>>;
  }

  /**
   * Recover what was missed.
   * Sends again every event since then, of the types that are subscribed to, that has no 2xx from this endpoint.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  recoverWebhookEndpoint(
    id: ParamOf<'recoverWebhookEndpoint', 'id'>,
    body: BodyOf<'recoverWebhookEndpoint'>,
    options?: CallOptions,
  ): Promise<ResultOf<'recoverWebhookEndpoint'>> {
    return this.send(
      {
        operation: 'recoverWebhookEndpoint',
        method: 'POST',
        path: `/v1/webhook_endpoints/${segment(id)}/recover`,
        repeats: 'never',
        body,
      },
      options,
    ) as Promise<ResultOf<'recoverWebhookEndpoint'>>;
  }

  /**
   * List the deliveries to a webhook endpoint.
   * Newest first, each with its attempts. Kept 30 days.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  listWebhookDeliveries(
    id: ParamOf<'listWebhookDeliveries', 'id'>,
    query: QueryOf<'listWebhookDeliveries'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listWebhookDeliveries'>> {
    return this.list(
      {
        operation: 'listWebhookDeliveries',
        method: 'GET',
        path: `/v1/webhook_endpoints/${segment(id)}/deliveries`,
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Make a statement.
   * Of the movements of one asset of an account in a period, with its balance before and after. The figures stand at once and for ever; the files, as CSV and XLSX, follow within seconds, of long statements within minutes.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  createStatement(body: BodyOf<'createStatement'>, options?: CallOptions): Promise<ResultOf<'createStatement'>> {
    return this.send(
      { operation: 'createStatement', method: 'POST', path: '/v1/statements', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'createStatement'>>;
  }

  /**
   * List statements.
   * Of the accounts in which the member of the token has a role, newest first.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  listStatements(query: QueryOf<'listStatements'> = {}, options?: CallOptions): List<ResultOf<'listStatements'>> {
    return this.list(
      { operation: 'listStatements', method: 'GET', path: '/v1/statements', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Read a statement.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  getStatement(
    statementId: ParamOf<'getStatement', 'statement_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getStatement'>> {
    return this.send(
      { operation: 'getStatement', method: 'GET', path: `/v1/statements/${segment(statementId)}`, repeats: 'freely' },
      options,
    ) as Promise<ResultOf<'getStatement'>>;
  }

  /**
   * Download a statement.
   * A line for the opening balance, one for each movement, oldest first, and one for the closing balance. CSV, or XLSX with `format=xlsx`. 404 unless it is ready.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  downloadStatement(
    statementId: ParamOf<'downloadStatement', 'statement_id'>,
    query: QueryOf<'downloadStatement'> = {},
    options?: CallOptions,
  ): Promise<Blob> {
    return this.download(
      {
        operation: 'downloadStatement',
        method: 'GET',
        path: `/v1/statements/${segment(statementId)}/file`,
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Read what became of a request.
   * Of a request of the same member that changed something or was to, or that failed by a fault of the service, by the `Svc-Request-Id` of its answer; for 30 days, and a second after the answer. The token needs a scope that the request itself took.
   * Scope: `read` or `lookup` or `transfers` or `bonuses` or `payouts` or `webhooks`.
   */
  getRequest(requestId: ParamOf<'getRequest', 'request_id'>, options?: CallOptions): Promise<ResultOf<'getRequest'>> {
    return this.send(
      { operation: 'getRequest', method: 'GET', path: `/v1/requests/${segment(requestId)}`, repeats: 'freely' },
      options,
    ) as Promise<ResultOf<'getRequest'>>;
  }
}
