import { newId, parseUuid, type Uuid } from '../../core/ids.js';
import type { StaffActionName, StaffIdentity } from '../../staff/rules.js';
import type { Names } from '../reading/transfers.js';
import { DeskError } from '../failures.js';
import { isMarkOf, markOf } from '../forms.js';
import type { Html } from '../html.js';
import { hiddenField } from '../pages/layout.js';
import type { DeskDeps, SignedInPerson } from '../deps.js';

interface ActionRequest {
  readonly by: StaffIdentity;
  /** Reason of 1 to 140 characters. */
  readonly reason: string;
  /** Id of the form. A form that is sent twice performs its action once. */
  readonly actionId: Uuid;
  readonly form: URLSearchParams;
}

export interface DeskAction<Resource> {
  readonly verb: string;
  readonly name: StaffActionName;
  readonly label: string;
  readonly explanation: string;
  /** Words that replace those above for this resource. */
  readonly wordsFor?: (
    resource: Resource,
  ) => Partial<Record<'label' | 'explanation', string>> | undefined;
  /** Sentences about what was done and comes next, for the resource as it is afterwards. */
  readonly done: string | ((after: Resource, names: Names) => string);
  /** Set if the action ends or abandons something. */
  readonly isStop?: true;
  readonly fields?: (resource: Resource, given: URLSearchParams | null) => Html;
  /** Whether the button is shown. The service decides when the action is performed. */
  readonly isOpen: (resource: Resource, by: StaffIdentity) => boolean;
  /** Set if the service itself records refusals. */
  readonly recordsRefusals?: true;
  /** Throws `ApiError` if the action is refused. */
  readonly run: (deps: DeskDeps, resource: Resource, request: ActionRequest) => Promise<void>;
}

export interface ActionSubject {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly subjectType: string;
}

const ACTION_FIELD = 'act';

/**
 * Returns a hidden field with the id of an action, which cannot be forged or used with another form:
 * a new id, or that of a form whose result is unknown and which is sent again.
 */
export function actionField(
  { secret }: SignedInPerson,
  verb: string,
  subject: string,
  repeated: URLSearchParams | null = null,
): Html {
  const id = newId();
  const made = `${id}.${markOf(secret, `${verb}/${subject}/${id}`)}`;
  const value = repeated === null ? made : (repeated.get(ACTION_FIELD) ?? '');
  return hiddenField(ACTION_FIELD, value);
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
