import { asksForCode, actRefusal } from '../../staff/rules.js';
import { actionField, type DeskAction, repeatedActionField } from '../actions/action.js';
import { type Content, html, type Html } from '../html.js';
import type { SignedInPerson } from '../deps.js';
import type { TimelineLine } from '../reading/timeline.js';
import { type Fact, facts, notice, type Page, section, time, tokenField } from './layout.js';

/** Content of a resource's page: facts, actions and timeline. */
export interface Shown {
  readonly title: string;
  readonly facts: readonly Fact[];
  /** Content between the actions and the timeline. */
  readonly more?: Content;
  readonly timeline: readonly TimelineLine[];
  /** Time zone of the tenant, for the timeline. */
  readonly timeZone: string;
  /** URL of the workflow in the Temporal UI. Null without a workflow. */
  readonly workflow: string | null;
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
        actRefusal(action.name, person.identity) === null) ||
      (failed?.outcome === 'unknown' && failed.verb === action.verb),
  );
  const forms = own.map((action) =>
    actionForm(stage, action, failed?.verb === action.verb ? failed : null),
  );
  const content = html`${result === null ? '' : resultNotice(result)}
    <div class="card">${facts(shown.facts)}</div>
    ${shown.workflow === null ? '' : html`<p><a href="${shown.workflow}" rel="noreferrer">Its workflow in the Temporal UI</a></p>`}
    ${forms.length === 0 ? '' : section('acts', 'What you can do', forms)} ${shown.more}
    ${section('story', 'What happened', timelineList(shown))}`;
  return { title: shown.title, content, status: failed?.status ?? 200 };
}

/** Shows the form again while the database does not respond. */
export function unknownPage<Resource>(
  stage: Stage<Resource>,
  action: DeskAction<Resource>,
  failed: FailedAction,
): Page {
  const content = html`${resultNotice(failed)}${actionForm(stage, action, failed)}
    <p><a href="${stage.path}">Its page</a></p>`;
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
      same form below once more in a moment: it acts once, and says what became of it.
    </p>`,
  );
}

function actionForm<Resource>(
  { path, id, resource, person }: Stage<Resource>,
  action: DeskAction<Resource>,
  failed: FailedAction | null,
): Html {
  const given = failed?.form ?? null;
  const field =
    failed?.outcome === 'unknown'
      ? repeatedActionField(failed.form)
      : actionField(person, action.verb, id);
  const code = asksForCode(action.name, 'support')
    ? html`<label
        >Code<span class="hint"
          >Six digits that you have not used yet: after one was used, wait for the next</span
        >
        <input
          name="code"
          required
          inputmode="numeric"
          autocomplete="one-time-code"
          pattern="[0-9 ]{6,7}"
          maxlength="7"
      /></label>`
    : '';
  const form = html`<summary>${action.label}</summary>
    <p class="soft">${action.explanation}</p>
    <form class="stacked" method="post" action="${path}/${action.verb}">
      ${tokenField(person.secret)}${field} ${action.fields?.(resource, given) ?? ''}
      <label
        >Reason<span class="hint"
          >Up to 140 characters, kept with your name. No names or numbers of customers</span
        >
        <input name="reason" required maxlength="140" value="${given?.get('reason') ?? ''}"
      /></label>
      ${code}
      <div><button class="${action.isStop === true ? 'stop' : 'go'}">${action.label}</button></div>
    </form>`;
  return failed === null ? html`<details>${form}</details>` : html`<details open>${form}</details>`;
}

function timelineList({ timeline, timeZone }: Shown): Html {
  if (timeline.length === 0) return html`<p>Nothing is written down.</p>`;
  return html`<ol class="story">
    ${timeline.map(
      ({ at, what, by, details }) =>
        html`<li>
          ${time(at, timeZone)} <strong>${what}</strong>${by === null ? '' : html`, by ${by}`}
          ${
            details.length === 0
              ? ''
              : html`<ul class="plain soft">
                  ${details.map((detail) => html`<li>${detail}</li>`)}
                </ul>`
          }
        </li>`,
    )}
  </ol>`;
}
