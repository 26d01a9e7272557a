import { ERRORS } from '../core/errors.js';
import { perform } from './acts/perform.js';
import { isUnavailable } from '../db/failures.js';
import { describeFault } from '../http/logging.js';
import { noSuchPage } from './failures.js';
import { markOf } from './forms.js';
import { pathOf } from './pages/layout.js';
import { type Came, resourcePage, unknownPage } from './pages/resource.js';
import { searchPage } from './pages/search.js';
import type { SignedInPerson } from './deps.js';
import { accountShelf } from './shelves/accounts.js';
import { adjustmentShelf } from './shelves/adjustments.js';
import { batchShelf } from './shelves/batches.js';
import { endpointShelf } from './shelves/endpoints.js';
import { payoutShelf } from './shelves/payouts.js';
import type { Shelf } from './shelves/shelf.js';
import { transferShelf } from './shelves/transfers.js';
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
export function shelfRoutes(router: DeskRouter, site: Site): void {
  addShelf(router, site, transferShelf);
  addShelf(router, site, payoutShelf);
  addShelf(router, site, batchShelf);
  addShelf(router, site, endpointShelf);
  addShelf(router, site, adjustmentShelf);
  addShelf(router, site, accountShelf);
  router.get('/search', async (context) => {
    if (personOf(context) === null) return;
    const { text, amount, asset, day, from } = context.query;
    const wanted = {
      text: one(text),
      amount: one(amount),
      asset: one(asset),
      day: one(day),
      from: one(from),
    };
    sendPage(context, await searchPage(site.database.reader, wanted));
  });
}

function one(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function addShelf<Resource>(router: DeskRouter, site: Site, shelf: Shelf<Resource>): void {
  router.get(`/${shelf.name}/:id`, async (context) => {
    const person = personOf(context);
    if (person === null) return;
    const resource = await found(context, site, shelf);
    const done = shelf.acts.find(
      ({ verb }) => context.query.done === doneMark(person, shelf.name, context.params.id, verb),
    );
    await show(
      context,
      site,
      shelf,
      { person, resource },
      done === undefined ? null : `Done: ${done.label}.`,
    );
  });
  for (const act of shelf.acts)
    router.post(`/${shelf.name}/:id/${act.verb}`, async (context) => {
      const person = personOf(context);
      if (person === null) return;
      const form = await ownForm(context, site, person.secret);
      const resource = await found(context, site, shelf);
      const subject = shelf.subjectOf(resource);
      const performed = await perform(site, act, resource, subject, { person, form });
      if (performed.came === 'done') {
        const mark = doneMark(person, shelf.name, subject.id, act.verb);
        return seeOther(context, `${pathOf(shelf.name, subject.id)}?done=${mark}`);
      }
      const came: Came = { verb: act.verb, form, ...outcomeText(performed) };
      if (performed.came === 'unknown' && performed.fault !== null)
        site.logger.error(
          { act: act.name, fault: describeFault(performed.fault) },
          'an act failed by our fault',
        );
      // Shows the current state, not the state before the action.
      try {
        const now = await found(context, site, shelf);
        await show(context, site, shelf, { person, resource: now }, came);
      } catch (failure) {
        if (performed.came !== 'unknown' || !isUnavailable(failure)) throw failure;
        const stage = {
          path: pathOf(shelf.name, subject.id),
          id: subject.id,
          resource,
          acts: [act],
          person,
        };
        sendPage(context, unknownPage(stage, act, came));
      }
    });
}

/** Returns a mark without which a link cannot show that an action was performed. */
function doneMark(
  { secret }: SignedInPerson,
  shelf: string,
  id: string | undefined,
  verb: string,
): string {
  return markOf(secret, `done/${shelf}/${id ?? ''}/${verb}`);
}

type NotDone = Exclude<Awaited<ReturnType<typeof perform>>, { readonly came: 'done' }>;

function outcomeText(performed: NotDone): Pick<Came, 'came' | 'message' | 'status'> {
  if (performed.came === 'unknown') return { came: 'unknown', message: '', status: 503 };
  const { code, message } = performed.refusal;
  return { came: 'refused', message: `${message}.`, status: ERRORS[code].status };
}

async function found<Resource>(
  context: DeskContext,
  site: Site,
  shelf: Shelf<Resource>,
): Promise<Resource> {
  const resource = await shelf.find(site, idOf(context));
  if (resource === undefined) throw noSuchPage();
  return resource;
}

async function show<Resource>(
  context: DeskContext,
  site: Site,
  shelf: Shelf<Resource>,
  { person, resource }: { readonly person: SignedInPerson; readonly resource: Resource },
  said: Came | string | null,
): Promise<void> {
  const { id } = shelf.subjectOf(resource);
  const shown = await shelf.show(site, resource);
  const stage = { path: pathOf(shelf.name, id), id, resource, acts: shelf.acts, person };
  sendPage(context, resourcePage(stage, shown, said));
}
