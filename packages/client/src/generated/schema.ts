// Generated from the OpenAPI document by `npm run docs:client`. Do not edit.

export interface paths {
  '/v1/transfers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List transfers
     * @description Newest first. With `idempotency_key`, what that key created or approved; an empty list does not rule out that it appears later.
     *
     *     Scope: `read` or `transfers`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
     */
    get: operations['listTransfers'];
    put?: never;
    /**
     * Send a transfer
     * @description Moves money from one of your accounts to an account of your tenant or of your network. If the amount reaches the threshold of the source's approval policy, the response is 202, and the amount is held until other members approve the transfer. With `capture: manual`, amount and fee are held, and the transfer is `held` until it is captured, canceled or expires.
     *
     *     Scope: `transfers`. Role in source: operator, admin, owner.
     */
    post: operations['createTransfer'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/transfers/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a transfer
     * @description Scope: `read` or `transfers`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
     */
    get: operations['getTransfer'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Change the metadata of a transfer
     * @description Sets the pairs of the request, and removes those whose value is null. Possible in every state. Writes no event.
     *
     *     Scope: `transfers`. Role in source: operator, admin, owner.
     */
    patch: operations['updateTransfer'];
    trace?: never;
  };
  '/v1/transfers/{id}/approve': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Approve a transfer
     * @description The creator cannot approve it. At the last approval needed, the source (`capability_cannot_send`) and the destination (`not_found`, `invalid_field`) are checked again: the transfer becomes `completed`, or `rejected` with the code of the rule that refused it. A second approval by the same member changes nothing. Returns the transfer in its new state. If it has expired by then, it ends as `expired` and the response is 409.
     *
     *     Scope: `transfers`. Role in source: approver, admin, owner, not the creator.
     */
    post: operations['approveTransfer'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/transfers/{id}/reject': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Reject a transfer
     * @description The creator cannot reject it, but can cancel it. Returns the transfer in its new state. If it has expired by then, it ends as `expired` and the response is 409.
     *
     *     Scope: `transfers`. Role in source: approver, admin, owner, not the creator.
     */
    post: operations['rejectTransfer'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/transfers/{id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Cancel a transfer
     * @description The creator, an admin or an owner of the source can cancel it while it is `pending_approval` or `held`. Returns the transfer in its new state. If it has expired by then, it ends as `expired` and the response is 409.
     *
     *     Scope: `transfers`. Role in source: admin, owner, the creator.
     */
    post: operations['cancelTransfer'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/transfers/{id}/capture': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Capture a transfer
     * @description Moves a held transfer, or the part of it that `amount` names, and releases the rest of the hold. To capture everything, send the body `{}`. The fee is that of the captured amount, at most the held fee. If the source may not send or the destination cannot be paid, the transfer stays `held`. If it has expired, it ends as `expired` and the response is 409.
     *
     *     Scope: `transfers`. Role in source: operator, admin, owner.
     */
    post: operations['captureTransfer'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/transfers/{id}/refunds': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Refund a transfer
     * @description Sends back all or a part of a transfer that one of your accounts received, to the account that paid it. To refund all that is left, send the body `{}`. The fee stays with its receiver, a refund costs none, and no limit applies. If the amount reaches the threshold of the receiving account's approval policy, the response is 202, and the refund waits like any other transfer. Needs the role operator, admin or owner in the account that received the money.
     *
     *     Scope: `transfers`. Role in source: operator, admin, owner.
     */
    post: operations['refundTransfer'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonuses/{id}/refunds': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Refund a bonus
     * @description Sends back all or a part of a bonus that one of your accounts received, to the account that paid it. To refund all that is left, send the body `{}`. The fee stays with its receiver, a refund costs none, and no limit applies. If the amount reaches the threshold of the receiving account's approval policy, the response is 202, and the refund waits like any other transfer. Needs the role operator, admin or owner in the account that received the money.
     *
     *     Scope: `transfers`. Role in source: operator, admin, owner.
     */
    post: operations['refundBonus'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/schedules': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List schedules
     * @description Newest first. With `idempotency_key`, what that key created or approved; an empty list does not rule out that it appears later.
     *
     *     Scope: `read` or `transfers`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['listSchedules'];
    put?: never;
    /**
     * Schedule a transfer
     * @description Each run creates one transfer, under the rules of its own moment; limits, funds and approvals are not checked before. Runs keep the time of day in the tenant's time zone; on a day that a month lacks, they are on its last day.
     *
     *     Scope: `transfers`. Role in source: operator, admin, owner.
     */
    post: operations['createSchedule'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/schedules/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a schedule
     * @description Scope: `read` or `transfers`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['getSchedule'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/schedules/{id}/pause': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Pause a schedule
     * @description Stops its runs until it is resumed.
     *
     *     Scope: `transfers`. Role in source: operator, admin, owner, the creator.
     */
    post: operations['pauseSchedule'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/schedules/{id}/resume': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Resume a schedule
     * @description Continues with the next run after this moment: those that became due before are skipped. If none is left, the schedule is `completed`.
     *
     *     Scope: `transfers`. Role in source: operator, admin, owner, the creator.
     */
    post: operations['resumeSchedule'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/schedules/{id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Cancel a schedule
     * @description Ends it for good. Transfers that it has created stay as they are.
     *
     *     Scope: `transfers`. Role in source: operator, admin, owner, the creator.
     */
    post: operations['cancelSchedule'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payouts': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List payouts
     * @description Newest first. With `idempotency_key`, what that key created or approved; an empty list does not rule out that it appears later.
     *
     *     Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['listPayouts'];
    put?: never;
    /**
     * Pay out to a bank account or a Bre-B key
     * @description Holds the amount and its fee, and sends the amount to the bank. 201: the payout is `approved`. 202: the amount reaches the threshold of the source's approval policy, so the payout waits for approval. `400 invalid_field` with the reason `not_supported`: no rail pays out to this country, or the rail does not take this kind of destination or amount.
     *
     *     Scope: `payouts`. Role in source: operator, admin, owner.
     */
    post: operations['createPayout'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payout_recipients': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Look up the holder of a Bre-B key
     * @description Asks the rail who holds the key now. Counts against the budget of new recipients, unless the tenant has looked up the key before. `503 rail_unavailable`: the rail did not say it, so nothing is known.
     *
     *     Scope: `payouts`.
     */
    get: operations['lookUpPayoutRecipient'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payouts/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a payout
     * @description Its current state and, in `status_transitions`, every earlier one: its state can be rebuilt from this alone.
     *
     *     Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['getPayout'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Change the metadata of a payout
     * @description Sets the pairs of the request, and removes those whose value is null. Possible in every state. Writes no event.
     *
     *     Scope: `payouts`. Role in source: operator, admin, owner.
     */
    patch: operations['updatePayout'];
    trace?: never;
  };
  '/v1/payouts/{id}/approve': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Approve a payout
     * @description The creator cannot approve it. At the last approval needed, the source is checked again (`capability_cannot_send`): the payout becomes `approved`, or `rejected` with the code of the rule that refused it. A second approval by the same member changes nothing. Returns the payout in its new state. If it has expired by then, it ends as `canceled` and the response is 409.
     *
     *     Scope: `payouts`. Role in source: approver, admin, owner, not the creator.
     */
    post: operations['approvePayout'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payouts/{id}/reject': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Reject a payout
     * @description The creator cannot reject it, but can cancel it. Returns the payout in its new state. If it has expired by then, it ends as `canceled` and the response is 409.
     *
     *     Scope: `payouts`. Role in source: approver, admin, owner, not the creator.
     */
    post: operations['rejectPayout'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payouts/{id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Cancel a payout
     * @description The creator, an admin or an owner of the source can cancel it while it is `pending_approval` or `approved`. Once it is `in_progress`, the money may have left. Returns the payout in its new state. If it has expired by then, it ends as `canceled` and the response is 409.
     *
     *     Scope: `payouts`. Role in source: admin, owner, the creator.
     */
    post: operations['cancelPayout'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/accounts/{account_id}/approval_policies/{asset}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read an approval policy
     * @description The policy of one account and asset. 404 if it has none.
     *
     *     Scope: `read` or `transfers`. Role in the account: viewer, operator, approver, admin, owner.
     */
    get: operations['getApprovalPolicy'];
    /**
     * Set an approval policy
     * @description Amounts of `threshold` or more in this asset then need approvals to leave the account. Pending operations keep the policy they were created under. A batch whose total reaches the threshold, even of one row, does not wait for `approvals`: one member other than its uploader executes it. With `refuses_batches` such a batch is rejected when it is validated. If the tenant has a delay, whatever weakens the policy (a higher threshold, fewer approvals, a longer time, batches no longer refused) waits for it and is shown in `pending`; whatever makes it stricter takes effect at once. Setting the policy in force withdraws a pending change.
     *
     *     Scope: `transfers`. Role in the account: admin, owner.
     */
    put: operations['setApprovalPolicy'];
    post?: never;
    /**
     * Remove an approval policy
     * @description New operations then need no approval, at once or after the tenant's delay, in which case GET shows when. Pending ones keep waiting.
     *
     *     Scope: `transfers`. Role in the account: admin, owner.
     */
    delete: operations['deleteApprovalPolicy'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonuses': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List bonuses
     * @description Single bonuses and those of batches, newest first. With `idempotency_key`, what that key created or approved; an empty list does not rule out that it appears later.
     *
     *     Scope: `read` or `bonuses`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
     */
    get: operations['listBonuses'];
    put?: never;
    /**
     * Pay a bonus
     * @description Pays one person at once and itemises the fee. The recipient is an account of your tenant or network, named by exactly one of id, alias or phone. From the source account's approval threshold up it is refused: unlike a transfer or a batch, a bonus cannot wait for another member.
     *
     *     Scope: `bonuses`. Role in source: operator, admin, owner.
     */
    post: operations['createBonus'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonuses/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a bonus
     * @description Scope: `read` or `bonuses`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
     */
    get: operations['getBonus'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Change the metadata of a bonus
     * @description Sets the pairs of the request, and removes those whose value is null. Possible in every state. Writes no event.
     *
     *     Scope: `bonuses`. Role in source: operator, admin, owner.
     */
    patch: operations['updateBonus'];
    trace?: never;
  };
  '/v1/bonus_batches': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List batches
     * @description Newest first. With `idempotency_key`, what that key created or executed; an empty list does not rule out that it appears later.
     *
     *     Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['listBonusBatches'];
    put?: never;
    /**
     * Upload a batch of bonuses
     * @description An XLSX or CSV file of at most 10 MiB and 100,000 rows, laid out like `GET /v1/bonus_batches/template`. It is validated afterwards; no money moves until it is executed.
     *
     *     Scope: `bonuses`. Role in source: operator, admin, owner.
     */
    post: operations['uploadBonusBatch'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonus_batches/{batch_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a batch
     * @description While the batch is `ready`, the response includes what a person reviews before money moves.
     *
     *     Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['getBonusBatch'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonus_batches/{batch_id}/rows': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the rows of a batch
     * @description In file order, once the file is accepted.
     *
     *     Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['listBonusBatchRows'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonus_batches/{batch_id}/execute': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Execute a batch
     * @description From now on money leaves, row by row. If the funds cover the whole debit, they are held at once; if not, each row is tried in file order. From the source account's approval threshold up, a member other than the uploader must execute it. A repeat with the same key is a 202 too, with `Svc-Idempotent-Replayed: true` and the batch as it is now, which may have ended.
     *
     *     Scope: `bonuses`. Role in source: approver, admin, owner.
     */
    post: operations['executeBonusBatch'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonus_batches/{batch_id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Withdraw a batch
     * @description Withdraws a `ready` batch: its uploader can do this, and an admin or owner of the source. The batch ends as `rejected` with `rejection` {code: "withdrawn"}, and pays no one.
     *
     *     Scope: `bonuses`. Role in source: admin, owner, the uploader.
     */
    post: operations['cancelBonusBatch'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonus_batches/template': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download an empty file to fill in
     * @description A file with the columns and an example row. CSV, or XLSX with `format=xlsx`.
     *
     *     Scope: `read` or `bonuses`.
     */
    get: operations['downloadBonusBatchTemplate'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonus_batches/{batch_id}/files/errors': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download the errors file
     * @description Every problem in a rejected file, one per line: row, column, code, message, value. The codes: missing_field, invalid_field, not_found, ambiguous_recipient, same_account, below_minimum, above_per_operation_limit, mixed_asset, duplicate_reference, already_paid, formula_cell, missing_column, duplicate_column, ambiguous_sheet, no_rows, too_many_rows, too_many_columns, above_approval_threshold, rate_limited, unreadable_file, bad_encoding, too_large_inflated. CSV, or XLSX with `format=xlsx`.
     *
     *     Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['downloadBonusBatchErrors'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/bonus_batches/{batch_id}/files/result': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download the result file
     * @description What became of each row of an executed batch. CSV, or XLSX with `format=xlsx`.
     *
     *     Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['downloadBonusBatchResult'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payout_batches': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List batches
     * @description Newest first. With `idempotency_key`, what that key created or executed; an empty list does not rule out that it appears later.
     *
     *     Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['listPayoutBatches'];
    put?: never;
    /**
     * Upload a batch of payouts
     * @description An XLSX or CSV file of at most 10 MiB and 100,000 rows, laid out like `GET /v1/payout_batches/template`. It is validated afterwards; no money moves until it is executed.
     *
     *     Scope: `payouts`. Role in source: operator, admin, owner.
     */
    post: operations['uploadPayoutBatch'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payout_batches/{batch_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a batch
     * @description While the batch is `ready`, the response includes what a person reviews before money moves.
     *
     *     Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['getPayoutBatch'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payout_batches/{batch_id}/rows': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the rows of a batch
     * @description In file order, once the file is accepted.
     *
     *     Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['listPayoutBatchRows'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payout_batches/{batch_id}/execute': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Execute a batch
     * @description From now on money leaves, row by row. If the funds cover the whole debit, they are held at once; if not, each row is tried in file order. A member other than the uploader must execute it: this is the approval of its payouts, which start as `approved`. A repeat with the same key is a 202 too, with `Svc-Idempotent-Replayed: true` and the batch as it is now, which may have ended.
     *
     *     Scope: `payouts`. Role in source: approver, admin, owner, not the uploader.
     */
    post: operations['executePayoutBatch'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payout_batches/{batch_id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Withdraw a batch
     * @description Withdraws a `ready` batch: its uploader can do this, and an admin or owner of the source. The batch ends as `rejected` with `rejection` {code: "withdrawn"}, and pays no one.
     *
     *     Scope: `payouts`. Role in source: admin, owner, the uploader.
     */
    post: operations['cancelPayoutBatch'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payout_batches/template': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download an empty file to fill in
     * @description A file with the columns and an example row. CSV, or XLSX with `format=xlsx`.
     *
     *     Scope: `read` or `payouts`.
     */
    get: operations['downloadPayoutBatchTemplate'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payout_batches/{batch_id}/files/errors': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download the errors file
     * @description Every problem in a rejected file, one per line: row, column, code, message, value. The codes: missing_field, invalid_field, not_found, ambiguous_recipient, same_account, below_minimum, above_per_operation_limit, mixed_asset, duplicate_reference, already_paid, formula_cell, missing_column, duplicate_column, ambiguous_sheet, no_rows, too_many_rows, too_many_columns, above_approval_threshold, rate_limited, unreadable_file, bad_encoding, too_large_inflated. CSV, or XLSX with `format=xlsx`.
     *
     *     Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['downloadPayoutBatchErrors'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payout_batches/{batch_id}/files/result': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download the result file
     * @description What became of each row of an executed batch. CSV, or XLSX with `format=xlsx`.
     *
     *     Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
     */
    get: operations['downloadPayoutBatchResult'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/accounts': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List accounts
     * @description The accounts in which the token's member has a role, newest first.
     *
     *     Scope: `read` or `access`. Role in the account: viewer, operator, approver, admin, owner.
     */
    get: operations['listAccounts'];
    put?: never;
    /**
     * Open an account
     * @description Active and unverified, with zero in every asset. The member becomes its owner.
     *
     *     Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
     */
    post: operations['openAccount'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/accounts/{account_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read an account
     * @description Scope: `read` or `access`. Role in the account: viewer, operator, approver, admin, owner.
     */
    get: operations['getAccount'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Change the metadata of an account
     * @description Sets these pairs, and removes those whose value is null. All others stay.
     *
     *     Scope: `access`. Role in the account: owner.
     */
    patch: operations['updateAccount'];
    trace?: never;
  };
  '/v1/accounts/{account_id}/balances': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read the balances of an account
     * @description Held funds are part of the total but cannot be spent. With `at`, the exact totals at a past moment, which never change.
     *
     *     Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
     */
    get: operations['getBalances'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/accounts/{account_id}/movements': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the movements of an account
     * @description Newest first. With `order=asc`, oldest first: `next_cursor` is then never null, and gets newer movements later. A cursor whose movement a restore of the service has lost gets 400 with the reason `expired`.
     *
     *     Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
     */
    get: operations['listMovements'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/members': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the members
     * @description Newest first.
     *
     *     Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
     */
    get: operations['listMembers'];
    put?: never;
    /**
     * Add a member
     * @description Without a role or token at first.
     *
     *     Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
     */
    post: operations['createMember'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/members/{member_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Remove a member
     * @description Revokes all roles and tokens of the member. Another member must remove you.
     *
     *     Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
     */
    delete: operations['deleteMember'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/accounts/{account_id}/roles/{member_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /**
     * Give a member a role in an account
     * @description Replaces any other role there. If the tenant has a delay, a role that permits more than the previous one waits for it. Setting the role in force withdraws a waiting one.
     *
     *     Scope: `access`. Role in the account: owner.
     */
    put: operations['setRole'];
    post?: never;
    /**
     * Take a role away from a member
     * @description At once, and with it a role that waits. Without a role, nothing changes.
     *
     *     Scope: `access`. Role in the account: owner.
     */
    delete: operations['deleteRole'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tokens': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the tokens
     * @description Those that are neither revoked nor expired, newest first, without their secrets.
     *
     *     Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
     */
    get: operations['listTokens'];
    put?: never;
    /**
     * Create a token
     * @description Only this response shows `token`: a replay has null. If you lose it, revoke the token and create another. The scopes must be among those of your own token. If the tenant has a delay, the token takes effect after it.
     *
     *     Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
     */
    post: operations['createToken'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/tokens/{key_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Revoke a token
     * @description Within 5 seconds, for ever. With `cascade=true` also every token that it created, and those that they created. Revoking it again is not an error.
     *
     *     Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
     */
    delete: operations['deleteToken'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/accounts/{account_id}/limits': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read the limits of an account
     * @description The limits of a single operation and of the month, with the amount used.
     *
     *     Scope: `read` or `transfers`. Role in the account: viewer, operator, approver, admin, owner.
     */
    get: operations['getLimits'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/accounts/lookup': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Look up a recipient
     * @description Finds an account by exactly one of alias and phone. An alias is looked for in your tenant only; a phone also in your network, where only a single match counts. Returns only what a payer needs to recognise the recipient.
     *
     *     Scope: `lookup`.
     */
    get: operations['lookUpAccount'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/accounts/{account_id}/alias': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /**
     * Set the alias of an account
     * @description Releases the previous one, which nobody can take for 90 days.
     *
     *     Scope: `transfers`. Role in the account: admin, owner.
     */
    put: operations['setAlias'];
    post?: never;
    /**
     * Release the alias of an account
     * @description Nobody can take it for 90 days.
     *
     *     Scope: `transfers`. Role in the account: admin, owner.
     */
    delete: operations['deleteAlias'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/accounts/{account_id}/verification': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /**
     * Declare the verification of an account
     * @description From then on the account can send. Declaring it again replaces the data.
     *
     *     Scope: `transfers`. Role in the account: admin, owner.
     */
    put: operations['declareVerification'];
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/statements': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List statements
     * @description The statements of accounts in which the token's member has a role, newest first.
     *
     *     Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
     */
    get: operations['listStatements'];
    put?: never;
    /**
     * Make a statement
     * @description Of an account's movements in one asset over a period, with the balance before and after. The figures are final from the start; the files, CSV and XLSX, follow within seconds, those of long statements within minutes.
     *
     *     Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
     */
    post: operations['createStatement'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/statements/{statement_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a statement
     * @description Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
     */
    get: operations['getStatement'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/statements/{statement_id}/file': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Download a statement
     * @description One line for the opening balance, one for each movement, oldest first, and one for the closing balance. CSV, or XLSX with `format=xlsx`. 404 unless the statement is ready.
     *
     *     Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
     */
    get: operations['downloadStatement'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/requests/{request_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read what became of a request
     * @description Finds a request by the `Svc-Request-Id` of its response; errors have one, too. If no response arrived, repeat the request with the same `Idempotency-Key` instead. Shows requests by the same member that changed something or were meant to, or that failed because of a fault of the service. Kept for 30 days, and readable within a second or two of the response. The token needs a scope that the request itself accepts.
     *
     *     Scope: `read` or `lookup` or `transfers` or `bonuses` or `payouts` or `webhooks` or `access`.
     */
    get: operations['getRequest'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the events of the tenant
     * @description Newest first. With `order=asc`, oldest first: `next_cursor` is then never null, and gets newer events later. A cursor before `first_sequence` gets 400 with the reason `expired`. `gaps` names the sequences that a restore of the service skipped.
     *
     *     Scope: `read` or `webhooks`.
     */
    get: operations['listEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/events/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read an event
     * @description Scope: `read` or `webhooks`.
     */
    get: operations['getEvent'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhook_endpoints': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the webhook endpoints
     * @description Newest first.
     *
     *     Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    get: operations['listWebhookEndpoints'];
    put?: never;
    /**
     * Register a webhook endpoint
     * @description The endpoint receives every event of its types from now on. Only this response shows the signing secret: a replay omits it. If you lose the secret, rotate it. A replay after the endpoint was deleted shows it as it was registered. At most 16 per tenant.
     *
     *     Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    post: operations['createWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhook_endpoints/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read a webhook endpoint
     * @description Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    get: operations['getWebhookEndpoint'];
    put?: never;
    post?: never;
    /**
     * Delete a webhook endpoint
     * @description Nothing more is sent to it. Deleting it again is not an error.
     *
     *     Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    delete: operations['deleteWebhookEndpoint'];
    options?: never;
    head?: never;
    /**
     * Change a webhook endpoint
     * @description A new `url` also receives the deliveries that are not finished. If a type is removed, its unfinished deliveries end. If a type is added, deliveries begin with its next event. An endpoint that is enabled again receives every event since 5 days before it was disabled that it has not answered with 2xx.
     *
     *     Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    patch: operations['updateWebhookEndpoint'];
    trace?: never;
  };
  '/v1/webhook_endpoints/{id}/rotate_secret': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Rotate the signing secret
     * @description The new secret signs within 5 seconds, and is shown only here. For 24 hours `Svc-Signature-Previous` carries a signature made with the previous one.
     *
     *     Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    post: operations['rotateWebhookSecret'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhook_endpoints/{id}/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a test
     * @description A signed body of type `webhook.test`, sent at once and only once, even to a disabled endpoint. The outcome is among the deliveries; its `event_id` is the `id` returned here.
     *
     *     Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    post: operations['testWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhook_endpoints/{id}/recover': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Recover missed events
     * @description Sends again every event of the subscribed types since `since` that this endpoint has not answered with 2xx.
     *
     *     Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    post: operations['recoverWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/events/{id}/redeliver': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Deliver an event again
     * @description Sends the event again to every enabled endpoint that subscribes to its type, with the same id and a fresh signature.
     *
     *     Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    post: operations['redeliverEvent'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhook_endpoints/{id}/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the deliveries to a webhook endpoint
     * @description Newest first, each with its attempts. A page has at most 200 attempts, so it may have fewer deliveries than `limit`. Kept for 30 days.
     *
     *     Scope: `webhooks`. Role in any account of the tenant: admin, owner.
     */
    get: operations['listWebhookDeliveries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    TransferCompletedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'transfer.completed';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Transfer'];
      };
    };
    /** @description An amount that moves from an account of the tenant to another account, at once or after approval. */
    Transfer: {
      /**
       * Format: uuid
       * @description The id of the transfer.
       */
      id: string;
      /**
       * @description Always `internal`: the money stays in the service.
       * @enum {string}
       */
      scope: 'internal';
      /**
       * @description The state. Only `completed` has moved money.
       *
       *     - `pending_approval`: other members must approve it. Becomes `completed`, or `held` if it is captured later; `rejected`; or `expired`.
       *     - `held`: amount and fee are held until it is captured. Becomes `completed`, `rejected` or `expired`.
       *     - `completed`: the destination has the amount. Final.
       *     - `rejected`: a person or a rule ended it, as `rejection` says. Final.
       *     - `expired`: it was not approved, or not captured, in time. Final.
       * @enum {string}
       */
      status: 'pending_approval' | 'held' | 'completed' | 'rejected' | 'expired';
      /**
       * Format: uuid
       * @description The account that pays the amount and the fee.
       */
      source_account: string;
      /** @description The receiver of the amount. */
      destination: {
        /**
         * @description Always `account`.
         * @enum {string}
         */
        type: 'account';
        /**
         * Format: uuid
         * @description The account that receives the amount.
         */
        account_id: string;
      };
      amount: components['schemas']['Amount'];
      /** @description The fee that the source account pays in addition to the amount; once captured, that of the captured amount. */
      fee: components['schemas']['Amount'];
      /** @description The text that was given with the request. */
      description: string | null;
      /** @description Your own data about it; empty if there is none. */
      metadata: {
        [key: string]: string;
      };
      /**
       * Format: date-time
       * @description When the request was accepted.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The approvals that it needs or needed; null if it needed none. */
      approval: {
        /** @description How many approvals it needs. */
        required: number;
        /** @description How many approvals it has. */
        received: number;
        /**
         * Format: date-time
         * @description When it ends unless it was approved by then.
         * @example 2026-11-01T14:05:00.000Z
         */
        expires_at: string;
      } | null;
      /**
       * @description Whether the money moves at once, or is held until it is captured.
       * @enum {string}
       */
      capture: 'automatic' | 'manual';
      /**
       * Format: date-time
       * @description When the transfer expires unless it is captured by then; null until it is `held`.
       * @example 2026-11-01T14:05:00.000Z
       */
      capture_expires_at: string | null;
      /** @description The amount that was captured; null until then. */
      captured: components['schemas']['Amount'] | null;
      /** @description The sum of its completed refunds. */
      refunded: components['schemas']['Amount'];
      /** @description The transfer or bonus that it refunds; null unless it is a refund. */
      refund_of: {
        /**
         * @description What it refunds.
         * @enum {string}
         */
        type: 'transfer' | 'bonus';
        /**
         * Format: uuid
         * @description The id of what it refunds.
         */
        id: string;
      } | null;
      /** @description Why it is `rejected`: a person ended it, or a rule refused its last approval or its run of a schedule. */
      rejection: {
        /**
         * @description The cause, for machines.
         *
         *     - `rejected`: an approver or support rejected it, as `reason` says. Settle it with them.
         *     - `canceled`: its creator, an admin, an owner or support canceled it. Nothing is left to do.
         *     - `capability_cannot_send`: the source account is frozen, closed or not verified. Verify it, or ask your operator.
         *     - `not_found`: the destination was closed, or is out of reach. Ask for another account.
         *     - `invalid_field`: the balance of the destination would become too large. Pay less.
         *     - `below_minimum`: the amount is below the minimum of one operation. Pay more.
         *     - `above_per_operation_limit`: the amount is above the maximum of one operation. Split it.
         *     - `monthly_limit_exceeded`: the amount is above what is left of the month. Pay it next month, or ask your operator for a higher limit.
         *     - `insufficient_funds`: the available balance does not cover amount and fee. Fund the account.
         *     - `authority_insufficient`: the member who created the schedule has lost the role. Cancel it, and have another create it.
         * @enum {string}
         */
        code:
          | 'rejected'
          | 'canceled'
          | 'capability_cannot_send'
          | 'not_found'
          | 'invalid_field'
          | 'below_minimum'
          | 'above_per_operation_limit'
          | 'monthly_limit_exceeded'
          | 'insufficient_funds'
          | 'authority_insufficient';
        /** @description A person's reason, or a rule's; null without one. */
        reason: string | null;
      } | null;
      /** @description The run of the schedule that created it; null for a transfer that a request created. */
      schedule: {
        /**
         * Format: uuid
         * @description The id of the schedule.
         */
        id: string;
        /** @description The number of the run, from 1. */
        run: number;
        /**
         * Format: date-time
         * @description When the run was due.
         * @example 2026-11-01T14:05:00.000Z
         */
        due_at: string;
      } | null;
    };
    /** @description The amount that the destination receives. */
    Amount: {
      /**
       * Format: int64
       * @description The integer amount in the smallest unit of the asset, as text.
       * @example 150000
       */
      raw: bigint;
      asset: components['schemas']['Asset'];
    };
    /**
     * @description The asset that it is an amount of.
     * @enum {string}
     */
    Asset: 'COPM' | 'DUSD';
    PayoutCompletedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout.completed';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Payout'];
      };
    };
    /** @description An amount that leaves the service for a bank account or a Bre-B key, through a rail. */
    Payout: {
      /**
       * Format: uuid
       * @description The id of the payout.
       */
      id: string;
      /**
       * @description Always `external`: the money leaves the service.
       * @enum {string}
       */
      scope: 'external';
      /**
       * @description The state; `status_transitions` lists the earlier ones.
       *
       *     - `pending_approval`: other members must approve it. Becomes `approved`, `rejected` or `canceled`.
       *     - `approved`: it is sent to its rail within seconds. Becomes `in_progress`; `canceled`; or `failed` if the holder of its key has changed.
       *     - `in_progress`: the rail may have it, and it cannot be canceled. Becomes `completed` or `failed`.
       *     - `completed`: it was paid. Becomes `returned` if the bank returns it.
       *     - `returned`: the bank returned it, and the account has the amount again. Final.
       *     - `rejected`: an approver or a rule refused it, as `rejection` says. Final.
       *     - `canceled`: it was canceled before its rail had it, or not approved in time. Final.
       *     - `failed`: it was not paid, as `failure` says. Becomes `completed` only if it was paid after all.
       * @enum {string}
       */
      status:
        | 'pending_approval'
        | 'approved'
        | 'in_progress'
        | 'completed'
        | 'returned'
        | 'rejected'
        | 'canceled'
        | 'failed';
      /**
       * Format: uuid
       * @description The account that pays the amount and the fee.
       */
      source_account: string;
      /** @description The bank account, or the Bre-B key, that receives the amount. */
      destination:
        | {
            /**
             * @description The kind of destination, which decides about the other fields.
             * @enum {string}
             */
            type: 'bank_account';
            /** @description The country of the bank, in ISO 3166 alpha-2. */
            country: string;
            /** @description The code of the bank in its country. */
            bank_code: string;
            /**
             * @description The kind of account.
             * @enum {string}
             */
            account_type: 'savings' | 'checking';
            /**
             * @description Masked: at most its last four characters, and never more than half of it.
             * @example ****6789
             */
            account_number: string;
            /** @description The name of the person or business that holds the account. */
            holder_name: string;
          }
        | {
            /**
             * @description The kind of destination, which decides about the other fields.
             * @enum {string}
             */
            type: 'bre_b_key';
            /**
             * @description Masked: its last four characters.
             * @example ****2233
             */
            key: string;
            /**
             * @description The kind of key.
             * @enum {string}
             */
            key_type: 'document' | 'phone' | 'email' | 'alias' | 'merchant';
          };
      /** @description The batch and row of the file that the payout comes from; null for a single payout. */
      batch: {
        /**
         * Format: uuid
         * @description The id of the payout batch.
         */
        id: string;
        /** @description The row of its file. */
        row: number;
      } | null;
      /** @description Your own reference, from the row of the file; null for a single payout. */
      reference: string | null;
      amount: components['schemas']['Amount'];
      /** @description The fee that the source account pays in addition to the amount. */
      fee: components['schemas']['Amount'];
      /** @description The text that was given with the request. */
      description: string | null;
      /** @description Your own data about it; empty if there is none. */
      metadata: {
        [key: string]: string;
      };
      /**
       * Format: date-time
       * @description When the request was accepted.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The approvals that it needs or needed; null if it needed none. */
      approval: {
        /** @description How many approvals it needs. */
        required: number;
        /** @description How many approvals it has. */
        received: number;
        /**
         * Format: date-time
         * @description When it ends unless it was approved by then.
         * @example 2026-11-01T14:05:00.000Z
         */
        expires_at: string;
      } | null;
      /** @description Why it is `rejected`: a person rejected it, or a rule refused its last approval. */
      rejection: {
        /**
         * @description The cause, for machines.
         *
         *     - `rejected`: an approver or support rejected it, as `reason` says. Settle it with them.
         *     - `capability_cannot_send`: the source account is frozen, closed or not verified. Verify it, or ask your operator.
         * @enum {string}
         */
        code: 'rejected' | 'capability_cannot_send';
        /** @description A person's reason, or a rule's; null without one. */
        reason: string | null;
      } | null;
      /** @description Why it failed or was returned, or was not approved in time. */
      failure: {
        /**
         * @description The cause, for machines.
         *
         *     - `account_unknown`: the bank does not know the account. Ask the holder for the right account.
         *     - `account_closed`: the account is closed. Ask the holder for another account.
         *     - `account_blocked`: the account cannot be credited. Ask the holder for another account.
         *     - `holder_mismatch`: the account belongs to somebody else. Ask the holder for name, document and account.
         *     - `bank_unavailable`: the receiving bank could not be reached. Pay again later.
         *     - `limit_exceeded`: the amount is over a limit of the rail or the bank. Pay less, or ask your operator for the limit.
         *     - `not_supported`: the rail does not reach this bank or kind of account. Pay to an account elsewhere, or ask your operator.
         *     - `rejected_by_bank`: the receiving bank rejected it. Ask the holder, or your operator.
         *     - `recipient_changed`: the key belongs to somebody else than when it was looked up. Look the key up again, and ask the recipient before you pay.
         *     - `approval_expired`: it was not approved in time. Create it again, and have it approved before `approval.expires_at`.
         * @enum {string}
         */
        code:
          | 'account_unknown'
          | 'account_closed'
          | 'account_blocked'
          | 'holder_mismatch'
          | 'bank_unavailable'
          | 'limit_exceeded'
          | 'not_supported'
          | 'rejected_by_bank'
          | 'recipient_changed'
          | 'approval_expired';
        /** @description The cause, for people. */
        message: string;
      } | null;
      /** @description The rail's own reference, once the rail has taken it. */
      rail_reference: string | null;
      /** @description Every status it has had, oldest first; the last is the current one. */
      status_transitions: {
        /**
         * @description The state.
         * @enum {string}
         */
        status:
          | 'pending_approval'
          | 'approved'
          | 'in_progress'
          | 'completed'
          | 'returned'
          | 'rejected'
          | 'canceled'
          | 'failed';
        /**
         * Format: date-time
         * @description When it began.
         * @example 2026-11-01T14:05:00.000Z
         */
        at: string;
      }[];
    };
    PayoutFailedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout.failed';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Payout'];
      };
    };
    PayoutReturnedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout.returned';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Payout'];
      };
    };
    BonusBatchReadyEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'bonus_batch.ready';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['BonusBatchOfEvent'];
      };
    };
    /** @description The batch in events, without the fields that are only valid at the time of a response. */
    BonusBatchOfEvent: {
      /**
       * Format: uuid
       * @description The id of the batch.
       */
      id: string;
      /**
       * @description The state. Nothing is paid before `executing`.
       *
       *     - `validating`: its rows are being checked. Becomes `ready` or `rejected`.
       *     - `ready`: every row is valid. Becomes `executing`, or `rejected` if it is withdrawn or not executed within 30 days.
       *     - `rejected`: its file has a problem, which its errors file lists, or `rejection` says why. Final.
       *     - `executing`: its rows are being paid. Becomes `completed` or `partially_failed`.
       *     - `completed`: every row was paid. Final.
       *     - `partially_failed`: at least one row was not paid. Final.
       * @enum {string}
       */
      status: 'validating' | 'ready' | 'rejected' | 'executing' | 'completed' | 'partially_failed';
      /**
       * Format: uuid
       * @description The account that pays the bonuses and their fees.
       */
      source_account: string;
      /** @description The text that was given with the upload. */
      description: string | null;
      /** @description Rows in the file; while validating, those read so far. */
      rows: number;
      /** @description Rows with a problem. One is enough to reject the whole file. */
      rows_rejected: number;
      /** @description Of the valid rows; null until the asset is known. */
      total: components['schemas']['Amount'] | null;
      /** @description Once ready. */
      fees: components['schemas']['Amount'] | null;
      /** @description The total plus the fees. Once ready. */
      total_debit: components['schemas']['Amount'] | null;
      /** @description Rows and files that may be a mistake; null until ready. A warning. */
      duplicates: {
        /** @description Rows with the same recipient as an earlier row. */
        count: number;
        /** @description The first 100 of them. */
        rows: number[];
        /**
         * Format: uuid
         * @description The most recent earlier batch with the same bytes, within the last 90 days.
         */
        same_file_batch_id: string | null;
      } | null;
      /** @description Once validated. */
      hidden: {
        /** @description Rows that are hidden in the spreadsheet. They are paid like all rows. */
        rows: number;
        /** @description Columns that are hidden in the spreadsheet, or zero wide. They are read. */
        columns: string[];
        /** @description Hidden sheets before the sheet that was read. Their rows are not paid. */
        skipped_sheets: number;
      } | null;
      /** @description Once validated: the names of the first 100 other visible sheets with content. Their rows are not paid. */
      unread_sheets: string[] | null;
      /** @description The URLs of the files about the batch. */
      files: {
        /**
         * Format: uri
         * @description Which rows failed and why; null before the rejection, and after retention has removed it.
         */
        errors_url: string | null;
        /**
         * Format: uri
         * @description The outcome of each row; null before the batch has ended, and after retention has removed it.
         */
        result_url: string | null;
      };
      /** @description Why a batch whose file was accepted was rejected: it was withdrawn, or nobody executed it in time. */
      rejection: {
        /**
         * @description The cause, for machines.
         *
         *     - `withdrawn`: its uploader, an admin, an owner or support withdrew it. Nothing is left to do.
         *     - `lapsed`: it was not executed within 30 days. Upload the file again to pay it.
         * @enum {string}
         */
        code: 'withdrawn' | 'lapsed';
      } | null;
      /**
       * Format: date-time
       * @description When it was uploaded.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a member executed it; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      executed_at: string | null;
      /**
       * Format: date-time
       * @description When it ended; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      finished_at: string | null;
    };
    BonusBatchCompletedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'bonus_batch.completed';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['BonusBatchOfEvent'];
      };
    };
    PayoutBatchReadyEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout_batch.ready';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['PayoutBatchOfEvent'];
      };
    };
    /** @description The batch in events, without the fields that are only valid at the time of a response. */
    PayoutBatchOfEvent: {
      /**
       * Format: uuid
       * @description The id of the batch.
       */
      id: string;
      /**
       * @description The state. Nothing is paid before `executing`.
       *
       *     - `validating`: its rows are being checked. Becomes `ready` or `rejected`.
       *     - `ready`: every row is valid. Becomes `executing`, or `rejected` if it is withdrawn or not executed within 30 days.
       *     - `rejected`: its file has a problem, which its errors file lists, or `rejection` says why. Final.
       *     - `executing`: its rows are being paid. Becomes `completed` or `partially_failed`.
       *     - `completed`: every row has become a payout, which can still fail. Final.
       *     - `partially_failed`: a rule refused at least one row, which has not become a payout. Final.
       * @enum {string}
       */
      status: 'validating' | 'ready' | 'rejected' | 'executing' | 'completed' | 'partially_failed';
      /**
       * Format: uuid
       * @description The account that pays the payouts and their fees.
       */
      source_account: string;
      /** @description The text that was given with the upload. */
      description: string | null;
      /** @description Rows in the file; while validating, those read so far. */
      rows: number;
      /** @description Rows with a problem. One is enough to reject the whole file. */
      rows_rejected: number;
      /** @description Of the valid rows; null until the asset is known. */
      total: components['schemas']['Amount'] | null;
      /** @description Once ready. */
      fees: components['schemas']['Amount'] | null;
      /** @description The total plus the fees. Once ready. */
      total_debit: components['schemas']['Amount'] | null;
      /** @description Rows and files that may be a mistake; null until ready. A warning. */
      duplicates: {
        /** @description Rows with the same recipient as an earlier row. */
        count: number;
        /** @description The first 100 of them. */
        rows: number[];
        /**
         * Format: uuid
         * @description The most recent earlier batch with the same bytes, within the last 90 days.
         */
        same_file_batch_id: string | null;
      } | null;
      /** @description Once validated. */
      hidden: {
        /** @description Rows that are hidden in the spreadsheet. They are paid like all rows. */
        rows: number;
        /** @description Columns that are hidden in the spreadsheet, or zero wide. They are read. */
        columns: string[];
        /** @description Hidden sheets before the sheet that was read. Their rows are not paid. */
        skipped_sheets: number;
      } | null;
      /** @description Once validated: the names of the first 100 other visible sheets with content. Their rows are not paid. */
      unread_sheets: string[] | null;
      /** @description The URLs of the files about the batch. */
      files: {
        /**
         * Format: uri
         * @description Which rows failed and why; null before the rejection, and after retention has removed it.
         */
        errors_url: string | null;
        /**
         * Format: uri
         * @description The outcome of each row; null before the batch has ended, and after retention has removed it.
         */
        result_url: string | null;
      };
      /** @description Why a batch whose file was accepted was rejected: it was withdrawn, or nobody executed it in time. */
      rejection: {
        /**
         * @description The cause, for machines.
         *
         *     - `withdrawn`: its uploader, an admin, an owner or support withdrew it. Nothing is left to do.
         *     - `lapsed`: it was not executed within 30 days. Upload the file again to pay it.
         * @enum {string}
         */
        code: 'withdrawn' | 'lapsed';
      } | null;
      /**
       * Format: date-time
       * @description When it was uploaded.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a member executed it; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      executed_at: string | null;
      /**
       * Format: date-time
       * @description When it ended; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      finished_at: string | null;
    };
    PayoutBatchCompletedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout_batch.completed';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['PayoutBatchOfEvent'];
      };
    };
    AccountVerifiedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'account.verified';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Verification'];
      };
    };
    /** @description The verification of an account. */
    Verification: {
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id: string;
      /**
       * @description Always `verified`.
       * @enum {string}
       */
      status: 'verified';
      /** @description Whether the account may send: it is active and verified. */
      can_send: boolean;
      /**
       * Format: date-time
       * @description When it was first verified.
       * @example 2026-11-01T14:05:00.000Z
       */
      verified_at: string;
      /** @description The last four characters of the document number. */
      document_last4: string;
    };
    WebhookTest: {
      /**
       * @description Always `webhook.test`.
       * @enum {string}
       */
      type: 'webhook.test';
      /**
       * Format: uuid
       * @description The id of the test, also in the `webhook-id` header.
       */
      id: string;
      /**
       * Format: date-time
       * @description When the test was requested.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
    /** @description An amount greater than zero. */
    AmountInput: {
      /**
       * Format: int64
       * @description Integer in the smallest unit of the asset, written as text; at most 9223372036854775807.
       * @example 150000
       */
      raw: bigint;
      /** @description What an amount counts: COPM counts centavos of a Colombian peso, DUSD counts millionths of a dollar. */
      asset: components['schemas']['Asset'];
    };
    Error: {
      /** @description Why the request failed. */
      error: {
        /**
         * @description Stable, for machines.
         * @enum {string}
         */
        code:
          | 'missing_field'
          | 'invalid_field'
          | 'missing_query'
          | 'missing_idempotency_key'
          | 'unauthorized'
          | 'insufficient_scope'
          | 'authority_insufficient'
          | 'not_found'
          | 'method_not_allowed'
          | 'idempotency_key_reused'
          | 'invalid_state'
          | 'phone_taken'
          | 'body_too_large'
          | 'unsupported_media_type'
          | 'capability_cannot_send'
          | 'below_minimum'
          | 'above_per_operation_limit'
          | 'monthly_limit_exceeded'
          | 'insufficient_funds'
          | 'capture_exceeds_amount'
          | 'not_refundable'
          | 'refund_exceeds_amount'
          | 'alias_taken'
          | 'alias_reserved'
          | 'alias_in_quarantine'
          | 'last_owner'
          | 'too_many_endpoints'
          | 'quota_exceeded'
          | 'rate_limited'
          | 'internal_error'
          | 'ledger_unavailable'
          | 'rail_unavailable';
        /** @description For people. */
        message: string;
        /**
         * Format: uri
         * @description The page that explains the code.
         */
        doc_url: string;
        /**
         * @description Data about the rule, if there is any.
         *     - `missing_field`: `field` (string), `errors` (list of object of `code`, `field`, `reason`)
         *     - `invalid_field`: `field` (string), `reason` (string), `errors` (list of object of `code`, `field`, `reason`)
         *     - `authority_insufficient`: `reason` (string)
         *     - `not_found`: `field` (string)
         *     - `invalid_state`: `current` (string), `allowed` (list of string)
         *     - `capability_cannot_send`: `reason` (string)
         *     - `below_minimum`: `minimum` (string, int64), `requested` (string, int64), `asset` (string)
         *     - `above_per_operation_limit`: `maximum` (string, int64), `requested` (string, int64), `asset` (string)
         *     - `monthly_limit_exceeded`: `used` (string, int64), `limit` (string, int64), `resets_at` (string, date-time)
         *     - `insufficient_funds`: `available` (string, int64), `requested` (string, int64)
         *     - `capture_exceeds_amount`: `capturable` (object of `raw`, `asset`)
         *     - `refund_exceeds_amount`: `refundable` (object of `raw`, `asset`)
         *     - `last_owner`: `account_id` (string, uuid)
         *     - `quota_exceeded`: `quota` (string), `used` (string, int64), `limit` (string, int64)
         */
        details?: {
          [key: string]: unknown;
        };
      };
    };
    CreateTransfer: {
      /**
       * Format: uuid
       * @description The account that pays the amount and the fee.
       */
      source_account: string;
      /** @description The receiver of the amount. */
      destination: {
        /**
         * @description Always `account`.
         * @enum {string}
         */
        type: 'account';
        /**
         * Format: uuid
         * @description An account of your tenant or network.
         */
        account_id: string;
      };
      /** @description The amount that the destination receives. */
      amount: components['schemas']['AmountInput'];
      /** @description A text that both parties see. */
      description?: string | null;
      /** @description Your own data about it, at most 20 pairs. A key has 1 to 40 of the characters a to z, 0 to 9 and _; keys and values together at most 4096 bytes. */
      metadata?: {
        [key: string]: string | null;
      } | null;
      /**
       * @description `manual` holds amount and fee until the transfer is captured; by default `automatic`, which moves them at once.
       * @enum {string|null}
       */
      capture?: 'automatic' | 'manual' | null;
      /** @description With `manual`: seconds after which the transfer expires unless it was captured; by default 604800 (seven days). */
      capture_within_s?: number | null;
    };
    TransferPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Transfer'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    ChangeMetadata: {
      /** @description The pairs to set and, with null, to remove; all others stay. A key has 1 to 40 of the characters a to z, 0 to 9 and _; keys and values together at most 4096 bytes. */
      metadata: {
        [key: string]: string | null;
      };
    };
    Reject: {
      /** @description The reason, which the resource and its events show. */
      reason: string;
    };
    CaptureTransfer: {
      /** @description At most the amount of the transfer; by default all of it. */
      amount?: {
        /**
         * Format: int64
         * @description Integer in the smallest unit of the asset, written as text; at most 9223372036854775807.
         * @example 150000
         */
        raw: bigint;
        /** @description What an amount counts: COPM counts centavos of a Colombian peso, DUSD counts millionths of a dollar. */
        asset: components['schemas']['Asset'];
      } | null;
    };
    Refund: {
      /** @description At most what can still be refunded; by default all of it. */
      amount?: {
        /**
         * Format: int64
         * @description Integer in the smallest unit of the asset, written as text; at most 9223372036854775807.
         * @example 150000
         */
        raw: bigint;
        /** @description What an amount counts: COPM counts centavos of a Colombian peso, DUSD counts millionths of a dollar. */
        asset: components['schemas']['Asset'];
      } | null;
      /** @description A text that both parties see. */
      description?: string | null;
      /** @description Your own data about it, at most 20 pairs. A key has 1 to 40 of the characters a to z, 0 to 9 and _; keys and values together at most 4096 bytes. */
      metadata?: {
        [key: string]: string | null;
      } | null;
    };
    /** @description A transfer that is created once at a later time, or again and again. */
    Schedule: {
      /**
       * Format: uuid
       * @description The id of the schedule.
       */
      id: string;
      /**
       * @description The state.
       *
       *     - `active`: runs at `next_run_at`. Becomes `paused`, `canceled` or `completed`.
       *     - `paused`: does not run. Becomes `active`, `canceled`, or `completed` if no run is left.
       *     - `canceled`: does not run any more. Final.
       *     - `completed`: its last run is over. Final.
       * @enum {string}
       */
      status: 'active' | 'paused' | 'canceled' | 'completed';
      transfer: components['schemas']['ScheduledTransfer'];
      /**
       * Format: date-time
       * @description When the first run is due.
       * @example 2026-11-01T14:05:00.000Z
       */
      starts_at: string;
      /** @description The time from one run to the next, by the clocks of the tenant's time zone; null if it runs once. */
      every: {
        /**
         * @description The unit of `count`.
         * @enum {string}
         */
        unit: 'day' | 'week' | 'month';
        /** @description The number of units from one run to the next. */
        count: number;
      } | null;
      /**
       * Format: date-time
       * @description No run is due after this moment; null without such an end.
       * @example 2026-11-01T14:05:00.000Z
       */
      ends_at: string | null;
      /** @description The number of runs after which it ends; null without such an end. */
      max_runs: number | null;
      /**
       * Format: date-time
       * @description When the next run is due; null unless it is `active`.
       * @example 2026-11-01T14:05:00.000Z
       */
      next_run_at: string | null;
      /** @description How many runs there were, refused ones included. */
      runs: number;
      /**
       * Format: date-time
       * @description When the request was accepted.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
    /** @description The transfer that each run creates. */
    ScheduledTransfer: {
      /**
       * Format: uuid
       * @description The account that pays the amount and the fee.
       */
      source_account: string;
      /** @description The receiver of the amount. */
      destination: {
        /**
         * @description Always `account`.
         * @enum {string}
         */
        type: 'account';
        /**
         * Format: uuid
         * @description The account that receives the amount.
         */
        account_id: string;
      };
      amount: components['schemas']['Amount'];
      /** @description The text that was given with the request. */
      description: string | null;
      /** @description Your own data about it; empty if there is none. */
      metadata: {
        [key: string]: string;
      };
    };
    CreateSchedule: {
      transfer: components['schemas']['ScheduledTransferInput'];
      /**
       * Format: date-time
       * @description The first run: in the future, at most 366 days ahead.
       */
      starts_at: string;
      /** @description The time from one run to the next; without it, it runs once. */
      every?: {
        /**
         * @description The unit of `count`.
         * @enum {string}
         */
        unit: 'day' | 'week' | 'month';
        /** @description The number of units from one run to the next. */
        count: number;
      } | null;
      /**
       * Format: date-time
       * @description No run is due after this moment. Only with `every`.
       */
      ends_at?: string | null;
      /** @description The number of runs, refused ones included. Only with `every`, without `ends_at`. */
      max_runs?: number | null;
    };
    /** @description The transfer that each run creates. */
    ScheduledTransferInput: {
      /**
       * Format: uuid
       * @description The account that pays the amount and the fee.
       */
      source_account: string;
      /** @description The receiver of the amount. */
      destination: {
        /**
         * @description Always `account`.
         * @enum {string}
         */
        type: 'account';
        /**
         * Format: uuid
         * @description An account of your tenant or network.
         */
        account_id: string;
      };
      /** @description The amount that the destination receives. */
      amount: components['schemas']['AmountInput'];
      /** @description A text that both parties see. */
      description?: string | null;
      /** @description Your own data about it, at most 20 pairs. A key has 1 to 40 of the characters a to z, 0 to 9 and _; keys and values together at most 4096 bytes. */
      metadata?: {
        [key: string]: string | null;
      } | null;
    };
    SchedulePage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Schedule'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    CreatePayout: {
      /**
       * Format: uuid
       * @description The account that pays the amount and the fee.
       */
      source_account: string;
      /** @description The bank account, or the Bre-B key, that receives the amount. */
      destination:
        | {
            /**
             * @description The kind of destination, which decides about the other fields.
             * @enum {string}
             */
            type: 'bank_account';
            /**
             * @description The country of the bank, in ISO 3166 alpha-2. Your operator tells you the countries that a rail reaches; any other gets `400 invalid_field` with the reason `not_supported`.
             * @example CO
             */
            country: string;
            /**
             * @description The code of the bank in its country. Your operator has the list; the service checks only the form.
             * @example 0007
             */
            bank_code: string;
            /**
             * @description The kind of account.
             * @enum {string}
             */
            account_type: 'savings' | 'checking';
            /** @description Stored encrypted; only its end is shown. */
            account_number: string;
            /** @description The name of the person or business that holds the account. */
            holder_name: string;
            /** @description Stored encrypted; never shown again. */
            holder_document: string;
          }
        | {
            /**
             * @description The kind of destination, which decides about the other fields.
             * @enum {string}
             */
            type: 'bre_b_key';
            /**
             * @description A document, phone, e-mail address, alias that begins with `@`, or merchant code. Stored encrypted; only its end is shown.
             * @example 3001112233
             */
            key: string;
            /** @description From `GET /v1/payout_recipients`: the payout fails with `recipient_changed` if the key belongs to somebody else by then. */
            holder_check?: string | null;
          };
      /** @description The amount that the recipient receives. */
      amount: components['schemas']['AmountInput'];
      /** @description A text that goes to the rail with the payment. Whether the recipient sees it depends on the rail. */
      description?: string | null;
      /** @description Your own data about it, at most 20 pairs. A key has 1 to 40 of the characters a to z, 0 to 9 and _; keys and values together at most 4096 bytes. */
      metadata?: {
        [key: string]: string | null;
      } | null;
    };
    PayoutRecipient: {
      /**
       * @description The kind of key.
       * @enum {string}
       */
      key_type: 'document' | 'phone' | 'email' | 'alias' | 'merchant';
      /** @description The masked name of the person or business that holds the key. */
      holder_name: string;
      /** @description The code of the bank in its country. */
      bank_code: string;
      /**
       * @description The kind of account.
       * @enum {string}
       */
      account_type: 'savings' | 'checking';
      /** @description For `destination.holder_check` of a payout to this key, within an hour. */
      holder_check: string;
    };
    PayoutPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Payout'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    RejectPayout: {
      /** @description The reason, which the resource and its events show. */
      reason: string;
    };
    ApprovalPolicy: {
      /**
       * Format: uuid
       * @description The source account that the policy applies to.
       */
      account_id: string;
      /**
       * @description The asset that the policy applies to.
       * @enum {string}
       */
      asset: 'COPM' | 'DUSD';
      /**
       * Format: int64
       * @description Amounts that reach it need approval.
       * @example 150000
       */
      threshold: bigint;
      /** @description How many approvals such an amount needs. */
      approvals: number;
      /** @description How many seconds an operation waits for its approvals. */
      expires_in_s: number;
      /** @description Whether validation rejects a batch whose total reaches the threshold. */
      refuses_batches: boolean;
      /** @description What the policy means for a batch whose total reaches the threshold, as a sentence. */
      batch_rule: string;
      /** @description The change to come; null if there is none. */
      pending: {
        /** @description Null: the policy is removed. */
        policy: {
          /**
           * Format: int64
           * @description Amounts that reach it need approval.
           * @example 150000
           */
          threshold: bigint;
          /** @description How many approvals such an amount needs. */
          approvals: number;
          /** @description How many seconds an operation waits for its approvals. */
          expires_in_s: number;
          /** @description Whether validation rejects a batch whose total reaches the threshold. */
          refuses_batches: boolean;
        } | null;
        /**
         * Format: date-time
         * @description When the change takes effect.
         * @example 2026-11-01T14:05:00.000Z
         */
        effective_at: string;
      } | null;
    };
    SetApprovalPolicy: {
      /**
       * Format: int64
       * @description Integer in the smallest unit of the asset, written as text; at most 9223372036854775807.
       * @example 150000
       */
      threshold: bigint;
      /** @description How many approvals such an amount needs. */
      approvals: number;
      /** @description Seconds; by default 604800 (seven days). */
      expires_in_s?: number | null;
      /** @description Whether validation rejects a batch whose total reaches the threshold; false by default. */
      refuses_batches?: boolean | null;
    };
    /** @description A payment from an account of the tenant to a person, made at once. */
    Bonus: {
      /**
       * Format: uuid
       * @description The id of the bonus.
       */
      id: string;
      /**
       * @description Always `completed`: a bonus is paid at once or not at all.
       * @enum {string}
       */
      status: 'completed';
      /**
       * Format: uuid
       * @description The account that pays the amount and the fee.
       */
      source_account: string;
      /** @description The receiver of the amount. */
      recipient: {
        /**
         * Format: uuid
         * @description The account that the name in the request stood for.
         */
        account_id: string;
      };
      /** @description The amount that the recipient receives. */
      amount: components['schemas']['Amount'];
      /** @description The fee that the source account pays in addition to the amount. */
      fee: components['schemas']['Amount'];
      /** @description The amount and its fee. */
      total_debited: components['schemas']['Amount'];
      /** @description The sum of its completed refunds. */
      refunded: components['schemas']['Amount'];
      /** @description The text that was given with the request. */
      description: string | null;
      /** @description Your own reference for it. */
      reference: string | null;
      /** @description Your own data about it; empty if there is none. */
      metadata: {
        [key: string]: string;
      };
      /**
       * Format: date-time
       * @description When it was paid.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
    CreateBonus: {
      /**
       * Format: uuid
       * @description The account that pays the amount and the fee.
       */
      source_account: string;
      recipient: components['schemas']['RecipientName'];
      /** @description The amount that the recipient receives. */
      amount: components['schemas']['AmountInput'];
      /** @description A text that both parties see. */
      description?: string | null;
      /** @description Your own data about it, at most 20 pairs. A key has 1 to 40 of the characters a to z, 0 to 9 and _; keys and values together at most 4096 bytes. */
      metadata?: {
        [key: string]: string | null;
      } | null;
      /** @description Your own reference for it. */
      reference?: string | null;
    };
    /** @description Exactly one of the three. */
    RecipientName: {
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id?: string | null;
      /**
       * @description The alias of the account.
       * @example $ana
       */
      alias?: string | null;
      /**
       * @description The phone of its holder.
       * @example +573001112233
       */
      phone?: string | null;
    };
    BonusPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Bonus'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    BonusBatchPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['BonusBatch'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    /** @description A file of bonuses, which are validated together and paid once the batch is executed. */
    BonusBatch: {
      /**
       * Format: uuid
       * @description The id of the batch.
       */
      id: string;
      /**
       * @description The state. Nothing is paid before `executing`.
       *
       *     - `validating`: its rows are being checked. Becomes `ready` or `rejected`.
       *     - `ready`: every row is valid. Becomes `executing`, or `rejected` if it is withdrawn or not executed within 30 days.
       *     - `rejected`: its file has a problem, which its errors file lists, or `rejection` says why. Final.
       *     - `executing`: its rows are being paid. Becomes `completed` or `partially_failed`.
       *     - `completed`: every row was paid. Final.
       *     - `partially_failed`: at least one row was not paid. Final.
       * @enum {string}
       */
      status: 'validating' | 'ready' | 'rejected' | 'executing' | 'completed' | 'partially_failed';
      /**
       * Format: uuid
       * @description The account that pays the bonuses and their fees.
       */
      source_account: string;
      /** @description The text that was given with the upload. */
      description: string | null;
      /** @description Rows in the file; while validating, those read so far. */
      rows: number;
      /** @description Rows with a problem. One is enough to reject the whole file. */
      rows_rejected: number;
      /** @description Of the valid rows; null until the asset is known. */
      total: components['schemas']['Amount'] | null;
      /** @description Once ready. */
      fees: components['schemas']['Amount'] | null;
      /** @description The total plus the fees. Once ready. */
      total_debit: components['schemas']['Amount'] | null;
      /** @description Rows and files that may be a mistake; null until ready. A warning. */
      duplicates: {
        /** @description Rows with the same recipient as an earlier row. */
        count: number;
        /** @description The first 100 of them. */
        rows: number[];
        /**
         * Format: uuid
         * @description The most recent earlier batch with the same bytes, within the last 90 days.
         */
        same_file_batch_id: string | null;
      } | null;
      /** @description Once validated. */
      hidden: {
        /** @description Rows that are hidden in the spreadsheet. They are paid like all rows. */
        rows: number;
        /** @description Columns that are hidden in the spreadsheet, or zero wide. They are read. */
        columns: string[];
        /** @description Hidden sheets before the sheet that was read. Their rows are not paid. */
        skipped_sheets: number;
      } | null;
      /** @description Once validated: the names of the first 100 other visible sheets with content. Their rows are not paid. */
      unread_sheets: string[] | null;
      /** @description The URLs of the files about the batch. */
      files: {
        /**
         * Format: uri
         * @description Which rows failed and why; null before the rejection, and after retention has removed it.
         */
        errors_url: string | null;
        /**
         * Format: uri
         * @description The outcome of each row; null before the batch has ended, and after retention has removed it.
         */
        result_url: string | null;
      };
      /** @description Why a batch whose file was accepted was rejected: it was withdrawn, or nobody executed it in time. */
      rejection: {
        /**
         * @description The cause, for machines.
         *
         *     - `withdrawn`: its uploader, an admin, an owner or support withdrew it. Nothing is left to do.
         *     - `lapsed`: it was not executed within 30 days. Upload the file again to pay it.
         * @enum {string}
         */
        code: 'withdrawn' | 'lapsed';
      } | null;
      /**
       * Format: date-time
       * @description When it was uploaded.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a member executed it; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      executed_at: string | null;
      /**
       * Format: date-time
       * @description When it ended; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      finished_at: string | null;
      /** @description While ready: whether the source account covers the debit now. */
      funding: {
        /**
         * Format: int64
         * @description What the source account can spend.
         * @example 150000
         */
        available: bigint;
        /** @description Whether that covers the debit. */
        sufficient: boolean;
        /**
         * Format: int64
         * @description What is missing; 0 if nothing is.
         * @example 150000
         */
        shortfall: bigint;
      } | null;
      /** @description While ready: whether the source account may send now. */
      can_send: boolean | null;
      /** @description While ready, when one batch is read: the rows whose reference the tenant paid to the same account within the last 90 days, by another batch or a single bonus, and those that another batch, ready or executing, will pay. A warning. */
      earlier_payments: {
        /** @description Rows of the file. */
        count: number;
        /** @description The first 100 of them. */
        rows: {
          /** @description The row of the file. */
          row: number;
          /**
           * Format: uuid
           * @description The batch that paid or will pay; null for a single bonus.
           */
          batch_id: string | null;
          /**
           * Format: uuid
           * @description The newest bonus that paid; null if the other batch has yet to pay.
           */
          bonus_id: string | null;
        }[];
      } | null;
      /** @description While ready: the amount for people, such as 1,500.00 COPM. */
      total_formatted: string | null;
      /** @description While ready: the amount for people, such as 1,500.00 COPM. */
      fees_formatted: string | null;
      /** @description While ready: the amount for people, such as 1,500.00 COPM. */
      total_debit_formatted: string | null;
      /** @description Rows, once executed. */
      progress: {
        /** @description Rows that were paid. */
        paid: number;
        /** @description Rows that could not be paid. */
        failed: number;
        /** @description Rows that have yet to be paid. */
        pending: number;
      } | null;
    };
    BonusBatchRowPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['BonusBatchRow'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    BonusBatchRow: {
      /** @description As a spreadsheet shows it: the first data row is 2. */
      row: number;
      /**
       * @description The state.
       *
       *     - `pending`: not paid yet.
       *     - `paid`: paid. Final.
       *     - `failed`: not paid, as `failure` says. Final.
       * @enum {string}
       */
      status: 'pending' | 'paid' | 'failed';
      /** @description As written in the file. */
      recipient: string;
      /**
       * Format: uuid
       * @description The account it named when the file was validated.
       */
      account_id: string;
      /** @description The amount that the recipient receives. */
      amount: components['schemas']['Amount'];
      /** @description The fee that the source account pays in addition. */
      fee: components['schemas']['Amount'];
      /** @description As written in the file. */
      description: string | null;
      /** @description Your own reference for it, from the file. */
      reference: string | null;
      /** @description Your own data about it; empty if there is none. */
      metadata: {
        [key: string]: string;
      };
      /**
       * Format: uuid
       * @description Once paid.
       */
      bonus_id: string | null;
      /** @description Why it could not be paid; null unless it failed. */
      failure: {
        /**
         * @description The cause, for machines.
         *
         *     - `capability_cannot_send`: the source account is frozen, closed or not verified. Verify it, or ask your operator.
         *     - `invalid_field`: the balance of the destination would become too large. Pay less.
         *     - `below_minimum`: the amount is below the minimum of one operation. Pay more.
         *     - `above_per_operation_limit`: the amount is above the maximum of one operation. Split it.
         *     - `monthly_limit_exceeded`: the amount is above what is left of the month. Pay it next month, or ask your operator for a higher limit.
         *     - `insufficient_funds`: the available balance does not cover amount and fee. Fund the account.
         *     - `canceled`: support canceled the batch first. Ask your operator why.
         *     - `not_found`: the destination was closed, or is out of reach. Ask for another account.
         * @enum {string}
         */
        code:
          | 'capability_cannot_send'
          | 'invalid_field'
          | 'below_minimum'
          | 'above_per_operation_limit'
          | 'monthly_limit_exceeded'
          | 'insufficient_funds'
          | 'canceled'
          | 'not_found';
        /** @description The cause, for people. */
        message: string;
      } | null;
      /**
       * Format: date-time
       * @description When it was paid; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      paid_at: string | null;
    };
    PayoutBatchPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['PayoutBatch'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    /** @description A file of payouts, which are validated together and paid once the batch is executed. */
    PayoutBatch: {
      /**
       * Format: uuid
       * @description The id of the batch.
       */
      id: string;
      /**
       * @description The state. Nothing is paid before `executing`.
       *
       *     - `validating`: its rows are being checked. Becomes `ready` or `rejected`.
       *     - `ready`: every row is valid. Becomes `executing`, or `rejected` if it is withdrawn or not executed within 30 days.
       *     - `rejected`: its file has a problem, which its errors file lists, or `rejection` says why. Final.
       *     - `executing`: its rows are being paid. Becomes `completed` or `partially_failed`.
       *     - `completed`: every row has become a payout, which can still fail. Final.
       *     - `partially_failed`: a rule refused at least one row, which has not become a payout. Final.
       * @enum {string}
       */
      status: 'validating' | 'ready' | 'rejected' | 'executing' | 'completed' | 'partially_failed';
      /**
       * Format: uuid
       * @description The account that pays the payouts and their fees.
       */
      source_account: string;
      /** @description The text that was given with the upload. */
      description: string | null;
      /** @description Rows in the file; while validating, those read so far. */
      rows: number;
      /** @description Rows with a problem. One is enough to reject the whole file. */
      rows_rejected: number;
      /** @description Of the valid rows; null until the asset is known. */
      total: components['schemas']['Amount'] | null;
      /** @description Once ready. */
      fees: components['schemas']['Amount'] | null;
      /** @description The total plus the fees. Once ready. */
      total_debit: components['schemas']['Amount'] | null;
      /** @description Rows and files that may be a mistake; null until ready. A warning. */
      duplicates: {
        /** @description Rows with the same recipient as an earlier row. */
        count: number;
        /** @description The first 100 of them. */
        rows: number[];
        /**
         * Format: uuid
         * @description The most recent earlier batch with the same bytes, within the last 90 days.
         */
        same_file_batch_id: string | null;
      } | null;
      /** @description Once validated. */
      hidden: {
        /** @description Rows that are hidden in the spreadsheet. They are paid like all rows. */
        rows: number;
        /** @description Columns that are hidden in the spreadsheet, or zero wide. They are read. */
        columns: string[];
        /** @description Hidden sheets before the sheet that was read. Their rows are not paid. */
        skipped_sheets: number;
      } | null;
      /** @description Once validated: the names of the first 100 other visible sheets with content. Their rows are not paid. */
      unread_sheets: string[] | null;
      /** @description The URLs of the files about the batch. */
      files: {
        /**
         * Format: uri
         * @description Which rows failed and why; null before the rejection, and after retention has removed it.
         */
        errors_url: string | null;
        /**
         * Format: uri
         * @description The outcome of each row; null before the batch has ended, and after retention has removed it.
         */
        result_url: string | null;
      };
      /** @description Why a batch whose file was accepted was rejected: it was withdrawn, or nobody executed it in time. */
      rejection: {
        /**
         * @description The cause, for machines.
         *
         *     - `withdrawn`: its uploader, an admin, an owner or support withdrew it. Nothing is left to do.
         *     - `lapsed`: it was not executed within 30 days. Upload the file again to pay it.
         * @enum {string}
         */
        code: 'withdrawn' | 'lapsed';
      } | null;
      /**
       * Format: date-time
       * @description When it was uploaded.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When a member executed it; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      executed_at: string | null;
      /**
       * Format: date-time
       * @description When it ended; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      finished_at: string | null;
      /** @description While ready: whether the source account covers the debit now. */
      funding: {
        /**
         * Format: int64
         * @description What the source account can spend.
         * @example 150000
         */
        available: bigint;
        /** @description Whether that covers the debit. */
        sufficient: boolean;
        /**
         * Format: int64
         * @description What is missing; 0 if nothing is.
         * @example 150000
         */
        shortfall: bigint;
      } | null;
      /** @description While ready: whether the source account may send now. */
      can_send: boolean | null;
      /** @description While ready, when one batch is read: the rows whose reference the tenant paid to the same bank account within the last 90 days, by another batch, and those that another batch, ready or executing, will pay. A warning. */
      earlier_payments: {
        /** @description Rows of the file. */
        count: number;
        /** @description The first 100 of them. */
        rows: {
          /** @description The row of the file. */
          row: number;
          /**
           * Format: uuid
           * @description The batch that paid or will pay.
           */
          batch_id: string | null;
          /**
           * Format: uuid
           * @description The newest payout that paid; null if the other batch has yet to pay.
           */
          payout_id: string | null;
        }[];
      } | null;
      /** @description While ready: the amount for people, such as 1,500.00 COPM. */
      total_formatted: string | null;
      /** @description While ready: the amount for people, such as 1,500.00 COPM. */
      fees_formatted: string | null;
      /** @description While ready: the amount for people, such as 1,500.00 COPM. */
      total_debit_formatted: string | null;
      /** @description Rows, once executed. */
      progress: {
        /** @description Rows whose payout was created. */
        created: number;
        /** @description Rows that could not be paid. */
        failed: number;
        /** @description Rows that have yet to be paid. */
        pending: number;
      } | null;
      /** @description How many payouts of the batch are in each state now; null until a member executes it. */
      payouts: {
        /** @description Payouts that are `pending_approval`. */
        pending_approval: number;
        /** @description Payouts that are `approved`. */
        approved: number;
        /** @description Payouts that are `in_progress`. */
        in_progress: number;
        /** @description Payouts that are `completed`. */
        completed: number;
        /** @description Payouts that are `returned`. */
        returned: number;
        /** @description Payouts that are `rejected`. */
        rejected: number;
        /** @description Payouts that are `canceled`. */
        canceled: number;
        /** @description Payouts that are `failed`. */
        failed: number;
      } | null;
    };
    PayoutBatchRowPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['PayoutBatchRow'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    PayoutBatchRow: {
      /** @description As a spreadsheet shows it: the first data row is 2. */
      row: number;
      /**
       * @description The state.
       *
       *     - `pending`: not a payout yet.
       *     - `created`: a payout, whose own state says whether it is paid. Final.
       *     - `failed`: never a payout, as `failure` says. Final.
       * @enum {string}
       */
      status: 'pending' | 'created' | 'failed';
      /** @description The bank account that receives the amount. */
      destination: {
        /**
         * @description Always `bank_account`.
         * @enum {string}
         */
        type: 'bank_account';
        /** @description The country of the bank, in ISO 3166 alpha-2. */
        country: string;
        /** @description The code of the bank in its country. */
        bank_code: string;
        /**
         * @description The kind of account.
         * @enum {string}
         */
        account_type: 'savings' | 'checking';
        /** @description Masked: at most its last four characters. */
        account_number: string;
        /** @description Who holds the account. */
        holder_name: string;
        /** @description Masked: at most its last four characters. */
        holder_document: string;
      };
      /** @description The amount that the recipient receives. */
      amount: components['schemas']['Amount'];
      /** @description The fee that the source account pays in addition. */
      fee: components['schemas']['Amount'];
      /** @description As written in the file. */
      description: string | null;
      /** @description Your own reference for it, from the file. */
      reference: string | null;
      /** @description Your own data about it; empty if there is none. */
      metadata: {
        [key: string]: string;
      };
      /**
       * Format: uuid
       * @description Once created.
       */
      payout_id: string | null;
      /** @description Why it could not be paid; null unless it failed. */
      failure: {
        /**
         * @description The cause, for machines.
         *
         *     - `capability_cannot_send`: the source account is frozen, closed or not verified. Verify it, or ask your operator.
         *     - `invalid_field`: no rail pays out to the country, or takes the amount. Ask your operator.
         *     - `below_minimum`: the amount is below the minimum of one operation. Pay more.
         *     - `above_per_operation_limit`: the amount is above the maximum of one operation. Split it.
         *     - `monthly_limit_exceeded`: the amount is above what is left of the month. Pay it next month, or ask your operator for a higher limit.
         *     - `insufficient_funds`: the available balance does not cover amount and fee. Fund the account.
         *     - `canceled`: support canceled the batch first. Ask your operator why.
         * @enum {string}
         */
        code:
          | 'capability_cannot_send'
          | 'invalid_field'
          | 'below_minimum'
          | 'above_per_operation_limit'
          | 'monthly_limit_exceeded'
          | 'insufficient_funds'
          | 'canceled';
        /** @description The cause, for people. */
        message: string;
      } | null;
      /**
       * Format: date-time
       * @description When the payout was created; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string | null;
    };
    AccountPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Account'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    /** @description An account of the tenant. */
    Account: {
      /**
       * Format: uuid
       * @description The id of the account.
       */
      id: string;
      /**
       * @description Whether a person or a business holds it.
       * @enum {string}
       */
      type: 'person' | 'business';
      /**
       * @description The state, which only operators change.
       *
       *     - `active`: receives, and sends once it is verified.
       *     - `frozen`: receives but cannot send.
       *     - `closed`: does neither.
       * @enum {string}
       */
      status: 'active' | 'frozen' | 'closed';
      /** @description The name given at opening, which cannot be changed. */
      name: string;
      /** @description The name that others see. */
      display_name: string;
      /** @description The alias by which others find it; null without one. */
      alias: string | null;
      /** @description E.164 */
      phone: string | null;
      /** @description Your own data about it; empty if there is none. */
      metadata: {
        [key: string]: string;
      };
      /** @description Active and verified. */
      can_send: boolean;
      /**
       * Format: date-time
       * @description When it was first verified; null until then.
       * @example 2026-11-01T14:05:00.000Z
       */
      verified_at: string | null;
      /**
       * Format: date-time
       * @description When it was opened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
    OpenAccount: {
      /**
       * @description Whether a person or a business holds it.
       * @enum {string}
       */
      type: 'person' | 'business';
      /** @description A person's full name or a business's trade name. Others see it as `display_name`. */
      name: string;
      /** @description An alias by which others find it; by default none. */
      alias?: string | null;
      /** @description Any format; Colombian if it names no country. By default none. */
      phone?: string | null;
      /** @description Your own data about it, at most 20 pairs. A key has 1 to 40 of the characters a to z, 0 to 9 and _; keys and values together at most 4096 bytes. */
      metadata?: {
        [key: string]: string | null;
      } | null;
    };
    Balances: {
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id: string;
      /** @description One balance for each asset. */
      balances: {
        /** @description What an amount counts: COPM counts centavos of a Colombian peso, DUSD counts millionths of a dollar. */
        asset: components['schemas']['Asset'];
        /**
         * Format: int64
         * @description What can be spent.
         * @example 150000
         */
        available: bigint;
        /**
         * Format: int64
         * @description Set aside for pending operations.
         * @example 150000
         */
        held: bigint;
        /**
         * Format: int64
         * @description available + held
         * @example 150000
         */
        total: bigint;
      }[];
      /**
       * Format: date-time
       * @description The moment of the account's last change. Every later movement has a later `created_at`.
       * @example 2026-11-01T14:05:00.000Z
       */
      as_of: string;
    };
    PastBalances: {
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id: string;
      /** @description One total for each asset. */
      balances: {
        /** @description What an amount counts: COPM counts centavos of a Colombian peso, DUSD counts millionths of a dollar. */
        asset: components['schemas']['Asset'];
        /**
         * Format: int64
         * @description Of everything posted up to and including `as_of`.
         * @example 150000
         */
        total: bigint;
      }[];
      /**
       * Format: date-time
       * @description The moment that was asked for.
       * @example 2026-11-01T14:05:00.000Z
       */
      as_of: string;
    };
    MovementPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Movement'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    Movement: {
      /**
       * Format: uuid
       * @description The id of the movement.
       */
      id: string;
      /**
       * @description What it is part of, and whether the amount came in or went out.
       *
       *     - `transfer_in`: the account received a transfer, or a refund.
       *     - `transfer_out`: the account sent a transfer, or a refund.
       *     - `bonus_in`: the account received a bonus.
       *     - `bonus_out`: the account paid a bonus, alone or in a batch.
       *     - `payin_in`: money came in from a bank, as operators recorded it.
       *     - `payout_out`: a payout was paid to a bank.
       *     - `fee_out`: the account paid the fee of `related`.
       *     - `adjustment_in`: a payout was returned, operators corrected the balance, or a fee arrived.
       *     - `adjustment_out`: operators corrected the balance.
       * @enum {string}
       */
      kind:
        | 'transfer_in'
        | 'transfer_out'
        | 'bonus_in'
        | 'bonus_out'
        | 'payin_in'
        | 'payout_out'
        | 'fee_out'
        | 'adjustment_in'
        | 'adjustment_out';
      /** @description The amount, which is never negative. */
      amount: components['schemas']['Amount'];
      /** @description The account's total in the asset after it: available plus held. */
      total_after: components['schemas']['Amount'];
      /** @description The other side of the movement. */
      counterparty: {
        /**
         * Format: uuid
         * @description The account; null if no tenant owns it.
         */
        account_id: string | null;
        /**
         * Format: uuid
         * @description The tenant that owns it; null if none does.
         */
        tenant: string | null;
        /** @description The alias of the account; null without one. */
        alias: string | null;
        /** @description The name that others see. */
        display_name: string;
        /**
         * @description What kind of account it is.
         * @enum {string}
         */
        type: 'person' | 'business' | 'bank_account' | 'system';
      };
      /** @description The description of what it is part of. */
      description: string | null;
      /** @description The operation that it is part of. */
      related: {
        /**
         * @description The kind of operation. A fee names the operation that it was paid for.
         *
         *     - `transfer`: a transfer, a refund or a run of a schedule.
         *     - `bonus`: a bonus, alone or of a row of a batch.
         *     - `payout`: a payout, or its return.
         *     - `payin`: money from a bank, of which the API shows only the movement.
         *     - `adjustment`: a correction by two operators, of which the API shows only the movement.
         * @enum {string}
         */
        type: 'transfer' | 'bonus' | 'payout' | 'payin' | 'adjustment';
        /**
         * Format: uuid
         * @description The id of the operation.
         */
        id: string;
      };
      /**
       * Format: date-time
       * @description When it was posted.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
    /** @description A person or program of the tenant. */
    Member: {
      /**
       * Format: uuid
       * @description The id of the member.
       */
      id: string;
      /** @description Unique in the tenant. */
      name: string;
      /** @description Roles that wait for the tenant's delay, the earliest first. */
      pending_roles: {
        /**
         * Format: uuid
         * @description The account.
         */
        account_id: string;
        /**
         * @description What the member may do in the account.
         * @enum {string}
         */
        role: 'viewer' | 'operator' | 'approver' | 'admin' | 'owner';
        /**
         * Format: date-time
         * @description When it takes effect.
         * @example 2026-11-01T14:05:00.000Z
         */
        effective_at: string;
      }[];
      /**
       * Format: date-time
       * @description When it was added.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
    CreateMember: {
      /** @description A person or program, unique in the tenant. */
      name: string;
    };
    MemberPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Member'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    /** @description The role of a member in an account. */
    Role: {
      /**
       * Format: uuid
       * @description The account.
       */
      account_id: string;
      /**
       * Format: uuid
       * @description The member.
       */
      member_id: string;
      /**
       * @description What the member may do in the account.
       * @enum {string}
       */
      role: 'viewer' | 'operator' | 'approver' | 'admin' | 'owner';
      /**
       * Format: date-time
       * @description When it takes effect, after the tenant's delay; null if it is in force.
       * @example 2026-11-01T14:05:00.000Z
       */
      effective_at: string | null;
    };
    SetRole: {
      /**
       * @description What the member may do in the account.
       * @enum {string}
       */
      role: 'viewer' | 'operator' | 'approver' | 'admin' | 'owner';
    };
    /** @description A token, shown once. */
    CreatedToken: {
      /** @description Identifies the token; not secret. */
      key_id: string;
      /**
       * Format: uuid
       * @description The member it acts for.
       */
      member_id: string;
      /** @description What it is for; null if not given. */
      name: string | null;
      /** @description What it may be used for. */
      scopes: ('read' | 'lookup' | 'transfers' | 'bonuses' | 'payouts' | 'webhooks' | 'access')[];
      /** @description The only addresses that may use it; empty for any address. */
      address_ranges: string[];
      /**
       * Format: date-time
       * @description When it was created.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it takes effect, after the tenant's delay; null if it took effect at once.
       * @example 2026-11-01T14:05:00.000Z
       */
      effective_at: string | null;
      /**
       * Format: date-time
       * @description When it expires; null if never.
       * @example 2026-11-01T14:05:00.000Z
       */
      expires_at: string | null;
      /**
       * Format: date-time
       * @description When it was last used, up to an hour late; null if never.
       * @example 2026-11-01T14:05:00.000Z
       */
      last_used_at: string | null;
      /** @description The `key_id` of the token that created it; null if operators did. */
      created_by_key: string | null;
      /** @description The Bearer text, shown only in this response; null in a replay. */
      token: string | null;
    };
    CreateToken: {
      /**
       * Format: uuid
       * @description The member that the token acts for.
       */
      member_id: string;
      /** @description What it may be used for: some of the scopes of your own token. */
      scopes: ('read' | 'lookup' | 'transfers' | 'bonuses' | 'payouts' | 'webhooks' | 'access')[];
      /**
       * Format: date-time
       * @description When it expires; by default never.
       */
      expires_at?: string | null;
      /** @description The only addresses or ranges that may use it; by default any address. */
      address_ranges?: string[] | null;
      /** @description What the token is for. */
      name?: string | null;
    };
    TokenPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Token'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    /** @description A live token of a member. */
    Token: {
      /** @description Identifies the token; not secret. */
      key_id: string;
      /**
       * Format: uuid
       * @description The member it acts for.
       */
      member_id: string;
      /** @description What it is for; null if not given. */
      name: string | null;
      /** @description What it may be used for. */
      scopes: ('read' | 'lookup' | 'transfers' | 'bonuses' | 'payouts' | 'webhooks' | 'access')[];
      /** @description The only addresses that may use it; empty for any address. */
      address_ranges: string[];
      /**
       * Format: date-time
       * @description When it was created.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it takes effect, after the tenant's delay; null if it took effect at once.
       * @example 2026-11-01T14:05:00.000Z
       */
      effective_at: string | null;
      /**
       * Format: date-time
       * @description When it expires; null if never.
       * @example 2026-11-01T14:05:00.000Z
       */
      expires_at: string | null;
      /**
       * Format: date-time
       * @description When it was last used, up to an hour late; null if never.
       * @example 2026-11-01T14:05:00.000Z
       */
      last_used_at: string | null;
      /** @description The `key_id` of the token that created it; null if operators did. */
      created_by_key: string | null;
    };
    Limits: {
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id: string;
      /** @description The limits in each asset. */
      limits: {
        /** @description What an amount counts: COPM counts centavos of a Colombian peso, DUSD counts millionths of a dollar. */
        asset: components['schemas']['Asset'];
        /**
         * Format: int64
         * @description For a single operation.
         * @example 150000
         */
        minimum: bigint;
        /**
         * Format: int64
         * @description For a single operation.
         * @example 150000
         */
        maximum: bigint;
        /** @description The limit of the current month. */
        month: {
          /**
           * Format: int64
           * @description What has left the account or is pending, fees excluded.
           * @example 150000
           */
          used: bigint;
          /**
           * Format: int64
           * @description The most that may leave the account in the month.
           * @example 150000
           */
          limit: bigint;
          /**
           * Format: date-time
           * @description The start of the next month in the tenant's time zone.
           * @example 2026-11-01T14:05:00.000Z
           */
          resets_at: string;
        };
      }[];
    };
    AccountLookup: {
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id: string;
      /** @description The alias of the account; null without one. */
      alias: string | null;
      /**
       * @description The name that others see.
       * @example Ana M. P.
       */
      display_name: string;
      /**
       * @description Whether a person or a business holds it.
       * @enum {string}
       */
      type: 'person' | 'business';
    };
    Alias: {
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id: string;
      /** @description The alias of the account. */
      alias: string;
    };
    SetAlias: {
      /** @description The alias, which begins with $. */
      alias: string;
    };
    DeclareVerification: {
      /**
       * @description The account's own type.
       * @enum {string}
       */
      type: 'person' | 'business';
      /** @description The name in the document. */
      legal_name: string;
      /**
       * @description The kind of document.
       * @enum {string}
       */
      document_type: 'CC' | 'CE' | 'NIT' | 'PASS' | 'PEP';
      /** @description Stored encrypted; only its last four characters are shown. */
      document_number: string;
      /**
       * @description The country that issued the document: any, in ISO 3166 alpha-2.
       * @example CO
       */
      country: string;
      /**
       * Format: date-time
       * @description When it was declared to you; by default now.
       */
      declared_at?: string | null;
    };
    /** @description The movements of an account in one asset and period, as files. */
    Statement: {
      /**
       * Format: uuid
       * @description The id of the statement.
       */
      id: string;
      /**
       * @description The state of its files.
       *
       *     - `preparing`: they are being made. Becomes `ready`.
       *     - `ready`: they can be downloaded. Becomes `expired`.
       *     - `expired`: they were removed, but the figures stay. Final.
       * @enum {string}
       */
      status: 'preparing' | 'ready' | 'expired';
      /**
       * Format: uuid
       * @description The account.
       */
      account_id: string;
      /** @description The asset; movements in other assets are left out. */
      asset: components['schemas']['Asset'];
      /**
       * Format: date-time
       * @description The first moment of the period, inclusive.
       * @example 2026-11-01T14:05:00.000Z
       */
      from: string;
      /**
       * Format: date-time
       * @description The last moment of the period, inclusive.
       * @example 2026-11-01T14:05:00.000Z
       */
      to: string;
      /** @description The total before the first movement of the period. */
      opening_balance: components['schemas']['Amount'];
      /** @description The total at `to`. */
      closing_balance: components['schemas']['Amount'];
      /** @description In this asset, in the period; null while preparing. */
      movements: number | null;
      /** @description The URLs of the files. */
      files: {
        /**
         * Format: uri
         * @description The statement as CSV; null unless ready.
         */
        csv_url: string | null;
        /**
         * Format: uri
         * @description The statement as a spreadsheet; null unless ready.
         */
        xlsx_url: string | null;
      };
      /**
       * Format: date-time
       * @description When it was requested.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
    /** @description A period in which the account has at most 500000 movements. */
    CreateStatement: {
      /**
       * Format: uuid
       * @description The account.
       */
      account_id: string;
      /** @description What an amount counts: COPM counts centavos of a Colombian peso, DUSD counts millionths of a dollar. */
      asset: components['schemas']['Asset'];
      /**
       * Format: date-time
       * @description The first moment of the period, inclusive.
       */
      from: string;
      /**
       * Format: date-time
       * @description The last moment of the period, inclusive; at least 15 seconds ago.
       */
      to: string;
    };
    StatementPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Statement'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    /** @description The outcome of a request. */
    Request: {
      /**
       * Format: uuid
       * @description The `Svc-Request-Id` of its answer.
       */
      id: string;
      /**
       * @description The method of HTTP.
       * @enum {string}
       */
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      /** @description The path, without the query. */
      path: string;
      /** @description The status it was answered with. */
      status: number;
      /**
       * @description The code of the error; null if the answer was not an error.
       * @enum {string|null}
       */
      code:
        | 'missing_field'
        | 'invalid_field'
        | 'missing_query'
        | 'missing_idempotency_key'
        | 'unauthorized'
        | 'insufficient_scope'
        | 'authority_insufficient'
        | 'not_found'
        | 'method_not_allowed'
        | 'idempotency_key_reused'
        | 'invalid_state'
        | 'phone_taken'
        | 'body_too_large'
        | 'unsupported_media_type'
        | 'capability_cannot_send'
        | 'below_minimum'
        | 'above_per_operation_limit'
        | 'monthly_limit_exceeded'
        | 'insufficient_funds'
        | 'capture_exceeds_amount'
        | 'not_refundable'
        | 'refund_exceeds_amount'
        | 'alias_taken'
        | 'alias_reserved'
        | 'alias_in_quarantine'
        | 'last_owner'
        | 'too_many_endpoints'
        | 'quota_exceeded'
        | 'rate_limited'
        | 'internal_error'
        | 'ledger_unavailable'
        | 'rail_unavailable'
        | null;
      /** @description The resource that it created, or that its key had created before, even after a 503. */
      resource: {
        /**
         * @description The kind of resource.
         * @enum {string}
         */
        type:
          | 'transfer'
          | 'bonus'
          | 'payout'
          | 'payin'
          | 'adjustment'
          | 'bonus_batch'
          | 'payout_batch'
          | 'webhook_endpoint'
          | 'statement'
          | 'schedule'
          | 'account'
          | 'member'
          | 'token';
        /**
         * Format: uuid
         * @description The id of the resource.
         */
        id: string;
      } | null;
      /**
       * Format: date-time
       * @description When it arrived.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
    Event:
      | components['schemas']['TransferCompletedEvent']
      | components['schemas']['TransferRejectedEvent']
      | components['schemas']['TransferExpiredEvent']
      | components['schemas']['PayoutApprovedEvent']
      | components['schemas']['PayoutCompletedEvent']
      | components['schemas']['PayoutRejectedEvent']
      | components['schemas']['PayoutFailedEvent']
      | components['schemas']['PayoutReturnedEvent']
      | components['schemas']['PayoutCanceledEvent']
      | components['schemas']['BonusBatchReadyEvent']
      | components['schemas']['BonusBatchRejectedEvent']
      | components['schemas']['BonusBatchCompletedEvent']
      | components['schemas']['BonusBatchPartiallyFailedEvent']
      | components['schemas']['PayoutBatchReadyEvent']
      | components['schemas']['PayoutBatchRejectedEvent']
      | components['schemas']['PayoutBatchCompletedEvent']
      | components['schemas']['PayoutBatchPartiallyFailedEvent']
      | components['schemas']['AccountVerifiedEvent'];
    TransferRejectedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'transfer.rejected';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Transfer'];
      };
    };
    TransferExpiredEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'transfer.expired';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Transfer'];
      };
    };
    PayoutApprovedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout.approved';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Payout'];
      };
    };
    PayoutRejectedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout.rejected';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Payout'];
      };
    };
    PayoutCanceledEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout.canceled';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['Payout'];
      };
    };
    BonusBatchRejectedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'bonus_batch.rejected';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['BonusBatchOfEvent'];
      };
    };
    BonusBatchPartiallyFailedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'bonus_batch.partially_failed';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['BonusBatchOfEvent'];
      };
    };
    PayoutBatchRejectedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout_batch.rejected';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['PayoutBatchOfEvent'];
      };
    };
    PayoutBatchPartiallyFailedEvent: {
      /**
       * Format: uuid
       * @description Stays the same when the event is delivered again.
       */
      id: string;
      /**
       * @description What happened. (enum property replaced by openapi-typescript)
       * @enum {string}
       */
      type: 'payout_batch.partially_failed';
      /**
       * @description The version that the body is written in.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it happened.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /** @description The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list. */
      sequence: number;
      /** @description How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list. */
      restores?: number;
      /** @description The resource at that moment. */
      data: {
        object: components['schemas']['PayoutBatchOfEvent'];
      };
    };
    EventGap: {
      /** @description The sequence of the last event before the gap; 0 if there is none. */
      after: number;
      /** @description The sequence of the first event after it. */
      before: number;
      /**
       * Format: date-time
       * @description Everything later, up to `created_at`, is undone; statements about it no longer hold.
       * @example 2026-11-01T14:05:00.000Z
       */
      restored_to: string;
      /**
       * Format: date-time
       * @description When the service was restored.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
    EventPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['Event'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    /** @description An address of the tenant to which events are sent. */
    RegisteredWebhookEndpoint: components['schemas']['WebhookEndpoint'] & {
      /**
       * @description Signs every delivery. Shown here and never again.
       * @example whsec_…
       */
      secret?: string;
    };
    /** @description An address of the tenant to which events are sent. */
    WebhookEndpoint: {
      /**
       * Format: uuid
       * @description The id of the endpoint.
       */
      id: string;
      /**
       * Format: uri
       * @description Where events are sent.
       */
      url: string;
      /** @description The types of events it receives. */
      events: (
        | 'transfer.completed'
        | 'payout.completed'
        | 'payout.failed'
        | 'payout.returned'
        | 'bonus_batch.ready'
        | 'bonus_batch.completed'
        | 'payout_batch.ready'
        | 'payout_batch.completed'
        | 'account.verified'
      )[];
      /**
       * @description Whether events are sent to it.
       *
       *     - `enabled`: they are.
       *     - `disabled`: they are not, as `disabled_reason` says.
       * @enum {string}
       */
      status: 'enabled' | 'disabled';
      /**
       * @description Who or what disabled it; null while it is enabled.
       * @enum {string|null}
       */
      disabled_reason: 'by_tenant' | 'by_operator' | 'answered_410' | 'failing_for_5_days' | null;
      /**
       * @description The version of its events, pinned at registration.
       * @enum {string}
       */
      api_version: '2026-11-01';
      /**
       * Format: date-time
       * @description When it was registered.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it last answered 2xx, tests included.
       * @example 2026-11-01T14:05:00.000Z
       */
      last_success_at: string | null;
      /** @description The sequences that retention removed before they were sent to this endpoint. */
      lost_events: {
        /** @description The first sequence. */
        from: number;
        /** @description The last sequence. */
        to: number;
      } | null;
    };
    RegisterWebhookEndpoint: {
      /**
       * Format: uri
       * @description https, without credentials or a fragment, on the public internet.
       */
      url: string;
      /** @description The types of events it receives. */
      events: (
        | 'transfer.completed'
        | 'payout.completed'
        | 'payout.failed'
        | 'payout.returned'
        | 'bonus_batch.ready'
        | 'bonus_batch.completed'
        | 'payout_batch.ready'
        | 'payout_batch.completed'
        | 'account.verified'
      )[];
    };
    WebhookEndpointPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['WebhookEndpoint'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    ChangeWebhookEndpoint: {
      /**
       * Format: uri
       * @description https, without credentials or a fragment, on the public internet.
       */
      url?: string | null;
      /** @description The types of events it receives. */
      events?:
        | (
            | 'transfer.completed'
            | 'payout.completed'
            | 'payout.failed'
            | 'payout.returned'
            | 'bonus_batch.ready'
            | 'bonus_batch.completed'
            | 'payout_batch.ready'
            | 'payout_batch.completed'
            | 'account.verified'
          )[]
        | null;
      /**
       * @description Whether events are sent to it.
       * @enum {string|null}
       */
      status?: 'enabled' | 'disabled' | null;
    };
    /** @description An address of the tenant to which events are sent. */
    RotatedWebhookEndpoint: components['schemas']['WebhookEndpoint'] & {
      /**
       * @description Signs every delivery. Shown here and never again.
       * @example whsec_…
       */
      secret: string;
    };
    WebhookRecovery: {
      /**
       * Format: date-time
       * @description The moment from which on events are sent again.
       * @example 2026-11-01T14:05:00.000Z
       */
      since: string;
      /** @description Null if nothing has happened since. */
      from_sequence: number | null;
      /** @description The last event that is sent again; null if there is none. */
      to_sequence: number | null;
    };
    RecoverWebhookEndpoint: {
      /**
       * Format: date-time
       * @description At most 30 days ago.
       */
      since: string;
    };
    WebhookDeliveryPage: {
      /** @description The resources of this page, in the order of the list. */
      items: components['schemas']['WebhookDelivery'][];
      /** @description null on the last page */
      next_cursor: string | null;
    };
    /** @description An event or a test that is sent to an endpoint, with each attempt. */
    WebhookDelivery: {
      /**
       * Format: uuid
       * @description The id of the delivery.
       */
      id: string;
      /**
       * Format: uuid
       * @description Also the `webhook-id` of every attempt.
       */
      event_id: string;
      /** @description The type of the event. */
      event_type: string;
      /**
       * @description Why the event was sent.
       * @enum {string}
       */
      cause: 'event' | 'recover' | 'redeliver' | 'test';
      /**
       * @description The state.
       *
       *     - `pending`: it was not tried yet.
       *     - `retrying`: it failed and will be tried again.
       *     - `delivered`: it was answered 2xx. Final.
       *     - `failed`: every retry failed. Final.
       *     - `ended`: its type is no longer subscribed to, or the event is no longer kept. Final.
       * @enum {string}
       */
      status: 'pending' | 'retrying' | 'delivered' | 'failed' | 'ended';
      /** @description The requests so far, oldest first. */
      attempts: {
        /**
         * Format: date-time
         * @description When the request was sent.
         * @example 2026-11-01T14:05:00.000Z
         */
        at: string;
        /** @description The HTTP status; null if no answer came. */
        status: number | null;
        /**
         * @description Why no answer came, for machines.
         *
         *     - `timeout`: no response within 10 seconds. Respond before you process the event.
         *     - `connection`: the connection failed or broke off. Check that your receiver runs, and that its firewall lets us in.
         *     - `tls`: the certificate is not trusted: it has expired, is self-signed or of another host, or lacks the certificates that issue it.
         *     - `unresolvable`: the host name has no address. Check its DNS.
         *     - `forbidden_address`: the host is not on the public internet.
         *     - `invalid_url`: the URL is not allowed any more, for example because it is not `https`.
         *     - `invalid_answer`: the response is not HTTP.
         *     - `canceled`: the service stopped during the attempt, and repeats it at once.
         * @enum {string|null}
         */
        failure:
          | 'timeout'
          | 'connection'
          | 'tls'
          | 'unresolvable'
          | 'forbidden_address'
          | 'invalid_url'
          | 'invalid_answer'
          | 'canceled'
          | null;
        /** @description Why no answer came, for people. */
        message: string | null;
        /** @description How long the attempt took. */
        duration_ms: number;
        /** @description The first KiB of the answer's body. */
        response: string | null;
      }[];
      /**
       * Format: date-time
       * @description When it is tried next; null if it is not tried again.
       * @example 2026-11-01T14:05:00.000Z
       */
      next_attempt_at: string | null;
      /**
       * Format: date-time
       * @description When the delivery was begun.
       * @example 2026-11-01T14:05:00.000Z
       */
      created_at: string;
    };
  };
  responses: never;
  parameters: {
    /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
    'Idempotency-Key': string;
    /** @description The dated version of the API; by default 2026-11-01. */
    'Svc-Version': '2026-11-01';
  };
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type TransferCompletedEvent = components['schemas']['TransferCompletedEvent'];
export type Transfer = components['schemas']['Transfer'];
export type Amount = components['schemas']['Amount'];
export type Asset = components['schemas']['Asset'];
export type PayoutCompletedEvent = components['schemas']['PayoutCompletedEvent'];
export type Payout = components['schemas']['Payout'];
export type PayoutFailedEvent = components['schemas']['PayoutFailedEvent'];
export type PayoutReturnedEvent = components['schemas']['PayoutReturnedEvent'];
export type BonusBatchReadyEvent = components['schemas']['BonusBatchReadyEvent'];
export type BonusBatchOfEvent = components['schemas']['BonusBatchOfEvent'];
export type BonusBatchCompletedEvent = components['schemas']['BonusBatchCompletedEvent'];
export type PayoutBatchReadyEvent = components['schemas']['PayoutBatchReadyEvent'];
export type PayoutBatchOfEvent = components['schemas']['PayoutBatchOfEvent'];
export type PayoutBatchCompletedEvent = components['schemas']['PayoutBatchCompletedEvent'];
export type AccountVerifiedEvent = components['schemas']['AccountVerifiedEvent'];
export type Verification = components['schemas']['Verification'];
export type WebhookTest = components['schemas']['WebhookTest'];
export type AmountInput = components['schemas']['AmountInput'];
export type Error = components['schemas']['Error'];
export type CreateTransfer = components['schemas']['CreateTransfer'];
export type TransferPage = components['schemas']['TransferPage'];
export type ChangeMetadata = components['schemas']['ChangeMetadata'];
export type Reject = components['schemas']['Reject'];
export type CaptureTransfer = components['schemas']['CaptureTransfer'];
export type Refund = components['schemas']['Refund'];
export type Schedule = components['schemas']['Schedule'];
export type ScheduledTransfer = components['schemas']['ScheduledTransfer'];
export type CreateSchedule = components['schemas']['CreateSchedule'];
export type ScheduledTransferInput = components['schemas']['ScheduledTransferInput'];
export type SchedulePage = components['schemas']['SchedulePage'];
export type CreatePayout = components['schemas']['CreatePayout'];
export type PayoutRecipient = components['schemas']['PayoutRecipient'];
export type PayoutPage = components['schemas']['PayoutPage'];
export type RejectPayout = components['schemas']['RejectPayout'];
export type ApprovalPolicy = components['schemas']['ApprovalPolicy'];
export type SetApprovalPolicy = components['schemas']['SetApprovalPolicy'];
export type Bonus = components['schemas']['Bonus'];
export type CreateBonus = components['schemas']['CreateBonus'];
export type RecipientName = components['schemas']['RecipientName'];
export type BonusPage = components['schemas']['BonusPage'];
export type BonusBatchPage = components['schemas']['BonusBatchPage'];
export type BonusBatch = components['schemas']['BonusBatch'];
export type BonusBatchRowPage = components['schemas']['BonusBatchRowPage'];
export type BonusBatchRow = components['schemas']['BonusBatchRow'];
export type PayoutBatchPage = components['schemas']['PayoutBatchPage'];
export type PayoutBatch = components['schemas']['PayoutBatch'];
export type PayoutBatchRowPage = components['schemas']['PayoutBatchRowPage'];
export type PayoutBatchRow = components['schemas']['PayoutBatchRow'];
export type AccountPage = components['schemas']['AccountPage'];
export type Account = components['schemas']['Account'];
export type OpenAccount = components['schemas']['OpenAccount'];
export type Balances = components['schemas']['Balances'];
export type PastBalances = components['schemas']['PastBalances'];
export type MovementPage = components['schemas']['MovementPage'];
export type Movement = components['schemas']['Movement'];
export type Member = components['schemas']['Member'];
export type CreateMember = components['schemas']['CreateMember'];
export type MemberPage = components['schemas']['MemberPage'];
export type Role = components['schemas']['Role'];
export type SetRole = components['schemas']['SetRole'];
export type CreatedToken = components['schemas']['CreatedToken'];
export type CreateToken = components['schemas']['CreateToken'];
export type TokenPage = components['schemas']['TokenPage'];
export type Token = components['schemas']['Token'];
export type Limits = components['schemas']['Limits'];
export type AccountLookup = components['schemas']['AccountLookup'];
export type Alias = components['schemas']['Alias'];
export type SetAlias = components['schemas']['SetAlias'];
export type DeclareVerification = components['schemas']['DeclareVerification'];
export type Statement = components['schemas']['Statement'];
export type CreateStatement = components['schemas']['CreateStatement'];
export type StatementPage = components['schemas']['StatementPage'];
export type Request = components['schemas']['Request'];
export type Event = components['schemas']['Event'];
export type TransferRejectedEvent = components['schemas']['TransferRejectedEvent'];
export type TransferExpiredEvent = components['schemas']['TransferExpiredEvent'];
export type PayoutApprovedEvent = components['schemas']['PayoutApprovedEvent'];
export type PayoutRejectedEvent = components['schemas']['PayoutRejectedEvent'];
export type PayoutCanceledEvent = components['schemas']['PayoutCanceledEvent'];
export type BonusBatchRejectedEvent = components['schemas']['BonusBatchRejectedEvent'];
export type BonusBatchPartiallyFailedEvent =
  components['schemas']['BonusBatchPartiallyFailedEvent'];
export type PayoutBatchRejectedEvent = components['schemas']['PayoutBatchRejectedEvent'];
export type PayoutBatchPartiallyFailedEvent =
  components['schemas']['PayoutBatchPartiallyFailedEvent'];
export type EventGap = components['schemas']['EventGap'];
export type EventPage = components['schemas']['EventPage'];
export type RegisteredWebhookEndpoint = components['schemas']['RegisteredWebhookEndpoint'];
export type WebhookEndpoint = components['schemas']['WebhookEndpoint'];
export type RegisterWebhookEndpoint = components['schemas']['RegisterWebhookEndpoint'];
export type WebhookEndpointPage = components['schemas']['WebhookEndpointPage'];
export type ChangeWebhookEndpoint = components['schemas']['ChangeWebhookEndpoint'];
export type RotatedWebhookEndpoint = components['schemas']['RotatedWebhookEndpoint'];
export type WebhookRecovery = components['schemas']['WebhookRecovery'];
export type RecoverWebhookEndpoint = components['schemas']['RecoverWebhookEndpoint'];
export type WebhookDeliveryPage = components['schemas']['WebhookDeliveryPage'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type ParameterIdempotencyKey = components['parameters']['Idempotency-Key'];
export type ParameterSvcVersion = components['parameters']['Svc-Version'];
export type $defs = Record<string, never>;
export interface operations {
  listTransfers: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Created at this moment or later. */
        'created_at[gte]'?: string;
        /** @description Created at this moment or earlier. */
        'created_at[lte]'?: string;
        /** @description Paid from this account. */
        source_account?: string;
        /** @description Created, approved or executed under this `Idempotency-Key`: at most one item. */
        idempotency_key?: string;
        /** @description Only amounts in this asset. Required with a bound on the amount. */
        asset?: components['schemas']['Asset'];
        /** @description Only amounts (`raw`) of at least this. */
        'amount[gte]'?: bigint;
        /** @description Only amounts (`raw`) of at most this. */
        'amount[lte]'?: bigint;
        /** @description Created by the request whose response had this `Svc-Request-Id`: at most one item. */
        request_id?: string;
        /** @description With exactly this pair, such as `metadata[invoice]=A-17`; one pair at most. */
        metadata?: {
          [key: string]: string;
        };
        /** @description Only transfers in this state. */
        status?: 'pending_approval' | 'held' | 'completed' | 'rejected' | 'expired';
        /** @description Paid to this account. */
        destination_account?: string;
        /** @description Created by this schedule. */
        schedule?: string;
        /** @description Only the refunds of this transfer or bonus. */
        refund_of?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "scope": "internal",
           *           "status": "completed",
           *           "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *           "destination": {
           *             "type": "account",
           *             "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *           },
           *           "amount": {
           *             "raw": "150000",
           *             "asset": "COPM"
           *           },
           *           "fee": {
           *             "raw": "150",
           *             "asset": "COPM"
           *           },
           *           "description": "Lunch",
           *           "metadata": {
           *             "invoice": "A-17"
           *           },
           *           "created_at": "2026-11-21T14:05:01.123Z",
           *           "approval": null,
           *           "capture": "automatic",
           *           "capture_expires_at": null,
           *           "captured": null,
           *           "refunded": {
           *             "raw": "0",
           *             "asset": "COPM"
           *           },
           *           "refund_of": null,
           *           "rejection": null,
           *           "schedule": null
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['TransferPage'];
        };
      };
    };
  };
  createTransfer: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
         *       "destination": {
         *         "type": "account",
         *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
         *       },
         *       "amount": {
         *         "raw": "150000",
         *         "asset": "COPM"
         *       },
         *       "description": "Lunch",
         *       "metadata": {
         *         "invoice": "A-17"
         *       },
         *       "capture": "automatic"
         *     }
         */
        'application/json': components['schemas']['CreateTransfer'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Lunch",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": null,
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Lunch",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": null,
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
      /** @description Accepted, but not finished yet. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "pending_approval",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Lunch",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": {
           *         "required": 1,
           *         "received": 0,
           *         "expires_at": "2026-11-28T14:05:01.123Z"
           *       },
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": null,
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
    };
  };
  getTransfer: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the transfer. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Lunch",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": null,
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
    };
  };
  updateTransfer: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the transfer. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "metadata": {
         *         "invoice": "A-18",
         *         "order": null
         *       }
         *     }
         */
        'application/json': components['schemas']['ChangeMetadata'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Lunch",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": null,
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
    };
  };
  approveTransfer: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the transfer. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Lunch",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": {
           *         "required": 1,
           *         "received": 1,
           *         "expires_at": "2026-11-28T14:05:01.123Z"
           *       },
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": null,
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
    };
  };
  rejectTransfer: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the transfer. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "reason": "The invoice was paid already"
         *     }
         */
        'application/json': components['schemas']['Reject'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "rejected",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Lunch",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": {
           *         "required": 1,
           *         "received": 0,
           *         "expires_at": "2026-11-28T14:05:01.123Z"
           *       },
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": null,
           *       "rejection": {
           *         "code": "rejected",
           *         "reason": "The invoice was paid already"
           *       },
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
    };
  };
  cancelTransfer: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the transfer. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "rejected",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Lunch",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": {
           *         "required": 1,
           *         "received": 0,
           *         "expires_at": "2026-11-28T14:05:01.123Z"
           *       },
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": null,
           *       "rejection": {
           *         "code": "canceled",
           *         "reason": null
           *       },
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
    };
  };
  captureTransfer: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the transfer. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "amount": {
         *         "raw": "150000",
         *         "asset": "COPM"
         *       }
         *     }
         */
        'application/json': components['schemas']['CaptureTransfer'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Lunch",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "capture": "manual",
           *       "capture_expires_at": "2026-11-28T14:05:01.123Z",
           *       "captured": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": null,
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
    };
  };
  refundTransfer: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the transfer. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "amount": {
         *         "raw": "150000",
         *         "asset": "COPM"
         *       },
         *       "description": "Returned shoes",
         *       "metadata": {
         *         "invoice": "A-17"
         *       }
         *     }
         */
        'application/json': components['schemas']['Refund'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Returned shoes",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": {
           *         "type": "transfer",
           *         "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44"
           *       },
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Returned shoes",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": {
           *         "type": "transfer",
           *         "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44"
           *       },
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
      /** @description Accepted, but not finished yet. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "pending_approval",
           *       "source_account": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Returned shoes",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": {
           *         "required": 1,
           *         "received": 0,
           *         "expires_at": "2026-11-28T14:05:01.123Z"
           *       },
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": {
           *         "type": "transfer",
           *         "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44"
           *       },
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
    };
  };
  refundBonus: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the bonus. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "amount": {
         *         "raw": "150000",
         *         "asset": "COPM"
         *       },
         *       "description": "Returned shoes",
         *       "metadata": {
         *         "invoice": "A-17"
         *       }
         *     }
         */
        'application/json': components['schemas']['Refund'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Returned shoes",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": {
           *         "type": "bonus",
           *         "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44"
           *       },
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Returned shoes",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": {
           *         "type": "bonus",
           *         "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44"
           *       },
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
      /** @description Accepted, but not finished yet. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "internal",
           *       "status": "pending_approval",
           *       "source_account": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22",
           *       "destination": {
           *         "type": "account",
           *         "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Returned shoes",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": {
           *         "required": 1,
           *         "received": 0,
           *         "expires_at": "2026-11-28T14:05:01.123Z"
           *       },
           *       "capture": "automatic",
           *       "capture_expires_at": null,
           *       "captured": null,
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "refund_of": {
           *         "type": "bonus",
           *         "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44"
           *       },
           *       "rejection": null,
           *       "schedule": null
           *     }
           */
          'application/json': components['schemas']['Transfer'];
        };
      };
    };
  };
  listSchedules: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Created at this moment or later. */
        'created_at[gte]'?: string;
        /** @description Created at this moment or earlier. */
        'created_at[lte]'?: string;
        /** @description Paid from this account. */
        source_account?: string;
        /** @description Created, approved or executed under this `Idempotency-Key`: at most one item. */
        idempotency_key?: string;
        /** @description Only schedules in this state. */
        status?: 'active' | 'paused' | 'canceled' | 'completed';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "status": "active",
           *           "transfer": {
           *             "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *             "destination": {
           *               "type": "account",
           *               "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *             },
           *             "amount": {
           *               "raw": "150000",
           *               "asset": "COPM"
           *             },
           *             "description": "Rent",
           *             "metadata": {
           *               "invoice": "A-17"
           *             }
           *           },
           *           "starts_at": "2026-12-01T14:00:00.000Z",
           *           "every": {
           *             "unit": "month",
           *             "count": 1
           *           },
           *           "ends_at": null,
           *           "max_runs": 12,
           *           "next_run_at": "2026-12-01T14:00:00.000Z",
           *           "runs": 0,
           *           "created_at": "2026-11-21T14:05:01.123Z"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['SchedulePage'];
        };
      };
    };
  };
  createSchedule: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "transfer": {
         *         "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
         *         "destination": {
         *           "type": "account",
         *           "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
         *         },
         *         "amount": {
         *           "raw": "150000",
         *           "asset": "COPM"
         *         },
         *         "description": "Rent",
         *         "metadata": {
         *           "invoice": "A-17"
         *         }
         *       },
         *       "starts_at": "2026-12-01T14:00:00.000Z",
         *       "every": {
         *         "unit": "month",
         *         "count": 1
         *       },
         *       "max_runs": 12
         *     }
         */
        'application/json': components['schemas']['CreateSchedule'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "active",
           *       "transfer": {
           *         "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *         "destination": {
           *           "type": "account",
           *           "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *         },
           *         "amount": {
           *           "raw": "150000",
           *           "asset": "COPM"
           *         },
           *         "description": "Rent",
           *         "metadata": {
           *           "invoice": "A-17"
           *         }
           *       },
           *       "starts_at": "2026-12-01T14:00:00.000Z",
           *       "every": {
           *         "unit": "month",
           *         "count": 1
           *       },
           *       "ends_at": null,
           *       "max_runs": 12,
           *       "next_run_at": "2026-12-01T14:00:00.000Z",
           *       "runs": 0,
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Schedule'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "active",
           *       "transfer": {
           *         "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *         "destination": {
           *           "type": "account",
           *           "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *         },
           *         "amount": {
           *           "raw": "150000",
           *           "asset": "COPM"
           *         },
           *         "description": "Rent",
           *         "metadata": {
           *           "invoice": "A-17"
           *         }
           *       },
           *       "starts_at": "2026-12-01T14:00:00.000Z",
           *       "every": {
           *         "unit": "month",
           *         "count": 1
           *       },
           *       "ends_at": null,
           *       "max_runs": 12,
           *       "next_run_at": "2026-12-01T14:00:00.000Z",
           *       "runs": 0,
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Schedule'];
        };
      };
    };
  };
  getSchedule: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the schedule. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "active",
           *       "transfer": {
           *         "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *         "destination": {
           *           "type": "account",
           *           "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *         },
           *         "amount": {
           *           "raw": "150000",
           *           "asset": "COPM"
           *         },
           *         "description": "Rent",
           *         "metadata": {
           *           "invoice": "A-17"
           *         }
           *       },
           *       "starts_at": "2026-12-01T14:00:00.000Z",
           *       "every": {
           *         "unit": "month",
           *         "count": 1
           *       },
           *       "ends_at": null,
           *       "max_runs": 12,
           *       "next_run_at": "2026-12-01T14:00:00.000Z",
           *       "runs": 0,
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Schedule'];
        };
      };
    };
  };
  pauseSchedule: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the schedule. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "paused",
           *       "transfer": {
           *         "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *         "destination": {
           *           "type": "account",
           *           "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *         },
           *         "amount": {
           *           "raw": "150000",
           *           "asset": "COPM"
           *         },
           *         "description": "Rent",
           *         "metadata": {
           *           "invoice": "A-17"
           *         }
           *       },
           *       "starts_at": "2026-12-01T14:00:00.000Z",
           *       "every": {
           *         "unit": "month",
           *         "count": 1
           *       },
           *       "ends_at": null,
           *       "max_runs": 12,
           *       "next_run_at": null,
           *       "runs": 0,
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Schedule'];
        };
      };
    };
  };
  resumeSchedule: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the schedule. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "active",
           *       "transfer": {
           *         "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *         "destination": {
           *           "type": "account",
           *           "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *         },
           *         "amount": {
           *           "raw": "150000",
           *           "asset": "COPM"
           *         },
           *         "description": "Rent",
           *         "metadata": {
           *           "invoice": "A-17"
           *         }
           *       },
           *       "starts_at": "2026-12-01T14:00:00.000Z",
           *       "every": {
           *         "unit": "month",
           *         "count": 1
           *       },
           *       "ends_at": null,
           *       "max_runs": 12,
           *       "next_run_at": "2026-12-01T14:00:00.000Z",
           *       "runs": 0,
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Schedule'];
        };
      };
    };
  };
  cancelSchedule: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the schedule. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "canceled",
           *       "transfer": {
           *         "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *         "destination": {
           *           "type": "account",
           *           "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *         },
           *         "amount": {
           *           "raw": "150000",
           *           "asset": "COPM"
           *         },
           *         "description": "Rent",
           *         "metadata": {
           *           "invoice": "A-17"
           *         }
           *       },
           *       "starts_at": "2026-12-01T14:00:00.000Z",
           *       "every": {
           *         "unit": "month",
           *         "count": 1
           *       },
           *       "ends_at": null,
           *       "max_runs": 12,
           *       "next_run_at": null,
           *       "runs": 0,
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Schedule'];
        };
      };
    };
  };
  listPayouts: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Created at this moment or later. */
        'created_at[gte]'?: string;
        /** @description Created at this moment or earlier. */
        'created_at[lte]'?: string;
        /** @description Paid from this account. */
        source_account?: string;
        /** @description Created, approved or executed under this `Idempotency-Key`: at most one item. */
        idempotency_key?: string;
        /** @description Only amounts in this asset. Required with a bound on the amount. */
        asset?: components['schemas']['Asset'];
        /** @description Only amounts (`raw`) of at least this. */
        'amount[gte]'?: bigint;
        /** @description Only amounts (`raw`) of at most this. */
        'amount[lte]'?: bigint;
        /** @description Created by the request whose response had this `Svc-Request-Id`: at most one item. */
        request_id?: string;
        /** @description With exactly this pair, such as `metadata[invoice]=A-17`; one pair at most. */
        metadata?: {
          [key: string]: string;
        };
        /** @description Only payouts in this state. */
        status?:
          | 'pending_approval'
          | 'approved'
          | 'in_progress'
          | 'completed'
          | 'returned'
          | 'rejected'
          | 'canceled'
          | 'failed';
        /** @description Created by the payout batch with this id. */
        batch?: string;
        /** @description Paid to the bank with this code. */
        bank_code?: string;
        /** @description The end of the account number, which is the part that is shown. */
        account_number_end?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "scope": "external",
           *           "status": "approved",
           *           "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *           "destination": {
           *             "type": "bank_account",
           *             "country": "CO",
           *             "bank_code": "0007",
           *             "account_type": "savings",
           *             "account_number": "****6789",
           *             "holder_name": "Ana María Pérez"
           *           },
           *           "batch": null,
           *           "reference": null,
           *           "amount": {
           *             "raw": "150000",
           *             "asset": "COPM"
           *           },
           *           "fee": {
           *             "raw": "150",
           *             "asset": "COPM"
           *           },
           *           "description": "Invoice 2041",
           *           "metadata": {
           *             "invoice": "A-17"
           *           },
           *           "created_at": "2026-11-21T14:05:01.123Z",
           *           "approval": null,
           *           "rejection": null,
           *           "failure": null,
           *           "rail_reference": null,
           *           "status_transitions": [
           *             {
           *               "status": "approved",
           *               "at": "2026-11-21T14:05:01.123Z"
           *             }
           *           ]
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['PayoutPage'];
        };
      };
    };
  };
  createPayout: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
         *       "destination": {
         *         "type": "bank_account",
         *         "country": "CO",
         *         "bank_code": "0007",
         *         "account_type": "savings",
         *         "account_number": "12345676789",
         *         "holder_name": "Ana María Pérez",
         *         "holder_document": "1020304050"
         *       },
         *       "amount": {
         *         "raw": "150000",
         *         "asset": "COPM"
         *       },
         *       "description": "Invoice 2041",
         *       "metadata": {
         *         "invoice": "A-17"
         *       }
         *     }
         */
        'application/json': components['schemas']['CreatePayout'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "external",
           *       "status": "approved",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "bre_b_key",
           *         "key": "****2233",
           *         "key_type": "phone"
           *       },
           *       "batch": null,
           *       "reference": null,
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Invoice 2041",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "rejection": null,
           *       "failure": null,
           *       "rail_reference": null,
           *       "status_transitions": [
           *         {
           *           "status": "approved",
           *           "at": "2026-11-21T14:05:01.123Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Payout'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "external",
           *       "status": "approved",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "bank_account",
           *         "country": "CO",
           *         "bank_code": "0007",
           *         "account_type": "savings",
           *         "account_number": "****6789",
           *         "holder_name": "Ana María Pérez"
           *       },
           *       "batch": null,
           *       "reference": null,
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Invoice 2041",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "rejection": null,
           *       "failure": null,
           *       "rail_reference": null,
           *       "status_transitions": [
           *         {
           *           "status": "approved",
           *           "at": "2026-11-21T14:05:01.123Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Payout'];
        };
      };
      /** @description Accepted, but not finished yet. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "external",
           *       "status": "pending_approval",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "bank_account",
           *         "country": "CO",
           *         "bank_code": "0007",
           *         "account_type": "savings",
           *         "account_number": "****6789",
           *         "holder_name": "Ana María Pérez"
           *       },
           *       "batch": null,
           *       "reference": null,
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Invoice 2041",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": {
           *         "required": 1,
           *         "received": 0,
           *         "expires_at": "2026-11-28T14:05:01.123Z"
           *       },
           *       "rejection": null,
           *       "failure": null,
           *       "rail_reference": null,
           *       "status_transitions": [
           *         {
           *           "status": "pending_approval",
           *           "at": "2026-11-21T14:05:01.123Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Payout'];
        };
      };
    };
  };
  lookUpPayoutRecipient: {
    parameters: {
      query?: {
        /** @description The key, URL-encoded. Required. */
        key?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "key_type": "phone",
           *       "holder_name": "Ana M*** P***",
           *       "bank_code": "0007",
           *       "account_type": "savings",
           *       "holder_check": "BGsxOmFi"
           *     }
           */
          'application/json': components['schemas']['PayoutRecipient'];
        };
      };
    };
  };
  getPayout: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the payout. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "external",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "bank_account",
           *         "country": "CO",
           *         "bank_code": "0007",
           *         "account_type": "savings",
           *         "account_number": "****6789",
           *         "holder_name": "Ana María Pérez"
           *       },
           *       "batch": null,
           *       "reference": null,
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Invoice 2041",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "rejection": null,
           *       "failure": null,
           *       "rail_reference": "R-20261121-000417",
           *       "status_transitions": [
           *         {
           *           "status": "approved",
           *           "at": "2026-11-21T14:05:01.123Z"
           *         },
           *         {
           *           "status": "in_progress",
           *           "at": "2026-11-21T14:06:12.480Z"
           *         },
           *         {
           *           "status": "completed",
           *           "at": "2026-11-21T14:06:12.480Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Payout'];
        };
      };
    };
  };
  updatePayout: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the payout. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "metadata": {
         *         "invoice": "A-18",
         *         "order": null
         *       }
         *     }
         */
        'application/json': components['schemas']['ChangeMetadata'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "external",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "bank_account",
           *         "country": "CO",
           *         "bank_code": "0007",
           *         "account_type": "savings",
           *         "account_number": "****6789",
           *         "holder_name": "Ana María Pérez"
           *       },
           *       "batch": null,
           *       "reference": null,
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Invoice 2041",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "rejection": null,
           *       "failure": null,
           *       "rail_reference": "R-20261121-000417",
           *       "status_transitions": [
           *         {
           *           "status": "approved",
           *           "at": "2026-11-21T14:05:01.123Z"
           *         },
           *         {
           *           "status": "in_progress",
           *           "at": "2026-11-21T14:06:12.480Z"
           *         },
           *         {
           *           "status": "completed",
           *           "at": "2026-11-21T14:06:12.480Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Payout'];
        };
      };
    };
  };
  approvePayout: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the payout. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "external",
           *       "status": "approved",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "bank_account",
           *         "country": "CO",
           *         "bank_code": "0007",
           *         "account_type": "savings",
           *         "account_number": "****6789",
           *         "holder_name": "Ana María Pérez"
           *       },
           *       "batch": null,
           *       "reference": null,
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Invoice 2041",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": {
           *         "required": 1,
           *         "received": 1,
           *         "expires_at": "2026-11-28T14:05:01.123Z"
           *       },
           *       "rejection": null,
           *       "failure": null,
           *       "rail_reference": null,
           *       "status_transitions": [
           *         {
           *           "status": "pending_approval",
           *           "at": "2026-11-21T14:05:01.123Z"
           *         },
           *         {
           *           "status": "approved",
           *           "at": "2026-11-21T14:06:12.480Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Payout'];
        };
      };
    };
  };
  rejectPayout: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the payout. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "reason": "The invoice was paid already"
         *     }
         */
        'application/json': components['schemas']['RejectPayout'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "external",
           *       "status": "rejected",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "bank_account",
           *         "country": "CO",
           *         "bank_code": "0007",
           *         "account_type": "savings",
           *         "account_number": "****6789",
           *         "holder_name": "Ana María Pérez"
           *       },
           *       "batch": null,
           *       "reference": null,
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Invoice 2041",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": {
           *         "required": 1,
           *         "received": 0,
           *         "expires_at": "2026-11-28T14:05:01.123Z"
           *       },
           *       "rejection": {
           *         "code": "rejected",
           *         "reason": "The invoice was paid already"
           *       },
           *       "failure": null,
           *       "rail_reference": null,
           *       "status_transitions": [
           *         {
           *           "status": "pending_approval",
           *           "at": "2026-11-21T14:05:01.123Z"
           *         },
           *         {
           *           "status": "rejected",
           *           "at": "2026-11-21T14:06:12.480Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Payout'];
        };
      };
    };
  };
  cancelPayout: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the payout. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "scope": "external",
           *       "status": "canceled",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "destination": {
           *         "type": "bank_account",
           *         "country": "CO",
           *         "bank_code": "0007",
           *         "account_type": "savings",
           *         "account_number": "****6789",
           *         "holder_name": "Ana María Pérez"
           *       },
           *       "batch": null,
           *       "reference": null,
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "description": "Invoice 2041",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "approval": null,
           *       "rejection": null,
           *       "failure": null,
           *       "rail_reference": null,
           *       "status_transitions": [
           *         {
           *           "status": "approved",
           *           "at": "2026-11-21T14:05:01.123Z"
           *         },
           *         {
           *           "status": "canceled",
           *           "at": "2026-11-21T14:06:12.480Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Payout'];
        };
      };
    };
  };
  getApprovalPolicy: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
        /** @description The asset of the policy. */
        asset: 'COPM' | 'DUSD';
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "asset": "COPM",
           *       "threshold": "1000000",
           *       "approvals": 1,
           *       "expires_in_s": 86400,
           *       "refuses_batches": false,
           *       "batch_rule": "A batch whose total reaches the threshold, even of one row, is executed by one member other than its uploader.",
           *       "pending": null
           *     }
           */
          'application/json': components['schemas']['ApprovalPolicy'];
        };
      };
    };
  };
  setApprovalPolicy: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
        /** @description The asset of the policy. */
        asset: 'COPM' | 'DUSD';
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "threshold": "1000000",
         *       "approvals": 1,
         *       "expires_in_s": 86400,
         *       "refuses_batches": false
         *     }
         */
        'application/json': components['schemas']['SetApprovalPolicy'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "asset": "COPM",
           *       "threshold": "1000000",
           *       "approvals": 1,
           *       "expires_in_s": 86400,
           *       "refuses_batches": false,
           *       "batch_rule": "A batch whose total reaches the threshold, even of one row, is executed by one member other than its uploader.",
           *       "pending": null
           *     }
           */
          'application/json': components['schemas']['ApprovalPolicy'];
        };
      };
    };
  };
  deleteApprovalPolicy: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
        /** @description The asset of the policy. */
        asset: 'COPM' | 'DUSD';
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listBonuses: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Created at this moment or later. */
        'created_at[gte]'?: string;
        /** @description Created at this moment or earlier. */
        'created_at[lte]'?: string;
        /** @description Paid from this account. */
        source_account?: string;
        /** @description Created, approved or executed under this `Idempotency-Key`: at most one item. */
        idempotency_key?: string;
        /** @description Only amounts in this asset. Required with a bound on the amount. */
        asset?: components['schemas']['Asset'];
        /** @description Only amounts (`raw`) of at least this. */
        'amount[gte]'?: bigint;
        /** @description Only amounts (`raw`) of at most this. */
        'amount[lte]'?: bigint;
        /** @description Created by the request whose response had this `Svc-Request-Id`: at most one item. */
        request_id?: string;
        /** @description With exactly this pair, such as `metadata[invoice]=A-17`; one pair at most. */
        metadata?: {
          [key: string]: string;
        };
        /** @description Paid to this account. */
        recipient_account?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "status": "completed",
           *           "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *           "recipient": {
           *             "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *           },
           *           "amount": {
           *             "raw": "150000",
           *             "asset": "COPM"
           *           },
           *           "fee": {
           *             "raw": "150",
           *             "asset": "COPM"
           *           },
           *           "total_debited": {
           *             "raw": "150150",
           *             "asset": "COPM"
           *           },
           *           "refunded": {
           *             "raw": "0",
           *             "asset": "COPM"
           *           },
           *           "description": "Bonus for November",
           *           "reference": "NOV-0001",
           *           "metadata": {
           *             "invoice": "A-17"
           *           },
           *           "created_at": "2026-11-21T14:05:01.123Z"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['BonusPage'];
        };
      };
    };
  };
  createBonus: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
         *       "recipient": {
         *         "alias": "$ana"
         *       },
         *       "amount": {
         *         "raw": "150000",
         *         "asset": "COPM"
         *       },
         *       "description": "Bonus for November",
         *       "reference": "NOV-0001",
         *       "metadata": {
         *         "invoice": "A-17"
         *       }
         *     }
         */
        'application/json': components['schemas']['CreateBonus'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "recipient": {
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "total_debited": {
           *         "raw": "150150",
           *         "asset": "COPM"
           *       },
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Bonus for November",
           *       "reference": "NOV-0001",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Bonus'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "recipient": {
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "total_debited": {
           *         "raw": "150150",
           *         "asset": "COPM"
           *       },
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Bonus for November",
           *       "reference": "NOV-0001",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Bonus'];
        };
      };
    };
  };
  getBonus: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the bonus. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "recipient": {
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "total_debited": {
           *         "raw": "150150",
           *         "asset": "COPM"
           *       },
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Bonus for November",
           *       "reference": "NOV-0001",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Bonus'];
        };
      };
    };
  };
  updateBonus: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the bonus. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "metadata": {
         *         "invoice": "A-18",
         *         "order": null
         *       }
         *     }
         */
        'application/json': components['schemas']['ChangeMetadata'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "completed",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "recipient": {
           *         "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *       },
           *       "amount": {
           *         "raw": "150000",
           *         "asset": "COPM"
           *       },
           *       "fee": {
           *         "raw": "150",
           *         "asset": "COPM"
           *       },
           *       "total_debited": {
           *         "raw": "150150",
           *         "asset": "COPM"
           *       },
           *       "refunded": {
           *         "raw": "0",
           *         "asset": "COPM"
           *       },
           *       "description": "Bonus for November",
           *       "reference": "NOV-0001",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Bonus'];
        };
      };
    };
  };
  listBonusBatches: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Created at this moment or later. */
        'created_at[gte]'?: string;
        /** @description Created at this moment or earlier. */
        'created_at[lte]'?: string;
        /** @description Paid from this account. */
        source_account?: string;
        /** @description Created, approved or executed under this `Idempotency-Key`: at most one item. */
        idempotency_key?: string;
        /** @description Only batches in this state. */
        status?:
          'validating' | 'ready' | 'rejected' | 'executing' | 'completed' | 'partially_failed';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "status": "ready",
           *           "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *           "description": "November",
           *           "rows": 2,
           *           "rows_rejected": 0,
           *           "total": {
           *             "raw": "300000",
           *             "asset": "COPM"
           *           },
           *           "fees": {
           *             "raw": "300",
           *             "asset": "COPM"
           *           },
           *           "total_debit": {
           *             "raw": "300300",
           *             "asset": "COPM"
           *           },
           *           "duplicates": {
           *             "count": 0,
           *             "rows": [],
           *             "same_file_batch_id": null
           *           },
           *           "hidden": {
           *             "rows": 0,
           *             "columns": [],
           *             "skipped_sheets": 0
           *           },
           *           "unread_sheets": [],
           *           "files": {
           *             "errors_url": null,
           *             "result_url": null
           *           },
           *           "rejection": null,
           *           "created_at": "2026-11-21T14:05:01.123Z",
           *           "executed_at": null,
           *           "finished_at": null,
           *           "funding": {
           *             "available": "49850000",
           *             "sufficient": true,
           *             "shortfall": "0"
           *           },
           *           "can_send": true,
           *           "earlier_payments": {
           *             "count": 0,
           *             "rows": []
           *           },
           *           "total_formatted": "3,000.00 COPM",
           *           "fees_formatted": "3.00 COPM",
           *           "total_debit_formatted": "3,003.00 COPM",
           *           "progress": null
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['BonusBatchPage'];
        };
      };
    };
  };
  uploadBonusBatch: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
         *       "description": "November",
         *       "file": "the bytes of the file"
         *     }
         */
        'multipart/form-data': {
          /**
           * Format: uuid
           * @description The account that pays the bonuses and their fees.
           */
          source_account: string;
          /** @description A text about the batch. */
          description?: string;
          /**
           * Format: binary
           * @description The file, at most 10485760 bytes. Its part may have any name; there must be exactly one.
           */
          file: Blob;
        };
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "ready",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 2,
           *       "rows_rejected": 0,
           *       "total": {
           *         "raw": "300000",
           *         "asset": "COPM"
           *       },
           *       "fees": {
           *         "raw": "300",
           *         "asset": "COPM"
           *       },
           *       "total_debit": {
           *         "raw": "300300",
           *         "asset": "COPM"
           *       },
           *       "duplicates": {
           *         "count": 0,
           *         "rows": [],
           *         "same_file_batch_id": null
           *       },
           *       "hidden": {
           *         "rows": 0,
           *         "columns": [],
           *         "skipped_sheets": 0
           *       },
           *       "unread_sheets": [],
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": null,
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": null,
           *       "finished_at": null,
           *       "funding": {
           *         "available": "49850000",
           *         "sufficient": true,
           *         "shortfall": "0"
           *       },
           *       "can_send": true,
           *       "earlier_payments": {
           *         "count": 0,
           *         "rows": []
           *       },
           *       "total_formatted": "3,000.00 COPM",
           *       "fees_formatted": "3.00 COPM",
           *       "total_debit_formatted": "3,003.00 COPM",
           *       "progress": null
           *     }
           */
          'application/json': components['schemas']['BonusBatch'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "validating",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 0,
           *       "rows_rejected": 0,
           *       "total": null,
           *       "fees": null,
           *       "total_debit": null,
           *       "duplicates": null,
           *       "hidden": null,
           *       "unread_sheets": null,
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": null,
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": null,
           *       "finished_at": null,
           *       "funding": null,
           *       "can_send": null,
           *       "earlier_payments": null,
           *       "total_formatted": null,
           *       "fees_formatted": null,
           *       "total_debit_formatted": null,
           *       "progress": null
           *     }
           */
          'application/json': components['schemas']['BonusBatch'];
        };
      };
    };
  };
  getBonusBatch: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "ready",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 2,
           *       "rows_rejected": 0,
           *       "total": {
           *         "raw": "300000",
           *         "asset": "COPM"
           *       },
           *       "fees": {
           *         "raw": "300",
           *         "asset": "COPM"
           *       },
           *       "total_debit": {
           *         "raw": "300300",
           *         "asset": "COPM"
           *       },
           *       "duplicates": {
           *         "count": 0,
           *         "rows": [],
           *         "same_file_batch_id": null
           *       },
           *       "hidden": {
           *         "rows": 0,
           *         "columns": [],
           *         "skipped_sheets": 0
           *       },
           *       "unread_sheets": [],
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": null,
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": null,
           *       "finished_at": null,
           *       "funding": {
           *         "available": "49850000",
           *         "sufficient": true,
           *         "shortfall": "0"
           *       },
           *       "can_send": true,
           *       "earlier_payments": {
           *         "count": 0,
           *         "rows": []
           *       },
           *       "total_formatted": "3,000.00 COPM",
           *       "fees_formatted": "3.00 COPM",
           *       "total_debit_formatted": "3,003.00 COPM",
           *       "progress": null
           *     }
           */
          'application/json': components['schemas']['BonusBatch'];
        };
      };
    };
  };
  listBonusBatchRows: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Only rows in this state. */
        status?: 'pending' | 'paid' | 'failed';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "row": 2,
           *           "status": "paid",
           *           "recipient": "$ana",
           *           "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22",
           *           "amount": {
           *             "raw": "150000",
           *             "asset": "COPM"
           *           },
           *           "fee": {
           *             "raw": "150",
           *             "asset": "COPM"
           *           },
           *           "description": "Bonus for November",
           *           "reference": "NOV-0001",
           *           "metadata": {
           *             "invoice": "A-17"
           *           },
           *           "bonus_id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "failure": null,
           *           "paid_at": "2026-11-21T14:06:12.480Z"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['BonusBatchRowPage'];
        };
      };
    };
  };
  executeBonusBatch: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Accepted, but not finished yet. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "executing",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 2,
           *       "rows_rejected": 0,
           *       "total": {
           *         "raw": "300000",
           *         "asset": "COPM"
           *       },
           *       "fees": {
           *         "raw": "300",
           *         "asset": "COPM"
           *       },
           *       "total_debit": {
           *         "raw": "300300",
           *         "asset": "COPM"
           *       },
           *       "duplicates": {
           *         "count": 0,
           *         "rows": [],
           *         "same_file_batch_id": null
           *       },
           *       "hidden": {
           *         "rows": 0,
           *         "columns": [],
           *         "skipped_sheets": 0
           *       },
           *       "unread_sheets": [],
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": null,
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": "2026-11-21T14:06:12.480Z",
           *       "finished_at": null,
           *       "funding": null,
           *       "can_send": null,
           *       "earlier_payments": null,
           *       "total_formatted": null,
           *       "fees_formatted": null,
           *       "total_debit_formatted": null,
           *       "progress": {
           *         "paid": 0,
           *         "failed": 0,
           *         "pending": 2
           *       }
           *     }
           */
          'application/json': components['schemas']['BonusBatch'];
        };
      };
    };
  };
  cancelBonusBatch: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "rejected",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 2,
           *       "rows_rejected": 0,
           *       "total": {
           *         "raw": "300000",
           *         "asset": "COPM"
           *       },
           *       "fees": {
           *         "raw": "300",
           *         "asset": "COPM"
           *       },
           *       "total_debit": {
           *         "raw": "300300",
           *         "asset": "COPM"
           *       },
           *       "duplicates": {
           *         "count": 0,
           *         "rows": [],
           *         "same_file_batch_id": null
           *       },
           *       "hidden": {
           *         "rows": 0,
           *         "columns": [],
           *         "skipped_sheets": 0
           *       },
           *       "unread_sheets": [],
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": {
           *         "code": "withdrawn"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": null,
           *       "finished_at": "2026-11-21T14:06:12.480Z",
           *       "funding": null,
           *       "can_send": null,
           *       "earlier_payments": null,
           *       "total_formatted": null,
           *       "fees_formatted": null,
           *       "total_debit_formatted": null,
           *       "progress": null
           *     }
           */
          'application/json': components['schemas']['BonusBatch'];
        };
      };
    };
  };
  downloadBonusBatchTemplate: {
    parameters: {
      query?: {
        /** @description The format of the file. */
        format?: 'csv' | 'xlsx';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example recipient,amount,asset,description,reference
           *     $example-delete-this-row,150000,COPM,Bonus for November,NOV-0001
           */
          'text/csv': Blob;
          'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': Blob;
        };
      };
    };
  };
  downloadBonusBatchErrors: {
    parameters: {
      query?: {
        /** @description The format of the file. */
        format?: 'csv' | 'xlsx';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example row,column,code,message,value
           *     3,recipient,not_found,"no account can be paid under ""$anna""",$anna
           */
          'text/csv': Blob;
          'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': Blob;
        };
      };
    };
  };
  downloadBonusBatchResult: {
    parameters: {
      query?: {
        /** @description The format of the file. */
        format?: 'csv' | 'xlsx';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example row,reference,recipient,amount,asset,status,bonus_id,fee,code,message,paid_at
           *     2,NOV-0001,$ana,150000,COPM,paid,0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44,150,,,2026-11-21T14:06:12.480Z
           */
          'text/csv': Blob;
          'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': Blob;
        };
      };
    };
  };
  listPayoutBatches: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Created at this moment or later. */
        'created_at[gte]'?: string;
        /** @description Created at this moment or earlier. */
        'created_at[lte]'?: string;
        /** @description Paid from this account. */
        source_account?: string;
        /** @description Created, approved or executed under this `Idempotency-Key`: at most one item. */
        idempotency_key?: string;
        /** @description Only batches in this state. */
        status?:
          'validating' | 'ready' | 'rejected' | 'executing' | 'completed' | 'partially_failed';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "status": "ready",
           *           "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *           "description": "November",
           *           "rows": 2,
           *           "rows_rejected": 0,
           *           "total": {
           *             "raw": "300000",
           *             "asset": "COPM"
           *           },
           *           "fees": {
           *             "raw": "300",
           *             "asset": "COPM"
           *           },
           *           "total_debit": {
           *             "raw": "300300",
           *             "asset": "COPM"
           *           },
           *           "duplicates": {
           *             "count": 0,
           *             "rows": [],
           *             "same_file_batch_id": null
           *           },
           *           "hidden": {
           *             "rows": 0,
           *             "columns": [],
           *             "skipped_sheets": 0
           *           },
           *           "unread_sheets": [],
           *           "files": {
           *             "errors_url": null,
           *             "result_url": null
           *           },
           *           "rejection": null,
           *           "created_at": "2026-11-21T14:05:01.123Z",
           *           "executed_at": null,
           *           "finished_at": null,
           *           "funding": {
           *             "available": "49850000",
           *             "sufficient": true,
           *             "shortfall": "0"
           *           },
           *           "can_send": true,
           *           "earlier_payments": {
           *             "count": 0,
           *             "rows": []
           *           },
           *           "total_formatted": "3,000.00 COPM",
           *           "fees_formatted": "3.00 COPM",
           *           "total_debit_formatted": "3,003.00 COPM",
           *           "progress": null,
           *           "payouts": null
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['PayoutBatchPage'];
        };
      };
    };
  };
  uploadPayoutBatch: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
         *       "description": "November",
         *       "file": "the bytes of the file"
         *     }
         */
        'multipart/form-data': {
          /**
           * Format: uuid
           * @description The account that pays the payouts and their fees.
           */
          source_account: string;
          /** @description A text about the batch. */
          description?: string;
          /**
           * Format: binary
           * @description The file, at most 10485760 bytes. Its part may have any name; there must be exactly one.
           */
          file: Blob;
        };
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "ready",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 2,
           *       "rows_rejected": 0,
           *       "total": {
           *         "raw": "300000",
           *         "asset": "COPM"
           *       },
           *       "fees": {
           *         "raw": "300",
           *         "asset": "COPM"
           *       },
           *       "total_debit": {
           *         "raw": "300300",
           *         "asset": "COPM"
           *       },
           *       "duplicates": {
           *         "count": 0,
           *         "rows": [],
           *         "same_file_batch_id": null
           *       },
           *       "hidden": {
           *         "rows": 0,
           *         "columns": [],
           *         "skipped_sheets": 0
           *       },
           *       "unread_sheets": [],
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": null,
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": null,
           *       "finished_at": null,
           *       "funding": {
           *         "available": "49850000",
           *         "sufficient": true,
           *         "shortfall": "0"
           *       },
           *       "can_send": true,
           *       "earlier_payments": {
           *         "count": 0,
           *         "rows": []
           *       },
           *       "total_formatted": "3,000.00 COPM",
           *       "fees_formatted": "3.00 COPM",
           *       "total_debit_formatted": "3,003.00 COPM",
           *       "progress": null,
           *       "payouts": null
           *     }
           */
          'application/json': components['schemas']['PayoutBatch'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "validating",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 0,
           *       "rows_rejected": 0,
           *       "total": null,
           *       "fees": null,
           *       "total_debit": null,
           *       "duplicates": null,
           *       "hidden": null,
           *       "unread_sheets": null,
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": null,
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": null,
           *       "finished_at": null,
           *       "funding": null,
           *       "can_send": null,
           *       "earlier_payments": null,
           *       "total_formatted": null,
           *       "fees_formatted": null,
           *       "total_debit_formatted": null,
           *       "progress": null,
           *       "payouts": null
           *     }
           */
          'application/json': components['schemas']['PayoutBatch'];
        };
      };
    };
  };
  getPayoutBatch: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "ready",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 2,
           *       "rows_rejected": 0,
           *       "total": {
           *         "raw": "300000",
           *         "asset": "COPM"
           *       },
           *       "fees": {
           *         "raw": "300",
           *         "asset": "COPM"
           *       },
           *       "total_debit": {
           *         "raw": "300300",
           *         "asset": "COPM"
           *       },
           *       "duplicates": {
           *         "count": 0,
           *         "rows": [],
           *         "same_file_batch_id": null
           *       },
           *       "hidden": {
           *         "rows": 0,
           *         "columns": [],
           *         "skipped_sheets": 0
           *       },
           *       "unread_sheets": [],
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": null,
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": null,
           *       "finished_at": null,
           *       "funding": {
           *         "available": "49850000",
           *         "sufficient": true,
           *         "shortfall": "0"
           *       },
           *       "can_send": true,
           *       "earlier_payments": {
           *         "count": 0,
           *         "rows": []
           *       },
           *       "total_formatted": "3,000.00 COPM",
           *       "fees_formatted": "3.00 COPM",
           *       "total_debit_formatted": "3,003.00 COPM",
           *       "progress": null,
           *       "payouts": null
           *     }
           */
          'application/json': components['schemas']['PayoutBatch'];
        };
      };
    };
  };
  listPayoutBatchRows: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Only rows in this state. */
        status?: 'pending' | 'created' | 'failed';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "row": 2,
           *           "status": "created",
           *           "destination": {
           *             "type": "bank_account",
           *             "country": "CO",
           *             "bank_code": "0007",
           *             "account_type": "savings",
           *             "account_number": "****6789",
           *             "holder_name": "Ana María Pérez",
           *             "holder_document": "****4050"
           *           },
           *           "amount": {
           *             "raw": "150000",
           *             "asset": "COPM"
           *           },
           *           "fee": {
           *             "raw": "150",
           *             "asset": "COPM"
           *           },
           *           "description": "Invoice 2041",
           *           "reference": "INV-2041",
           *           "metadata": {
           *             "invoice": "A-17"
           *           },
           *           "payout_id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "failure": null,
           *           "created_at": "2026-11-21T14:06:12.480Z"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['PayoutBatchRowPage'];
        };
      };
    };
  };
  executePayoutBatch: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Accepted, but not finished yet. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "executing",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 2,
           *       "rows_rejected": 0,
           *       "total": {
           *         "raw": "300000",
           *         "asset": "COPM"
           *       },
           *       "fees": {
           *         "raw": "300",
           *         "asset": "COPM"
           *       },
           *       "total_debit": {
           *         "raw": "300300",
           *         "asset": "COPM"
           *       },
           *       "duplicates": {
           *         "count": 0,
           *         "rows": [],
           *         "same_file_batch_id": null
           *       },
           *       "hidden": {
           *         "rows": 0,
           *         "columns": [],
           *         "skipped_sheets": 0
           *       },
           *       "unread_sheets": [],
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": null,
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": "2026-11-21T14:06:12.480Z",
           *       "finished_at": null,
           *       "funding": null,
           *       "can_send": null,
           *       "earlier_payments": null,
           *       "total_formatted": null,
           *       "fees_formatted": null,
           *       "total_debit_formatted": null,
           *       "progress": {
           *         "created": 0,
           *         "failed": 0,
           *         "pending": 2
           *       },
           *       "payouts": {
           *         "pending_approval": 0,
           *         "approved": 0,
           *         "in_progress": 0,
           *         "completed": 0,
           *         "returned": 0,
           *         "rejected": 0,
           *         "canceled": 0,
           *         "failed": 0
           *       }
           *     }
           */
          'application/json': components['schemas']['PayoutBatch'];
        };
      };
    };
  };
  cancelPayoutBatch: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "rejected",
           *       "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "description": "November",
           *       "rows": 2,
           *       "rows_rejected": 0,
           *       "total": {
           *         "raw": "300000",
           *         "asset": "COPM"
           *       },
           *       "fees": {
           *         "raw": "300",
           *         "asset": "COPM"
           *       },
           *       "total_debit": {
           *         "raw": "300300",
           *         "asset": "COPM"
           *       },
           *       "duplicates": {
           *         "count": 0,
           *         "rows": [],
           *         "same_file_batch_id": null
           *       },
           *       "hidden": {
           *         "rows": 0,
           *         "columns": [],
           *         "skipped_sheets": 0
           *       },
           *       "unread_sheets": [],
           *       "files": {
           *         "errors_url": null,
           *         "result_url": null
           *       },
           *       "rejection": {
           *         "code": "withdrawn"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "executed_at": null,
           *       "finished_at": "2026-11-21T14:06:12.480Z",
           *       "funding": null,
           *       "can_send": null,
           *       "earlier_payments": null,
           *       "total_formatted": null,
           *       "fees_formatted": null,
           *       "total_debit_formatted": null,
           *       "progress": null,
           *       "payouts": null
           *     }
           */
          'application/json': components['schemas']['PayoutBatch'];
        };
      };
    };
  };
  downloadPayoutBatchTemplate: {
    parameters: {
      query?: {
        /** @description The format of the file. */
        format?: 'csv' | 'xlsx';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example country,bank_code,account_type,account_number,holder_name,holder_document,amount,asset,description,reference
           *     CO,0007,savings,example-delete-this-row,Ana María Pérez,1020304050,150000,COPM,Invoice 2041,INV-2041
           */
          'text/csv': Blob;
          'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': Blob;
        };
      };
    };
  };
  downloadPayoutBatchErrors: {
    parameters: {
      query?: {
        /** @description The format of the file. */
        format?: 'csv' | 'xlsx';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example row,column,code,message,value
           *     3,account_number,missing_field,account_number is empty,
           */
          'text/csv': Blob;
          'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': Blob;
        };
      };
    };
  };
  downloadPayoutBatchResult: {
    parameters: {
      query?: {
        /** @description The format of the file. */
        format?: 'csv' | 'xlsx';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the batch. */
        batch_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example row,reference,country,bank_code,account_type,account_number,holder_name,amount,asset,status,payout_id,fee,code,message
           *     2,INV-2041,CO,0007,savings,****6789,Ana María Pérez,150000,COPM,in_progress,0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44,150,,
           */
          'text/csv': Blob;
          'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': Blob;
        };
      };
    };
  };
  listAccounts: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Only accounts of this type. */
        type?: 'person' | 'business';
        /** @description Only accounts in this status. */
        status?: 'active' | 'frozen' | 'closed';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *           "type": "business",
           *           "status": "active",
           *           "name": "Panadería La Espiga SAS",
           *           "display_name": "Panadería La Espiga",
           *           "alias": "$laespiga",
           *           "phone": "+576013456789",
           *           "metadata": {
           *             "invoice": "A-17"
           *           },
           *           "can_send": true,
           *           "verified_at": "2026-11-02T09:30:00.000Z",
           *           "created_at": "2026-11-01T16:20:45.310Z"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['AccountPage'];
        };
      };
    };
  };
  openAccount: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "type": "business",
         *       "name": "Panadería La Espiga SAS",
         *       "alias": "$laespiga",
         *       "phone": "+57 601 345 6789",
         *       "metadata": {
         *         "branch": "norte"
         *       }
         *     }
         */
        'application/json': components['schemas']['OpenAccount'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "type": "business",
           *       "status": "active",
           *       "name": "Panadería La Espiga SAS",
           *       "display_name": "Panadería La Espiga",
           *       "alias": "$laespiga",
           *       "phone": "+576013456789",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "can_send": true,
           *       "verified_at": "2026-11-02T09:30:00.000Z",
           *       "created_at": "2026-11-01T16:20:45.310Z"
           *     }
           */
          'application/json': components['schemas']['Account'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "type": "business",
           *       "status": "active",
           *       "name": "Panadería La Espiga SAS",
           *       "display_name": "Panadería La Espiga",
           *       "alias": "$laespiga",
           *       "phone": "+576013456789",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "can_send": true,
           *       "verified_at": "2026-11-02T09:30:00.000Z",
           *       "created_at": "2026-11-01T16:20:45.310Z"
           *     }
           */
          'application/json': components['schemas']['Account'];
        };
      };
    };
  };
  getAccount: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "type": "business",
           *       "status": "active",
           *       "name": "Panadería La Espiga SAS",
           *       "display_name": "Panadería La Espiga",
           *       "alias": "$laespiga",
           *       "phone": "+576013456789",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "can_send": true,
           *       "verified_at": "2026-11-02T09:30:00.000Z",
           *       "created_at": "2026-11-01T16:20:45.310Z"
           *     }
           */
          'application/json': components['schemas']['Account'];
        };
      };
    };
  };
  updateAccount: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "metadata": {
         *         "invoice": "A-18",
         *         "order": null
         *       }
         *     }
         */
        'application/json': components['schemas']['ChangeMetadata'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "type": "business",
           *       "status": "active",
           *       "name": "Panadería La Espiga SAS",
           *       "display_name": "Panadería La Espiga",
           *       "alias": "$laespiga",
           *       "phone": "+576013456789",
           *       "metadata": {
           *         "invoice": "A-17"
           *       },
           *       "can_send": true,
           *       "verified_at": "2026-11-02T09:30:00.000Z",
           *       "created_at": "2026-11-01T16:20:45.310Z"
           *     }
           */
          'application/json': components['schemas']['Account'];
        };
      };
    };
  };
  getBalances: {
    parameters: {
      query?: {
        /** @description A moment since the account was opened, at least 15 seconds ago; by default now. */
        at?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "balances": [
           *         {
           *           "asset": "COPM",
           *           "available": "49850000",
           *           "held": "150000",
           *           "total": "50000000"
           *         },
           *         {
           *           "asset": "DUSD",
           *           "available": "0",
           *           "held": "0",
           *           "total": "0"
           *         }
           *       ],
           *       "as_of": "2026-11-21T14:06:12.480Z"
           *     }
           */
          'application/json':
            components['schemas']['Balances'] | components['schemas']['PastBalances'];
        };
      };
    };
  };
  listMovements: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Created at this moment or later. */
        'created_at[gte]'?: string;
        /** @description Created at this moment or earlier. */
        'created_at[lte]'?: string;
        /** @description Only movements in this asset. */
        asset?: components['schemas']['Asset'];
        /** @description Only movements of this kind. */
        kind?:
          | 'transfer_in'
          | 'transfer_out'
          | 'bonus_in'
          | 'bonus_out'
          | 'payin_in'
          | 'payout_out'
          | 'fee_out'
          | 'adjustment_in'
          | 'adjustment_out';
        /** @description `asc` is oldest first; otherwise newest first. */
        order?: 'asc' | 'desc';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a50-7f19-a3c8-6e0b2d94f755",
           *           "kind": "transfer_out",
           *           "amount": {
           *             "raw": "150000",
           *             "asset": "COPM"
           *           },
           *           "counterparty": {
           *             "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22",
           *             "tenant": "0198f29f-e0d1-7c3a-b5f4-2d8e6a917c33",
           *             "alias": "$ana",
           *             "display_name": "Ana M. P.",
           *             "type": "person"
           *           },
           *           "total_after": {
           *             "raw": "49850000",
           *             "asset": "COPM"
           *           },
           *           "description": "Lunch",
           *           "related": {
           *             "type": "transfer",
           *             "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44"
           *           },
           *           "created_at": "2026-11-21T14:05:01.123Z"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['MovementPage'];
        };
      };
    };
  };
  listMembers: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f29f-f1a2-7e55-9b04-7c1d2e3f4a66",
           *           "name": "payroll",
           *           "pending_roles": [],
           *           "created_at": "2026-11-21T14:05:01.123Z"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['MemberPage'];
        };
      };
    };
  };
  createMember: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "name": "payroll"
         *     }
         */
        'application/json': components['schemas']['CreateMember'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f29f-f1a2-7e55-9b04-7c1d2e3f4a66",
           *       "name": "payroll",
           *       "pending_roles": [],
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Member'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f29f-f1a2-7e55-9b04-7c1d2e3f4a66",
           *       "name": "payroll",
           *       "pending_roles": [],
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Member'];
        };
      };
    };
  };
  deleteMember: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the member. */
        member_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  setRole: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
        /** @description The id of the member. */
        member_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "role": "operator"
         *     }
         */
        'application/json': components['schemas']['SetRole'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "member_id": "0198f29f-f1a2-7e55-9b04-7c1d2e3f4a66",
           *       "role": "operator",
           *       "effective_at": null
           *     }
           */
          'application/json': components['schemas']['Role'];
        };
      };
    };
  };
  deleteRole: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
        /** @description The id of the member. */
        member_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listTokens: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "key_id": "k3jd7q2mzx5tyw4a",
           *           "member_id": "0198f29f-f1a2-7e55-9b04-7c1d2e3f4a66",
           *           "name": "payroll server",
           *           "scopes": [
           *             "read",
           *             "transfers"
           *           ],
           *           "address_ranges": [
           *             "203.0.113.0/24"
           *           ],
           *           "created_at": "2026-11-21T14:05:01.123Z",
           *           "effective_at": null,
           *           "expires_at": "2027-11-01T00:00:00.000Z",
           *           "last_used_at": null,
           *           "created_by_key": "b7xw2q5mzk3jdtya"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['TokenPage'];
        };
      };
    };
  };
  createToken: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "member_id": "0198f29f-f1a2-7e55-9b04-7c1d2e3f4a66",
         *       "scopes": [
         *         "read",
         *         "transfers"
         *       ],
         *       "expires_at": "2027-11-01T00:00:00Z",
         *       "address_ranges": [
         *         "203.0.113.0/24"
         *       ],
         *       "name": "payroll server"
         *     }
         */
        'application/json': components['schemas']['CreateToken'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "key_id": "k3jd7q2mzx5tyw4a",
           *       "member_id": "0198f29f-f1a2-7e55-9b04-7c1d2e3f4a66",
           *       "name": "payroll server",
           *       "scopes": [
           *         "read",
           *         "transfers"
           *       ],
           *       "address_ranges": [
           *         "203.0.113.0/24"
           *       ],
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "effective_at": null,
           *       "expires_at": "2027-11-01T00:00:00.000Z",
           *       "last_used_at": null,
           *       "created_by_key": "b7xw2q5mzk3jdtya",
           *       "token": null
           *     }
           */
          'application/json': components['schemas']['CreatedToken'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "key_id": "k3jd7q2mzx5tyw4a",
           *       "member_id": "0198f29f-f1a2-7e55-9b04-7c1d2e3f4a66",
           *       "name": "payroll server",
           *       "scopes": [
           *         "read",
           *         "transfers"
           *       ],
           *       "address_ranges": [
           *         "203.0.113.0/24"
           *       ],
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "effective_at": null,
           *       "expires_at": "2027-11-01T00:00:00.000Z",
           *       "last_used_at": null,
           *       "created_by_key": "b7xw2q5mzk3jdtya",
           *       "token": "svc_live_k3jd7q2mzx5tyw4a_6xk2mzq7w3jd5tya4bcd6xk2mzq7w3jd5tya4bcd"
           *     }
           */
          'application/json': components['schemas']['CreatedToken'];
        };
      };
    };
  };
  deleteToken: {
    parameters: {
      query?: {
        /** @description With `true`, also every token that it created, directly or through others. */
        cascade?: 'true' | 'false';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The `key_id` of the token. */
        key_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  getLimits: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "limits": [
           *         {
           *           "asset": "COPM",
           *           "minimum": "100000",
           *           "maximum": "1200000000",
           *           "month": {
           *             "used": "150000",
           *             "limit": "5000000000",
           *             "resets_at": "2026-12-01T05:00:00.000Z"
           *           }
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Limits'];
        };
      };
    };
  };
  lookUpAccount: {
    parameters: {
      query?: {
        /** @description The alias of an account of your tenant. Begins with $, URL-encoded. */
        alias?: string;
        /** @description Any format; Colombian if it names no country. */
        phone?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22",
           *       "alias": "$ana",
           *       "display_name": "Ana M. P.",
           *       "type": "person"
           *     }
           */
          'application/json': components['schemas']['AccountLookup'];
        };
      };
    };
  };
  setAlias: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "alias": "$laespiga"
         *     }
         */
        'application/json': components['schemas']['SetAlias'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "alias": "$laespiga"
           *     }
           */
          'application/json': components['schemas']['Alias'];
        };
      };
    };
  };
  deleteAlias: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  declareVerification: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the account. */
        account_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "type": "business",
         *       "legal_name": "Panadería La Espiga SAS",
         *       "document_type": "NIT",
         *       "document_number": "901234567",
         *       "country": "CO"
         *     }
         */
        'application/json': components['schemas']['DeclareVerification'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "status": "verified",
           *       "can_send": true,
           *       "verified_at": "2026-11-02T09:30:00.000Z",
           *       "document_last4": "4567"
           *     }
           */
          'application/json': components['schemas']['Verification'];
        };
      };
    };
  };
  listStatements: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Only statements of this account. */
        account_id?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "status": "ready",
           *           "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *           "asset": "COPM",
           *           "from": "2026-11-01T05:00:00.000Z",
           *           "to": "2026-11-21T04:59:59.999Z",
           *           "opening_balance": {
           *             "raw": "50000000",
           *             "asset": "COPM"
           *           },
           *           "closing_balance": {
           *             "raw": "49700000",
           *             "asset": "COPM"
           *           },
           *           "movements": 2,
           *           "files": {
           *             "csv_url": "https://api.example.com/v1/statements/0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44/file",
           *             "xlsx_url": "https://api.example.com/v1/statements/0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44/file?format=xlsx"
           *           },
           *           "created_at": "2026-11-21T14:05:01.123Z"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['StatementPage'];
        };
      };
    };
  };
  createStatement: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
         *       "asset": "COPM",
         *       "from": "2026-11-01T05:00:00.000Z",
         *       "to": "2026-11-21T04:59:59.999Z"
         *     }
         */
        'application/json': components['schemas']['CreateStatement'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "ready",
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "asset": "COPM",
           *       "from": "2026-11-01T05:00:00.000Z",
           *       "to": "2026-11-21T04:59:59.999Z",
           *       "opening_balance": {
           *         "raw": "50000000",
           *         "asset": "COPM"
           *       },
           *       "closing_balance": {
           *         "raw": "49700000",
           *         "asset": "COPM"
           *       },
           *       "movements": 2,
           *       "files": {
           *         "csv_url": "https://api.example.com/v1/statements/0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44/file",
           *         "xlsx_url": "https://api.example.com/v1/statements/0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44/file?format=xlsx"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Statement'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "ready",
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "asset": "COPM",
           *       "from": "2026-11-01T05:00:00.000Z",
           *       "to": "2026-11-21T04:59:59.999Z",
           *       "opening_balance": {
           *         "raw": "50000000",
           *         "asset": "COPM"
           *       },
           *       "closing_balance": {
           *         "raw": "49700000",
           *         "asset": "COPM"
           *       },
           *       "movements": 2,
           *       "files": {
           *         "csv_url": "https://api.example.com/v1/statements/0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44/file",
           *         "xlsx_url": "https://api.example.com/v1/statements/0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44/file?format=xlsx"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Statement'];
        };
      };
    };
  };
  getStatement: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the statement. */
        statement_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "status": "ready",
           *       "account_id": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *       "asset": "COPM",
           *       "from": "2026-11-01T05:00:00.000Z",
           *       "to": "2026-11-21T04:59:59.999Z",
           *       "opening_balance": {
           *         "raw": "50000000",
           *         "asset": "COPM"
           *       },
           *       "closing_balance": {
           *         "raw": "49700000",
           *         "asset": "COPM"
           *       },
           *       "movements": 2,
           *       "files": {
           *         "csv_url": "https://api.example.com/v1/statements/0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44/file",
           *         "xlsx_url": "https://api.example.com/v1/statements/0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44/file?format=xlsx"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Statement'];
        };
      };
    };
  };
  downloadStatement: {
    parameters: {
      query?: {
        /** @description The format of the file. */
        format?: 'csv' | 'xlsx';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the statement. */
        statement_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example created_at,kind,amount_in,amount_out,balance,asset,counterparty,counterparty_alias,counterparty_account_id,description,movement_id,related_type,related_id
           *     2026-11-01T05:00:00.000Z,opening_balance,,,50000000,COPM,,,,,,,
           *     2026-11-21T14:05:01.123Z,transfer_out,,150000,49850000,COPM,Ana M. P.,$ana,0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22,Lunch,0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10,transfer,0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44
           */
          'text/csv': Blob;
          'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': Blob;
        };
      };
    };
  };
  getRequest: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The `Svc-Request-Id` of a response. */
        request_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "method": "POST",
           *       "path": "/v1/transfers",
           *       "status": 201,
           *       "code": null,
           *       "resource": {
           *         "type": "transfer",
           *         "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44"
           *       },
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['Request'];
        };
      };
    };
  };
  listEvents: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
        /** @description Created at this moment or later. */
        'created_at[gte]'?: string;
        /** @description Created at this moment or earlier. */
        'created_at[lte]'?: string;
        /** @description Only events of this type. */
        type?:
          | 'transfer.completed'
          | 'transfer.rejected'
          | 'transfer.expired'
          | 'payout.approved'
          | 'payout.completed'
          | 'payout.rejected'
          | 'payout.failed'
          | 'payout.returned'
          | 'payout.canceled'
          | 'bonus_batch.ready'
          | 'bonus_batch.rejected'
          | 'bonus_batch.completed'
          | 'bonus_batch.partially_failed'
          | 'payout_batch.ready'
          | 'payout_batch.rejected'
          | 'payout_batch.completed'
          | 'payout_batch.partially_failed'
          | 'account.verified';
        /** @description `desc` is newest first, `asc` oldest first. */
        order?: 'asc' | 'desc';
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10",
           *           "type": "transfer.completed",
           *           "api_version": "2026-11-01",
           *           "created_at": "2026-11-21T14:06:12.480Z",
           *           "sequence": 4711,
           *           "data": {
           *             "object": {
           *               "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *               "scope": "internal",
           *               "status": "completed",
           *               "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *               "destination": {
           *                 "type": "account",
           *                 "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *               },
           *               "amount": {
           *                 "raw": "150000",
           *                 "asset": "COPM"
           *               },
           *               "fee": {
           *                 "raw": "150",
           *                 "asset": "COPM"
           *               },
           *               "description": "Lunch",
           *               "metadata": {
           *                 "invoice": "A-17"
           *               },
           *               "created_at": "2026-11-21T14:05:01.123Z",
           *               "approval": null,
           *               "capture": "automatic",
           *               "capture_expires_at": null,
           *               "captured": null,
           *               "refunded": {
           *                 "raw": "0",
           *                 "asset": "COPM"
           *               },
           *               "refund_of": null,
           *               "rejection": null,
           *               "schedule": null
           *             }
           *           }
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs",
           *       "first_sequence": 1,
           *       "gaps": []
           *     }
           */
          'application/json': components['schemas']['EventPage'] & {
            /** @description The sequence of the oldest event still in the log. */
            first_sequence: number | null;
            /** @description What restores of the service left out, oldest first. */
            gaps: components['schemas']['EventGap'][];
          };
        };
      };
    };
  };
  getEvent: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the event. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10",
           *       "type": "transfer.completed",
           *       "api_version": "2026-11-01",
           *       "created_at": "2026-11-21T14:06:12.480Z",
           *       "sequence": 4711,
           *       "data": {
           *         "object": {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "scope": "internal",
           *           "status": "completed",
           *           "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *           "destination": {
           *             "type": "account",
           *             "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *           },
           *           "amount": {
           *             "raw": "150000",
           *             "asset": "COPM"
           *           },
           *           "fee": {
           *             "raw": "150",
           *             "asset": "COPM"
           *           },
           *           "description": "Lunch",
           *           "metadata": {
           *             "invoice": "A-17"
           *           },
           *           "created_at": "2026-11-21T14:05:01.123Z",
           *           "approval": null,
           *           "capture": "automatic",
           *           "capture_expires_at": null,
           *           "captured": null,
           *           "refunded": {
           *             "raw": "0",
           *             "asset": "COPM"
           *           },
           *           "refund_of": null,
           *           "rejection": null,
           *           "schedule": null
           *         }
           *       }
           *     }
           */
          'application/json': components['schemas']['Event'];
        };
      };
    };
  };
  listWebhookEndpoints: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "url": "https://shop.example.com/hooks",
           *           "events": [
           *             "transfer.completed",
           *             "payout.completed"
           *           ],
           *           "status": "enabled",
           *           "disabled_reason": null,
           *           "api_version": "2026-11-01",
           *           "created_at": "2026-11-21T14:05:01.123Z",
           *           "last_success_at": "2026-11-21T14:06:12.480Z",
           *           "lost_events": null
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['WebhookEndpointPage'];
        };
      };
    };
  };
  createWebhookEndpoint: {
    parameters: {
      query?: never;
      header: {
        /** @description A UUID: a new one for a new operation, the same one to repeat a request whose answer you did not get. */
        'Idempotency-Key': components['parameters']['Idempotency-Key'];
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "url": "https://shop.example.com/hooks",
         *       "events": [
         *         "transfer.completed",
         *         "payout.completed"
         *       ]
         *     }
         */
        'application/json': components['schemas']['RegisterWebhookEndpoint'];
      };
    };
    responses: {
      /** @description A replay: the key's original result, as it is now. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "url": "https://shop.example.com/hooks",
           *       "events": [
           *         "transfer.completed",
           *         "payout.completed"
           *       ],
           *       "status": "enabled",
           *       "disabled_reason": null,
           *       "api_version": "2026-11-01",
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "last_success_at": "2026-11-21T14:06:12.480Z",
           *       "lost_events": null
           *     }
           */
          'application/json': components['schemas']['RegisteredWebhookEndpoint'];
        };
      };
      /** @description Created. */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "url": "https://shop.example.com/hooks",
           *       "events": [
           *         "transfer.completed",
           *         "payout.completed"
           *       ],
           *       "status": "enabled",
           *       "disabled_reason": null,
           *       "api_version": "2026-11-01",
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "last_success_at": null,
           *       "lost_events": null,
           *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
           *     }
           */
          'application/json': components['schemas']['RegisteredWebhookEndpoint'];
        };
      };
    };
  };
  getWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the webhook endpoint. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "url": "https://shop.example.com/hooks",
           *       "events": [
           *         "transfer.completed",
           *         "payout.completed"
           *       ],
           *       "status": "enabled",
           *       "disabled_reason": null,
           *       "api_version": "2026-11-01",
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "last_success_at": "2026-11-21T14:06:12.480Z",
           *       "lost_events": null
           *     }
           */
          'application/json': components['schemas']['WebhookEndpoint'];
        };
      };
    };
  };
  deleteWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the webhook endpoint. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  updateWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the webhook endpoint. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "status": "enabled"
         *     }
         */
        'application/json': components['schemas']['ChangeWebhookEndpoint'];
      };
    };
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "url": "https://shop.example.com/hooks",
           *       "events": [
           *         "transfer.completed",
           *         "payout.completed"
           *       ],
           *       "status": "enabled",
           *       "disabled_reason": null,
           *       "api_version": "2026-11-01",
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "last_success_at": "2026-11-21T14:06:12.480Z",
           *       "lost_events": null
           *     }
           */
          'application/json': components['schemas']['WebhookEndpoint'];
        };
      };
    };
  };
  rotateWebhookSecret: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the webhook endpoint. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *       "url": "https://shop.example.com/hooks",
           *       "events": [
           *         "transfer.completed",
           *         "payout.completed"
           *       ],
           *       "status": "enabled",
           *       "disabled_reason": null,
           *       "api_version": "2026-11-01",
           *       "created_at": "2026-11-21T14:05:01.123Z",
           *       "last_success_at": "2026-11-21T14:06:12.480Z",
           *       "lost_events": null,
           *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
           *     }
           */
          'application/json': components['schemas']['RotatedWebhookEndpoint'];
        };
      };
    };
  };
  testWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the webhook endpoint. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Accepted, but not finished yet. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "type": "webhook.test",
           *       "id": "0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10",
           *       "created_at": "2026-11-21T14:05:01.123Z"
           *     }
           */
          'application/json': components['schemas']['WebhookTest'];
        };
      };
    };
  };
  recoverWebhookEndpoint: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the webhook endpoint. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "since": "2026-11-20T00:00:00Z"
         *     }
         */
        'application/json': components['schemas']['RecoverWebhookEndpoint'];
      };
    };
    responses: {
      /** @description Accepted, but not finished yet. */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "since": "2026-11-20T00:00:00.000Z",
           *       "from_sequence": 4630,
           *       "to_sequence": 4711
           *     }
           */
          'application/json': components['schemas']['WebhookRecovery'];
        };
      };
    };
  };
  redeliverEvent: {
    parameters: {
      query?: never;
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the event. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10",
           *       "type": "transfer.completed",
           *       "api_version": "2026-11-01",
           *       "created_at": "2026-11-21T14:06:12.480Z",
           *       "sequence": 4711,
           *       "data": {
           *         "object": {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "scope": "internal",
           *           "status": "completed",
           *           "source_account": "0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11",
           *           "destination": {
           *             "type": "account",
           *             "account_id": "0198f2a0-1c60-7a44-8e21-0c9d3f5b7e22"
           *           },
           *           "amount": {
           *             "raw": "150000",
           *             "asset": "COPM"
           *           },
           *           "fee": {
           *             "raw": "150",
           *             "asset": "COPM"
           *           },
           *           "description": "Lunch",
           *           "metadata": {
           *             "invoice": "A-17"
           *           },
           *           "created_at": "2026-11-21T14:05:01.123Z",
           *           "approval": null,
           *           "capture": "automatic",
           *           "capture_expires_at": null,
           *           "captured": null,
           *           "refunded": {
           *             "raw": "0",
           *             "asset": "COPM"
           *           },
           *           "refund_of": null,
           *           "rejection": null,
           *           "schedule": null
           *         }
           *       }
           *     }
           */
          'application/json': components['schemas']['Event'];
        };
      };
    };
  };
  listWebhookDeliveries: {
    parameters: {
      query?: {
        /** @description How many items the page has at most. */
        limit?: number;
        /** @description The `next_cursor` of the previous page, with the same filters. Without it, the first page. */
        cursor?: string;
      };
      header?: {
        /** @description The dated version of the API; by default 2026-11-01. */
        'Svc-Version'?: components['parameters']['Svc-Version'];
      };
      path: {
        /** @description The id of the webhook endpoint. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The result. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44",
           *           "event_id": "0198f2c4-6a51-7c3e-9a02-3f1f8d6b7a10",
           *           "event_type": "transfer.completed",
           *           "cause": "event",
           *           "status": "delivered",
           *           "attempts": [
           *             {
           *               "at": "2026-11-21T14:06:12.480Z",
           *               "status": 204,
           *               "failure": null,
           *               "message": null,
           *               "duration_ms": 38,
           *               "response": null
           *             }
           *           ],
           *           "next_attempt_at": null,
           *           "created_at": "2026-11-21T14:05:01.123Z"
           *         }
           *       ],
           *       "next_cursor": "AWsxkQ7vE2Z0n5uXb3pTq8Jr6hYc9mLdVfSgNaKo1wBi4tHeRjUyPzCxMs"
           *     }
           */
          'application/json': components['schemas']['WebhookDeliveryPage'];
        };
      };
    };
  };
}
