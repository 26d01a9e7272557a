import { formatSums } from '../../core/amount.js';
import { counted } from '../../core/collections.js';
import { ERRORS } from '../../core/error-table.js';
import { localDay } from '../../core/instant.js';
import { readDecisionContexts } from '../../operations/decision-context.js';
import { readTakers } from '../../staff/remarks.js';
import { actionRefusal } from '../../staff/rules.js';
import {
  actionFields,
  type ActionResult,
  type DeskAction,
  needsCode,
  textOf,
} from '../actions/action.js';
import { digestOf } from '../actions/sets.js';
import type { SignedInPerson } from '../desk.js';
import { type Content, html, type Html } from '../html.js';
import { relative } from '../reading/timeline.js';
import { type Names, namesOf } from '../reading/transfers.js';
import { LISTS, readApprovedBySupport, type WaitingKind } from '../reading/waiting.js';
import type { ResourceKind } from '../resources/resource-kind.js';
import type { Site } from '../site.js';
import { CODE_HINT, reasonField } from './action-form.js';
import {
  codeField,
  type Fact,
  facts,
  hiddenField,
  notice,
  type Page,
  type Row,
  section,
  table,
  tokenField,
} from './layout.js';
import { decisionFacts } from './decision.js';
import { formNotice, isOffered, statusOf } from './resource.js';
import { factsOf } from './rows.js';
import { listPath, type ListQuery } from './waiting.js';

/** Pages on which a person decides several items of a list by one form. */

export interface ShownSet<Resource> {
  readonly list: WaitingKind;
  readonly query: ListQuery;
  readonly kind: ResourceKind<Resource>;
  readonly action: DeskAction<Resource>;
  readonly resources: readonly Resource[];
  readonly person: SignedInPerson;
}

/** Shows the set with its sums and its form. `form`: what was written before, and `about` it a notice. */
export async function setPage<Resource>(
  site: Site,
  set: ShownSet<Resource>,
  form: URLSearchParams | null,
  about: Content = null,
  status = 200,
): Promise<Page> {
  const { kind, action, resources, person } = set;
  const ids = resources.map((resource) => kind.rowOf(resource).id);
  const approved = await readApprovedBySupport(site.database.reader, ids);
  const isOpen = (resource: Resource): boolean =>
    isOffered(action, resource, person, approved.has(kind.rowOf(resource).id));
  const open = resources.filter(isOpen);
  const closed = resources.filter((resource) => !isOpen(resource));
  const lacked = action.name && actionRefusal(action.name, person.identity);
  const cause = lacked?.message ?? 'they were decided before, or you proposed them';
  const none = closed.length > 0 ? 'Nothing is left to decide.' : 'Nothing is selected.';
  const content = html`${about}
  ${
    closed.length > 0 &&
    notice(
      'wait',
      html`<p>These are left out, because ${cause}:</p>
        ${await itemTable(site, set, closed)}`,
    )
  }
  ${open.length === 0 ? html`<p class="card">${none} Select the items in the list again.</p>` : await setForm(site, set, open, form)}
  ${backLink(set)}`;
  const label = textOf(action.label, resources[0] as Resource);
  return { title: `${label} several`, content, status };
}

function backLink<Resource>({ list, query }: ShownSet<Resource>): Html {
  return html`<p><a href="${listPath(list, query)}">${LISTS[list].title}</a></p>`;
}

/** Shows the items as their list does, so that the person sees who pays whom, with further facts. */
async function itemTable<Resource>(
  { database: { reader }, clock }: Site,
  { list, kind }: ShownSet<Resource>,
  resources: readonly Resource[],
  othersOf: (resource: Resource, names: Names) => Row = () => [],
): Promise<Html> {
  const rows = resources.map((resource) => kind.rowOf(resource));
  const [facts, names] = await Promise.all([
    factsOf({ reader, now: clock() }, LISTS[list].rows, rows as never[], { isWaiting: true }),
    namesOf(reader, rows),
  ]);
  return table([...resources.entries()], ([index, resource]) => [
    ...(facts[index] ?? []),
    ...othersOf(resource, names),
  ]);
}

/** Shows the items with what a person should know before deciding about each. */
async function decidedItems<Resource>(
  site: Site,
  set: ShownSet<Resource>,
  resources: readonly Resource[],
): Promise<Html> {
  const { kind } = set;
  const decided = resources.flatMap((resource) => {
    const decision = kind.decisionOf?.(resource) ?? null;
    return decision === null ? [] : [{ resource, decision }];
  });
  const contexts = await readDecisionContexts(
    site.database.reader,
    decided.map(({ decision }) => decision),
    site.clock(),
  );
  const factsAt = (index: number, timeZone: string): Row => {
    const [decision, context] = [decided[index]?.decision, contexts[index]];
    return decision && context
      ? decisionFacts(decision, context, (at) => at && localDay(at, timeZone))
      : [];
  };
  const payers = decided.map(({ decision: { accountId, asset } }) => `${accountId} ${asset}`);
  const isAll = payers.length > 1 && payers.length === resources.length;
  const isOfOne = isAll && new Set(payers).size === 1;
  const isOfAccount = ([label]: Fact): boolean => label !== 'Paid before';
  const items = await itemTable(site, set, resources, (resource, names) => {
    const index = decided.findIndex((one) => one.resource === resource);
    const row = factsAt(index, names.timeZone(kind.rowOf(resource).tenantId));
    return row.filter((fact) => !isOfOne || !isOfAccount(fact));
  });
  const shared = html`<div class="card">${facts(factsAt(0, 'UTC').filter(isOfAccount))}</div>`;
  return html`${isOfOne && shared}${items}`;
}

