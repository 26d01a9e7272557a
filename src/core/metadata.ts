/** Pairs of texts that tenants attach to their resources. Pure. (docs/contract.md, Metadata) */
export type Metadata = Readonly<Record<string, string>>;

export const METADATA_KEY = /^[a-z0-9_]{1,40}$/;
export const MAX_METADATA_VALUE = 500;
export const MAX_METADATA_PAIRS = 20;
export const MAX_METADATA_BYTES = 4_096;

/** Names that reach into JavaScript's own objects in careless code. */
export const FORBIDDEN_NAMES: readonly string[] = ['__proto__', 'constructor'];

export function isMetadataKey(text: string): boolean {
  return METADATA_KEY.test(text) && !FORBIDDEN_NAMES.includes(text);
}

/** A value of null removes the pair. */
export type MetadataChange = Readonly<Record<string, string | null>>;

/** Returns the changed pairs, sorted by key; null without pairs. */
export function changedMetadata(before: Metadata | null, change: MetadataChange): Metadata | null {
  const pairs = Object.entries({ ...before, ...change })
    .flatMap(([key, value]) => (value === null ? [] : [[key, value] as const]))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

/** Returns why the pairs, each valid by itself, are refused together, or null. */
export function metadataFault(metadata: Metadata): 'too_many' | 'too_long' | null {
  const pairs = Object.entries(metadata);
  if (pairs.length > MAX_METADATA_PAIRS) return 'too_many';
  const bytes = pairs.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return bytes > MAX_METADATA_BYTES ? 'too_long' : null;
}
