import { hash } from 'node:crypto';
import { type AuditEntry, recordOnce, wasPerformed } from '../../access/audit-log.js';
import { cleanLines, cleanText, faultInWords, MAX_REASON } from '../../core/checked-text.js';
import { compareText } from '../../core/collections.js';
import { ApiError, type Refusal } from '../../core/errors.js';
import { UnknownKey } from '../../core/fingerprint.js';
import { idFromDigest, newId, parseUuid, timeOfId, type Uuid } from '../../core/ids.js';
import { isUnavailable } from '../../db/failures.js';
import {
  asksForCode,
  STAFF_ACTIONS,
  type StaffActionName,
  type StaffIdentity,
} from '../../staff/rules.js';
import { MAX_NOTE } from '../../staff/remarks.js';
import { verifyPerson } from '../../staff/verification.js';
import { type DeskDeps, DeskError, type SignedInPerson } from '../desk.js';
import { AUTHOR_FIELD, codeOf, isHmacOf, hmacOf } from '../forms.js';
import { type Content, html, type Html } from '../html.js';
import { hiddenField } from '../pages/layout.js';
import type { Names } from '../reading/transfers.js';

interface ActionRequest {
  readonly by: StaffIdentity;
  /** Reason of 1 to 140 characters, note of 1 to 2,000, or ''. */
  readonly reason: string;
  /** Id of the form. A form that is sent twice performs its action once. */
  readonly actionId: Uuid;
  readonly form: URLSearchParams;
  readonly subject: ActionSubject;
}

/** A text, or one that depends on the resource. */
type Text<Of extends readonly unknown[]> = string | ((...of: Of) => string);

export function textOf<Of extends readonly unknown[]>(text: Text<Of>, ...of: Of): string {
  return typeof text === 'string' ? text : text(...of);
}

export interface DeskAction<Resource> {
  readonly verb: string;
  /** Null if any of the staff may do it, because it decides nothing. */
  readonly name: StaffActionName | null;
  /** The text that the person writes: a reason if absent. */
  readonly writes?: 'note' | 'nothing';
  readonly label: Text<[Resource]>;
  readonly explanation: Text<[Resource]>;
  /** Sentences about what was done and comes next, for the resource as it is afterwards. */
  readonly done: Text<[after: Resource, names: Names]>;
  /** Set if the action ends or abandons something; its button is then red. */
  readonly endsSomething?: true;
  readonly fields?: (resource: Resource, given: URLSearchParams | null) => Content;
  /** Whether the button is shown. The service decides again when the action is performed. */
  readonly isOffered: (resource: Resource, by: StaffIdentity) => boolean;
  /** Throws `invalid_field`, before a code is used up. */
  readonly check?: (resource: Resource, form: URLSearchParams) => unknown;
  /** Set if the service itself records refusals. */
  readonly recordsRefusals?: true;
  /** Throws `ApiError` if the action is refused. */
  readonly run: (deps: DeskDeps, resource: Resource, request: ActionRequest) => Promise<void>;
}

/** Whether the form of the action asks for a code. */
export function needsCode({ name }: Pick<DeskAction<never>, 'name'>): boolean {
  return name !== null && asksForCode(name, 'support');
}

export interface ActionSubject {
  readonly id: Uuid;
  /** Null for a set of resources. */
  readonly tenantId: Uuid | null;
  readonly subjectType: string;
}

const ACTION_FIELD = 'act';

/**
 * Returns hidden fields with the id of an action, which cannot be forged or used with another form,
 * and with the person: a new id, or that of a form whose result is unknown and which is sent again.
 */
export function actionFields(
  { secret, identity }: SignedInPerson,
  verb: string,
  subject: string,
  repeated: URLSearchParams | null = null,
): Html {
  const id = newId();
  const made = `${id}.${hmacOf(secret, `${verb}/${subject}/${id}`)}`;
  const value = repeated === null ? made : (repeated.get(ACTION_FIELD) ?? '');
  return html`${hiddenField(ACTION_FIELD, value)}${hiddenField(AUTHOR_FIELD, identity.id)}`;
}

/** Returns the id of a form's action, or null if the form was not made for this subject. */
export function actionIdOf(
  form: URLSearchParams,
  { secret }: SignedInPerson,
  verb: string,
  subject: string,
): Uuid | null {
  const [given = '', mark = ''] = (form.get(ACTION_FIELD) ?? '').split('.');
  const id = parseUuid(given);
  return id !== null && isHmacOf(mark, secret, `${verb}/${subject}/${given}`) ? id : null;
}

/** The id in a set's action of one of its resources, the same whenever the form is sent. */
function itemActionId(setActionId: Uuid, itemId: Uuid): Uuid {
  return idFromDigest(timeOfId(setActionId), hash('sha256', setActionId + itemId, 'buffer'));
}

/** If `unknown`, sending the form again shows the result. A `fault` of null needs no log entry. */
export type ActionResult = { readonly outcome: 'done' } | FailedResult;
export type FailedResult =
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'unknown'; readonly fault: unknown };

/** Actions in progress by id, so that a double click acts once. */
const inProgress = new Map<string, Promise<readonly ActionResult[]>>();

interface ActionItem<Resource> {
  readonly resource: Resource;
  readonly subject: ActionSubject;
}

