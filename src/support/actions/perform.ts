import { hash } from 'node:crypto';
import { type AuditEntry, recordOnce, wasPerformed } from '../../access/audit-log.js';
import { cleanText, MAX_REASON } from '../../core/checked-text.js';
import { compareText } from '../../core/collections.js';
import { ApiError, type Refusal } from '../../core/errors.js';
import type { Uuid } from '../../core/ids.js';
import { UnknownKey } from '../../core/fingerprint.js';
import { isUnavailable } from '../../db/failures.js';
import { asksForCode, STAFF_ACTIONS, type StaffActionName } from '../../staff/rules.js';
import { verifyClaim } from '../../staff/verification.js';
import type { DeskDeps, SignedInPerson } from '../deps.js';
import { codeOf } from '../forms.js';
import { actionIdOf, type ActionSubject, type DeskAction } from './action.js';

/** Result of a form. If it is `unknown`, sending the same form again shows the result. */
type ActionResult = { readonly outcome: 'done' } | FailedResult;
export type FailedResult =
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'unknown'; readonly fault: unknown };

/** Actions in progress by id, so that a double click acts once. */
const inProgress = new Map<string, Promise<ActionResult>>();

/** A form that a person sent for an action on a resource. */
interface Submission<Resource> {
  readonly action: DeskAction<Resource>;
  readonly resource: Resource;
  readonly subject: ActionSubject;
  readonly person: SignedInPerson;
  readonly form: URLSearchParams;
}

/** Performs the action of a form once, and records a refusal. Throws `DeskError`. */
export function perform<Resource>(
  deps: DeskDeps,
  submission: Submission<Resource>,
): Promise<ActionResult> {
  const { action, subject, person, form } = submission;
  const actionId = actionIdOf(form, person, action.verb, subject.id);
  const known = inProgress.get(actionId);
  if (known !== undefined) return known;
  const running = performOnce(deps, submission, actionId).finally(() =>
    inProgress.delete(actionId),
  );
  inProgress.set(actionId, running);
  return running;
}

async function performOnce<Resource>(
  deps: DeskDeps,
  submission: Submission<Resource>,
  actionId: Uuid,
): Promise<ActionResult> {
  const { action, resource, subject, person, form } = submission;
  const { identity: by } = person;
  const cleaned = cleanText(form.get('reason') ?? '', MAX_REASON);
  if (!('clean' in cleaned)) return { outcome: 'refused', refusal: NO_REASON };
  try {
    const refusal = await codeRefusal(deps, submission, actionId);
    if (refusal !== null) return { outcome: 'refused', refusal };
    if (await wasPerformed(deps.database.current, actionId)) return { outcome: 'done' };
    await action.run(deps, resource, { by, reason: cleaned.clean, actionId, form });
    return { outcome: 'done' };
  } catch (failure) {
    // A fault of the service may have occurred before or after the action.
    if (!(failure instanceof ApiError)) {
      const isAway = isUnavailable(failure) || failure instanceof UnknownKey;
      return { outcome: 'unknown', fault: isAway ? null : failure };
    }
    if (failure.refusal.code === 'ledger_unavailable') return { outcome: 'unknown', fault: null };
    const details = { refused: failure.message };
    if (action.recordsRefusals !== true)
      await recordOnce(deps, actionId, by, { ...refusedAction(action.name, subject), details });
    return { outcome: 'refused', refusal: failure.refusal };
  }
}

const NO_REASON: Refusal = {
  code: 'invalid_field',
  message: `a reason of 1 to ${MAX_REASON} characters is needed, in one line`,
};

/** Uses up the code, if one is required. Records and returns the refusal of a wrong code. */
async function codeRefusal<Resource>(
  deps: DeskDeps,
  { action: { name }, subject, person: { identity }, form }: Submission<Resource>,
  actionId: Uuid,
): Promise<Refusal | null> {
  if (!asksForCode(name, 'support')) return null;
  const rule = STAFF_ACTIONS[name];
  const verified = await verifyClaim(deps, {
    name: identity.name,
    code: codeOf(form),
    channel: 'support',
    right: rule.right,
    twoPeople: 'twoPeople' in rule,
    receivedAt: deps.clock(),
    purpose: `support/${identity.id}/${name}/${subject.id}/${actionId}/${contentOf(form)}`,
    refusalEntry: refusedAction(name, subject),
  });
  if ('refusal' in verified) return verified.refusal;
  if (verified.identity.id !== identity.id)
    throw new Error('the code belongs to another person than the session');
  return null;
}

/** Returns a hash of the form. A code is valid for one content only. */
function contentOf(form: URLSearchParams): string {
  const fields = [...form].filter(([field]) => field !== 'code' && field !== 'form_token');
  fields.sort(([one], [other]) => compareText(one, other));
  return hash('sha256', JSON.stringify(fields), 'hex');
}

function refusedAction(
  name: StaffActionName,
  { id: subjectId, tenantId, subjectType }: ActionSubject,
): AuditEntry {
  return { tenantId, action: `${name}_refused`, subjectType, subjectId, details: {} };
}
