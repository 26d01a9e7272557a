import { newId, parseUuid, type Uuid } from '../../core/ids.js';
import type { StaffActName, StaffIdentity } from '../../staff/rules.js';
import { DeskError } from '../failures.js';
import { isMarkOf, markOf } from '../forms.js';
import { html, type Html } from '../html.js';
import type { DeskDeps, SignedInPerson } from '../deps.js';

interface Asked {
  readonly by: StaffIdentity;
  /** 1 to 140 characters. */
  readonly reason: string;
  /** From the form: sent twice, it acts once. */
  readonly actId: Uuid;
  readonly form: URLSearchParams;
}

export interface DeskAct<Resource> {
  readonly verb: string;
  readonly name: StaffActName;
  readonly label: string;
  /** What it does, for people who have not used it before. */
  readonly explanation: string;
  /** It ends or abandons something. */
  readonly isStop?: true;
  readonly fields?: (resource: Resource, given: URLSearchParams | null) => Html;
  /** Whether it makes sense now, and so has a button. The service decides. */
  readonly isOpen: (resource: Resource, by: StaffIdentity) => boolean;
  /** The service itself records what it refuses to the staff. */
  readonly recordsRefusals?: true;
  /** Throws ApiError if it is refused. */
  readonly run: (deps: DeskDeps, resource: Resource, asked: Asked) => Promise<void>;
}

/** What the audit log and the acts need from any resource. */
export interface ActSubject {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly subjectType: string;
}

const ACT_FIELD = 'act';

/** A new act for this form. It cannot be forged, nor used with another form. */
export function actField({ secret }: SignedInPerson, verb: string, subject: string): Html {
  const id = newId();
  return html`<input
    type="hidden"
    name="${ACT_FIELD}"
    value="${id}.${markOf(secret, `${verb}/${subject}/${id}`)}"
  />`;
}

/** Throws DeskError. */
export function actOf(
  form: URLSearchParams,
  { secret }: SignedInPerson,
  verb: string,
  subject: string,
): Uuid {
  const [given = '', mark = ''] = (form.get(ACT_FIELD) ?? '').split('.');
  const id = parseUuid(given);
  if (id === null || !isMarkOf(mark, secret, `${verb}/${subject}/${given}`))
    throw new DeskError(
      403,
      'Not accepted',
      'This form is not one of this page. Open the page again.',
    );
  return id;
}

/** The same form again, for an act whose result is unknown. */
export function sameActField(form: URLSearchParams): Html {
  return html`<input type="hidden" name="${ACT_FIELD}" value="${form.get(ACT_FIELD) ?? ''}" />`;
}
