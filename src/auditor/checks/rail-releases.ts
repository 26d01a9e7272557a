import { groupBy } from '../../core/collections.js';
import type { Instant } from '../../core/instant.js';
import { nullable, oneOf, string, time, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type Payout, REPORT_STATUSES } from '../../db/entities/payouts.js';
import { rowParser } from '../../db/table.js';
import { type AuditRun, idList } from '../scan.js';

/** Reports after which two people may give money back, by what they decided. */
const EVIDENCE: Readonly<Record<string, readonly string[]>> = {
  failed: ['failed', 'voided'],
  returned: ['failed', 'voided', 'completed', 'returned'],
};

const parseMessage = rowParser({
  payoutId: uuid,
  decisionId: uuid,
  decided: oneOf(REPORT_STATUSES),
  decidedAt: time,
  kind: string,
  effect: string,
  reported: nullable(oneOf(REPORT_STATUSES)),
  railReference: nullable(string),
  at: time,
});
type Message = ReturnType<typeof parseMessage>;

/**
 * Checks that money which two people gave back was not on its way: at their decision, the rail's
 * last report of this payment denied it, or said that it had been paid, or the rail could not void.
 */
export async function checkReleases(
  audit: AuditRun,
  reader: Reader,
  slice: readonly Payout[],
): Promise<void> {
  const rows = await reader.query(
    `SELECT d.payout_id, d.id AS decision_id, d.reported AS decided, d.at AS decided_at,
       e.kind, e.effect, e.reported, e.rail_reference, e.at
     FROM payout_rail_events d FORCE INDEX (payout)
     JOIN payout_rail_events e FORCE INDEX (payout) ON e.payout_id=d.payout_id AND e.at<=d.at
     WHERE d.payout_id IN (${idList(slice.map(({ id }) => id))}) AND d.kind='resolution'
       AND d.reported IN ('failed','returned') AND e.kind NOT IN ('statement','resolution')
     ORDER BY e.at, e.id`,
  );
  const payouts = new Map(slice.map((payout) => [payout.id, payout]));
  for (const messages of groupBy(rows.map(parseMessage), ({ decisionId }) => decisionId).values()) {
    const [{ payoutId, decided } = { payoutId: null, decided: null }] = messages;
    const payout = payoutId === null ? undefined : payouts.get(payoutId);
    // Retention removes older rows first. If the submission is still stored, so is the evidence.
    const isComplete = messages.some(({ effect }) => effect === 'sent');
    if (payout === undefined || !isComplete || isJustified(payout, messages)) continue;
    const message = `two people gave its money back as ${String(decided)}, although its rail had not denied the payment`;
    audit.report('payout_rail_word', `payout ${payout.id}`, message);
  }
}

function isJustified(payout: Payout, messages: readonly Message[]): boolean {
  const own = messages.filter((message) => isOwn(payout, message));
  const last = own.findLast(({ reported }, index) => counts(reported, own.slice(0, index)));
  const [{ decided, decidedAt } = { decided: '', decidedAt: null }] = messages;
  const lastReport = last?.reported ?? '';
  if (EVIDENCE[decided]?.includes(lastReport) === true) return true;
  const wasPaid = lastReport === 'completed' || lastReport === 'returned';
  return !wasPaid && messages.some((message) => cannotVoid(message, decidedAt));
}

function isOwn({ railReference: known, submittedAt }: Payout, message: Message): boolean {
  const { at, railReference } = message;
  const isNamed = railReference === null || known === null || railReference === known;
  return isNamed && submittedAt !== null && at >= submittedAt;
}

/** An acceptance counts only after a denial. */
function counts(reported: Message['reported'], earlier: readonly Message[]): boolean {
  if (reported === null || reported === 'unknown') return false;
  return (
    reported !== 'accepted' ||
    earlier.some((one) => one.reported === 'failed' || one.reported === 'voided')
  );
}

function cannotVoid({ kind, effect, reported, at }: Message, decidedAt: Instant | null): boolean {
  return kind === 'void' && effect === 'noted' && reported === null && at === decidedAt;
}
