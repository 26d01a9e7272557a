import { isUnavailable } from '../db/failures.js';
import { describeFault } from '../http/logging.js';
import { perform } from './actions/action.js';
import { noSuchPage, type SignedInPerson } from './desk.js';
import { hmacOf } from './forms.js';
import { type Page, pathOf } from './pages/layout.js';
import { type FailedAction, resourcePage, unknownPage } from './pages/resource.js';
import type { View } from './pages/rows.js';
import { searchPage } from './pages/search.js';
import { tenantsPage } from './pages/tenants.js';
import { MAX_PAGES, startPage, waitingPage } from './pages/waiting.js';
import { findOnly } from './reading/search.js';
import { WAITING_KINDS } from './reading/waiting.js';
import { bonusKind } from './resources/bonuses.js';
import { adjustmentKind, payoutKind, transferKind } from './resources/operations.js';
import { accountKind, tenantKind } from './resources/parties.js';
import { listPage, type ResourceKind } from './resources/resource-kind.js';
import { batchKind, endpointKind, scheduleKind } from './resources/workflow-resources.js';
import {
  type DeskContext,
  type DeskRouter,
  idOf,
  ownForm,
  seeOther,
  sendPage,
  signedIn,
  type Site,
} from './site.js';

type Render = (context: DeskContext, person: SignedInPerson) => Promise<Page>;

/** Adds a page for signed-in people. */
function addPage(router: DeskRouter, path: string, render: Render): void {
  const handle = async (context: DeskContext, person: SignedInPerson): Promise<void> =>
    sendPage(context, await render(context, person));
  router.get(path, signedIn(handle));
}

export function waitingRoutes(router: DeskRouter, site: Site): void {
  addPage(router, '/', () => startPage(viewOf(site)));
  addPage(router, '/waiting/:kind', (context) => {
    const kind = WAITING_KINDS.find((one) => one === context.params?.kind);
    if (kind === undefined) throw noSuchPage();
    const query = { page: pageOf(context), ...textsOf(context, 'tenant', 'least', 'asset') };
    return waitingPage(viewOf(site), kind, query);
  });
}

function viewOf({ database: { reader }, clock }: Site): View {
  return { reader, now: clock() };
}

/** Returns trimmed query parameters; '' for a parameter that is absent or repeated. */
function textsOf<Name extends string>(
  { query }: DeskContext,
  ...names: readonly Name[]
): Record<Name, string> {
  const entries = names.map((name) => {
    const value = query[name];
    return [name, typeof value === 'string' ? value.trim() : ''];
  });
  return Object.fromEntries(entries) as Record<Name, string>;
}

function pageOf({ query: { page = '1' } }: DeskContext): number {
  const number =
    typeof page === 'string' && /^[1-9]\d?$/.test(page) ? Number.parseInt(page, 10) : 0;
  if (number < 1 || number > MAX_PAGES) throw noSuchPage();
  return number;
}

/** Adds a page for each resource, with its actions, and the search. */
export function resourceRoutes(router: DeskRouter, site: Site): void {
  addResourceKind(router, site, transferKind);
  addResourceKind(router, site, scheduleKind);
  addResourceKind(router, site, bonusKind);
  addResourceKind(router, site, payoutKind);
  addResourceKind(router, site, batchKind);
  addResourceKind(router, site, endpointKind);
  addResourceKind(router, site, adjustmentKind);
  addResourceKind(router, site, accountKind);
  addResourceKind(router, site, tenantKind);
  addPage(router, '/tenants', (context) =>
    tenantsPage(viewOf(site), textsOf(context, 'after').after),
  );
  const search = async (context: DeskContext): Promise<void> => {
    const query = textsOf(context, 'text', 'amount', 'asset', 'day', 'from');
    const isNarrowed = query.amount !== '' || query.day !== '';
    const only = isNarrowed ? null : await findOnly(site.database.reader, query.text);
    if (only !== null) return seeOther(context, pathOf(...only));
    sendPage(context, await searchPage(viewOf(site), query));
  };
  router.get('/search', signedIn(search));
}

function addResourceKind<Resource>(
  router: DeskRouter,
  site: Site,
  kind: ResourceKind<Resource>,
): void {
  const find = async (context: DeskContext): Promise<Resource> => {
    const resource = await kind.find(site, idOf(context));
    if (resource === undefined) throw noSuchPage();
    return resource;
  };
  addPage(router, `/${kind.name}/:id`, async (context, person) => {
    const resource = await find(context);
    const { id } = kind.rowOf(resource);
    const done = kind.actions.find(
      ({ verb }) => context.query.done === doneMark(person, kind.name, id, verb),
    );
    return resourcePage(site, { kind, resource, person }, done ?? null);
  });
  for (const list of kind.lists ?? [])
    addPage(router, `/${kind.name}/:id/${list.name}`, async (context) =>
      listPage(site, kind, await find(context), list, textsOf(context, 'before').before),
    );
  for (const action of kind.actions)
    router.post(
      `/${kind.name}/:id/${action.verb}`,
      signedIn(async (context, person) => {
        const form = await ownForm(context, site, person.secret);
        const resource = await find(context);
        const { id, tenantId } = kind.rowOf(resource);
        const subject = { id, tenantId, subjectType: kind.subjectType };
        const result = await perform(site, { action, resource, subject, person, form });
        if (result.outcome === 'done') {
          const mark = doneMark(person, kind.name, id, action.verb);
          return seeOther(context, `${pathOf(kind.name, id)}?done=${mark}`);
        }
        const failed: FailedAction = { verb: action.verb, form, result };
        if (result.outcome === 'unknown' && result.fault !== null)
          site.logger.error(
            { action: action.name, fault: describeFault(result.fault) },
            'a staff action failed because of an internal error',
          );
        try {
          // Shows the current state, not the state before the action.
          const now = { kind, resource: await find(context), person };
          sendPage(context, await resourcePage(site, now, failed));
        } catch (failure) {
          if (result.outcome !== 'unknown' || !isUnavailable(failure)) throw failure;
          sendPage(context, unknownPage({ kind, resource, person }, action, failed));
        }
      }),
    );
}

/** Returns a mark without which a link cannot show that an action was performed. */
function doneMark({ secret }: SignedInPerson, kind: string, id: string, verb: string): string {
  return hmacOf(secret, `done/${kind}/${id}/${verb}`);
}
