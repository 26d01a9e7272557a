import { type AuditEntry, recordOnce } from '../access/audit-log.js';
import { newId } from '../core/ids.js';
import type { WorkflowResourceType } from '../db/entities/outbox.js';
import { isUnavailable } from '../db/failures.js';
import { describeFault } from '../http/logging.js';
import { actionIdOf, type ActionResult, type DeskAction, perform } from './actions/action.js';
import { REMARK_ACTIONS } from './actions/remarks.js';
import { digestOf, selectedIds, SET_ACTIONS } from './actions/sets.js';
import { noSuchPage, type SignedInPerson } from './desk.js';
import { hmacOf } from './forms.js';
import { DECIDED_FIELDS, decidedPage, readDecidedRows } from './pages/decided.js';
import { columnsOf, listCsv, type ReadRows } from './pages/export.js';
import type { PageOfList } from './pages/list.js';
import { notice, type Page, pathOf } from './pages/layout.js';
import { KEPT, type OpenForm } from './pages/action-form.js';
import { resourcePage, unknownPage } from './pages/resource.js';
import type { View } from './pages/rows.js';
import { isNarrowed, SEARCH_FIELDS, searchPage } from './pages/search.js';
import { setPage, setResultPage } from './pages/set.js';
import { readTenants, tenantsPage } from './pages/tenants.js';
import {
  itemQuery,
  type ListPlace,
  type ListQuery,
  readRows,
  startPage,
  waitingPage,
} from './pages/waiting.js';
import { findOnly } from './reading/search.js';
import { WAITING_KINDS, type WaitingKind } from './reading/waiting.js';
import { batchKind } from './resources/batches.js';
import { bonusKind } from './resources/bonuses.js';
import { eventKind } from './resources/events.js';
import { adjustmentKind, payoutKind, transferKind } from './resources/operations.js';
import { accountKind, tenantKind } from './resources/parties.js';
import { listPage, readRowsOf, type ResourceKind } from './resources/resource-kind.js';
import { endpointKind, scheduleKind } from './resources/workflow-resources.js';
import {
  type DeskContext,
  type DeskRouter,
  draftFor,
  idOf,
  ownForm,
  seeOther,
  sendPage,
  signedIn,
  type Site,
  textsOf,
} from './site.js';

type Render = (context: DeskContext, person: SignedInPerson) => Promise<Page>;

/** Adds a page for signed-in people. */
function addPage(router: DeskRouter, site: Site, path: string, render: Render): void {
  const handle = async (context: DeskContext, person: SignedInPerson): Promise<void> =>
    sendPage(context, await render(context, person));
  router.get(path, signedIn(site, handle));
}

export function waitingRoutes(router: DeskRouter, site: Site): void {
  addPage(router, site, '/', () => startPage(viewOf(site)));
  const kindOf = (context: DeskContext): WaitingKind => {
    const kind = WAITING_KINDS.find((one) => one === context.params?.kind);
    if (kind === undefined) throw noSuchPage();
    return kind;
  };
  addList(router, site, '/waiting/:kind', (context) => {
    const [list, query] = [kindOf(context), listQueryOf(context)];
    const areSelected = textsOf(context, 'select').select === 'all';
    return {
      list,
      read: readRows(viewOf(site), list, query),
      page: (person, { isSummed }) =>
        waitingPage(viewOf(site), list, query, person, { areSelected, isSummed }),
    };
  });
}

interface DeskList {
  readonly list: string;
  /** The list itself if absent. */
  readonly subject?: Pick<AuditEntry, 'tenantId' | 'subjectType' | 'subjectId'>;
  readonly read: ReadRows;
  page(person: SignedInPerson, place: PageOfList): Promise<Page>;
}

/** Adds the page of a list and its download as CSV. Each download is a line in the audit log. */
function addList(
  router: DeskRouter,
  site: Site,
  path: string,
  listOf: (context: DeskContext) => DeskList | Promise<DeskList>,
): void {
  addPage(router, site, path, async (context, person) => {
    const { after, sum } = textsOf(context, 'after', 'sum');
    return (await listOf(context)).page(person, { after, isSummed: sum === 'all' });
  });
  const download = async (context: DeskContext, person: SignedInPerson): Promise<void> => {
    await ownForm(context, site, person.secret);
    const { list, read, ...given } = await listOf(context);
    const subject = given.subject ?? { tenantId: null, subjectType: 'list', subjectId: list };
    const { csv, lines: rows } = await listCsv(read, columnsOf(list, given.subject !== undefined));
    const entry = { ...subject, action: 'list.export' as const, details: { list, rows } };
    await recordOnce(site, newId(), person.identity, entry);
    context.attachment(`${list}.csv`);
    context.type = 'text/csv; charset=utf-8';
    context.body = csv;
  };
  router.post(`${path}/csv`, signedIn(site, download));
  // After a sign-in, the browser asks for the address of the form.
  router.get(`${path}/csv`, (context) => seeOther(context, context.url.replace('/csv', '')));
}

