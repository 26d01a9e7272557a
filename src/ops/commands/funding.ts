import { type Amount, EXAMPLE_ASSET, formatAmount } from '../../core/amount.js';
import { ApiError } from '../../core/errors.js';
import {
  type Adjustment,
  ADJUSTMENT_STATUSES,
  adjustments,
  payIns,
} from '../../db/entities/operations.js';
import {
  approveAdjustment,
  assertReferenceAndAmount,
  listAdjustments,
  proposeAdjustment,
  recordPayIn,
  rejectAdjustment,
} from '../../funding/service.js';
import { decidedRefusal } from '../../funding/rules.js';
import { adjustmentResource } from '../../funding/schemas.js';
import { namesOf } from '../../support/reading/transfers.js';
import { command, type Ops, query } from '../command.js';
import { named } from '../lookups.js';
import {
  amount,
  askedReason,
  asset,
  eitherOf,
  onlyTenant,
  option,
  optional,
  reasonOf,
  status,
  tenantOfAlias,
} from '../inputs.js';
import { PROGRAM } from '../help.js';
import { amountHint, boundsOf, pageInput, positionOf } from '../pages.js';
import { beginningWith, type Fields, rowFields } from '../fields.js';
import { capitalised } from '../output.js';
import { historyFields, readHistoryOf } from '../history.js';
import { EXAMPLE_ID, UNTIL_APPROVED } from './approvals.js';

const adjustmentFields = (adjustment: Adjustment): Fields =>
  adjustmentResource.presentToStaff('ops', adjustment);

const AMOUNT_INPUT = {
  account: option('<account> id, alias or phone', named.account),
  tenant: tenantOfAlias,
  amount: option('<amount> how much', amount),
  asset,
  reference: option(
    '<reference> your own name for it, unique in the tenant; repeating the command with the same reference moves nothing again',
  ),
};

function moves(
  { direction, ...amount }: Pick<Adjustment, 'direction'> & Amount,
  account: string,
): string {
  const [verb, way] = direction === 'in' ? ['put', 'into'] : ['take', 'out of'];
  return `${verb} ${formatAmount(amount)} ${way} ${account}`;
}

const happenedTo = (adjustment: Adjustment, account: string): string =>
  `The adjustment ${adjustment.reference} is ${adjustment.status}: ${moves(adjustment, account)}.`;

const tenantOfReference = optional('<tenant> id or name of its tenant; needed with a reference');

const REPLAYED = 'No money was moved: this was done before under the same reference.';

const DECIDED = { approve: 'posted', reject: 'rejected' } as const;

function decisionCommand(
  action: 'approve' | 'reject',
  summary: string,
  question: (adjustment: Adjustment, account: string) => string,
  decide: typeof approveAdjustment,
  replayed: string,
) {
  const showReplayed = ({ output }: Ops, adjustment: Adjustment): void => {
    output.one(adjustmentFields(adjustment));
    output.say(`${replayed} by ${adjustment.decidedBy ?? 'nobody'}.`);
  };
  return command({
    summary,
    examples: [`adjustments ${action} ${EXAMPLE_ID} --reason 'ticket 118' --as maria`],
    input: {
      adjustment: named.adjustment,
      tenant: tenantOfReference,
      reason: askedReason(),
    },
    needs: `adjustment.${action}`,
    run: async (ops, { adjustment, reason }) => {
      // What is done or refused in any case uses up no code.
      if (adjustment.status === DECIDED[action]) return showReplayed(ops, adjustment);
      if (adjustment.status !== 'proposed') throw new ApiError(decidedRefusal(adjustment));
      const { accountId, tenantId, proposedBy } = adjustment;
      const names = await namesOf(ops.database.reader, [adjustment]);
      const account = `the account of ${names.account(accountId)} of ${names.tenant(tenantId)}`;
      const why = await reasonOf(reason, ops.output);
      await ops.output.confirm(`${question(adjustment, account)}, proposed by ${proposedBy}`);
      const decided = await decide(ops, adjustment, await ops.by(), why);
      if (decided.replayed) return showReplayed(ops, decided.resource);
      ops.output.happened(happenedTo(decided.resource, account));
      ops.output.one(adjustmentFields(decided.resource));
    },
  });
}

export const payInCommands = {
  record: command({
    summary: 'credit an account with money that arrived from outside',
    examples: [
      `payins record --tenant acme --account '$ana' --amount 150000 --asset ${EXAMPLE_ASSET} --reference bank-2026-11-21-0042`,
    ],
    input: { ...AMOUNT_INPUT, description: optional("<text> what the account's owner reads") },
    needs: 'payin.record',
    run: async (ops, { account, reference, description = null, ...input }) => {
      const amount = { raw: input.amount(input.asset), asset: input.asset };
      assertReferenceAndAmount(reference, amount);
      await ops.output.confirm(`Put ${formatAmount(amount)} into the account of ${account.name}`);
      const { id: accountId, tenantId } = account;
      const payIn = { tenantId, accountId, amount, reference, description, by: await ops.by() };
      const { resource, replayed } = await recordPayIn(ops, payIn);
      ops.output.one({
        ...rowFields(payIns, resource, 'id reference accountId'),
        amount,
        ...rowFields(payIns, resource, 'description recordedBy createdAt'),
      });
      if (replayed) ops.output.say(REPLAYED);
    },
  }),
};

