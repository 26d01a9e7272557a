import { MAX_REASON } from '../../core/checked-text.js';
import { MAX_NOTE } from '../../staff/remarks.js';
import {
  actionFields,
  type DeskAction,
  type FailedResult,
  needsCode,
  textOf,
} from '../actions/action.js';
import type { SignedInPerson } from '../desk.js';
import { type Content, element, html, type Html } from '../html.js';
import type { ResourceKind } from '../resources/resource-kind.js';
import { codeField, field, pathOf, tokenField } from './layout.js';
import { itemQuery, type ListPlace } from './waiting.js';

/** Forms of the actions on a resource. */

/**
 * The form of an action that is open on the page. `form`: what was written in it. `result`: why it
 * was refused, or that its result is unknown.
 */
export interface OpenForm {
  readonly verb: string;
  readonly form: URLSearchParams | null;
  readonly result: FailedResult | null;
}

export interface ShownResource<Resource> {
  readonly kind: ResourceKind<Resource>;
  readonly resource: Resource;
  readonly person: SignedInPerson;
  readonly place: ListPlace | null;
  /** Shown above the button of each action that decides something. */
  readonly warning?: Content;
}

export function pathOfShown<Resource>({ kind, resource }: ShownResource<Resource>): string {
  return pathOf(kind.name, kind.rowOf(resource).id);
}

export function actionForm<Resource>(
  shown: ShownResource<Resource>,
  action: DeskAction<Resource>,
  own: OpenForm | null,
): Html {
  const { resource, person, place } = shown;
  const given = own?.form ?? null;
  const repeated = own?.result?.outcome === 'unknown' ? own.form : null;
  const path = pathOfShown(shown);
  const follow = place === null ? '' : itemQuery(place.kind, place.query);
  const mark = actionFields(person, action.verb, shown.kind.rowOf(resource).id, repeated);
  const label = textOf(action.label, resource);
  const hidden = [tokenField(person.secret), mark];
  if (action.writes === 'nothing')
    return html`<form method="post" action="${path}/${action.verb}${follow}">
      ${hidden} <button class="quiet">${label}</button>
    </form>`;
  const form = html`<summary>${label}</summary>
    <p class="soft">${textOf(action.explanation, resource)}</p>
    <form class="stacked" method="post" action="${path}/${action.verb}${follow}">
      ${hidden} ${action.fields?.(resource, given)}
      ${action.writes === 'note' ? noteField(given) : reasonField(given)}
      ${needsCode(action) && codeField(CODE_HINT)}${action.name !== null && shown.warning}
      <div><button class="${action.endsSomething === true ? 'stop' : 'go'}">${label}</button></div>
    </form>`;
  // The key that opens the form.
  const isApproval = action.verb === 'approve' || action.verb === 'apply';
  const look = isApproval ? 'go' : action.endsSomething === true && 'stop';
  const attributes = { 'data-key': isApproval && 'a', class: look, open: own !== null };
  return element('details', attributes, form);
}

export function reasonField(given: URLSearchParams | null): Html {
  return textField('Reason', MAX_REASON, given, false);
}

function noteField(given: URLSearchParams | null): Html {
  return textField('Note', MAX_NOTE, given, true);
}

function textField(
  label: string,
  maxlength: number,
  given: URLSearchParams | null,
  isLong: boolean,
): Html {
  const attributes = { name: 'reason', required: true, maxlength, value: given?.get('reason') };
  const hint = `Up to ${maxlength} characters, stored with your name. Do not write customers' names or numbers`;
  return field(label, attributes, { hint, isLong });
}

export const CODE_HINT = 'The six digits from your authenticator. Each code works once';

/** Shown with a form that was kept. */
export const KEPT =
  'This form was not accepted, because your session had ended. Nothing was changed. Check what you wrote, and send it again.';