async function setForm<Resource>(
  site: Site,
  set: ShownSet<Resource>,
  resources: readonly Resource[],
  form: URLSearchParams | null,
  repeated: URLSearchParams | null = null,
): Promise<Html> {
  const { list, query, kind, action, person } = set;
  const rows = resources.map((resource) => kind.rowOf(resource));
  const now = site.clock();
  const ids = rows.map(({ id }) => id);
  const takers = [...(await readTakers(site.database.reader, ids, now)).values()];
  const others = takers
    .filter(({ name }) => name !== person.identity.name)
    .sort((one, other) => one.until - other.until);
  const ends = new Map(others.map(({ name, until }) => [name, until]));
  const path = listPath(list, query).replace(`/${list}`, `/${list}/${action.verb}`);
  const what = `${counted(rows.length, LISTS[list].rows.slice(0, -1))}`;
  const label = `${textOf(action.label, resources[0] as Resource)} ${what}`;
  return html`<p><strong>${what}</strong>, in total <strong>${formatSums(rows)}</strong>.</p>
    ${await decidedItems(site, set, resources)}
    <form class="stacked card" method="post" action="${path}">
      ${tokenField(person.secret)}${actionFields(person, action.verb, digestOf(rows), repeated)}
      ${ids.map((id) => hiddenField('item', id))} ${reasonField(form)}
      ${needsCode(action) && codeField(`${CODE_HINT}. One code decides this set`)}
      ${others.length > 0 && notice('wait', html`Taken by others: ${others.length} of ${rows.length}, marked under their status. ${Array.from(ends, ([name, until]) => html`<p>By ${name}; it ends ${relative(until, now)}.</p>`)}`)}
      <div><button class="${action.endsSomething === true ? 'stop' : 'go'}">${label}</button></div>
    </form>`;
}

/** Shows what became of each item, and the form again if it was refused or some results are unknown. */
export async function setResultPage<Resource>(
  site: Site,
  set: ShownSet<Resource>,
  results: readonly ActionResult[],
  form: URLSearchParams,
): Promise<Page> {
  const { kind, action, resources } = set;
  const [first] = results;
  // One result for all items is that of the form, whose code or reason was refused.
  if (first?.outcome === 'refused' && results.every((result) => result === first)) {
    const failed = { verb: action.verb, form, result: first };
    return setPage(site, set, form, formNotice(failed), statusOf(failed));
  }
  const resultOf = (resource: Resource): ActionResult | undefined =>
    results[resources.indexOf(resource)];
  const outcomes = (outcome: ActionResult['outcome']): readonly Resource[] =>
    resources.filter((resource) => resultOf(resource)?.outcome === outcome);
  const [done, refused, unknown] = [outcomes('done'), outcomes('refused'), outcomes('unknown')];
  const sums = formatSums(done.map((resource) => kind.rowOf(resource)));
  const items = await itemTable(site, set, [...unknown, ...refused, ...done], (resource, names) => {
    const result = resultOf(resource);
    if (result?.outcome === 'refused')
      return [['Result', `Nothing was changed: ${result.refusal.message}.`]];
    const isDone = result?.outcome === 'done';
    return [['Result', isDone ? textOf(action.done, resource, names) : 'Not known yet.']];
  });
  const content = html`${done.length > 0 && notice('good', `Decided: ${done.length} of ${resources.length}, in total ${sums}.`)}
  ${refused.length > 0 && notice('bad', `Refused: ${refused.length} of ${resources.length}. The reasons are below.`)}
  ${unknown.length > 0 && notice('wait', html`<strong>It is not known whether ${unknown.length} of them were decided.</strong> Send the form below again in a moment. It decides each item only once.`)}
  ${section('results', 'Results', items)}
  ${unknown.length > 0 && section('again', 'Send again', await setForm(site, set, resources, form, form))}
  ${backLink(set)}`;
  const refusedStatus = first?.outcome === 'refused' ? ERRORS[first.refusal.code].status : 409;
  const status = unknown.length > 0 ? 503 : done.length > 0 ? 200 : refusedStatus;
  return { title: `${textOf(action.label, resources[0] as Resource)} several`, content, status };
}