/** Adds the pages on which several items of a list are decided by one form. */
function addSetPages<Resource>(
  router: DeskRouter,
  site: Site,
  list: WaitingKind,
  kind: ResourceKind<Resource>,
): void {
  const isOfSet = ({ name }: DeskAction<Resource>) =>
    name !== null && SET_ACTIONS[list]?.includes(name);
  for (const action of kind.actions.filter(isOfSet)) {
    const path = `/waiting/${list}/${action.verb}`;
    const read = async (context: DeskContext, person: SignedInPerson, given: readonly string[]) => {
      const found = await Promise.all(selectedIds(given).map((id) => kind.find(site, id)));
      const resources = found.flatMap((resource) => resource ?? []);
      return { list, query: listQueryOf(context), kind, action, resources, person };
    };
    addPage(router, site, path, async (context, person) => {
      const given = new URLSearchParams(context.querystring).getAll('item');
      // A new selection is not replaced by a kept one.
      const form = given.length === 0 ? draftFor(context) : null;
      const set = await read(context, person, form?.getAll('item') ?? given);
      return setPage(site, set, form, form && notice('wait', KEPT));
    });
    const post = async (context: DeskContext, person: SignedInPerson): Promise<void> => {
      const form = await ownForm(context, site, person.secret);
      const set = await read(context, person, form.getAll('item'));
      const rows = set.resources.map((resource) => kind.rowOf(resource));
      const digest = digestOf(rows);
      if (actionIdOf(form, person, action.verb, digest) === null)
        return sendPage(context, await setPage(site, set, form, notice('bad', SET_CHANGED), 409));
      const items = set.resources.map((resource) => {
        const { id, tenantId } = kind.rowOf(resource);
        return { resource, subject: { id, tenantId, subjectType: kind.subjectType } };
      });
      const results = await perform(site, { action, items, digest, person, form });
      logFaults(site, action.name ?? action.verb, results);
      const now = await read(context, person, form.getAll('item')).catch(() => set);
      sendPage(context, await setResultPage(site, now, results, form));
    };
    router.post(path, signedIn(site, post));
  }
}

const SET_CHANGED =
  'These are not the items and amounts that were shown. Nothing was decided. Check them, and send the form again.';

function logFaults({ logger }: Site, action: string, results: readonly ActionResult[]): void {
  for (const result of results)
    if (result.outcome === 'unknown' && result.fault !== null)
      logger.error(
        { action, fault: describeFault(result.fault) },
        'a staff action failed because of an internal error',
      );
}

function viewOf({ database: { reader }, clock }: Site): View {
  return { reader, now: clock() };
}

function listQueryOf(context: DeskContext): ListQuery {
  return textsOf(context, 'tenant', 'text', 'amount', 'asset', 'order', 'after');
}

/** Returns the list from which the person came to a page, or null. */
function placeOf(context: DeskContext): ListPlace | null {
  const kind = WAITING_KINDS.find((one) => one === context.query.in);
  return kind === undefined ? null : { kind, query: listQueryOf(context) };
}

function pagesOf<Resource>(kind: ResourceKind<Resource>) {
  return (router: DeskRouter, site: Site) => addResourceKind(router, site, kind);
}

/** The pages of each type of resource that has a workflow. */
const WORKFLOW_PAGES: Readonly<Record<WorkflowResourceType, ReturnType<typeof pagesOf>>> = {
  transfer: pagesOf(transferKind),
  payout: pagesOf(payoutKind),
  bonus_batch: pagesOf(batchKind('bonus')),
  payout_batch: pagesOf(batchKind('payout')),
  webhook_endpoint: pagesOf(endpointKind),
  schedule: pagesOf(scheduleKind),
};