/** A form that a person sent for an action on a resource, or on each resource of a set. */
interface Submission<Resource> {
  readonly action: DeskAction<Resource>;
  readonly items: readonly ActionItem<Resource>[];
  /** Digest of the set that the person saw. Null for a single resource. */
  readonly digest: string | null;
  readonly person: SignedInPerson;
  readonly form: URLSearchParams;
}

/**
 * Performs the action of a form once on each of its resources, and records refusals. Returns the
 * result of each. Throws `DeskError` for a form of another resource or set.
 */
export function perform<Resource>(
  deps: DeskDeps,
  submission: Submission<Resource>,
): Promise<readonly ActionResult[]> {
  const { action, person, form } = submission;
  const actionId = actionIdOf(form, person, action.verb, boundTo(submission));
  if (actionId === null)
    throw new DeskError(
      403,
      'Not accepted',
      'This form does not belong to this page. Reload the page.',
    );
  const known = inProgress.get(actionId);
  if (known !== undefined) return known;
  const running = performOnce(deps, submission, actionId).finally(() =>
    inProgress.delete(actionId),
  );
  inProgress.set(actionId, running);
  return running;
}

/** Returns what the form and its code are bound to. */
function boundTo<Resource>({ items, digest }: Submission<Resource>): string {
  return digest ?? items[0]?.subject.id ?? '';
}

async function performOnce<Resource>(
  deps: DeskDeps,
  submission: Submission<Resource>,
  actionId: Uuid,
): Promise<readonly ActionResult[]> {
  const { action, items, digest, form } = submission;
  const cleaned = cleanedText(action, form.get('reason') ?? '');
  const all = (result: ActionResult): readonly ActionResult[] => items.map(() => result);
  if (!('clean' in cleaned)) return all({ outcome: 'refused', refusal: cleaned });
  try {
    for (const { resource } of items) action.check?.(resource, form);
    const refusal = await codeRefusal(deps, submission, actionId);
    if (refusal !== null) return all({ outcome: 'refused', refusal });
  } catch (failure) {
    if (failure instanceof ApiError && failure.refusal.code === 'invalid_field')
      return all({ outcome: 'refused', refusal: failure.refusal });
    return all(unknownResult(failure));
  }
  return Promise.all(
    items.map((item) => {
      const id = digest === null ? actionId : itemActionId(actionId, item.subject.id);
      return performItem(deps, submission, item, cleaned.clean, id);
    }),
  );
}

async function performItem<Resource>(
  deps: DeskDeps,
  { action, person: { identity: by }, form }: Submission<Resource>,
  { resource, subject }: ActionItem<Resource>,
  reason: string,
  actionId: Uuid,
): Promise<ActionResult> {
  try {
    if (await wasPerformed(deps.database.current, actionId)) return { outcome: 'done' };
    await action.run(deps, resource, { by, reason, actionId, form, subject });
    return { outcome: 'done' };
  } catch (failure) {
    if (!(failure instanceof ApiError)) return unknownResult(failure);
    if (failure.refusal.code === 'ledger_unavailable') return { outcome: 'unknown', fault: null };
    const details = { reason, refused: failure.message };
    if (action.name !== null && action.recordsRefusals !== true)
      await recordOnce(deps, actionId, by, { ...refusedAction(action.name, subject), details });
    return { outcome: 'refused', refusal: failure.refusal };
  }
}

/** A fault of the service may have occurred before or after the action. */
function unknownResult(failure: unknown): ActionResult {
  const isExpected = isUnavailable(failure) || failure instanceof UnknownKey;
  return { outcome: 'unknown', fault: isExpected ? null : failure };
}

/** Returns what the person wrote, or why it is refused. */
function cleanedText(
  { writes }: Pick<DeskAction<never>, 'writes'>,
  text: string,
): { readonly clean: string } | Refusal {
  if (writes === 'nothing') return { clean: '' };
  const noun = writes ?? 'reason';
  const max = writes === 'note' ? MAX_NOTE : MAX_REASON;
  const cleaned = writes === 'note' ? cleanLines(text, max) : cleanText(text, max);
  if ('clean' in cleaned) return cleaned;
  const message =
    cleaned.fault === 'too_short'
      ? `a ${noun} of 1 to ${max} characters is needed`
      : `the ${noun} is not valid: ${faultInWords(cleaned.fault, max)}`;
  return { code: 'invalid_field', message };
}

/** Uses up the code, if one is required. Records and returns the refusal of a wrong code. */
async function codeRefusal<Resource>(
  deps: DeskDeps,
  submission: Submission<Resource>,
  actionId: Uuid,
): Promise<Refusal | null> {
  const { action, items, digest, person, form } = submission;
  const { name } = action;
  const { identity } = person;
  const [first] = items;
  if (first === undefined || name === null || !needsCode(action)) return null;
  const { subjectType } = first.subject;
  const subject = digest === null ? first.subject : { id: actionId, tenantId: null, subjectType };
  const rule = STAFF_ACTIONS[name];
  const verified = await verifyPerson(deps, {
    name: identity.name,
    code: codeOf(form),
    channel: 'support',
    right: rule.right,
    twoPeople: 'twoPeople' in rule,
    receivedAt: deps.clock(),
    purpose: `support/${identity.id}/${name}/${boundTo(submission)}/${actionId}/${contentOf(form)}`,
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
