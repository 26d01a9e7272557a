import { list, type Json, object, text } from '../../helpers/bank.js';
import { type History, isCreation, type Operation, type Request } from './history.js';

/** The transfers of a history by its responses and events, independent of their order. */
export interface Facts {
  /** The transfer that each key created, by the first response that shows it. */
  readonly idOfKey: ReadonlyMap<string, string>;
  readonly transfers: ReadonlyMap<string, TransferFacts>;
}

export interface TransferFacts {
  readonly createdAt: number;
  /** When it became `held`; null if it never was. */
  readonly heldAt: number | null;
  /** The event of its end; null if it has not ended. */
  readonly end: { readonly type: string; readonly at: number; readonly expiresAt: number } | null;
}

type Mutable = { -readonly [Field in keyof TransferFacts]: TransferFacts[Field] };

export const timeOf = (value: unknown): number => Date.parse(text(value));

export function factsOf({ operations, events }: History): Facts {
  const idOfKey = new Map<string, string>();
  const transfers = new Map<string, Mutable>();
  const captureMs = new Map<string, number>();
  const note = (shown: Json): void => {
    const id = text(shown.id);
    const one = transfers.get(id) ?? { createdAt: 0, heldAt: null, end: null };
    transfers.set(id, one);
    one.createdAt = timeOf(shown.created_at);
    const within = captureMs.get(id);
    if (shown.capture_expires_at !== null && within !== undefined)
      one.heldAt = timeOf(shown.capture_expires_at) - within;
  };
  const answered = operations
    .filter(({ response }) => response !== null)
    .toSorted((a, b) => a.return! - b.return!);
  for (const { request, response } of answered) {
    const shown = shownBy(request, response);
    if (shown === undefined) continue;
    const id = text(shown.id);
    if (isCreation(request) || request.kind === 'find') {
      const { key } = request;
      if (!idOfKey.has(key)) idOfKey.set(key, id);
      const creation = operations.find(
        ({ request: made }) => made.kind === 'transfer' && made.key === key,
      )?.request;
      if (creation?.kind === 'transfer' && creation.captureWithinS !== null)
        captureMs.set(id, creation.captureWithinS * 1_000);
    }
    note(shown);
  }
  for (const event of events) {
    const shown = object(object(event.data).object);
    note(shown);
    const expiresAt = shown.capture_expires_at ?? object(shown.approval ?? {}).expires_at;
    transfers.get(text(shown.id))!.end = {
      type: text(event.type),
      at: timeOf(event.created_at),
      expiresAt: typeof expiresAt === 'string' ? timeOf(expiresAt) : Infinity,
    };
  }
  return { idOfKey, transfers };
}

/** The transfer in the response, if it has one. */
function shownBy(request: Request, response: Operation['response']): Json | undefined {
  const { body } = response ?? {};
  if (!body || request.kind === 'balances') return undefined;
  return request.kind === 'find' ? list(body.items)[0] : body;
}
