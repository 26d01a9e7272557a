import { ERRORS } from '../../core/error-table.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { actionRefusal } from '../../staff/rules.js';
import { type DeskAction, textOf } from '../actions/action.js';
import type { SignedInPerson } from '../desk.js';
import { type Content, html, type Html } from '../html.js';
import { readHistory, type TimelineLine } from '../reading/timeline.js';
import { LISTS, nextWaiting, readApprovedBySupport } from '../reading/waiting.js';
import { contextOf, type Described, listSections } from '../resources/resource-kind.js';
import type { Site } from '../site.js';
import { actionForm, KEPT, type OpenForm, pathOfShown, type ShownResource } from './action-form.js';
import { decisionSection } from './decision.js';
import { historySections } from './history.js';
import { facts, idText, notice, type Page, pathOf, section, time } from './layout.js';
import { noteSection, takingForms } from './remarks.js';
import { filterOf, itemQuery, type ListPlace, listPath, NO_FILTER } from './waiting.js';

/** `result` is the open form, or the action that was performed. */
export async function resourcePage<Resource>(
  site: Site,
  shown: ShownResource<Resource>,
  result: OpenForm | DeskAction<Resource> | null,
): Promise<Page> {
  const { kind, resource, place } = shown;
  const { reader } = site.database;
  const row = kind.rowOf(resource);
  const { id, tenantId } = row;
  const context = await contextOf(site, row);
  const { timeZone } = context;
  const [described, lists] = await Promise.all([
    kind.describe(resource, context),
    listSections(kind, resource, context),
  ]);
  const { status, workflowId = null } = described;
  const [history, approved] = await Promise.all([
    readHistory(reader, { id, tenantId }, context, described.history),
    readApprovedBySupport(reader, [id]),
  ]);
  const { timeline } = history;
  const workflow = workflowId !== null && site.settings.workflowUrl?.(workflowId);
  const links = [
    workflow && html`<a href="${workflow}" rel="noreferrer">Workflow in Temporal</a>`,
    ...(await listLinks(reader, place, described, id)),
  ].filter((link) => link);
  const open = result !== null && 'result' in result ? result : null;
  const performed = result !== null && 'done' in result ? result : null;
  const done = performed && textOf(performed.done, resource, context.names);
  const isWaiting = described.list !== undefined && described.hasLeftList !== true;
  const taker = isWaiting ? history.taker : null;
  const warning =
    taker !== null &&
    taker.name !== shown.person.identity.name &&
    notice('wait', html`Taken by ${taker.name} until ${time(taker.until, timeZone)}.`);
  const decision = kind.decisionOf?.(resource);
  const acts = actionsOf({ ...shown, warning }, open, approved.has(id));
  const { offered, missing } = acts;
  const forms = [...acts.forms, ...(isWaiting ? takingForms(shown, taker) : [])];
  const story =
    timeline.length > 0 && section('story', 'Timeline', timelineList(timeline, timeZone));
  const isBeside = described.history !== undefined || described.beforeLists === undefined;
  const isOpen = ({ verb }: { readonly verb: string }): boolean => verb === open?.verb;
  const isShut = open?.result === null && kind.actions.some(isOpen) && !offered.some(isOpen);
  const content = html`${done !== null && notice('good', [done, performed?.name && described.made])}${open && formNotice(open)}
    ${isShut && notice('wait', SHUT)}
    <div class="columns">
      <div class="card">${facts([...described.facts, ['Id', idText(id)]])}</div>
      <div>
        ${forms.length + missing.length > 0 && section('acts', 'Actions', [forms, missing.length > 0 && html`<p class="soft">${missing.join('; ')}.</p>`])}
        ${isWaiting && decision && (await decisionSection(decision, tenantId, context))}
        ${noteSection(shown, history, timeZone, open)}${described.beforeLists} ${isBeside && story}
      </div>
    </div>
    ${lists}${historySections(history, context)}${described.afterLists}${!isBeside && story}`;
  return {
    title: kind.titleOf(resource),
    content,
    status: open === null ? 200 : statusOf(open),
    beside: [
      status,
      taker && html`<p>taken by ${taker.name} since ${time(taker.since, timeZone)}</p>`,
      links.length > 0 && html`<p class="links">${links}</p>`,
    ],
  };
}

