import { ERRORS } from '../core/errors.js';
import { perform } from './actions/perform.js';
import { isUnavailable } from '../db/failures.js';
import { describeFault } from '../http/logging.js';
import { noSuchPage } from './failures.js';
import { markOf } from './forms.js';
import { pathOf } from './pages/layout.js';
import { type FailedAction, resourcePage, unknownPage } from './pages/resource.js';
import { searchPage } from './pages/search.js';
import type { SignedInPerson } from './deps.js';
import { accountKind } from './resources/accounts.js';
import { adjustmentKind } from './resources/adjustments.js';
import { batchKind } from './resources/batches.js';
import { endpointKind } from './resources/endpoints.js';
import { payoutKind } from './resources/payouts.js';
import type { ResourceKind } from './resources/resource-kind.js';
import { tenantKind } from './resources/tenants.js';
import { transferKind } from './resources/transfers.js';
import { textOf } from './routes.js';
import {
  type DeskContext,
  type DeskRouter,
  idOf,
  ownForm,
  personOf,
  seeOther,
  sendPage,
  type Site,
} from './site.js';

/** Adds a page for each resource, with its actions, and the search. */
export function resourceRoutes(router: DeskRouter, site: Site): void {
  addResourceKind(router, site, transferKind);
  addResourceKind(router, site, payoutKind);
  addResourceKind(router, site, batchKind);
  addResourceKind(router, site, endpointKind);
  addResourceKind(router, site, adjustmentKind);
  addResourceKind(router, site, accountKind);
  addResourceKind(router, site, tenantKind);
  router.get('/search', async (context) => {
    if (personOf(context) === null) return;
    const { text, amount, asset, day, from } = context.query;
    const wanted = {
      text: textOf(text),
      amount: textOf(amount),
      asset: textOf(asset),
      day: textOf(day),
      from: textOf(from),
    };
    sendPage(context, await searchPage(site.database.reader, site.clock(), wanted));
  });
}

function addResourceKind<Resource>(
  router: DeskRouter,
  site: Site,
  kind: ResourceKind<Resource>,
): void {
  router.get(`/${kind.name}/:id`, async (context) => {
    const person = personOf(context);
    if (person === null) return;
    const resource = await found(context, site, kind);
    const done = kind.actions.find(
      ({ verb }) => context.query.done === doneMark(person, kind.name, context.params.id, verb),
    );
    await show(
      context,
      site,
      kind,
      { person, resource },
      done === undefined ? null : `Done: ${done.label}.`,
    );
  });
  for (const action of kind.actions)
    router.post(`/${kind.name}/:id/${action.verb}`, async (context) => {
      const person = personOf(context);
      if (person === null) return;
      const form = await ownForm(context, site, person.secret);
      const resource = await found(context, site, kind);
      const subject = kind.subjectOf(resource);
      const performed = await perform(site, action, resource, subject, { person, form });
      if (performed.outcome === 'done') {
        const mark = doneMark(person, kind.name, subject.id, action.verb);
        return seeOther(context, `${pathOf(kind.name, subject.id)}?done=${mark}`);
      }
      const failed: FailedAction = { verb: action.verb, form, ...outcomeText(performed) };
      if (performed.outcome === 'unknown' && performed.fault !== null)
        site.logger.error(
          { act: action.name, fault: describeFault(performed.fault) },
          'an act failed by our fault',
        );
      // Shows the current state, not the state before the action.
      try {
        const now = await found(context, site, kind);
        await show(context, site, kind, { person, resource: now }, failed);
      } catch (failure) {
        if (performed.outcome !== 'unknown' || !isUnavailable(failure)) throw failure;
        const stage = {
          path: pathOf(kind.name, subject.id),
          id: subject.id,
          resource,
          actions: [action],
          person,
        };
        sendPage(context, unknownPage(stage, action, failed));
      }
    });
}

/** Returns a mark without which a link cannot show that an action was performed. */
function doneMark(
  { secret }: SignedInPerson,
  kind: string,
  id: string | undefined,
  verb: string,
): string {
  return markOf(secret, `done/${kind}/${id ?? ''}/${verb}`);
}

type FailedResult = Exclude<Awaited<ReturnType<typeof perform>>, { readonly outcome: 'done' }>;

function outcomeText(
  performed: FailedResult,
): Pick<FailedAction, 'outcome' | 'message' | 'status'> {
  if (performed.outcome === 'unknown') return { outcome: 'unknown', message: '', status: 503 };
  const { code, message } = performed.refusal;
  return { outcome: 'refused', message: `${message}.`, status: ERRORS[code].status };
}

async function found<Resource>(
  context: DeskContext,
  site: Site,
  kind: ResourceKind<Resource>,
): Promise<Resource> {
  const resource = await kind.find(site, idOf(context));
  if (resource === undefined) throw noSuchPage();
  return resource;
}

async function show<Resource>(
  context: DeskContext,
  site: Site,
  kind: ResourceKind<Resource>,
  { person, resource }: { readonly person: SignedInPerson; readonly resource: Resource },
  result: FailedAction | string | null,
): Promise<void> {
  const { id } = kind.subjectOf(resource);
  const shown = await kind.show(site, resource);
  const stage = { path: pathOf(kind.name, id), id, resource, actions: kind.actions, person };
  sendPage(context, resourcePage(stage, shown, result));
}
