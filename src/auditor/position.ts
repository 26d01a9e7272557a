import { deserialize, serialize } from 'node:v8';
import { emptySums } from './tally.js';

/** Where an audit that is done in steps stands. */

/** Within the list of checks. */
export interface Place {
  /** Those before it are done. */
  readonly check: number;
  /** Of the walks of this check those before it are done. */
  readonly walk: number;
  /** The row that this walk has come to; undefined: none yet. */
  readonly after: unknown;
  /** What the check knows across slices, in the order in which it asks for it. */
  readonly memories: readonly object[];
}

export interface AuditPosition {
  /** Of the whole audit, in milliseconds since 1970: what began later is left to the next. */
  readonly beganAt: number;
  /** Null: at the beginning. */
  readonly place: Place | null;
  /** How much of each kind was found. */
  readonly found: ReadonlyMap<string, number>;
  readonly tally: Int32Array;
}

export function startOfAudit(now: number): AuditPosition {
  return { beganAt: now, place: null, found: new Map(), tally: emptySums() };
}

/** Rows hold bigints and bytes, which JSON does not. Read by the same release alone: see `FORMAT`. */
export function packPosition(position: AuditPosition): Buffer {
  return serialize({ format: FORMAT, ...position });
}

/** Null where another release has written it: then the audit begins anew. */
export function unpackPosition(bytes: Buffer): AuditPosition | null {
  const stored = deserialize(bytes) as AuditPosition & { readonly format?: unknown };
  return stored.format === FORMAT ? stored : null;
}

/** Another number where the checks, their order, or what they keep has changed: a place would mean something else. */
const FORMAT = 1;
