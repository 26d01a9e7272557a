import { newId, parseUuid, type Uuid } from '../../core/ids.js';
import type { StaffActionName, StaffIdentity } from '../../staff/rules.js';
import { DeskError } from '../failures.js';
import { isMarkOf, markOf } from '../forms.js';
import { html, type Html } from '../html.js';
import type { DeskDeps, SignedInPerson } from '../deps.js';

interface ActionRequest {
  readonly by: StaffIdentity;
  /** Reason of 1 to 140 characters. */
  readonly reason: string;
  /** Id from the form. A form that is sent twice performs its action once. */
  readonly actId: Uuid;
  readonly form: URLSearchParams;
}

export interface DeskAction<Resource> {
  readonly verb: string;
  readonly name: StaffActionName;
  readonly label: string;
  /** Explanation for people who have not performed the action before. */
  readonly explanation: string;
  /** Set if the action ends or abandons something. */
  readonly isStop?: true;
  readonly fields?: (resource: Resource, given: URLSearchParams | null) => Html;
  /**
   * Whether the action is possible now, so that its button is shown. The service decides when it is
   * performed.
   */
  readonly isOpen: (resource: Resource, by: StaffIdentity) => boolean;
  /** Set if the service itself records refusals. */
  readonly recordsRefusals?: true;
  /** Performs the action. Throws `ApiError` if it is refused. */
  readonly run: (deps: DeskDeps, resource: Resource, request: ActionRequest) => Promise<void>;
}

/** Ids of a resource for the audit log. */
export interface ActionSubject {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly subjectType: string;
}

const ACTION_FIELD = 'act';

/**
 * Returns a hidden field with the id of a new action. The id cannot be forged or used with another
 * form.
 */
export function actionField({ secret }: SignedInPerson, verb: string, subject: string): Html {
  const id = newId();
  return html`<input
    type="hidden"
    name="${ACTION_FIELD}"
    value="${id}.${markOf(secret, `${verb}/${subject}/${id}`)}"
  />`;
}

/** Returns the action's id. Throws `DeskError` if the form is not one of this page. */
export function actionIdOf(
  form: URLSearchParams,
  { secret }: SignedInPerson,
  verb: string,
  subject: string,
): Uuid {
  const [given = '', mark = ''] = (form.get(ACTION_FIELD) ?? '').split('.');
  const id = parseUuid(given);
  if (id === null || !isMarkOf(mark, secret, `${verb}/${subject}/${given}`))
    throw new DeskError(
      403,
      'Not accepted',
      'This form does not belong to this page. Reload the page.',
    );
  return id;
}

/**
 * Returns a hidden field with the id of the submitted form, to repeat an action whose result is
 * unknown.
 */
export function repeatedActionField(form: URLSearchParams): Html {
  return html`<input
    type="hidden"
    name="${ACTION_FIELD}"
    value="${form.get(ACTION_FIELD) ?? ''}"
  />`;
}