/** Adds a page for each resource, with its actions, and the search. */
export function resourceRoutes(router: DeskRouter, site: Site): void {
  addList(router, site, '/tenants', () => ({
    list: 'tenants',
    read: readTenants(viewOf(site)),
    page: (person, place) => tenantsPage(viewOf(site), place, person),
  }));
  addList(router, site, '/decided', (context) => {
    const query = textsOf(context, ...DECIDED_FIELDS);
    return {
      list: 'decided',
      read: readDecidedRows(viewOf(site), query),
      page: (person, place) => decidedPage(viewOf(site), query, place, person),
    };
  });
  for (const addPages of Object.values(WORKFLOW_PAGES)) addPages(router, site);
  addResourceKind(router, site, bonusKind);
  addResourceKind(router, site, eventKind);
  addResourceKind(router, site, adjustmentKind);
  addResourceKind(router, site, accountKind);
  addResourceKind(router, site, tenantKind);
  const search = async (context: DeskContext): Promise<void> => {
    const query = textsOf(context, ...SEARCH_FIELDS);
    const only = isNarrowed(query) ? null : await findOnly(site.database.reader, query.text);
    if (only !== null) return seeOther(context, pathOf(...only));
    sendPage(context, await searchPage(viewOf(site), query));
  };
  router.get('/search', signedIn(site, search));
}

function addResourceKind<Resource>(
  router: DeskRouter,
  site: Site,
  kind: ResourceKind<Resource>,
): void {
  const actions = [...kind.actions, ...Object.values(REMARK_ACTIONS)];
  const waiting = WAITING_KINDS.find((one) => one === kind.name);
  if (waiting !== undefined) addSetPages(router, site, waiting, kind);
  const find = async (context: DeskContext): Promise<Resource> => {
    const resource = await kind.find(site, idOf(context));
    if (resource === undefined) throw noSuchPage();
    return resource;
  };
  addPage(router, site, `/${kind.name}/:id`, async (context, person) => {
    const resource = await find(context);
    const { id } = kind.rowOf(resource);
    const done = actions.find(
      ({ verb }) => context.query.done === doneMark(person, kind.name, id, verb),
    );
    const shown = { kind, resource, person, place: placeOf(context) };
    return resourcePage(site, shown, done ?? null);
  });
  for (const list of kind.lists ?? []) {
    const path = `/${kind.name}/:id/${list.name}`;
    addList(router, site, path, async (context) => {
      const names = list.fields?.map(({ name }) => name) ?? [];
      const filter = textsOf(context, ...names);
      const shown = { kind, resource: await find(context), list, filter };
      const { id: subjectId, tenantId } = kind.rowOf(shown.resource);
      return {
        list: list.name,
        subject: { tenantId, subjectType: kind.subjectType, subjectId },
        read: readRowsOf(site, shown),
        page: (person, place) => listPage(site, shown, place, person),
      };
    });
  }
  for (const action of actions) {
    const path = `/${kind.name}/:id/${action.verb}`;
    addPage(router, site, path, async (context, person) => {
      const shown = { kind, resource: await find(context), person, place: placeOf(context) };
      const form = draftFor(context);
      return resourcePage(site, shown, { verb: action.verb, form, result: null });
    });
    const post = async (context: DeskContext, person: SignedInPerson): Promise<void> =>
      postAction(context, site, { kind, action, person, find: () => find(context) });
    router.post(path, signedIn(site, post));
  }
}

interface PostedAction<Resource> {
  readonly kind: ResourceKind<Resource>;
  readonly action: DeskAction<Resource>;
  readonly person: SignedInPerson;
  find(): Promise<Resource>;
}

async function postAction<Resource>(
  context: DeskContext,
  site: Site,
  { kind, action, person, find }: PostedAction<Resource>,
): Promise<void> {
  const form = await ownForm(context, site, person.secret);
  const resource = await find();
  const { id, tenantId } = kind.rowOf(resource);
  const subject = { id, tenantId, subjectType: kind.subjectType };
  const items = [{ resource, subject }];
  const results = await perform(site, { action, items, digest: null, person, form });
  logFaults(site, action.name ?? action.verb, results);
  const [result] = results;
  const place = placeOf(context);
  if (result === undefined || result.outcome === 'done') {
    const query = new URLSearchParams(place === null ? '' : itemQuery(place.kind, place.query));
    query.set('done', doneMark(person, kind.name, id, action.verb));
    return seeOther(context, `${pathOf(kind.name, id)}?${query.toString()}`);
  }
  const failed: OpenForm = { verb: action.verb, form, result };
  try {
    // Shows the current state, not the state before the action.
    const now = { kind, resource: await find(), person, place };
    sendPage(context, await resourcePage(site, now, failed));
  } catch (failure) {
    if (result.outcome !== 'unknown' || !isUnavailable(failure)) throw failure;
    sendPage(context, unknownPage({ kind, resource, person, place }, action, failed));
  }
}

/** Returns a mark without which a link cannot show that an action was performed. */
function doneMark({ secret }: SignedInPerson, kind: string, id: string, verb: string): string {
  return hmacOf(secret, `done/${kind}/${id}/${verb}`);
}