export const adjustmentCommands = {
  'propose <in|out>': command({
    summary: 'propose to add money to an account (in) or take it out (out); nothing moves yet',
    examples: [
      `adjustments propose out --tenant acme --account '$ana' --amount 50000 --asset ${EXAMPLE_ASSET} --reference case-118 --reason 'Paid in twice'`,
    ],
    input: {
      'in|out': eitherOf('in', 'out'),
      ...AMOUNT_INPUT,
      reason: askedReason("; the account's owner reads it with the movement"),
    },
    needs: 'adjustment.propose',
    run: async (ops, { account, reference, reason: given, ...input }) => {
      const amount = { raw: input.amount(input.asset), asset: input.asset };
      assertReferenceAndAmount(reference, amount);
      const reason = await reasonOf(given, ops.output);
      const direction = input['in|out'];
      const tenant = (await namesOf(ops.database.reader, [account])).tenant(account.tenantId);
      const of = `the account of ${account.name} of ${tenant}`;
      const what = moves({ direction, ...amount }, of);
      await ops.output.confirm(`Propose to ${what} (${reason})`, UNTIL_APPROVED);
      const { resource, replayed } = await proposeAdjustment(ops, {
        tenantId: account.tenantId,
        accountId: account.id,
        reference,
        reason,
        by: await ops.by(),
        direction,
        amount,
      });
      if (!replayed) ops.output.happened(happenedTo(resource, of));
      ops.output.one(adjustmentFields(resource));
      const next = `${PROGRAM} adjustments approve ${resource.id} --reason TEXT --as NAME`;
      ops.output.say(replayed ? REPLAYED : `A second person posts it: ${next}`);
    },
  }),
  'approve <adjustment>': decisionCommand(
    'approve',
    'post an adjustment that another person proposed',
    (adjustment, account) => `${capitalised(moves(adjustment, account))} (${adjustment.reason})`,
    approveAdjustment,
    'No money was moved: the adjustment was posted before',
  ),
  'reject <adjustment>': decisionCommand(
    'reject',
    'reject a proposal; its reference cannot be used again',
    ({ reference }, account) => `Reject the adjustment ${reference} of ${account}`,
    rejectAdjustment,
    'Nothing was changed: the adjustment was rejected before',
  ),
  'show <adjustment>': query({
    summary:
      'one adjustment, by its id, or by its reference in a tenant, with the notes of the staff',
    examples: ['adjustments show case-118 --tenant acme', `adjustments show ${EXAMPLE_ID}`],
    input: {
      adjustment: named.adjustment,
      tenant: tenantOfReference,
    },
    run: async ({ database: { reader }, clock, output }, { adjustment }) => {
      const { id, createdAt, decidedAt, accountId, tenantId } = adjustment;
      const [names, history] = await Promise.all([
        namesOf(reader, [adjustment]),
        readHistoryOf(reader, adjustment, [createdAt, decidedAt], clock()),
      ]);
      const { notes = null, taken_by = null, taken_at = null } = historyFields(history);
      output.one({
        tenant: names.tenant(tenantId),
        account: names.account(accountId),
        ...adjustmentFields(adjustment),
        ...{ notes, taken_by, taken_at },
      });
      output.say(`Its actions and refusals: ${PROGRAM} audit-log --subject ${id}`);
    },
  }),
  list: query({
    summary: 'adjustments of all tenants or of one, newest first',
    examples: ['adjustments list --status proposed', 'adjustments list --tenant acme'],
    input: { tenant: onlyTenant, status: status(ADJUSTMENT_STATUSES), ...pageInput },
    run: async ({ database: { reader }, output }, { tenant, status, ...page }) => {
      const { cursor, limit: most } = page;
      const tenantId = tenant?.id ?? null;
      const own = { ...(tenant && { tenantId: tenant.id }) };
      const before = await positionOf(reader, adjustments, own, cursor);
      const bounds = { ...boundsOf(page), before };
      const found = await listAdjustments(reader, tenantId, status ?? null, most + 1, bounds);
      const names = await namesOf(reader, found);
      const rows = found.map((one) =>
        beginningWith('id reference status direction amount account tenant reason', {
          tenant: names.tenant(one.tenantId),
          account: names.account(one.accountId),
          ...adjustmentFields(one),
        }),
      );
      output.newest(rows, most, 'No results.', {
        detailsOnly: ['account_id', 'decided_at', ...(tenantId === null ? [] : ['tenant'])],
        hintWhenNone: amountHint(page.amount),
      });
    },
  }),
};
