import { ERRORS } from '../../core/error-table.js';
import { actionRefusal, asksForCode } from '../../staff/rules.js';
import { actionField, type DeskAction } from '../actions/action.js';
import type { FailedResult } from '../actions/perform.js';
import type { SignedInPerson } from '../deps.js';
import { html, type Html } from '../html.js';
import { readHistory, readStaffActions, type TimelineLine } from '../reading/timeline.js';
import { nextWaiting } from '../reading/waiting.js';
import type { ResourceKind } from '../resources/resource-kind.js';
import type { Site } from '../site.js';
import { historySections } from './history.js';
import { facts, idText, notice, type Page, pathOf, section, time, tokenField } from './layout.js';
import { contextOf, listSections } from './lists.js';
import { WORDS } from './waiting.js';

/** A form that was refused, or whose result is unknown, with the text of the refusal. */
export interface FailedAction {
  readonly verb: string;
  readonly form: URLSearchParams;
  readonly result: FailedResult;
}

interface Stage<Resource> {
  readonly kind: ResourceKind<Resource>;
  readonly resource: Resource;
  readonly person: SignedInPerson;
}

/** `result` is that of the form that led to the page, or the action that was performed. */
export async function resourcePage<Resource>(
  site: Site,
  stage: Stage<Resource>,
  result: FailedAction | DeskAction<Resource> | null,
): Promise<Page> {
  const { kind, resource } = stage;
  const { reader } = site.database;
  const row = kind.rowOf(resource);
  const { id, tenantId } = row;
  const context = await contextOf(site, row);
  const { timeZone } = context;
  const [described, lists] = await Promise.all([
    kind.describe(resource, context),
    listSections(kind, resource, context),
  ]);
  const { status, list, workflowId = null } = described;
  const [history, next] = await Promise.all([
    described.history && readHistory(reader, { id, tenantId, timeZone, ...described.history }),
    list === undefined ? null : nextWaiting(reader, list, id),
  ]);
  const timeline = history?.timeline ?? (await readStaffActions(reader, id, timeZone));
  const workflow = workflowId !== null && site.settings.workflowUrl?.(workflowId);
  const links = [
    list !== undefined && html`<a href="/waiting/${list}">${WORDS[list].title}</a>`,
    workflow && html`<a href="${workflow}" rel="noreferrer">Workflow in the Temporal UI</a>`,
    next !== null &&
      html`<a rel="next" href="${pathOf(kind.name, next)}">Next one that needs attention</a>`,
  ].filter((link) => link);
  const failed = result !== null && 'result' in result ? result : null;
  const performed = result !== null && 'done' in result ? result.done : null;
  const done = typeof performed === 'function' ? performed(resource, context.names) : performed;
  const forms = actionForms(stage, failed);
  const content = html`${done !== null && notice('good', done)}${failed && resultNotice(failed)}
    <div class="columns">
      <div class="side">
        <div class="card">${facts([...described.facts, ['Id', idText(id)]])}</div>
        ${links.length > 0 && html`<p class="links">${links}</p>`}
      </div>
      <div>
        ${forms.length > 0 && section('acts', 'Actions', forms)}
        ${timeline.length > 0 && section('story', 'Timeline', timelineList(timeline, timeZone))}
      </div>
    </div>
    ${described.before}${lists}${history && historySections(history, timeZone)}${described.after}`;
  return {
    ...{ title: kind.titleOf(resource), beside: status, content },
    status: failed ? statusOf(failed) : 200,
  };
}

function actionForms<Resource>(
  stage: Stage<Resource>,
  failed: FailedAction | null,
): readonly Html[] {
  const { kind, resource, person } = stage;
  return kind.actions.flatMap((action) => {
    const own = failed?.verb === action.verb ? failed : null;
    const isOpen =
      action.isOpen(resource, person.identity) &&
      actionRefusal(action.name, person.identity) === null;
    // A form with an unknown result remains on the page, in every state of the resource.
    return isOpen || own?.result.outcome === 'unknown' ? [actionForm(stage, action, own)] : [];
  });
}

function statusOf({ result }: FailedAction): number {
  return result.outcome === 'unknown' ? 503 : ERRORS[result.refusal.code].status;
}

/** Shows the form again while the database does not respond. */
export function unknownPage<Resource>(
  stage: Stage<Resource>,
  action: DeskAction<Resource>,
  failed: FailedAction,
): Page {
  const content = html`${resultNotice(failed)}${actionForm(stage, action, failed)}
    <p><a href="${pathOfStage(stage)}">Back to the page</a></p>`;
  return { title: action.label, content, status: statusOf(failed) };
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

function pathOfStage<Resource>({ kind, resource }: Stage<Resource>): string {
  return pathOf(kind.name, kind.rowOf(resource).id);
}

function actionForm<Resource>(
  stage: Stage<Resource>,
  action: DeskAction<Resource>,
  failed: FailedAction | null,
): Html {
  const { kind, resource, person } = stage;
  const given = failed?.form ?? null;
  const repeated = failed?.result.outcome === 'unknown' ? failed.form : null;
  const field = actionField(person, action.verb, kind.rowOf(resource).id, repeated);
  const code =
    asksForCode(action.name, 'support') &&
    html`<label
      >Code<span class="hint">The six digits from your authenticator. Each code works once</span>
      <input
        name="code"
        required
        inputmode="numeric"
        autocomplete="one-time-code"
        pattern="[0-9 ]{6,7}"
        maxlength="7"
        title="Six digits"
    /></label>`;
  const { label, explanation } = { ...action, ...action.wordsFor?.(resource) };
  const form = html`<summary>${label}</summary>
    <p class="soft">${explanation}</p>
    <form class="stacked" method="post" action="${pathOfStage(stage)}/${action.verb}">
      ${tokenField(person.secret)}${field} ${action.fields?.(resource, given)}
      <label
        >Reason<span class="hint"
          >Up to 140 characters, stored with your name. Do not write customers' names or
          numbers</span
        >
        <input name="reason" required maxlength="140" value="${given?.get('reason') ?? ''}"
      /></label>
      ${code}
      <div><button class="${action.isStop === true ? 'stop' : 'go'}">${label}</button></div>
    </form>`;
  // The key that opens the form.
  const key = action.verb === 'approve' || action.verb === 'apply' ? 'a' : '';
  return failed === null
    ? html`<details data-key="${key}">${form}</details>`
    : html`<details data-key="${key}" open>${form}</details>`;
}

function timelineList(timeline: readonly TimelineLine[], timeZone: string): Html {
  const lines = timeline.map(({ at, what, by, details }) => {
    const items = details.map((detail) => html`<li>${detail}</li>`);
    return html`<li>
      <strong>${what}</strong>${by !== null && html`, by ${by}`} ${time(at, timeZone)}
      ${
        items.length > 0 &&
        html`<ul class="plain soft">
          ${items}
        </ul>`
      }
    </li>`;
  });
  return html`<ol class="story">
    ${lines}
  </ol>`;
}
