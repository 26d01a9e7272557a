/** The names and numbers that both the service and the reference are asked for. */

/** The assets of docs/contract.md with the limits of a person (Amount; Limits and fees). */
export const LIMITS = {
  COPM: { scale: 2, minimum: 100_000n, maximum: 1_200_000_000n, month: 5_000_000_000n },
  DUSD: { scale: 6, minimum: 100_000n, maximum: 3_000_000_000n, month: 12_000_000_000n },
} as const;
export type AssetName = keyof typeof LIMITS;
export const ASSETS = Object.keys(LIMITS) as [AssetName, ...AssetName[]];

/** Who acts: the owner of tenant A's accounts, a member of A whose roles come and go, the owner of tenant B's accounts. */
export const ACTORS = ['owner', 'clerk', 'neighbour'] as const;
export type ActorName = (typeof ACTORS)[number];

/** Accounts by number: 0 to 4 of tenant A, 5 of B in its network, 6 of a stranger, 7 does not exist. */
export const ACCOUNT_COUNT = 8;
export const OWN_ACCOUNTS = 5;

/** Tenant A's time zones: their hours from UTC. None has a summer time. */
export const ZONES = {
  'America/Bogota': -5,
  'Pacific/Pago_Pago': -11,
  'Asia/Kathmandu': 5.75,
  'Pacific/Kiritimati': 14,
} as const;
export type ZoneName = keyof typeof ZONES;

/** Resources with metadata, by the last part of their address. */
export const LABELLED = ['transfers', 'bonuses', 'payouts'] as const;
export const METADATA = [null, null, { invoice: 'A-17' }, { invoice: 'B-2', order: '7' }] as const;

/** The kinds of batches, and the last parts of their addresses. */
export const BATCH_KINDS = ['bonus', 'payout'] as const;
export type BatchKind = (typeof BATCH_KINDS)[number];
export const BATCH_LISTS = ['bonus_batches', 'payout_batches'] as const;
/** Resources that are made under a key and listed, by the last part of their address. */
export const KEYED = ['transfers', 'bonuses', 'payouts', 'schedules', ...BATCH_LISTS] as const;
export type Keyed = (typeof KEYED)[number];
