import { deserialize, serialize } from 'node:v8';
import { emptySums } from './tally.js';

/** The position of an audit that runs in steps. */

/** Within the list of checks. */
export interface Place {
  /** The checks before it are done. */
  readonly check: number;
  /** The walks of this check before it are done. */
  readonly walk: number;
  readonly after: unknown;
  /** What the check remembers across slices, in the order in which it asks for it. */
  readonly memories: readonly object[];
}

export interface AuditPosition {
  /** When the whole audit began, in milliseconds since 1970: what began later is left to the next. */
  readonly beganAt: number;
  /** Null: at the beginning. */
  readonly place: Place | null;
  readonly found: ReadonlyMap<string, number>;
  readonly tally: Int32Array;
}

export function startOfAudit(now: number): AuditPosition {
  return { beganAt: now, place: null, found: new Map(), tally: emptySums() };
}

/** Rows hold bigints and bytes, which JSON cannot. Only the same release reads it: see `FORMAT`. */
export function packPosition(position: AuditPosition): Buffer {
  return serialize({ format: FORMAT, ...position });
}

/** Null if another release wrote it: then the audit starts over. */
export function unpackPosition(bytes: Buffer): AuditPosition | null {
  const stored = deserialize(bytes) as AuditPosition & { readonly format?: unknown };
  return stored.format === FORMAT ? stored : null;
}

/** Increase when the checks, their order or what they remember change: a place would mean something else. */
const FORMAT = 2;
