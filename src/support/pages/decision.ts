import { counted } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import {
  type Decision,
  type DecisionContext,
  type EarlierPaid,
  MAX_EXAMINED,
  readDecisionContext,
} from '../../operations/decision-context.js';
import { type Content, html, type Html } from '../html.js';
import { namesOf } from '../reading/transfers.js';
import type { PageContext } from '../resources/resource-kind.js';
import { type Fact, facts, link, money, section, table } from './layout.js';

/** Shows what a person should know before deciding about a payment. */
export async function decisionSection(
  decision: Decision,
  tenantId: Uuid,
  { reader, now, time }: PageContext,
): Promise<Content> {
  const found = await readDecisionContext(reader, decision, now);
  if (found === undefined) return null;
  const { approved } = found;
  const people = approved.map(({ approval: { memberId } }) => ({
    tenantId,
    ...(memberId !== null && { createdBy: memberId }),
  }));
  const names = await namesOf(reader, people);
  const rows = table(approved, ({ approval, operation }) => [
    [
      'Approved',
      operation &&
        link(
          approval.resourceType === 'payout' ? 'payouts' : 'transfers',
          operation.id,
          money(operation),
        ),
      'number',
    ],
    [
      'By',
      approval.memberId === null
        ? `support: ${approval.actorClaimed}`
        : names.person(approval.memberId),
    ],
    ['Time', time(approval.createdAt)],
  ]);
  return section('context', 'Before you decide', [
    html`<div class="card">${facts(decisionFacts(decision, found, time))}</div>`,
    html`<p class="soft">Approvals for this account in the last 30 days:</p>`,
    approved.length > 0 ? rows : html`<p>None.</p>`,
  ]);
}

/** Returns what a person should know about the account and recipient of a payment. */
export function decisionFacts(
  { asset, recipient }: Decision,
  { balance, limit, paid }: NonNullable<DecisionContext>,
  time: (at: Instant | null) => Content,
): readonly Fact[] {
  const sum = (raw: bigint): Html => money({ raw, asset });
  const to =
    typeof recipient === 'string'
      ? 'this recipient'
      : 'a recipient of the same name, bank and last digits';
  const month = limit && limit.limits.month - limit.used;
  return [
    [
      'Available',
      html`${sum(balance.available)}
        <div class="soft">${sum(balance.held)} is held</div>`,
    ],
    [
      'Left this month',
      month !== undefined &&
        limit &&
        html`${sum(month > 0n ? month : 0n)}
          <div class="soft">of ${sum(limit.limits.month)}</div>`,
    ],
    ['Paid before', paid && paidText(paid, to, time(paid.lastAt))],
  ];
}

function paidText({ count, areAllExamined }: EarlierPaid, to: string, last: Content): Content {
  const newest = `the newest ${MAX_EXAMINED.toLocaleString('en')} entries`;
  if (count === 0) return areAllExamined ? `never to ${to}` : `not among ${newest}`;
  return html`${areAllExamined ? '' : 'at least '}${counted(count, 'time')} to ${to}, last ${last}`;
}
