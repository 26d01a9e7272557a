import { asksForCode, actRefusal } from '../../staff/rules.js';
import { actField, type DeskAct, sameActField } from '../acts/act.js';
import { type Content, html, type Html } from '../html.js';
import type { SignedInPerson } from '../deps.js';
import type { StoryLine } from '../reading/story.js';
import { type Fact, facts, notice, type Page, section, time, tokenField } from './layout.js';

/** Content of a resource's page: facts, actions and timeline. */
export interface Shown {
  readonly title: string;
  readonly facts: readonly Fact[];
  /** Content between the actions and the timeline. */
  readonly more?: Content;
  readonly story: readonly StoryLine[];
  /** Time zone of the tenant, for the timeline. */
  readonly timeZone: string;
  /** URL of the workflow in the Temporal UI. Null without a workflow. */
  readonly workflow: string | null;
}

export interface Came {
  readonly verb: string;
  readonly form: URLSearchParams;
  readonly came: 'refused' | 'unknown';
  readonly message: string;
  readonly status: number;
}

interface Stage<Resource> {
  /** Path of the page, for example `/transfers/…`. */
  readonly path: string;
  readonly id: string;
  readonly resource: Resource;
  readonly acts: readonly DeskAct<Resource>[];
  readonly person: SignedInPerson;
}

export function resourcePage<Resource>(
  stage: Stage<Resource>,
  shown: Shown,
  said: Came | string | null,
): Page {
  const { acts, resource, person } = stage;
  const came = typeof said === 'string' ? null : said;
  // A form with an unknown result remains on the page, in every state of the resource.
  const own = acts.filter(
    (act) =>
      (act.isOpen(resource, person.identity) && actRefusal(act.name, person.identity) === null) ||
      (came?.came === 'unknown' && came.verb === act.verb),
  );
  const forms = own.map((act) => actForm(stage, act, came?.verb === act.verb ? came : null));
  const content = html`${said === null ? '' : saidNotice(said)}
    <div class="card">${facts(shown.facts)}</div>
    ${shown.workflow === null ? '' : html`<p><a href="${shown.workflow}" rel="noreferrer">Its workflow in the Temporal UI</a></p>`}
    ${forms.length === 0 ? '' : section('acts', 'What you can do', forms)} ${shown.more}
    ${section('story', 'What happened', storyList(shown))}`;
  return { title: shown.title, content, status: came?.status ?? 200 };
}

/** Shows the form again while the database does not respond. */
export function unknownPage<Resource>(
  stage: Stage<Resource>,
  act: DeskAct<Resource>,
  came: Came,
): Page {
  const content = html`${saidNotice(came)}${actForm(stage, act, came)}
    <p><a href="${stage.path}">Its page</a></p>`;
  return { title: act.label, content, status: came.status };
}

function saidNotice(said: Came | string): Html {
  if (typeof said === 'string') return notice('good', said);
  if (said.came === 'refused')
    return notice('bad', html`<p><strong>Nothing was changed.</strong> ${said.message}</p>`);
  return notice(
    'wait',
    html`<p>
      <strong>It is not known whether this was done.</strong> The ledger did not answer. Send the
      same form below once more in a moment: it acts once, and says what became of it.
    </p>`,
  );
}

function actForm<Resource>(
  { path, id, resource, person }: Stage<Resource>,
  act: DeskAct<Resource>,
  came: Came | null,
): Html {
  const given = came?.form ?? null;
  const field = came?.came === 'unknown' ? sameActField(came.form) : actField(person, act.verb, id);
  const code = asksForCode(act.name, 'support')
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
  const form = html`<summary>${act.label}</summary>
    <p class="soft">${act.explanation}</p>
    <form class="stacked" method="post" action="${path}/${act.verb}">
      ${tokenField(person.secret)}${field} ${act.fields?.(resource, given) ?? ''}
      <label
        >Reason<span class="hint"
          >Up to 140 characters, kept with your name. No names or numbers of customers</span
        >
        <input name="reason" required maxlength="140" value="${given?.get('reason') ?? ''}"
      /></label>
      ${code}
      <div><button class="${act.isStop === true ? 'stop' : 'go'}">${act.label}</button></div>
    </form>`;
  return came === null ? html`<details>${form}</details>` : html`<details open>${form}</details>`;
}

function storyList({ story, timeZone }: Shown): Html {
  if (story.length === 0) return html`<p>Nothing is written down.</p>`;
  return html`<ol class="story">
    ${story.map(
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
