import { asksForCode, actionRefusal } from '../../staff/rules.js';
import { actionField, type DeskAction } from '../actions/action.js';
import { type Content, html, type Html } from '../html.js';
import type { SignedInPerson } from '../deps.js';
import type { TimelineLine } from '../reading/timeline.js';
import { type Fact, facts, notice, type Page, section, time, tokenField } from './layout.js';

/** Content of a resource's page. */
export interface Shown {
  readonly title: string;
  /** Status, shown beside the title. */
  readonly status: Content;
  readonly facts: readonly Fact[];
  /** Sections after the timeline. */
  readonly more: Content;
  /** Null for no section. */
  readonly timeline: readonly TimelineLine[] | null;
  /** Time zone of the tenant, for the timeline. */
  readonly timeZone: string;
  /** URL of the workflow in the Temporal UI. */
  readonly workflow: string | null;
  /** Path of the next resource that needs the same decision. */
  readonly next: string | null;
}

export interface FailedAction {
  readonly verb: string;
  readonly form: URLSearchParams;
  readonly outcome: 'refused' | 'unknown';
  readonly message: string;
  readonly status: number;
}

interface Stage<Resource> {
  /** Path of the page, for example `/transfers/…`. */
  readonly path: string;
  readonly id: string;
  readonly resource: Resource;
  readonly actions: readonly DeskAction<Resource>[];
  readonly person: SignedInPerson;
}

export function resourcePage<Resource>(
  stage: Stage<Resource>,
  shown: Shown,
  result: FailedAction | string | null,
): Page {
  const { actions, resource, person } = stage;
  const failed = typeof result === 'string' ? null : result;
  // A form with an unknown result remains on the page, in every state of the resource.
  const own = actions.filter(
    (action) =>
      (action.isOpen(resource, person.identity) &&
        actionRefusal(action.name, person.identity) === null) ||
      (failed?.outcome === 'unknown' && failed.verb === action.verb),
  );
  const forms = own.map((action) =>
    actionForm(stage, action, failed?.verb === action.verb ? failed : null),
  );
  const links = [
    shown.workflow !== null &&
      html`<a href="${shown.workflow}" rel="noreferrer">Workflow in the Temporal UI</a>`,
    shown.next !== null &&
      html`<a rel="next" href="${shown.next}">Next one that needs attention</a>`,
  ].filter((link) => link !== false);
  const content = html`${result === null ? '' : resultNotice(result)}
    <div class="columns">
      <div class="side">
        <div class="card">${facts(shown.facts)}</div>
        ${links.length > 0 && html`<p class="links">${links}</p>`}
      </div>
      <div>
        ${forms.length === 0 ? '' : section('acts', 'Actions', forms)}
        ${shown.timeline !== null && section('story', 'Timeline', timelineList(shown.timeline, shown.timeZone))}
      </div>
    </div>
    ${shown.more}`;
  return { title: shown.title, status: failed?.status ?? 200, beside: shown.status, content };
}

/** Shows the form again while the database does not respond. */
export function unknownPage<Resource>(
  stage: Stage<Resource>,
  action: DeskAction<Resource>,
  failed: FailedAction,
): Page {
  const content = html`${resultNotice(failed)}${actionForm(stage, action, failed)}
    <p><a href="${stage.path}">Back to the page</a></p>`;
  return { title: action.label, content, status: failed.status };
}

function resultNotice(result: FailedAction | string): Html {
  if (typeof result === 'string') return notice('good', result);
  if (result.outcome === 'refused')
    return notice('bad', html`<p><strong>Nothing was changed.</strong> ${result.message}</p>`);
  return notice(
    'wait',
    html`<p>
      <strong>It is not known whether this was done.</strong> The ledger did not answer. Send the
      form below again in a moment. It acts only once, and then shows the result.
    </p>`,
  );
}

function actionForm<Resource>(
  { path, id, resource, person }: Stage<Resource>,
  action: DeskAction<Resource>,
  failed: FailedAction | null,
): Html {
  const given = failed?.form ?? null;
  const repeated = failed?.outcome === 'unknown' ? failed.form : null;
  const field = actionField(person, action.verb, id, repeated);
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
    /></label>`;
  const form = html`<summary>${action.label}</summary>
    <p class="soft">${action.explanation}</p>
    <form class="stacked" method="post" action="${path}/${action.verb}">
      ${tokenField(person.secret)}${field} ${action.fields?.(resource, given)}
      <label
        >Reason<span class="hint"
          >Up to 140 characters, stored with your name. Do not write customers' names or
          numbers</span
        >
        <input name="reason" required maxlength="140" value="${given?.get('reason') ?? ''}"
      /></label>
      ${code}
      <div><button class="${action.isStop === true ? 'stop' : 'go'}">${action.label}</button></div>
    </form>`;
  // The key that opens the form.
  const key = action.verb === 'approve' || action.verb === 'apply' ? 'a' : '';
  return failed === null
    ? html`<details data-key="${key}">${form}</details>`
    : html`<details data-key="${key}" open>${form}</details>`;
}

function timelineList(timeline: readonly TimelineLine[], timeZone: string): Html {
  if (timeline.length === 0) return html`<p class="soft">No changes are recorded.</p>`;
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
