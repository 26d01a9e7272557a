import { MAX_RAW } from './amount.js';

/** `flatRaw` plus `basisPoints` of the amount, from `floorRaw` to `capRaw`. */
export interface FeeSchedule {
  readonly flatRaw: bigint;
  readonly basisPoints: bigint;
  readonly floorRaw: bigint;
  readonly capRaw: bigint | null;
}

const BASIS = 10_000n;

/** Rounds the share half up. (docs/contract.md, Limits and fees) */
export function feeFor(schedule: FeeSchedule, raw: bigint): bigint {
  const share = (raw * schedule.basisPoints + BASIS / 2n) / BASIS;
  const floored = maxRaw(schedule.flatRaw + share, schedule.floorRaw);
  const capped = schedule.capRaw !== null && floored > schedule.capRaw ? schedule.capRaw : floored;
  return capped > MAX_RAW ? MAX_RAW : capped;
}

function maxRaw(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