/** Shows links to the list from which the person came, or to that of the resource, and to its next item. */
async function listLinks(
  reader: Reader,
  place: ListPlace | null,
  { list, hasLeftList = false }: Described,
  id: Uuid,
): Promise<readonly Content[]> {
  const from = place ?? (list === undefined ? null : { kind: list, query: NO_FILTER });
  if (from === null) return [];
  const { kind, query } = from;
  const filter = await filterOf(reader, query);
  const next = 'fault' in filter ? null : await nextWaiting(reader, kind, id, filter);
  const follow = place === null ? '' : itemQuery(kind, query);
  const isOfList = place !== null || !hasLeftList;
  const isLast = !('fault' in filter) && next?.isAfterLast !== false;
  const [rel, text] = isLast ? ['first', 'Back to the first'] : ['next', 'Next'];
  return [
    isOfList && html`<a href="${listPath(kind, query)}">${LISTS[kind].title}</a>`,
    isOfList && isLast && html`<span class="soft" aria-live="polite">Last of this list</span>`,
    next !== null &&
      html`<a class="button" rel="${rel}" href="${pathOf(LISTS[kind].rows, next.id)}${follow}"
        >${text}</a
      >`,
  ];
}

/** Returns the actions that the person can perform now, their forms, and why further actions are refused. */
function actionsOf<Resource>(
  shown: ShownResource<Resource>,
  open: OpenForm | null,
  isApproved: boolean,
) {
  const { kind, resource, person } = shown;
  const own = ({ verb }: DeskAction<Resource>) => (open?.verb === verb ? open : null);
  const possible = kind.actions.filter((action) =>
    isPossible(action, resource, person, isApproved),
  );
  const missing = possible.flatMap((action) => rightMissing(action, person) ?? []);
  // A form with an unknown result remains on the page, in every state of the resource.
  const offered = kind.actions.filter(
    (action) =>
      isOffered(action, resource, person, isApproved) || own(action)?.result?.outcome === 'unknown',
  );
  const forms = offered.map((action) => actionForm(shown, action, own(action)));
  return { offered, forms, missing: [...new Set(missing)] };
}

const SHUT =
  'This action is not possible now: it was done or decided before, or you lack the right to it.';

function rightMissing({ name }: Pick<DeskAction<never>, 'name'>, { identity }: SignedInPerson) {
  return name && (actionRefusal(name, identity)?.message ?? null);
}

/** Whether a person with the right can perform the action now. `isApproved`: support has given its one approval. */
function isPossible<Resource>(
  { isOffered: isOpen, verb }: DeskAction<Resource>,
  resource: Resource,
  { identity }: SignedInPerson,
  isApproved: boolean,
): boolean {
  return isOpen(resource, identity) && !(isApproved && verb === 'approve');
}

/** Whether the person can perform the action now. */
export function isOffered<Resource>(
  action: DeskAction<Resource>,
  resource: Resource,
  person: SignedInPerson,
  isApproved: boolean,
): boolean {
  return isPossible(action, resource, person, isApproved) && rightMissing(action, person) === null;
}

export function statusOf({ result }: OpenForm): number {
  if (result === null) return 200;
  return result.outcome === 'unknown' ? 503 : ERRORS[result.refusal.code].status;
}

/** Shows the form again while the database does not respond. */
export function unknownPage<Resource>(
  shown: ShownResource<Resource>,
  action: DeskAction<Resource>,
  failed: OpenForm,
): Page {
  const content = html`${formNotice(failed)}${actionForm(shown, action, failed)}
    <p><a href="${pathOfShown(shown)}">Back to the page</a></p>`;
  return { title: textOf(action.label, shown.resource), content, status: statusOf(failed) };
}

/** Says why a form was not accepted, or that its result is unknown. */
export function formNotice({ form, result }: OpenForm): Content {
  if (result === null) return form && notice('wait', KEPT);
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

function timelineList(timeline: readonly TimelineLine[], timeZone: string): Html {
  const lines = timeline.map(({ at, what, by, details }) => {
    const shown = html`<strong>${what}</strong>${by && html`, by ${by.name} (${by.as})`}`;
    return html`<li>
      ${shown} ${time(at, timeZone)} ${details !== '' && html`<div class="soft">${details}</div>`}
    </li>`;
  });
  return html`<ol class="story">
    ${lines}
  </ol>`;
}
