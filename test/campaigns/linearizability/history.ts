import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { groupBy } from '../../../src/core/collections.js';
import type { Json } from '../../helpers/bank.js';
import { ROOT } from '../../helpers/service-process.js';

/** Histories of concurrent requests, which the checkers judge. A file has a line of JSON for each part of each group. */

/** Members. Each may create and approve in every account. */
export type Actor = 'owner' | 'clerk';

interface Part {
  readonly key: string;
  /** The id of a transfer. */
  readonly of: string;
  /** Null for all that is left. */
  readonly raw: string | null;
}

export type Request =
  | {
      readonly kind: 'transfer';
      readonly key: string;
      /** Numbers of accounts. */
      readonly from: number;
      readonly to: number;
      readonly raw: string;
      readonly captureWithinS: number | null;
    }
  | (Part & { readonly kind: 'refund' })
  | (Part & { readonly kind: 'capture' })
  | { readonly kind: 'approve'; readonly key: string; readonly of: string }
  | { readonly kind: 'reject' | 'cancel' | 'read'; readonly of: string }
  | { readonly kind: 'balances'; readonly account: number }
  /** Lists the transfer that the key created. */
  | { readonly kind: 'find'; readonly key: string };

/** Requests that create a transfer. */
type Creation = Extract<Request, { readonly kind: 'transfer' | 'refund' }>;

export function isCreation(request: Request): request is Creation {
  return request.kind === 'transfer' || request.kind === 'refund';
}

export interface Response {
  readonly status: number;
  readonly replayed: boolean;
  /** Of an error. */
  readonly code: string | null;
  readonly details: Json | null;
  /** Null for an error. */
  readonly body: Json | null;
}

export interface Operation {
  readonly actor: Actor;
  readonly request: Request;
  /** Milliseconds since 1970, with fractions. */
  readonly call: number;
  /** Null if the request got a 503 or no response: its effect may come at any later time, or never. */
  readonly return: number | null;
  readonly response: Response | null;
}

/** Accounts that pay only each other, and all of their tenant's accounts. */
export interface Setup {
  readonly tenant: string;
  readonly accounts: readonly string[];
  /** COPM in each account at the beginning. */
  readonly funds: string;
  /** From this amount on, payments of account 0 need one approval within `expiresInS`. */
  readonly threshold: string;
  readonly expiresInS: number;
}

export interface History {
  readonly setup: Setup;
  readonly operations: readonly Operation[];
  /** Read from the service in the end: the events by their `sequence`, and the movements of each account, the oldest first. */
  readonly events: readonly Json[];
  readonly movements: readonly (readonly Json[])[];
}

/** Requests whose response says everything about them: they change nothing. */
export const READS: readonly Request['kind'][] = ['balances', 'read', 'find'];

const FOLDER = join(ROOT, '.run/histories');

/** Writes .run/histories/NAME.jsonl and returns its path. */
export function writeHistories(name: string, histories: readonly History[]): string {
  const file = join(FOLDER, `${name}.jsonl`);
  const lines = histories.flatMap(({ setup, operations, events, movements }, group) => [
    { group, setup },
    ...operations.map((operation) => ({ group, operation })),
    { group, events },
    ...movements.map((items, account) => ({ group, account, movements: items })),
  ]);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

type Line = Partial<Omit<History, 'operations' | 'movements'>> & {
  readonly group: number;
  readonly operation?: Operation;
  readonly movements?: readonly Json[];
};

/** Reads a file of `writeHistories`. */
export function readHistories(file: string): readonly History[] {
  const groups = groupBy(
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line),
    ({ group }) => group,
  );
  return Array.from(groups.values(), (lines) => ({
    setup: lines.find(({ setup }) => setup !== undefined)!.setup!,
    operations: lines.flatMap(({ operation = [] }) => operation),
    events: lines.flatMap(({ events = [] }) => events),
    movements: lines.flatMap(({ movements }) => (movements === undefined ? [] : [movements])),
  }));
}
