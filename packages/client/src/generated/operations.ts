// Generated from the OpenAPI document by `npm run docs:client`. Do not edit.

import { type CallOptions, Calls } from '../calls.js';
import type { List } from '../list.js';
import { segment } from '../segment.js';
import type { BodyOf, FormOf, ParamOf, QueryOf, ResultOf } from '../shapes.js';

/** Every operation of the API, by name. */
export class Operations extends Calls {
  /**
   * List accounts.
   * The accounts in which the token's member has a role, newest first.
   * Scope: `read` or `access`. Role in the account: viewer, operator, approver, admin, owner.
   */
  listAccounts(
    query: QueryOf<'listAccounts'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listAccounts'>> {
    return this.list(
      { operation: 'listAccounts', method: 'GET', path: '/v1/accounts', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Open an account.
   * Active and unverified, with zero in every asset. The member becomes its owner.
   * Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
   */
  openAccount(
    body: BodyOf<'openAccount'>,
    options?: CallOptions,
  ): Promise<ResultOf<'openAccount'>> {
    return this.send(
      { operation: 'openAccount', method: 'POST', path: '/v1/accounts', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'openAccount'>>;
  }

  /**
   * Read an account.
   * Scope: `read` or `access`. Role in the account: viewer, operator, approver, admin, owner.
   */
  getAccount(
    accountId: ParamOf<'getAccount', 'account_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getAccount'>> {
    return this.send(
      {
        operation: 'getAccount',
        method: 'GET',
        path: `/v1/accounts/${segment(accountId)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getAccount'>>;
  }

  /**
   * Change the metadata of an account.
   * Sets these pairs, and removes those whose value is null. All others stay.
   * Scope: `access`. Role in the account: owner.
   */
  updateAccount(
    accountId: ParamOf<'updateAccount', 'account_id'>,
    body: BodyOf<'updateAccount'>,
    options?: CallOptions,
  ): Promise<ResultOf<'updateAccount'>> {
    return this.send(
      {
        operation: 'updateAccount',
        method: 'PATCH',
        path: `/v1/accounts/${segment(accountId)}`,
        repeats: 'by_itself',
        body,
      },
      options,
    ) as Promise<ResultOf<'updateAccount'>>;
  }

  /**
   * Read the balances of an account.
   * Held funds are part of the total but cannot be spent. With `at`, the exact totals at a past moment, which never change.
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
   * Newest first. With `order=asc`, oldest first: `next_cursor` is then never null, and gets newer movements later. A cursor whose movement a restore of the service has lost gets 400 with the reason `expired`.
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
   * Give a member a role in an account.
   * Replaces any other role there. If the tenant has a delay, a role that permits more than the previous one waits for it. Setting the role in force withdraws a waiting one.
   * Scope: `access`. Role in the account: owner.
   */
  setRole(
    accountId: ParamOf<'setRole', 'account_id'>,
    memberId: ParamOf<'setRole', 'member_id'>,
    body: BodyOf<'setRole'>,
    options?: CallOptions,
  ): Promise<ResultOf<'setRole'>> {
    return this.send(
      {
        operation: 'setRole',
        method: 'PUT',
        path: `/v1/accounts/${segment(accountId)}/roles/${segment(memberId)}`,
        repeats: 'by_itself',
        body,
      },
      options,
    ) as Promise<ResultOf<'setRole'>>;
  }

  /**
   * Take a role away from a member.
   * At once, and with it a role that waits. Without a role, nothing changes.
   * Scope: `access`. Role in the account: owner.
   */
  deleteRole(
    accountId: ParamOf<'deleteRole', 'account_id'>,
    memberId: ParamOf<'deleteRole', 'member_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'deleteRole'>> {
    return this.send(
      {
        operation: 'deleteRole',
        method: 'DELETE',
        path: `/v1/accounts/${segment(accountId)}/roles/${segment(memberId)}`,
        repeats: 'by_itself',
      },
      options,
    ) as Promise<ResultOf<'deleteRole'>>;
  }

  /**
   * Read the limits of an account.
   * The limits of a single operation and of the month, with the amount used.
   * Scope: `read` or `transfers`. Role in the account: viewer, operator, approver, admin, owner.
   */
  getLimits(
    accountId: ParamOf<'getLimits', 'account_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getLimits'>> {
    return this.send(
      {
        operation: 'getLimits',
        method: 'GET',
        path: `/v1/accounts/${segment(accountId)}/limits`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getLimits'>>;
  }

  /**
   * Look up a recipient.
   * Finds an account by exactly one of alias and phone. An alias is looked for in your tenant only; a phone also in your network, where only a single match counts. Returns only what a payer needs to recognise the recipient.
   * Scope: `lookup`.
   */
  lookUpAccount(
    query: QueryOf<'lookUpAccount'> = {},
    options?: CallOptions,
  ): Promise<ResultOf<'lookUpAccount'>> {
    return this.send(
      {
        operation: 'lookUpAccount',
        method: 'GET',
        path: '/v1/accounts/lookup',
        repeats: 'freely',
        query,
      },
      options,
    ) as Promise<ResultOf<'lookUpAccount'>>;
  }

  /**
   * Set the alias of an account.
   * Releases the previous one, which nobody can take for 90 days.
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
   * Nobody can take it for 90 days.
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
   * From then on the account can send. Declaring it again replaces the data.
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
   * Add a member.
   * Without a role or token at first.
   * Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
   */
  createMember(
    body: BodyOf<'createMember'>,
    options?: CallOptions,
  ): Promise<ResultOf<'createMember'>> {
    return this.send(
      { operation: 'createMember', method: 'POST', path: '/v1/members', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'createMember'>>;
  }

  /**
   * List the members.
   * Newest first.
   * Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
   */
  listMembers(
    query: QueryOf<'listMembers'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listMembers'>> {
    return this.list(
      { operation: 'listMembers', method: 'GET', path: '/v1/members', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Remove a member.
   * Revokes all roles and tokens of the member. Another member must remove you.
   * Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
   */
  deleteMember(
    memberId: ParamOf<'deleteMember', 'member_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'deleteMember'>> {
    return this.send(
      {
        operation: 'deleteMember',
        method: 'DELETE',
        path: `/v1/members/${segment(memberId)}`,
        repeats: 'by_itself',
      },
      options,
    ) as Promise<ResultOf<'deleteMember'>>;
  }

  /**
   * Create a token.
   * Only this response shows `token`: a replay has null. If you lose it, revoke the token and create another. The scopes must be among those of your own token. If the tenant has a delay, the token takes effect after it.
   * Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
   */
  createToken(
    body: BodyOf<'createToken'>,
    options?: CallOptions,
  ): Promise<ResultOf<'createToken'>> {
    return this.send(
      { operation: 'createToken', method: 'POST', path: '/v1/tokens', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'createToken'>>;
  }

  /**
   * List the tokens.
   * Those that are neither revoked nor expired, newest first, without their secrets.
   * Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
   */
  listTokens(
    query: QueryOf<'listTokens'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listTokens'>> {
    return this.list(
      { operation: 'listTokens', method: 'GET', path: '/v1/tokens', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Revoke a token.
   * Within 5 seconds, for ever. With `cascade=true` also every token that it created, and those that they created. Revoking it again is not an error.
   * Scope: `access`. Role in any account of the tenant: owner, not about a member with a role that the caller lacks.
   */
  deleteToken(
    keyId: ParamOf<'deleteToken', 'key_id'>,
    query: QueryOf<'deleteToken'> = {},
    options?: CallOptions,
  ): Promise<ResultOf<'deleteToken'>> {
    return this.send(
      {
        operation: 'deleteToken',
        method: 'DELETE',
        path: `/v1/tokens/${segment(keyId)}`,
        repeats: 'by_itself',
        query,
      },
      options,
    ) as Promise<ResultOf<'deleteToken'>>;
  }

  /**
   * Send a transfer.
   * Moves money from one of your accounts to an account of your tenant or of your network. If the amount reaches the threshold of the source's approval policy, the response is 202, and the amount is held until other members approve the transfer. With `capture: manual`, amount and fee are held, and the transfer is `held` until it is captured, canceled or expires.
   * Scope: `transfers`. Role in source: operator, admin, owner.
   */
  createTransfer(
    body: BodyOf<'createTransfer'>,
    options?: CallOptions,
  ): Promise<ResultOf<'createTransfer'>> {
    return this.send(
      {
        operation: 'createTransfer',
        method: 'POST',
        path: '/v1/transfers',
        repeats: 'by_key',
        body,
      },
      options,
    ) as Promise<ResultOf<'createTransfer'>>;
  }

  /**
   * List transfers.
   * Newest first. With `idempotency_key`, what that key created or approved; an empty list does not rule out that it appears later.
   * Scope: `read` or `transfers`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
   */
  listTransfers(
    query: QueryOf<'listTransfers'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listTransfers'>> {
    return this.list(
      {
        operation: 'listTransfers',
        method: 'GET',
        path: '/v1/transfers',
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Read a transfer.
   * Scope: `read` or `transfers`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
   */
  getTransfer(
    id: ParamOf<'getTransfer', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getTransfer'>> {
    return this.send(
      {
        operation: 'getTransfer',
        method: 'GET',
        path: `/v1/transfers/${segment(id)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getTransfer'>>;
  }

  /**
   * Change the metadata of a transfer.
   * Sets the pairs of the request, and removes those whose value is null. Possible in every state. Writes no event.
   * Scope: `transfers`. Role in source: operator, admin, owner.
   */
  updateTransfer(
    id: ParamOf<'updateTransfer', 'id'>,
    body: BodyOf<'updateTransfer'>,
    options?: CallOptions,
  ): Promise<ResultOf<'updateTransfer'>> {
    return this.send(
      {
        operation: 'updateTransfer',
        method: 'PATCH',
        path: `/v1/transfers/${segment(id)}`,
        repeats: 'by_itself',
        body,
      },
      options,
    ) as Promise<ResultOf<'updateTransfer'>>;
  }

  /**
   * Approve a transfer.
   * The creator cannot approve it. At the last approval needed, the source (`capability_cannot_send`) and the destination (`not_found`, `invalid_field`) are checked again: the transfer becomes `completed`, or `rejected` with the code of the rule that refused it. A second approval by the same member changes nothing. Returns the transfer in its new state. If it has expired by then, it ends as `expired` and the response is 409.
   * Scope: `transfers`. Role in source: approver, admin, owner, not the creator.
   */
  approveTransfer(
    id: ParamOf<'approveTransfer', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'approveTransfer'>> {
    return this.send(
      {
        operation: 'approveTransfer',
        method: 'POST',
        path: `/v1/transfers/${segment(id)}/approve`,
        repeats: 'by_key',
      },
      options,
    ) as Promise<ResultOf<'approveTransfer'>>;
  }

  /**
   * Reject a transfer.
   * The creator cannot reject it, but can cancel it. Returns the transfer in its new state. If it has expired by then, it ends as `expired` and the response is 409.
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
   * The creator, an admin or an owner of the source can cancel it while it is `pending_approval` or `held`. Returns the transfer in its new state. If it has expired by then, it ends as `expired` and the response is 409.
   * Scope: `transfers`. Role in source: admin, owner, the creator.
   */
  cancelTransfer(
    id: ParamOf<'cancelTransfer', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'cancelTransfer'>> {
    return this.send(
      {
        operation: 'cancelTransfer',
        method: 'POST',
        path: `/v1/transfers/${segment(id)}/cancel`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'cancelTransfer'>>;
  }

  /**
   * Capture a transfer.
   * Moves a held transfer, or the part of it that `amount` names, and releases the rest of the hold. To capture everything, send the body `{}`. The fee is that of the captured amount, at most the held fee. If the source may not send or the destination cannot be paid, the transfer stays `held`. If it has expired, it ends as `expired` and the response is 409.
   * Scope: `transfers`. Role in source: operator, admin, owner.
   */
  captureTransfer(
    id: ParamOf<'captureTransfer', 'id'>,
    body: BodyOf<'captureTransfer'>,
    options?: CallOptions,
  ): Promise<ResultOf<'captureTransfer'>> {
    return this.send(
      {
        operation: 'captureTransfer',
        method: 'POST',
        path: `/v1/transfers/${segment(id)}/capture`,
        repeats: 'by_key',
        body,
      },
      options,
    ) as Promise<ResultOf<'captureTransfer'>>;
  }

  /**
   * Refund a transfer.
   * Sends back all or a part of a transfer that one of your accounts received, to the account that paid it. To refund all that is left, send the body `{}`. The fee stays with its receiver, a refund costs none, and no limit applies. If the amount reaches the threshold of the receiving account's approval policy, the response is 202, and the refund waits like any other transfer. Needs the role operator, admin or owner in the account that received the money.
   * Scope: `transfers`. Role in source: operator, admin, owner.
   */
  refundTransfer(
    id: ParamOf<'refundTransfer', 'id'>,
    body: BodyOf<'refundTransfer'>,
    options?: CallOptions,
  ): Promise<ResultOf<'refundTransfer'>> {
    return this.send(
      {
        operation: 'refundTransfer',
        method: 'POST',
        path: `/v1/transfers/${segment(id)}/refunds`,
        repeats: 'by_key',
        body,
      },
      options,
    ) as Promise<ResultOf<'refundTransfer'>>;
  }

  /**
   * Schedule a transfer.
   * Each run creates one transfer, under the rules of its own moment; limits, funds and approvals are not checked before. Runs keep the time of day in the tenant's time zone; on a day that a month lacks, they are on its last day.
   * Scope: `transfers`. Role in source: operator, admin, owner.
   */
  createSchedule(
    body: BodyOf<'createSchedule'>,
    options?: CallOptions,
  ): Promise<ResultOf<'createSchedule'>> {
    return this.send(
      {
        operation: 'createSchedule',
        method: 'POST',
        path: '/v1/schedules',
        repeats: 'by_key',
        body,
      },
      options,
    ) as Promise<ResultOf<'createSchedule'>>;
  }

  /**
   * List schedules.
   * Newest first. With `idempotency_key`, what that key created or approved; an empty list does not rule out that it appears later.
   * Scope: `read` or `transfers`. Role in source: viewer, operator, approver, admin, owner.
   */
  listSchedules(
    query: QueryOf<'listSchedules'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listSchedules'>> {
    return this.list(
      {
        operation: 'listSchedules',
        method: 'GET',
        path: '/v1/schedules',
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Read a schedule.
   * Scope: `read` or `transfers`. Role in source: viewer, operator, approver, admin, owner.
   */
  getSchedule(
    id: ParamOf<'getSchedule', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getSchedule'>> {
    return this.send(
      {
        operation: 'getSchedule',
        method: 'GET',
        path: `/v1/schedules/${segment(id)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getSchedule'>>;
  }

  /**
   * Pause a schedule.
   * Stops its runs until it is resumed.
   * Scope: `transfers`. Role in source: operator, admin, owner, the creator.
   */
  pauseSchedule(
    id: ParamOf<'pauseSchedule', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'pauseSchedule'>> {
    return this.send(
      {
        operation: 'pauseSchedule',
        method: 'POST',
        path: `/v1/schedules/${segment(id)}/pause`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'pauseSchedule'>>;
  }

  /**
   * Resume a schedule.
   * Continues with the next run after this moment: those that became due before are skipped. If none is left, the schedule is `completed`.
   * Scope: `transfers`. Role in source: operator, admin, owner, the creator.
   */
  resumeSchedule(
    id: ParamOf<'resumeSchedule', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'resumeSchedule'>> {
    return this.send(
      {
        operation: 'resumeSchedule',
        method: 'POST',
        path: `/v1/schedules/${segment(id)}/resume`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'resumeSchedule'>>;
  }

  /**
   * Cancel a schedule.
   * Ends it for good. Transfers that it has created stay as they are.
   * Scope: `transfers`. Role in source: operator, admin, owner, the creator.
   */
  cancelSchedule(
    id: ParamOf<'cancelSchedule', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'cancelSchedule'>> {
    return this.send(
      {
        operation: 'cancelSchedule',
        method: 'POST',
        path: `/v1/schedules/${segment(id)}/cancel`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'cancelSchedule'>>;
  }

  /**
   * Set an approval policy.
   * Amounts of `threshold` or more in this asset then need approvals to leave the account. Pending operations keep the policy they were created under. A batch whose total reaches the threshold, even of one row, does not wait for `approvals`: one member other than its uploader executes it. With `refuses_batches` such a batch is rejected when it is validated. If the tenant has a delay, whatever weakens the policy (a higher threshold, fewer approvals, a longer time, batches no longer refused) waits for it and is shown in `pending`; whatever makes it stricter takes effect at once. Setting the policy in force withdraws a pending change.
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
   * Read an approval policy.
   * The policy of one account and asset. 404 if it has none.
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
   * Remove an approval policy.
   * New operations then need no approval, at once or after the tenant's delay, in which case GET shows when. Pending ones keep waiting.
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
   * Refund a bonus.
   * Sends back all or a part of a bonus that one of your accounts received, to the account that paid it. To refund all that is left, send the body `{}`. The fee stays with its receiver, a refund costs none, and no limit applies. If the amount reaches the threshold of the receiving account's approval policy, the response is 202, and the refund waits like any other transfer. Needs the role operator, admin or owner in the account that received the money.
   * Scope: `transfers`. Role in source: operator, admin, owner.
   */
  refundBonus(
    id: ParamOf<'refundBonus', 'id'>,
    body: BodyOf<'refundBonus'>,
    options?: CallOptions,
  ): Promise<ResultOf<'refundBonus'>> {
    return this.send(
      {
        operation: 'refundBonus',
        method: 'POST',
        path: `/v1/bonuses/${segment(id)}/refunds`,
        repeats: 'by_key',
        body,
      },
      options,
    ) as Promise<ResultOf<'refundBonus'>>;
  }

  /**
   * Pay a bonus.
   * Pays one person at once and itemises the fee. The recipient is an account of your tenant or network, named by exactly one of id, alias or phone. From the source account's approval threshold up it is refused: unlike a transfer or a batch, a bonus cannot wait for another member.
   * Scope: `bonuses`. Role in source: operator, admin, owner.
   */
  createBonus(
    body: BodyOf<'createBonus'>,
    options?: CallOptions,
  ): Promise<ResultOf<'createBonus'>> {
    return this.send(
      { operation: 'createBonus', method: 'POST', path: '/v1/bonuses', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'createBonus'>>;
  }

  /**
   * List bonuses.
   * Single bonuses and those of batches, newest first. With `idempotency_key`, what that key created or approved; an empty list does not rule out that it appears later.
   * Scope: `read` or `bonuses`. Role in source, or a destination of the same tenant: viewer, operator, approver, admin, owner.
   */
  listBonuses(
    query: QueryOf<'listBonuses'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listBonuses'>> {
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
      {
        operation: 'getBonus',
        method: 'GET',
        path: `/v1/bonuses/${segment(id)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getBonus'>>;
  }

  /**
   * Change the metadata of a bonus.
   * Sets the pairs of the request, and removes those whose value is null. Possible in every state. Writes no event.
   * Scope: `bonuses`. Role in source: operator, admin, owner.
   */
  updateBonus(
    id: ParamOf<'updateBonus', 'id'>,
    body: BodyOf<'updateBonus'>,
    options?: CallOptions,
  ): Promise<ResultOf<'updateBonus'>> {
    return this.send(
      {
        operation: 'updateBonus',
        method: 'PATCH',
        path: `/v1/bonuses/${segment(id)}`,
        repeats: 'by_itself',
        body,
      },
      options,
    ) as Promise<ResultOf<'updateBonus'>>;
  }

  /**
   * List batches.
   * Newest first. With `idempotency_key`, what that key created or executed; an empty list does not rule out that it appears later.
   * Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
   */
  listBonusBatches(
    query: QueryOf<'listBonusBatches'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listBonusBatches'>> {
    return this.list(
      {
        operation: 'listBonusBatches',
        method: 'GET',
        path: '/v1/bonus_batches',
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Upload a batch of bonuses.
   * An XLSX or CSV file of at most 10 MiB and 100,000 rows, laid out like `GET /v1/bonus_batches/template`. It is validated afterwards; no money moves until it is executed.
   * Scope: `bonuses`. Role in source: operator, admin, owner.
   */
  uploadBonusBatch(
    form: FormOf<'uploadBonusBatch'>,
    options?: CallOptions,
  ): Promise<ResultOf<'uploadBonusBatch'>> {
    return this.send(
      {
        operation: 'uploadBonusBatch',
        method: 'POST',
        path: '/v1/bonus_batches',
        repeats: 'by_key',
        form,
      },
      options,
    ) as Promise<ResultOf<'uploadBonusBatch'>>;
  }

  /**
   * Read a batch.
   * While the batch is `ready`, the response includes what a person reviews before money moves.
   * Scope: `read` or `bonuses`. Role in source: viewer, operator, approver, admin, owner.
   */
  getBonusBatch(
    batchId: ParamOf<'getBonusBatch', 'batch_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getBonusBatch'>> {
    return this.send(
      {
        operation: 'getBonusBatch',
        method: 'GET',
        path: `/v1/bonus_batches/${segment(batchId)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getBonusBatch'>>;
  }

  /**
   * List the rows of a batch.
   * In file order, once the file is accepted.
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
   * From now on money leaves, row by row. If the funds cover the whole debit, they are held at once; if not, each row is tried in file order. From the source account's approval threshold up, a member other than the uploader must execute it. A repeat with the same key is a 202 too, with `Svc-Idempotent-Replayed: true` and the batch as it is now, which may have ended.
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
   * Withdraws a `ready` batch: its uploader can do this, and an admin or owner of the source. The batch ends as `rejected` with `rejection` {code: "withdrawn"}, and pays no one.
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
   * A file with the columns and an example row. CSV, or XLSX with `format=xlsx`.
   * Scope: `read` or `bonuses`.
   */
  downloadBonusBatchTemplate(
    query: QueryOf<'downloadBonusBatchTemplate'> = {},
    options?: CallOptions,
  ): Promise<Blob> {
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
   * Every problem in a rejected file, one per line: row, column, code, message, value. The codes: missing_field, invalid_field, not_found, ambiguous_recipient, same_account, below_minimum, above_per_operation_limit, mixed_asset, duplicate_reference, already_paid, formula_cell, missing_column, duplicate_column, ambiguous_sheet, no_rows, too_many_rows, too_many_columns, above_approval_threshold, rate_limited, unreadable_file, bad_encoding, too_large_inflated. CSV, or XLSX with `format=xlsx`.
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
   * Pay out to a bank account or a Bre-B key.
   * Holds the amount and its fee, and sends the amount to the bank. 201: the payout is `approved`. 202: the amount reaches the threshold of the source's approval policy, so the payout waits for approval. `400 invalid_field` with the reason `not_supported`: no rail pays out to this country, or the rail does not take this kind of destination or amount.
   * Scope: `payouts`. Role in source: operator, admin, owner.
   */
  createPayout(
    body: BodyOf<'createPayout'>,
    options?: CallOptions,
  ): Promise<ResultOf<'createPayout'>> {
    return this.send(
      { operation: 'createPayout', method: 'POST', path: '/v1/payouts', repeats: 'by_key', body },
      options,
    ) as Promise<ResultOf<'createPayout'>>;
  }

  /**
   * List payouts.
   * Newest first. With `idempotency_key`, what that key created or approved; an empty list does not rule out that it appears later.
   * Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
   */
  listPayouts(
    query: QueryOf<'listPayouts'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listPayouts'>> {
    return this.list(
      { operation: 'listPayouts', method: 'GET', path: '/v1/payouts', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Read a payout.
   * Its current state and, in `status_transitions`, every earlier one: its state can be rebuilt from this alone.
   * Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
   */
  getPayout(id: ParamOf<'getPayout', 'id'>, options?: CallOptions): Promise<ResultOf<'getPayout'>> {
    return this.send(
      {
        operation: 'getPayout',
        method: 'GET',
        path: `/v1/payouts/${segment(id)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getPayout'>>;
  }

  /**
   * Change the metadata of a payout.
   * Sets the pairs of the request, and removes those whose value is null. Possible in every state. Writes no event.
   * Scope: `payouts`. Role in source: operator, admin, owner.
   */
  updatePayout(
    id: ParamOf<'updatePayout', 'id'>,
    body: BodyOf<'updatePayout'>,
    options?: CallOptions,
  ): Promise<ResultOf<'updatePayout'>> {
    return this.send(
      {
        operation: 'updatePayout',
        method: 'PATCH',
        path: `/v1/payouts/${segment(id)}`,
        repeats: 'by_itself',
        body,
      },
      options,
    ) as Promise<ResultOf<'updatePayout'>>;
  }

  /**
   * Approve a payout.
   * The creator cannot approve it. At the last approval needed, the source is checked again (`capability_cannot_send`): the payout becomes `approved`, or `rejected` with the code of the rule that refused it. A second approval by the same member changes nothing. Returns the payout in its new state. If it has expired by then, it ends as `canceled` and the response is 409.
   * Scope: `payouts`. Role in source: approver, admin, owner, not the creator.
   */
  approvePayout(
    id: ParamOf<'approvePayout', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'approvePayout'>> {
    return this.send(
      {
        operation: 'approvePayout',
        method: 'POST',
        path: `/v1/payouts/${segment(id)}/approve`,
        repeats: 'by_key',
      },
      options,
    ) as Promise<ResultOf<'approvePayout'>>;
  }

  /**
   * Reject a payout.
   * The creator cannot reject it, but can cancel it. Returns the payout in its new state. If it has expired by then, it ends as `canceled` and the response is 409.
   * Scope: `payouts`. Role in source: approver, admin, owner, not the creator.
   */
  rejectPayout(
    id: ParamOf<'rejectPayout', 'id'>,
    body: BodyOf<'rejectPayout'>,
    options?: CallOptions,
  ): Promise<ResultOf<'rejectPayout'>> {
    return this.send(
      {
        operation: 'rejectPayout',
        method: 'POST',
        path: `/v1/payouts/${segment(id)}/reject`,
        repeats: 'never',
        body,
      },
      options,
    ) as Promise<ResultOf<'rejectPayout'>>;
  }

  /**
   * Cancel a payout.
   * The creator, an admin or an owner of the source can cancel it while it is `pending_approval` or `approved`. Once it is `in_progress`, the money may have left. Returns the payout in its new state. If it has expired by then, it ends as `canceled` and the response is 409.
   * Scope: `payouts`. Role in source: admin, owner, the creator.
   */
  cancelPayout(
    id: ParamOf<'cancelPayout', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'cancelPayout'>> {
    return this.send(
      {
        operation: 'cancelPayout',
        method: 'POST',
        path: `/v1/payouts/${segment(id)}/cancel`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'cancelPayout'>>;
  }

  /**
   * Look up the holder of a Bre-B key.
   * Asks the rail who holds the key now. Counts against the budget of new recipients, unless the tenant has looked up the key before. `503 rail_unavailable`: the rail did not say it, so nothing is known.
   * Scope: `payouts`.
   */
  lookUpPayoutRecipient(
    query: QueryOf<'lookUpPayoutRecipient'> = {},
    options?: CallOptions,
  ): Promise<ResultOf<'lookUpPayoutRecipient'>> {
    return this.send(
      {
        operation: 'lookUpPayoutRecipient',
        method: 'GET',
        path: '/v1/payout_recipients',
        repeats: 'freely',
        query,
      },
      options,
    ) as Promise<ResultOf<'lookUpPayoutRecipient'>>;
  }

  /**
   * List batches.
   * Newest first. With `idempotency_key`, what that key created or executed; an empty list does not rule out that it appears later.
   * Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
   */
  listPayoutBatches(
    query: QueryOf<'listPayoutBatches'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listPayoutBatches'>> {
    return this.list(
      {
        operation: 'listPayoutBatches',
        method: 'GET',
        path: '/v1/payout_batches',
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Upload a batch of payouts.
   * An XLSX or CSV file of at most 10 MiB and 100,000 rows, laid out like `GET /v1/payout_batches/template`. It is validated afterwards; no money moves until it is executed.
   * Scope: `payouts`. Role in source: operator, admin, owner.
   */
  uploadPayoutBatch(
    form: FormOf<'uploadPayoutBatch'>,
    options?: CallOptions,
  ): Promise<ResultOf<'uploadPayoutBatch'>> {
    return this.send(
      {
        operation: 'uploadPayoutBatch',
        method: 'POST',
        path: '/v1/payout_batches',
        repeats: 'by_key',
        form,
      },
      options,
    ) as Promise<ResultOf<'uploadPayoutBatch'>>;
  }

  /**
   * Read a batch.
   * While the batch is `ready`, the response includes what a person reviews before money moves.
   * Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
   */
  getPayoutBatch(
    batchId: ParamOf<'getPayoutBatch', 'batch_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getPayoutBatch'>> {
    return this.send(
      {
        operation: 'getPayoutBatch',
        method: 'GET',
        path: `/v1/payout_batches/${segment(batchId)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getPayoutBatch'>>;
  }

  /**
   * List the rows of a batch.
   * In file order, once the file is accepted.
   * Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
   */
  listPayoutBatchRows(
    batchId: ParamOf<'listPayoutBatchRows', 'batch_id'>,
    query: QueryOf<'listPayoutBatchRows'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listPayoutBatchRows'>> {
    return this.list(
      {
        operation: 'listPayoutBatchRows',
        method: 'GET',
        path: `/v1/payout_batches/${segment(batchId)}/rows`,
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Execute a batch.
   * From now on money leaves, row by row. If the funds cover the whole debit, they are held at once; if not, each row is tried in file order. A member other than the uploader must execute it: this is the approval of its payouts, which start as `approved`. A repeat with the same key is a 202 too, with `Svc-Idempotent-Replayed: true` and the batch as it is now, which may have ended.
   * Scope: `payouts`. Role in source: approver, admin, owner, not the uploader.
   */
  executePayoutBatch(
    batchId: ParamOf<'executePayoutBatch', 'batch_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'executePayoutBatch'>> {
    return this.send(
      {
        operation: 'executePayoutBatch',
        method: 'POST',
        path: `/v1/payout_batches/${segment(batchId)}/execute`,
        repeats: 'by_key',
      },
      options,
    ) as Promise<ResultOf<'executePayoutBatch'>>;
  }

  /**
   * Withdraw a batch.
   * Withdraws a `ready` batch: its uploader can do this, and an admin or owner of the source. The batch ends as `rejected` with `rejection` {code: "withdrawn"}, and pays no one.
   * Scope: `payouts`. Role in source: admin, owner, the uploader.
   */
  cancelPayoutBatch(
    batchId: ParamOf<'cancelPayoutBatch', 'batch_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'cancelPayoutBatch'>> {
    return this.send(
      {
        operation: 'cancelPayoutBatch',
        method: 'POST',
        path: `/v1/payout_batches/${segment(batchId)}/cancel`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'cancelPayoutBatch'>>;
  }

  /**
   * Download an empty file to fill in.
   * A file with the columns and an example row. CSV, or XLSX with `format=xlsx`.
   * Scope: `read` or `payouts`.
   */
  downloadPayoutBatchTemplate(
    query: QueryOf<'downloadPayoutBatchTemplate'> = {},
    options?: CallOptions,
  ): Promise<Blob> {
    return this.download(
      {
        operation: 'downloadPayoutBatchTemplate',
        method: 'GET',
        path: '/v1/payout_batches/template',
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Download the errors file.
   * Every problem in a rejected file, one per line: row, column, code, message, value. The codes: missing_field, invalid_field, not_found, ambiguous_recipient, same_account, below_minimum, above_per_operation_limit, mixed_asset, duplicate_reference, already_paid, formula_cell, missing_column, duplicate_column, ambiguous_sheet, no_rows, too_many_rows, too_many_columns, above_approval_threshold, rate_limited, unreadable_file, bad_encoding, too_large_inflated. CSV, or XLSX with `format=xlsx`.
   * Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
   */
  downloadPayoutBatchErrors(
    batchId: ParamOf<'downloadPayoutBatchErrors', 'batch_id'>,
    query: QueryOf<'downloadPayoutBatchErrors'> = {},
    options?: CallOptions,
  ): Promise<Blob> {
    return this.download(
      {
        operation: 'downloadPayoutBatchErrors',
        method: 'GET',
        path: `/v1/payout_batches/${segment(batchId)}/files/errors`,
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * Download the result file.
   * What became of each row of an executed batch. CSV, or XLSX with `format=xlsx`.
   * Scope: `read` or `payouts`. Role in source: viewer, operator, approver, admin, owner.
   */
  downloadPayoutBatchResult(
    batchId: ParamOf<'downloadPayoutBatchResult', 'batch_id'>,
    query: QueryOf<'downloadPayoutBatchResult'> = {},
    options?: CallOptions,
  ): Promise<Blob> {
    return this.download(
      {
        operation: 'downloadPayoutBatchResult',
        method: 'GET',
        path: `/v1/payout_batches/${segment(batchId)}/files/result`,
        repeats: 'freely',
        query,
      },
      options,
    );
  }

  /**
   * List the events of the tenant.
   * Newest first. With `order=asc`, oldest first: `next_cursor` is then never null, and gets newer events later. A cursor before `first_sequence` gets 400 with the reason `expired`. `gaps` names the sequences that a restore of the service skipped.
   * Scope: `read` or `webhooks`.
   */
  listEvents(
    query: QueryOf<'listEvents'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listEvents'>> {
    return this.list(
      { operation: 'listEvents', method: 'GET', path: '/v1/events', repeats: 'freely', query },
      options,
    );
  }

  /**
   * Read an event.
   * Scope: `read` or `webhooks`.
   */
  getEvent(id: ParamOf<'getEvent', 'id'>, options?: CallOptions): Promise<ResultOf<'getEvent'>> {
    return this.send(
      {
        operation: 'getEvent',
        method: 'GET',
        path: `/v1/events/${segment(id)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getEvent'>>;
  }

  /**
   * Deliver an event again.
   * Sends the event again to every enabled endpoint that subscribes to its type, with the same id and a fresh signature.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  redeliverEvent(
    id: ParamOf<'redeliverEvent', 'id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'redeliverEvent'>> {
    return this.send(
      {
        operation: 'redeliverEvent',
        method: 'POST',
        path: `/v1/events/${segment(id)}/redeliver`,
        repeats: 'never',
      },
      options,
    ) as Promise<ResultOf<'redeliverEvent'>>;
  }

  /**
   * Register a webhook endpoint.
   * The endpoint receives every event of its types from now on. Only this response shows the signing secret: a replay omits it. If you lose the secret, rotate it. A replay after the endpoint was deleted shows it as it was registered. At most 16 per tenant.
   * Scope: `webhooks`. Role in any account of the tenant: admin, owner.
   */
  createWebhookEndpoint(
    body: BodyOf<'createWebhookEndpoint'>,
    options?: CallOptions,
  ): Promise<ResultOf<'createWebhookEndpoint'>> {
    return this.send(
      {
        operation: 'createWebhookEndpoint',
        method: 'POST',
        path: '/v1/webhook_endpoints',
        repeats: 'by_key',
        body,
      },
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
      {
        operation: 'listWebhookEndpoints',
        method: 'GET',
        path: '/v1/webhook_endpoints',
        repeats: 'freely',
        query,
      },
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
   * A new `url` also receives the deliveries that are not finished. If a type is removed, its unfinished deliveries end. If a type is added, deliveries begin with its next event. An endpoint that is enabled again receives every event since 5 days before it was disabled that it has not answered with 2xx.
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
   * Nothing more is sent to it. Deleting it again is not an error.
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
   * The new secret signs within 5 seconds, and is shown only here. For 24 hours `Svc-Signature-Previous` carries a signature made with the previous one.
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
   * A signed body of type `webhook.test`, sent at once and only once, even to a disabled endpoint. The outcome is among the deliveries; its `event_id` is the `id` returned here.
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
   * Recover missed events.
   * Sends again every event of the subscribed types since `since` that this endpoint has not answered with 2xx.
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
   * Newest first, each with its attempts. A page has at most 200 attempts, so it may have fewer deliveries than `limit`. Kept for 30 days.
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
   * Of an account's movements in one asset over a period, with the balance before and after. The figures are final from the start; the files, CSV and XLSX, follow within seconds, those of long statements within minutes.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  createStatement(
    body: BodyOf<'createStatement'>,
    options?: CallOptions,
  ): Promise<ResultOf<'createStatement'>> {
    return this.send(
      {
        operation: 'createStatement',
        method: 'POST',
        path: '/v1/statements',
        repeats: 'by_key',
        body,
      },
      options,
    ) as Promise<ResultOf<'createStatement'>>;
  }

  /**
   * List statements.
   * The statements of accounts in which the token's member has a role, newest first.
   * Scope: `read`. Role in the account: viewer, operator, approver, admin, owner.
   */
  listStatements(
    query: QueryOf<'listStatements'> = {},
    options?: CallOptions,
  ): List<ResultOf<'listStatements'>> {
    return this.list(
      {
        operation: 'listStatements',
        method: 'GET',
        path: '/v1/statements',
        repeats: 'freely',
        query,
      },
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
      {
        operation: 'getStatement',
        method: 'GET',
        path: `/v1/statements/${segment(statementId)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getStatement'>>;
  }

  /**
   * Download a statement.
   * One line for the opening balance, one for each movement, oldest first, and one for the closing balance. CSV, or XLSX with `format=xlsx`. 404 unless the statement is ready.
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
   * Finds a request by the `Svc-Request-Id` of its response; errors have one, too. If no response arrived, repeat the request with the same `Idempotency-Key` instead. Shows requests by the same member that changed something or were meant to, or that failed because of a fault of the service. Kept for 30 days, and readable within a second or two of the response. The token needs a scope that the request itself accepts.
   * Scope: `read` or `lookup` or `transfers` or `bonuses` or `payouts` or `webhooks` or `access`.
   */
  getRequest(
    requestId: ParamOf<'getRequest', 'request_id'>,
    options?: CallOptions,
  ): Promise<ResultOf<'getRequest'>> {
    return this.send(
      {
        operation: 'getRequest',
        method: 'GET',
        path: `/v1/requests/${segment(requestId)}`,
        repeats: 'freely',
      },
      options,
    ) as Promise<ResultOf<'getRequest'>>;
  }
}
