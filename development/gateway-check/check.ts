import type { Keyring } from '../../src/core/fingerprint.js';
import type { Clock } from '../../src/core/instant.js';
import { Bench, type CheckedOrders, type Rule } from './bench.js';
import { CallbackListener } from './callbacks.js';
import { Probe, Violation } from './probe.js';
import { RULES } from './rules.js';

/** Checks whether a gateway follows docs/payout-rail.md. */

interface CheckOptions {
  /** A test server of the gateway: it gets orders, and pays them. */
  readonly url: string;
  readonly name: string;
  readonly keys: Keyring;
  /** The port on this machine for its callbacks. */
  readonly callbackPort: number;
  readonly orders: CheckedOrders;
  /** How long the gateway may take for later reports. */
  readonly waitMs: number;
}

export interface RuleResult {
  readonly rule: Rule;
  readonly passed: boolean;
  readonly why: string | null;
}

/**
 * Checks every rule; `onResult` gets each result at once. Rejects with Node's error if the port is
 * not available.
 */
export async function checkGateway(
  { url, name, keys, callbackPort, orders, waitMs }: CheckOptions,
  clock: Clock,
  onResult: (result: RuleResult) => void,
): Promise<readonly RuleResult[]> {
  const callbacks = new CallbackListener(name, keys, clock);
  await callbacks.listen(callbackPort);
  const bench = new Bench(new Probe(url, keys, clock), callbacks, orders, waitMs);
  const results: RuleResult[] = [];
  try {
    for (const rule of RULES) {
      const result = await resultOf(rule, bench);
      results.push(result);
      onResult(result);
    }
  } finally {
    await callbacks.close();
  }
  return results;
}

async function resultOf(rule: Rule, bench: Bench): Promise<RuleResult> {
  try {
    return { rule, passed: true, why: (await rule.check(bench)) ?? null };
  } catch (failure) {
    if (!(failure instanceof Violation)) throw failure;
    return { rule, passed: false, why: failure.message };
  }
}
