import { ERRORS } from '../core/errors.js';
import { isUnavailable } from '../db/failures.js';
import { describeFault } from '../http/logging.js';
import { perform } from './actions/perform.js';
import type { SignedInPerson } from './deps.js';
import { noSuchPage } from './failures.js';
import { markOf } from './forms.js';
import { pathOf } from './pages/layout.js';
import { type FailedAction, resourcePage, unknownPage } from './pages/resource.js';
import { searchPage } from './pages/search.js';
import { NOT_SIGNED_IN, signInPage, type SignInWays } from './pages/sign-in.js';
import { MAX_PAGES, startPage, waitingPage } from './pages/waiting.js';
import { WAITING_KINDS } from './reading/waiting.js';
import { accountKind } from './resources/accounts.js';
import { adjustmentKind } from './resources/adjustments.js';
import { batchKind } from './resources/batches.js';
import { endpointKind } from './resources/endpoints.js';
import { payoutKind } from './resources/payouts.js';
import { readShown, type ResourceKind } from './resources/resource-kind.js';
import { tenantKind } from './resources/tenants.js';
import { transferKind } from './resources/transfers.js';
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

export function sessionRoutes(router: DeskRouter, site: Site): void {
  const { sessions, addresses } = site;
  router.get('/sign-in', (context) => {
    const next = nextOf(context.query.next);
    if (context.state.person !== null) return seeOther(context, next);
    const { secret, cookie } = sessions.formSecret(context.req);
    if (cookie !== null) context.append('Set-Cookie', cookie);
    sendPage(context, signInPage(waysOf(site), secret, next, null));
  });
  router.post('/sign-in', async (context) => {
    if (!site.settings.withCode) throw noSuchPage();
    const { secret } = sessions.formSecret(context.req);
    const form = await ownForm(context, site, secret);
    const next = nextOf(form.get('next'));
    const [name, code] = [form.get('name') ?? '', (form.get('code') ?? '').replaceAll(/\s/g, '')];
    const cookies = await sessions.open(
      name,
      code,
      addresses.of(context.req),
      context.state.person,
    );
    if (cookies === null)
      return sendPage(context, signInPage(waysOf(site), secret, next, NOT_SIGNED_IN, 401));
    for (const cookie of cookies) context.append('Set-Cookie', cookie);
    seeOther(context, next);
  });
  router.post('/sign-out', async (context) => {
    const person = personOf(context);
    if (person === null) return;
    await ownForm(context, site, person.secret);
    context.append('Set-Cookie', await sessions.close(person));
    seeOther(context, '/sign-in');
  });
}

function waysOf({ settings }: Site): SignInWays {
  return { withCode: settings.withCode, withProvider: settings.provider !== null };
}

/** Returns the path to redirect to. Accepts only paths of the desk. */
export function nextOf(given: unknown): string {
  return typeof given === 'string' &&
    /^\/[a-z]+(\/[0-9a-z-]{1,40})?$/.test(given) &&
    given !== '/sign-in'
    ? given
    : '/';
}

export function waitingRoutes(router: DeskRouter, { database: { reader }, clock }: Site): void {
  router.get('/', async (context) => {
    if (personOf(context) === null) return;
    sendPage(context, await startPage(reader, clock()));
  });
  router.get('/waiting/:kind', async (context) => {
    if (personOf(context) === null) return;
    const kind = WAITING_KINDS.find((one) => one === context.params.kind);
    if (kind === undefined) throw noSuchPage();
    const { tenant, least, asset } = context.query;
    const query = { tenant: textOf(tenant), least: textOf(least), asset: textOf(asset) };
    sendPage(
      context,
      await waitingPage(reader, clock(), kind, { page: pageOf(context), ...query }),
    );
  });
}

/** Returns the value of a parameter that is given once, without spaces around it. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
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
  const find = async (context: DeskContext): Promise<Resource> => {
    const resource = await kind.find(site, idOf(context));
    if (resource === undefined) throw noSuchPage();
    return resource;
  };
  const stageOf = (person: SignedInPerson, resource: Resource) => {
    const { id } = kind.rowOf(resource);
    return { path: pathOf(kind.name, id), id, resource, actions: kind.actions, person };
  };
  const show = async (
    context: DeskContext,
    person: SignedInPerson,
    result: (id: string) => FailedAction | string | null,
  ): Promise<void> => {
    const resource = await find(context);
    const stage = stageOf(person, resource);
    const shown = await readShown(site, kind, resource);
    sendPage(context, resourcePage(stage, shown, result(stage.id)));
  };
  router.get(`/${kind.name}/:id`, async (context) => {
    const person = personOf(context);
    if (person === null) return;
    await show(context, person, (id) => {
      const isDone = (verb: string): boolean =>
        context.query.done === doneMark(person, kind.name, id, verb);
      const done = kind.actions.find(({ verb }) => isDone(verb));
      return done === undefined ? null : `Done: ${done.label}.`;
    });
  });
  for (const action of kind.actions)
    router.post(`/${kind.name}/:id/${action.verb}`, async (context) => {
      const person = personOf(context);
      if (person === null) return;
      const form = await ownForm(context, site, person.secret);
      const resource = await find(context);
      const { id, tenantId } = kind.rowOf(resource);
      const subject = { id, tenantId, subjectType: kind.subjectType };
      const performed = await perform(site, { action, resource, subject, person, form });
      if (performed.outcome === 'done') {
        const mark = doneMark(person, kind.name, id, action.verb);
        return seeOther(context, `${pathOf(kind.name, id)}?done=${mark}`);
      }
      const failed: FailedAction = { verb: action.verb, form, ...outcomeText(performed) };
      if (performed.outcome === 'unknown' && performed.fault !== null)
        site.logger.error(
          { action: action.name, fault: describeFault(performed.fault) },
          'a staff action failed because of an internal error',
        );
      try {
        // Shows the current state, not the state before the action.
        await show(context, person, () => failed);
      } catch (failure) {
        if (performed.outcome !== 'unknown' || !isUnavailable(failure)) throw failure;
        sendPage(context, unknownPage(stageOf(person, resource), action, failed));
      }
    });
}

/** Returns a mark without which a link cannot show that an action was performed. */
function doneMark({ secret }: SignedInPerson, kind: string, id: string, verb: string): string {
  return markOf(secret, `done/${kind}/${id}/${verb}`);
}

type FailedResult = Exclude<Awaited<ReturnType<typeof perform>>, { readonly outcome: 'done' }>;

function outcomeText(
  performed: FailedResult,
): Pick<FailedAction, 'outcome' | 'message' | 'status'> {
  if (performed.outcome === 'unknown') return { outcome: 'unknown', message: '', status: 503 };
  const { code, message } = performed.refusal;
  return { outcome: 'refused', message: `${message}.`, status: ERRORS[code].status };
}
