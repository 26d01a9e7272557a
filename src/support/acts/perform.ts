import { hash } from 'node:crypto';
import { type Act, recordOnce, wasDone } from '../../access/audit-log.js';
import { cleanText, MAX_REASON } from '../../core/checked-text.js';
import { compareText } from '../../core/collections.js';
import { ApiError, type Refusal } from '../../core/errors.js';
import type { Uuid } from '../../core/ids.js';
import { UnknownKey } from '../../core/fingerprint.js';
import { isUnavailable } from '../../db/failures.js';
import {
  asksForCode,
  STAFF_ACTS,
  type StaffActName,
  type StaffIdentity,
} from '../../staff/rules.js';
import { verifyClaim } from '../../staff/verification.js';
import type { DeskDeps, SignedInPerson } from '../deps.js';
import { actOf, type ActSubject, type DeskAct } from './act.js';

/**
 * Result of a form. `unknown` means that the database did not respond, and that repeating the same
 * form shows the result.
 */
type Performed =
  | { readonly came: 'done' }
  | { readonly came: 'refused'; readonly refusal: Refusal }
  | { readonly came: 'unknown'; readonly fault: unknown };

/**
 * Actions in progress by id, so that the second request of a double click gets the result of the
 * first.
 */
const underWay = new Map<string, Promise<Performed>>();

/**
 * Performs the action of a form once: checks the code, calls the service, and records a refusal.
 * Throws `DeskError`.
 */
export function perform<Resource>(
  deps: DeskDeps,
  act: DeskAct<Resource>,
  resource: Resource,
  subject: ActSubject,
  { person, form }: { readonly person: SignedInPerson; readonly form: URLSearchParams },
): Promise<Performed> {
  const actId = actOf(form, person, act.verb, subject.id);
  const known = underWay.get(actId);
  if (known !== undefined) return known;
  const running = performOnce(deps, act, resource, subject, { person, form, actId }).finally(() =>
    underWay.delete(actId),
  );
  underWay.set(actId, running);
  return running;
}

interface Given {
  readonly person: SignedInPerson;
  readonly form: URLSearchParams;
  readonly actId: Uuid;
}

async function performOnce<Resource>(
  deps: DeskDeps,
  act: DeskAct<Resource>,
  resource: Resource,
  subject: ActSubject,
  { person: { identity }, form, actId }: Given,
): Promise<Performed> {
  const cleaned = cleanText(form.get('reason') ?? '', MAX_REASON);
  if (!('clean' in cleaned)) return { came: 'refused', refusal: NO_REASON };
  try {
    const refusal = await codeRefusal(deps, act.name, subject, { identity, form, actId });
    if (refusal !== null) return { came: 'refused', refusal };
    if (await wasDone(deps.database.current, actId)) return { came: 'done' };
    await act.run(deps, resource, { by: identity, reason: cleaned.clean, actId, form });
    return { came: 'done' };
  } catch (failure) {
    // A fault of the service may have occurred before or after the action.
    if (!(failure instanceof ApiError))
      return { came: 'unknown', fault: isAway(failure) ? null : failure };
    if (failure.refusal.code === 'ledger_unavailable') return { came: 'unknown', fault: null };
    const details = { refused: failure.message };
    if (act.recordsRefusals !== true)
      await recordOnce(deps, actId, identity, { ...refusedAct(act.name, subject), details });
    return { came: 'refused', refusal: failure.refusal };
  }
}

const NO_REASON: Refusal = {
  code: 'invalid_field',
  message: `a reason of 1 to ${MAX_REASON} characters is needed, in one line`,
};

function isAway(failure: unknown): boolean {
  return isUnavailable(failure) || failure instanceof UnknownKey;
}

/**
 * Returns null if no code is required, or if the code is correct, and marks it as used for this
 * action. Otherwise records and returns the refusal.
 */
async function codeRefusal(
  deps: DeskDeps,
  name: StaffActName,
  subject: ActSubject,
  { identity, form, actId }: { identity: StaffIdentity; form: URLSearchParams; actId: Uuid },
): Promise<Refusal | null> {
  if (!asksForCode(name, 'support')) return null;
  const rule: {
    readonly right: (typeof STAFF_ACTS)[StaffActName]['right'];
    readonly twoPeople?: true;
  } = STAFF_ACTS[name];
  const verified = await verifyClaim(deps, {
    name: identity.name,
    code: (form.get('code') ?? '').replaceAll(/\s/g, ''),
    door: 'support',
    right: rule.right,
    twoPeople: rule.twoPeople === true,
    receivedAt: deps.clock(),
    purpose: `support/${identity.id}/${name}/${subject.id}/${actId}/${contentOf(form)}`,
    refusedAct: refusedAct(name, subject),
  });
  if ('refusal' in verified) return verified.refusal;
  if (verified.identity.id !== identity.id)
    throw new Error('a code proved somebody else than who is signed in');
  return null;
}

/** Returns a hash of the form. A code is valid for one content only. */
function contentOf(form: URLSearchParams): string {
  const fields = [...form].filter(([field]) => field !== 'code' && field !== 'form_token');
  return hash(
    'sha256',
    JSON.stringify(fields.sort(([one], [other]) => compareText(one, other))),
    'hex',
  );
}

function refusedAct(name: StaffActName, { id: subjectId, tenantId, subjectType }: ActSubject): Act {
  return { tenantId, action: `${name}_refused`, subjectType, subjectId, details: {} };
}
