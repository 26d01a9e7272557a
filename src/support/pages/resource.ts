import { ERRORS } from '../../core/error-table.js';
import { actionRefusal, asksForCode } from '../../staff/rules.js';
import { actionField, type DeskAction, type FailedResult, textOf } from '../actions/action.js';
import type { SignedInPerson } from '../desk.js';
import { element, html, type Html } from '../html.js';
import { readHistory, type TimelineLine } from '../reading/timeline.js';
import { LISTS, nextWaiting } from '../reading/waiting.js';
import { contextOf, listSections, type ResourceKind } from '../resources/resource-kind.js';
import type { Site } from '../site.js';
import { historySections } from './history.js';
import {
  codeField,
  facts,
  field,
  idText,
  notice,
  type Page,
  pathOf,
  section,
  time,
  tokenField,
} from './layout.js';
import { readApprovedBySupport } from './rows.js';

/** A form that was refused, or whose result is unknown, with the text of the refusal. */
export interface FailedAction {
  readonly verb: string;
  readonly form: URLSearchParams;
  readonly result: FailedResult;
}

interface ShownResource<Resource> {
  readonly kind: ResourceKind<Resource>;
  readonly resource: Resource;
  readonly person: SignedInPerson;
}

/** `result` is that of the form that led to the page, or the action that was performed. */
export async function resourcePage<Resource>(
  site: Site,
  shown: ShownResource<Resource>,
  result: FailedAction | DeskAction<Resource> | null,
): Promise<Page> {
  const { kind, resource } = shown;
  const { reader } = site.database;
  const row = kind.rowOf(resource);
  const { id, tenantId } = row;
  const context = await contextOf(site, row);
  const { timeZone } = context;
  const [described, lists] = await Promise.all([
    kind.describe(resource, context),
    listSections(kind, resource, context),
  ]);
  const { status, list, hasLeftList = false, workflowId = null } = described;
  const [history, next, approved] = await Promise.all([
    readHistory(reader, { id, tenantId }, timeZone, described.history),
    list === undefined ? null : nextWaiting(reader, list, id),
    readApprovedBySupport(reader, kind.name, [id]),
  ]);
  const { timeline } = history;
  const workflow = workflowId !== null && site.settings.workflowUrl?.(workflowId);
  const links = [
    list !== undefined && !hasLeftList && html`<a href="/waiting/${list}">${LISTS[list].title}</a>`,
    workflow && html`<a href="${workflow}" rel="noreferrer">Workflow in Temporal</a>`,
    next !== null && html`<a class="button" rel="next" href="${pathOf(kind.name, next)}">Next</a>`,
  ].filter((link) => link);
  const failed = result !== null && 'result' in result ? result : null;
  const performed = result !== null && 'done' in result ? result.done : null;
  const done = performed && textOf(performed, resource, context.names);
  const forms = actionForms(shown, failed, approved.has(id));
  const story =
    timeline.length > 0 && section('story', 'Timeline', timelineList(timeline, timeZone));
  const isBeside = described.history !== undefined || described.beforeLists === undefined;
  const content = html`${done !== null && notice('good', done)}${failed && resultNotice(failed)}
    <div class="columns">
      <div class="card">${facts([...described.facts, ['Id', idText(id)]])}</div>
      <div>
        ${forms.length > 0 && section('acts', 'Actions', forms)}${described.beforeLists}
        ${isBeside && story}
      </div>
    </div>
    ${lists}${historySections(history, timeZone)}${described.afterLists}${!isBeside && story}`;
  return {
    title: kind.titleOf(resource),
    content,
    status: failed ? statusOf(failed) : 200,
    beside: [status, links.length > 0 && html`<p class="links">${links}</p>`],
  };
}

/** `isApproved`: support has given its one approval. */
function actionForms<Resource>(
  shown: ShownResource<Resource>,
  failed: FailedAction | null,
  isApproved: boolean,
): readonly Html[] {
  const { kind, resource, person } = shown;
  return kind.actions.flatMap((action) => {
    const own = failed?.verb === action.verb ? failed : null;
    const isOffered =
      action.isOffered(resource, person.identity) &&
      !(isApproved && action.verb === 'approve') &&
      actionRefusal(action.name, person.identity) === null;
    // A form with an unknown result remains on the page, in every state of the resource.
    return isOffered || own?.result.outcome === 'unknown' ? [actionForm(shown, action, own)] : [];
  });
}

function statusOf({ result }: FailedAction): number {
  return result.outcome === 'unknown' ? 503 : ERRORS[result.refusal.code].status;
}

/** Shows the form again while the database does not respond. */
export function unknownPage<Resource>(
  shown: ShownResource<Resource>,
  action: DeskAction<Resource>,
  failed: FailedAction,
): Page {
  const content = html`${resultNotice(failed)}${actionForm(shown, action, failed)}
    <p><a href="${pathOfShown(shown)}">Back to the page</a></p>`;
  return { title: textOf(action.label, shown.resource), content, status: statusOf(failed) };
}

function resultNotice({ result }: FailedAction): Html {
  if (result.outcome === 'refused')
    return notice(
      'bad',
      html`<p><strong>Nothing was changed:</strong> ${result.refusal.message}.</p>`,
    );
  return notice(
    'wait',
    html`<p>
      <strong>It is not known whether this was done.</strong> The ledger did not answer. Send the
      form below again in a moment. It acts only once, and then shows the result.
    </p>`,
  );
}

function pathOfShown<Resource>({ kind, resource }: ShownResource<Resource>): string {
  return pathOf(kind.name, kind.rowOf(resource).id);
}

function actionForm<Resource>(
  shown: ShownResource<Resource>,
  action: DeskAction<Resource>,
  failed: FailedAction | null,
): Html {
  const { kind, resource, person } = shown;
  const given = failed?.form ?? null;
  const repeated = failed?.result.outcome === 'unknown' ? failed.form : null;
  const mark = actionField(person, action.verb, kind.rowOf(resource).id, repeated);
  const label = textOf(action.label, resource);
  const reason = { name: 'reason', required: true, maxlength: 140, value: given?.get('reason') };
  const form = html`<summary>${label}</summary>
    <p class="soft">${textOf(action.explanation, resource)}</p>
    <form class="stacked" method="post" action="${pathOfShown(shown)}/${action.verb}">
      ${tokenField(person.secret)}${mark} ${action.fields?.(resource, given)}
      ${field('Reason', reason, { hint: REASON_HINT })}
      ${asksForCode(action.name, 'support') && codeField(CODE_HINT)}
      <div><button class="${action.endsSomething === true ? 'stop' : 'go'}">${label}</button></div>
    </form>`;
  // The key that opens the form.
  const isApproval = action.verb === 'approve' || action.verb === 'apply';
  const look = isApproval ? 'go' : action.endsSomething === true && 'stop';
  const attributes = { 'data-key': isApproval && 'a', class: look, open: failed !== null };
  return element('details', attributes, form);
}

const REASON_HINT =
  "Up to 140 characters, stored with your name. Do not write customers' names or numbers";
const CODE_HINT = 'The six digits from your authenticator. Each code works once';

function timelineList(timeline: readonly TimelineLine[], timeZone: string): Html {
  const lines = timeline.map(({ at, what, by, details }) => {
    const shown = html`<strong>${what}</strong>${by !== null && html`, by ${by}`}`;
    return html`<li>
      ${shown} ${time(at, timeZone)} ${details !== '' && html`<div class="soft">${details}</div>`}
    </li>`;
  });
  return html`<ol class="story">
    ${lines}
  </ol>`;
}
